"""One change of a text, and the simplest of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ptxkit.asm.mends.statements import KernelText, WrittenStatement

_SWIZZLED = ("st.shared", "ld.shared", "stmatrix", "ldmatrix", "cp.async.c")
SWIZZLES = ((112, 128), (48, 64), (16, 32))
"""Masks of the three bits that the rows are combined with, and the bytes that are meant."""
_TEMPORARY = re.compile(r"%[a-z]{1,2}\d{2,}")
"""A register as a compiler numbers it: its neighbours have nothing to do with it."""
COUNTERPARTS = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "row/column row/col rows/columns rows/cols width/height left/right up/down north/south east/west "
        "first/last low/high lo/hi begin/end start/end head/tail full/empty warp/lane thread/lane "
        "cta/cluster input/output source/target src/dst m/n n/k m/k x/y y/z x/z i/j a/b q/k k/v"
    ).split()
)
"""Words of which one is written for the other."""
_INDEX = re.compile(r"\d+")
LONGEST = 100
"""Statements that are longer are not repeated in messages."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change.

    Attributes:
        cost: how unlikely.
        start, end: the stretch of the text that is replaced.
        new: by what.
        said: what the kernel is with the change, in words: `1024 instead of 512 in ..`.
        line: where.
        weight: how much the distance of the statement counts: little where it stands out by itself.
        also: further stretches that are replaced, by what, none over another.
    """

    cost: float
    start: int
    end: int
    new: str
    said: str
    line: int
    weight: float = 1.0
    also: tuple[tuple[int, int, str], ...] = ()

    def of(self, text: str) -> str:
        """The text with the change."""
        for start, end, new in sorted(((self.start, self.end, self.new), *self.also), reverse=True):
            text = text[:start] + new + text[end:]
        return text


def changed(one: WrittenStatement, cost: float, start: int, end: int, new: str) -> Edit:
    """A change of some characters of a statement."""
    old = one.text[start:end]
    whole = one.text[:start] + new + one.text[end:]
    shown, made = one.shown, " ".join(whole.replace("\\\n", " ").split())
    if len(shown) <= LONGEST and made:
        said = f"`{made}` instead of `{shown}` at line {one.line}"
    elif not made:
        said = f"nothing instead of `{shown}` at line {one.line}"
    else:
        said = f"`{new}` instead of `{old}` in the `{one.opcode or one.shown[:24]}` at line {one.line}"
    return Edit(cost, one.start + start, one.start + end, new, said, one.line)


def behind(one: WrittenStatement, cost: float, added: str, what: str = "") -> Edit:
    """A further statement."""
    said = f"`{added}` behind `{one.shown}` at line {one.line}{what}"
    return Edit(cost, one.end, one.end, " " + added, said, one.line)


def swizzles(text: KernelText, one: WrittenStatement) -> Iterator[Edit]:
    """An address of shared memory with the swizzle that it lacks."""
    if not one.opcode.startswith(_SWIZZLED):
        return
    found = re.search(r"\[\s*(%[\w$]+)", one.text[one.operands :])
    if found is None or text.width(found[1]) not in (32, 64):
        return
    name, bits, at = found[1], text.width(found[1]), one.operands + found.start(1)
    for rank, (mask, width) in enumerate(SWIZZLES):
        changed = one.text[:at] + "%meant" + one.text[at + len(name) :]
        new = (
            f"{{ .reg .b{bits} %meant; shr.u{bits} %meant, {name}, 3; "
            f"and.b{bits} %meant, %meant, {mask}; xor.b{bits} %meant, %meant, {name}; {changed} }}"
        )
        said = f"a {width}-byte swizzle in the address `{name}` of the `{one.opcode}` at line {one.line}"
        yield Edit(1.2 + 0.2 * rank, one.start, one.end, new, said, one.line)


def swizzled_value(text: KernelText, one: WrittenStatement, cost: float) -> Iterator[Edit]:
    """An address that a statement makes, with the swizzle that it lacks."""
    operation, kind = one.opcode.partition(".")[0], one.opcode.rpartition(".")[2]
    if operation not in ("mad", "add", "or") or one.macro or len(one.writes) != 1 or kind[:1] not in "usb":
        return
    (name,) = one.writes
    bits = text.width(name)
    if not name.startswith("%") or bits not in (32, 64):
        return
    for rank, (mask, width) in enumerate(SWIZZLES):
        new = (
            f"{{ .reg .b{bits} %meant; shr.u{bits} %meant, {name}, 3; "
            f"and.b{bits} %meant, %meant, {mask}; xor.b{bits} {name}, {name}, %meant; }}"
        )
        said = f"a {width}-byte swizzle in the address `{name}` that line {one.line} makes"
        yield Edit(cost + 0.2 * rank, one.end, one.end, " " + new, said, one.line)


def constant(one: WrittenStatement) -> bool:
    """Whether it compares two numbers, which makes a predicate that is always true, or never."""
    return one.opcode.startswith("setp.") and "%" not in one.text[one.operands :].partition(",")[2]


def family(name: str) -> str:
    """What the registers that are numbered alike have in common."""
    return _INDEX.sub("#", name)


def temporary(name: str) -> bool:
    """Whether a register has a name as compilers number them."""
    return _TEMPORARY.fullmatch(name) is not None


def alike(name: str, other: str) -> bool:
    """Whether two names differ in one letter, in one word, a short one or the other's counterpart, or in the
    order of their indices."""
    a, b = name.lstrip("%").split("_"), other.lstrip("%").split("_")
    if len(a) == len(b):
        differ = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if len(differ) == 1:
            one, two = differ[0]
            short = len(a) > 1 and max(len(one), len(two)) <= 3
            if short or frozenset((one, two)) in COUNTERPARTS:
                return True
    if family(name) == family(other):
        return sorted(_INDEX.findall(name)) == sorted(_INDEX.findall(other))
    if name.rstrip("0123456789") == other.rstrip("0123456789"):
        return False  # One of a numbered family: there are too many.
    letters = len(name) == len(other) and sum(x != y for x, y in zip(name, other, strict=True)) == 1
    return letters and len(name) > 2 and not temporary(name)
