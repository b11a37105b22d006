"""Why an instruction has no form: what the reader wrote, what would fit, and how near it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.asm.check.context import Context, choice, close_to, did_you_mean
from ptxkit.asm.check.misfit import report_misfit
from ptxkit.asm.check.places import modifier_span, spelling_span
from ptxkit.asm.symbols import Scope
from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import listing
from ptxkit.isa.candidate import Candidate, in_order
from ptxkit.isa.conditions import Rule
from ptxkit.isa.match import Spelling, operand_facts, place_fits
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import OperandKind
from ptxkit.isa.places import OperandPlace
from ptxkit.isa.registry import named_forms, opcodes

FEW = 3
"""Values of a slot that are named together."""


def explain(
    context: Context,
    scope: Scope,
    instruction: Instruction,
    spelling: Spelling,
    kinds: tuple[OperandKind, ...],
) -> None:
    """Report why no form fits."""
    if spelling.candidates:
        _operands(context, scope, instruction, spelling.candidates, kinds)
        return
    forms = named_forms(instruction.opcode).get(spelling.name)
    if forms:
        _modifiers(context, instruction, spelling, forms)
    else:
        _unknown_instruction(context, instruction)


# ---- the opcode


def _unknown_instruction(context: Context, instruction: Instruction) -> None:
    span = spelling_span(instruction, context.module.source)
    names = named_forms(instruction.opcode)
    if names:
        known = listing(list(names)[:6])
        context.report(
            "P212",
            f"there is no instruction `{instruction.spelling}`",
            span,
            help=_nearest_name(instruction, names) or f"instructions of this opcode are {known}",
        )
        return
    note: tuple[str, ...] = ()
    if context.version > (9, 0):
        note = ("it may have come with the newer `.version` of this file",)
    context.report(
        "P212",
        f"there is no instruction `{instruction.opcode}`",
        span,
        notes=note,
        help=did_you_mean(instruction.opcode, opcodes()),
    )


def _nearest_name(instruction: Instruction, names: Iterable[str]) -> str | None:
    """A help line with a name that as many parts of the spelling are close to."""
    parts = (instruction.opcode, *instruction.modifiers)
    for count in sorted({name.count(".") + 1 for name in names}, reverse=True):
        help = did_you_mean(".".join(parts[:count]), [name for name in names if name.count(".") + 1 == count])
        if help is not None and count > 1:
            return help
    return None


# ---- modifiers


def _modifiers(context: Context, instruction: Instruction, spelling: Spelling, forms: Sequence[Form]) -> None:
    source = context.module.source
    known = frozenset[str]().union(*(form.modifiers for form in forms))
    unknown = [modifier for modifier in spelling.modifiers if modifier not in known]
    for modifier in dict.fromkeys(unknown):
        context.report(
            "P213",
            f"`{spelling.name}` has no modifier `.{modifier}`",
            modifier_span(instruction, modifier, source),
            help=_meant(modifier, forms) or f"`{spelling.name}` takes {_listed(known)}",
        )
    if unknown:
        return
    repeated = [m for m in dict.fromkeys(spelling.modifiers) if spelling.modifiers.count(m) > 1]
    form, left, missing = _nearest(forms, spelling.modifiers)
    span = spelling_span(instruction, source)
    if missing and not left:
        wanted = [f"`.{value}`" for value in missing[0]]
        more = ", .." if len(wanted) > 8 else ""
        choice = wanted[0] if len(wanted) == 1 else f"one of {', '.join(wanted[:8])}{more}"
        message = f"expected {choice} in `{instruction.spelling}`, found none"
    elif left and repeated and left[0] in repeated:
        message, span = f"modifier `.{left[0]}` is given twice", modifier_span(instruction, left[0], source)
    elif left:
        others = "".join(f".{m}" for m in spelling.modifiers if m not in left)
        message = f"`.{left[0]}` does not go with `{instruction.opcode}{others}`"
        span = modifier_span(instruction, left[0], source)
    else:
        message = f"the modifiers of `{instruction.spelling}` stand in the wrong order"
    context.report("P214", message, span, help=f"the nearest form is `{form.syntax}`")


def _nearest(
    forms: Sequence[Form], modifiers: Sequence[str]
) -> tuple[Form, list[str], list[tuple[str, ...]]]:
    """The form that needs the fewest changes, the modifiers it has no place for, and those it lacks."""
    best: tuple[int, Form, list[str], list[tuple[str, ...]]] | None = None
    for form in forms:
        left, missing = list(modifiers), []
        for slot in form.slots:
            fitting = next((modifier for modifier in left if modifier in slot.values), None)
            if fitting is not None:
                left.remove(fitting)
            elif not slot.optional:
                missing.append(slot.values)
        cost = 4 * len(left) + 2 * len(missing) + (not in_order(form, modifiers))
        if best is None or cost < best[0]:
            best = (cost, form, left, missing)
    assert best is not None
    return best[1:]


def _meant(modifier: str, forms: Sequence[Form]) -> str | None:
    """A help line with what a modifier is close to: all that its slot takes, where that is little."""
    slots = {slot.values for form in forms for slot in form.slots}
    near = close_to(f".{modifier}", (f".{name}" for values in slots for name in values))
    beside = {f".{name}" for values in slots if near and near[0][1:] in values for name in values}
    return choice(sorted(beside) if 1 < len(beside) <= FEW else near)


def _listed(modifiers: Iterable[str]) -> str:
    names = [f"`.{name}`" for name in sorted(modifiers)]
    return ", ".join(names[:10]) + (", .." if len(names) > 10 else "")


# ---- operands


def _operands(
    context: Context,
    scope: Scope,
    instruction: Instruction,
    candidates: Sequence[Candidate],
    kinds: tuple[OperandKind, ...],
) -> None:
    span = spelling_span(instruction, context.module.source)
    sizes = sorted({len(places) for candidate in candidates for places in candidate.form.shapes})
    best: tuple[int, Candidate, tuple[OperandPlace, ...]] | None = None
    for candidate in candidates:
        for places in candidate.form.shapes:
            if len(places) != len(kinds):
                continue
            fitting = sum(
                place_fits(candidate, place, kind) for place, kind in zip(places, kinds, strict=True)
            )
            if best is None or fitting > best[0]:
                best = (fitting, candidate, places)
    if best is None:
        wanted = " or ".join(map(str, sizes))
        context.report(
            "P215",
            f"expected {wanted} operand{'' if sizes == [1] else 's'} of `{instruction.spelling}`, "
            f"found {len(kinds)}",
            span,
            help=f"the form is `{candidates[0].form.syntax}`",
        )
        return
    _, candidate, places = best
    for position, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        if not place_fits(candidate, place, kind):
            operand = instruction.operands[position]
            report_misfit(context, scope, instruction, candidate, place, kind, operand)
            return
    facts = candidate.facts | operand_facts(places, kinds)
    for rule in candidate.form.rules:
        if not rule.holds(facts):
            _broken_rule(context, instruction, candidate, rule, facts)
            return


def _broken_rule(
    context: Context, instruction: Instruction, candidate: Candidate, rule: Rule, facts: frozenset[str]
) -> None:
    source = context.module.source
    premise = sorted(rule.premise.atoms & facts) if rule.premise else []
    named = [atom[1:] for atom in premise if atom.startswith(".") and atom[1:] in instruction.modifiers]
    span = modifier_span(instruction, named[0], source) if named else spelling_span(instruction, source)
    conclusion = _words(rule.conclusion.text)
    if rule.premise is None:
        message = f"`{instruction.spelling}` needs {conclusion}"
    else:
        message = f"{_words(rule.premise.text)} needs {conclusion} in `{instruction.spelling}`"
    context.report("P214", message, span, help=f"the form is `{candidate.form.syntax}`")


def _words(condition: str) -> str:
    """A condition for people: `.a & !.b` is "`.a` and no `.b`"."""
    text = condition.strip()
    for sign, word in (("&", " and "), ("|", " or ")):
        text = text.replace(sign, word)
    words = []
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word in ("and", "or", "(", ")"):
            words.append(word)
        elif word.startswith("!"):
            words.append(f"no `{word[1:]}`")
        else:
            words.append(f"`{word}`")
    return " ".join(words).replace("( ", "(").replace(" )", ")")
