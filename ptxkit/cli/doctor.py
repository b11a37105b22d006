"""`ptxkit doctor`."""

from __future__ import annotations

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json, strong
from ptxkit.diagnostics import counted
from ptxkit.machine.doctor import Fact, FactState, examine
from ptxkit.support.disk_cache import CacheSize, disk_cache

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
        ("ptxkit doctor --clear-cache", "forget the compiled code that is kept between runs"),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--clear-cache", is_flag=True, help="Remove what is kept between runs, and nothing else.")
def command(as_json: bool, clear_cache: bool) -> int:
    """Show what this machine has for ptxkit, what is missing, and the one step that fixes it."""
    removed = _cleared() if clear_cache else {}
    if removed and not as_json:
        found = removed["removed"]
        print(f"removed {counted(found['files'], 'file')}, {found['bytes'] / 1e6:.1f} MB")
        return 0
    facts = examine()
    if as_json:
        print_json({"schema": 1, "facts": [fact.to_json() for fact in facts], **removed})
        return 0
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        print(f"{_mark(fact)}  {fact.name:<{width}}  {fact.found}")
        if fact.mend:
            print(f"{'':10}{'':<{width}}  -> {fact.mend}")
    return 0


def _cleared() -> dict[str, dict[str, int]]:
    """What was kept between runs, and is no more."""
    kept = disk_cache()
    gone = kept.clear() if kept is not None else CacheSize(0, 0)
    return {"removed": {"files": gone.files, "bytes": gone.bytes}}


def _mark(fact: Fact) -> str:
    word, style = _MARKS[fact.state]
    return strong(f"{word:<8}", style)
