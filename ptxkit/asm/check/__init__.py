"""The checker: a parsed module against the manual, with ptxas as the judge of what is an error.

`check` reports what the parser found, then header, declarations, names and labels, and every instruction.
What ptxas accepts is never an error here; what it is too lenient about is a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from ptxkit import targets
from ptxkit.asm.check.abi import check_functions
from ptxkit.asm.check.allow import without_allowed
from ptxkit.asm.check.body import check_body
from ptxkit.asm.check.context import Context, did_you_mean
from ptxkit.asm.check.declarations import report_clashes
from ptxkit.asm.check.header import check_header, check_target, header_only
from ptxkit.asm.check.items import Items
from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.symbols import Scope, declare
from ptxkit.asm.tree import Directive, Function, Instruction, Module, Variable, require_module, walk
from ptxkit.asm.unread import is_read, known_diagnostics, known_errors, read_all, within
from ptxkit.diagnostics import Diagnostic, Span, error

__all__ = ["check", "check_read"]

RISKY = frozenset({"bar", "cp", "mbarrier", "set", "testp", "wgmma", "tcgen05"})
"""Opcodes that the lints have something to say about, beside every `.aligned` instruction and
functions that declare something of 128 bits."""


def check(
    module: Module,
    target: str | None = None,
    rules: Mapping[str, str] | None = None,
    select: Iterable[str] = (),
) -> list[Diagnostic]:
    """Everything that is wrong with a module, in the order of the source.

    Args:
        module: from `ptxkit.parse`, or built.
        target: the target it is meant for; None for the file's own `.target`.
        rules: how much findings weigh, `allow`, `warn` or `deny`, by a code, its name, a family (`P2`) or
            `warnings` (`ptxkit.rules`).
        select: the only findings that are wanted, by the same words; all where it is empty.

    Returns:
        Errors, warnings and notes, those of the parser included.

    Raises:
        PtxkitError: `target` is not a target (P305); P518, an unknown rule or level.
    """
    require_module(module)
    read_all(module)
    ordered = check_read(module, target)
    if not rules and not select:
        return ordered
    from ptxkit.rules import CHECKER, chosen, selector
    from ptxkit.rules import rules as checked

    only = [selector(each, CHECKER) for each in select]
    return chosen(ordered, checked(rules or {}, CHECKER), only)


def check_read(
    module: Module,
    target: str | None = None,
    functions: Iterable[Function] | None = None,
    lints: bool = True,
) -> list[Diagnostic]:
    """What is wrong with what has been read of a module, in the order of the source; see `ptxkit.asm.unread`.

    Args:
        module, target: as for `check`.
        functions: whose bodies are checked, and nothing else is told of; None: of all that have been read.
        lints: whether to look closer at what is no error (`ptxkit.asm.lint`), which a launch need not know.

    Raises:
        PtxkitError: `target` is not a target (P305).
    """
    wanted = None if functions is None else list(functions)
    context = Context(module, asked=_asked(target))
    with gc_paused():
        _check_module(context, None if wanted is None else set(map(id, wanted)), lints)
    known = known_diagnostics(module)
    if wanted is None:
        found = [*known, *_with_card(context)]
    else:
        found = [*within([*known, *context.found], wanted)]
    return sorted(without_allowed(found, module), key=_position)


def _check_module(context: Context, wanted: Collection[int] | None, lints: bool) -> None:
    """Check all statements of a module, of functions those bodies that were read and, by `id`, are wanted."""
    module = context.module
    check_header(context)
    scope = Scope()
    first = next((s for s in module.statements if isinstance(s, Directive) and s.name == "target"), None)
    items = Items(context, scope)
    for statement in module.statements:
        declare(statement, scope)
        if wanted is None or not isinstance(statement, Variable):
            items.check(statement)
        if isinstance(statement, Function):
            errors = len(context.found)
            if not is_read(statement) or (wanted is not None and id(statement) not in wanted):
                continue
            check_body(context, statement, scope)
            right = not known_errors(module) and not any(f.is_error for f in context.found[errors:])
            if lints and right:
                _lint(context, statement, scope)
        elif isinstance(statement, Directive) and statement.name == "target" and statement is not first:
            check_target(context, statement)
    report_clashes(context, scope.clashes)
    if module.complete and not known_errors(module) and not any(found.is_error for found in context.found):
        check_functions(context, scope)


def _lint(context: Context, function: Function, scope: Scope) -> None:
    """Look closer at functions that use what is easily used wrongly."""
    if function.body is None:
        return
    if any(
        s.opcode in RISKY or "aligned" in s.modifiers
        if isinstance(s, Instruction)
        else isinstance(s, Variable) and s.type == "b128"
        for s in chain(function.returns, function.parameters, walk(function.body.statements))
    ):
        from ptxkit.asm.lint import lint

        lint(context, function, scope)


def _asked(target: str | None) -> targets.Target | None:
    if target is None:
        return None
    found = targets.parse(target)
    if found is None:
        help = did_you_mean(str(target), targets.TARGETS)
        raise error("P305", f"there is no target `{target}`", help=help, notes=(_known(),))
    return found


def _known() -> str:
    return "targets are " + ", ".join(targets.SUPPORTED)


def _position(diagnostic: Diagnostic) -> Span:
    return diagnostic.span or Span(0, 0, 0, 0)


def _with_card(context: Context) -> list[Diagnostic]:
    """The findings, with those of the launch card where the file has one.

    In a file that ends before its first declaration, one error says so: that of the parser, of the card, or
    of the header, in this order.
    """
    module = context.module
    if module.source is None or "/// ptxkit" not in module.source.text:
        return context.found
    from ptxkit.asm.check.card import AGAINST_ENTRIES, check_card

    found = check_card(module)
    if not header_only(module):
        return [*context.found, *found]
    alone = [d for d in found if d.code < AGAINST_ENTRIES]
    if not module.complete:
        return context.found
    if not module.statements:
        return alone or context.found
    return [*context.found, *(alone if any(d.is_error for d in context.found) else found)]
