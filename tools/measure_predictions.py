"""How far predictions are off: each launch of the bench records of a GPU, beside what was measured.

    python tools/measure_predictions.py                       # bench/results/*.bench.h200.json
    python tools/measure_predictions.py gemv gemm_fp8         # those of some kernels, printed alone

What was measured are cycles: of each trial the median time at the clock of its samples, of these the median.
Beside each error stands that of a naive roofline: the problem's bytes and operations at the peaks of the data
sheet. Of all, it writes bench/results/predictions.json and `ptxkit/timing/validation.toml`, which predictions
quote.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit.cli.launching.plans import subject
from ptxkit.machine.provenance import provenance
from ptxkit.plan import Request, make
from ptxkit.running.predicted import predicted
from ptxkit.running.session import RunOptions
from ptxkit.timing.gpu import gpu
from ptxkit.timing.predict import Predictor
from ptxkit.timing.validation import kind_of

ROOT = Path(__file__).resolve().parents[1]
KEY = "h200"
RECORDS = ROOT / "bench" / "results"
PEAK_BANDWIDTH = 4.8e12
"""Bytes a second of an H200's data sheet."""
WIDTHS = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "tf32": 4, "e2m1": 0.5}


def measured(state: dict[str, Any]) -> float:
    """Cycles of a state's launches."""
    return statistics.median(one["median"] * one["sm_clock"] for one in state["timing"]["trials"])


def roofline(state: dict[str, Any]) -> float:
    """Cycles of the problem's bytes, or of its operations, at the peaks."""
    where, cost = gpu(KEY), state["cost"]
    moved = (cost["bytes_read"] + cost["bytes_written"]) / PEAK_BANDWIDTH * where["clock"]
    width = WIDTHS.get(cost["arithmetic"] or "")
    if width is None:
        return moved
    return max(moved, cost["operations"] * width / where["product_flops"] / where["sm_count"])


def states(only: list[str]) -> list[tuple[str, dict[str, Any], bool]]:
    """The states of the records that were verified: the file, the state, whether L2 was left warm."""
    found = []
    for path in sorted(RECORDS.glob(f"*.bench.{KEY}.json")):
        record = json.loads(path.read_text())
        for state in record["states"]:
            name = Path(state["file"]).name
            if state.get("timing") and state["ok"] and (not only or any(one in name for one in only)):
                found.append((name, state, record["settings"]["flush"] == "none"))
    return found


def row(name: str, state: dict[str, Any], warm: bool) -> dict[str, Any]:
    """A state, predicted."""
    found = subject(name, {"max_size": 1 << 30, "include": (), "define": ()})
    request = Request(preset=state["preset"], inputs=state["inputs"] if state["workload"] else None)
    plan = make(found.program, found.module, found.card, request)
    begun = time.process_time()
    made = predicted(found.module, plan, Predictor(gpu(KEY), warm), RunOptions(device="emu"))
    cycles, real = sum(one.cycles for one in made), measured(state)
    seconds = sum(one.cycles / one.clock for one in made)
    took = statistics.median(one["median"] for one in state["timing"]["trials"])
    return {
        "file": name,
        "preset": state["preset"],
        "measured": round(real),
        "predicted": round(cycles),
        "error": round(cycles / real - 1, 4),
        "measured_microseconds": round(took * 1e6, 2),
        "predicted_microseconds": round(seconds * 1e6, 2),
        "time_error": round(seconds / took - 1, 4),
        "roofline_error": round(roofline(state) / real - 1, 4),
        "bound": max(made, key=lambda one: one.cycles).bound,
        "processor_seconds": round(time.process_time() - begun, 1),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By kind: how many, the median of the errors' sizes, the largest."""
    kinds = defaultdict(list)
    for one in rows:
        kinds[kind_of(one["bound"])].append(abs(one["error"]))
    return {
        kind: {
            "launches": len(errors),
            "median": round(statistics.median(errors), 3),
            "largest": round(max(errors), 3),
        }
        for kind, errors in sorted(kinds.items())
    }


def main(only: list[str]) -> None:
    """Predict, print, and of all write the record."""
    rows = []
    for name, state, warm in states(only):
        rows.append(row(name, state, warm))
        said = "{file} {preset}: {predicted} of {measured}, {error:+.1%}, of time {time_error:+.1%}, {bound}"
        print(said.format(**rows[-1]), flush=True)
    errors = sorted(abs(one["error"]) for one in rows)
    print(f"median {statistics.median(errors):.1%}, largest {errors[-1]:.1%}, {len(errors)} launches")
    if only:
        return
    found = summary(rows)
    record = {"kind": "predictions", "gpu": KEY, **provenance(), "rows": rows, "summary": found}
    (RECORDS / "predictions.json").write_text(json.dumps(record, indent=1) + "\n")
    lines = [
        "# Written by tools/measure_predictions.py: how far predictions were off beside measured cycles."
    ]
    for kind, each in found.items():
        lines += ["", f"[{KEY}.{kind}]", *(f"{name} = {value}" for name, value in each.items())]
    (ROOT / "ptxkit" / "timing" / "validation.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
