"""What a loop sets at its beginning and was to be set ahead of it, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.asm.mends.control import LABEL
from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.statements import KernelText

_SET = re.compile(r"\s*%[\w$]+\s*,\s*(?:0x[0-9a-fA-F]+U?|\d+U?|0[fFdD][0-9a-fA-F]+|-\d+)\s*;")
"""The operands of a `mov` that sets a register to a number."""
NEAR = 6
"""How far from where a loop begins, in statements."""


def hoisted(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that move a statement which sets a register to a number from the beginning of a loop to
    ahead of the loop's label, or from ahead of it to behind the label.

    Args:
        text: the kernel's.
        number: of the statement.
        cost: of each change.
    """
    one = text.statements[number]
    if not one.opcode.startswith("mov") or one.macro or one.guarded:
        return
    if _SET.fullmatch(one.text, one.operands) is None:
        return
    begins = one.text.find(one.opcode)
    instruction = " ".join(one.text[begins:].split())
    line = text.text.count("\n", 0, one.start + begins) + 1
    for head in sorted({start for start, _ in text.loops}):
        first = text.statements[head]
        label = LABEL.match(first.text)
        if label is None or abs(head - number) > NEAR or _named_between(text, number, head):
            continue
        inside = head <= number
        place = first.start if inside else first.start + label.end()
        where = "ahead of" if inside else "behind"
        said = f"`{instruction}` {where} the label `{label[1]}`, not at line {line}"
        also = ((place, place, f"{instruction}\n" if inside else f" {instruction}"),)
        yield Edit(cost, one.start + begins, one.end, "", said, line, 0.5, also)


def _named_between(text: KernelText, number: int, head: int) -> bool:
    """Whether a statement between one and the beginning of a loop names what the one sets."""
    between = text.statements[head:number] if head <= number else text.statements[number + 1 : head]
    written = text.statements[number].writes
    return any(written & (other.reads | other.writes) for other in between)
