"""Random tensor copies on both devices: loads, stores and reductions, tiled and im2col.

Most cross an edge of their tensor. What is compared is all of the shared memory around a box, or all of the
tensor. What the GPU refuses (a coordinate that a store may not have) must be a finding of the emulator, and
no other.
"""

from __future__ import annotations

import multiprocessing
import threading
import warnings
from collections import Counter
from typing import Any

import numpy as np
import tensor_copy_kernels as copies

import ptxkit
from compare.orders import EXAMPLES, ORDERS, TARGET
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator

GPU_PROCESSES = 8

Made = tuple[np.ndarray, bool, int] | str
"""What `Bench.run` gives, or why it gave nothing: the code of a finding, or of the driver's error."""


def compare_copies(gpu: bool, pool: Any, count: int, seed: int) -> dict[str, Any]:
    """Counts by sort and type of map, and what differed."""
    cases = list(copies.cases(seed, count))
    real = _on_gpu(cases) if gpu else [None] * len(cases)
    jobs = [
        pool.apply_async(_emulated_copy, (case, ORDERS[number % 3], made))
        for number, (case, made) in enumerate(zip(cases, real, strict=True))
    ]
    by_sort: Counter[str] = Counter()
    by_type: Counter[str] = Counter()
    by_kernel: dict[str, tuple[int, int]] = {}
    examples: list[dict[str, Any]] = []
    different = edges = refused = 0
    for case, made, job in zip(cases, real, jobs, strict=True):
        wrong, over_an_edge, said = job.get()
        by_sort[f"{case.mode} {case.operation}"] += 1
        by_type[case.fields["dtype"]] += 1
        text = copies.source(*copies.kernel_of(case))
        before = by_kernel.get(text, (0, 0))
        by_kernel[text] = before[0] + 1, before[1] + bool(said)
        edges += over_an_edge
        refused += isinstance(made, str)
        if said:
            different += 1
            if len(examples) < EXAMPLES:
                examples.append({"fields": case.fields, "mode": case.mode, "operation": case.operation,
                                 "coordinates": case.coordinates, "offsets": case.offsets,
                                 "bytes": wrong, "said": said})  # fmt: skip
    return {
        "compared": len(jobs),
        "different": different,
        "over an edge": edges,
        "refused by both": refused if not different else None,
        "by mode and operation": dict(sorted(by_sort.items())),
        "by type": dict(sorted(by_type.items())),
        "by kernel": by_kernel,
        "examples": examples,
    }


def _on_gpu(cases: list[copies.Case]) -> list[Made | None]:
    """Each case on the GPU, in processes of their own: a copy that the hardware refuses ends its process."""
    context = multiprocessing.get_context("spawn")
    made: list[Made | None] = [None] * len(cases)

    def serve(first: int) -> None:
        left = list(range(first, len(cases), GPU_PROCESSES))
        while left:
            here, there = context.Pipe()
            child = context.Process(target=_copy_on_gpu, args=(there,), daemon=True)
            child.start()
            there.close()
            alive = True
            while left and alive:
                number = left.pop(0)
                here.send(cases[number])
                try:
                    made[number] = here.recv()
                except EOFError:
                    made[number] = "the process ended"
                alive = not isinstance(made[number], str)
            if alive:
                here.send(None)
            child.join()

    threads = [threading.Thread(target=serve, args=(first,)) for first in range(GPU_PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


def _copy_on_gpu(pipe: Any) -> None:
    """Run the cases that come, until one stops the GPU."""
    bench = copies.Bench(ptxkit.open_device("cuda"))
    while (case := pipe.recv()) is not None:
        try:
            pipe.send(bench.run(case))
        except PtxkitError as stopped:
            pipe.send(stopped.diagnostics[0].code)
            return


def _emulated_copy(case: copies.Case, order: str, real: Made | None) -> tuple[int, bool, str]:
    """How many bytes differ, whether the box crosses an edge, and what is wrong in words."""
    warnings.simplefilter("ignore")
    emulator = Emulator(arch=TARGET, order=order)
    copy = copies.tensor_copy(bytes(case.map(1 << 32)), case.mode)
    edge = copy.moves(case.coordinates, copies.IMAGE + case.place, case.offsets).inside is not None
    try:
        made, done, base = copies.Bench(emulator).run(case)
    except PtxkitError as refused:
        code = refused.diagnostics[0].code
        return 0, edge, "" if isinstance(real, str) else f"{code} on the emulator alone"
    if isinstance(real, str):
        return 0, edge, f"{real} on the GPU alone"
    expected, real_done, real_base = (copies.expected(case, base), True, base) if real is None else real
    said = []
    if done != real_done:
        said.append(f"completed: {done} on the emulator, {real_done} there")
    if base % 1024 != real_base % 1024:
        said.append("the images lie otherwise")
    wrong = copies.different(case, made, expected)
    if wrong:
        said.append("bytes")
    if emulator.findings:
        said.append(str(emulator.findings[0].message))
    return wrong, edge, ", ".join(said)
