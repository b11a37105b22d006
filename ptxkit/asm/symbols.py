"""What each name of a module means: scopes, declarations, labels. PTX ISA 4.4, 5.4, 11.2.

A `{ .. }` opens a scope; inner declarations hide outer ones. Registers and variables must be declared
before they are used; labels are known in the whole block that holds them, and in the blocks inside it.
A function's parameters and the declarations of its body's top level share one scope. `.reg .b32 %r<39>;`
declares `%r0` to `%r38`.

`bind` walks a function in order and hands out each statement with the scope as it is there:

    outer = module_scope(module)
    for statement, scope in bind(function, outer):
        symbol = scope.lookup("%r1")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from ptxkit.asm import tree
from ptxkit.diagnostics import Span


class SymbolKind(StrEnum):
    """What a name stands for."""

    REGISTER = "register"
    VARIABLE = "variable"
    PARAMETER = "parameter"
    LABEL = "label"
    FUNCTION = "function"
    ALIAS = "alias"


@dataclass(eq=False, slots=True)
class Symbol:
    """One declared name; compared by identity, so that equal names of two scopes stay apart.

    Attributes:
        name: as declared; `%r7` for a member of `%r<39>`.
        kind: what it stands for.
        space: the state space of a register, variable or parameter, else the empty string.
        type: its type without the dot, else the empty string.
        vector: `v2`, `v4`, .. of a vector register or variable, else None.
        declaration: the statement that declares it.
        declarator: the declared name in it; None for labels and functions.
        range: the symbol of the whole `%r<39>` where this is one of its members, else None.
        returned: whether it is a return parameter of its function.
        label_of: what a label that a `.branchtargets`, `.calltargets` or `.callprototype` follows stands for.
    """

    name: str
    kind: SymbolKind
    space: str
    type: str
    vector: str | None
    declaration: tree.Statement
    declarator: tree.Declarator | None = None
    range: Symbol | None = None
    label_of: tree.Directive | tree.Prototype | None = None
    returned: bool = False

    @property
    def span(self) -> Span | None:
        """Where it is declared."""
        return (self.declarator or self.declaration).span

    @property
    def is_array(self) -> bool:
        """Whether it is declared with dimensions."""
        return self.declarator is not None and bool(self.declarator.dimensions)


MAX_DIGITS = 20
"""Longest number of a member of a range: `%r12` has two digits."""
_DIGITS = "0123456789"
LISTS = ("branchtargets", "calltargets")
"""Directives that list what an instruction with their label may jump to or call."""
Clash = tuple[Symbol, Symbol]
"""A name declared twice in one scope: the new symbol, the earlier one."""


@dataclass(eq=False, slots=True)
class Scope:
    """One scope: what is declared in it, and the scope around it.

    Attributes:
        parent: the enclosing scope; None for the module's.
        clashes: every name declared twice, here or in a scope inside; shared by all scopes of a walk.
        labelled: the label of the latest list of targets or prototype, None where it has none.
    """

    parent: Scope | None = None
    clashes: list[Clash] = field(default_factory=list)
    labelled: Symbol | None = None
    _own: dict[str, Symbol] = field(default_factory=dict)
    _ranges: dict[str, Symbol] = field(default_factory=dict)
    _known: dict[str, Symbol | None] = field(default_factory=dict)
    _used: set[Symbol] = field(default_factory=set)

    def lookup(self, name: str) -> Symbol | None:
        """The symbol that `name` means here, or None. `%r01` is `%r1`."""
        try:
            return self._known[name]
        except KeyError:
            found = self._find(name)
            self._known[name] = found
            return found

    def _find(self, name: str) -> Symbol | None:
        own = self._own.get(name)
        if (own is None or own.kind is SymbolKind.LABEL) and self._ranges and name[-1:].isdecimal():
            own = self._member(name) or own
        if own is not None:
            self._used.add(own.range or own)
            return own
        return self.parent.lookup(name) if self.parent else None

    def _member(self, name: str) -> Symbol | None:
        """The register of a range that `name` means: `%r` of `%r<39>` is what comes before all digits.

        The members of a range whose own name ends in a digit can't be named, therefore.
        """
        prefix = name.rstrip(_DIGITS)
        range_ = self._ranges.get(prefix)
        if range_ is None or len(name) - len(prefix) > MAX_DIGITS:
            return None
        assert range_.declarator is not None
        index = int(name[len(prefix) :])
        if index >= (range_.declarator.count or 0):
            return None
        canonical = f"{prefix}{index}"
        member = self._own.get(canonical)
        if member is None or member.kind is SymbolKind.LABEL:
            member = Symbol(
                canonical,
                range_.kind,
                range_.space,
                range_.type,
                range_.vector,
                range_.declaration,
                range_.declarator,
                range_,
            )
            self._own[canonical] = member
        return member

    def declare(self, symbol: Symbol) -> None:
        """Add a symbol; one that is there already stays, and the pair goes to `clashes`."""
        ranged = symbol.declarator is not None and symbol.declarator.count is not None
        table = self._ranges if ranged else self._own
        earlier = table.get(symbol.name)
        label = symbol.kind is SymbolKind.LABEL  # It may have the name of a member, which then hides it.
        if earlier is None and not ranged and not label and self._ranges and symbol.name[-1:].isdecimal():
            earlier = self._member(symbol.name)
        if earlier is None and ranged:
            earlier = self._inside(symbol)
        if earlier is not None:
            self.clashes.append((symbol, earlier))
            return
        table[symbol.name] = symbol
        self._known.clear()

    def _inside(self, ranged: Symbol) -> Symbol | None:
        """A name declared alone that a range now covers."""
        assert ranged.declarator is not None
        for name, symbol in self._own.items():
            digits = name[len(ranged.name) :]
            if symbol.range or symbol.kind is SymbolKind.LABEL or symbol.vector or ranged.vector:
                continue
            if name.rstrip(_DIGITS) != ranged.name or not digits:
                continue
            if (
                len(digits) <= MAX_DIGITS
                and digits == str(int(digits))
                and int(digits) < (ranged.declarator.count or 0)
            ):
                return symbol
        return None

    def replace(self, symbol: Symbol) -> None:
        """Let `symbol` stand for its name from here on: a definition after its prototype."""
        self._own[symbol.name] = symbol
        self._known.clear()

    def forget(self) -> None:
        """A scope around this one has changed: what was looked up before may mean something else now."""
        scope: Scope | None = self
        while scope is not None:
            scope._known.clear()
            scope = scope.parent

    def symbols(self) -> Iterator[Symbol]:
        """What is declared in this scope itself; a `%r<39>` once."""
        yield from (symbol for symbol in self._own.values() if symbol.range is None)
        yield from self._ranges.values()

    def unused(self) -> Iterator[Symbol]:
        """What is declared in this scope and has never been looked up; a `%r<39>` once."""
        yield from (symbol for symbol in self.symbols() if symbol not in self._used)

    def names(self) -> Iterator[str]:
        """Every name that `lookup` finds here, for suggestions; of a range only its prefix."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope._own
            yield from scope._ranges
            scope = scope.parent

    def inner(self, statements: list[tree.Statement]) -> Scope:
        """A scope inside this one for a block of statements: its labels are declared at once."""
        scope = Scope(self, self.clashes)
        scope.declare_labels(statements)
        return scope

    def declare_labels(self, statements: list[tree.Statement]) -> None:
        """Declare the labels that stand directly among `statements`."""
        for statement in statements:
            if type(statement) is tree.Label:
                self.declare(Symbol(statement.name, SymbolKind.LABEL, "", "", None, statement))

    def name_list(self, label: tree.Statement | None, statement: tree.Statement) -> None:
        """From here on a label right before a list of targets or a prototype names it. PTX ISA 11.3."""
        lists = isinstance(statement, tree.Directive) and statement.name in LISTS
        if not lists and not isinstance(statement, tree.Prototype):
            return
        self.labelled = self._own.get(label.name) if isinstance(label, tree.Label) else None
        if self.labelled is not None:
            self.labelled.label_of = statement  # type: ignore[assignment]


