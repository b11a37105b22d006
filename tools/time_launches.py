"""Time and profile launches on an H200, those of bench/predictions.toml; `measure_predictions` predicts them.

    python tools/time_launches.py time
    python tools/time_launches.py profile
    python tools/time_launches.py time --list bench/strangers.toml --folder FOLDER

With `--list` and `--folder`, another list, the files of which lie in FOLDER: its records bear its name. Both
keep what their records in bench/results have already: delete these to measure anew. `profile` needs
Nsight Compute, and a driver that lets it read the counters.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import re
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit import open_device
from ptxkit.cli.launching.plans import planned
from ptxkit.cli.predict import command as predict_command
from ptxkit.device.protocol import Device
from ptxkit.driver import Stopwatch
from ptxkit.driver.errors import bindings, check
from ptxkit.machine.provenance import provenance
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.session import RunOptions, Session, as_gpu

ROOT = Path(__file__).resolve().parents[1]
KEY = "h200"
RECORDS = ROOT / "bench" / "results"
LIST = ROOT / "bench" / "predictions.toml"
TRIALS, SECONDS = 5, 0.05
"""How often a launch is timed, and for how long each time."""
SOME = 6
"""Launches under one profiler."""
SECTIONS = ("SpeedOfLight", "WarpStateStats", "LaunchStats", "Occupancy")
METRICS = (
    "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_srcunit_tex.sum",
)
"""What Nsight Compute is asked for beside its sections."""
WANTED = re.compile(
    r"(?!.*(\.min|internal)).*(avg.pct_of_peak_sustained_(elapsed|active)|issue_stalled.*ratio|"
    r"cycles_elapsed\.max|dram__bytes_\w+\.sum|duration\.sum|inst_executed\.sum|sectors_srcunit_tex\.sum|"
    r"registers_per_thread|occupancy_limit\w*)$"
)
"""Which of its figures are kept."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of launches.

    Attributes:
        path: its file.
        folder: what the names of its files are relative to.
    """

    path: Path
    folder: Path

    def launches(self) -> list[dict[str, Any]]:
        """What it lists."""
        return tomllib.loads(self.path.read_text())["launch"]

    @property
    def name(self) -> str:
        """What its records are called by; of the first list, bench/predictions.toml, nothing."""
        return "" if self.path.stem == LIST.stem else f".{self.path.stem}"

    def record(self, kind: str) -> Path:
        """Where its times or profiles are kept."""
        return RECORDS / f"{kind}{self.name}.{KEY}.json"


def add_listing(parser: argparse.ArgumentParser) -> None:
    """The options that say which list."""
    parser.add_argument("--list", type=Path, default=LIST, help="of launches")
    parser.add_argument("--folder", type=Path, default=ROOT, help="what its files are relative to")


def time_all(listing: Listing) -> None:
    """Time every launch of a list on the GPU that is here that the record lacks."""
    record = listing.record("times")
    launches = json.loads(record.read_text())["launches"] if record.exists() else []
    known = [(one["file"], one["arguments"]) for one in launches]
    device = as_gpu(open_device("cuda"))
    stopwatch = Stopwatch(device)
    for one in listing.launches():
        if (one["file"], one["arguments"]) in known:
            continue
        begun = time.perf_counter()
        with placed(one, listing.folder, device) as on_device:
            launch, commands = on_device.prepare(stopwatch), len(on_device.kernels)
            stopwatch.prime(launch)
            trials = [trial(stopwatch, launch, commands) for _ in range(TRIALS)]
        launches.append({**one, "group": one.get("group", ""), "trials": trials})
        took = f"{trials[0]['median'] * 1e6:.2f} us, in {time.perf_counter() - begun:.1f} s"
        print(one["file"], *one["arguments"], took, flush=True)
        document = {"kind": "times", **provenance(), "launches": launches}
        record.write_text(json.dumps(document, indent=1) + "\n")


@contextlib.contextmanager
def placed(one: dict[str, Any], folder: Path, device: Device) -> Iterator[LoadedPlan]:
    """A launch, its inputs in place."""
    given = predict_command.make_context("predict", [one["file"], *one["arguments"]]).params
    found, plan = planned({**given, "file": str(folder / one["file"])})
    with (
        Session(found.module, RunOptions(device="cuda"), device=device) as session,
        LoadedPlan(session.device, session.loaded, plan) as on_device,
    ):
        on_device.fill(Case(plan).inputs)
        yield on_device


def trial(stopwatch: Stopwatch, launch: Callable[[], None], commands: int) -> dict[str, float]:
    """The median of some samples, and the clock meanwhile."""
    first = stopwatch.times(launch, 3, commands)[-1]
    count = max(5, min(50, int(SECONDS / max(first, 20e-6))))
    stopwatch.times(launch, count, commands)
    stopwatch.start_clock()
    times = stopwatch.times(launch, count, commands)
    clock = stopwatch.sm_clock()
    return {"median": statistics.median(times), "sm_clock": clock or 0.0}


def launch_some(listing: Listing, first: int, last: int) -> None:
    """Launch some of a list once each, where a profiler looks on; what it says is not looked at."""
    device = as_gpu(open_device("cuda"))
    driver = bindings()
    for number, one in list(enumerate(listing.launches()))[first:last]:
        with placed(one, listing.folder, device) as on_device:
            on_device.compile()
            device.synchronize()
            check(driver.cuProfilerStart(), "begin to profile")
            on_device.launch()
            device.synchronize()
            check(driver.cuProfilerStop(), "end profiling")
            print(f"\nlaunched {number} {len(on_device.kernels)}", flush=True)


def profile_all(listing: Listing) -> None:
    """What Nsight Compute counts of each kernel of a list that the record lacks."""
    record = listing.record("profiles")
    known = json.loads(record.read_text())["launches"] if record.exists() else {}
    total = len(listing.launches())
    list_and_folder = ["--list", str(listing.path.resolve()), "--folder", str(listing.folder.resolve())]
    for first in range(0, total, SOME):
        if all(str(number) in known for number in range(first, min(first + SOME, total))):
            continue
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off"]
        command += ["--clock-control", "none", "--cache-control", "all", "--metrics", ",".join(METRICS)]
        command += [part for section in SECTIONS for part in ("--section", section)]
        command += [sys.executable, __file__, "launch", str(first), str(first + SOME), *list_and_folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        lines = done.stdout.splitlines()
        order = [line.split()[1:] for line in lines if line.startswith("launched ")]
        start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
        if start is None:
            print(f"{first}: {(done.stdout + done.stderr)[-600:]}", flush=True)
            continue
        titles, _units, *rows = csv.reader(lines[start:])
        kernels = iter(dict(zip(titles, row, strict=True)) for row in rows if len(row) == len(titles))
        for number, count in order:
            some = [next(kernels, {}) for _ in range(int(count))]
            known[number] = [
                {"kernel": each.get("Kernel Name", "")}
                | {name: figure(text) for name, text in each.items() if WANTED.match(name)}
                for each in some
            ]
            print(
                number,
                [(one["kernel"], one.get("gpu__time_duration.sum")) for one in known[number]],
                flush=True,
            )
        record.write_text(json.dumps({"kind": "profiles", **provenance(), "launches": known}) + "\n")


def figure(text: str) -> float:
    """A number of a page; 0 where there is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("time", "profile", "launch"), help="`launch`: what `profile` starts")
    parser.add_argument(
        "numbers", nargs="*", type=int, help="of `launch`: the first, and the one after the last"
    )
    add_listing(parser)
    given = parser.parse_args()
    listing = Listing(given.list, given.folder)
    if given.what == "time":
        time_all(listing)
    elif given.what == "profile":
        profile_all(listing)
    else:
        launch_some(listing, *given.numbers)


if __name__ == "__main__":
    main()
