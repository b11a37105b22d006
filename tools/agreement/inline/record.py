"""What was found in each library, counted, with every disagreement in full; its section of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ptxkit.machine.provenance import provenance

from ..oracle import Verdict
from ..record import LONG, assembler, reason_for
from .judge import PLACES
from .library import Library
from .text import Text

SCHEMA = 1
COLUMNS = (
    "texts",
    "accepted by both",
    "refused by both",
    "refused by ptxkit alone",
    "accepted by ptxkit alone",
)

INTRODUCTION = f"""\
## Inline assembly of libraries

The texts of `asm` statements in the sources of public libraries, those that macros make included, and of
`inline_asm` in their Python, MLIR and LLVM. Each becomes a kernel that loads the operands into registers of
their constraints' types, runs the text and stores what it wrote; an `n` operand is the number that the source
has, else one of a few until ptxas takes one. Both are asked for one target after the other until ptxas makes
code of it
({", ".join(f"{v} {t}" for v, t in PLACES)});
every answer on the way is compared. A text counts once a library, whatever its blanks, and once in the last
row. What both refuse is assembly of CPUs, PTX newer than 9.0, branches for 32-bit pointers, and texts that
need what stands around them.

`python -m tools.agreement inline FOLDER --keep`, with one folder a library, writes
[bench/results/inline.json](../bench/results/inline.json), with the commit of each.
"""

WHOLE = """\
## Whole modules

Modules that nvcc makes of the same libraries' kernels, as they are and with one token of the file deleted,
doubled or replaced by another of its kind from the same file. ptxas makes code of each; a module counts as
accepted or refused.
"""


def library(found: Library, verdicts: Sequence[Sequence[Verdict]]) -> dict[str, Any]:
    """One library's counts.

    Args:
        found: its texts.
        verdicts: on each of them.
    """
    return {
        "name": found.name.replace("+", "/"),
        "commit": found.commit,
        "statements": found.statements,
        "left out": dict(sorted(found.left_out.items())),
        **counts(verdicts),
    }


def counts(verdicts: Iterable[Sequence[Verdict]]) -> dict[str, int]:
    """How many texts there are, how many each accepts, and on how many answers they differ."""
    found = Counter(dict.fromkeys((*COLUMNS, "answers", "answers that differ"), 0))
    for of_text in verdicts:
        accepted = any(v.theirs is None for v in of_text)
        found["texts"] += 1
        found["accepted by both"] += any(v.theirs is None and v.ours is None for v in of_text)
        found["refused by both"] += not accepted and all(v.agrees for v in of_text)
        found["refused by ptxkit alone"] += any(v.theirs is None and v.ours is not None for v in of_text)
        found["accepted by ptxkit alone"] += any(v.theirs is not None and v.ours is None for v in of_text)
        found["answers"] += len(of_text)
        found["answers that differ"] += sum(not v.agrees for v in of_text)
    return dict(found)


def entry(verdict: Verdict) -> dict[str, Any]:
    """A disagreement as it is kept."""
    return {
        "statement": verdict.text,
        "of": verdict.where,
        "place": verdict.place,
        "change": verdict.change,
        "ptxas": verdict.theirs,
        "ptxkit": verdict.ours,
    }


def document(
    judged: Sequence[tuple[Library, Sequence[tuple[Text, Sequence[Verdict]]]]],
    modules: dict[str, Any] | None,
) -> dict[str, Any]:
    """The document to keep.

    Args:
        judged: libraries, each with the verdicts on its texts.
        modules: what was found in whole modules.
    """
    once: dict[object, Sequence[Verdict]] = {}
    for _, texts in judged:
        for text, verdicts in texts:
            once.setdefault(text.key(), verdicts)
    differ = [entry(verdict) for verdicts in once.values() for verdict in verdicts if not verdict.agrees]
    return {
        "schema": SCHEMA,
        "kind": "inline",
        **provenance(),
        "assembler": assembler(),
        "libraries": [library(found, [verdicts for _, verdicts in texts]) for found, texts in judged],
        "total": counts(once.values()),
        "differ": sorted(differ, key=lambda e: (e["statement"], e["place"])),
        "modules": modules,
    }


def problems(kept: dict[str, Any]) -> list[str]:
    """The disagreements of a document that have no reason."""
    return [
        f"no reason: {e['statement'][:LONG]} [{e['place']}] ptxas: {e['ptxas'] or 'accepts'}; "
        f"ptxkit: {e['ptxkit'] or 'accepts'}"
        for e in differing(kept)
        if reason_for(e) is None
    ]


def differing(kept: dict[str, Any]) -> list[dict[str, Any]]:
    """Every disagreement of a document."""
    return [*kept["differ"], *(kept["modules"]["differ"] if kept["modules"] else ())]


def page(kept: dict[str, Any]) -> list[str]:
    """The lines of the section."""
    lines = [
        INTRODUCTION,
        f"Recorded on {kept['date'][:10]} with {kept['assembler']}, commit {kept['commit'][:12]}"
        f"{', modified' if kept['modified'] else ''}.",
        "",
        f"| library | commit | {' | '.join(COLUMNS)} |",
        f"| --- | --- |{' --: |' * len(COLUMNS)}",
    ]
    for found in (*kept["libraries"], {"name": "**each once**", "commit": "", **kept["total"]}):
        cells = " | ".join(str(found[column]) for column in COLUMNS)
        lines.append(f"| {found['name']} | {found['commit'][:10]} | {cells} |")
    answers, differ = kept["total"]["answers"], kept["total"]["answers that differ"]
    lines += [
        "",
        f"Answers compared: {answers}, of which {differ} differ ({1 - differ / answers:.3%} agree).",
        "",
    ]
    if kept["modules"]:
        lines += [
            WHOLE,
            "| change | modules | ptxas accepts | differ | agreement |",
            "| --- | --: | --: | --: | --: |",
        ]
        for change, c in kept["modules"]["changes"].items():
            share = 1 - c["differ"] / c["modules"]
            lines.append(f"| {change} | {c['modules']} | {c['accepted']} | {c['differ']} | {share:.3%} |")
        lines.append("")
    return lines
