"""What ptxas says of a whole module when it makes code: functions never defined, and the limits of the ABI.

A predicate or an integer of less than 32 bits is not passed to a function that is called, as `.reg` or as a
single `.param`. A module with a function of several results is compiled without the ABI: that has no
indirect calls, no addresses of functions, no recursion, and none from other modules. PTX ISA 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.flow import operand_names
from ptxkit.asm.symbols import Scope, SymbolKind, bind, module_scope
from ptxkit.asm.tree import Arguments, Directive, Function, Instruction, Name, Prototype, Variable
from ptxkit.asm.unread import is_read
from ptxkit.diagnostics import counted

NARROW = frozenset(("pred", "u8", "s8", "u16", "s16"))
"""Types that are not passed; `.b8`, `.b16` and `.f16` are, and arrays and vectors of these."""
BUILT_IN = frozenset(("vprintf", "malloc", "free", "__assertfail"))
"""Functions that ptxas has itself."""


def check_functions(context: Context, scope: Scope) -> None:
    """Check the functions of a module without errors as a whole; `scope` is the module's."""
    module = context.module
    for function in module.functions:
        if function.kind == "entry" and function.body is None and function.directives:
            directive = function.directives[0]
            message = f"a declaration of `{function.name}` without a body has `.{directive.name}`"
            context.report("P225", message, directive.span, help="write it where the entry is defined")
    narrow = bool(context.narrow)
    several: Function | Prototype | None = context.several
    for symbol in scope.symbols():
        known = symbol.declaration
        if not isinstance(known, Function):
            continue
        if known.body is None and known.linkage != "extern" and known.name not in context.aliases:
            context.report(
                "P228",
                f"`{known.name}` is declared here and never defined",
                known.span,
                help=f"define it, or write `.extern .{known.kind}` where another module does",
            )
        if known.kind == "func":
            narrow = narrow or _narrow(known) is not None
            if len(known.returns) > 1:
                several = several or known
    if (narrow or several) and not any(d.is_error for d in context.found):
        _Abi(context, module_scope(module)).check(several)


def _narrow(function: Function | Prototype) -> Variable | None:
    """The first parameter or result that is not passed."""
    return next(
        (
            parameter
            for parameter in (*function.returns, *function.parameters)
            if parameter.type in NARROW and not parameter.vector and not parameter.declarators[0].dimensions
        ),
        None,
    )


def note_prototype(context: Context, prototype: Prototype) -> None:
    """Keep what the whole module is to be checked for."""
    if _narrow(prototype) is not None:
        context.narrow.append(prototype)
    if len(prototype.returns) > 1:
        context.several = context.several or prototype


@dataclass
class _Uses:
    """What a function calls and names.

    Attributes:
        calls: direct calls, with the function that each names.
        indirect: calls through registers, each with its prototype, or the first function of its list.
        addresses: functions that are named otherwise.
        variables: variables of the module whose initial values may name functions.
    """

    calls: list[tuple[Instruction, str]] = field(default_factory=list)
    indirect: list[tuple[Instruction, Function | Prototype | None]] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)


