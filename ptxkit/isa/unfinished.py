"""An instruction that is still being written: the forms that it may become, the modifiers that may follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ptxkit.isa.notation import Form, Slot
from ptxkit.isa.registry import forms, opcodes


class Unfinished(NamedTuple):
    """A form that takes the modifiers so far.

    Attributes:
        form: the row.
        ordered: whether they stand in the manual's order, with none left out that must be there.
        following: modifiers that may come next.
        earlier: those that the manual has before one of the modifiers so far, and ptxas takes here, too.
    """

    form: Form
    ordered: bool
    following: tuple[str, ...]
    earlier: tuple[str, ...]


@lru_cache(maxsize=4096)
def unfinished(opcode: str, modifiers: tuple[str, ...]) -> tuple[Unfinished, ...]:
    """Every form that takes an opcode's modifiers so far, in the manual's order."""
    found = []
    for form in forms(opcode):
        ways = _filled(form.slots, modifiers)
        if not ways:
            continue
        in_order = [way for way in ways if _in_order(form.slots, way)]
        following, earlier = [], []
        for way in in_order or ways:
            last = max(way, default=-1)
            following += _until_required(form.slots, last + 1)
            earlier += [i for i, slot in enumerate(form.slots[:last]) if i not in way and slot.optional]
        found.append(
            Unfinished(form, bool(in_order), _values(form.slots, following), _values(form.slots, earlier))
        )
    return tuple(found)


def next_opcodes(begun: str) -> list[str]:
    """The opcodes that begin like this."""
    return [opcode for opcode in opcodes() if opcode.startswith(begun)]


def next_modifiers(opcode: str, modifiers: Sequence[str], begun: str = "") -> dict[str, str]:
    """The modifiers that may follow these ones and begin like this, each with the form that it leads to.

    Those that only ptxas takes there come last.
    """
    found: dict[str, str] = {}
    forms = unfinished(opcode, tuple(modifiers))
    for each in forms:
        found.update((value, each.form.syntax) for value in each.following if value not in found)
    for each in forms:
        found.update((value, each.form.syntax) for value in each.earlier if value not in found)
    return {value: syntax for value, syntax in found.items() if value.startswith(begun)}


def _filled(slots: Sequence[Slot], modifiers: Sequence[str]) -> list[tuple[int, ...]]:
    """Every way to put all modifiers into slots: the slot of each."""
    ways: list[tuple[int, ...]] = [()]
    for modifier in modifiers:
        ways = [
            (*way, index)
            for way in ways
            for index, slot in enumerate(slots)
            if index not in way and modifier in slot.values
        ]
    return ways


def _in_order(slots: Sequence[Slot], way: tuple[int, ...]) -> bool:
    last = max(way, default=-1)
    return list(way) == sorted(way) and all(
        index in way or slot.optional for index, slot in enumerate(slots[:last])
    )


def _until_required(slots: Sequence[Slot], start: int) -> list[int]:
    """The slots that may be filled next when those before `start` are done with."""
    found = []
    for index in range(start, len(slots)):
        found.append(index)
        if not slots[index].optional:
            break
    return found


def _values(slots: Sequence[Slot], indices: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for index in indices for value in slots[index].values))
