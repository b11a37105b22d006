"""Each release of ptxas, asked everything that does not come from files: parts of the record.

The rows follow the newest release, which is asked the most; older ones about what they know the version of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import assemblers, boundaries, declarations, probes, record, releases, rows
from .oracle import Verdict

FORMS = "Statements of every form"
BOUNDARIES = "Statements of every form at the boundaries of version and target"
DECLARATIONS = "Declarations and calls"
RELEASES = "What came after PTX ISA 9.0"
PROBES = "Probes of what came after PTX ISA 9.0"
CHANGED, AS_IT_IS = "with one change", "as the row has it"


def parts(
    limit: int, mutate: int, modules: int, probes_file: Path | None, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The parts of the record; of each form, on how many statements the newest release agrees.

    Args:
        limit: statements of a row; of an older release one.
        mutate: changed statements of a row; of an older release a quarter.
        modules: modules of declarations; of an older release a quarter.
        probes_file: modules whose verdicts are known, see `probes`; None leaves that part out.
        seed: of everything that is chosen.
    """
    newest = list(assemblers.RELEASES)[-1]
    of_newest: list[Verdict] = []

    def of_rows(release: str) -> Iterator[Verdict]:
        forms, _ = rows.told_apart(rows.select([], []))
        some = (limit, mutate) if release == newest else (1, mutate // 4)
        for verdict in rows.verdicts(rows.cases(forms, some[0], 1, some[1], seed)):
            if release == newest:
                of_newest.append(verdict)
            changed = verdict.change not in ("", "elsewhere")
            yield replace(verdict, change=CHANGED if changed else AS_IT_IS)

    def at_boundaries(release: str) -> Iterator[Verdict]:
        forms, _ = rows.told_apart(rows.select([], []))
        if release == newest:
            return rows.verdicts(boundaries.cases(forms, limit, seed))
        return rows.verdicts(boundaries.cases(forms, 1, seed)[::3])

    def declared(release: str) -> Iterator[Verdict]:
        for verdict in declarations.verdicts(modules if release == newest else modules // 4, seed):
            yield replace(verdict, change="")

    less = f"of the older releases {{}}; by each release, the newest {assemblers.RELEASES[newest]}."
    found = {
        FORMS: _asked(
            of_rows,
            f"Of each form up to {limit} statements over its modifiers and operands, for a version and target"
            f" that have it, and for any; {mutate} with one change. "
            + less.format(f"one and {mutate // 4}").capitalize(),
            {"limit": limit, "mutate": mutate, "seed": seed},
        ),
        BOUNDARIES: _asked(
            at_boundaries,
            f"Up to {limit} statements of each form, for each oldest version and the one before, and on "
            f"neighbouring targets of which one has it; {less.format('a third of those of one')}",
            {"limit": limit, "seed": seed},
        ),
        DECLARATIONS: _asked(
            declared,
            f"{modules} modules of declarations, headers and calls, two in five of them right in all that "
            "is chosen, most for version 9.0 and sm_90. ptxas makes code, to be linked where it must be. "
            + less.format(modules // 4).capitalize(),
            {"modules": modules, "seed": seed},
        ),
        RELEASES: releases.part(limit, seed),
    }
    if probes_file is not None:
        found[PROBES] = probes.by_release(probes_file)
    return found, record.by_form(of_newest)


def _asked(verdicts: Callable[[str], Iterable[Verdict]], what: str, asked: dict[str, Any]) -> dict[str, Any]:
    """A part of the record, with the verdicts of each release."""

    def of_each() -> Iterator[Verdict]:
        for release in assemblers.RELEASES:
            assemblers.use(release)
            for verdict in verdicts(release):
                change = f"ptxas {release}, {verdict.change}" if verdict.change else f"ptxas {release}"
                yield replace(verdict, change=change)

    return record.part(of_each(), {"what": what, **asked})
