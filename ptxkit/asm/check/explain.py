"""Why an instruction has no form: what the reader wrote, what would fit, and how near it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.asm.check.context import Context, did_you_mean
from ptxkit.asm.check.places import modifier_span, spelling_span
from ptxkit.asm.tree import Instruction, Operand
from ptxkit.dtypes import DTYPES
from ptxkit.isa.conditions import Rule
from ptxkit.isa.match import Candidate, Spelling, address_spaces, operand_facts, place_fits
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import OPAQUE, OperandKind, resolve_count, resolve_type
from ptxkit.isa.places import Place
from ptxkit.isa.registry import named_forms, opcodes


def explain(
    context: Context, instruction: Instruction, spelling: Spelling, kinds: tuple[OperandKind, ...]
) -> None:
    """Report why no form fits."""
    if spelling.candidates:
        _operands(context, instruction, spelling.candidates, kinds)
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
        known = ", ".join(f"`{name}`" for name in list(names)[:6])
        context.report(
            "P212",
            f"there is no instruction `{instruction.spelling}`",
            span,
            help=did_you_mean(instruction.spelling, names) or f"instructions of this opcode are {known}",
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
            help=did_you_mean(f".{modifier}", (f".{name}" for name in known))
            or f"`{spelling.name}` takes {_listed(known)}",
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
        cost = 2 * len(left) + len(missing)
        if best is None or cost < best[0]:
            best = (cost, form, left, missing)
    assert best is not None
    return best[1:]


def _listed(modifiers: Iterable[str]) -> str:
    names = [f"`.{name}`" for name in sorted(modifiers)]
    return ", ".join(names[:10]) + (", .." if len(names) > 10 else "")


# ---- operands


def _operands(
    context: Context,
    instruction: Instruction,
    candidates: Sequence[Candidate],
    kinds: tuple[OperandKind, ...],
) -> None:
    span = spelling_span(instruction, context.module.source)
    sizes = sorted({len(places) for candidate in candidates for places in candidate.form.shapes})
    best: tuple[int, Candidate, tuple[Place, ...]] | None = None
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
            _misfit(context, instruction, candidate, place, kind, instruction.operands[position])
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


def _misfit(
    context: Context,
    instruction: Instruction,
    candidate: Candidate,
    place: Place,
    kind: OperandKind,
    operand: Operand,
) -> None:
    code, wanted = _expected(candidate, place, kind)
    found = describe(kind, operand)
    context.report(
        code,
        f"expected {wanted} as `{place.name}` of `{instruction.spelling}`, found {found}",
        operand.span or instruction.span,
        help=f"the form is `{candidate.form.syntax}`",
    )


def _expected(candidate: Candidate, place: Place, kind: OperandKind) -> tuple[str, str]:
    """The code of the finding and what would fit, in words."""
    form = candidate.form
    if place.shape == "address":
        if not (isinstance(kind, tuple) and kind[0] == "["):
            return "P216", "an address in brackets"
        if kind[2] == "-":
            return "P216", "an offset added, as in `[a+-4]`"
        spaces = address_spaces(candidate, place)
        if isinstance(kind[1], tuple) and kind[1][0] == "var" and spaces:
            return "P219", f"an address in {' or '.join(f'`.{space}`' for space in spaces)}"
        return "P216", "an address in an integer register, or of a variable"
    if place.shape == "pair":
        return "P216", f"`{place.parts[0].name}|{place.parts[1].name}`"
    if place.shape in ("vector", "arguments"):
        return "P220", f"a list of {len(place.parts)}"
    spec = form.specs[place.name]
    if "label" in spec.words:
        return "P207", "a label"
    if "targets" in spec.words:
        return "P207", "the label of a `.branchtargets`"
    type_ = "pred" if "pred" in spec.words else resolve_type(spec, candidate.slots)
    count = resolve_count(spec, candidate.slots)
    if count is not None:
        return "P220", f"a vector of {count} `.{type_}` registers"
    if "imm" in spec.words:
        return "P216", "a constant"
    if spec.words & OPAQUE:
        return "P216", "a texture, sampler or surface, or a `.u64` register with its handle"
    written = form.writes(place)
    plain = isinstance(kind, str) and kind in DTYPES
    code = "P217" if plain or kind in ("int", "float", "0f") else "P216"
    register = f"a `.{type_}` register" if type_ else "a register"
    return code, register if written or "reg" in spec.words else f"{register} or constant"


def describe(kind: OperandKind, operand: Operand) -> str:
    """What an operand is, in words."""
    name = getattr(operand, "name", None)
    quoted = f" `{name}`" if isinstance(name, str) else ""
    if isinstance(kind, str):
        if kind in DTYPES:
            return f"`.{kind}` register{quoted}"
        words = {
            "int": "an integer",
            "float": "a floating-point number",
            "0f": "a single-precision number",
            "func": f"function{quoted}",
            "label": f"label{quoted}",
            "targets": f"label{quoted} of a `.branchtargets`",
            "calltargets": f"label{quoted} of a `.calltargets`",
            "prototype": f"label{quoted} of a `.callprototype`",
            "string": "a string",
            "_": "`_`",
        }
        return words.get(kind, f"`{kind}`")
    head = kind[0]
    if head == "var":
        return f"variable{quoted} in `.{kind[1]}`"
    if head == "sreg":
        return f"special register{quoted}"
    if head == "opaque":
        return f"`.{kind[1]}`{quoted}"
    if head == "{":
        return f"a vector of {len(kind) - 1}"
    if head == "[":
        inner = getattr(getattr(operand, "base", None), "name", None)
        if isinstance(kind[1], tuple) and kind[1][0] == "var":
            return f"variable `{inner}` in `.{kind[1][1]}`"
        return "an address"
    if head == "|":
        return "a pair"
    if head == "(":
        return "a list of arguments"
    if head == "not":
        return "a negated predicate"
    if head == "neg":
        return "a negated register"
    if head == "part":
        return f"part `.{kind[1]}` of{quoted}"
    if head in ("v2", "v4", "v8"):
        return f"`.{head} .{kind[1]}` register{quoted}"
    return "an expression"
