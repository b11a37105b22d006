"""Changes of one place of a kernel's text that may be what was meant, the likeliest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from ptxkit.asm.mends.edit import Edit, alike, behind, changed, constant, swizzles
from ptxkit.asm.mends.evidence import SMALL, UNIT, TextEvidence
from ptxkit.asm.mends.numbers import NUMBER, WIDE, meant, value_of, written_like
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_SELF = re.compile(r"\s*(%?\w+)\s*,\s*(?:\1\s*,|[^,;]+,\s*\1\s*;)")
_COPY = re.compile(r"mov\.[bus](32|64)$")
_EXCHANGED = (
    "sub",
    "shl",
    "shr",
    "div",
    "rem",
    "mad",
    "selp",
    "fma",
    "bfe",
    "bfi",
    "wgmma",
    "tcgen05",
    "mma",
)
"""Instructions of which operands that change places are tried."""
_OTHER = {
    "add": "sub", "sub": "add", "xor": "or", "or": "xor", "shl": "shr", "shr": "shl", "div": "rem",
    "rem": "div", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq",
}  # fmt: skip
_UNLIKELY = (
    "mbarrier", "bar", "barrier", "fence", "griddepcontrol", "bra", "nanosleep", "elect", "wgmma.wait",
    "wgmma.commit", "cp.async.wait", "cp.async.bulk.wait", "cp.async.bulk.commit",
)  # fmt: skip
_NEVER = ("setmaxnreg", "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish", "trap", "ret", "exit")
LIKELY = 4
"""How many ways are tried soon in which a copy that makes an address may have been more."""
FEW_COPIES = 12
"""A text that has no more copies of registers: each may have been more."""
TWINS, FITTING = 2, 6
"""How many numbers are tried that other statements like one have, and that fit the text."""
WHOLE = 0.8
"""What it costs to change a statement that is in line with others."""
_LINES = re.compile(r"\bline \d+")
ONE_SIDED = "a swizzle that only one side applies"
"""What a cause says where threads make the addresses."""
SWIZZLING = ("xor", "or", "and", "shl", "shr", "bfe", "mad", "add")
BYTES = 256
"""Numbers below that are told need be none of bytes."""
MOVED = 0.15
"""What a change costs of a descriptor by as much as the cause says that it is off."""
SHIFTS = 4
"""How much farther or less far values may have been meant to be shifted."""
FAR = 8
"""Statements behind which a value that nobody reads is not looked for any more."""
TURNS = (1, 2, 3, 4)


class Edits:
    """The changes of a text.

    Args:
        text: the kernel's.
        distances: the statements that may hold the cause, by their numbers, with how near they are.
        told: the finding and its cause: of numbers that they name one instead of another is likely.
    """

    def __init__(self, text: KernelText, distances: Mapping[int, float], told: str = "") -> None:
        numbers = map(int, re.findall(r"(?<![\w.])\d+(?![\w.])", _LINES.sub("", told)))
        self.swizzled = ONE_SIDED in told
        self.told = frozenset(each for each in numbers if each >= BYTES)
        self.moved = {abs(one - other) // UNIT for one in self.told for other in self.told if one != other}
        self.text = text
        self.evidence = TextEvidence(text)
        self._like: dict[str, dict[str, int]] = {}
        self.distances = distances

    def ordered(self) -> list[Edit]:
        """All of them, the likeliest first; of the same text only one."""
        found: dict[tuple[int, int, str], Edit] = {}
        for number, distance in sorted(self.distances.items()):
            one = self.text.statements[number]
            if self.swizzled and number in self.evidence.addressing and one.opcode.startswith(SWIZZLING):
                distance = min(distance, 0.1)
            for edit in self._of(number, one):
                key = edit.start, edit.end, edit.new
                cost = edit.cost + edit.weight * distance + one.opcode.startswith(_UNLIKELY)
                cost += WHOLE if self.evidence.rows.whole(number) else 0.0
                if key not in found or found[key].cost > cost:
                    found[key] = replace(edit, cost=cost)
        return sorted(found.values(), key=lambda each: (each.cost, each.line, each.start, each.new))

    def _of(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        yield from self._out_of_line(number, one)
        if one.opcode.startswith(_NEVER):
            return
        yield from self._numbers(number, one)
        if one.opcode:
            yield from self._exchanges(one)
            yield from self._operations(number, one)
            yield from self._left_out(number, one)
            yield from swizzles(self.text, one)
        yield from self._registers(number, one)

    # ---- numbers

    def _out_of_line(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """All numbers of a statement as they are in line with those of others."""
        broken = sorted(self.evidence.rows.broken.get(number, ()))
        for start, end, value in broken:
            yield replace(changed(one, 0.1, start, end, str(value)), weight=0.1)
        if len({start for start, _, _ in broken}) > 1:
            text, at = "", broken[0][0]
            for start, end, value in broken:
                if start >= at:
                    text, at = text + one.text[at:start] + str(value), end
            yield replace(changed(one, 0.05, broken[0][0], at, text), weight=0.1)

    @cached_property
    def _alike(self) -> dict[str, set[int]]:
        """The numbers that instructions of the same opcode have."""
        found: dict[str, set[int]] = {}
        for one in self.text.statements:
            for token in NUMBER.finditer(one.text, one.operands):
                found.setdefault(one.opcode, set()).add(value_of(token[0]))
        return found

    def _numbers(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        if constant(one):
            return
        for place, token in enumerate(NUMBER.finditer(one.text, one.operands)):
            value = value_of(token[0])
            ahead = one.text[: token.start()].rstrip()
            binary = token[0].startswith("-") and ahead[-1:] not in ("", ",", "[", "(", "{")
            if binary:
                continue  # `a - 1`: the sign is no part of it.
            known = self.evidence.cost(number, place, token.start())
            if ahead.endswith("+") and value and one.text[token.end() :].lstrip()[:1] == "]":
                start = len(ahead[:-1].rstrip())
                yield changed(one, 0.4 + known, start, token.end(), "")  # an address without an offset
            _, twins = self.evidence.twins(one, place)
            for rank, other in enumerate(twins[:TWINS]):
                written = written_like(token[0], other)
                twin = changed(one, 0.15 + 0.1 * rank, token.start(), token.end(), written)
                yield replace(twin, weight=0.3)
            for other in self.told if value in self.told else ():
                if other != value:
                    written = written_like(token[0], other)
                    yield replace(changed(one, 0.05, token.start(), token.end(), written), weight=0.05)
            for cost, other in self._meant(one, value, token[0]):
                if other != value:
                    written = written_like(token[0], other)
                    yield changed(one, cost + known, token.start(), token.end(), written)

    def _meant(self, one: WrittenStatement, value: int, written: str) -> Iterator[tuple[float, int]]:
        """What may have been meant by a number of a statement: rather what stands elsewhere, too."""
        fits = self.evidence.fits(value, own=1)
        later = 0.4 if fits else 0.0
        fitting = self.evidence.fitting(value, FITTING)
        begins = 0.5 if value in (0, 1) and one.opcode.startswith("mov") else 0.0
        for cost, other in meant(value, self._alike.get(one.opcode, ()), fitting, written):
            if one.opcode.startswith("wgmma.mma") and abs(other) > 1:
                continue  # scale-d, imm-scale, imm-trans
            if one.opcode.startswith(("shl", "shr")) and abs(other - value) > SHIFTS:
                continue
            if other >= SMALL and self.evidence.fits(other):
                cost = max(0.15, cost - (0.1 if fits else 0.25))
            if value >= WIDE and {abs(other - value), abs(other - value) >> 32} & self.moved:
                cost = min(cost, MOVED)  # A field of bytes of which the cause says the right number.
            yield cost + begins + (later if other in fitting else 0.0), other

    # ---- registers

    def _exchanges(self, one: WrittenStatement) -> Iterator[Edit]:
        """Operands, or elements of a vector, that change places."""
        body = one.text[one.operands :]
        spans = [(one.operands + start, one.operands + end) for start, end in operand_spans(body)]
        if one.opcode.startswith(_EXCHANGED):
            for (s1, e1), (s2, e2) in pairwise(spans[1:]):
                first, second = one.text[s1:e1], one.text[s2:e2]
                if first != second and self._alike_operands(first, second):
                    new = one.text[s2:e2] + one.text[e1:s2] + one.text[s1:e1]
                    yield changed(one, 0.9, s1, e2, new)
        for found in re.finditer(r"\{([^{}]*)\}", one.text):
            inner = [(found.start(1) + s, found.start(1) + e) for s, e in operand_spans(found[1] + ";")]
            if not 2 <= len(inner) <= 8:
                continue
            for i, (s1, e1) in enumerate(inner):
                for j in range(i + 1, len(inner)):
                    s2, e2 = inner[j]
                    new = one.text[s2:e2] + one.text[e1:s2] + one.text[s1:e1]
                    likely = one.opcode.startswith("cp.async.bulk.tensor")  # coordinates
                    yield changed(one, (0.3 if likely else 0.6) + 0.2 * (j - i), s1, e2, new)

    def _alike_operands(self, first: str, second: str) -> bool:
        """Whether operands can change places: not where they are registers of two widths."""
        both = first.startswith("%") and second.startswith("%")
        return not both or self.text.width(first) == self.text.width(second)

    def _registers(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Another register in place of one that is read: one of a like name, or one of the neighbourhood."""
        spans = operand_spans(one.text[one.operands :]) if one.opcode else []
        first = one.operands + (spans[0][1] if spans and one.writes else 0)
        near = self._near(number)
        for token in NAME.finditer(one.text, first):
            name = token[0]
            if not name.startswith("%"):
                continue
            for other, apart in {**self._declared_like(name), **near}.items():
                if other == name or self.text.width(other) != self.text.width(name):
                    continue
                cost = 0.8 if alike(name, other) else 2.0 + apart / 10
                yield changed(one, cost, token.start(), token.end(), other)

    def _declared_like(self, name: str) -> dict[str, int]:
        """The registers that are declared with a name like another, and are nowhere near."""
        if name not in self._like:
            self._like[name] = {
                other: FAR for other in self.text.widths if other.startswith("%") and alike(name, other)
            }
        return self._like[name]

    def _near(self, number: int) -> dict[str, int]:
        """The registers of the statements around one, with how far away they are."""
        found: dict[str, int] = {}
        statements = self.text.statements
        for apart in range(12):
            for at in {number - apart, number + apart}:
                if 0 <= at < len(statements) and statements[at].opcode:
                    one = statements[at]
                    for name in NAME.findall(one.text[one.operands :]):
                        if name.startswith("%") and "." not in name:
                            found.setdefault(name, apart)
        return found

    # ---- operations

    def _operations(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Another operation, or one less."""
        at = one.text.find(one.opcode)
        for part in re.finditer(r"\w+", one.opcode):
            if part[0] in _OTHER:
                likely = constant(one) or (part[0] in ("xor", "or") and number in self.evidence.addressing)
                yield changed(
                    one, 0.6 if likely else 1.4, at + part.start(), at + part.end(), _OTHER[part[0]]
                )
        if one.opcode.startswith("ldmatrix") or one.opcode.startswith("stmatrix"):
            turned = one.opcode.replace(".trans", "") if ".trans" in one.opcode else ""
            turned = turned or one.opcode.replace(".shared", ".trans.shared")
            yield changed(one, 0.8, at, at + len(one.opcode), turned)
        if _SELF.match(one.text, one.operands) and one.opcode.split(".")[0] in (
            "add",
            "sub",
            "xor",
            "or",
            "shl",
            "shr",
            "and",
            "mul",
        ):
            yield changed(one, 0.5, 0, len(one.text), "")

    # ---- what may have been left out

    @cached_property
    def _unread(self) -> dict[str, int]:
        """The registers that something computes and nothing reads, with the statement."""
        writers: dict[str, list[int]] = {}
        readers: set[str] = set()
        for number, one in enumerate(self.text.statements):
            for name in set(NAME.findall(one.text)) if one.opcode or not one.text.startswith(".") else ():
                if name in one.writes and len(one.writes) == 1 and one.opcode:
                    writers.setdefault(name, []).append(number)
                else:
                    readers.add(name)
        common = self.text.common
        return {
            name: numbers[-1]
            for name, numbers in writers.items()
            if name.startswith("%") and name not in readers and common(name) == name
        }

    def _left_out(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        if len(one.writes) != 1:
            return
        (target,) = one.writes
        if not target.startswith("%") or self.text.common(target) != target or "." not in one.opcode:
            return
        bits = self.text.width(target)
        if bits not in (32, 64):
            return
        for name, there in self._unread.items():
            if name != target and abs(number - there) <= FAR and self.text.width(name) == bits:
                for rank, operation in enumerate(("xor", "add", "or")):
                    last = self.text.statements[max(number, there)]
                    added = (
                        f"{operation}.{'s' if operation == 'add' else 'b'}{bits} {target}, {target}, {name};"
                    )
                    yield replace(behind(last, 0.4 + 0.3 * rank, added), weight=0.3)
        copied = _COPY.match(one.opcode)
        spans = operand_spans(one.text[one.operands :])
        if copied and len(spans) == 2:
            source = one.text[one.operands + spans[1][0] : one.operands + spans[1][1]]
            if {source, source.rstrip("0123456789")} & self.text.widths.keys():
                yield from self._no_copy(number, one, target, source, bits)
        floating = one.opcode.rsplit(".", 1)[-1].startswith(("f", "bf"))
        if not floating and one.opcode.split(".")[0] in (
            "mov",
            "and",
            "shr",
            "shl",
            "add",
            "sub",
            "mad",
            "mul",
            "bfe",
            "cvt",
            "xor",
            "or",
            "rem",
            "div",
        ):
            for rank, turn in enumerate(TURNS):
                yield behind(one, 1.6 + 0.1 * rank, f"shl.b{bits} {target}, {target}, {turn};")
                yield behind(one, 1.9 + 0.1 * rank, f"shr.u{bits} {target}, {target}, {turn};")

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
        """What was meant in place of a copy: two values, or one and a number, combined."""
        single = [count for count in self._copied.values() if count <= 2]
        alone = self._copied[source] <= 2 and len(single) <= FEW_COPIES and not one.guarded
        likely = LIKELY if alone and number in self.evidence.addressing else 0
        used = sorted(
            {value for op, values in self._alike.items() if op.startswith("xor") for value in values}
        )
        numbers = [*used, *(each for each in (16, 32, 64, 8, 4, 128) if each not in used)]
        for rank, value in enumerate(numbers[:12]):
            new = f"xor.b{bits} {target}, {source}, {value};"
            weight = 0.5 if rank < likely else 1.0
            yield replace(changed(one, 0.4 + 0.05 * rank, 0, len(one.text), new), weight=weight)
        near = [
            (name, apart)
            for name, apart in self._near(number).items()
            if name not in (target, source) and self.text.width(name) == bits
        ]
        for at, (name, apart) in enumerate(near):
            weight = 0.5 if at < likely else 1.0
            for rank, operation in enumerate(("xor.b", "add.s", "or.b")):
                new = f"{operation}{bits} {target}, {source}, {name};"
                edit = changed(one, 0.4 + 0.6 * rank + apart / 20, 0, len(one.text), new)
                yield replace(edit, weight=weight)
