"""`python -m tools.next_version INPUT..`: what a new ptxas takes, and the rows lack."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from ptxkit import targets
from ptxkit.isa import registry
from tools.agreement import assemblers

from . import trials
from .asking import Assembler
from .compare import Found, compare


def main() -> int:
    releases = list(assemblers.RELEASES)
    parser = argparse.ArgumentParser(prog="python -m tools.next_version", description=__doc__)
    parser.add_argument("inputs", type=Path, nargs="*", help=".ptx, .md, or folders with them or C++ in them")
    parser.add_argument("--old", default=releases[-2], help="a release, or the path of a ptxas")
    parser.add_argument("--new", default=releases[-1], help="the same of the new one")
    parser.add_argument("--known", help="rows of newer versions count as unknown, `9.4`; else all are known")
    parser.add_argument("--rows", type=int, default=0, help="statements made from the rows")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    try:
        known = _version(given.known) if given.known else targets.NEWEST_VERSION
        old, new = Assembler.of(given.old), Assembler.of(given.new)
        paths = [path for path in given.inputs if path.exists()]
        if missing := [str(path) for path in given.inputs if not path.exists()]:
            raise ValueError(f"{missing[0]} is not there")
        made = list(trials.of_paths(paths))
    except (ValueError, RuntimeError) as problem:
        parser.error(str(problem))
    forms = [form for opcode in registry.opcodes() for form in registry.forms(opcode)]
    vocabulary = frozenset(m for form in forms if form.since.version <= known for m in form.modifiers)
    if given.rows:
        made += trials.of_rows(given.rows, trials.words(paths) - vocabulary, given.seed, known)
    if not made:
        parser.error("there is nothing to try: give texts, or --rows")
    found = compare(made, old, new, known, vocabulary)
    print(report(found, old, new, known))
    return 1 if found.lacking else 0


def _version(text: str) -> targets.Version:
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    version = (int(match[1]), int(match[2])) if match else None
    if version not in targets.RELEASES:
        newest = targets.show(targets.NEWEST_VERSION)
        raise ValueError(f"--known {text}: expected a PTX ISA version up to {newest}")
    return version


def report(found: Found, old: Assembler, new: Assembler, known: targets.Version) -> str:
    """What was found, in lines."""
    lines = [
        f"{found.tried} statements tried, {found.taken} taken by ptxas {new.release} "
        f"(.version {targets.show(new.version)}); rows up to {targets.show(known)}",
        "",
        f"{len(found.lacking)} new since ptxas {old.release} and lacking in the rows:",
    ]
    for feature in sorted(found.lacking, key=lambda feature: feature.trial.statement):
        lines += [
            f"  {feature.trial.statement}",
            f'      since="{feature.since}", from {feature.trial.where}',
            f"      ptxas: {feature.message}",
        ]
        if feature.words:
            lines.append(f"      no row has: {' '.join('.' + word for word in feature.words)}")
    if found.deprecated:
        lines += ["", "deprecated:", *(f"  {text}" for text in sorted(found.deprecated))]
    if found.had:
        lines += ["", f"{len(found.had)} are new, and the rows have them."]
    if found.unbound:
        lines += [
            "",
            f"{len(found.unbound)} are taken at any version, and were not by ptxas {old.release}: leniencies "
            "or mended faults, not features:",
            *(f"  {trial.statement}" for trial in found.unbound[:20]),
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
