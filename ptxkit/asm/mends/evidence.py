"""What the rest of a text says about one of its numbers: that it stands elsewhere, or what stands there."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from ptxkit.asm.mends.numbers import NUMBER, UNIT, WIDE, value_of
from ptxkit.asm.mends.rows import WrittenRows
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement

SMALL = 16
"""Numbers below stand anywhere, and say nothing."""
REGULAR = 1.5
"""What it costs to change a number that is in line with all others of a row."""
REPEATED = 0.4
"""What it costs to change a number that another statement has in the same place."""
_VARIABLE = re.compile(r"mov\.[bu](?:32|64)\s+%[\w$]+\s*,\s*[A-Za-z_][\w$]*\s*(?:\+\s*\d+\s*)?;")
_THREAD = re.compile(r"mov\.[bu](?:32|16)\s+%[\w$]+\s*,\s*%(?:tid\.[xyz]|laneid|warpid)\s*;")
_SUMS = ("add", "mad", "or", "mov", "cvt")
_APART = ("shr", "shl", "and", "bfe", "rem", "div", "sub", "shfl")
FLOWS = 5
"""Steps of data that an address is made in, at most."""
_ADVANCES = re.compile(r"\s*(%[\w$]+)\s*,\s*\1\s*,\s*([\dxXa-fA-F]+)U?\s*;")
TOGETHER = 3
"""Statements that advance registers, and are no farther apart, advance them together."""


class TextEvidence:
    """Of a text.

    Args:
        text: the kernel's. Entries that are not launched count, too.
    """

    def __init__(self, text: KernelText) -> None:
        self.text = text
        self._all = [*text.statements, *text.others]
        self._read: dict[int, set[int]] = {}
        self._values = {
            id(one): [value_of(token[0]) for token in NUMBER.finditer(one.text, one.operands)]
            for one in self._all
        }

    @cached_property
    def rows(self) -> WrittenRows:
        """The rows of statements that are alike."""
        return WrittenRows.of(self.text.statements)

    @cached_property
    def _counts(self) -> Counter[int]:
        return Counter(value for values in self._values.values() for value in values)

    @cached_property
    def _keys(self) -> dict[int, str]:
        """Of each statement what it and its neighbours are but for their numbers."""
        found: dict[int, str] = {}
        for statements in (self.text.statements, self.text.others):
            plain = ["", *(_without_numbers(one) for one in statements), ""]
            found |= {id(one): "\n".join(plain[at : at + 3]) for at, one in enumerate(statements)}
        return found

    @cached_property
    def _twins(self) -> dict[tuple[str, int], Counter[int]]:
        """How often statements that are the same but for their numbers, among the same, have each."""
        found: dict[tuple[str, int], Counter[int]] = {}
        for one in self._all:
            for place, value in enumerate(self._values[id(one)] if one.opcode else ()):
                found.setdefault((self._keys[id(one)], place), Counter())[value] += 1
        return found

    def fits(self, value: int, own: int = 0) -> bool:
        """Whether a number, or as many bytes as that are units of 16, or as many units, stand in the text.

        Args:
            value: the number.
            own: how often it stands where it is asked about.
        """
        if value >= WIDE:
            return self._counts[value] > own
        if value < SMALL:
            return False
        near = self._counts[value * UNIT] + (0 if value % UNIT else self._counts[value // UNIT])
        return self._counts[value] > own or (near > 0 and value * UNIT > WIDE // 64)

    def fitting(self, value: int, most: int) -> list[int]:
        """The numbers that fit a text and are a quarter to four times as large as one, the nearest first."""
        if not SMALL <= value < WIDE:
            return []
        known = {
            each
            for number in self._counts
            for each in (number, number // UNIT if number % UNIT == 0 else 0)
            if value <= 4 * each and each <= 4 * value and each != value and each >= SMALL
        }
        return sorted(known, key=lambda each: (max(each, value) / min(each, value), each))[:most]

    def twins(self, one: WrittenStatement, place: int) -> tuple[int, list[int]]:
        """How many other statements have the same number in a place of a statement, and which others have.

        Args:
            one: the statement. Statements are looked at that are the same but for their numbers, as are
                those around them.
            place: which of its numbers.
        """
        values = self._twins.get((self._keys[id(one)], place), Counter())
        own = self._values[id(one)][place]
        return values[own] - 1, [value for value, _ in values.most_common() if value != own]

    @cached_property
    def advances(self) -> dict[int, list[int]]:
        """By how much others are advanced that are together with the register that a statement advances, the
        most usual first, by the number of the statement; nothing that is less usual than its own."""
        runs: list[list[tuple[int, str, int]]] = []
        for number, one in enumerate(self.text.statements):
            found = _ADVANCES.fullmatch(one.text, one.operands) if one.opcode.startswith("add") else None
            if found is None or one.macro:
                continue
            if not runs or number - runs[-1][-1][0] > TOGETHER or runs[-1][-1][1] != one.opcode:
                runs.append([])
            runs[-1].append((number, one.opcode, value_of(found[2])))
        usual = [Counter(step for _, _, step in run) for run in runs]
        return {
            number: [other for other, often in steps.most_common() if other != step and often >= steps[step]]
            for run, steps in zip(runs, usual, strict=True)
            if len(steps) > 1
            for number, _, step in run
        }

    def cost(self, number: int, place: int, start: int) -> float:
        """What it costs to change a number, by the place of the statement, and which of its numbers it is and
        where it stands in the statement."""
        if start in self.rows.regular.get(number, ()):
            return REGULAR
        same, others = self.twins(self.text.statements[number], place)
        return REPEATED if same and not others else 0.0

    @cached_property
    def addressing(self) -> dict[int, int]:
        """The statements that make addresses at which threads store and load in shared memory, a few steps
        back, by their numbers, with how many steps."""
        statements, writers = self.text.statements, self.text.writers
        newest = {
            other
            for number, one in enumerate(statements)
            for name in _address(one)
            for other in self.text.reaching(number, writers.get(name, ()))
        }
        found: dict[int, int] = {}
        for step in range(FLOWS):
            newest -= found.keys()
            found |= dict.fromkeys(newest, step)
            newest = {
                other
                for number in newest
                for name in statements[number].reads
                for other in self.text.reaching(number, writers.get(name, ()))
            }
        return found

    @cached_property
    def by_thread(self) -> frozenset[int]:
        """The statements that take the number of a thread apart, by their numbers."""
        parts = {name for one in self.text.statements if _THREAD.search(one.shown) for name in one.writes}
        found: set[int] = set()
        while True:
            newest = [
                number
                for number, one in enumerate(self.text.statements)
                if number not in found
                and one.opcode.startswith(_APART)
                and not {name for name in one.reads if name.startswith("%")} - parts
            ]
            if not newest:
                return frozenset(found)
            found.update(newest)
            parts |= {name for number in newest for name in self.text.statements[number].writes}

    @cached_property
    def of_barriers(self) -> frozenset[int]:
        """The statements whose values say where mbarriers are, and nothing else, by their numbers."""
        statements = self.text.statements
        readers: dict[str, set[int]] = {}
        for number, one in enumerate(statements):
            for name in one.reads | (frozenset() if one.opcode else one.writes):
                readers.setdefault(name, set()).add(number)
        found: set[int] = set()
        while True:
            newest = {
                number
                for number, one in enumerate(statements)
                if number not in found
                and one.opcode
                and one.writes
                and all(
                    name in readers
                    and all(at in found or _waits(statements[at], name) for at in readers[name] - {number})
                    for name in one.writes
                )
            }
            if not newest:
                return frozenset(found)
            found |= newest

    def swizzled(self, number: int) -> bool:
        """Whether a statement computes from an exclusive or, a few steps back."""
        newest, found = {number}, set[int]()
        for _ in range(FLOWS):
            found |= newest
            newest = {other for each in newest for other in self._bases(each)} - found
            if any(self.text.statements[each].opcode.startswith("xor") for each in newest):
                return True
        return False

    def based(self, number: int) -> bool:
        """Whether a statement reads where a variable is, or what was added to that."""
        return bool(self._bases(number) & self._based)

    @cached_property
    def _based(self) -> frozenset[int]:
        """The statements that compute it, by their numbers."""
        statements = self.text.statements
        found = {number for number, one in enumerate(statements) if _VARIABLE.match(one.shown)}
        while True:
            newest = {
                number
                for number, one in enumerate(statements)
                if number not in found and one.opcode.startswith(_SUMS) and self._bases(number) & found
            }
            if not newest:
                return frozenset(found)
            found |= newest

    def _bases(self, number: int) -> set[int]:
        """The statements whose values another reads, by their numbers."""
        if number not in self._read:
            writers = self.text.writers
            names = self.text.statements[number].reads
            self._read[number] = {
                at for name in names for at in self.text.reaching(number, writers.get(name, ()))
            }
        return self._read[number]


def _address(one: WrittenStatement) -> list[str]:
    """The registers of the address of shared memory at which a thread stores or loads."""
    if not one.opcode.startswith(("st.shared", "ld.shared", "stmatrix", "ldmatrix", "cp.async.c")):
        return []
    address = one.text[one.operands :].partition("[")[2].partition("]")[0]
    return [name for name in one.reads if name in address]


def _waits(one: WrittenStatement, name: str) -> bool:
    """Whether a statement reads a register only as the address of an mbarrier."""
    if one.opcode.startswith("mbarrier"):
        return True
    if not one.opcode.startswith("cp.async.bulk") or "mbarrier" not in one.opcode:
        return False
    ahead, _, last = one.text.rpartition("[")
    return name in NAME.findall(last) and name not in NAME.findall(ahead)


def _without_numbers(one: WrittenStatement) -> str:
    return one.text[: one.operands].strip() + NUMBER.sub("#", " ".join(one.text[one.operands :].split()))
