"""What is in a function's body: names, labels, and every instruction against the instruction set."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.check.abi import note_prototype
from ptxkit.asm.check.addresses import check_addresses
from ptxkit.asm.check.calls import check_call, check_target_list
from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import check_name, check_variable
from ptxkit.asm.check.directives import check_availability, check_pragma, check_tuning
from ptxkit.asm.check.explain import explain
from ptxkit.asm.check.header import check_target
from ptxkit.asm.check.instructions import check_match, check_special_registers
from ptxkit.asm.check.misfit import declared
from ptxkit.asm.check.parameters import check_function, check_prototype
from ptxkit.asm.check.redeclarations import check_again
from ptxkit.asm.check.undeclared import Undeclared
from ptxkit.asm.check.usage import NameUsage
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import LISTS, Scope, SymbolKind, bind, listed
from ptxkit.asm.unread import known_errors
from ptxkit.diagnostics import SpanLabel as Mark
from ptxkit.isa.match import Match
from ptxkit.isa.operands import OperandKind
from ptxkit.isa.registry import spelling


def check_body(context: Context, function: tree.Function, outer: Scope) -> None:
    """Check one function's body."""
    body = _Body(context, function)
    for statement, scope in bind(function, outer):
        body.visit(statement, scope)
    body.finish()


def check_instruction(
    context: Context, instruction: tree.Instruction, kinds: tuple[OperandKind, ...], scope: Scope
) -> Match | None:
    """Check an instruction whose operands are of these kinds, and give its form; None where it has none, or
    is a `call`, whose operands follow what is called."""
    if instruction.opcode == "call":
        check_call(context, instruction, scope)
        return None
    found = spelling(instruction.opcode, instruction.modifiers)
    match = instruction.match = found.match(kinds)
    if match is None:
        explain(context, scope, instruction, found, kinds)
    else:
        check_match(context, instruction, match)
    return match


def check_declaration(context: Context, statement: tree.Variable | tree.Directive, scope: Scope) -> None:
    """Check a declaration or a directive in a function's body."""
    if isinstance(statement, tree.Variable):
        check_variable(context, statement, inside=True, scope=scope)
    elif statement.name == "target":
        check_target(context, statement)
    elif statement.name == "pragma":
        check_pragma(context, statement, "body")
    elif statement.name == "loc_intermediate":
        check_availability(context, statement, "9.4")
    elif statement.name in LISTS:
        check_target_list(context, statement, scope)


def check_guard(context: Context, guard: tree.Guard, names: Names) -> None:
    """Check that a guard is a predicate register."""
    kind = names.kind(tree.Name(guard.name, span=guard.span))
    if kind not in ("pred", "?"):
        symbol = names.scope.lookup(guard.name)
        context.report(
            "P221",
            f"expected a predicate register after `@`, found `{guard.name}`",
            guard.span,
            labels=(Mark(symbol.span, f"{declared(symbol)} here"),) if symbol and symbol.span else (),
            help="declare it with `.reg .pred`, or compute one with `setp`",
        )


class _Body:
    def __init__(self, context: Context, function: tree.Function) -> None:
        self.context = context
        self.function = function
        self.names: dict[int, Names] = {}
        self.scopes: list[Scope] = []
        self.usage = NameUsage()
        self.unknown: dict[str, tree.Name] = {}
        self.branched: set[str] = set()
        self.called: set[str] = set()
        self.call_labels: set[str] = set()
        self.reported: set[str] = set()

    def of(self, scope: Scope) -> Names:
        found = self.names.get(id(scope))
        if found is None:
            found = self.names[id(scope)] = Names(scope)
            found.unknown = self.unknown
            self.scopes.append(scope)
        return found

    def visit(self, statement: tree.Statement, scope: Scope) -> None:
        if type(statement) is tree.Instruction:
            self.instruction(statement, scope)
        elif isinstance(statement, (tree.Variable, tree.Directive)):
            if isinstance(statement, tree.Variable):
                self.of(scope).forget()
                self.usage.forget(scope)
            elif statement.name in LISTS:
                self.listed(f".{statement.name}", statement, scope)
            check_declaration(self.context, statement, scope)
        elif isinstance(statement, tree.Label):
            check_name(self.context, statement.name, statement.span)
        elif isinstance(statement, tree.Prototype):
            self.listed(".callprototype", statement, scope)
            check_prototype(self.context, statement)
            check_tuning(self.context, statement)
            note_prototype(self.context, statement)
        elif isinstance(statement, tree.Function):
            for names in self.names.values():
                names.forget()
            check_again(self.context, statement, self.context.declared)
            check_function(self.context, statement)
            check_tuning(self.context, statement)
        elif not isinstance(statement, tree.Block):
            self.of(scope)

    def listed(self, name: str, statement: tree.Directive | tree.Prototype, scope: Scope) -> None:
        """A list of targets or a prototype; a label before it names it."""
        self.of(scope).forget()
        if scope.labelled is None:
            message = f"expected a label before `{name}`, found none"
            self.context.report("P210", message, statement.span, help=f"write `targets: {name} ..`")
        elif isinstance(statement, tree.Directive) and not any(listed(statement)):
            message = f"`{name}` lists nothing, and no instruction can take it"
            self.context.warn("P222", message, statement.span, help="list what there is, as in `L<4>`")

    def instruction(self, instruction: tree.Instruction, scope: Scope) -> None:
        names = self.of(scope)
        kind = names.kind
        if instruction.guard is not None:
            check_guard(self.context, instruction.guard, names)
        unknown = len(self.unknown)
        kinds = tuple([kind(operand) for operand in instruction.operands])
        if len(self.unknown) != unknown and instruction.opcode in ("bra", "brx", "call"):
            if instruction.opcode == "call":
                self.note_call(instruction, scope)
            else:
                self.branched.update(list(self.unknown)[unknown:])
        match = check_instruction(self.context, instruction, kinds, scope)
        if match is not None and match.special:
            check_special_registers(self.context, instruction, kinds)
        if match is not None and match.placed:
            check_addresses(self.context, instruction, scope, self.function)
        self.usage.note(instruction, match, scope)

    def note_call(self, call: tree.Instruction, scope: Scope) -> None:
        """A `call` that names something unknown: what it calls, or the label of a list or a prototype."""
        names = [operand for operand in call.operands if isinstance(operand, tree.Name)]
        if names:
            target, *labels = names
            self.called.add(target.name)
            callee = scope.lookup(target.name)
            direct = (
                callee is not None and callee.kind is SymbolKind.FUNCTION
            )  # `check_call` refuses a label.
            (self.reported if direct else self.call_labels).update(label.name for label in labels)

    def finish(self) -> None:
        complete = self.context.module.complete or self.function.body is None or self.function.body.closed
        undeclared = Undeclared(self.context, self.function, self.scopes) if self.unknown else None
        for name, place in self.unknown.items():
            assert undeclared is not None
            if name in self.called:
                undeclared.function(name, place)
            elif name in self.call_labels:
                undeclared.call_label(name, place)
            elif name in self.reported:
                continue
            elif name not in self.branched:
                undeclared.name(name, place)
            elif complete:  # Else the label may be in what is not there.
                undeclared.label(name, place)
        if not known_errors(self.context.module):  # What could not be parsed may have used or written them.
            self.usage.report(self.context, self.function, self.scopes)
