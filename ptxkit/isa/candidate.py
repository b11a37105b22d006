"""Which forms an instruction's modifiers fit: each put into a slot of the form.

As in ptxas, modifiers may stand in any order, with two exceptions: the parts of the instruction's name
(`cp.async.bulk`, `names.py`) come first, and types, state spaces and layouts each keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ptxkit.dtypes import DTYPES
from ptxkit.isa.notation import Form
from ptxkit.isa.places import SPACES

_ORDERED = {
    **dict.fromkeys(DTYPES, "type"),
    **dict.fromkeys(SPACES, "space"),
    **dict.fromkeys(("b8x16", "b2", "s2", "u2"), "type"),
    "row": "layout",
    "col": "layout",
    "and": "operation",
    "xor": "operation",
    "popc": "operation",
}
"""Modifiers whose order matters within their category."""

REPEATABLE = frozenset("satfinite sat cc sync approx NaN relu uni shiftamt".split())
"""Modifiers that ptxas allows twice."""


@dataclass(frozen=True)
class Candidate:
    """A form that the modifiers fit.

    Attributes:
        form: the row.
        name: the instruction's name, of several parts where it begins like one: `cp.async.bulk`.
        slots: which modifier fills each slot, by the slot's name.
        facts: `.modifier` and `.slot` for what is there, see `notation.Condition`.
        reordered: the modifiers are not in the manual's order.
        undocumented: what ptxas takes here and the manual does not have: modifiers, `-name` for a slot left empty.
    """

    form: Form
    name: str
    slots: Mapping[str, str]
    facts: frozenset[str]
    reordered: bool = False
    undocumented: tuple[str, ...] = ()

    @cached_property
    def meant(self) -> tuple[Any, ...]:
        """What the modifiers behind the instruction's name mean (`ptxkit.isa.modifiers`), slot by slot."""
        from ptxkit.isa.modifiers import meaning

        return tuple(meaning(slot, self.slots[slot]) for slot in self._behind)

    @cached_property
    def meanings(self) -> Mapping[str, Any]:
        """The same by the slots' names."""
        return dict(zip(self._behind, self.meant, strict=True))

    @property
    def _behind(self) -> list[str]:
        """The slots that are filled, without those of the instruction's name."""
        filled = [slot.name for slot in self.form.slots if slot.name in self.slots]
        return filled[self.name.count(".") :]


def assign(form: Form, name: str, modifiers: Sequence[str]) -> Candidate | None:
    """Put modifiers into the slots of a form; None where they don't fit.

    Args:
        form: the row.
        name: the instruction's, of which the first modifiers may be parts.
        modifiers: as written.
    """
    filled = _in_order(form.slots, modifiers)
    reordered = False
    if filled is None:
        filled = _any_order(form.slots, name.count("."), modifiers)
        reordered = True
    if filled is None:
        return None
    slots = {slot.name: modifier for slot, modifier in zip(form.slots, filled, strict=True) if modifier}
    facts = frozenset(f".{modifier}" for modifier in filled if modifier) | {f".{name}" for name in slots}
    undocumented = [f".{m}" for slot, m in zip(form.slots, filled, strict=True) if m in slot.undocumented]
    undocumented += [
        f"-{slot.name}" for slot, m in zip(form.slots, filled, strict=True) if slot.ptxas_optional and not m
    ]
    return Candidate(form, name, slots, facts, reordered, tuple(undocumented))


def _in_order(slots: Sequence, modifiers: Sequence[str]) -> list[str | None] | None:
    """Fill slots from left to right, trying every way to leave optional ones empty."""
    filled: list[str | None] = []

    def go(slot: int, modifier: int) -> bool:
        if slot == len(slots):
            return modifier == len(modifiers)
        if len(modifiers) - modifier > len(slots) - slot:
            return False
        here = slots[slot]
        if modifier < len(modifiers) and modifiers[modifier] in here.values:
            filled.append(modifiers[modifier])
            if go(slot + 1, modifier + 1):
                return True
            filled.pop()
        if here.optional or here.ptxas_optional:
            filled.append(None)
            if go(slot + 1, modifier):
                return True
            filled.pop()
        return False

    return filled if go(0, 0) else None


def _any_order(slots: Sequence, name_parts: int, modifiers: Sequence[str]) -> list[str | None] | None:
    """Fill each slot with the first modifier that may stand there, minding the ordered categories."""
    left = list(modifiers)
    for modifier in set(modifiers) & REPEATABLE:
        first = left.index(modifier)
        left[first + 1 :] = [other for other in left[first + 1 :] if other != modifier]
    filled: list[str | None] = []
    for slot in slots:
        if name_parts:
            if left and left[0] in slot.values:
                filled.append(left.pop(0))
                name_parts -= 1
            elif slot.optional:
                filled.append(None)
            else:
                return None
            continue
        chosen = None
        seen: set[str] = set()
        for modifier in left:
            category = _ORDERED.get(modifier, modifier)
            if category in seen:
                continue
            if modifier in slot.values:
                chosen = modifier
                break
            seen.add(category)
        if chosen is None and not slot.optional and not slot.ptxas_optional:
            return None
        if chosen is not None:
            left.remove(chosen)
        filled.append(chosen)
    return None if left else filled


def in_order(form: Form, modifiers: Sequence[str]) -> bool:
    """Whether the modifiers whose order matters stand in the form's order."""
    left = [modifier for modifier in modifiers if modifier in _ORDERED]
    for slot in form.slots:
        if left and left[0] in slot.values:
            left.pop(0)
    return not left
