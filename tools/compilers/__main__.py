"""`python -m tools.compilers FOLDER...`: check what the scripts beside this file made."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit import targets
from ptxkit.machine.provenance import provenance
from tools.agreement import assemblers
from tools.agreement.oracle import Sheet, by_ptxas_alone
from tools.agreement.record import assembler

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "bench" / "results" / "compilers.json"
NEWER = "P303"
"""The note on a `.version` that is newer than ptxkit knows."""


def examine(path: Path) -> dict[str, Any]:
    """What the checker says of one file, and ptxas where it knows the file's version."""
    text = path.read_text(encoding="utf-8")
    module = ptxkit.parse(text)
    found = ptxkit.check(module)
    codes = Counter(f"{d.severity.value} {d.code}" for d in found)
    target = re.search(r"\.target\s+sm_(\w+)", text)
    version = module.version or (0, 0)
    newer = version > targets.NEWEST_VERSION
    asked = version <= assemblers.newest_version()
    refused = (
        None
        if not asked
        else by_ptxas_alone(Sheet(text.split("\n"), {}, f"compute_{target[1]}" if target else ""))
    )
    return {
        "file": path.name,
        "version": targets.show(version),
        "target": f"sm_{target[1]}" if target else None,
        "lines": text.count("\n"),
        "errors": [f"{d.code} {d.message}" for d in found if d.is_error],
        "findings": dict(sorted(codes.items())),
        "ptxas": (refused or "accepts") if asked else "not asked: the version is newer",
        "passes": not any(d.is_error for d in found) and codes[f"note {NEWER}"] == int(newer),
    }


def folder(path: Path) -> dict[str, Any]:
    """What one compiler made, checked."""
    about = json.loads((path / "about.json").read_text(encoding="utf-8"))
    return {**about, "files": [examine(file) for file in sorted(path.glob("*.ptx"))]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.compilers", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--add", action="store_true", help="other compilers stay in the record as they are")
    parser.add_argument(
        "--assembler", choices=assemblers.RELEASES, help="the release of ptxas; else the one in PATH"
    )
    given = parser.parse_args()
    if given.assembler:
        assemblers.use(given.assembler)
    about = provenance()
    made = [{**folder(path), "date": about["date"]} for path in given.folders]
    if given.add:
        new = {compiler["compiler"] for compiler in made}
        before = json.loads(given.out.read_text(encoding="utf-8"))
        kept = [compiler for compiler in before["made"] if compiler["compiler"] not in new]
        made += [{"date": before["date"], **compiler} for compiler in kept]
    document = {"schema": 1, "kind": "compilers", **about, "assembler": assembler(), "made": made}
    given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    wrong = 0
    for compiler in made[: len(given.folders)]:
        files = compiler["files"]
        failing = [file for file in files if not file["passes"]]
        wrong += len(failing)
        versions = ", ".join(f"{name} {version}" for name, version in compiler["versions"].items())
        newer = sum(file["ptxas"].startswith("not asked") for file in files)
        print(f"{versions}: {len(files) - len(failing)} of {len(files)} pass, {newer} of a newer version")
        for file in failing:
            why = (file["errors"] or ["no error"])[0]
            print(f"  {file['file']}: {why}; {file['findings']}; ptxas: {file['ptxas']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
