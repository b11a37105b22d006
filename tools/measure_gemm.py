"""Measure how long the emulator takes for a matrix product of 1024 x 1024 x 1024 by `wgmma` and by `tcgen05`.

    python tools/measure_gemm.py [--runs 3] [--cores 2] [--output FILE]

The kernels are the shipped gemm_wgmma.ptx and gemm_tcgen05.ptx, with the sanitizer, bit-accurate tensor
cores and lazy order, as by default; every result is compared with the workload's expectation. A launch is
timed, what comes before it (reading the file, compiling, tensors) is not. Writes
bench/results/emulated_gemm.json; exits with 1 where the bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit import card
from ptxkit.asm import parse
from ptxkit.emulator import Emulator
from ptxkit.machine.provenance import provenance
from ptxkit.plan import Program, Request, make
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.shipped.kernels import find

OUTPUT = Path(__file__).resolve().parents[1] / "bench" / "results" / "emulated_gemm.json"
KERNELS = ("gemm_wgmma.ptx", "gemm_tcgen05.ptx")
SIZES = {"M": 1024, "N": 1024, "K": 1024}
SECONDS = 30
"""The bar, on two cores."""


def measure(name: str, runs: int) -> dict[str, Any]:
    """Seconds of wall clock and of this process for each launch of a kernel."""
    _, path = find(name)
    module = parse(path)
    assert module.source is not None
    plan = make(Program(path.name, str(path)), module, card.read(module.source), Request(sizes=SIZES))
    made = []
    for _ in range(runs):
        case = Case(plan)
        device = Emulator()
        on_device = LoadedPlan(device, device.load(module), plan)
        on_device.fill(case.inputs)
        load, wall, cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
        on_device.launch()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        right = all(each.ok for each in case.compare(on_device.outputs()))
        if device.findings or not right:
            raise RuntimeError(f"the emulator's result of {name} is wrong")
        made.append(
            {"wall_seconds": round(wall, 2), "cpu_seconds": round(cpu, 2), "load_average": round(load, 2)}
        )
    best = min(made, key=lambda run: run["wall_seconds"])
    print(f"{name}: {best['wall_seconds']} s, {best['cpu_seconds']} s of CPU", flush=True)
    return {"kernel": name, **best, "runs": made}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="how many cores this process may use")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    results = [measure(name, arguments.runs) for name in KERNELS]
    head = {"schema": 1, "kind": "emulated_gemm", "sizes": SIZES, "sanitize": True, "order": "lazy"}
    bars = {"seconds": SECONDS, "cores": arguments.cores}
    arguments.output.write_text(
        json.dumps({**head, "bars": bars, **provenance(), "results": results}, indent=1) + "\n"
    )
    return 0 if all(result["wall_seconds"] < SECONDS for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
