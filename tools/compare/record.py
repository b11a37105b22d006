"""What is written down: for each row of the instruction set how often it was compared and what differed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from compare.cases import Case
from compare.execute import EXAMPLES, Outcome

SCHEMA = 2


@dataclass(slots=True)
class Tally:
    """Of one spelling.

    Attributes:
        instances: compared.
        wrong: those that differ.
        swapped: those that are the NaN of another operand, because ptxas swapped the two.
        how: how it was compared.
        lacking: why statements were not compared, each with their number.
        examples: of disagreements.
    """

    instances: int = 0
    wrong: int = 0
    swapped: int = 0
    how: str = ""
    lacking: dict[str, int] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)


class Record:
    """The tallies of every spelling, by row."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, Tally]] = {}

    def tally(self, case: Case) -> Tally:
        """Where a case is counted."""
        return self.rows.setdefault((case.section, case.row), {}).setdefault(case.spelling, Tally())

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count the outcome of a case."""
        tally = self.tally(case)
        if outcome.state != "compared":
            reason = f"{outcome.state}: {outcome.reason}" if outcome.reason else outcome.state
            tally.lacking[reason] = tally.lacking.get(reason, 0) + 1
            return
        tally.swapped += outcome.swapped
        tally.examples += outcome.examples[: EXAMPLES - len(tally.examples)]
        tally.how = outcome.how
        tally.instances += outcome.instances
        tally.wrong += outcome.wrong

    def totals(self) -> dict[str, int]:
        """Sums over everything."""
        tallies = [tally for row in self.rows.values() for tally in row.values()]
        return {
            "forms": len(self.rows),
            "spellings": len(tallies),
            "spellings_compared": sum(tally.instances > 0 for tally in tallies),
            "spellings_that_differ": sum(tally.wrong > 0 for tally in tallies),
            "instances": sum(tally.instances for tally in tallies),
            "mismatches": sum(tally.wrong for tally in tallies),
            "fewest_instances": min((tally.instances for tally in tallies if tally.instances), default=0),
            "swapped_by_ptxas": sum(tally.swapped for tally in tallies),
        }

    def forms(self) -> list[dict[str, Any]]:
        """The rows, JSON-able, in the order of their sections."""
        found = []
        for (section, row), tallies in sorted(self.rows.items(), key=lambda item: _place(item[0][0])):
            entry: dict[str, Any] = {
                "section": section,
                "form": row,
                "instances": sum(tally.instances for tally in tallies.values()),
                "mismatches": sum(tally.wrong for tally in tallies.values()),
                "compared_by": sorted({tally.how for tally in tallies.values() if tally.how}),
                "spellings": {name: [tally.instances] for name, tally in tallies.items() if tally.instances},
            }
            for key, value in (
                (
                    "swapped_by_ptxas",
                    {name: tally.swapped for name, tally in tallies.items() if tally.swapped},
                ),
                ("differs", {name: _difference(tally) for name, tally in tallies.items() if tally.examples}),
                ("not_compared", {name: tally.lacking for name, tally in tallies.items() if tally.lacking}),
            ):
                if value:
                    entry[key] = value
            found.append(entry)
        return found


def _difference(tally: Tally) -> dict[str, Any]:
    return {"wrong": tally.wrong, "examples": tally.examples}


def _place(section: str) -> tuple[int, ...]:
    return tuple(int(part) for part in section.split("."))


def written(head: dict[str, Any], record: Record) -> str:
    """The document: one line a row, so that a change shows as that row's line."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    forms = ",\n".join(f"    {json.dumps(entry)}" for entry in record.forms())
    return "\n".join(["{", *lines, '  "forms": [', forms, "  ]", "}", ""])
