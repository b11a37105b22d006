"""`python -m tools.agreement rows`, `corpus DIR`, `calls`, `record DIR` and `page`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import calls, corpus, record, rows
from .oracle import report

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "bench" / "results" / "agreement.json"
CALLS = 2000
COMPILERS = ROOT / "bench" / "results" / "compilers.json"
PAGE = ROOT / "docs" / "agreement.md"


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
    of_calls = verbs.add_parser("calls", help="files with a function and a call of it")
    of_calls.add_argument("--limit", type=int, default=1000, help="files")
    kept = verbs.add_parser("record", help="both, kept in bench/results/agreement.json")
    kept.add_argument("folder", type=Path)
    kept.add_argument(
        "--fresh", type=Path, help="more files: what compilers wrote afresh, see tools/compilers"
    )
    kept.add_argument("--limit", type=int, default=100, help="statements of a row")
    kept.add_argument("--mutate", type=int, default=20, help="changed statements of a row")
    kept.add_argument("--changes", type=int, default=20_000, help="changed statements of files")
    verbs.add_parser("page", help="docs/agreement.md from what was recorded")
    for verb in (by_row, of_files, of_calls, kept):
        verb.add_argument("--elsewhere", type=int, default=1, help="other versions and targets")
        verb.add_argument("--seed", type=int, default=0)
        verb.add_argument("--show", type=int, default=5, help="disagreements of a row or file to print")
    given = parser.parse_args()
    if given.verb == "page":
        return write_page()
    if given.verb == "record":
        return keep(given)
    if given.verb == "rows":
        forms = rows.select(given.opcode, given.chapter)
        found = rows.verdicts(rows.cases(forms, given.limit, given.elsewhere, given.mutate, given.seed))
    elif given.verb == "calls":
        found = calls.verdicts(given.limit, given.seed)
    else:
        found = corpus.verdicts(given.folder, given.limit, given.elsewhere, given.seed)
    return report(found, given.show)


def keep(given: argparse.Namespace) -> int:
    """Ask both everything, write the document and the page; 1 where a disagreement has no reason."""
    asked = {"elsewhere": given.elsewhere, "seed": given.seed}
    forms = rows.select([], [])
    cases = rows.cases(forms, given.limit, given.elsewhere, given.mutate, given.seed)
    by_row = (
        f"Made from the {len(forms)} forms of `ptxkit/isa`: of each up to {given.limit} over its modifiers "
        "and operands, for a version and target that have it; the same for any version and target; "
        f"{given.mutate} with one change."
    )
    of_files = (
        f"{given.changes} statements of files that Triton and nvcc wrote, with one change each, and the same "
        "files' statements for other versions and targets."
    )
    counts = {"forms": len(forms), "limit": given.limit, "mutate": given.mutate}
    of_rows = list(rows.verdicts(cases))
    parts = {
        "Statements of every form": record.part(of_rows, {"what": by_row, **counts, **asked}),
        "Changed statements of real files": record.part(
            corpus.verdicts(given.folder, given.changes, given.elsewhere, given.seed),
            {"what": of_files, "changes": given.changes, **asked},
        ),
    }
    parts["Calls"] = record.part(
        calls.verdicts(CALLS, given.seed),
        {"what": f"{CALLS} files with a function and a call of it, direct or indirect.", "calls": CALLS},
    )
    if given.fresh:
        parts["Changed statements of files made afresh"] = record.part(
            corpus.verdicts(given.fresh, given.changes // 2, given.elsewhere, given.seed),
            {
                "what": f"{given.changes // 2} statements of what Triton and the CuTe DSL write for sm_90a "
                "and sm_100a, see `tools/compilers`, and the same for other versions and targets.",
                "changes": given.changes // 2,
                **asked,
            },
        )
    document = record.document(parts, record.by_form(of_rows), record.files(given.folder))
    RESULT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{RESULT.relative_to(ROOT)}: " + "; ".join(f"{n}: {p['agreement']:.4%}" for n, p in parts.items()))
    return write_page()


def write_page() -> int:
    """Write the page from the document; 1 where it has a problem."""
    document = json.loads(RESULT.read_text(encoding="utf-8"))
    compilers = json.loads(COMPILERS.read_text(encoding="utf-8")) if COMPILERS.exists() else None
    PAGE.write_text(record.page(document, compilers), encoding="utf-8")
    found = record.problems(document)
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
