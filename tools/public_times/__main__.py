"""Predict kernels of others whose times on a GPU are public.

    python -m tools.public_times b200 --ptx FOLDER --check          # does each launch do what it should?
    python -m tools.public_times b200 --ptx FOLDER                  # predict all; writes the record
    python -m tools.public_times b200 --ptx FOLDER --only pyptx     # some; the record keeps the others

FOLDER has the PTX that a list names: what a compiler made of the sources, at their commits. None of it is
ours, so none is here. Writes bench/results/predictions.b200.json, or .h100.json: of each launch the public
time, the predicted one, how far it is off, and what bounds it; of the sources from where they are.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.timing.gpu import Gpu, gpu
from ptxkit.machine.provenance import provenance
from tools.public_times.launch import check, predict
from tools.public_times.listed import Kernel, Timed, kernels, timed

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "bench" / "results"
FAR_OFF = 0.02
"""A part of a result's largest element by which none of its elements may be off."""
MOST_BUSY = 4
"""So many resources stand in a row of the record."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gpu", choices=("b200", "h100"))
    parser.add_argument("--ptx", type=Path, required=True, help="the folder with the PTX")
    parser.add_argument("--check", action="store_true", help="run each at a small size instead")
    parser.add_argument("--only", default="", metavar="REGEX", help="of all launches those it is found in")
    given = parser.parse_args()
    where, listed = gpu(given.gpu), kernels(HERE / f"{given.gpu}.toml")
    wanted = re.compile(given.only)
    if given.check:
        return _checked(
            [one for one in listed if wanted.search(f"{one.source.name} {one.name}")], where, given.ptx
        )
    launches = [launch for kernel in listed for launch in timed(kernel)]
    path = RESULTS / f"predictions.{where.key}.json"
    kept = _rows(path) if given.only else {}
    for launch in launches:
        if wanted.search(launch.name):
            kept[launch.name] = _row(launch, where, given.ptx)
            _write(path, launches, kept, where)
    return 0


def _checked(listed: list[Kernel], where: Gpu, folder: Path) -> int:
    """Whether each kernel's result at its small size is right, and what the sanitizer says of it."""
    failed = 0
    for kernel in listed:
        name = f"{kernel.source.name} {kernel.name}"
        if kernel.check is None:
            print(f"{name}: no small size")
            continue
        for sanitize in (True, False):
            try:
                off = check(kernel, where, folder, sanitize)
            except PtxkitError as problem:
                print(f"{name}: {str(problem).splitlines()[0]}", flush=True)
                continue
            right = bool(off) and max(off.values()) < FAR_OFF
            failed += not right
            print(f"{name}: {'right' if right else 'wrong'}, off by at most {off}", flush=True)
            break
    return bool(failed)


def _rows(path: Path) -> dict[str, Any]:
    """The rows of a record, by the launch."""
    return (
        {row["launch"]: row for row in json.loads(path.read_text("utf-8"))["rows"]} if path.exists() else {}
    )


def _row(launch: Timed, where: Gpu, folder: Path) -> dict[str, Any]:
    """A launch predicted."""
    began, source = time.process_time(), launch.kernel.source
    ptx = folder / launch.kernel.ptx.format(**launch.sizes)
    row: dict[str, Any] = {
        "launch": launch.name,
        "source": source.name,
        "kernel": launch.kernel.name,
        "sizes": dict(launch.sizes),
        "known_beforehand": source.known is not None,
        launch.unit: launch.stated,
        "measured_microseconds": round(launch.microseconds, 2),
        "ptx_sha256": hashlib.sha256(ptx.read_bytes()).hexdigest(),
        "commit": provenance()["commit"],
    }
    found = predict(launch, where, folder)
    took = found.seconds * 1e6
    row |= {
        "predicted_microseconds": round(took, 2),
        "error": round(took / launch.microseconds - 1, 4),
        "bound": found.bound,
        "clock": round(found.clock),
        "busy": {name: round(share, 2) for name, share in list(found.busy.items())[:MOST_BUSY]},
        "waits": {
            f"{wait.what} {wait.instruction or ''}".strip(): round(wait.share, 2)
            for wait in found.waits[:MOST_BUSY]
        },
        "code": found.code,
    }
    public, spent = launch.microseconds, time.process_time() - began
    print(
        f"{launch.name}: {took:,.1f} us, public {public:,.1f} us, {row['error']:+.1%}, {found.bound}"
        f"  ({spent:.0f} s)",
        flush=True,
    )
    return row


def _write(path: Path, launches: list[Timed], kept: dict[str, Any], where: Gpu) -> None:
    """The record of those that are predicted; it names the others."""
    sources = {one.kernel.source.name: one.kernel.source for one in launches}
    rows = [kept[one.name] for one in launches if one.name in kept]
    document = {
        "kind": "predictions",
        "gpu": where.key,
        **provenance(),
        "sources": [
            {key: value for key, value in dataclasses.asdict(one).items() if key != "tensors"}
            for one in sources.values()
        ],
        **{
            name: _summed([row for row in rows if row["known_beforehand"] is known])
            for name, known in (("fresh", False), ("known_beforehand", True))
        },
        "not_predicted": [one.name for one in launches if one.name not in kept],
        "rows": rows,
    }
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How far off some rows are."""
    errors = [abs(row["error"]) for row in rows]
    if not errors:
        return {"launches": 0}
    return {"launches": len(errors), "median": statistics.median(errors), "largest": max(errors)}


if __name__ == "__main__":
    sys.exit(main())
