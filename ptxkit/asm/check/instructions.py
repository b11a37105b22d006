"""An instruction whose form is known: version and target, constants in range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptxkit import targets
from ptxkit.asm.check.context import Context
from ptxkit.asm.check.misfit import constants
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.check.places import modifier_span, spelling_span
from ptxkit.asm.constants import constant_value, number
from ptxkit.asm.tree import Address, Binary, Instruction, Name, Operand, Pair, Vector
from ptxkit.diagnostics import Severity, Span
from ptxkit.isa.conditions import Condition
from ptxkit.isa.match import Match
from ptxkit.isa.operands import OperandKind
from ptxkit.isa.places import OperandPlace
from ptxkit.isa.registry import named_forms
from ptxkit.isa.special_registers import SPECIAL_REGISTERS


def check_match(context: Context, instruction: Instruction, match: Match) -> None:
    """Check what depends on version, target and the values of constants."""
    if id(match) not in context.settled:
        found = len(context.found)
        if not match.form.available(context.version, context.target, match.facts):
            report_availability(context, instruction, match)
        _advise(context, instruction, match)
        _warn_undocumented(context, instruction, match)
        if match.form.sampler:
            _check_sampler(context, instruction, match)
        if len(context.found) == found:
            context.settled[id(match)] = match
    if not match.ranged:
        return
    for place, operand in zip(match.places, instruction.operands, strict=True):
        for leaf, value in _leaves(place, operand):
            spec = match.form.specs.get(leaf.name)
            if spec is not None and (spec.low is not None or spec.choices):
                check_range(context, instruction, match, leaf, value)


def check_special_registers(context: Context, instruction: Instruction, kinds: Sequence[OperandKind]) -> None:
    """Check that the version and target have the special registers that an instruction reads."""
    _check_special(context, instruction, instruction.operands, kinds)


def _check_special(
    context: Context, instruction: Instruction, operands: Sequence[Operand], kinds: Sequence[OperandKind]
) -> None:
    for operand, kind in zip(operands, kinds, strict=True):
        if kind[0] == "sreg" and isinstance(operand, Name):
            needed = SPECIAL_REGISTERS[operand.name].availability
            if not needed.met(context.version, context.target):
                span = operand.span or instruction.span
                report_need(context, f"special register `{operand.name}`", span, needed)
        elif kind[0] == "{" and isinstance(operand, Vector):
            _check_special(context, instruction, operand.elements, kind[1:])
        elif kind[0] == "[" and isinstance(operand, Address):
            _check_special(context, instruction, (operand.base, *operand.rest), (kind[1], *kind[4:]))
        elif kind[0] == "offset" and isinstance(operand, Binary):
            _check_special(context, instruction, (operand.left,), kind[1:])


def _check_sampler(context: Context, instruction: Instruction, match: Match) -> None:
    """A sampler goes with the independent texture mode alone, and that mode with a sampler (9.7.10.3)."""
    given = match.form.sampler in match.facts
    if given == context.independent:
        return
    address = next((operand for operand in instruction.operands if isinstance(operand, Address)), None)
    span = address.span if address else instruction.span
    if context.independent:
        context.report(
            "P215",
            f"expected a sampler in the address of `{instruction.spelling}`, found none",
            span,
            help="write `[texture, sampler, coordinates]`, or leave `texmode_independent` out of `.target`",
        )
    else:
        context.warn(
            "P222",
            f"a separate sampler needs `.target {context.target.name}, texmode_independent`",
            span,
            help="leave the sampler out: the texture includes one",
        )


def _warn_undocumented(context: Context, instruction: Instruction, match: Match) -> None:
    """Warn of what only ptxas takes."""
    candidate, source = match.candidate, context.module.source
    syntax = f"the form is `{match.form.syntax}`"

    def warn(what: str, span: Span | None, help: str) -> None:
        message = f"ptxas accepts {what}; the manual does not list it"
        context.warn("P222", message, span or instruction.span, help=help)

    for place, operand in zip(match.places, instruction.operands, strict=True):
        base = operand.base if isinstance(operand, Address) else None
        if isinstance(base, Name) and base.name in SPECIAL_REGISTERS:
            what = f"special register `{base.name}` as an address"
            warn(what, operand.span, "move it to a register first")
        if isinstance(operand, Address) and operand.suffix and operand.suffix != place.suffix:
            what = f"`.{operand.suffix}` after the address of `{instruction.spelling}`"
            warn(what, operand.span, syntax)
        elif place.shape == "address" and not isinstance(operand, Address):
            what = f"an address without brackets as `{place.name}` of `{instruction.spelling}`"
            warn(what, operand.span, "write the register with the address in brackets: `[%rd1]`")
    for position, what in match.undocumented:
        what = f"{what} as `{match.places[position].name}` of `{instruction.spelling}`"
        warn(what, instruction.operands[position].span, "write a register of the operand's type")
    condition = match.form.undocumented
    if condition is not None and condition.holds(match.facts):
        help = f"`ptxkit explain {match.form.name}` shows the manual's forms"
        warn(f"this form of `{match.form.name}`", instruction.span, help)
    for what in candidate.undocumented:
        if what.startswith("-"):
            lacking, span = what[1:], spelling_span(instruction, source)
            warn(f"`{instruction.spelling}` without `.{lacking}`", span, syntax)
        else:
            span = modifier_span(instruction, what[1:], source)
            warn(f"`{what}` of `{match.form.name}`", span, syntax)
    if candidate.reordered:
        filled = [candidate.slots[s.name] for s in match.form.slots if s.name in candidate.slots]
        order = ".".join((match.form.opcode, *filled))
        context.report(
            "P223",
            f"the modifiers of `{instruction.spelling}` are not in the manual's order",
            spelling_span(instruction, source),
            severity=Severity.NOTE,
            help=f"write `{order}`",
        )


def _advise(context: Context, instruction: Instruction, match: Match) -> None:
    """Warn of what only the manual reserves for newer versions or other targets."""
    for condition, availability in match.form.advises:
        if condition.holds(match.facts) and not availability.met(context.version, context.target):
            what, span = _named(context, instruction, match, condition)
            report_need(context, what, span, availability, Severity.WARNING)
            return


def report_availability(context: Context, instruction: Instruction, match: Match) -> None:
    """Say which version or target is missing, and for which modifier."""
    form, facts = match.form, match.facts
    if not form.since.met(context.version, context.target):
        span = spelling_span(instruction, context.module.source)
        others = named_forms(form.opcode)[match.candidate.name]
        some = any(other.since.met(context.version, context.target) for other in others)
        report_need(context, f"`{instruction.spelling if some else form.name}`", span, form.since)
        return
    if form.until and form.until.met(context.version, context.target):
        context.report(
            "P312",
            f"`{instruction.spelling}` was removed in `.version {targets.show(form.until.version)}` "
            f"for `{context.target.name}`",
            spelling_span(instruction, context.module.source),
            help="its successor has `.sync` and a mask of the threads that take part",
        )
        return
    for condition, availability in form.needs:
        if condition.holds(facts) and not availability.met(context.version, context.target):
            what, span = _named(context, instruction, match, condition)
            report_need(context, what, span, availability)
            return


def _named(
    context: Context, instruction: Instruction, match: Match, condition: Condition
) -> tuple[str, Span | None]:
    """What a condition is about in this instruction, in words, and where it stands."""
    facts, source = match.facts, context.module.source
    there = [atom for atom in sorted(condition.atoms) if atom in facts]
    values = [match.slots.get(atom[1:], atom[1:]) for atom in there if atom.startswith(".")]
    written = [modifier for modifier in instruction.modifiers if modifier in values]
    operands = [atom for atom in there if not atom.startswith(".")]
    if written:
        what = f"`.{'.'.join(written)}` of `{match.form.name}`"
        return what, modifier_span(instruction, written[0], source)
    what = f"operand `{operands[0]}` of `{match.form.name}`" if operands else f"`{instruction.spelling}`"
    return what, spelling_span(instruction, source)


def _leaves(place: OperandPlace, operand: Operand) -> Iterator[tuple[OperandPlace, Operand]]:
    """The places that stand for one value each, with what is there."""
    if place.shape == "plain":
        yield place, operand
    elif place.shape == "vector" and isinstance(operand, Vector):
        yield from zip(place.parts, operand.elements, strict=False)
    elif place.shape == "pair" and isinstance(operand, Pair):
        yield from zip(place.parts, (operand.first, operand.second), strict=True)
    elif place.shape == "address" and isinstance(operand, Address):
        for part, there in zip(place.parts[1:], operand.rest, strict=False):
            for element in there.elements if isinstance(there, Vector) else (there,):
                yield part, element


def check_range(
    context: Context, instruction: Instruction, match: Match, place: OperandPlace, operand: Operand
) -> None:
    """Check a constant against the range or the choices of its place."""
    spec, form = match.form.specs[place.name], match.form
    value = number(operand) if isinstance(spec.low, float) else constant_value(operand)
    if value is None:
        return
    if spec.type == "u32" and value < 0 and spec.step > 1:
        value %= 2**32
    advised = "advised" in spec.words
    if spec.choices:
        if value in spec.choices or value - 2**64 in spec.choices:
            return
        advised = spec.step > 1 and value % spec.step == 0
    else:
        high = spec.high
        if isinstance(high, str):
            position = next(i for i, other in enumerate(match.places) if other.name == high)
            high = constant_value(instruction.operands[position])
            if high is None:
                return
            value, high = value % 2**32, high % 2**32
        assert high is not None
        assert spec.low is not None
        if isinstance(spec.low, float):
            if spec.low < value <= high:
                return
        elif spec.low <= value <= high and value % spec.step == 0:
            for name, limit, needed in form.above:
                met = needed.met(context.version, context.target)
                if name == place.name and value > limit and not met:
                    what = f"{value} as `{name}` of `{instruction.spelling}`"
                    report_need(context, what, operand.span or instruction.span, needed)
            return
        spec = replace(spec, high=high)
        more = "open" in spec.words or (spec.ptxas_high is not None and value <= spec.ptxas_high)
        advised = (advised or (more and value > high)) and value % spec.step == 0
    context.report(
        "P218",
        f"expected {constants(spec)} as `{place.name}` of `{instruction.spelling}`, found {value}",
        operand.span or instruction.span,
        severity=Severity.WARNING if advised else Severity.ERROR,
    )
