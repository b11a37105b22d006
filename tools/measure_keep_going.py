"""Measure what `--keep-going` costs kernels without an error, the sanitizer on with and without it.

    python tools/measure_keep_going.py [--pairs 9] [--output FILE]

Whole processes of `ptxkit run KERNEL --preset smoke --device emu`, in alternating pairs. Figures are medians
of seconds by the processes' own clocks; ratios are taken pair by pair: other work may share the machine.
Writes bench/results/keep_going.json; exits with 1 where a ratio reaches the bar.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import measuring

BAR = 1.05
"""The ratio that is too much."""
KERNELS = ("gemv", "gemm_wgmma", "gemm_nvfp4", "gemm_tcgen05", "attn_dist")


def measure(kernel: Path, pairs: int) -> dict[str, Any]:
    """Seconds without and with it, and the ratios of the pairs."""
    plain = [sys.executable, "-m", "ptxkit", "run", str(kernel), "--preset", "smoke", "--device", "emu"]
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    for pair in range(pairs):
        for way in ("without", "with") if pair % 2 else ("with", "without"):
            command = [*plain, "--keep-going"] if way == "with" else plain
            taken, printed = measuring.timed_command(command)
            if "error[" in printed or "warning[" in printed:
                raise SystemExit(f"{kernel.name} is not clean:\n{printed}")
            seconds[way].append(taken["cpu"])
    ratios = sorted(b / a for a, b in zip(seconds["without"], seconds["with"], strict=True))
    found = {way: round(statistics.median(each), 4) for way, each in seconds.items()}
    return {**found, "ratio": round(statistics.median(ratios), 4), "ratios": [round(r, 4) for r in ratios]}


def main() -> None:
    """Measure, print and write."""
    parser = measuring.command_line(__doc__, "keep_going.json")
    parser.add_argument("--pairs", type=int, default=9)
    given = parser.parse_args()
    folder = Path(__file__).parents[1] / "kernels_ptx"
    found = {}
    for name in KERNELS:
        found[name] = measure(folder / f"{name}.ptx", given.pairs)
        print(f"{name}: {found[name]['ratio']:.4f} times, {found[name]['without']:.2f} s without")
    measuring.write(given.output, measuring.document("keep_going", bar=BAR, pairs=given.pairs, kernels=found))
    sys.exit(any(one["ratio"] >= BAR for one in found.values()))


if __name__ == "__main__":
    main()
