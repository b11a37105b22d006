"""The rows of all chapters: a chapter's file is read once, a row is parsed when its opcode is first met."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from importlib import import_module
from typing import Any

from ptxkit.isa.candidate import Candidate, assign
from ptxkit.isa.conditions import Condition
from ptxkit.isa.match import Spelling
from ptxkit.isa.names import PASSES_OVER
from ptxkit.isa.notation import Form, name_of, parse_form

BASE = tuple(
    """
    integer extended floating half mixed comparison logic movement conversion asynchronous_copy texture
    surface control synchronization mbarrier matrix wgmma tcgen05 stack video miscellaneous
    """.split()
)
"""The files of rows, in the manual's order."""
LATER = tuple("packed narrow memory mbarrier_reports bulk_copies fabric compression".split())
"""The files of what came after PTX ISA 9.0, read when an instruction fits no row of the others."""
CHAPTERS = BASE + LATER


class Row:
    """A row as it stands in its file, parsed when somebody asks.

    Attributes:
        syntax: the line in the manual's notation.
        section: of the manual.
        chapter: the file.
        given: what else the file says, see `notation.parse_form`.
    """

    def __init__(self, syntax: str, section: str, chapter: str, given: Mapping[str, Any]) -> None:
        self.syntax = syntax
        self.section = section
        self.chapter = chapter
        self.given = given

    @property
    def opcode(self) -> str:
        """The part before the first dot."""
        return re.split(r"[ .{]", self.syntax, maxsplit=1)[0]

    @cached_property
    def form(self) -> Form:
        """The row, read."""
        return parse_form(self.syntax, section=self.section, chapter=self.chapter, **self.given)

    @cached_property
    def words(self) -> str:
        """Text that contains each of its modifiers, among others."""
        head = self.syntax.partition(" ")[0]
        values = (value for value in self.given.values() if isinstance(value, str))
        return " ".join((head, head.replace("{", "").replace("}", ""), *values))

    def may_have(self, modifiers: Iterable[str]) -> bool:
        """False if one of the modifiers is certainly not in the row; True means: look closer."""
        return all(modifier in self.words for modifier in modifiers)


class Chapter:
    """The rows of one file, `form` by `form`."""

    def __init__(self, name: str, section: str) -> None:
        self.name = name
        self.section = section
        self.rows: list[Row] = []

    def __call__(self, syntax: str, section: str, **given: object) -> None:
        """Add a row, see `notation.parse_form`; `section` continues that of the chapter."""
        self.rows.append(Row(syntax, f"{self.section}.{section}", self.name, given))


def _rows_of(chapter: str) -> list[Row]:
    """The rows of one file."""
    parts = vars(import_module(f"ptxkit.isa.{chapter}")).values()
    return [row for part in parts if isinstance(part, Chapter) for row in part.rows]


@cache
def _rows(chapters: tuple[str, ...]) -> dict[str, list[Row]]:
    """The rows of chapters by their opcodes."""
    found: dict[str, list[Row]] = {}
    for chapter in chapters:
        for row in _rows_of(chapter):
            found.setdefault(row.opcode, []).append(row)
    return found


@cache
def slot_names(chapter: str) -> frozenset[str]:
    """The names of all slots in the rows of a chapter."""
    heads = " ".join(row.syntax.partition(" ")[0] for row in _rows_of(chapter))
    return frozenset(re.findall(r"\.([\w:]+)", heads))


@cache
def operand_names(chapter: str) -> frozenset[str]:
    """The names of all operands in the rows of a chapter."""
    tails = " ".join(row.syntax.partition(" ")[2] for row in _rows_of(chapter))
    return frozenset(re.findall(r"\w+", tails.replace("-", "_")))


def opcodes() -> tuple[str, ...]:
    """Every opcode of the instruction set."""
    return tuple(_rows(BASE) | _rows(LATER))


def forms(opcode: str) -> tuple[Form, ...]:
    """Every form of an opcode, in the manual's order; none where there is no such opcode."""
    return tuple(row.form for chapters in (BASE, LATER) for row in _rows(chapters).get(opcode, ()))


@lru_cache(maxsize=1024)
def named_forms(opcode: str) -> Mapping[str, tuple[Form, ...]]:
    """The forms of an opcode by the name of the instruction: `cp.async`, `cp.async.bulk`, .."""
    found: dict[str, list[Form]] = {}
    for form in forms(opcode):
        for name in form.names:
            found.setdefault(name, []).append(form)
    return {name: tuple(rows) for name, rows in found.items()}


@lru_cache(maxsize=8192)
def spelling(opcode: str, modifiers: tuple[str, ...]) -> Spelling:
    """What fits an opcode with these modifiers."""
    name = name_of(opcode, modifiers)
    base = _candidates(BASE, opcode, name, modifiers)
    return Spelling(opcode, modifiers, name, base, _later)


def _later(spelling: Spelling) -> tuple[Candidate, ...]:
    """What else fits: newer forms and, if nothing else does, forms without a modifier that ptxas passes over."""
    opcode, name, modifiers = spelling.opcode, spelling.name, spelling.modifiers
    found = list(_candidates(LATER, opcode, name, modifiers))
    passed = PASSES_OVER.get(name, {}) if not found and not spelling.base else {}
    for ignored in sorted(passed.keys() & set(modifiers)):
        others = tuple(modifier for modifier in modifiers if modifier != ignored)
        facts = frozenset(f".{modifier}" for modifier in others)
        if len(others) == len(modifiers) - 1 and (
            not passed[ignored] or Condition.parse(passed[ignored]).holds(facts)
        ):
            either = _candidates(BASE, opcode, name, others) + _candidates(LATER, opcode, name, others)
            found += [replace(one, undocumented=(*one.undocumented, f".{ignored}")) for one in either]
    return tuple(found)


def _candidates(
    chapters: tuple[str, ...], opcode: str, name: str, modifiers: tuple[str, ...]
) -> tuple[Candidate, ...]:
    """The forms of a name that modifiers fit."""
    found = []
    for row in _rows(chapters).get(opcode, ()):
        if row.may_have(modifiers) and name in row.form.names:
            candidate = assign(row.form, name, modifiers)
            if candidate is not None:
                found.append(candidate)
    return tuple(found)
