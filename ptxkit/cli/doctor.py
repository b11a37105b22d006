"""`ptxkit doctor`."""

from __future__ import annotations

import sys

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json, table, wants_color
from ptxkit.doctor import State, examine


@click.command(
    cls=Verb,
    examples=(
        (
            "ptxkit doctor",
            "driver, GPUs, the PTX versions they take, assemblers, and what mends what is missing",
        ),
        ("ptxkit doctor --json", "the same for a program"),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """Show what this machine has, what is missing and how to mend it.

    The exit code is 0 whatever is missing: the emulator needs nothing of it.
    """
    facts = examine()
    if as_json:
        print_json({"schema": 1, "facts": [fact.to_json() for fact in facts]})
        return 0
    marks = {State.GOOD: "ok", State.MISSING: "missing", State.OPTIONAL: "optional"}
    rows = [(marks[fact.state], fact.name, fact.found) for fact in facts]
    print(table(rows, ("", "what", "found"), wants_color(sys.stdout)))
    mends = [(fact.name, fact.mend) for fact in facts if fact.mend]
    if mends:
        print()
    for name, mend in mends:
        print(f"{name}: {mend}")
    return 0