MOST_LISTED = 1 << 16
"""Names of one `L<n>` in a list of targets that are looked at: a function has no more labels."""


def listed(directive: tree.Directive) -> Iterator[tree.Name]:
    """The names of a `.branchtargets` or `.calltargets`, those of `L<4>` one by one."""
    for argument in directive.arguments:
        if isinstance(argument, tree.Name):
            yield argument
        elif isinstance(argument, tree.Declarator):
            for index in range(min(argument.count or 0, MOST_LISTED)):
                yield tree.Name(f"{argument.name}{index}", span=argument.span)


def variable_symbols(variable: tree.Variable, kind: SymbolKind | None = None) -> Iterator[Symbol]:
    """The symbols that a declaration makes."""
    if kind is None:
        kind = SymbolKind.REGISTER if variable.space == "reg" else SymbolKind.VARIABLE
    for declarator in variable.declarators:
        yield Symbol(
            declarator.name, kind, variable.space, variable.type, variable.vector, variable, declarator
        )


def declare(statement: tree.Statement, scope: Scope) -> None:
    """Declare in the module's scope what a statement at module level declares."""
    if isinstance(statement, tree.Variable):
        for symbol in variable_symbols(statement):
            earlier = scope._own.get(symbol.name)
            if earlier is not None and _redeclares(statement, earlier.declaration):
                if statement.linkage != "extern":
                    scope.replace(symbol)
            else:
                scope.declare(symbol)
    elif isinstance(statement, tree.Function):
        symbol = Symbol(statement.name, SymbolKind.FUNCTION, "", "", None, statement)
        earlier = scope._own.get(statement.name)
        known = earlier.declaration if earlier else None
        if isinstance(known, tree.Function) and (known.body is None or statement.body is None):
            if statement.body is not None or known.body is None:
                scope.replace(symbol)
        else:
            scope.declare(symbol)
    elif (
        isinstance(statement, tree.Directive) and statement.name == "alias" and len(statement.arguments) == 2
    ):
        name = getattr(statement.arguments[0], "name", None)
        if isinstance(name, str) and scope.lookup(name) is None:
            scope.declare(Symbol(name, SymbolKind.ALIAS, "", "", None, statement))


