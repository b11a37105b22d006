"""Where the search for a change begins: the statements that a finding and its cause are about."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans
from ptxkit.diagnostics import Diagnostic

_LINE = re.compile(r"\bline (\d+)\b")
_TENSOR = re.compile(r"`(\w+)(?:\[[^`]*\])?` (?:is|are) (?:taken|read)")
_OPERAND = re.compile(r"\b(?:of|[Mm]atrix) ([AB])\b")
_OPERANDS: Mapping[str, Mapping[str, int]] = {
    "wgmma.mma": {"A": 1, "B": 2},
    "tcgen05.mma": {"A": 1, "B": 2, "scales of A": 4, "scales of B": 5},
    "mma": {"A": 1, "B": 2},
}
"""Which operands of products say where matrices are, by how the opcode begins."""
_WORK = (
    "wgmma", "tcgen05.mma", "tcgen05.ld", "tcgen05.cp", "mma", "ldmatrix", "stmatrix", "cp.", "st.",
    "ld.shared", "ld.global", "red.", "atom.",
)  # fmt: skip
_OUT = ("st.", "stmatrix", "tcgen05.ld", "red.", "ld.shared", "movmatrix")
"""Those that results pass through: elements in the wrong places were lost there."""
_OUTSIDE = re.compile(r"line (\d+) moves a box from \{([-\d, ]+)\} of a tensor of ([\dx ]+) elements, all")
_VECTOR = re.compile(r"\{([^{}]*)\}")
_CALLED = ("MMA", "LOAD", "COPY", "STORE")


def anchors(kernel: KernelText, cause: str | None, finding: Diagnostic) -> dict[int, float]:
    """The statements where the search begins, by their numbers, with how far from the fault they may be."""
    lines: dict[int, float] = {}
    for text, far in ((cause or "", 0.0), (finding.message, 0.0), *((note, 0.6) for note in finding.notes)):
        for line in map(int, _LINE.findall(text)):
            lines[line] = min(far, lines.get(line, far))
    for span in (finding.span, *(label.span for label in finding.labels)):
        if span is not None:
            lines[span.line] = min(0.3, lines.get(span.line, 0.3))
    moved = "what belongs at" in (cause or "")
    tensors = set(_TENSOR.findall(cause or ""))
    named = moved or tensors or any(far < 0.5 for far in lines.values())
    elsewhere = 2.0 if named else 1.0
    factors = _scales(kernel, _about(cause))
    products = "product" in (cause or "") and not _LINE.search(cause or "")
    found: dict[int, float] = {}
    for number, one in enumerate(kernel.statements):
        near = [far for line, far in lines.items() if one.line <= line <= one.last]
        stores = one.opcode.startswith("cp.") and ".global.shared" in one.opcode
        if moved and (stores or one.opcode.startswith(_OUT)):
            near.append(0.3)
        if tensors and any(tensors & set(_words(name)) for name in one.reads | one.writes):
            near.append(0.2)
        if products and one.opcode.startswith(("wgmma.mma", "tcgen05.mma", "mma")):
            near.append(0.5)
        if one.opcode.startswith("tcgen05.cp") and one.reads & factors:
            near.append(0.1)
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


def narrowed(kernel: KernelText, cause: str | None, found: Mapping[int, float]) -> dict[int, frozenset[str]]:
    """Of products, the registers of the one matrix that the cause is about, by the number of the statement;
    nothing of those of which it is about both, or none. Of a copy, the coordinates that lie outside.

    Args:
        kernel: the text.
        cause: what is known of the cause, in words.
        found: the statements where the search begins.
    """
    which = _about(cause)
    of_it = _coordinates(kernel, cause)
    for number in found:
        names = _operand(kernel.statements[number], which)
        if names:
            of_it[number] = frozenset(kernel.common(name) for name in names)
    return of_it


def _coordinates(kernel: KernelText, cause: str | None) -> dict[int, frozenset[str]]:
    """The coordinates of a copy that lie beyond its tensor, by the number of the statement."""
    found = _OUTSIDE.search(cause or "")
    if found is None:
        return {}
    line, begins, extents = int(found[1]), found[2].split(","), found[3].split("x")
    beyond = [
        at
        for at, (begin, extent) in enumerate(zip(begins, extents, strict=False))
        if not 0 <= int(begin) < int(extent)
    ]
    of_it: dict[int, frozenset[str]] = {}
    for number, one in enumerate(kernel.statements):
        vector = _VECTOR.search(one.text) if one.line <= line <= one.last else None
        if vector is not None and beyond:
            given = vector[1].split(",")
            names = (name for at in beyond if at < len(given) for name in NAME.findall(given[at]))
            of_it[number] = frozenset(kernel.common(name) for name in names)
    return of_it


def _about(cause: str | None) -> str:
    """The one matrix that a cause is about, or its scale factors; empty where it is about none, or both."""
    about = set(_OPERAND.findall(cause or ""))
    if len(about) != 1:
        return ""
    return ("scales of " if "scale factors" in (cause or "") else "") + about.pop()


def _scales(kernel: KernelText, which: str) -> set[str]:
    """The registers that say where in tensor memory products have the scale factors of a matrix."""
    if not which.startswith("scales"):
        return set()
    products = (one for one in kernel.statements if one.opcode.startswith("tcgen05.mma"))
    return {kernel.common(name) for one in products for name in _operand(one, which)[:1]}


def _operand(one: WrittenStatement, which: str) -> list[str]:
    """The registers of an operand of a product, by the matrix that it describes."""
    places = next((each for begin, each in _OPERANDS.items() if one.opcode.startswith(begin)), {})
    spans = operand_spans(one.text[one.operands :])
    place = places.get(which, len(spans))
    if place >= len(spans):
        return []
    words = [3] if one.opcode.startswith("tcgen05.mma") and len(spans) > 3 else []  # how large it is
    return [name for each in (place, *words) for name in NAME.findall(one.text[one.operands :], *spans[each])]
