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

    python tools/measure_predictions.py --list bench/strangers6.toml --folder FOLDER --untimed
    python tools/measure_predictions.py --list bench/strangers6.toml --folder FOLDER --complete

`--untimed` predicts all that a list has before anybody timed it, and writes predictions.NAME.blind.json
without errors, launch by launch; a launch that can't be made or predicted is in it with the reason. Once
there are times, `--complete` holds that record's predictions against them, and predicts none anew.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
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
        "sm__inst_executed_pipe_adu",
    ),
}
"""What may bound a launch, and the profiler's counters of it."""
BUSY = 0.6
MOST_SECONDS = 240
"""What a launch of a list that nobody timed may take, so that one does not hold up all others."""
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
        trials: seconds and clocks; none where nobody timed it.
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
    if bound.startswith("waits") or bound in ("launch", "CTA dispatch", "atomics on the same words"):
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


def untimed(listing: Listing) -> Iterator[Timed]:
    """All launches of a list, timed or not."""
    for one in listing.launches():
        file, options = str(listing.folder / one["file"]), one["arguments"]
        yield Timed(file, " ".join(options), options, [], one.get("group", ""))


def predicted(one: Timed) -> dict[str, Any]:
    """What the command predicts of a launch, and cycles of a naive roofline; where it can't be, why not."""
    begun = time.process_time()
    command = ["predict", one.file, *one.options, "--on", KEY, "--json", *(["--warm"] if one.warm else [])]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = ptxkit(command)
    if code:
        why = next(iter(json.loads(out.getvalue()).get("diagnostics", ())), {"message": f"exit code {code}"})
        return {"file": Path(one.file).name, "name": one.name, "why": f"{why.get('code')}: {why['message']}"}
    launches = json.loads(out.getvalue())["predictions"][0]["launches"]
    cycles, seconds = (sum(each[name] for each in launches) for name in ("cycles", "seconds"))
    least = roofline(one.cost) if one.cost is not None else rough_roofline(one.options, launches)
    return {
        "file": Path(one.file).name,
        "name": one.name,
        "group": one.group,
        "predicted": round(cycles),
        "predicted_microseconds": round(seconds * 1e6, 2),
        "roofline": round(least),
        "bound": max(launches, key=lambda each: each["cycles"])["bound"],
        "machine_code": launches[0]["machine_code"],
        "processor_seconds": round(time.process_time() - begun, 1),
    }


FEWEST = 10
"""Launches of a kind that predictions quote, at least."""


class TooLong(BaseException):
    """A launch took too long: no error, so that nothing on the way makes another one of it."""


