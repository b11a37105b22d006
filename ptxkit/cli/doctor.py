"""`ptxkit doctor`."""

from __future__ import annotations

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json, strong
from ptxkit.machine.doctor import Fact, FactState, examine

_MARKS = {
    FactState.GOOD: ("ok", "32"),
    FactState.MISSING: ("missing", "31"),
    FactState.OPTIONAL: ("optional", "33"),
}


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit doctor", "driver, GPUs, assemblers: what there is, what is missing, how to fix it"),
        ("ptxkit doctor --json", "the same for a program"),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """Show what this machine has for ptxkit, what is missing, and the one step that fixes it."""
    facts = examine()
    if as_json:
        print_json({"schema": 1, "facts": [fact.to_json() for fact in facts]})
        return 0
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        print(f"{_mark(fact)}  {fact.name:<{width}}  {fact.found}")
        if fact.mend:
            print(f"{'':10}{'':<{width}}  -> {fact.mend}")
    return 0


def _mark(fact: Fact) -> str:
    word, style = _MARKS[fact.state]
    return strong(f"{word:<8}", style)
