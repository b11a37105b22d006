"""Registers that nothing uses, or that nothing writes."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.constants import constant_value
from ptxkit.asm.flow import operand_names
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Function, Guard, Instruction, Integer, Name, Operand
from ptxkit.isa.match import Match

NVCC_UNUSED = "temp_param_reg"
"""What nvcc declares before each call and never uses."""


class NameUsage:
    """Which registers a function's instructions write, and where each is first read."""

    def __init__(self) -> None:
        self._written: set[Symbol] = set()
        self._read: dict[Symbol, Name | Guard] = {}
        # Names that were looked up already, written and read, by the scope's id.
        self._seen: dict[int, tuple[set[str], set[str]]] = {}

    def note(self, instruction: Instruction, match: Match | None, scope: Scope) -> None:
        """Take an instruction into account; without a form, anything in it may be written."""
        try:
            seen_written, seen_read = self._seen[id(scope)]
        except KeyError:
            seen_written, seen_read = self._seen[id(scope)] = set(), set()
        operands = instruction.operands
        written = match.written if match is not None else (True,) * len(operands)
        if instruction.opcode == "prmt":
            operands = _selected_operands(instruction)
        for operand, is_written in zip(operands, written, strict=True):
            for name in _names(operand):
                if is_written:
                    if name.name not in seen_written:
                        seen_written.add(name.name)
                        symbol = scope.lookup(name.name)
                        if symbol is not None:
                            self._written.add(symbol)
                elif name.name not in seen_read:
                    seen_read.add(name.name)
                    self._note_read(name, scope)
        guard = instruction.guard
        if guard is not None and guard.name not in seen_read:
            seen_read.add(guard.name)
            self._note_read(guard, scope)

    def _note_read(self, place: Name | Guard, scope: Scope) -> None:
        symbol = scope.lookup(place.name)
        if symbol is not None:
            self._read.setdefault(symbol, place)

    def forget(self, scope: Scope) -> None:
        """Something was declared in a scope: its names may mean something else from here on."""
        self._seen.pop(id(scope), None)

    def report(self, context: Context, function: Function, scopes: Iterable[Scope]) -> None:
        """Warn of registers that are never used, and of those that are read and never written."""
        for scope in scopes:
            for symbol in scope.unused():
                if symbol.name == NVCC_UNUSED:
                    continue
                if _is_register(symbol, function) and symbol.span is not None:
                    ranged = symbol.declarator is not None and symbol.declarator.count is not None
                    context.warn(
                        "P203",
                        f"register `{symbol.name}{'<..>' if ranged else ''}` is never used",
                        symbol.span,
                        help="leave the declaration out",
                    )
        for symbol, place in self._read.items():
            if symbol not in self._written and _is_register(symbol, function):
                context.warn(
                    "P204",
                    f"register `{place.name}` is read here and never written",
                    place.span,
                    labels=label_at(symbol.span, "declared here"),
                    help="give it a value first",
                )


def _selected_operands(prmt: Instruction) -> tuple[Operand, ...]:
    """The operands of `prmt`, `_` for one of which the selector takes no byte, or may take none.

    `prmt.b32 d, a, unset, 0x0123;` reverses `a`: kernels name a register without a value there. A selector
    in a register may take none.
    """
    if len(prmt.operands) != 4 or prmt.modifiers != ("b32",):
        return prmt.operands
    d, a, b, selector = prmt.operands
    value = constant_value(selector)
    halves = set() if value is None else {value >> shift & 4 for shift in (0, 4, 8, 12)}
    return d, a if 0 in halves else _UNREAD, b if 4 in halves else _UNREAD, selector


_UNREAD = Name("_")


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
