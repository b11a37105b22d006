"""Registers that nothing uses, or that nothing writes."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import operand_names
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Function, Instruction, Integer, Name, Operand
from ptxkit.diagnostics import Label
from ptxkit.isa.match import Match


class Usage:
    """Which names the instructions of a function write, and where the others are first read."""

    def __init__(self) -> None:
        self._written: set[str] = set()
        self._read: dict[str, tuple[Name, Scope]] = {}

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
                context.warn(
                    "P204",
                    f"register `{name}` is read here and never written",
                    place.span,
                    labels=(Label(register.span, "declared here"),) if register.span else (),
                    help="give it a value first",
                )


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
