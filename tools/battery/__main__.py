"""Compile the battery, execute it, compare, and keep what came out.

    python -m tools.battery                              # everything; writes bench/results/battery.json
    python -m tools.battery int128 groups --targets 75,90a --levels O3
    python -m tools.battery --seeds 20 --workers 2       # and 20 seeds of random order for each kernel
    python -m tools.battery --pack                       # writes what tests/test_battery.py executes

Each source in tests/battery is compiled by nvcc for each target at each level; each of its kernels is
launched on the emulator with the sanitizer on, in lazy order, and compared with its reference: equal bits,
or where it computes by libdevice the error that CUDA documents. With `--seeds` it is launched in random
order as well: the seeds go round the builds, so that each kernel has them all and each build some. In any
order the results must be right, and the same. An exception that is no finding counts apart: it is an error
of the emulator's own.
Exits with 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ptxkit.machine.provenance import provenance

from .build import LEVELS, TARGETS, compiler
from .examine import examine
from .pack import pack
from .source import sources

RESULT = Path(__file__).resolve().parents[2] / "bench" / "results" / "battery.json"


def main() -> int:
    given = _arguments()
    chosen = sources(tuple(given.sources))
    if given.pack:
        pack(chosen)
        return 0
    started, wrong, entries = time.monotonic(), 0, []
    for source, entry in examine(chosen, given.targets, given.levels, given.seeds, given.workers):
        entries.append(entry)
        wrong += len(entry["wrong"])
        counts = ", ".join(f"{count} {what}" for what, count in entry["lazy order"].items())
        line = f"{source.name:16} {entry['builds']:3} builds  {len(source.kernels):3} kernels  {counts}"
        if given.seeds:
            line += "; random order: " + ", ".join(f"{n} {what}" for what, n in entry["random order"].items())
        print(line, flush=True)
        for found in entry["wrong"]:
            what = " ".join(found[key] for key in ("build", "kernel", "order"))
            print(f"  {what}: {found['verdict']}: {found['detail']}", flush=True)
    if given.out is not None:
        given.out.write_text(_written(given, entries, round(time.monotonic() - started)), encoding="utf-8")
    return 1 if wrong else 0


def _written(given: argparse.Namespace, entries: list[dict[str, Any]], seconds: int) -> str:
    """The document: one line a source."""
    total: dict[str, Counter[str]] = {"lazy order": Counter(), "random order": Counter()}
    for entry in entries:
        for order, counts in total.items():
            counts.update(entry[order])
    head = {
        "schema": 1,
        "kind": "battery",
        **provenance(),
        "compiler": compiler(),
        "targets": [f"sm_{target}" for target in given.targets],
        "levels": {level: " ".join(LEVELS[level]) for level in given.levels},
        "seeds": given.seeds,
        "seconds": seconds,
        "kernels": sum(entry["kernels"] for entry in entries),
        **{order: dict(counts) for order, counts in total.items()},
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    listed = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    return "\n".join(["{", *lines, '  "sources": [', listed, "  ]", "}", ""])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.battery",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="*", help="names of files in tests/battery; all of them without")
    parser.add_argument("--targets", type=lambda text: text.split(","), default=list(TARGETS))
    parser.add_argument(
        "--levels", type=lambda text: text.split(","), default=list(LEVELS), help="of O0, O1, O3"
    )
    parser.add_argument("--seeds", type=int, default=0, help="of random order, for each kernel")
    parser.add_argument("--workers", type=int, default=1, help="processes, each of which takes a build")
    parser.add_argument("--pack", action="store_true", help="write the part that needs no compiler")
    parser.add_argument("--out", type=Path, help=f"where to keep the record, by default {RESULT.name}")
    given = parser.parse_args()
    if given.out is None and not given.sources and given.targets == list(TARGETS):
        given.out = RESULT
    return given


if __name__ == "__main__":
    sys.exit(main())
