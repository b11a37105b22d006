"""Measure on a GPU what the driver layer and the bench promise, in one command.

    python tools/measure_driver.py OUT.json [--trials 7] [--no-roofs]

- What a launch costs on the host, beside the bare driver call and other libraries (tools/measure_launch.py).
- Two benches of the same kernels: whether they agree within the spread that they print.
- The bench beside Nsight Compute, `ncu --clock-control none`, where that is on PATH: the same launches with
  the cache flushed in the same way, and the empty kernel. The profiler lets the GPU rest between launches, so
  kernels long enough to be slowed down for their power are also benched with pauses; both tell the SM clock.
- The arithmetic roofs.

Everything goes into OUT.json, a short table to stdout. The GPU's settings are read, never changed.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure_launch
import measuring

from ptxkit.bench import Schedule, Settings
from ptxkit.driver import CudaDevice, Stopwatch
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.session import RunOptions
from ptxkit.shipped import kernels
from ptxkit.workers import choose

STATES: dict[str, tuple[str, dict[str, int]]] = {
    "gemv 128x256x1": ("gemv.ptx", {"M": 128, "K": 256, "L": 1}),
    "gemv 7168x2048x4": ("gemv.ptx", {"M": 7168, "K": 2048, "L": 4}),
    "gemv 7168x16384x1": ("gemv.ptx", {"M": 7168, "K": 16384, "L": 1}),
    "read 512 MB": ("roofs/stream.ptx", {"R": 1 << 25, "W": 0, "CTAS": 1056}),
    "bf16 products": ("roofs/wgmma_bf16.ptx", {"CTAS": 132, "STEPS": 1600, "WRITERS": 1, "ADD": 0}),
}
"""Kernels by a name: file and sizes. On an H200 about 1, 9, 21, 120 us and 1 ms."""
EMPTY = "empty kernel"
PRODUCTS = {"bf16": 5e11, "f16": 5e11, "tf32": 2.5e11, "e4m3": 1e12, "s8": 1e12}
"""Arithmetic roofs, and how many operations each makes: about half a millisecond on an H200."""

LONG = 100e-6
"""Seconds from which a figure is compared in per cent rather than in microseconds."""
PROFILED = 20
"""Launches that the profiler times."""
PAUSE = 0.2
"""Seconds that the GPU rests in the bench that is compared with the profiler."""
TIME, CLOCK = "gpu__time_duration.sum", "gpc__cycles_elapsed.avg.per_second"
"""The profiler's metrics: nanoseconds, and cycles a second."""


def plan_of(name: str) -> LaunchPlan:
    """The state's launch plan."""
    file, sizes = STATES[name]
    found, path = kernels.find(file)
    return measuring.plan_of(path, sizes, found)[1]


def bench(settings: Settings, names: Sequence[str] = tuple(STATES)) -> dict[str, Any]:
    """The states' timings, by name, from one bench in a process of its own."""
    with choose.bench(RunOptions(device="cuda"), settings, None) as measuring:
        schedule = Schedule([plan_of(name) for name in names], settings, measuring.call)
        states = dict(schedule.run())
    found: dict[str, Any] = {}
    for place, name in enumerate(names):
        made = states[place].to_json()
        if made["timing"] is None:
            raise SystemExit(f"{name}: {made['diagnostics']}")
        found[name] = {**made["timing"], "diagnostics": made["diagnostics"]}
    return found


def products() -> dict[str, Any]:
    """Of each type the operations a second of the arithmetic roof."""
    found = {}
    with choose.bench(RunOptions(device="cuda"), Settings(), None) as measuring:
        floor = measuring.call("floor").median
        for dtype, operations in PRODUCTS.items():
            roof = measuring.call("arithmetic_roof", dtype, int(operations))
            (trial,) = roof.figure.trials
            found[dtype] = {
                "kernel": roof.kernel,
                "operations": roof.operations,
                "seconds": trial.median,
                "rate": roof.operations / (trial.median - floor),
                "sm_clock": trial.sm_clock,
            }
    return found


