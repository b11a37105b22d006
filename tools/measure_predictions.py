"""How far predictions are off: launches that were timed on a GPU, predicted without it.

    python tools/measure_predictions.py time      # on an H200: every launch of bench/predictions.toml, timed
    python tools/measure_predictions.py           # predicts that, and bench/results/*.bench.h200.json
    python tools/measure_predictions.py gemv scan # those of some files, printed alone

What was measured are cycles: of each trial the median time at the clock of its samples, of these the median.
Beside each error of a bench record stands that of a naive roofline: the problem's bytes and operations at the
peaks of the data sheet. Of variants of a group that differ by over a tenth, the order is judged. Of all, it
writes bench/results/predictions.json and `ptxkit/emulator/timing/validation.toml`, which predictions quote.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit.__main__ import main as ptxkit
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.validation import kind_of
from ptxkit.machine.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
KEY = "h200"
RECORDS = ROOT / "bench" / "results"
LIST = ROOT / "bench" / "predictions.toml"
TIMES = RECORDS / f"times.{KEY}.json"
APART = 0.1
"""Variants that differ by less have no order."""
PEAK_BANDWIDTH = 4.8e12
"""Bytes a second of an H200's data sheet."""
WIDTHS = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "tf32": 4, "e2m1": 0.5}


def roofline(cost: dict[str, Any]) -> float:
    """Cycles of a problem's bytes, or of its operations, at the peaks."""
    where = gpu(KEY)
    moved = (cost["bytes_read"] + cost["bytes_written"]) / PEAK_BANDWIDTH * where["clock"]
    width = WIDTHS.get(cost["arithmetic"] or "")
    if width is None:
        return moved
    return max(moved, cost["operations"] * width / where["product_flops"] / where["sm_count"])


@dataclass(frozen=True, slots=True)
class Timed:
    """A launch that was timed.

    Attributes:
        file: its file.
        name: what tells it from others of the file.
        options: as `ptxkit predict` takes them.
        trials: seconds and clocks.
        group: of variants.
        cost: of the problem; None where nobody knows.
        warm: whether the L2 cache was left as it was.
    """

    file: str
    name: str
    options: list[str]
    trials: list[dict[str, float]]
    group: str = ""
    cost: dict[str, Any] | None = None
    warm: bool = False


def recorded() -> Iterator[Timed]:
    """The verified states of the bench records, and the launches of the list that were timed."""
    for path in sorted(RECORDS.glob(f"*.bench.{KEY}.json")):
        record = json.loads(path.read_text())
        for state in record["states"]:
            if state.get("timing") and state["ok"]:
                options = ["--preset", state["preset"]]
                options += ["--inputs", state["inputs"]] if state["workload"] else []
                trials, warm = state["timing"]["trials"], record["settings"]["flush"] == "none"
                name = Path(state["file"]).name
                yield Timed(name, state["preset"], options, trials, cost=state["cost"], warm=warm)
    if TIMES.exists():
        for one in json.loads(TIMES.read_text())["launches"]:
            yield Timed(
                one["file"], " ".join(one["arguments"]), one["arguments"], one["trials"], one["group"]
            )


def row(one: Timed) -> dict[str, Any]:
    """A launch, predicted by the command."""
    begun = time.process_time()
    command = ["predict", one.file, *one.options, "--on", KEY, "--json", *(["--warm"] if one.warm else [])]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = ptxkit(command)
    if code:
        raise SystemExit(f"{' '.join(command)}: exit code {code}")
    launches = json.loads(out.getvalue())["predictions"][0]["launches"]
    cycles, seconds = (sum(each[name] for each in launches) for name in ("cycles", "seconds"))
    real = statistics.median(each["median"] * each["sm_clock"] for each in one.trials)
    took = statistics.median(each["median"] for each in one.trials)
    return {
        "file": Path(one.file).name,
        "name": one.name,
        "group": one.group,
        "measured": round(real),
        "predicted": round(cycles),
        "error": round(cycles / real - 1, 4),
        "measured_microseconds": round(took * 1e6, 2),
        "predicted_microseconds": round(seconds * 1e6, 2),
        "time_error": round(seconds / took - 1, 4),
        "roofline_error": None if one.cost is None else round(roofline(one.cost) / real - 1, 4),
        "bound": max(launches, key=lambda each: each["cycles"])["bound"],
        "processor_seconds": round(time.process_time() - begun, 1),
    }


def ordered(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Of pairs of variants that differ by over a tenth, how many are predicted in the right order; all."""
    right = total = 0
    for one, other in combinations(rows, 2):
        same = one["group"] and one["group"] == other["group"]
        if same and abs(one["measured"] / other["measured"] - 1) > APART:
            total += 1
            right += (one["measured"] < other["measured"]) == (one["predicted"] < other["predicted"])
    return right, total


def time_all() -> None:
    """Time every launch of the list on the GPU that is here."""
    launches = []
    for one in tomllib.loads(LIST.read_text())["launch"]:
        command = [
            sys.executable,
            "-m",
            "ptxkit",
            "bench",
            one["file"],
            *one["arguments"],
            "--device",
            "cuda",
        ]
        done = subprocess.run(
            [*command, "--flush", "read", "--json"], capture_output=True, text=True, cwd=ROOT
        )
        try:
            (state,) = json.loads(done.stdout)["states"]
            timing = state["timing"]["trials"]
            trials = [{name: each[name] for name in ("median", "sm_clock")} for each in timing]
        except (ValueError, KeyError, TypeError):
            print(f"{one['file']}: {(done.stderr or done.stdout)[-300:]}", flush=True)
            continue
        launches.append({**one, "group": one.get("group", ""), "trials": trials})
        print(one["file"], *one["arguments"], f"{trials[0]['median'] * 1e6:.2f} us", flush=True)
    TIMES.write_text(json.dumps({"kind": "times", **provenance(), "launches": launches}, indent=1) + "\n")


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


def main() -> None:
    """Predict, print, and of all write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("only", nargs="*", help="parts of files' names, or `time`")
    only: list[str] = parser.parse_args().only
    if only == ["time"]:
        time_all()
        return
    rows = []
    for one in recorded():
        if not only or any(part in one.file for part in only):
            rows.append(row(one))
            said = (
                "{file} {name}: {predicted} of {measured}, {error:+.1%}, of time {time_error:+.1%}, {bound}"
            )
            print(said.format(**rows[-1]), flush=True)
    errors = sorted(abs(one["error"]) for one in rows)
    ninth = errors[int(0.9 * (len(errors) - 1) + 0.5)]
    print(f"{len(errors)} launches: median {statistics.median(errors):.1%}, 90 % below {ninth:.1%}")
    print("{} of {} pairs of variants in the right order".format(*ordered(rows)))
    if only:
        return
    found = summary(rows)
    record = {"kind": "predictions", "gpu": KEY, **provenance(), "rows": rows, "summary": found}
    (RECORDS / "predictions.json").write_text(json.dumps(record, indent=1) + "\n")
    lines = ["# Written by tools/measure_predictions.py: how far predictions were off."]
    for kind, each in found.items():
        lines += ["", f"[{KEY}.{kind}]", *(f"{name} = {value}" for name, value in each.items())]
    (ROOT / "ptxkit" / "emulator" / "timing" / "validation.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
