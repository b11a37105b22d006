"""`python -m tools.agreement rows` and `python -m tools.agreement corpus DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import corpus, rows
from .oracle import report


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.agreement", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    by_row = verbs.add_parser("rows", help="statements made from the rows of the instruction set")
    by_row.add_argument("--opcode", action="append", default=[])
    by_row.add_argument("--chapter", action="append", default=[])
    by_row.add_argument("--limit", type=int, default=40, help="statements of a row")
    by_row.add_argument("--mutate", type=int, default=0, help="changed statements of a row")
    of_files = verbs.add_parser("corpus", help="changed statements of files")
    of_files.add_argument("folder", type=Path)
    of_files.add_argument("--limit", type=int, default=20_000, help="changed statements in all")
    for verb in (by_row, of_files):
        verb.add_argument("--elsewhere", type=int, default=1, help="other versions and targets")
        verb.add_argument("--seed", type=int, default=0)
        verb.add_argument("--show", type=int, default=5, help="disagreements of a row or file to print")
    given = parser.parse_args()
    if given.verb == "rows":
        forms = rows.select(given.opcode, given.chapter)
        found = rows.verdicts(rows.cases(forms, given.limit, given.elsewhere, given.mutate, given.seed))
    else:
        found = corpus.verdicts(given.folder, given.limit, given.elsewhere, given.seed)
    return report(found, given.show)


if __name__ == "__main__":
    sys.exit(main())