def agreement(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Of each state the distance between two benches and the larger of their spreads, in seconds."""
    found = {}
    for name in first:
        apart = abs(first[name]["seconds"] - second[name]["seconds"])
        spread = max(first[name]["spread"], second[name]["spread"])
        found[name] = {"apart": apart, "spread": spread, "agree": apart <= spread}
    return found


def launch_under_profiler(name: str) -> None:
    """The state's launches and nothing waited for behind a gate: the profiler runs kernels one by one."""
    with CudaDevice() as device:
        stopwatch = Stopwatch(device, "read")
        if name == EMPTY:
            _launch_often(stopwatch, stopwatch.nothing)
            return
        plan = plan_of(name)
        with LoadedPlan(device, device.load(plan.program.module()), plan) as on_device:
            on_device.fill(Case(plan).inputs)
            _launch_often(stopwatch, on_device.prepare(stopwatch))


def _launch_often(stopwatch: Stopwatch, launch: Callable[[], None]) -> None:
    for number in range(PROFILED):
        stopwatch.flush_cache(number)
        launch()
        stopwatch.stream.synchronize()


def profile(name: str, ncu: str) -> dict[str, Any]:
    """The kernel's durations as Nsight Compute tells them, in seconds, and the SM clock in Hz."""
    entry = "nothing" if name == EMPTY else plan_of(name).launches[0].entry or Path(STATES[name][0]).stem
    command = [
        ncu, "--clock-control", "none", "--cache-control", "none", "--metrics", f"{TIME},{CLOCK}",
        "--print-units", "base", "--csv", "--kernel-name", entry,
        sys.executable, __file__, os.devnull, "--under-profiler", name,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=measuring.ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    told: dict[str, list[float]] = {TIME: [], CLOCK: []}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if row.get("Metric Name") in told:
            told[row["Metric Name"]].append(float(row["Metric Value"].replace(",", "")))
    # The first launches of `stopwatch` prime it.
    times = [nanoseconds * 1e-9 for nanoseconds in told[TIME][-PROFILED:]]
    if not times:
        return {"error": (done.stdout + done.stderr)[-2000:]}
    return {
        "median": statistics.median(times),
        "low": min(times),
        "high": max(times),
        "launches": len(times),
        "sm_clock": statistics.median(told[CLOCK][-PROFILED:]),
    }


def against_profiler(timings: dict[str, Any], rested: dict[str, Any], ncu: str) -> dict[str, Any]:
    """Of each state bench's figure and the profiler's, and whether they are as near as promised.

    Args:
        timings: under load all the time.
        rested: with pauses, of those states that are long.
        ncu: the profiler.
    """
    found = {}
    for name, timing in timings.items():
        profiled = profile(name, ncu)
        row: dict[str, Any] = {"ncu": profiled, "under_load": _beside(timing, profiled)}
        if name in rested:
            row["rested"] = _beside(rested[name], profiled)
        row["met"] = row.get("rested", row["under_load"])["met"]
        found[name] = row
    return found


def _beside(timing: dict[str, Any], profiled: dict[str, Any]) -> dict[str, Any]:
    """A figure beside the profiler's; `met`: as near as promised, None where the profiler told nothing."""
    clock = statistics.median(trial["sm_clock"] for trial in timing["trials"])
    row: dict[str, Any] = {"seconds": timing["seconds"], "net": timing["net"], "sm_clock": clock, "met": None}
    if "median" in profiled:
        row["ratio"] = timing["seconds"] / profiled["median"]
        row["net_apart"] = None if timing["net"] is None else timing["net"] - profiled["median"]
        if timing["seconds"] >= LONG:
            row["met"] = abs(row["ratio"] - 1) <= 0.03
        else:
            row["met"] = row["net_apart"] is not None and abs(row["net_apart"]) <= 1e-6
    return row


def bars(document: dict[str, Any]) -> dict[str, Any]:
    """Each promise: what was found, what it may be, and whether it holds; None where it was not measured."""
    costs = {name: figures["median"] for name, figures in document["launch"]["figures"].items()}
    nodes = f"{measure_launch.NODES} nodes"
    prepared = costs["prepared"] / costs["cuLaunchKernel, prepacked"]
    graph = costs[f"graph, {nodes}"] / costs[f"cuGraphLaunch, {nodes}"]
    found: dict[str, Any] = {
        "a prepared launch over the bare call": {"found": prepared, "most": 1.05, "met": prepared <= 1.05},
        "a graph over the driver's own replay": {"found": graph, "most": 1.1, "met": graph <= 1.1},
    }
    for peer in measure_launch.PEERS:
        for where in ("", measure_launch.OWN):
            ratio = costs[f"launch{where}"] / costs[f"{peer}{where}"] if f"{peer}{where}" in costs else None
            met = None if ratio is None else ratio < 1
            found[f"an unprepared launch over {peer}{where}"] = {"found": ratio, "most": 1.0, "met": met}
    agreed = [row["agree"] for row in document["agreement"].values()]
    found["two benches agree within their spread"] = {
        "found": sum(agreed),
        "of": len(agreed),
        "met": all(agreed),
    }
    profiled = [row.get("met") for row in document["profiler"].values()]
    met = None if not profiled or None in profiled else all(profiled)
    found["bench agrees with the profiler"] = {"found": profiled.count(True), "of": len(profiled), "met": met}
    return found


def show(document: dict[str, Any]) -> None:
    """A short table of the whole."""
    for name, figures in document["launch"]["figures"].items():
        print(f"{name:<34} {figures['median']:8.3f} us")
    for name, timing in document["bench"].items():
        apart = document["agreement"][name]
        net = "" if timing["net"] is None else f"  net {timing['net'] * 1e6:8.2f} us"
        floor = timing["floor"]["seconds"]
        print(
            f"{name:<20} {timing['seconds'] * 1e6:8.2f} us{net}  floor {floor * 1e6:.2f} us"
            f"  again {apart['apart'] * 1e6:.3f} us apart, spread {apart['spread'] * 1e6:.3f} us"
        )
    for name, row in document["profiler"].items():
        if "median" in row["ncu"]:
            figures = {"ncu": (row["ncu"]["median"], row["ncu"]["sm_clock"])}
            figures |= {
                word: (row[key]["seconds"], row[key]["sm_clock"])
                for key, word in (("under_load", "bench"), ("rested", "rested"))
                if key in row
            }
            each = ", ".join(f"{k} {t * 1e6:.2f} us at {hz / 1e6:.0f} MHz" for k, (t, hz) in figures.items())
            print(f"{name:<20} {each}")
    for dtype, roof in document.get("products", {}).items():
        clock = roof["sm_clock"] / 1e6
        print(f"{dtype:<6} {roof['rate'] / 1e12:8.1f} Top/s by {roof['kernel']}, {clock:.0f} MHz")
    for name, bar in document["bars"].items():
        word = {True: "met", False: "MISSED", None: "not measured"}[bar["met"]]
        limit = f"at most {bar['most']}" if "most" in bar else f"of {bar['of']}"
        value = f"{bar['found']:.3f}" if isinstance(bar["found"], float) else bar["found"]
        print(f"{word:<13} {name}: {value}, {limit}")


def main() -> None:
    parser = measuring.command_line(__doc__)
    parser.add_argument("--trials", type=int, default=Settings().trials, help="trials of each bench")
    parser.add_argument("--no-roofs", action="store_true", help="leave the arithmetic roofs out")
    parser.add_argument("--under-profiler", choices=[EMPTY, *STATES], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.under_profiler:
        launch_under_profiler(chosen.under_profiler)
        return
    document = measuring.document("driver measurement")

    def keep(**found: Any) -> None:
        """What was found so far is in the file, whatever becomes of the rest."""
        document.update(found)
        measuring.write(chosen.output, document)

    with CudaDevice() as device:
        keep(device=device.name, gpu=device.describe())
        keep(launch=measure_launch.document(device, 60, 400))
    settings = Settings(trials=chosen.trials, roofs=False)
    first = bench(settings)
    keep(bench=first)
    second = bench(settings)
    keep(bench_again=second, agreement=agreement(first, second))
    long = [name for name in STATES if first[name]["seconds"] >= LONG]
    rested = bench(dataclasses.replace(settings, pause=PAUSE), long)
    keep(bench_rested=rested)
    if not chosen.no_roofs:
        keep(products=products())
    ncu = shutil.which("ncu")
    keep(empty_kernel=profile(EMPTY, ncu) if ncu else {})
    keep(profiler=against_profiler(first, rested, ncu) if ncu else {})
    keep(bars=bars(document))
    show(document)


if __name__ == "__main__":
    main()
