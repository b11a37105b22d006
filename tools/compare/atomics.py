"""Atomic operations: each thread has a place of its own in memory; what it holds before is an input, what it
holds after is an output.

Taken are all operations on all types up to 64 bits, by an address of global memory, of shared memory and a
generic one, with an order and a scope chosen at random. Several threads at one place are for tests: their
order is open.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

from compare.cases import Case, Register, register_bits
from ptxkit import targets
from ptxkit.dtypes import DTYPES
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import resolve_count, resolve_type
from ptxkit.isa.registry import forms

FREE = ("sem", "scope", "space", "global", "L2::cache_hint")
"""Slots that do not change the result."""
SPACES = ("global", "shared", "")
WHOLE = {("f32", 2): "f32x2", ("f16", 2): "f16x2", ("bf16", 2): "bf16x2"}
"""The type of a vector that is one place in memory."""


def atomics(target: targets.Target, version: targets.Version, pattern: str = "", seed: int = 0) -> list[Case]:
    """Every statement for a target, as `compare.cases.cases` gives those without memory."""
    found: dict[str, Case] = {}
    for opcode in ("atom", "red"):
        for form in forms(opcode):
            if "async" not in form.modifiers:
                for case in _cases_of(form, target, version, re.compile(pattern), seed):
                    found.setdefault(case.text, case)
    return list(found.values())


def _cases_of(
    form: Form, target: targets.Target, version: targets.Version, pattern: re.Pattern[str], seed: int
) -> Iterator[Case]:
    fixed = [
        (None,) if slot.name in FREE else ((None,) if slot.optional else ()) + slot.values
        for slot in form.slots
    ]
    for chosen, space in itertools.product(itertools.product(*fixed), SPACES):
        slots = {slot.name: value for slot, value in zip(form.slots, chosen, strict=True) if value}
        _choose_free(form, slots, space, random.Random(f"{seed} {form.syntax} {chosen} {space}"))
        if space and space not in slots.values():
            continue
        parts = [slots[slot.name] for slot in form.slots if slot.name in slots]
        spelling = ".".join((form.opcode, *parts))
        facts = frozenset({f".{value}" for value in slots.values()} | {f".{name}" for name in slots})
        if not pattern.search(spelling) or not form.available(version, target, facts):
            continue
        case = _case(form, slots, spelling, space)
        if case is not None and all(rule.holds(facts) for rule in form.rules):
            yield case


def _choose_free(form: Form, slots: dict[str, str], space: str, chosen: random.Random) -> None:
    """Give the slots that do not matter a value, or none."""
    for slot in form.slots:
        if slot.name in ("sem", "scope") and chosen.random() < 0.7:
            slots[slot.name] = chosen.choice(
                [value for value in slot.values if value not in slot.undocumented]
            )
        elif slot.name in ("space", "global") and space in slot.values:
            slots[slot.name] = space
    if "sem" in slots and "scope" not in slots:
        slots["scope"] = "gpu"


def _case(form: Form, slots: dict[str, str], spelling: str, space: str) -> Case | None:
    spec = form.specs["b"]
    type_, count = resolve_type(spec, slots), resolve_count(spec, slots)
    whole = WHOLE.get((type_ or "", count)) if count else type_
    if whole is None or DTYPES[whole].bits > 64:
        return None
    if space == "shared" and "c" in form.specs and "cas" not in form.modifiers:
        # With two operands after the address, which ptxas takes, the driver 580.159.04 crashes.
        return None
    bits = DTYPES[whole].bits
    inputs, outputs = [Register("im", whole, bits)], []
    operands = []
    for place in form.places:
        if place.name == "cache_policy":
            continue
        if place.shape == "address":
            operands.append("[%y]" if space == "shared" else "[%at]")
            continue
        written = form.writes(place)
        kept = outputs if written else inputs
        names = []
        for _ in range(count or 1):
            name = f"{'o' if written else 'i'}{len(kept)}"
            kept.append(Register(name, type_ or "", register_bits(type_ or "")))
            names.append(f"%{name}")
        operands.append(f"{{{', '.join(names)}}}" if count else names[0])
    outputs.append(Register("om", whole, bits))
    at = "shared" if space == "shared" else "global"
    where = operands[1 if form.opcode == "atom" else 0]
    before = (
        ["mov.u32 %y, %tid.x;", "mov.u32 %x, memory;", "mad.lo.u32 %y, %y, 8, %x;"] if at == "shared" else []
    )
    return Case(
        form.syntax,
        form.section,
        spelling,
        f"{spelling} {', '.join(operands)};",
        tuple(inputs),
        tuple(outputs),
        (*before, f"st.{at}.b{bits} {where}, %im;"),
        (f"ld.{at}.b{bits} %om, {where};",),
        memory=True,
    )
