"""How far predictions are off: launches that were timed on a GPU, predicted without it.

    python tools/time_launches.py time            # on an H200, and `profile`: bench/predictions.toml
    python tools/measure_predictions.py           # predicts these, and bench/results/*.bench.h200.json
    python tools/measure_predictions.py gemv scan # those of some files, printed alone
    python tools/measure_predictions.py --list bench/strangers.toml --folder FOLDER

What was measured are cycles: of each trial the median time at the clock of its samples, of these the median.
Where tensor cores take down the clock within a launch, it can't be read so: there the cycles are those that
Nsight Compute counts, and the time that events add. What it says bounds a launch stands beside what the
prediction says. Beside each error stands that of a naive roofline: the bytes of its arrays at the peak of the
data sheet, or the operations at theirs: the problem's, of a bench record, else those that the emulator
counts. Of variants of a group that differ by over a tenth, the order is
judged. Of all, it writes bench/results/predictions.json. Of another list, `--list`, the files of which lie in
FOLDER, it predicts the launches that were timed, and writes predictions.NAME.json; with `--blind`, of a model
that has not seen these times, predictions.NAME.blind.json and `ptxkit/emulator/timing/validation.toml`, which
predictions quote.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit.__main__ import main as ptxkit
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.validation import kind_of
from ptxkit.machine.provenance import provenance
from tools.time_launches import KEY, RECORDS, ROOT, Listing, add_listing

APART = 0.1
"""Variants that differ by less have no order."""
PEAK_BANDWIDTH = 4.8e12
"""Bytes a second of an H200's data sheet."""
OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"
TENSOR, INSTRUCTIONS = f"sm__pipe_tensor_cycles_active{OF_PEAK}", f"sm__inst_executed{OF_PEAK}"
SOME_TENSOR = 5
"""Percent of the time that tensor cores are busy from which on they may take down the clock."""
EVENTS = 1.25e-6
"""Seconds by which times between events exceed Nsight Compute's, the median over the launches of the list."""
BOUNDS = {
    "tensor": ("sm__pipe_tensor_cycles_active",),
    "DRAM": ("dram__cycles_active",),
    "L2": (
        "lts__t_sectors",
        "lts__t_tag_requests",
        "lts__lts2xbar_cycles_active",
        "lts__xbar2lts_cycles_active",
        "lts__d_sectors",
    ),
    "shared memory and L1": ("l1tex__data_pipe_lsu_wavefronts", "l1tex__lsuin_requests"),
    "issue": ("sm__inst_executed",),
    "pipes": (
        "sm__pipe_alu_cycles_active",
        "sm__pipe_fma_cycles_active",
        "sm__pipe_fmaheavy_cycles_active",
        "sm__pipe_fp64_cycles_active",
        "sm__inst_executed_pipe_xu",
    ),
}
"""What may bound a launch, and the profiler's counters of it."""
BUSY = 0.6
ARRAY = re.compile(r"\w+=(bf|[a-z]+)(\d+)\[(\d+)\]")
"""An array as `--arg` gives it: its type, bits and elements."""
WIDTHS = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "tf32": 4, "e2m1": 0.5}


def roofline(cost: dict[str, Any]) -> float:
    """Cycles of a problem's bytes, or of its operations, at the peaks."""
    where = gpu(KEY)
    moved = (cost["bytes_read"] + cost["bytes_written"]) / PEAK_BANDWIDTH * where["clock"]
    width = WIDTHS.get(cost["arithmetic"] or "")
    if width is None:
        return moved
    return max(moved, cost["operations"] * width / where["product_flops"] / where["sm_count"])


