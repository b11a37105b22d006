"""Where the search for a change begins: the statements that a finding and its cause are about."""

from __future__ import annotations

import re

from ptxkit.asm.mends.statements import KernelText
from ptxkit.diagnostics import Diagnostic

_LINE = re.compile(r"\bline (\d+)\b")
_TENSOR = re.compile(r"`(\w+)(?:\[[^`]*\])?` (?:is|are) (?:taken|read)")
_WORK = (
    "wgmma", "tcgen05.mma", "tcgen05.ld", "tcgen05.cp", "mma", "ldmatrix", "stmatrix", "cp.", "st.",
    "ld.shared", "ld.global", "red.", "atom.",
)  # fmt: skip
_OUT = ("st.", "stmatrix", "tcgen05.ld", "red.", "ld.shared", "movmatrix")
"""Those that results pass through: elements in the wrong places were lost there."""
_CALLED = ("MMA", "LOAD", "COPY", "STORE")


def anchors(kernel: KernelText, cause: str | None, finding: Diagnostic) -> dict[int, float]:
    """The statements where the search begins, by their numbers, with how far from the fault they may be."""
    lines: dict[int, float] = {}
    for text, far in ((cause or "", 0.0), (finding.message, 0.0), *((note, 0.6) for note in finding.notes)):
        for line in _LINE.findall(text):
            lines.setdefault(int(line), far)
    for span in (finding.span, *(label.span for label in finding.labels)):
        if span is not None:
            lines.setdefault(span.line, 0.3)
    moved = "what belongs at" in (cause or "")
    tensors = set(_TENSOR.findall(cause or ""))
    named = moved or tensors or any(far < 0.5 for far in lines.values())
    elsewhere = 2.0 if named else 1.0
    found: dict[int, float] = {}
    for number, one in enumerate(kernel.statements):
        last = one.line + one.text.rstrip().count("\n")
        near = [far for line, far in lines.items() if one.line <= line <= last]
        stores = one.opcode.startswith("cp.") and ".global.shared" in one.opcode
        if moved and (stores or one.opcode.startswith(_OUT)):
            near.append(0.3)
        if tensors and any(tensors & set(_words(name)) for name in one.reads | one.writes):
            near.append(0.2)
        work = one.opcode.startswith(_WORK) if one.opcode else any(each in one.text for each in _CALLED)
        if work:
            near.append(elsewhere)
        if near:
            found[number] = min(near)
    return found


def _words(name: str) -> list[str]:
    """The words of a name, and these without their numbers."""
    words = name.lstrip("%").split("_")
    return [name.lstrip("%"), *words, *(word.rstrip("0123456789") for word in words)]
