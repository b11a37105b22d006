"""A text in an editor, with what the parser and the checker make of it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from ptxkit.asm import Module, parse
from ptxkit.asm.check import check
from ptxkit.asm.preprocess import Expanded
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source
from ptxkit.rules import project_check


class Document:
    """One version of a text.

    Attributes:
        path: the file that it is, or will be.
        source: the text, as the editor has it; lines and columns count from 1.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.source = Source(str(path), text)

    @cached_property
    def module(self) -> Module:
        """The tree; empty, with the reason in its diagnostics, where the text is refused."""
        text = self.source.text
        try:
            return parse(f"{text}\n", name=self.source.name, include=[self.path.parent])
        except PtxkitError as problem:
            return Module([], "", list(problem.diagnostics), complete=False)

    @cached_property
    def findings(self) -> list[Diagnostic]:
        """What is wrong with the text, as the settings of its project have it."""
        try:
            rules, select = project_check(self.path.parent)
        except PtxkitError as problem:
            return [*check(self.module), *problem.diagnostics]
        return check(self.module, rules=rules, select=select)

    def is_here(self, source: Source | None) -> bool:
        """Whether a finding's source is this text, and no included file."""
        return source is None or source.name == self.source.name

    def made_line(self, line: int) -> int:
        """The line of the text that the assembler sees for a line of this one."""
        made = self.module.source
        if isinstance(made, Expanded):
            for here, (source, number) in enumerate(made.origins, 1):
                if number == line and self.is_here(source):
                    return here
        return line
