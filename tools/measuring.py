"""What the programs that measure have in common: command line, clocks, the document that they write."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit import card
from ptxkit.asm import Module, parse
from ptxkit.machine.provenance import provenance
from ptxkit.plan import LaunchPlan, Program, Request, make

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
CORPUS = Path(os.environ.get("PTXKIT_CORPUS", ROOT / "tests" / "corpus"))


def command_line(description: str | None, output: str = "") -> argparse.ArgumentParser:
    """A parser with the document's path as `output`.

    Args:
        description: the program's docstring.
        output: the document's name in bench/results; without one the caller has to give a path.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if output:
        parser.add_argument("--output", type=Path, default=RESULTS / output, help="write the figures here")
    else:
        parser.add_argument("output", type=Path, help="write the figures here")
    return parser


def document(kind: str, **found: Any) -> dict[str, Any]:
    """Figures with where they come from."""
    return {"schema": 1, "kind": kind, **found, **provenance()}


def write(path: Path, found: dict[str, Any]) -> None:
    """Write a document."""
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def load_average() -> list[float]:
    """The machine's load."""
    return [round(load, 2) for load in os.getloadavg()]


def timed(work: Callable[[], Any], digits: int = 4) -> dict[str, float]:
    """Seconds that work takes, by the wall's clock and by this process's own, and the load before."""
    load, wall, cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "wall_seconds": round(wall, digits),
        "cpu_seconds": round(cpu, digits),
        "load_average": round(load, 2),
    }


def timed_command(
    command: Sequence[str | Path], environment: dict[str, str] | None = None
) -> tuple[dict[str, float], str]:
    """Seconds that a command takes, by the wall's clock and by its own, and what it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 4), "cpu": round(cpu, 4)}, done.stdout


def largest_of_triton() -> Path:
    """The largest of Triton's files in the corpus."""
    files = sorted(CORPUS.glob("triton/*.ptx"), key=lambda path: path.stat().st_size)
    if not files:
        raise SystemExit(f"no corpus at {CORPUS}; set PTXKIT_CORPUS")
    return files[-1]


def plan_of(path: Path, sizes: dict[str, int], name: str | None = None) -> tuple[Module, LaunchPlan]:
    """A kernel file, and the launch that its card makes of these sizes."""
    module = parse(path, name=name)
    assert module.source is not None
    program = Program(name or path.name, str(path))
    return module, make(program, module, card.read(module.source), Request(sizes=sizes))
