"""Changes of one place of a kernel's text that may be what was meant, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from ptxkit.asm.mends.edit import Edit, changed, constant, swizzled_value, swizzles
from ptxkit.asm.mends.evidence import SMALL, TextEvidence
from ptxkit.asm.mends.exchanged import exchanged, reordered, results_exchanged
from ptxkit.asm.mends.hoisted import hoisted
from ptxkit.asm.mends.left_out import LeftOut
from ptxkit.asm.mends.numbers import NUMBER, UNIT, WIDE, inverse, meant, value_of, written_like
from ptxkit.asm.mends.registers import RegisterEdits
from ptxkit.asm.mends.statements import KernelText, WrittenStatement, operand_spans
from ptxkit.asm.mends.together import Together

_SELF = re.compile(r"\s*(%?\w+)\s*,\s*(?:\1\s*,|[^,;]+,\s*\1\s*;)")
_ACCESS = re.compile(r"(?:ld|st)\.(?:(?!v\d)[\w:]+\.)*(?:v(\d)\.)?[busf](8|16|32|64|128)$")
_CALL = re.compile(r"\b[A-Z_][A-Z0-9_]*\(([^()]*)\)")
_BARE = re.compile(r"\[\s*(%[\w$]+)\s*\]")
_SHIFTED = re.compile(r"\b[ij]\d* [-+] (\d+)\]` is (?:taken|read)")
"""By how many elements of a row a cause says that an index is off."""
_MOVED = re.compile(r"\s*\+\s*\d+\s*$")
_OTHER = {
    "add": "sub", "sub": "add", "xor": "or", "or": "xor", "shl": "shr", "shr": "shl", "div": "rem",
    "rem": "div", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq",
}  # fmt: skip
_PLACING = ("mov", "add", "mad", "mul")
"""Operations that make the place of a matrix, or of a step of it."""
_SIGNED = ("setp", "shr", "min", "max", "div", "rem", "mul", "mad", "cvt", "set")
"""Operations to which it matters whether a value has a sign."""
_COMBINING = ("xor", "add", "or")
"""Operations that put the parts of an address together."""
_UNLIKELY = (
    "mbarrier", "bar", "barrier", "fence", "griddepcontrol", "bra", "nanosleep", "elect", "wgmma.wait",
    "wgmma.commit", "cp.async.wait", "cp.async.bulk.wait", "cp.async.bulk.commit",
)  # fmt: skip
_NEVER = ("setmaxnreg", "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish", "trap", "ret", "exit")
TWINS, FITTING = 2, 6
"""How many numbers are tried that other statements like one have, and that fit the text."""
WAITED = 1.0
"""What it costs to change where an mbarrier is, of which the finding says nothing: a wait would never end."""
WHOLE = 0.8
"""What it costs to change a statement that is in line with others."""
_LINES = re.compile(r"\bline \d+")
ONE_SIDED = "a swizzle that only one side applies"
"""What a cause says where threads make the addresses."""
BY_THREADS = ("piece p of row r", "was written without a swizzle", "was written with another order")
"""The same, where a product or an `ldmatrix` reads what threads stored."""
EXCHANGED = "rows and columns are exchanged"
"""What a cause says where one index of an address stands for another."""
BEGINS = "begins at row"
"""What a cause says of a matrix whose first row is another one."""
TORN, MULTIPLIES = "of its tensor where elements", "multiplies elements"
"""What a cause says of a matrix with pieces of other rows or columns, and of one with others along K."""
_UNTAKEN = re.compile(r"along K of matrix [AB] are copied, and no product takes them")
"""The same of a matrix whose steps along K lie elsewhere."""
LATER = re.compile(r"they lie in \w+ from \d+ on")
"""What a note says of a result that is right in its first block and wrong behind: what a block's number is
scaled by is wrong."""
_SCALING = ("mul", "mad", "shl")
SWIZZLING = ("mov", "xor", "or", "and", "shl", "shr", "bfe")
BYTES = 256
"""Numbers below that are told need be none of bytes."""
MOVED = 0.15
"""What a change costs of a descriptor by as much as the cause says that it is off."""
FEW_MOVED = 6
"""So many distances between numbers that are told, or fewer, say by how much a number may be off."""
SHIFTS = 4
"""How much farther or less far values may have been meant to be shifted."""
UNITS = "not shifted right by 4"
"""What a finding says of a descriptor that counts bytes."""
LANES = {16: 21, 21: 16, 1 << 16: 1 << 21, 1 << 21: 1 << 16}
"""A lane of tensor memory, and the 32 of a warp, as an address counts them: shifts, and factors."""
SPAN = 1024
"""Bytes after which every swizzle begins again."""


class Edits:
    """The changes of a text.

    Args:
        text: the kernel's.
        distances: the statements that may hold the cause, by their numbers, with how near they are.
        told: the finding and its cause: of numbers that they name one instead of another is likely.
        past: by how much the finding's place lies beyond the end of what there is, if it does.
    """

    def __init__(
        self,
        text: KernelText,
        distances: Mapping[int, float],
        told: str = "",
        past: frozenset[int] = frozenset(),
    ) -> None:
        words = re.findall(r"(?<![\w.])(?:0x[0-9a-f]+|\d+)(?![\w.])", _LINES.sub("", told))
        numbers = [int(word, 0 if word.startswith("0x") else 10) for word in words]
        self.in_bytes = UNITS in told
        self.shifts = {int(each) for each in _SHIFTED.findall(told)}
        self.swizzled = any(each in told for each in (ONE_SIDED, *BY_THREADS))
        self.exchanged = EXCHANGED in told
        self.rearranged = ("what belongs at" in told and "^" in told) or MULTIPLIES in told
        self.begins = BEGINS in told
        self.step = MULTIPLIES in told or _UNTAKEN.search(told) is not None
        self.torn = TORN in told
        self.waits = "mbarrier" in told
        self.later = LATER.search(told) is not None
        self.told = frozenset(each for each in numbers if each >= BYTES)
        apart = {abs(one - other) for one in self.told for other in self.told if one != other}
        self.moved = {bytes // UNIT for bytes in apart if bytes % UNIT == 0}
        self.text = text
        self.evidence = TextEvidence(text)
        self.left_out = LeftOut(text, self.evidence, self._alike)
        self.registers = RegisterEdits(text, self.evidence, self.exchanged, self.rearranged)
        self.past = past
        self.distances = distances

    def ordered(self) -> list[Edit]:
        """All of them, the likeliest first; of the same text only one."""
        found: dict[tuple[object, ...], Edit] = {}
        together = Together(self.text.text)
        for number, distance in sorted(self.distances.items()):
            one = self.text.statements[number]
            if number in self.evidence.addressing and one.opcode.startswith(SWIZZLING):
                near = 0.1 if self.swizzled else 0.8 if self.rearranged else distance
                distance = min(distance, near)
            if number in self.evidence.by_thread:
                distance = min(distance, 1.0)
            for edit in self._of(number, one):
                if self.later and one.opcode.startswith(_SCALING) and not edit.also:
                    edit = replace(edit, cost=0.6 * edit.cost, weight=min(edit.weight, 0.2))
                key = edit.start, edit.end, edit.new, edit.also
                cost = edit.cost + edit.weight * distance + one.opcode.startswith(_UNLIKELY)
                together.add(one, edit, cost)
                cost += WHOLE if self.evidence.rows.whole(number) else 0.0
                cost += WAITED if number in self.evidence.of_barriers and not self.waits else 0.0
                if key not in found or found[key].cost > cost:
                    found[key] = replace(edit, cost=cost)
        every = [*found.values(), *together.edits()]
        return sorted(every, key=lambda each: (each.cost, each.line, each.start, each.new))

    def _of(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        yield from self._out_of_line(number, one)
        if one.opcode.startswith(_NEVER):
            return
        yield from self._numbers(number, one)
        if one.opcode:
            yield from self._operations(number, one)
            for edit in self.left_out.of(number, one):
                shifted = self.swizzled and edit.new.startswith("shr")  # the bits of the row that are taken
                yield replace(edit, cost=0.1, weight=0.3) if shifted else edit
            yield from exchanged(self.text, number, 0.5 if self.exchanged else 1.1)
            for edit in results_exchanged(self.text, number, 0.2 if self.torn else 1.0):
                yield replace(edit, weight=0.3) if self.torn else edit
            yield from reordered(self.text, number, 0.9)
            yield from hoisted(self.text, number, 0.3)
            yield from swizzles(self.text, one)
            if number in self.evidence.addressing and not self.evidence.swizzled(number):
                for edit in swizzled_value(self.text, one, 0.3 if self.swizzled else 1.2):
                    steps = 0.02 * self.evidence.addressing[number]
                    yield replace(edit, cost=edit.cost + steps, weight=0.0) if self.swizzled else edit
        yield from self.registers.of(number, one)
        yield from _like_siblings(one)
        yield from self._places(one)

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
            for rank, other in enumerate(self.evidence.advances.get(number, ())[:TWINS]):
                written = written_like(token[0], other)
                beside = changed(one, 0.1 + 0.1 * rank, token.start(), token.end(), written)
                yield replace(beside, weight=0.2)
            for other in self.told if value in self.told else ():
                if other != value:
                    written = written_like(token[0], other)
                    yield replace(changed(one, 0.05, token.start(), token.end(), written), weight=0.05)
            for other in sorted({value - each for each in self.past}):
                if 0 < other < WIDE:
                    yield changed(one, 2 * MOVED, token.start(), token.end(), written_like(token[0], other))
            for other in sorted(self._off(value)):
                yield changed(one, 2 * MOVED, token.start(), token.end(), written_like(token[0], other))
            unit = _unit(one) if ahead.endswith("+") else 1
            if ahead.endswith("+") and value and _unit(one) > 1:
                written = written_like(token[0], value * _unit(one))  # elements, which are bytes here
                yield changed(one, 0.4 + known, token.start(), token.end(), written)
            for cost, other in self._meant(one, value, token[0]):
                if other != value and (other - value) % unit == 0:
                    written = written_like(token[0], other)
                    edit = changed(one, cost + known, token.start(), token.end(), written)
                    stepped = self.step and one.opcode.startswith(_PLACING) and 0 < value < SPAN
                    yield replace(edit, weight=0.1) if stepped else edit

    def _off(self, value: int) -> set[int]:
        """What a number is that counts bytes, or units of 16, and is off by as much as the cause says that
        something is."""
        if not SMALL <= value < WIDE or len(self.moved) > FEW_MOVED:
            return set()
        steps = {step * unit for step in self.moved for unit in (1, UNIT) if step >= SMALL}
        return {each for step in steps for each in (value + step, value - step) if 0 < each < WIDE}

    def _meant(self, one: WrittenStatement, value: int, written: str) -> Iterator[tuple[float, int]]:
        """What may have been meant by a number of a statement: rather what stands elsewhere, too."""
        if one.opcode.startswith(("shl", "mul", "mad")) and value in LANES:
            yield 0.5, LANES[value]
        if self.step and 0 < value < SPAN and value & value - 1 == 0 and one.opcode.startswith(_PLACING):
            yield from ((0.35, 1 << bit) for bit in range(SPAN.bit_length()))
        if (turned := inverse(value)) is not None:
            yield 0.4, turned
        fits = self.evidence.fits(value, own=1)
        later = 0.4 if fits else 0.0
        fitting = self.evidence.fitting(value, FITTING)
        begins = 0.5 if value in (0, 1) and one.opcode.startswith("mov") else 0.0
        for cost, other in meant(value, self._alike.get(one.opcode, ()), fitting, written):
            if one.opcode.startswith("wgmma.mma") and abs(other) > 1:
                continue  # scale-d, imm-scale, imm-trans
            if other < 0 and "wait" in one.opcode:
                continue  # groups that may be pending, a phase, nanoseconds
            if one.opcode.startswith(("shl", "shr")):
                if abs(other - value) > SHIFTS:
                    continue
                cost = min(cost, 0.3) if abs(other - value) == 1 else cost
            if self.begins and value and other in (2 * value, value // 2) and one.opcode.startswith(_PLACING):
                cost = 0.1
            if self.in_bytes and value == other * UNIT:
                cost = 0.1
            if ".wide" in one.opcode and other & other - 1 and not value & value - 1:
                cost += 1.0  # Elements have as many bytes as a power of two.
            if other >= SMALL and self.evidence.fits(other):
                cost = max(0.15, cost - (0.1 if fits else 0.25))
            if value >= WIDE and {abs(other - value), abs(other - value) >> 32} & self.moved:
                cost = min(cost, MOVED)  # A field of bytes of which the cause says the right number.
            yield cost + begins + (later if other in fitting else 0.0), other

    def _places(self, one: WrittenStatement) -> Iterator[Edit]:
        """An element that lies beside the one that is accessed, where the address has no offset."""
        if _ACCESS.match(one.opcode) is None:
            return
        for found in _BARE.finditer(one.text, one.operands):
            for steps in sorted({1, -1} | self.shifts | {-each for each in self.shifts}):
                cost = 0.2 if abs(steps) in self.shifts else 0.9
                edit = changed(one, cost, found.end(1), found.end(1), f" + {steps * _unit(one)}")
                yield replace(edit, weight=0.3) if self.shifts else edit

    # ---- operations

    def _swizzles(self, number: int, operation: str) -> bool:
        """Whether a statement that combines parts of an address may be a swizzle, or have been meant as one:
        it does not put the address of a variable, or a far place, and an offset together."""
        one = self.text.statements[number]
        last = one.text[one.operands :].rpartition(",")[2].strip(" ;\n\\")
        if NUMBER.fullmatch(last):
            return value_of(last) < SPAN
        if operation != "add" or not last.startswith("%") or not self.evidence.based(number):
            return True
        return self.evidence.swizzled(number)  # What is put onto it may carry into the next row.

    def _operations(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Another operation, or one less."""
        at = one.text.find(one.opcode)
        operation, _, kind = one.opcode.partition(".")
        addresses = number in self.evidence.addressing or bool(one.macro)
        if operation in _COMBINING and addresses and re.fullmatch(r"[usb](32|64)", kind):
            others = [each for each in _COMBINING if each != operation]
            for rank, other in enumerate(others if self._swizzles(number, operation) else ()):
                sign = "u" if other == "add" else "b"
                cost = (1.0 if other == "add" else 0.6) + 0.1 * rank
                torn = self.torn and self.evidence.swizzled(number)
                cost = 0.0 if other == "xor" and (self.swizzled or torn) else cost
                edit = changed(one, cost, at, at + len(one.opcode), f"{other}.{sign}{kind[1:]}")
                yield replace(edit, weight=0.5)
        for part in re.finditer(r"\w+", one.opcode):
            if part[0] in _OTHER:
                cost = 0.6 if constant(one) else 1.4
                if part[0] == "shr":  # The other way there are no signs.
                    yield changed(one, cost, at, at + len(one.opcode), f"shl.b{kind[1:]}")
                else:
                    yield changed(one, cost, at + part.start(), at + part.end(), _OTHER[part[0]])
        if operation in _SIGNED and ".lo." not in one.opcode:
            for part in re.finditer(r"\.([su])(?=(?:8|16|32|64)\b)", one.opcode):
                sign = "u" if part[1] == "s" else "s"
                yield changed(one, 0.9, at + part.start(1), at + part.end(1), sign)
        if one.opcode.startswith("ldmatrix") or one.opcode.startswith("stmatrix"):
            turned = one.opcode.replace(".trans", "") if ".trans" in one.opcode else ""
            turned = turned or one.opcode.replace(".shared", ".trans.shared")
            yield changed(one, 0.2 if self.torn else 0.8, at, at + len(one.opcode), turned)
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


def _like_siblings(one: WrittenStatement) -> Iterator[Edit]:
    """An argument of a macro's call that is moved on as far as another of the same call is."""
    for call in _CALL.finditer(one.text):
        spans = [(call.start(1) + start, call.start(1) + end) for start, end in operand_spans(call[1] + ";")]
        moved = {found[0] for start, end in spans if (found := _MOVED.search(one.text[start:end]))}
        for start, end in spans if len(moved) == 1 else ():
            argument = one.text[start:end]
            if _MOVED.search(argument) is None and not NUMBER.fullmatch(argument):
                yield replace(changed(one, 0.2, end, end, f" {min(moved).strip()}"), weight=0.5)


def _unit(one: WrittenStatement) -> int:
    """The bytes of which the offset of an address is a multiple."""
    found = _ACCESS.match(one.opcode)
    return int(found[1] or 1) * int(found[2]) // 8 if found else 1
