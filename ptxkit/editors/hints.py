"""What descriptors mean that are constants: shown behind the operand that holds one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.lint.descriptors import descriptors
from ptxkit.asm.lint.values import Values
from ptxkit.asm.symbols import module_scope
from ptxkit.asm.tree import Function
from ptxkit.bits import Word
from ptxkit.diagnostics import Span
from ptxkit.editors.document import Document

_SILENT = ("0", "no", "none")
"""Values that a hint leaves out."""


class Hint(NamedTuple):
    """Words behind an operand.

    Attributes:
        span: of the operand.
        text: its fields in a few words: `d=f32 a=bf16 b=bf16 n=256 m=128`.
        table: all fields, as Markdown.
    """

    span: Span
    text: str
    table: str


def hints(document: Document) -> list[Hint]:
    """The hints of a text without errors and without lines for the preprocessor, in its order."""
    source = document.module.source
    if source is None or source.made or any(found.is_error for found in document.findings):
        return []
    return [hint for function in document.module.functions for hint in _of(document, function)]


def _of(document: Document, function: Function) -> Iterator[Hint]:
    if function.body is None:
        return
    code = FunctionCode(function, module_scope(document.module, function))
    described = [found for instruction in code.instructions for found in descriptors(instruction)]
    if described:
        values = Values(code)
        for operand, cls in described:
            value = values.of(operand)
            if isinstance(value, int) and operand.span is not None:
                yield _hint(operand.span, cls, value % 2**cls.WIDTH)


def _hint(span: Span, cls: type[Word], value: int) -> Hint:
    rows = [row for row in cls.rows(value) if not row.field.startswith("reserved")]
    told = [f"{row.field}={row.value}" for row in rows if row.value not in _SILENT]
    wrong = [row.problem for row in rows if row.problem]
    lines = [f"| {row.bits} | `{row.field}` | {row.value} | {row.problem or row.meaning} |" for row in rows]
    head = f"`{cls.KIND}` 0x{value:0{cls.WIDTH // 4}x}, {cls.form(value).SECTION}"
    table = "\n".join([head, "", "| bits | field | value | meaning |", "|---|---|---|---|", *lines])
    return Hint(span, " ".join([*told, *(f"({problem})" for problem in wrong)]), table)
