"""Measure what the emulator takes for a fixed set of programs, and where its time goes.

    python tools/measure_emulation.py [--threads 2] [--rounds 3]
    python tools/measure_emulation.py --only 'sgemm|saxpy|reduce' --against ../older
    python tools/measure_emulation.py --smoke --only 'tiny' --json

The set (tools/emulation/cases.py): elementwise, tiles in shared memory, products, sums, scans, sorts, pointer
chasing, atomics, divergent code, attention, tensor cores of three generations, thousands of tiny launches,
hundreds of tiny modules, one huge module. `--large` adds cases that take minutes.

Each case runs three times, each time in a new process: with an empty cache of compiled code (cold), with what
that left (warm), and warm without the sanitizer. Seconds count from the start of the process to its end, by
the wall's clock and by the processor's, without making inputs and comparing results: every result is
compared, and a wrong one ends the run. Where other work runs on the machine, only processor time says
something. Parts are `start` (Python, imports, the end), `build` (reading, checking, making code), `compile`
(LLVM), `tensors` (making, filling, reading them), `execute`; what the last one takes more with the sanitizer
is `sanitize`. Memory is the most that was held, less the tensors and the inputs they are filled from. Where a
launch runs in several processes (`--threads`), what the others build and compile counts as `execute`, and
memory is the first one's.

With `--against` each run is followed by the same one with the ptxkit of another checkout, kernels and cases
being this one's; ratios are its seconds over this one's. The whole set is written to
bench/results/emulation.json; a part of it, another checkout beside it or small sizes are no record, and are
written only where `--output` says so.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measuring
from emulation.cases import CASES, MeasuredCase
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

PROCESS = measuring.ROOT / "tools" / "emulation" / "case_process.py"
RECORD = measuring.RESULTS / "emulation.json"
KINDS = ("cold", "warm", "unsanitized")
PARTS = ("start", "build", "compile", "tensors", "execute")
WIDTH = 130, 160
"""Columns of the table, where the terminal has fewer; with another checkout beside."""

Run = dict[str, Any]


def environment(checkout: Path, cache: Path, threads: int | None) -> dict[str, str]:
    """What a case's process finds: the checkout's ptxkit, a cache of its own, how many threads it may use."""
    found = {**os.environ, "PYTHONPATH": str(checkout), "PTXKIT_CACHE": str(cache)}
    for name in (
        "PTXKIT_THREADS",
        "PYTHONDONTWRITEBYTECODE",
    ):  # without bytecode each start compiles the package
        found.pop(name, None)
    if threads is not None:
        found["PTXKIT_THREADS"] = str(threads)
    return found


def run(case: MeasuredCase, kind: str, checkout: Path, variables: dict[str, str], smoke: bool) -> Run:
    """One process: seconds from its start to its end, of each part, and what it held."""
    options = ["--smoke"] * smoke + ["--no-sanitize"] * (kind == "unsanitized")
    command = [sys.executable, str(PROCESS), str(checkout), case.name, *options]
    seconds, printed = measuring.timed_command(command, variables)
    found: Run = json.loads(printed.splitlines()[-1])
    own, parts = found.pop("own"), found.pop("parts")
    launch = found.pop("launch")
    wall, cpu = seconds["wall"] - own["wall"], seconds["cpu"] - own["cpu"]
    parts = {"start": cpu - sum(parts.values()), **parts}
    peak, tensors = found.pop("peak_bytes"), found.pop("tensor_bytes")
    return {
        **found,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "launch_wall_seconds": launch["wall"],
        "launch_cpu_seconds": launch["cpu"],
        "part_seconds": {part: parts.get(part, 0.0) for part in PARTS},
        "bytes_beyond_tensors": None if peak is None else max(0, peak - tensors),
        "tensor_bytes": tensors,
    }


def warm_up(case: MeasuredCase, checkouts: list[Path]) -> None:
    """Run a case in each checkout, unmeasured: Python's bytecode is made, files are read from the disk."""
    with tempfile.TemporaryDirectory() as folder:
        for checkout in checkouts:
            run(case, "cold", checkout, environment(checkout, Path(folder), None), smoke=True)


def median(runs: list[Run]) -> Run:
    """The median of every figure of some runs; what is no figure is the first one's."""
    found: Run = {}
    for name, value in runs[0].items():
        values = [each[name] for each in runs]
        if isinstance(value, dict):
            found[name] = median(values)
        elif isinstance(value, float):
            found[name] = round(statistics.median(values), 4)
        else:
            found[name] = value
    return found


def shares(sanitized: Run, unsanitized: Run) -> dict[str, float]:
    """What part of a run's processor time goes where."""
    parts, total = dict(sanitized["part_seconds"]), sanitized["cpu_seconds"]
    parts["sanitize"] = max(0.0, parts["execute"] - unsanitized["part_seconds"]["execute"])
    parts["execute"] -= parts["sanitize"]
    return {part: round(seconds / total, 3) for part, seconds in parts.items()}


def figures(runs: dict[str, list[Run]]) -> Run:
    """What is told of a case in a checkout, from its runs by kind."""
    by_kind = {kind: median(runs[kind]) for kind in KINDS}
    warm = by_kind["warm"]
    same = {
        name: warm.pop(name)
        for name in ("sizes", "launches", "thread_instructions", "tensor_bytes", "missing_seams")
    }
    for kind in ("cold", "unsanitized"):
        by_kind[kind] = {name: value for name, value in by_kind[kind].items() if name not in same}
    rates = {
        f"per_{clock}_second": round(same["thread_instructions"] / warm[f"launch_{clock}_seconds"])
        for clock in ("wall", "cpu")
    }
    told = {f"{kind}_shares": shares(by_kind[kind], by_kind["unsanitized"]) for kind in ("cold", "warm")}
    return {**same, **rates, **told, **by_kind}


