"""What may have been left out: an operation on a value, or one more operand of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from ptxkit.asm.mends.edit import Edit, behind, changed
from ptxkit.asm.mends.evidence import TextEvidence
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_COPY = re.compile(r"mov\.[bus](32|64)$")
_SHIFTED = ("mov", "and", "shr", "shl", "add", "sub", "mad", "mul", "bfe", "cvt", "xor", "or", "rem", "div")
"""Operations whose result may have been meant to be shifted."""
_COMPUTING = _SHIFTED[1:]
"""Operations whose result is no mere copy: what such a one makes was meant for something."""
LIKELY = 4
"""How many ways are tried soon in which a copy that makes an address may have been more."""
FEW_COPIES = 12
"""A text that has no more copies of registers: each may have been more."""
FAR = 8
"""Statements behind which a value that nobody reads is not looked for any more."""
NEAR = 12
"""Statements around one whose registers are near."""
TURNS = (1, 2, 3, 4)


class LeftOut:
    """The changes of a text that put in what may have been left out.

    Args:
        text: the kernel's.
        evidence: of it.
        alike: the numbers that instructions of the same opcode have.
    """

    def __init__(self, text: KernelText, evidence: TextEvidence, alike: Mapping[str, set[int]]) -> None:
        self.text = text
        self.evidence = evidence
        self._alike = alike

    def of(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Those at a statement."""
        if len(one.writes) != 1:
            return
        (target,) = one.writes
        if not target.startswith("%") or self.text.common(target) != target or "." not in one.opcode:
            return
        bits = self.text.width(target)
        if bits not in (32, 64):
            return
        for name, there in self._unread if number in self.evidence.addressing else self._never_read:
            if name != target and abs(number - there) <= FAR and self.text.width(name) == bits:
                for rank, operation in enumerate(("xor", "add", "or")):
                    last = self.text.statements[max(number, there)]
                    sign = "s" if operation == "add" else "b"
                    added = f"{operation}.{sign}{bits} {target}, {target}, {name};"
                    yield replace(behind(last, 0.25 + 0.3 * rank, added), weight=0.3)
        copied = _COPY.match(one.opcode)
        spans = operand_spans(one.text[one.operands :])
        if copied and len(spans) == 2:
            source = one.text[one.operands + spans[1][0] : one.operands + spans[1][1]]
            if {source, source.rstrip("0123456789")} & self.text.widths.keys():
                yield from self._no_copy(number, one, target, source, bits)
        floating = one.opcode.rsplit(".", 1)[-1].startswith(("f", "bf"))
        if not floating and one.opcode.split(".")[0] in _SHIFTED:
            for rank, turn in enumerate(TURNS):
                yield behind(one, 1.6 + 0.1 * rank, f"shl.b{bits} {target}, {target}, {turn};")
                yield behind(one, 1.9 + 0.1 * rank, f"shr.u{bits} {target}, {target}, {turn};")

    @cached_property
    def _never_read(self) -> list[tuple[str, int]]:
        """The registers that something computes and nothing reads, with the statement."""
        return [(name, number) for name, number, never in self._lost_values if never]

    @cached_property
    def _unread(self) -> list[tuple[str, int]]:
        """The same, and those that nothing reads before they are overwritten."""
        return [(name, number) for name, number, _ in self._lost_values]

    @cached_property
    def _lost_values(self) -> list[tuple[str, int, bool]]:
        """What registers get that nobody reads, with the statement, and whether that is so of all."""
        writers: dict[str, list[int]] = {}
        readers: set[str] = set()
        for number, one in enumerate(self.text.statements):
            for name in set(NAME.findall(one.text)) if one.opcode or not one.text.startswith(".") else ():
                if name in one.writes and len(one.writes) == 1 and one.opcode.startswith(_COMPUTING):
                    writers.setdefault(name, []).append(number)
                else:
                    readers.add(name)
        found = []
        for name, numbers in writers.items():
            if not name.startswith("%") or self.text.common(name) != name:
                continue
            if name not in readers:
                found.append((name, numbers[-1], True))
            else:
                found += ((name, at, False) for at in numbers if self._overwritten(name, at))
        return found

    def _overwritten(self, name: str, number: int) -> bool:
        """Whether what a statement writes is named neither further down before it is overwritten nor at the
        beginning of a loop that goes around again."""
        statements = self.text.statements
        if statements[number].macro or name in self._of_macros:
            return False
        for start, end in self.text.loops:
            if start <= number < end and self._read_first(name, range(start, number + 1)):
                return False
        return not self._read_first(name, range(number + 1, len(statements)))

    def _read_first(self, name: str, numbers: range) -> bool:
        """Whether the first of some statements that names a register may read it."""
        for one in map(self.text.statements.__getitem__, numbers):
            if name in one.reads | one.writes:
                return name in one.reads or one.guarded or not one.opcode
        return False

    @cached_property
    def _of_macros(self) -> frozenset[str]:
        """The names that stand in macros, whose calls may read them."""
        return frozenset(name for one in self.text.statements if one.macro for name in one.reads | one.writes)

    @cached_property
    def _copied(self) -> Counter[str]:
        """How many statements copy each register."""
        copy = re.compile(r"\s*%[\w$]+\s*,\s*(%[\w$]+)\s*;")
        found = (
            copy.match(one.text, one.operands) for one in self.text.statements if _COPY.match(one.opcode)
        )
        return Counter(one[1] for one in found if one)

    def _no_copy(
        self, number: int, one: WrittenStatement, target: str, source: str, bits: int
    ) -> Iterator[Edit]:
        """What was meant in place of a copy: two values, or one and a number, combined, or a shifted one."""
        single = [count for count in self._copied.values() if count <= 2]
        alone = self._copied[source] <= 2 and len(single) <= FEW_COPIES and not one.guarded
        likely = LIKELY if alone and number in self.evidence.addressing else 0
        base = 0.4 if number in self.evidence.addressing or one.macro else 1.0
        used = sorted(
            {value for op, values in self._alike.items() if op.startswith("xor") for value in values}
        )
        numbers = [*used, *(each for each in (16, 32, 64, 8, 4, 128) if each not in used)]
        for rank, value in enumerate(numbers[:12]):
            new = f"xor.b{bits} {target}, {source}, {value};"
            weight = 0.5 if rank < likely else 1.0
            yield replace(changed(one, base + 0.05 * rank, 0, len(one.text), new), weight=weight)
        for rank, turn in enumerate(TURNS):
            for later, operation in ((0.0, "shr.u"), (0.3, "shl.b")):
                new = f"{operation}{bits} {target}, {source}, {turn};"
                weight = 0.5 if likely else 1.0
                yield replace(changed(one, base + later + 0.05 * rank, 0, len(one.text), new), weight=weight)
        near = [
            (name, apart)
            for name, apart in near_registers(self.text, number).items()
            if name not in (target, source) and self.text.width(name) == bits
        ]
        if self._lost(number, target):
            whole = f"xor.b{bits} {target}, {target}, {source};"
            yield replace(changed(one, 0.2, 0, len(one.text), whole), weight=0.3)
        for at, (name, apart) in enumerate(near):
            weight = 0.5 if at < likely else 1.0
            for rank, operation in enumerate(("xor.b", "add.s", "or.b")):
                new = f"{operation}{bits} {target}, {source}, {name};"
                edit = changed(one, base + 0.6 * rank + apart / 20, 0, len(one.text), new)
                yield replace(edit, weight=weight)

    def _lost(self, number: int, target: str) -> bool:
        """Whether a statement overwrites what another, just ahead of it, computed and nothing has read."""
        return any(name == target and 0 < number - there <= FAR for name, there in self._unread)


def near_registers(text: KernelText, number: int) -> dict[str, int]:
    """The registers of the statements around one, with how far away they are."""
    found: dict[str, int] = {}
    for apart in range(NEAR):
        for at in {number - apart, number + apart}:
            if 0 <= at < len(text.statements) and text.statements[at].opcode:
                one = text.statements[at]
                for name in NAME.findall(one.text[one.operands :]):
                    if name.startswith("%") and "." not in name:
                        found.setdefault(name, apart)
    return found