def predicted_in_time(one: Timed) -> dict[str, Any]:
    """The same of a launch that nobody timed, of whose file nothing but the list is known."""
    failed = {"file": Path(one.file).name, "name": one.name}
    if not Path(one.file).exists():
        return {**failed, "why": "its file could not be made"}

    def stop(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(MOST_SECONDS)
    try:
        return predicted(one)
    except TooLong:
        return {**failed, "why": f"not predicted within {MOST_SECONDS} s"}
    except Exception as problem:  # noqa: BLE001 - it is the reason, whatever it is
        return {**failed, "why": f"{type(problem).__name__}: {problem}"}
    finally:
        signal.alarm(0)


def held_against(found: dict[str, Any], one: Timed) -> dict[str, Any]:
    """A launch that was predicted beside what was measured."""
    real, took = one.cycles, statistics.median(each["median"] for each in one.trials)
    cycles, microseconds = found["predicted"], found["predicted_microseconds"]
    return {
        **{name: found[name] for name in ("file", "name", "group")},
        "measured": round(real),
        "predicted": cycles,
        "error": round(cycles / real - 1, 4),
        "measured_microseconds": round(took * 1e6, 2),
        "predicted_microseconds": microseconds,
        "time_error": round(microseconds / (took * 1e6) - 1, 4),
        "roofline_error": round(found["roofline"] / real - 1, 4),
        "bound": found["bound"],
        "profiled_bound": profiled_bound(one.profile) if one.profile else None,
        **{name: found[name] for name in ("machine_code", "processor_seconds")},
    }


def row(one: Timed) -> dict[str, Any]:
    """A launch that was timed, predicted; where it can't be, why not."""
    found = predicted(one)
    return found if "why" in found else held_against(found, one)


def completed(before: dict[str, Any], launches: Iterable[Timed]) -> dict[str, Any]:
    """A record of predictions that were made before anybody timed the launches, held against the times.

    Raises:
        SystemExit: it has errors already, or lacks a launch that was timed.
    """
    known = {(one["file"], one["name"]): one for one in (*before["rows"], *before["failed"])}
    if not before.get("untimed"):
        raise SystemExit("the record holds errors already")
    rows = []
    for one in launches:
        found = known.get((Path(one.file).name, one.name))
        if found is None:
            raise SystemExit(f"{one.file} {one.name}: timed, but neither predicted nor given up")
        if "why" not in found:
            rows.append(held_against(found, one))
    kept = {name: value for name, value in before.items() if name != "untimed"}
    return {**kept, "rows": rows, "summary": summary(rows)}


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


def same_model(commit: str) -> bool:
    """Whether the package is what it was in a commit: whatever else changed since predicts nothing."""
    command = ["git", "-C", str(ROOT), "diff", "--quiet", commit, "--", "ptxkit"]
    return subprocess.run(command, capture_output=True).returncode == 0


def predict_untimed(listing: Listing, jobs: int) -> None:
    """Predict all of a list that the record lacks; it is written after each launch."""
    path = RECORDS / f"predictions{listing.name}.blind.json"
    record: dict[str, Any] = {"kind": "predictions", "gpu": KEY, **provenance(), "untimed": True}
    if path.exists():
        old = json.loads(path.read_text())
        if not old.get("untimed"):
            raise SystemExit(f"{path} holds errors already")
        if old["modified"] or record["modified"] or not same_model(old["commit"]):
            raise SystemExit(f"{path} is of another model: delete it to begin anew")
        record = old
    rows, failed = record.setdefault("rows", []), record.setdefault("failed", [])
    known = {(one["file"], one["name"]) for one in (*rows, *failed)}
    wanted = [one for one in untimed(listing) if (Path(one.file).name, one.name) not in known]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as processes:
        for found in processes.map(predicted_in_time, wanted):
            (failed if "why" in found else rows).append(found)
            path.write_text(json.dumps(record, indent=1) + "\n")
            print(len(rows), len(failed), found.get("processor_seconds"), flush=True)


def main() -> None:
    """Predict, print, and of all write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("only", nargs="*", help="parts of files' names")
    add_listing(parser)
    parser.add_argument("--blind", action="store_true", help="the model has not seen these times")
    parser.add_argument("--jobs", type=int, default=1, help="launches that are predicted side by side")
    parser.add_argument("--more", action="store_true", help="those that the record lacks, of the same model")
    parser.add_argument("--untimed", action="store_true", help="predict what nobody has timed")
    parser.add_argument("--complete", action="store_true", help="hold what `--untimed` wrote against times")
    given = parser.parse_args()
    only: list[str] = given.only
    listing = Listing(given.list, given.folder)
    if given.untimed:
        predict_untimed(listing, given.jobs)
        return
    of_launch = profiled(listing)
    if given.complete:
        path = RECORDS / f"predictions{listing.name}.blind.json"
        record = completed(json.loads(path.read_text()), timed(listing, of_launch))
        said(record["rows"])
        written(record, path, blind=True)
        return
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
    line = "{file} {name}: {predicted} of {measured}, {error:+.1%}, of time {time_error:+.1%}, {bound}"
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as processes:
        for found in processes.map(row, wanted):
            if "why" in found:
                failed.append(found)
                print("{file} {name}: not predicted: {why}".format(**found), flush=True)
            else:
                rows.append(found)
                print(line.format(**found), flush=True)
    said(rows)
    if only:
        return
    record = {
        "kind": "predictions",
        "gpu": KEY,
        **provenance(),
        "rows": rows,
        "failed": failed,
        "summary": summary(rows),
    }
    written(record, RECORDS / name, blind=given.blind)


def said(rows: list[dict[str, Any]]) -> None:
    """Print how far off all are together."""
    errors = sorted(abs(one["error"]) for one in rows)
    ninth = errors[int(0.9 * (len(errors) - 1) + 0.5)]
    print(f"{len(errors)} launches: median {statistics.median(errors):.1%}, 90 % below {ninth:.1%}")
    print("{} of {} pairs of variants in the right order".format(*ordered(rows)))
    bounds = [one for one in rows if one["profiled_bound"]]
    same = sum(kind_of_bound(one["bound"]) == one["profiled_bound"] for one in bounds)
    print(f"{same} of {len(bounds)} bounds as the profiler has them")


def written(record: dict[str, Any], path: Path, *, blind: bool) -> None:
    """Write a record; of a blind one, what predictions quote, too."""
    path.write_text(json.dumps(record, indent=1) + "\n")
    if blind:
        quotes = ROOT / "ptxkit" / "emulator" / "timing" / "validation.toml"
        quotes.write_text(quoted(summary(enough(record["rows"], path))))


def enough(rows: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """The rows of a blind record, and where it has few launches of a kind those of older ones, too."""
    older = sorted(
        RECORDS.glob("predictions.strangers*.blind.json"), key=lambda one: (len(one.name), one.name)
    )
    found = [*rows]
    for before in reversed(older[: older.index(path)] if path in older else []):
        counts = Counter(kind_of(one["bound"]) for one in found)
        more = json.loads(before.read_text())["rows"]
        found += [one for one in more if counts[kind_of(one["bound"])] < FEWEST]
    return found


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
