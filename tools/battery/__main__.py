"""Compile the battery, execute it, compare, and keep what came out.

    python -m tools.battery                              # everything; writes bench/results/battery.json
    python -m tools.battery int128 groups --targets 75,90a --levels O3
    python -m tools.battery --seeds 20                   # and 20 seeds of random order for each kernel
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

import ptxkit
from ptxkit.machine.provenance import provenance

from .build import LEVELS, TARGETS, CompilerError, compiler, expected, ptx, references
from .execute import Outcome, Verdict, inputs_of, judge, launch
from .pack import pack
from .source import Kernel, Source, sources

RESULT = Path(__file__).resolve().parents[2] / "bench" / "results" / "battery.json"


def main() -> int:
    given = _arguments()
    chosen = sources(tuple(given.sources))
    if given.pack:
        pack(chosen)
        return 0
    started, wrong, entries = time.monotonic(), 0, []
    for source in chosen:
        entry = examine(source, given.targets, given.levels, given.seeds)
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


def examine(source: Source, targets: list[str], levels: list[str], seeds: int) -> dict[str, Any]:
    """Every build of a source, every kernel of each.

    Returns:
        The source's part of the record.
    """
    builds = [(target, level) for level in levels for target in targets if number(target) >= source.since]
    lazy: Counter[str] = Counter()
    random: Counter[str] = Counter()
    worst: dict[str, float] = {}
    wrong: list[dict[str, str]] = []
    library = references(source)
    wanted = {
        kernel.name: [] if kernel.refused else expected(library, kernel, inputs_of(source, kernel))
        for kernel in source.kernels.values()
    }
    for at, (target, level) in enumerate(builds):
        build = f"sm_{target} {level}"
        try:
            module = ptxkit.parse(ptx(source, target, level))
        except CompilerError as refused:
            wrong.append(_wrong(build, "", "", "nvcc", str(refused)))
            continue
        for kernel in source.kernels.values():
            if not kernel.since <= number(target) <= kernel.until:
                continue
            found = judge(launch(module, source, kernel), source, kernel, wanted[kernel.name])
            lazy[found.verdict.value] += 1
            worst[kernel.name] = max(worst.get(kernel.name, 0.0), found.worst)
            if found.verdict is not Verdict.RIGHT:
                wrong.append(_wrong(build, kernel.name, "lazy", found.verdict.value, found.detail))
            for seed in range(1 + at, seeds + 1, len(builds)):
                other = in_random_order(module, source, kernel, seed, wanted[kernel.name], found)
                random[other.verdict.value] += 1
                if other.verdict is not Verdict.RIGHT:
                    order = f"random {seed}"
                    wrong.append(_wrong(build, kernel.name, order, other.verdict.value, other.detail))
    errors = {name: error for name, error in worst.items() if source.kernels[name].ulp is not None}
    return {
        "source": source.name,
        "about": source.about,
        "kernels": len(source.kernels),
        "builds": len(builds),
        "lazy order": dict(lazy),
        "random order": dict(random),
        "largest error in ulp": errors,
        "wrong": wrong,
    }


def in_random_order(
    module: Any, source: Source, kernel: Kernel, seed: int, wanted: list[Any], lazily: Outcome
) -> Outcome:
    """A launch in random order: right, and the same as the one in lazy order."""
    found = judge(launch(module, source, kernel, "random", seed), source, kernel, wanted)
    if found.verdict is Verdict.RIGHT and found.outputs is not None and lazily.outputs is not None:
        pairs = zip(found.outputs, lazily.outputs, strict=True)
        if any(one.tobytes() != other.tobytes() for one, other in pairs):
            return Outcome(Verdict.WRONG, "other results than in lazy order", found.worst, found.outputs)
    return found


def number(target: str) -> int:
    """75 of `75`, 90 of `90a`."""
    return int(target.rstrip("af"))


def _wrong(build: str, kernel: str, order: str, verdict: str, detail: str) -> dict[str, str]:
    return {"build": build, "kernel": kernel, "order": order, "verdict": verdict, "detail": detail[:800]}


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
    parser.add_argument("--pack", action="store_true", help="write the part that needs no compiler")
    parser.add_argument("--out", type=Path, help=f"where to keep the record, by default {RESULT.name}")
    given = parser.parse_args()
    if given.out is None and not given.sources and given.targets == list(TARGETS):
        given.out = RESULT
    return given


if __name__ == "__main__":
    sys.exit(main())
