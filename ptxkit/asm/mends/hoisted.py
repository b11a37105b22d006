"""What a loop sets at its beginning and was to be set ahead of it, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from ptxkit.asm.mends.control import LABEL, loops
from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.statements import KernelText, WrittenStatement

_SET = re.compile(r"\s*%[\w$]+\s*,\s*(?:0x[0-9a-fA-F]+U?|\d+U?|0[fFdD][0-9a-fA-F]+|-\d+)\s*;")
"""The operands of a `mov` that sets a register to a number."""
NEAR = 6
"""How far from where a loop begins, in statements."""


class Hoisted:
    """The changes of a text.

    Args:
        text: the kernel's.
    """

    def __init__(self, text: KernelText) -> None:
        self.text = text

    def of(self, number: int, one: WrittenStatement, cost: float) -> Iterator[Edit]:
        """Those of a statement that sets a register to a number.

        Args:
            number: the statement's.
            one: itself.
            cost: of each change.
        """
        if not one.opcode.startswith("mov") or one.macro or one.guarded:
            return
        if _SET.fullmatch(one.text, one.operands) is None:
            return
        for head in self._heads:
            first = self.text.statements[head]
            label = LABEL.match(first.text)
            if label is None or abs(head - number) > NEAR or not self._free(number, head):
                continue
            inside = head <= number
            place = first.start if inside else first.start + label.end()
            begins = one.text.find(one.opcode)
            instruction = " ".join(one.text[begins:].split())
            line = self.text.text.count("\n", 0, one.start + begins) + 1
            where = "ahead of" if inside else "behind"
            said = f"`{instruction}` {where} the label `{label[1]}`, not at line {line}"
            also = ((place, place, f"{instruction}\n" if inside else f" {instruction}"),)
            yield Edit(cost, one.start + begins, one.end, "", said, line, 0.5, also)

    @cached_property
    def _heads(self) -> list[int]:
        """The first statements of loops, by their numbers."""
        return sorted({start for start, _ in loops(self.text.statements)})

    def _free(self, number: int, head: int) -> bool:
        """Whether no statement between one and the beginning of a loop names what the one sets."""
        (name,) = self.text.statements[number].writes
        between = self.text.statements[min(number, head) : max(number, head)]
        return not any(
            name in other.reads | other.writes
            for other in between
            if other is not self.text.statements[number]
        )
