"""Where changes of a text change a value: found by one run of a text that computes both.

Beside each statement of which changes are looked at stand the same statements as the changes make them, with
results of their own; a byte for each change and CTA says whether any thread's was another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.statements import KernelText, WrittenStatement, operand_spans
from ptxkit.diagnostics import Diagnostic

FLAGS = "meant_otherwise"
"""The variable with the bytes."""
_RESULT = re.compile(r"%meant(\d+)")
_PURE = frozenset(
    "add sub mul mad shl shr and or xor not cnot min max div rem selp setp mov cvt bfe bfi lop3 prmt shf abs "
    "neg popc clz brev sad fma slct bfind".split()
)
"""Operations that make a value of registers, and nothing else."""
_BODY = re.compile(r"\.entry\b[^{;]*\{")
_TOP = re.compile(r"^[ \t]*(?:\.(?:visible|weak|extern|entry|func)\b)", re.MULTILINE)
_COORDINATES = (
    " .reg .b32 %meant_cta, %meant_x; .reg .b64 %meant_at, %meant_begin; mov.u32 %meant_cta, %ctaid.z; "
    "mov.u32 %meant_x, %nctaid.y; mul.lo.u32 %meant_cta, %meant_cta, %meant_x; mov.u32 %meant_x, %ctaid.y; "
    "add.u32 %meant_cta, %meant_cta, %meant_x; mov.u32 %meant_x, %nctaid.x; "
    "mul.lo.u32 %meant_cta, %meant_cta, %meant_x; mov.u32 %meant_x, %ctaid.x; "
    "add.u32 %meant_cta, %meant_cta, %meant_x; cvt.u64.u32 %meant_at, %meant_cta; "
    f"mov.u64 %meant_begin, {FLAGS}; add.u64 %meant_at, %meant_at, %meant_begin; "
)
_BITS = re.compile(r"\.[usbf](16|32|64)\b")
MOST_BYTES = 1 << 25
"""All of the bytes, at most."""
LARGEST = 64
"""Changes of one statement that are looked at, at most."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A text that says where changes matter.

    Attributes:
        text: itself.
        numbers: of the changes that it looks at, by their places among all: row `i` of the bytes is that of
            change `numbers[i]`.
    """

    text: str
    numbers: tuple[int, ...]

    def meant_by(self, problem: Diagnostic) -> list[int]:
        """The change that an error of the text is of, by its place among all; none where it is of none."""
        if problem.span is None:
            return []
        ahead = self.text.split("\n")[problem.span.line - 1][: problem.span.column]
        rows = _RESULT.findall(ahead)
        return [self.numbers[int(rows[-1])]] if rows else []


def what_if(kernel: KernelText, edits: Sequence[Edit], ctas: int, most: int) -> WhatIf | None:
    """A text that looks at changes of the results of single statements.

    Args:
        kernel: the text.
        edits: the changes.
        ctas: of the launch.
        most: so many of the changes at most: of each statement as many, the first.
    """
    text, bodies = kernel.text, [*_BODY.finditer(kernel.text)]
    top = _TOP.search(text)
    if not bodies or top is None:
        return None
    inside = [one for one in kernel.statements if _looked_at(one)]
    owners = {start: one for one in inside for start in range(one.start, one.end)}
    of_statement: dict[int, list[tuple[int, str]]] = {}
    for number, edit in enumerate(edits):
        one = owners.get(edit.start)
        made = None if one is None or edit.also else _made(one, edit)
        if one is not None and made is not None:
            of_statement.setdefault(one.start, []).append((number, made))
    most = min(most, MOST_BYTES // ctas)
    each = next((k for k in range(LARGEST, 0, -1) if _total(of_statement.values(), k) <= most), 0)
    numbers: list[int] = []
    pieces = [(body.end(), body.end(), _COORDINATES) for body in bodies]
    for start, found in of_statement.items():
        one, rows = owners[start], [made for _, made in found[:each]]
        pieces.append((one.start, one.end, _beside(one, rows, len(numbers), ctas)))
        numbers += [number for number, _ in found[:each]]
    if not numbers:
        return None
    pieces.append((top.start(), top.start(), f".global .align 8 .b8 {FLAGS}[{len(numbers) * ctas}]; "))
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return WhatIf(text, tuple(numbers))


def _total(found: Iterable[Sequence[object]], each: int) -> int:
    """How many these are, of each so many at most."""
    return sum(min(len(one), each) for one in found)


def _looked_at(one: WrittenStatement) -> bool:
    """Whether a statement makes one value of registers, where it stands."""
    head = one.text[: one.operands]
    return (
        one.opcode.partition(".")[0] in _PURE
        and ".cc" not in one.opcode
        and not one.defines
        and _bits(one.opcode) is not None
        and len(one.writes) == 1
        and "{" not in one.text
        and "}" not in one.text
        and "|" not in one.text
        and ":" not in head
        and re.fullmatch(r"%?[\w$]+", one.text[slice(*_first_operand(one.text))]) is not None
    )


def _made(one: WrittenStatement, edit: Edit) -> str | None:
    """A statement with a change; None where that is not one of what its value is made of."""
    start, end = edit.start - one.start, edit.end - one.start
    spans = operand_spans(one.text[one.operands :])
    if not spans:
        return None
    first = one.operands + spans[0][1]
    in_opcode = one.text.find(one.opcode) <= start and end <= one.operands
    if not edit.new or end > len(one.text) or not (in_opcode or start >= first):
        return None
    changed = one.text[:start] + edit.new + one.text[end:]
    return None if ";" in edit.new or "{" in edit.new else changed


def _bits(opcode: str) -> int | None:
    """The bits of an operation's result, 1 of a predicate's; None where nothing is known."""
    operation, types = opcode.partition(".")[0], _BITS.findall(opcode)
    if operation == "setp" or opcode.endswith(".pred"):
        return 1
    if not types:
        return None
    if operation in ("popc", "clz", "bfind"):
        return 32
    return (2 if ".wide." in opcode else 1) * int(types[0])


def _beside(one: WrittenStatement, made: Sequence[str], first: int, ctas: int) -> str:
    """A statement, and what changes make of it, of which the rows of bytes begin at `first`."""
    name, bits = one.text[slice(*_first_operand(one.text))], _bits(one.opcode)
    kind = "pred" if bits == 1 else f"b{bits}"
    begins, ahead, behind = "", "", ""
    for row, text in enumerate(made, first):
        result, other = f"%meant{row}", f"%differs{row}"
        begin, end = _first_operand(text)
        begins += f".reg .{kind} {result}; .reg .pred {other}; "
        if one.guarded:  # Where it is not executed nothing changes.
            ahead += f"mov.{kind} {result}, {name}; "
        ahead += f"{text[:begin]}{result}{text[end:]} "
        same = "xor.pred" if kind == "pred" else f"setp.ne.{kind}"
        behind += f" {same} {other}, {result}, {name}; @{other} st.global.u8 [%meant_at + {row * ctas}], 1;"
    return f"{{ {begins}{ahead}{one.text}{behind} }}"


def _first_operand(text: str) -> tuple[int, int]:
    """Where the first operand of a statement stands."""
    found = re.search(r"(?<![\w.%$])[a-z][a-z0-9_]*(?:(?:\.|::)\w+)*\s+([^,;]+?)\s*[,;]", text)
    assert found is not None
    return found.span(1)
