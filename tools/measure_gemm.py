"""Measure how long the emulator takes for a matrix product of 1024 x 1024 x 1024 by `wgmma` and by `tcgen05`.

    python tools/measure_gemm.py [--runs 3] [--cores 2] [--output FILE]

The kernels are the shipped gemm_wgmma.ptx and gemm_tcgen05.ptx, with the sanitizer, bit-accurate tensor
cores and lazy order, as by default; every result is compared with the workload's expectation. A launch is
timed, what comes before it (reading the file, compiling, tensors) is not. Writes
bench/results/emulated_gemm.json; exits with 1 where the bar is missed.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import measuring

from ptxkit.emulator import Emulator
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.shipped.kernels import find

KERNELS = ("gemm_wgmma.ptx", "gemm_tcgen05.ptx")
SIZES = {"M": 1024, "N": 1024, "K": 1024}
SECONDS = 30
"""The bar, on two cores."""


def measure(name: str, runs: int) -> dict[str, Any]:
    """Seconds of wall clock and of this process for each launch of a kernel."""
    _, path = find(name)
    module, plan = measuring.plan_of(path, SIZES)
    made = []
    for _ in range(runs):
        case = Case(plan)
        device = Emulator()
        on_device = LoadedPlan(device, device.load(module), plan)
        on_device.fill(case.inputs)
        made.append(measuring.timed(on_device.launch, digits=2))
        right = all(each.ok for each in case.compare(on_device.outputs()))
        if device.findings or not right:
            raise RuntimeError(f"the emulator's result of {name} is wrong")
    best = min(made, key=lambda run: run["wall_seconds"])
    print(f"{name}: {best['wall_seconds']} s, {best['cpu_seconds']} s of CPU", flush=True)
    return {"kernel": name, **best, "runs": made}


def main() -> int:
    parser = measuring.command_line(__doc__, "emulated_gemm.json")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="how many cores this process may use")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    results = [measure(name, arguments.runs) for name in KERNELS]
    options = {"sizes": SIZES, "sanitize": True, "order": "lazy"}
    bars = {"seconds": SECONDS, "cores": arguments.cores}
    found = measuring.document("emulated_gemm", **options, bars=bars, results=results)
    measuring.write(arguments.output, found)
    return 0 if all(result["wall_seconds"] < SECONDS for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
