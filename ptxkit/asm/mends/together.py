"""The same change of several statements that are alike: somebody unrolled a body that was wrong already."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.statements import WrittenStatement

_NUMBERED = re.compile(r"(%[A-Za-z_$]+)\d+")
TOGETHER = 0.2
"""What it costs more to change several."""
MOST = 64
"""Statements that are changed together, at most."""
SHOWN = 4
"""Lines of them that a message names."""


@dataclass
class Together:
    """Changes of single statements, by what is the same about them but for the numbers of registers.

    Attributes:
        text: all of it.
    """

    text: str
    _found: dict[tuple[str, ...], list[tuple[float, Edit]]] = field(default_factory=dict)

    def add(self, one: WrittenStatement, edit: Edit, cost: float) -> None:
        """A change of a statement; `cost`: what it costs, the distance included."""
        start, end = edit.start - one.start, edit.end - one.start
        if not one.opcode or one.macro or not 0 < end - start < len(one.text) or "%" in one.text[start:end]:
            return
        parts = one.text[:start], one.text[start:end], edit.new, one.text[end:]
        key = tuple(_NUMBERED.sub(r"\1", " ".join(part.split())) for part in parts)
        same = self._found.setdefault(key, [])
        if all(other.start != edit.start for _, other in same):
            same.append((cost, edit))

    def edits(self) -> Iterator[Edit]:
        """All that change several."""
        for same in self._found.values():
            if not 1 < len(same) <= MOST:
                continue
            cost, first = min(same, key=lambda each: (each[0], each[1].start))
            rest = sorted((edit for _, edit in same if edit is not first), key=lambda each: each.start)
            lines = ", ".join(str(edit.line) for edit in rest[:SHOWN]) + (", .." if rest[SHOWN:] else "")
            said = f"{first.said}, and the same at line{'s' * (len(rest) > 1)} {lines}"
            also = tuple((edit.start, edit.end, edit.new) for edit in rest)
            yield replace(first, cost=cost + TOGETHER, said=said, also=also)