def ratios(other: Run, own: Run) -> dict[str, float]:
    """How many times as long another checkout takes."""
    return {
        f"{kind}_{clock}": round(other[kind][f"{clock}_seconds"] / own[kind][f"{clock}_seconds"], 3)
        for kind in KINDS
        for clock in ("wall", "cpu", "launch_wall", "launch_cpu")
    }


def measure(case: MeasuredCase, checkouts: list[Path], given: argparse.Namespace) -> Iterator[Run | None]:
    """None after each run, at last what is told of the case, in the other checkout, too, if there is one."""
    runs: list[dict[str, list[Run]]] = [{kind: [] for kind in KINDS} for _ in checkouts]
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for kind in KINDS:
                turn = list(enumerate(checkouts))
                for which, checkout in turn[::-1] if number % 2 else turn:
                    variables = environment(checkout, Path(folder, str(which)), given.threads)
                    runs[which][kind].append(run(case, kind, checkout, variables, given.smoke))
                    yield None
    own, *others = map(figures, runs)
    about = {"name": case.name, "about": case.about, "file": case.file or None}
    beside = {"against": {**others[0], "ratio": ratios(others[0], own)}} if others else {}
    yield {**about, **own, **beside}


def table(cases: list[Run]) -> Table:
    """What a reader wants to know first."""
    made = Table(title="seconds and shares of processor time, of whole processes", caption=_caption(cases))
    for name in ("case", "cold s", "warm s", "M instr/s"):
        made.add_column(name, justify="left" if name == "case" else "right", no_wrap=True)
    shown = ("start", "build", "compile", "tensors", "execute", "sanitize")
    for name in (*shown, "MB beyond"):
        made.add_column(name, justify="right")
    beside = any("against" in case for case in cases)
    for name in ("cold x", "warm x", "launch x") if beside else ():
        made.add_column(name, justify="right", style="bold")
    for case in cases:
        memory = case["cold"]["bytes_beyond_tensors"]
        row = [
            case["name"],
            f"{case['cold']['cpu_seconds']:.2f}",
            f"{case['warm']['cpu_seconds']:.2f}",
            f"{case['per_cpu_second'] / 1e6:.1f}",
            *(f"{case['cold_shares'][part]:.0%}" for part in shown),
            "?" if memory is None else f"{memory / 1e6:.0f}",
        ]
        if beside:
            ratio = case["against"]["ratio"]
            row += [f"{ratio[name]:.2f}" for name in ("cold_cpu", "warm_cpu", "warm_launch_cpu")]
        made.add_row(*row)
    return made


def _caption(cases: list[Run]) -> str:
    missing = sorted({seam for case in cases for seam in case["missing_seams"]})
    lost = f"; counted as execution, for there is no {', '.join(missing)}" if missing else ""
    return f"shares of the cold run; instructions of the warm launch{lost}"


def main() -> int:
    parser = measuring.command_line(__doc__, RECORD.name)
    parser.set_defaults(output=None)
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="cases whose names have this")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, run by turns")
    parser.add_argument("--threads", type=int, help="of the emulator: PTXKIT_THREADS of the processes")
    parser.add_argument("--rounds", type=int, default=1, help="how often; figures are medians")
    parser.add_argument("--large", action="store_true", help="also what takes minutes")
    parser.add_argument("--smoke", action="store_true", help="at the smallest sizes: does it work at all")
    parser.add_argument("--json", action="store_true", help="print the document, and the table on stderr")
    given = parser.parse_args()
    chosen = [
        case
        for case in CASES
        if (given.only.search(case.name) if given.only else True) and (given.large or not case.large)
    ]
    if not chosen:
        parser.error(f"no case has `{given.only.pattern}` in its name: {', '.join(c.name for c in CASES)}")
    if given.against and not (given.against / "ptxkit" / "__init__.py").is_file():
        parser.error(f"expected a checkout of ptxkit, found {given.against}")
    checkouts = [measuring.ROOT, *([given.against.resolve()] if given.against else [])]
    cases: list[Run] = []
    document = measuring.document(  # now: what is measured is the commit that is there when it begins
        "emulation",
        threads=given.threads,
        rounds=given.rounds,
        smoke=given.smoke,
        against=_commit(checkouts[1]) if given.against else None,
        load_average=[measuring.load_average()],
        numpy=importlib.metadata.version("numpy"),
        llvmlite=_llvmlite(),
        cases=cases,
    )
    console = Console(stderr=given.json, width=max(WIDTH[bool(given.against)], Console().width))
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(chosen) * given.rounds * len(KINDS) * len(checkouts))
        if not given.smoke:
            warm_up(chosen[0], checkouts)
        for case in chosen:
            progress.update(task, description=case.name)
            for found in measure(case, checkouts, given):
                if found is None:
                    progress.advance(task)
                else:
                    cases.append(found)
    console.print(table(cases))
    document["load_average"].append(measuring.load_average())
    if given.json:
        print(json.dumps(document, indent=1))
    whole = not (given.only or given.against or given.smoke)
    if given.output or whole:
        measuring.write(given.output or RECORD, document)
    return 0


def _commit(checkout: Path) -> str | None:
    """The commit of another checkout; None where git knows none."""
    done = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def _llvmlite() -> str | None:
    try:
        return importlib.metadata.version("llvmlite")
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
