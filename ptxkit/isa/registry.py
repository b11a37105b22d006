"""Where rows are kept until somebody asks: chapters are read once, a row is parsed when its opcode is met."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ptxkit.isa.match import Spelling, assign
from ptxkit.isa.notation import Form, name_of, parse_form

CHAPTERS = (
    "integer",
    "extended",
    "floating",
    "half",
    "mixed",
    "comparison",
    "logic",
    "movement",
    "conversion",
    "asynchronous_copy",
    "texture",
    "surface",
    "control",
    "synchronization",
    "mbarrier",
    "matrix",
    "wgmma",
    "tcgen05",
    "stack",
    "video",
    "miscellaneous",
)
"""The files of rows, in the manual's order."""

_Row = tuple[str, str, Mapping[str, object]]


class Chapter:
    """The rows of one file, `form` by `form`."""

    def __init__(self, name: str, section: str) -> None:
        self.name = name
        self.section = section
        self.rows: list[_Row] = []

    def __call__(self, syntax: str, section: str, **given: object) -> None:
        """Add a row, see `notation.parse_form`; `section` continues that of the chapter."""
        self.rows.append((syntax, f"{self.section}.{section}", given))


@cache
def _rows() -> dict[str, list[tuple[str, _Row]]]:
    """Every row by its opcode."""
    found: dict[str, list[tuple[str, _Row]]] = {}
    for chapter in CHAPTERS:
        for part in vars(import_module(f"ptxkit.isa.{chapter}")).values():
            for row in part.rows if isinstance(part, Chapter) else ():
                opcode = row[0].partition(" ")[0].partition(".")[0].partition("{")[0]
                found.setdefault(opcode, []).append((chapter, row))
    return found


def opcodes() -> tuple[str, ...]:
    """Every opcode of the instruction set."""
    return tuple(_rows())


@cache
def forms(opcode: str) -> tuple[Form, ...]:
    """Every form of an opcode, in the manual's order; none where there is no such opcode."""
    return tuple(
        parse_form(syntax, section=section, chapter=chapter, **given)  # type: ignore[arg-type]
        for chapter, (syntax, section, given) in _rows().get(opcode, ())
    )


@cache
def named_forms(opcode: str) -> Mapping[str, tuple[Form, ...]]:
    """The forms of an opcode by the name of the instruction: `cp.async`, `cp.async.bulk`, .."""
    found: dict[str, list[Form]] = {}
    for form in forms(opcode):
        for name in form.names:
            found.setdefault(name, []).append(form)
    return {name: tuple(rows) for name, rows in found.items()}


@cache
def spelling(opcode: str, modifiers: tuple[str, ...]) -> Spelling:
    """What fits an opcode with these modifiers."""
    by_name = named_forms(opcode)
    name = name_of(opcode, modifiers)
    rows = by_name.get(name, ())
    parts = name.count(".")
    candidates = []
    for form in rows:
        candidate = assign(form, parts, modifiers)
        if candidate is not None:
            candidates.append(candidate)
    return Spelling(opcode, modifiers, name if rows else None, rows, tuple(candidates))
