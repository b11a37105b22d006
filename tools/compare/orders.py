"""The asynchronous machine on both devices: the kernels of tests/asynchrony, and random programs.

Each runs on the GPU, and on the emulator in lazy, eager and random order; `out` must be the same words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from asynchronous_kernels import KERNELS, AsyncKernel, evaluate
from asynchronous_programs import Program, copies, mbarriers, reductions, remote

from compare.arguments import EMULATED
from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.emulator import Emulator

ORDERS = ("lazy", "eager", "random")
TARGET = "sm_90a"
EXAMPLES = 5
"""Differences that are kept of each sort."""


def compare_machine(device: Any, pool: Any, runs: int, programs: int, seed: int) -> dict[str, Any]:
    """What was compared, by kernel.

    Args:
        device: the GPU; None to hold the emulator against what is expected.
        pool: of processes for the emulator.
        runs: permutations of the argument of each kernel.
        programs: how many of each sort are made.
        seed: of both.
    """
    jobs = []
    for name, text, launch in _launches(runs, programs, seed):
        real = None if device is None else launch.run(device)
        jobs.append((name, text, pool.apply_async(_emulated, (launch, real, len(jobs)))))
    kernels: dict[str, dict[str, int]] = {}
    by_kernel: dict[str, tuple[int, int]] = {}
    examples: list[dict[str, Any]] = []
    for name, text, job in jobs:
        wrong, words, said = job.get()
        entry = kernels.setdefault(name, {"launches": 0, "words": 0, "differ": 0})
        entry["launches"] += 1
        entry["words"] += words
        entry["differ"] += wrong
        before = by_kernel.get(text, (0, 0))
        by_kernel[text] = before[0] + 1, before[1] + bool(wrong or said)
        if (wrong or said) and len(examples) < EXAMPLES:
            examples.append({"kernel": name, "words": wrong, "of": words, "said": said})
    return {
        "compared": len(jobs),
        "different": sum(different for _, different in by_kernel.values()),
        "kernels": kernels,
        "by kernel": by_kernel,
        "examples": examples,
    }


def _launches(runs: int, programs: int, seed: int) -> Iterator[tuple[str, str, Program]]:
    """The name and the text of each kernel, and a launch of it."""
    target = targets.TARGETS[TARGET]
    for kernel in KERNELS:
        module = parse(kernel.text)
        needed = targets.parse(module.target or "")
        if needed is None or not needed.runs_on(target.capability) or (module.version or EMULATED) > EMULATED:
            continue
        for run in range(runs):
            yield kernel.name, kernel.text, _permuted(kernel, np.random.default_rng([seed, run]))
    for number in range(programs):
        random = np.random.default_rng([seed, number])
        for made in (mbarriers(random), remote(random), copies(random), *reductions(random)):
            yield made.name, made.text, made


def _permuted(kernel: AsyncKernel, random: np.random.Generator) -> Program:
    """A launch with the words of its argument in another order."""
    header = kernel.header
    x = evaluate(header["x"], None)
    argument = random.permutation(x.reshape(-1)).reshape(x.shape)
    out = evaluate(header["out"], argument)
    launch = header["grid"], header["block"], header.get("cluster")
    return Program(kernel.name, kernel.text, argument, out, *launch)


def _emulated(launch: Program, real: np.ndarray | None, seed: int) -> tuple[int, int, str]:
    """The words that differ in any order, those that were compared, and what was found."""
    warnings.simplefilter("ignore")
    wrong = words = 0
    said = ""
    for order in ORDERS:
        emulator = Emulator(order, seed=seed, arch=TARGET)
        found = launch.run(emulator)
        wanted = launch.out if real is None else real
        words += found.size
        wrong += int(np.count_nonzero(found != wanted))
        said = said or next((str(finding.message) for finding in emulator.findings), "")
    return wrong, words, said
