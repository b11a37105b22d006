"""Rows for people: what `ptxkit explain ld` shows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from ptxkit import targets
from ptxkit.isa.conditions import Availability
from ptxkit.isa.notation import Form, Slot
from ptxkit.isa.places import Spec
from ptxkit.isa.registry import forms, named_forms, opcodes
from ptxkit.isa.special_registers import SpecialRegister


def find(spelling: str) -> tuple[Form, ...]:
    """The forms of `ld`, `cp.async.bulk`, or of a spelling with more modifiers; none where there are none."""
    opcode, *modifiers = spelling.split(".")
    if not modifiers:
        return forms(opcode)
    named = named_forms(opcode)
    begin = [name for name in named if name == spelling or name.startswith(f"{spelling}.")]
    if begin:
        return tuple(dict.fromkeys(form for name in begin for form in named[name]))
    return tuple(form for form in forms(opcode) if set(modifiers) <= form.modifiers)


def nearest(spelling: str) -> str | None:
    """The known name closest to `spelling`."""
    opcode = spelling.partition(".")[0]
    names = set(named_forms(opcode)) if opcode in opcodes() else set(opcodes())
    close = get_close_matches(spelling, sorted(names), n=1, cutoff=0.6)
    return close[0] if close else None


def availability(needed: Availability) -> str:
    """`PTX 8.6, sm_100a or ..`; empty where it has always been there."""
    parts = []
    for version, names in needed.alternatives:
        since = f"PTX {targets.show(version)}" if version > (1, 0) else ""
        on = targets.describe(names).replace("`", "") if names else ""
        parts.append(", ".join(part for part in (since, on) if part))
    return "; or ".join(part for part in parts if part)


def values(slot: Slot) -> str:
    """The modifiers that a slot takes; those that only ptxas takes are in parentheses."""
    return " ".join(f"(.{value})" if value in slot.undocumented else f".{value}" for value in slot.values)


_WORDS = {
    "label": "a label",
    "function": "a function",
    "targets": "the label of a .branchtargets",
    "prototype": "the label of a .callprototype",
    "any": "a register of any type",
    "none": "_",
    "texels": "the coordinates that .geom asks for",
    "shifts": "the offsets that .geom allows",
    "gradients": "the derivatives that .geom asks for",
    "coordinates": "as many as the tensor has dimensions",
    "offsets": "im2col offsets",
}
_ALSO = {
    "sreg": "a special register",
    "variable": "the address of a variable",
    "pack": "a vector that is as wide",
    "sink": "_",
    "anytype32": "the same in braces",
}


def operand(spec: Spec, written: bool = False) -> str:
    """What an operand may be; a destination is never a constant."""
    main = [text for word, text in _WORDS.items() if word in spec.words]
    opaque = sorted(spec.words & {"texref", "samplerref", "surfref"})
    if opaque:
        main.append(f"a .{' or .'.join(opaque)} variable, or its handle in a .u64 register")
    elif "pred" in spec.words:
        main.append("a predicate")
    elif spec.spaces:
        main.append(f"an address in {' or '.join(_space(space) for space in spec.spaces)}")
    elif not main and spec.type is not None:
        main.append(_typed(spec, written))
    elif not main:
        main.append("a constant" if "imm" in spec.words else "an address")
    also = [text for word, text in _ALSO.items() if word in spec.words]
    if written and "whole" not in spec.words and (spec.count is not None or "vec" in spec.words):
        also.append("_ for elements")
    text = " ".join(main) + "".join(f", or {other}" for other in also)
    limits = _limits(spec)
    return f"{text}; {limits}" if limits else text


def _typed(spec: Spec, written: bool) -> str:
    name = spec.type if spec.type and spec.type.startswith(".") else f".{spec.type}"
    size = " twice as wide" if spec.scale == 2 else ""
    if "imm" in spec.words:
        return f"a {name} constant"
    count = _count(spec)
    wide = ", or wider" if "wide" in spec.words else ""
    if count:
        return f"a vector of {count} {name}{size} registers{wide}"
    vec = ", or a vector with .vec" if "vec" in spec.words else ""
    constant = "" if written or spec.words & {"reg", "exact"} else " or constant"
    return f"{name}{size} register{constant}{wide}{vec}"


def _count(spec: Spec) -> str:
    if spec.count is None:
        return ""
    if isinstance(spec.count, int):
        return str(spec.count)
    symbol, operator, number = spec.count
    name = {"num": ".num", "group": ".cta_group"}.get(symbol, symbol.upper())
    return name if number == 1 else f"{name} {operator} {number}"


def _space(space: str) -> str:
    return space if space.startswith(".") else f".{space}" if space != "generic" else "any space"


def _limits(spec: Spec) -> str:
    if spec.choices:
        return f"one of {', '.join(map(str, spec.choices))}" if spec.choices[1:] else str(spec.choices[0])
    if spec.low is None:
        return ""
    step = f", in steps of {spec.step}" if spec.step > 1 else ""
    taken = f", and up to {spec.ptxas_high} by ptxas" if spec.ptxas_high is not None else ""
    return f"{spec.low} to {spec.high}{step}{taken}"


def special_register(register: SpecialRegister) -> str:
    """`special register, since PTX 7.8, sm_90 or higher`."""
    since = availability(register.availability)
    return f"special register, {f'since {since}' if since else 'in every version of PTX'}"


def operands(form: Form) -> list[tuple[str, str]]:
    """(name, what it may be) of each operand, in order."""
    found: dict[str, str] = {}
    for place in form.places:
        for leaf in place.leaves():
            if leaf.name in form.specs and leaf.name not in found:
                name = leaf.name
                shown = name if name in form.syntax else name.replace("_", "-")
                found[shown] = operand(form.specs[name], form.writes(place))
    return list(found.items())


def to_json(form: Form) -> dict[str, Any]:
    """A form as plain data."""
    return {
        "syntax": form.syntax,
        "section": form.section,
        "since": availability(form.since),
        "until": availability(form.until) if form.until else None,
        "modifiers": {
            slot.name: {
                "values": list(slot.values),
                "optional": slot.optional,
                "beyond": sorted(slot.undocumented),
            }
            for slot in form.slots
            if not slot.literal
        },
        "operands": dict(operands(form)),
        "needs": dict(_needs(form)),
        "advises": {condition.text: availability(needed) for condition, needed in form.advises},
        "beyond": form.undocumented.text if form.undocumented else None,
        "rules": [rule.text for rule in form.rules],
    }


def _needs(form: Form) -> Iterator[tuple[str, str]]:
    """What asks for more than the form itself, and for what."""
    yield from ((condition.text, availability(needed)) for condition, needed in form.needs)
    yield from ((f"{name} > {limit}", availability(needed)) for name, limit, needed in form.above)


WIDTH = 100
FEW = 24
"""A slot with more modifiers than this shows only the first and the last."""


def to_text(form: Form) -> str:
    """A form as a paragraph: its syntax, then a line for each slot, operand, need and rule."""
    rows = [(f".{slot.name}", _shortened(values(slot))) for slot in form.slots if not slot.literal]
    rows += operands(form)
    since = availability(form.since)
    if since:
        rows.append(("since", since))
    if form.until:
        rows.append(("until", f"before {availability(form.until)}"))
    asked = [*_needs(form), *((condition.text, availability(needed)) for condition, needed in form.advises)]
    rows += [("since", f"{needed} for {what}") for what, needed in asked]
    if form.undocumented:
        rows.append(("beyond", f"{form.undocumented.text}: taken by ptxas, not in the manual"))
    rows += [("rule", rule.text) for rule in form.rules]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [form.syntax]
    for name, text in rows:
        wrapped = textwrap.wrap(text, max(WIDTH - width, 40), break_long_words=False, break_on_hyphens=False)
        lines += [f"    {head.ljust(width)}  {part}" for head, part in zip([name], wrapped[:1], strict=False)]
        lines += [f"    {' ' * width}  {part}" for part in wrapped[1:]]
    return "\n".join(lines)


def _shortened(text: str) -> str:
    words = text.split()
    if len(words) <= FEW:
        return text
    return f"{' '.join(words[:6])} .. {' '.join(words[-3:])} ({len(words)} in all)"
