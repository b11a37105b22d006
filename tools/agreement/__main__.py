"""Both are asked the same: of rows, of files, of probes, of declarations and of libraries."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import counted
from ptxkit.isa.notation import Form
from ptxkit.machine.provenance import provenance

from . import (
    assemblers,
    boundaries,
    corpus,
    declarations,
    each,
    inline,
    probes,
    record,
    releases,
    rows,
    spellings,
)
from .oracle import report
from .reasons import reason_of

OPCODE = "`cp`, or a longer name: `cp.async.bulk`; may be given several times"
ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "bench" / "results" / "agreement.json"
SPELLINGS = ROOT / "bench" / "results" / "spellings.json"
INLINE = ROOT / "bench" / "results" / "inline.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.agreement", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    by_row = verbs.add_parser("rows", help="statements made from the rows of the instruction set")
    by_row.add_argument("--opcode", action="append", default=[], help=OPCODE)
    by_row.add_argument("--chapter", action="append", default=[])
    by_row.add_argument("--limit", type=int, default=40, help="statements of a row")
    by_row.add_argument("--mutate", type=int, default=0, help="changed statements of a row")
    of_operands = verbs.add_parser(
        "spellings", help="statements of the rows with one operand spelled otherwise"
    )
    of_operands.add_argument("--opcode", action="append", default=[], help=OPCODE)
    of_operands.add_argument("--chapter", action="append", default=[])
    of_operands.add_argument("--limit", type=int, default=2000, help="statements in all")
    of_operands.add_argument("--keep", action="store_true", help="in bench/results/spellings.json")
    of_files = verbs.add_parser("corpus", help="changed statements of files")
    of_files.add_argument("folder", type=Path)
    of_files.add_argument("--limit", type=int, default=20_000, help="changed statements in all")
    of_probes = verbs.add_parser("probes", help="modules with the verdicts of several releases of ptxas")
    of_probes.add_argument("file", type=Path, help="one JSON object a line, see tools/agreement/probes.py")
    of_probes.add_argument("--release", choices=assemblers.RELEASES, help="else the newest of each")
    of_probes.add_argument("--show", type=int, default=5, help="disagreements of a group to print")
    at_boundaries = verbs.add_parser(
        "boundaries", help="statements of the rows where their availability ends"
    )
    at_boundaries.add_argument("--opcode", action="append", default=[], help=OPCODE)
    at_boundaries.add_argument("--chapter", action="append", default=[])
    at_boundaries.add_argument("--limit", type=int, default=6, help="statements of a row")
    of_releases = verbs.add_parser("releases", help="what came after 9.0, put to each release of ptxas")
    of_releases.add_argument("--limit", type=int, default=8, help="statements of a row")
    of_releases.add_argument("--seed", type=int, default=0)
    of_releases.add_argument("--show", type=int, default=5, help="disagreements of a row to print")
    of_declarations = verbs.add_parser("declarations", help="modules of declarations and calls")
    of_declarations.add_argument("--limit", type=int, default=1000, help="modules")
    kept = verbs.add_parser(
        "record", help="changed statements of files, kept in bench/results/agreement.json"
    )
    kept.add_argument("folder", type=Path)
    kept.add_argument(
        "--fresh", type=Path, help="more files: what compilers wrote afresh, see tools/compilers"
    )
    kept.add_argument("--changes", type=int, default=20_000, help="changed statements of files")
    of_each = verbs.add_parser(
        "each", help="all but files, of each release, kept in bench/results/agreement.json"
    )
    of_each.add_argument("--probes", type=Path, help="a file of probes; else what is kept of them stays")
    of_each.add_argument("--limit", type=int, default=4, help="statements of a row; of an older release one")
    of_each.add_argument("--mutate", type=int, default=24, help="changed statements of a row; a quarter")
    of_each.add_argument("--modules", type=int, default=2000, help="modules of declarations; a quarter")
    of_each.add_argument("--seed", type=int, default=0)
    of_libraries = verbs.add_parser("inline", help="the inline assembly of libraries, one folder each")
    of_libraries.add_argument("folder", type=Path)
    of_libraries.add_argument("--modules", type=Path, help="whole modules: a folder with what nvcc made")
    of_libraries.add_argument("--changes", type=int, default=2000, help="changed modules")
    of_libraries.add_argument("--seed", type=int, default=0)
    of_libraries.add_argument("--keep", action="store_true", help="in bench/results/inline.json")
    for verb in (by_row, at_boundaries, of_operands, of_files, of_declarations, kept):
        verb.add_argument("--elsewhere", type=int, default=1, help="other versions and targets")
        verb.add_argument("--seed", type=int, default=0)
        verb.add_argument("--show", type=int, default=5, help="disagreements of a row or file to print")
        verb.add_argument(
            "--assembler", choices=assemblers.RELEASES, help="the release of ptxas; else the one in PATH"
        )
    given = parser.parse_args()
    if getattr(given, "assembler", None):
        assemblers.use(given.assembler)
    if given.verb == "inline":
        return ask_libraries(given)
    if given.verb == "record":
        return keep_files(given)
    if given.verb == "each":
        parts, by_form = each.parts(given.limit, given.mutate, given.modules, given.probes, given.seed)
        return keep_parts(parts, {"forms": by_form})
    if given.verb == "releases":
        return ask_releases(given)
    if given.verb == "rows":
        forms = chosen(parser, given)
        found = rows.verdicts(rows.cases(forms, given.limit, given.elsewhere, given.mutate, given.seed))
    elif given.verb == "boundaries":
        found = rows.verdicts(boundaries.cases(chosen(parser, given), given.limit, given.seed))
    elif given.verb == "spellings":
        return ask_spellings(given, chosen(parser, given))
    elif given.verb == "probes":
        releases = [given.release] if given.release else []
        return report(probes.verdicts(given.file, releases), given.show, reason_of)
    elif given.verb == "declarations":
        found = declarations.verdicts(given.limit, given.seed)
    else:
        found = corpus.verdicts(given.folder, given.limit, given.elsewhere, given.seed)
    return report(found, given.show, reason_of)


def keep_files(given: argparse.Namespace) -> int:
    """Ask about files and their statements, and keep it; 1 where a disagreement has no reason."""
    asked = {"changes": given.changes, "elsewhere": given.elsewhere, "seed": given.seed}
    what = (
        f"{given.changes} statements of files that Triton and nvcc wrote, with one change each, and the same "
        f"files' statements for other versions and targets. Judged by {record.assembler()}."
    )
    found = corpus.verdicts(given.folder, given.changes, given.elsewhere, given.seed)
    parts = {"Changed statements of real files": record.part(found, {"what": what, **asked})}
    if given.fresh:
        what = (
            f"{given.changes // 2} statements of what Triton and the CuTe DSL write for sm_90a and sm_100a, "
            "see `tools/compilers`, and the same for other versions and targets. "
            f"Judged by {record.assembler()}."
        )
        found = corpus.verdicts(given.fresh, given.changes // 2, given.elsewhere, given.seed)
        asked["changes"] = given.changes // 2
        parts["Changed statements of files made afresh"] = record.part(found, {"what": what, **asked})
    return keep_parts(parts, record.head(record.files(given.folder)))


def keep_parts(parts: dict[str, dict[str, Any]], beside: dict[str, Any]) -> int:
    """Put parts into the record, in the place of those of their names, and what else is new in it."""
    document = json.loads(RESULT.read_text(encoding="utf-8")) | beside
    for name, part in parts.items():
        document["parts"][name] = part | {"asked": {**part["asked"], **provenance()}}
    RESULT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{RESULT.relative_to(ROOT)}: " + "; ".join(f"{n}: {p['agreement']:.4%}" for n, p in parts.items()))
    return problems(document)


def ask_releases(given: argparse.Namespace) -> int:
    """Print what each release says of what is new; 1 where a reason is lacking."""
    part = releases.part(given.limit, given.seed)
    for change, counts in part["changes"].items():
        print(f"{change}: {counts}")
    for entry in part["differ"][: given.show * 40]:
        print(f"{entry['statement'][:300]} [{entry['change']} {entry['place']}]")
        print(f"    ptxas: {entry['ptxas'] or 'accepts'}\n    ptxkit: {entry['ptxkit'] or 'accepts'}")
    print(f"{part['total']}, {part['agreement']:.4%}")
    return 1 if any(record.reason_for(entry) is None for entry in part["differ"]) else 0


def chosen(parser: argparse.ArgumentParser, given: argparse.Namespace) -> list[Form]:
    """The rows that are asked for and that the assembler has; leaves with 2 where there are none."""
    try:
        forms, newer = rows.told_apart(rows.select(given.opcode, given.chapter))
    except ValueError as problem:
        parser.error(str(problem))
    newest = list(assemblers.RELEASES)[-1]
    if not forms:
        asked = assemblers.release()
        parser.error(f"ptxas {asked} is older than these rows: add --assembler {newest}")
    if newer:
        count = counted(len(newer), "row")
        print(f"not asked: {count} newer than the assembler; add --assembler {newest}", file=sys.stderr)
    return forms


def ask_spellings(given: argparse.Namespace, forms: list[Form]) -> int:
    """Print, and on demand keep, what both say of operands; 1 where a disagreement has no reason."""
    found = list(rows.verdicts(spellings.cases(forms, given.limit, given.seed)))
    status = report(found, given.show, spellings.reason)
    if given.keep:
        document = spellings.document(found, given.seed)
        SPELLINGS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return status


def ask_libraries(given: argparse.Namespace) -> int:
    """Print, and on demand keep, what both say of libraries; 1 where a disagreement has no reason."""
    document = inline.run(given.folder, given.modules, given.changes, given.seed)
    for found in (*document["libraries"], {"name": "each once", **document["total"]}):
        print(
            f"{found['name']}: {found['texts']} texts, {found['accepted by both']} accepted by both, "
            f"{found['answers that differ']} of {found['answers']} answers differ"
        )
    for change, counts in document["modules"]["changes"].items() if document["modules"] else ():
        print(f"modules, {change}: {counts['differ']} of {counts['modules']} differ")
    if given.keep:
        INLINE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    found = inline.problems(document)
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


def problems(document: dict[str, Any]) -> int:
    """Print what a record should not have; 1 where there is any."""
    found = record.problems(document)
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
