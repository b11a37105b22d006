"""Names that mean nothing where they stand, and what may have been meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ptxkit.asm.check.context import Context, did_you_mean
from ptxkit.asm.symbols import MAX_DIGITS, Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Address, Declarator, Function, Instruction, Label, Name, Variable, walk
from ptxkit.diagnostics import SpanLabel as Mark
from ptxkit.dtypes import DTYPES

MAX_SUGGESTIONS = 20
"""Similar names are looked for so many times in a function: each time takes as long as there are names."""


class Undeclared:
    """Reports the names that a function's body uses and nothing declares there.

    Args:
        context: where findings go.
        function: with a body.
        scopes: those of its body.
    """

    def __init__(self, context: Context, function: Function, scopes: Iterable[Scope]) -> None:
        self.context = context
        self.scopes = scopes
        assert function.body is not None
        self.statements = function.body.statements
        self.suggestions = MAX_SUGGESTIONS
        self.labels: dict[str, Label] = {}
        self.declared: dict[str, tuple[Variable, Declarator]] = {}
        self.ranges: dict[str, list[tuple[Variable, Declarator]]] = {}
        for statement in walk(self.statements):
            if isinstance(statement, Label):
                self.labels.setdefault(statement.name, statement)
            elif isinstance(statement, Variable):
                for each in statement.declarators:
                    if each.count is None:
                        self.declared.setdefault(each.name, (statement, each))
                    else:
                        self.ranges.setdefault(each.name, []).append((statement, each))

    def function(self, name: str, place: Name) -> None:
        """A name that is called."""
        if not self._elsewhere(name, place):
            help = (
                self._near(name, lambda: self.functions)
                or f"declare it before the call: `.extern .func {name};`"
            )
            self.context.report("P201", f"function `{name}` is not declared", place.span, help=help)

    def label(self, name: str, place: Name) -> None:
        """A name that is branched to."""
        if not self._elsewhere(name, place):
            help = self._near(name, lambda: self.labels) or f"put `{name}:` before the instruction to jump to"
            message = f"label `{name}` is not defined in this function"
            self.context.report("P205", message, place.span, help=help)

    def call_label(self, name: str, place: Name) -> None:
        """A name where an indirect call has the label of a list or a prototype."""
        if not self._elsewhere(name, place):
            help = self._near(name, lambda: self.labels) or f"put `{name}: .callprototype ..` before the call"
            message = f"label `{name}` is not defined in this function"
            self.context.report("P205", message, place.span, help=help)

    def name(self, name: str, place: Name) -> None:
        """A name that stands anywhere else."""
        if not self._elsewhere(name, place):
            help = (
                self._near(name, lambda: self.names)
                or f"declare it before its first use: `.reg .{self._type(name, place)} {name};`"
            )
            self.context.report("P201", f"`{name}` is not declared", place.span, help=help)

    def _type(self, name: str, place: Name) -> str:
        """The type that a register of this name would most likely have, by how it is used there."""
        span = place.span
        for statement in walk(self.statements) if span is not None and self.suggestions else ():
            if not isinstance(statement, Instruction) or statement.span is None:
                continue
            first, last = statement.span[:2], statement.span[2:]
            assert span is not None
            if not first <= span[:2] < last:
                continue
            if statement.guard is not None and statement.guard.name == name:
                return "pred"
            at = [
                i for i, o in enumerate(statement.operands) if o.span and o.span[:2] <= span[:2] < o.span[2:]
            ]
            operand = statement.operands[at[0]] if at else None
            if isinstance(operand, Address):
                return "b64" if isinstance(operand.base, Name) and operand.base.name == name else "b32"
            return _usual(statement, at[0] if at else 0)
        return "b32"

    @cached_property
    def functions(self) -> list[str]:
        """Every function of the module."""
        return [s.name for s in self.context.module.statements if isinstance(s, Function)]

    @cached_property
    def names(self) -> set[str]:
        """Every name that is known somewhere in the body."""
        return {known for scope in self.scopes for known in scope.names()}

    def _near(self, name: str, known: Callable[[], Iterable[str]]) -> str | None:
        if not self.suggestions:
            return None
        self.suggestions -= 1
        return did_you_mean(name, known())

    def _elsewhere(self, name: str, place: Name) -> bool:
        """Report a name that is declared in the function, and can't be seen from where it is used."""
        found = self._find(name)
        if found is None:
            return False
        is_label = found.kind is SymbolKind.LABEL
        self.context.report(
            "P205" if is_label else "P201",
            f"{'label' if is_label else found.kind.value} `{name}` is not visible here",
            place.span,
            labels=(Mark(found.span, "declared here"),) if found.span else (),
            help="a name is visible in its own block and the blocks inside it, from its declaration on "
            "(a label, in the whole block)",
        )
        return True

    def _find(self, name: str) -> Symbol | None:
        if name in self.labels:
            return Symbol(name, SymbolKind.LABEL, "", "", None, self.labels[name])
        declared = self.declared.get(name) or self._in_range(name)
        if declared is None:
            return None
        variable, declarator = declared
        kind = SymbolKind.REGISTER if variable.space == "reg" else SymbolKind.VARIABLE
        return Symbol(name, kind, variable.space, variable.type, None, variable, declarator)

    def _in_range(self, name: str) -> tuple[Variable, Declarator] | None:
        prefix = name.rstrip("0123456789")
        digits = name[len(prefix) :]
        if digits and len(digits) <= MAX_DIGITS:
            for variable, declarator in self.ranges.get(prefix, ()):
                if int(digits) < (declarator.count or 0):
                    return variable, declarator
        return None


def _usual(instruction: Instruction, position: int) -> str:
    """The type that registers at a place of an instruction mostly have, by its modifiers."""
    types = [word for word in instruction.modifiers if word in DTYPES]
    if not types or (instruction.opcode == "setp" and position == 0):
        return "pred" if instruction.opcode == "setp" else "b32"
    kind = DTYPES[types[0] if position == 0 else types[-1]]
    wide = "wide" in instruction.modifiers and position in (0, 3)
    return kind.name if kind.is_float and kind.bits >= 32 else f"b{kind.bits * (2 if wide else 1)}"