def rough_roofline(arguments: list[str], launches: list[dict[str, Any]]) -> float:
    """Cycles of the bytes of all arrays that a launch is given, or of the operations that were counted."""
    arrays = [ARRAY.match(one) for one in arguments]
    moved = sum(int(one[2]) * int(one[3]) / 8 for one in arrays if one)
    products = ("fma", "fp64", "tensor cores", "tensor")
    done = sum(max(one["busy"].get(name, 0.0) for name in products) * one["cycles"] for one in launches)
    return max(moved / PEAK_BANDWIDTH * gpu(KEY)["clock"], done)


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
        profile: what the profiler counted of each kernel; None where it was not asked.
    """

    file: str
    name: str
    options: list[str]
    trials: list[dict[str, float]]
    group: str = ""
    cost: dict[str, Any] | None = None
    warm: bool = False
    profile: list[dict[str, Any]] | None = None

    @property
    def cycles(self) -> float:
        """What was measured."""
        if self.profile and max(one[TENSOR] for one in self.profile) > SOME_TENSOR:
            counted = sum(cycles_counted(one) for one in self.profile)
            seconds = sum(one["gpu__time_duration.sum"] for one in self.profile) / 1e9
            return counted * (1 + EVENTS / seconds)
        return statistics.median(each["median"] * each["sm_clock"] for each in self.trials)


def cycles_counted(profile: dict[str, Any]) -> float:
    """The cycles of a kernel: of its instructions by the part of the issue slots that they took."""
    slots = gpu(KEY)["sm_count"] * gpu(KEY)["schedulers"]
    return profile["sm__inst_executed.sum"] / slots / profile[INSTRUCTIONS] * 100


def profiled_bound(profiles: list[dict[str, Any]]) -> str:
    """What bounds the longest kernel of a launch, by the profiler: the resource that is busiest, if it is for
    over `BUSY` of the time, else latency."""
    longest = max(profiles, key=lambda one: one["gpu__time_duration.sum"])
    busy = {
        name: max((longest.get(f"{metric}{OF_PEAK}", 0.0) for metric in metrics), default=0.0)
        for name, metrics in BOUNDS.items()
    }
    most = max(busy, key=lambda name: busy[name])
    return most if busy[most] >= 100 * BUSY else "latency"


def kind_of_bound(bound: str) -> str:
    """The same of a prediction."""
    if bound.startswith("waits") or bound in ("launch", "CTA dispatch"):
        return "latency"
    return {"tensor cores": "tensor", "issue slots": "issue"}.get(
        bound, bound if bound in BOUNDS else "pipes"
    )


Profiles = dict[tuple[str, ...], list[dict[str, Any]] | None]
"""What the profiler counted, by a file's name and its arguments."""


def profiled(listing: Listing) -> Profiles:
    """The profiles of a list's launches."""
    record = listing.record("profiles")
    profiles = json.loads(record.read_text())["launches"] if record.exists() else {}
    return {
        (Path(one["file"]).name, *one["arguments"]): profiles.get(str(number))
        for number, one in enumerate(listing.launches())
    }


def benched(of_launch: Profiles) -> Iterator[Timed]:
    """The verified states of the bench records."""
    for path in sorted(RECORDS.glob(f"*.bench.{KEY}.json")):
        record = json.loads(path.read_text())
        for state in record["states"]:
            if state.get("timing") and state["ok"]:
                options = ["--preset", state["preset"]]
                name = Path(state["file"]).name
                profile = of_launch.get((name, *options))
                options += ["--inputs", state["inputs"]] if state["workload"] else []
                trials, warm = state["timing"]["trials"], record["settings"]["flush"] == "none"
                yield Timed(
                    name, state["preset"], options, trials, cost=state["cost"], warm=warm, profile=profile
                )


def timed(listing: Listing, of_launch: Profiles) -> Iterator[Timed]:
    """The launches of a list that were timed."""
    record = listing.record("times")
    for one in json.loads(record.read_text())["launches"] if record.exists() else ():
        name, options = " ".join(one["arguments"]), one["arguments"]
        profile = of_launch.get((Path(one["file"]).name, *options))
        file = str(listing.folder / one["file"])
        yield Timed(file, name, options, one["trials"], one["group"], profile=profile)


