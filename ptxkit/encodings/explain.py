"""One word explained: its bits, what they mean, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptxkit.bits import FieldRow, Word
from ptxkit.diagnostics import Diagnostic, counted
from ptxkit.encodings.instruction_base import InstructionDescriptor
from ptxkit.encodings.requests import kind_class, parse_value
from ptxkit.encodings.targeted import Targeted
from ptxkit.encodings.tensor_maps import Im2colTensorMap, TiledTensorMap


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
    rows: list[FieldRow]
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
    legal = not any(problem.is_error for problem in problems)
    notes = _notes(cls.decode(number)) if legal else []
    return Explanation(cls.KIND, cls.form(number).SECTION, cls.rows(number), problems, notes)


def _notes(word: Word) -> list[str]:
    if isinstance(word, InstructionDescriptor):
        uses = sorted({f"`.cta_group::{row.cta_group}`{' `.ws`' if row.ws else ''}" for row in word.uses()})
        return [
            f"M x N x K = {word.m} x {word.n} x {word.k}",
            f"for `.kind::{word.MMA_KIND}` with {', '.join(uses)}",
            *_needs(word),
        ]
    if isinstance(word, Targeted):
        return _needs(word)
    if isinstance(word, TiledTensorMap):
        return [f"`.tile`: one copy moves {_by(word.copied)} of {_by(word.shape)} elements of `{word.dtype}`"]
    if isinstance(word, Im2colTensorMap):
        channels = counted(word.channels_per_pixel, "channel")
        copy = f"{counted(word.pixels_per_column, 'pixel')} of {channels} of `{word.dtype}`"
        return [
            f"`.im2col`: one copy moves {copy}",
            f"the bounding box is {_by(word.pixel_box)} of {_by(word.pixels)} pixels",
        ]
    return []


def _needs(word: Targeted) -> list[str]:
    return [f"{what} needs {' or '.join(targets)}" for what, targets in word.needs()]


def _by(sizes: list[int]) -> str:
    return " x ".join(map(str, sizes))
