"""Compare the emulator's asynchronous machine with a GPU: the kernels of tests/asynchrony, bit for bit.

    python tools/compare_asynchrony.py              # every kernel that the first GPU can run
    python tools/compare_asynchrony.py --only emu   # no GPU: the orders of the emulator among themselves

Each kernel runs with `--runs` permutations of its argument on the GPU and on the emulator, there in lazy,
eager and random order. Writes bench/results/asynchrony.<gpu>.json: for each kernel the runs, the words that
were compared and those that differ. Exits with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from asynchronous_kernels import KERNELS, AsyncKernel, evaluate

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.devices import open_device
from ptxkit.emulator import Emulator
from ptxkit.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
ORDERS = ("lazy", "eager", "random")


def result(kernel: AsyncKernel, device: Any, x: np.ndarray, words: int) -> np.ndarray:
    """What a launch leaves in `out`."""
    header = kernel.header
    source, out = device.array(x), device.array(np.zeros(words, np.uint32))
    loaded = device.load(kernel.text).kernel("k")
    loaded.launch(header["grid"], header["block"], [source, out], cluster=header.get("cluster"))
    device.synchronize()
    found: np.ndarray = out.numpy()
    return found


def compare(kernel: AsyncKernel, gpu: Any, runs: int) -> dict[str, Any]:
    """One kernel: the words of every emulated order against the GPU's, or against the lazy order's."""
    x = evaluate(kernel.header["x"], None)
    words = len(evaluate(kernel.header["out"], x))
    random = np.random.default_rng(0)
    compared = different = 0
    for run in range(runs):
        argument = random.permutation(x)
        emulated = [result(kernel, Emulator(order, seed=run), argument, words) for order in ORDERS]
        wanted = result(kernel, gpu, argument, words) if gpu is not None else emulated[0]
        compared += words * len(ORDERS)
        different += sum(int(np.count_nonzero(found != wanted)) for found in emulated)
    return {
        "kernel": kernel.name,
        "about": kernel.header["about"],
        "runs": runs,
        "words": compared,
        "differ": different,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["emu"], help="leave the GPU out, and write nothing")
    parser.add_argument("--runs", type=int, default=10, help="permutations of each kernel's argument")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder to write to")
    arguments = parser.parse_args()
    gpu: Any = None if arguments.only else open_device("cuda")
    found = []
    for kernel in KERNELS:
        target = targets.parse(parse(kernel.text).target or "")
        if gpu is not None and (target is None or not target.runs_on(gpu.capability)):
            print(f"{kernel.name}: {target} does not run on {gpu.name}")
            continue
        found.append(compare(kernel, gpu, arguments.runs))
        print("{kernel}: {words} words, {differ} differ".format(**found[-1]))
    if gpu is not None:
        short = re.sub(r"^nvidia_", "", re.sub(r"\W+", "_", gpu.name.lower()))
        document = {
            "schema": 1,
            "kind": "asynchrony",
            "gpu": gpu.name,
            "orders": ORDERS,
            **provenance(),
            "kernels": found,
        }
        (arguments.output / f"asynchrony.{short}.json").write_text(json.dumps(document, indent=1) + "\n")
    return int(any(entry["differ"] for entry in found))


if __name__ == "__main__":
    sys.exit(main())