def _redeclares(new: tree.Variable, old: tree.Statement) -> bool:
    """Whether `new` may repeat the name of `old`: one of them is `.extern`."""
    return isinstance(old, tree.Variable) and "extern" in (new.linkage, old.linkage)


def module_scope(module: tree.Module, before: tree.Function | None = None) -> Scope:
    """The module's scope: every variable and function, or those declared up to and with function `before`."""
    scope = Scope()
    for statement in module.statements:
        declare(statement, scope)
        if before is not None and statement is before:
            break
    return scope


def function_scope(function: tree.Function, outer: Scope) -> Scope:
    """The scope of a function's body with nothing but the function's own parameters in it."""
    scope = Scope(outer, outer.clashes)
    for parameter in (*function.returns, *function.parameters):
        kind = SymbolKind.REGISTER if parameter.space == "reg" else SymbolKind.PARAMETER
        for symbol in variable_symbols(parameter, kind):
            symbol.returned = any(parameter is returned for returned in function.returns)
            scope.declare(symbol)
    return scope


def bind(function: tree.Function, outer: Scope) -> Iterator[tuple[tree.Statement, Scope]]:
    """Every statement of a function's body in order, blocks before what they hold, each with the scope as it
    is there (a declaration comes after it has been declared). The function's own parameters are declared
    in the scope of its body, and a prototype in it is declared in the module's.
    """
    if function.body is None:
        return  # The names of a prototype's parameters mean nothing.
    scope = function_scope(function, outer)
    scope.declare_labels(function.body.statements)
    yield from _bind(function.body.statements, scope, outer)


def _bind(
    statements: list[tree.Statement], scope: Scope, module: Scope
) -> Iterator[tuple[tree.Statement, Scope]]:
    for position, statement in enumerate(statements):
        if type(statement) is tree.Instruction:
            yield statement, scope
            continue
        if isinstance(statement, tree.Variable):
            for symbol in variable_symbols(statement):
                scope.declare(symbol)
        elif isinstance(statement, tree.Prototype | tree.Directive):
            scope.name_list(statements[position - 1] if position else None, statement)
        elif isinstance(statement, tree.Function):
            declare(statement, module)
            scope.forget()
        yield statement, scope
        if isinstance(statement, tree.Block):
            yield from _bind(statement.statements, scope.inner(statement.statements), module)
