"""Changes of which registers a statement reads, the likeliest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from ptxkit.asm.mends.edit import Edit, alike, changed, family, related, temporary
from ptxkit.asm.mends.evidence import TextEvidence
from ptxkit.asm.mends.left_out import near_registers
from ptxkit.asm.mends.origins import RegisterOrigins
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_EXCHANGED = (
    "sub", "shl", "shr", "div", "rem", "mad", "selp", "fma", "bfe", "bfi", "wgmma", "tcgen05", "mma",
)  # fmt: skip
"""Instructions of which operands that change places are tried."""
_FRAGMENTS = ("stmatrix", "ldmatrix", "mma", "wgmma", "movmatrix", "tcgen05", "st.")
"""Instructions whose vectors are pieces of a matrix: exchanged ones are exchanged pieces."""
_COMPUTED = ("mul", "mad", "add", "sub", "shl", "shr", "div", "rem", "and", "or", "xor", "bfe", "mov", "setp")
NEAR = 8
"""How far away, in statements, one index of an address may stand for another."""
FAR = 8
"""How far away, in statements, registers count that are only declared."""
LOST = 8
"""So many registers that nobody reads, or writes, say what was meant; of more some are by design."""
NAMESAKES = 3
"""So many names in the place of one say which is meant; more say nothing."""


class RegisterEdits:
    """The changes of a text.

    Args:
        text: the kernel's.
        evidence: of it.
        exchanged: whether the cause says that one index of an address stands for another.
        rearranged: whether it says that pieces of a matrix are where others belong.
    """

    def __init__(self, text: KernelText, evidence: TextEvidence, exchanged: bool, rearranged: bool) -> None:
        self.text = text
        self.evidence = evidence
        self.exchanged = exchanged
        self.rearranged = rearranged
        self.origins = RegisterOrigins(text)
        self._like: dict[str, dict[str, int]] = {}

    def of(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Those of a statement."""
        if one.opcode:
            yield from self._operands(one)
            yield from self._vectors(one)
        if not one.text.startswith("."):
            yield from self._others(number, one)
            yield from self._lost(one)

    def _operands(self, one: WrittenStatement) -> Iterator[Edit]:
        """Operands that change places."""
        body = one.text[one.operands :]
        spans = [(one.operands + start, one.operands + end) for start, end in operand_spans(body)]
        if not one.opcode.startswith(_EXCHANGED):
            return
        pairs = [*pairwise(spans[1:])]
        if one.opcode.startswith(("mad", "fma")):  # The factors are the same in either order.
            pairs = [] if ".wide" in one.opcode else [(spans[2], spans[3]), (spans[1], spans[3])]
        for (s1, e1), (s2, e2) in pairs:
            first, second = one.text[s1:e1], one.text[s2:e2]
            if first != second and self._alike_operands(first, second):
                new = one.text[s2:e2] + one.text[e1:s2] + one.text[s1:e1]
                yield changed(one, 0.9, s1, e2, new)

    def _vectors(self, one: WrittenStatement) -> Iterator[Edit]:
        """Elements of a vector that change places."""
        for found in re.finditer(r"\{([^{}]*)\}", one.text):
            inner = [(found.start(1) + s, found.start(1) + e) for s, e in operand_spans(found[1] + ";")]
            if not 2 <= len(inner) <= 8:
                continue
            coordinates = one.opcode.startswith("cp.async.bulk.tensor")
            pieces = self.rearranged and one.opcode.startswith(_FRAGMENTS)
            first = 0.1 if pieces else 0.3 if coordinates else 0.6
            for i, (s1, e1) in enumerate(inner):
                for j in range(i + 1, len(inner)):
                    s2, e2 = inner[j]
                    new = one.text[s2:e2] + one.text[e1:s2] + one.text[s1:e1]
                    edit = changed(one, first + (0.05 if pieces else 0.2) * (j - i), s1, e2, new)
                    yield replace(edit, weight=0.3) if coordinates or pieces else edit

    def _alike_operands(self, first: str, second: str) -> bool:
        """Whether operands can change places: not where they are registers of two widths."""
        both = first.startswith("%") and second.startswith("%")
        return not both or self.text.width(first) == self.text.width(second)

    def _others(self, number: int, one: WrittenStatement) -> Iterator[Edit]:
        """Another register in place of one that is read: one that statements like it have there, one of a
        like name, or one of the neighbourhood."""
        spans = operand_spans(one.text[one.operands :]) if one.opcode else []
        first = one.operands + (spans[0][1] if spans and one.writes else 0)
        near = near_registers(self.text, number)
        twice = self.origins.again(one)
        copied = one.opcode.startswith(_COMPUTED) and self._written[one.shown] > 1
        for token in NAME.finditer(one.text, first):
            name = token[0]
            if not name.startswith("%"):
                continue
            namesakes = self._namesakes(one, *token.span())
            made = dict.fromkeys(self.origins.alike(name), FAR)
            for other, apart in {**self._declared_like(name), **made, **near, **namesakes}.items():
                kin = related(name, other)
                if other == name or self.text.width(other) != self.text.width(name):
                    continue
                twin = copied and alike(name, other)
                cost = 0.2 if twin else 0.8 if alike(name, other) else 1.0 if kin else 2.0 + apart / 10
                if apart <= NEAR and number in self.evidence.addressing:
                    cost = min(cost, (0.4 if self.exchanged else 1.2) + apart / 10)
                if other in namesakes:
                    cost = min(cost, 0.2)
                if other in made:
                    cost = min(cost, 0.1 if twice else 0.3 if self.exchanged else 0.6)
                if other in one.writes and one.opcode:
                    cost = min(cost, 0.9)
                edit = changed(one, cost, token.start(), token.end(), other)
                likely = self.exchanged or twin or other in namesakes or other in made
                yield replace(edit, weight=0.3) if likely else edit

    def _declared_like(self, name: str) -> dict[str, int]:
        """The registers that are declared with a name like another, and are nowhere near."""
        if name not in self._like:
            self._like[name] = {
                other: FAR
                for other in self.text.widths
                if other.startswith("%") and (alike(name, other) or related(name, other))
            }
        return self._like[name]

    def _namesakes(self, one: WrittenStatement, start: int, end: int) -> dict[str, int]:
        """What other statements have in a place, which are the same but for it; nothing where they have many
        things there, and where a compiler numbered the registers."""
        name = one.text[start:end]
        if temporary(name):
            return {}
        stem = name.rstrip("0123456789")
        found = {
            other
            for other in self._in_place.get(_place(one, start, end), ())
            if other != name and (stem == name or other.rstrip("0123456789") != stem)
        }
        return dict.fromkeys(sorted(found), FAR) if len(found) <= NAMESAKES else {}

    def _lost(self, one: WrittenStatement) -> Iterator[Edit]:
        """A register that something writes and nothing reads in place of one like it that is read, and one
        that is read and that nothing writes in place of one that is written."""
        if not one.opcode:
            return
        spans = operand_spans(one.text[one.operands :])
        first = one.operands + (spans[0][1] if spans and one.writes else 0)
        for token in NAME.finditer(one.text, one.operands):
            name = token[0]
            for other in self._unread if token.start() >= first else self._unwritten:
                like = family(name) == family(other) or alike(name, other)
                if other == name or self.text.width(name) != self.text.width(other):
                    continue
                if like or related(name, other):
                    cost = (0.05 if like else 0.15) + (0.0 if self._named[name] > 2 else 0.25)
                    yield replace(changed(one, cost, *token.span(), other), weight=0.2)

    @cached_property
    def _named(self) -> Counter[str]:
        """How often each register stands in the text."""
        return Counter(
            name
            for one in self.text.statements
            if one.opcode
            for name in NAME.findall(one.text, one.operands)
        )

    @cached_property
    def _unread(self) -> list[str]:
        """The registers that something writes and nothing reads, where they are few."""
        read = frozenset().union(*(one.reads for one in self.text.statements))
        return self._few(name for name in self.text.writers if name not in read)

    @cached_property
    def _unwritten(self) -> list[str]:
        """The registers that something reads and nothing writes, where they are few."""
        read = frozenset().union(*(one.reads for one in self.text.statements))
        return self._few(name for name in read if name not in self.text.writers and "." not in name)

    def _few(self, names: Iterable[str]) -> list[str]:
        found = sorted(
            name for name in names if name.startswith("%") and self._declared(name) and not temporary(name)
        )
        return found if len(found) <= LOST else []

    def _declared(self, name: str) -> bool:
        """Whether a name is a register's, and not what is left of names that macros make."""
        known = {name, name.rstrip("0123456789")} & self.text.widths.keys()
        return bool(known) and self.text.common(name) == name

    @cached_property
    def _written(self) -> Counter[str]:
        """How often each statement stands in the text: one that computes twice the same may be a copy in
        which a name was to be changed."""
        return Counter(one.shown for one in self.text.statements if not one.macro)

    @cached_property
    def _in_place(self) -> dict[str, set[str]]:
        """The registers that stand in each place of statements of all entries."""
        found: dict[str, set[str]] = {}
        for one in (*self.text.statements, *self.text.others):
            for token in NAME.finditer(one.text, one.operands) if one.opcode else ():
                if token[0].startswith("%"):
                    found.setdefault(_place(one, *token.span()), set()).add(token[0])
        return found


def _place(one: WrittenStatement, start: int, end: int) -> str:
    """A statement with a blank in one place."""
    return " ".join(f"{one.text[:start]}?{one.text[end:]}".split())
