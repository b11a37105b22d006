"""One word explained: its bits, what they mean, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptxkit.bits import Row, Word
from ptxkit.descriptors import InstructionDescriptor
from ptxkit.descriptors.requests import kind_class, parse_value
from ptxkit.diagnostics import Diagnostic


@dataclass(frozen=True)
class Explanation:
    """What `ptxkit explain KIND VALUE` shows.

    Attributes:
        kind: the kind of descriptor.
        section: where the manual defines it.
        rows: the table, lowest bits first.
        problems: everything that is wrong with the word, fields and rules.
        notes: what follows from the fields though no bits say it.
    """

    kind: str
    section: str
    rows: list[Row]
    problems: list[Diagnostic]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "section": self.section,
            "rows": [row._asdict() for row in self.rows],
            "problems": [problem.to_json() for problem in self.problems],
            "notes": self.notes,
        }


def explain(kind: str, value: str) -> Explanation:
    """The explanation of a descriptor's value; illegal words are explained too.

    Raises:
        PtxkitError: P407 no such kind, P408 no such number.
    """
    cls = kind_class(kind)
    number = parse_value(cls, value)
    problems = cls.diagnose(number)
    notes = [] if problems else _notes(cls.decode(number))
    return Explanation(cls.KIND, cls.SECTION, cls.rows(number), problems, notes)


def _notes(word: Word) -> list[str]:
    if not isinstance(word, InstructionDescriptor):
        return []
    uses = sorted({f"`.cta_group::{row.cta_group}`{' `.ws`' if row.ws else ''}" for row in word.uses()})
    return [
        f"M x N x K = {word.m} x {word.n} x {word.k}",
        f"for `.kind::{word.MMA_KIND}` with {', '.join(uses)}",
    ]
