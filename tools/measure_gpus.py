"""Measure on a host of several GPUs that they are driven at once, in one command.

    python tools/measure_gpus.py OUT.json [--copies 20]

- Copies between each pair of GPUs by `buffer.write`, compared byte for byte.
- A sweep with `--device cuda:all`: how long each GPU was at work, and how long two of them were at once.
- The same sweep on one GPU.
"""

from __future__ import annotations

import datetime
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measuring
import numpy as np

from ptxkit.driver import CudaDevice, device_count

BYTES = 1 << 28
"""Of a copy."""
SWEEP = ("gemv.ptx", "-a", "M=1024:7168:512", "-p", "K=2048", "-p", "L=4")


def copies(first: int, second: int, count: int) -> dict[str, Any]:
    """Copies from the first GPU to the second: bytes a second, and whether they arrived."""
    content = np.random.default_rng(first).integers(0, 1 << 32, BYTES // 4, np.uint32)
    with CudaDevice(first) as there, CudaDevice(second) as here:
        source, target = there.array(content), here.empty(content.shape, "u32")
        target.write(source)
        equal = bool((target.numpy() == content).all())
        start = time.perf_counter()
        for _ in range(count):
            target.write(source)
        here.synchronize()
        seconds = (time.perf_counter() - start) / count
    return {"from": first, "to": second, "bytes": BYTES, "rate": BYTES / seconds, "equal": equal}


def sweep(device: str) -> dict[str, Any]:
    """A sweep on a device: seconds, and of each GPU its jobs' spans."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        command = [sys.executable, "-m", "ptxkit", "sweep", *SWEEP, "--device", device, "-o", str(out)]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(done.stderr)
        results = [json.loads(line) for line in out.read_text().splitlines()]
    spans: dict[int, list[tuple[float, float]]] = {}
    for result in results:
        begin, end = (datetime.datetime.fromisoformat(result[name]).timestamp() for name in ("began", "date"))
        spans.setdefault(result["gpu"]["ordinal"], []).append((begin, end))
    return {
        "command": command[1:-2],
        "seconds": seconds,
        "jobs": len(results),
        "good": sum(result["ok"] for result in results),
        "gpus": {
            ordinal: {
                "jobs": len(each),
                "busy": sum(end - begin for begin, end in each),
                "spans": sorted(each),
            }
            for ordinal, each in sorted(spans.items())
        },
        "together": together(list(spans.values())),
    }


def together(spans: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Seconds in which two or more GPUs had a job."""
    edges = sorted(
        (moment, step) for each in spans for span in each for moment, step in zip(span, (1, -1), strict=True)
    )
    found, busy, before = 0.0, 0, 0.0
    for moment, step in edges:
        if busy > 1:
            found += moment - before
        busy, before = busy + step, moment
    return found


def main() -> int:
    parser = measuring.command_line(__doc__)
    parser.add_argument("--copies", type=int, default=20, help="copies between two GPUs")
    chosen = parser.parse_args()
    if device_count() < 2:
        parser.error("this needs two GPUs")
    document: dict[str, Any] = measuring.document("driver measurement")
    with CudaDevice() as device:
        document |= {"device": device.name, "gpu": device.describe()}
    document["gpus"] = device_count()
    pairs = itertools.permutations(range(device_count()), 2)
    document["copies"] = [copies(first, second, chosen.copies) for first, second in pairs]
    document["sweep"] = sweep("cuda:all")
    document["sweep_on_one"] = sweep("cuda:0")
    measuring.write(chosen.output, document)
    for copy in document["copies"]:
        word = "equal" if copy["equal"] else "NOT EQUAL"
        print(f"cuda:{copy['from']} to cuda:{copy['to']}: {copy['rate'] / 1e9:.1f} GB/s, {word}")
    for name in ("sweep", "sweep_on_one"):
        found = document[name]
        busy = ", ".join(
            f"cuda:{gpu} {each['jobs']} jobs {each['busy']:.2f} s" for gpu, each in found["gpus"].items()
        )
        print(
            f"{found['good']} of {found['jobs']} jobs good in {found['seconds']:.2f} s: {busy}; "
            f"{found['together']:.2f} s at once"
        )
    good = all(copy["equal"] for copy in document["copies"]) and document["sweep"]["together"] > 0
    return 0 if good and document["sweep"]["good"] == document["sweep"]["jobs"] else 1


if __name__ == "__main__":
    sys.exit(main())