def row(one: Timed) -> dict[str, Any]:
    """A launch, predicted by the command; where it can't be, why not."""
    begun = time.process_time()
    command = ["predict", one.file, *one.options, "--on", KEY, "--json", *(["--warm"] if one.warm else [])]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = ptxkit(command)
    if code:
        why = next(iter(json.loads(out.getvalue()).get("diagnostics", ())), {"message": f"exit code {code}"})
        return {"file": Path(one.file).name, "name": one.name, "why": f"{why.get('code')}: {why['message']}"}
    launches = json.loads(out.getvalue())["predictions"][0]["launches"]
    cycles, seconds = (sum(each[name] for each in launches) for name in ("cycles", "seconds"))
    real = one.cycles
    took = statistics.median(each["median"] for each in one.trials)
    least = roofline(one.cost) if one.cost is not None else rough_roofline(one.options, launches)
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
        "roofline_error": round(least / real - 1, 4),
        "bound": max(launches, key=lambda each: each["cycles"])["bound"],
        "profiled_bound": profiled_bound(one.profile) if one.profile else None,
        "machine_code": launches[0]["machine_code"],
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
    parser.add_argument("only", nargs="*", help="parts of files' names")
    add_listing(parser)
    parser.add_argument("--blind", action="store_true", help="the model has not seen these times")
    parser.add_argument("--jobs", type=int, default=1, help="launches that are predicted side by side")
    parser.add_argument("--more", action="store_true", help="those that the record lacks, of the same model")
    given = parser.parse_args()
    only: list[str] = given.only
    listing = Listing(given.list, given.folder)
    of_launch = profiled(listing)
    wanted = [
        one
        for one in (*(() if listing.name else benched(of_launch)), *timed(listing, of_launch))
        if not only or any(part in Path(one.file).name for part in only)
    ]
    name = f"predictions{listing.name}{'.blind' if given.blind else ''}.json"
    before = json.loads((RECORDS / name).read_text()) if given.more else {"rows": [], "failed": []}
    rows, failed = before["rows"], before["failed"]
    known = {(one["file"], one["name"]) for one in (*rows, *failed)}
    wanted = [one for one in wanted if (Path(one.file).name, one.name) not in known]
    said = "{file} {name}: {predicted} of {measured}, {error:+.1%}, of time {time_error:+.1%}, {bound}"
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as processes:
        for found in processes.map(row, wanted):
            if "why" in found:
                failed.append(found)
                print("{file} {name}: not predicted: {why}".format(**found), flush=True)
            else:
                rows.append(found)
                print(said.format(**found), flush=True)
    errors = sorted(abs(one["error"]) for one in rows)
    ninth = errors[int(0.9 * (len(errors) - 1) + 0.5)]
    print(f"{len(errors)} launches: median {statistics.median(errors):.1%}, 90 % below {ninth:.1%}")
    print("{} of {} pairs of variants in the right order".format(*ordered(rows)))
    bounds = [one for one in rows if one["profiled_bound"]]
    same = sum(kind_of_bound(one["bound"]) == one["profiled_bound"] for one in bounds)
    print(f"{same} of {len(bounds)} bounds as the profiler has them")
    if only:
        return
    kinds = summary(rows)
    record = {
        "kind": "predictions",
        "gpu": KEY,
        **provenance(),
        "rows": rows,
        "failed": failed,
        "summary": kinds,
    }
    (RECORDS / name).write_text(json.dumps(record, indent=1) + "\n")
    if given.blind:
        (ROOT / "ptxkit" / "emulator" / "timing" / "validation.toml").write_text(quoted(kinds))


def quoted(found: dict[str, dict[str, Any]]) -> str:
    """What predictions quote, as TOML."""
    lines = [
        "# Written by tools/measure_predictions.py: how far predictions were off that were made blindly."
    ]
    for kind, each in found.items():
        lines += ["", f"[{KEY}.{kind}]", *(f"{name} = {value}" for name, value in each.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
