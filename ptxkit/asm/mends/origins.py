"""Registers that are made alike: of another dimension of a CTA or a grid, or of other bits of a number."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from ptxkit.asm.mends.statements import KernelText, WrittenStatement, operand_spans

_COMPUTING = ("mov", "add", "sub", "mul", "mad", "shl", "cvt", "or", "xor", "min", "max", "neg")
_PARTS = ("shr", "and", "bfe", "rem", "div")
"""Operations that take a part of a number: which of its bits makes no difference here."""
_AXIS = re.compile(r"(?<=[a-z])\.[xyz]\b")
DEEP = 5
"""Steps of data back that are looked at."""
MOST = 12
"""So many registers that are made alike, or fewer, may have been meant for each other."""


class RegisterOrigins:
    """Of a text.

    Args:
        text: the kernel's.
    """

    def __init__(self, text: KernelText) -> None:
        self.text = text

    def alike(self, name: str) -> list[str]:
        """The other registers that are made as one is, but for the dimension or the bits that are taken;
        nothing where they are many."""
        found = self._by_form.get(self._forms.get(name, ""), [])
        others = [other for other in found if other != name and self._values[other] != self._values[name]]
        return others if len(others) <= MOST else []

    def again(self, one: WrittenStatement) -> bool:
        """Whether another statement makes the same value, for another register: the two may be copies of
        which one was to be changed."""
        return self._made[_value(one)] > 1

    @cached_property
    def _made(self) -> Counter[str]:
        return Counter(_value(one) for one in self.text.statements if one.opcode.startswith(_COMPUTING[1:]))

    @cached_property
    def _values(self) -> dict[str, str]:
        """What each register is, as an expression of special registers and numbers, where it is that."""
        return {name: value for name in self.text.writers if (value := self._of(name, DEEP, plain=False))}

    @cached_property
    def _forms(self) -> dict[str, str]:
        """The same without dimensions, and parts of a number as such."""
        return {name: self._of(name, DEEP, plain=True) for name in self._values}

    @cached_property
    def _by_form(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, form in self._forms.items():
            found.setdefault(form, []).append(name)
        return found

    def _of(self, name: str, deep: int, plain: bool) -> str:
        """The expression of a register that is written once, and by no macro; empty where it is none."""
        writers = self.text.writers.get(name, ())
        if len(writers) != 1 or not deep or not name.startswith("%"):
            return ""
        one = self.text.statements[writers[0]]
        if one.macro or one.guarded or not one.opcode.startswith((*_COMPUTING, *_PARTS)):
            return ""
        part = plain and one.opcode.startswith(_PARTS)
        operands = [one.text[one.operands + s : one.operands + e] for s, e in _sources(one)]
        found = [self._operand(each, deep, plain) for each in (operands[:1] if part else operands)]
        special = any("%" in each for each in found)
        return f"{'part' if part else one.opcode}({', '.join(found)})" if special and all(found) else ""

    def _operand(self, operand: str, deep: int, plain: bool) -> str:
        if operand in self.text.writers:
            return self._of(operand, deep - 1, plain)
        return _AXIS.sub("", operand) if plain else operand


def _sources(one: WrittenStatement) -> list[tuple[int, int]]:
    return operand_spans(one.text[one.operands :])[1:]


def _value(one: WrittenStatement) -> str:
    """A statement without what it writes."""
    spans = _sources(one)
    body = one.text[one.operands + spans[0][0] :] if spans else ""
    return f"{one.opcode} {' '.join(body.split())}"
