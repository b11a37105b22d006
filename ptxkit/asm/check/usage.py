"""Registers that nothing uses, or that nothing writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.asm.check.context import Context
from ptxkit.asm.constants import constant_value
from ptxkit.asm.flow import operand_names
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Function, Instruction, Integer, Name, Operand, walk
from ptxkit.diagnostics import SpanLabel
from ptxkit.isa.match import Match

OF_CALLS = "temp_param_reg"
"""What nvcc declares before each call and never uses."""


class NameUsage:
    """Which names the instructions of a function write, and where the others are first read."""

    def __init__(self) -> None:
        self._written: set[str] = set()
        self._read: dict[str, tuple[Name, Scope]] = {}
        self._idle: set[int] | None = None

    def note(self, instruction: Instruction, match: Match | None, scope: Scope) -> None:
        """Take an instruction into account; without a form, anything in it may be written."""
        operands = instruction.operands
        written = match.written if match is not None else (True,) * len(operands)
        for operand, is_written in zip(operands, written, strict=True):
            if is_written:
                self._written.update(name.name for name in _names(operand))
            else:
                for name in _names(operand):
                    if name.name not in self._read:
                        self._read[name.name] = (name, scope)
        guard = instruction.guard
        if guard is not None and guard.name not in self._read:
            self._read[guard.name] = (Name(guard.name, span=guard.span), scope)

    def report(self, context: Context, function: Function, scopes: Iterable[Scope]) -> None:
        """Warn of registers that are never used, and of those that are read and never written."""
        for scope in scopes:
            for symbol in scope.unused():
                if symbol.name == OF_CALLS:
                    continue
                if _is_register(symbol, function) and symbol.span is not None:
                    ranged = symbol.declarator is not None and symbol.declarator.count is not None
                    context.warn(
                        "P203",
                        f"register `{symbol.name}{'<..>' if ranged else ''}` is never used",
                        symbol.span,
                        help="leave the declaration out",
                    )
        for name, (place, scope) in self._read.items():
            register = scope.lookup(name) if name not in self._written else None
            if register is not None and _is_register(register, function):
                counts = self._where_it_counts(name, place, function)
                if counts is None:
                    continue
                context.warn(
                    "P204",
                    f"register `{name}` is read here and never written",
                    counts.span,
                    labels=(SpanLabel(register.span, "declared here"),) if register.span else (),
                    help="give it a value first",
                )

    def _where_it_counts(self, name: str, first: Name, function: Function) -> Name | None:
        """The first read of a register that may matter; None where only `prmt` names it and leaves it out."""
        if self._idle is None:
            self._idle = {id(operand) for operand in _left_out(function)}
        if id(first) not in self._idle:
            return first
        for statement in walk(function.body.statements if function.body else []):
            if type(statement) is Instruction:
                for operand in statement.operands:
                    for read in _names(operand):
                        if read.name == name and id(read) not in self._idle:
                            return read
        return None


def _left_out(function: Function) -> Iterator[Name]:
    """Operands of `prmt` of which the selector takes no byte, or may take none, being in a register.

    `prmt.b32 d, a, unset, 0x0123;` reverses `a`: kernels name a register without a value there.
    """
    for statement in walk(function.body.statements if function.body else []):
        if type(statement) is Instruction and statement.opcode == "prmt" and len(statement.operands) == 4:
            _, a, b, selector = statement.operands
            value = constant_value(selector)
            bytes_ = [] if value is None else [value >> shift & 7 for shift in (0, 4, 8, 12)]
            plain = statement.modifiers == ("b32",)
            for operand, first in ((a, 0), (b, 4)):
                if type(operand) is Name and plain and not any(n // 4 * 4 == first for n in bytes_):
                    yield operand


def _names(operand: Operand) -> Iterable[Name]:
    kind = type(operand)
    if kind is Name:
        return (operand,)  # type: ignore[return-value]
    return () if kind is Integer else operand_names(operand)


def _is_register(symbol: Symbol, function: Function) -> bool:
    """Whether it is a register that the function declares, not one of its parameters."""
    parameters = (*function.parameters, *function.returns)
    return symbol.kind is SymbolKind.REGISTER and all(
        symbol.declaration is not parameter for parameter in parameters
    )