class _Abi:
    def __init__(self, context: Context, scope: Scope) -> None:
        self.context = context
        self.scope = scope
        self.functions = {f.name: f for f in context.module.functions if f.body is not None}
        self.uses = {
            name: self._uses_of(function) for name, function in self.functions.items() if is_read(function)
        }
        self.tables = dict(self._tables())
        self.reached = self._reach()

    def check(self, several: Function | Prototype | None) -> None:
        elsewhere = self._elsewhere()
        if several is not None:
            self._without(several, elsewhere)
        else:
            self._passed(elsewhere)

    def _uses_of(self, function: Function) -> _Uses:
        found = _Uses()
        for statement, scope in bind(function, self.scope):
            if not isinstance(statement, Instruction):
                continue
            operands = statement.operands
            if statement.opcode == "call":
                self._note_call(statement, scope, found)
                operands = tuple(o for o in operands if isinstance(o, Arguments))
            for operand in operands:
                for name in operand_names(operand):
                    symbol = scope.lookup(name.name)
                    if symbol is None:
                        continue
                    if symbol.kind is SymbolKind.FUNCTION:
                        found.addresses.add(self._original(symbol.name))
                    elif symbol.kind is SymbolKind.VARIABLE and symbol.space in ("global", "const"):
                        found.variables.add(symbol.name)
        return found

    def _note_call(self, call: Instruction, scope: Scope, found: _Uses) -> None:
        names = [operand for operand in call.operands if isinstance(operand, Name)]
        callee = scope.lookup(names[0].name) if names else None
        if callee is None:
            return
        if callee.kind is SymbolKind.FUNCTION:
            found.calls.append((call, self._original(callee.name)))
            return
        listed = scope.lookup(names[1].name) if len(names) > 1 else None
        what = listed.label_of if listed else None
        if isinstance(what, Directive):
            first = next((a for a in what.arguments if isinstance(a, Name)), None)
            known = scope.lookup(first.name) if first else None
            declaration = known.declaration if known else None
            found.indirect.append((call, declaration if isinstance(declaration, Function) else None))
            return
        found.indirect.append((call, what))

    def _original(self, name: str) -> str:
        """The function that an alias stands for."""
        original = self.context.aliases.get(name)
        return original.name if original else name

    def _tables(self) -> Iterator[tuple[str, set[str]]]:
        """Variables whose initial values name functions, and which."""
        for statement in self.context.module.statements:
            if not isinstance(statement, Variable):
                continue
            for declarator in statement.declarators:
                if declarator.initializer is None:
                    continue
                names = {self._original(name.name) for name in operand_names(declarator.initializer)}
                yield declarator.name, {name for name in names if self._is_function(name)}

    def _is_function(self, name: str) -> bool:
        symbol = self.scope.lookup(name)
        return symbol is not None and symbol.kind is SymbolKind.FUNCTION

    def _reach(self) -> list[str]:
        """The functions that the entries call or name, directly or not."""
        found = [entry.name for entry in self.context.module.entries]
        seen = set(found)
        for name in found:
            uses = self.uses.get(name)
            for other in self._next(uses) if uses else ():
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return found

    def _next(self, uses: _Uses) -> Iterator[str]:
        yield from (name for _, name in uses.calls)
        yield from sorted(uses.addresses)
        for variable in sorted(uses.variables):
            yield from sorted(self.tables.get(variable, ()))

    def _elsewhere(self) -> str | None:
        """A function of another module that is called, or what has to be the same in all modules.

        The module is compiled to be linked, then, and any of its functions may be called.
        """
        for statement in self.context.module.statements:
            if isinstance(statement, Function | Variable) and any(
                "unified" in a for a in statement.attributes
            ):
                return statement.name if isinstance(statement, Function) else statement.declarators[0].name
        for name in self.reached:
            for _, callee in self.uses[name].calls if name in self.uses else ():
                if callee not in self.functions and callee not in BUILT_IN:
                    return callee
        return None

    def _passed(self, elsewhere: str | None) -> None:
        """Report parameters that are not passed."""
        called = list(dict.fromkeys((*self.functions, *self.reached))) if elsewhere else self.reached
        entries = {entry.name for entry in self.context.module.entries}
        for name in called:
            symbol = self.scope.lookup(name)
            if name not in entries and symbol is not None and isinstance(symbol.declaration, Function):
                self._report_narrow(symbol.declaration, f"`{name}`")
        for name in called:
            for _, signature in self.uses[name].indirect if name in self.uses else ():
                if isinstance(signature, Prototype):
                    self._report_narrow(signature, "the prototype")

    def _report_narrow(self, function: Function | Prototype, name: str) -> None:
        parameter = _narrow(function)
        if parameter is not None:
            returned = any(parameter is result for result in function.returns)
            self.context.report(
                "P229",
                f"`{parameter.name}` of {name}, which is called, is a single `.{parameter.type}`; "
                f"functions {'return' if returned else 'take'} no predicate and no integer below 32 bits",
                parameter.span or function.span,
                help="declare it as `.b32`" if parameter.type == "pred" else "declare it as `.u32` or `.b16`",
            )

    def _without(self, several: Function | Prototype, elsewhere: str | None) -> None:
        """Report what there is not where a function has several results."""
        why = f"a function returns {counted(len(several.returns), 'value')}, so there is no ABI"
        labels = label_at(several.span, "declared here")
        help = "return one `.param` array that holds them all"
        problem: tuple[str, Instruction | Function | None] | None = None
        for uses in self.uses.values():
            if problem is None and uses.indirect:
                problem = "this call is indirect", uses.indirect[0][0]
            for call, callee in uses.calls if problem is None else ():
                if callee not in self.functions:
                    problem = f"`{callee}` is a function of another module", call
        if problem is None and elsewhere is not None:
            problem = f"`{elsewhere}` is to be linked", None
        if problem is None and (named := self._named()) is not None:
            problem = f"the address of `{named}` is taken", self.functions.get(named)
        if problem is None and (recursive := self._recursive()) is not None:
            problem = f"`{recursive}` is recursive", self.functions[recursive]
        if problem is not None:
            what, where = problem
            span = where.span if where is not None else several.span
            self.context.report("P229", f"{what}; {why}", span, labels=labels, help=help)

    def _named(self) -> str | None:
        for name in self.reached:
            if name in self.uses and self.uses[name].addresses:
                return min(self.uses[name].addresses)
        return min((name for names in self.tables.values() for name in names), default=None)

    def _recursive(self) -> str | None:
        for name in self.reached:
            below, seen = [name], set[str]()
            while below:
                for _, callee in self.uses[current].calls if (current := below.pop()) in self.uses else ():
                    if callee == name:
                        return name
                    if callee not in seen:
                        seen.add(callee)
                        below.append(callee)
        return None
