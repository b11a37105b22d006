"""Measure how long the emulator takes for matrix products of 1024 x 1024 x 1024, from command to answer.

    python tools/measure_gemm.py [--runs 3] [--cores 1] [--output FILE]

The kernels are shipped ones, run as `ptxkit run` does by default: sanitizer, bit-accurate tensor cores, lazy
order, the result verified. Each run is a process of its own, with an empty cache of compiled code: Python's
start, reading and checking the file, compiling, data, launch and reference are all in it. Writes
bench/results/emulated_gemm.json; exits with 1 where a bar is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import measuring

BARS = {"gemm_wgmma.ptx": 1.5, "gemm_tcgen05.ptx": 1.5, "gemm_fp8.ptx": 3.0, "gemm_nvfp4.ptx": 3.0}
"""Kernels, and in how many seconds of one core each should be done."""
SIZES = {"M": 1024, "N": 1024, "K": 1024}


def measure(name: str, runs: int) -> dict[str, Any]:
    """Seconds of wall clock and of its process for each run of a kernel."""
    sizes = [part for size in SIZES.items() for part in ("-p", "{}={}".format(*size))]
    command = [sys.executable, "-m", "ptxkit", "run", name, "--device", "emu", *sizes]
    made = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            load = measuring.load_average()[0]
            times, _ = measuring.timed_command(command, {**os.environ, "PTXKIT_CACHE": cache})
        made.append({"wall_seconds": times["wall"], "cpu_seconds": times["cpu"], "load_average": load})
    best = min(made, key=lambda run: run["wall_seconds"])
    print(f"{name}: {best['wall_seconds']} s, {best['cpu_seconds']} s of CPU", flush=True)
    return {"kernel": name, "bar": BARS[name], **best, "runs": made}


def main() -> int:
    parser = measuring.command_line(__doc__, "emulated_gemm.json")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=1, help="how many cores a process may use")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    results = [measure(name, arguments.runs) for name in BARS]
    options = {"sizes": SIZES, "sanitize": True, "order": "lazy", "cores": arguments.cores}
    measuring.write(arguments.output, measuring.document("emulated_gemm", **options, results=results))
    return 0 if all(result["wall_seconds"] < result["bar"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
