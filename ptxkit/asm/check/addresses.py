"""Addresses in variables: misaligned, outside the variable, or of other parameters.

PTX ISA 5.1.6, 5.2, 9.7.9, 9.7.13.15.
"""

from __future__ import annotations

from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.constants import constant_value
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Address, Function, Instruction, Integer, Name, Variable
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES, Kind

MEMORY = {"ld": 1, "ldu": 1, "st": 0, "atom": 1, "red": 0}
"""Where the address is in instructions that move as many bytes as their type and vector say."""
CP_SIZES = (4, 8, 16)
"""Bytes that `cp.async` copies."""
MBARRIER, MATRIX_ROW, BULK, TENSOR = 8, 16, 16, 128
"""Bytes to which mbarriers, rows of `ldmatrix`, bulk copies and tensor copies are aligned."""


def check_addresses(context: Context, instruction: Instruction, scope: Scope, function: Function) -> None:
    """Check addresses written as a variable, or that and an offset, and those of parameters."""
    for position, operand in enumerate(instruction.operands):
        if type(operand) is Address and isinstance(operand.base, Name):
            symbol = scope.lookup(operand.base.name)
            if symbol is None:
                continue
            offset = constant_value(operand.offset) if operand.offset is not None else 0
            if symbol.kind is not SymbolKind.REGISTER and offset is not None:
                check_place(context, instruction, position, symbol, offset)
            check_parameter(context, instruction, operand, symbol, function)


def check_parameter(
    context: Context, instruction: Instruction, address: Address, symbol: Symbol, function: Function
) -> None:
    """Refuse an address among other parameters than those that the instruction accesses.

    `.param::entry` means a kernel's own. In a kernel `.param::func`, and so every store, means those that it
    declares for a call, which have names alone: their address can't be taken (5.1.6.2).
    """
    modifiers = instruction.modifiers
    passed = symbol.kind is SymbolKind.VARIABLE and symbol.space == "param"
    if "param::entry" in modifiers:
        wanted = "a parameter of the kernel" if passed else None
    elif function.kind == "entry" and ("param::func" in modifiers or instruction.opcode == "st"):
        accesses = "param::func" in modifiers or "param" in modifiers
        wanted = "a parameter declared for a call" if accesses and not passed else None
    else:
        return
    if wanted:
        found = "a register" if symbol.kind is SymbolKind.REGISTER else f"`{symbol.name}`"
        context.report(
            "P219",
            f"expected {wanted} in the address of `{instruction.spelling}`, found {found}",
            address.span,
            labels=label_at(symbol.span, "declared here"),
            help="`.param::entry` is for a kernel's parameters, `.param::func` for a function's or a call's",
        )


def check_place(
    context: Context, instruction: Instruction, position: int, symbol: Symbol, offset: int
) -> None:
    """Warn of an access at an offset in a variable that can't be aligned, or is not inside.

    Args:
        context: where findings go.
        instruction: what accesses memory.
        position: the operand with the address.
        symbol: the variable.
        offset: in bytes.
    """
    wanted = access(instruction, position)
    if wanted is None or not isinstance(symbol.declaration, Variable):
        return
    aligned, size = wanted
    alignment, bytes_ = extent(symbol)
    span = instruction.operands[position].span or instruction.span
    labels = label_at(symbol.span, "declared here")
    where = f"`{symbol.name}`" if not offset else f"`{symbol.name}` + {offset}"
    if alignment >= aligned and offset % aligned:
        context.warn(
            "P236",
            f"expected an address aligned to {aligned} bytes in `{instruction.spelling}`, found {where}, "
            f"which is aligned to {offset & -offset}",
            span,
            labels=labels,
            help="align the variable and the offset, or access less at once; the kernel stops here",
        )
    elif bytes_ is not None and not 0 <= offset <= bytes_ - size:
        context.warn(
            "P237",
            f"`{instruction.spelling}` accesses {counted(size, 'byte')} at {where}, "
            f"outside the {counted(bytes_, 'byte')} of `{symbol.name}`",
            span,
            labels=labels,
            help="make the variable larger, or the offset smaller",
        )


def access(instruction: Instruction, position: int) -> tuple[int, int] | None:
    """To how many bytes an operand's address must be aligned, and how many are accessed; None: not known."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if MEMORY.get(opcode) == position and "async" not in modifiers:
        dtype = next((DTYPES[m] for m in reversed(modifiers) if m in DTYPES), None)
        if dtype is None or dtype.kind is Kind.PREDICATE:
            return None
        bytes_ = dtype.bytes * next((int(m[1:]) for m in modifiers if m in ("v2", "v4", "v8")), 1)
        return bytes_, bytes_
    if opcode == "mbarrier":
        return MBARRIER, MBARRIER
    if opcode in ("ldmatrix", "stmatrix"):
        return MATRIX_ROW, MATRIX_ROW
    if opcode == "cp" and modifiers[:1] == ("async",):
        return _copy(instruction, position)
    return None


def _copy(instruction: Instruction, position: int) -> tuple[int, int] | None:
    modifiers, operands = instruction.modifiers, instruction.operands
    if "mbarrier" in modifiers:
        return MBARRIER, MBARRIER
    if "bulk" not in modifiers:
        size = operands[2] if len(operands) > 2 else None
        if isinstance(size, Integer) and size.value in CP_SIZES and position < 2:
            return size.value, size.value
        return None
    last = max(i for i, operand in enumerate(operands) if isinstance(operand, Address))
    if "mbarrier::complete_tx::bytes" in modifiers and position == last:
        return MBARRIER, MBARRIER
    address = operands[position]
    if "tensor" in modifiers:
        return (TENSOR, 0) if isinstance(address, Address) and not address.rest else None
    return BULK, 0


def extent(symbol: Symbol) -> tuple[int, int | None]:
    """Alignment and size of a variable in bytes; its size is None where another module decides it."""
    declaration = symbol.declaration
    assert isinstance(declaration, Variable)
    dtype = DTYPES.get(declaration.type)
    if dtype is None or dtype.kind is Kind.OPAQUE:
        return 1, None
    element = dtype.bytes * (int(declaration.vector[1:]) if declaration.vector else 1)
    dimensions = symbol.declarator.dimensions if symbol.declarator else ()
    size: int | None = element
    for dimension in dimensions:
        size = size * dimension if size is not None and dimension is not None else None
    if not dimensions and declaration.declarators[0].dimensions:
        size = None
    linked = declaration.linkage in ("extern", "common", "weak")
    return max(declaration.align or 1, element), None if linked else size
