"""Compare the emulator's tensor copies and `wgmma` with a GPU, bit for bit.

    python tools/compare_asynchronous.py --out bench/results/asynchronous.h200.json
    python tools/compare_asynchronous.py --only emu --copies 60 --tiles 2000   # no GPU: against the formulas

Copies are loads, stores and reductions by random tensor maps, tiled and im2col, most across an edge of
their tensor; what is compared is all of the shared memory around a box, or all of the tensor, but for which
NaN a sum of `f64` is. What the GPU refuses (a coordinate that a store may not have) must be a finding of
the emulator, and no other. Tiles are products of one `wgmma.mma_async` each, in every type, dense and
sparse, of random codes. The same kernels run on both devices (tests/tensor_copy_kernels.py,
tests/wgmma_tiles.py), on the emulator in all three orders.
Needs a GPU of compute capability 9.0; on 16 cores about a minute. Exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import tensor_copy_kernels as copies
import wgmma_tiles as tiles

from ptxkit.asm import parse
from ptxkit.asm.tree import Instruction, Vector
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.isa import registry
from ptxkit.provenance import provenance

ORDERS = ("lazy", "eager", "random")
TARGET = "sm_90a"
COMPARED = ("wgmma.mma_async", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor")
"""Instructions whose forms are recorded."""
EXAMPLES = 5
"""Differences that are kept of each sort."""
GPU_PROCESSES = 8
NARROW, WIDE = 640, 32
"""Tiles of a variant with 8 columns, and of one with more."""


def main() -> int:
    arguments = _arguments()
    pool = multiprocessing.get_context("fork").Pool(arguments.processes)
    try:
        name = "formulas" if arguments.only == "emu" else _gpu().name
    except PtxkitError as missing:
        print(missing, file=sys.stderr)
        return 3
    gpu = arguments.only != "emu"
    started = time.monotonic()
    report = {
        "copies": compare_copies(gpu, pool, arguments.copies, arguments.seed),
        "tiles": compare_tiles(_gpu() if gpu else None, pool, arguments.tiles, arguments.seed),
    }
    pool.close()
    for part, found in report.items():
        print(f"{name}: {part}: {found['compared']} compared, {found['different']} different")
        for example in found["examples"]:
            print(json.dumps(example))
    if arguments.out:
        head = {"schema": 1, "kind": "asynchronous", **provenance(), "gpu": name, "target": TARGET}
        seconds = round(time.monotonic() - started, 1)
        forms = _forms(found.pop("by kernel") for found in report.values())
        document = {**head, "seed": arguments.seed, "seconds": seconds, **report, "forms": forms}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if any(found["different"] for found in report.values()) else 0


def _forms(counts: Iterable[dict[str, tuple[int, int]]]) -> list[dict[str, Any]]:
    """For each row of the instruction set how often it was compared, and how often without success.

    Args:
        counts: both by the text of a kernel.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for texts in counts:
        for text, (compared, different) in texts.items():
            (function,) = parse(text).functions
            assert function.body is not None
            for statement in function.body.statements:
                if not isinstance(statement, Instruction):
                    continue
                found = registry.spelling(statement.opcode, statement.modifiers)
                if not found.name.startswith(COMPARED):
                    continue
                from_shared = len(statement.operands) > 1 and not isinstance(statement.operands[1], Vector)
                for candidate in found.candidates:
                    form = candidate.form
                    if statement.opcode == "wgmma" and ("a-desc" in form.syntax) != from_shared:
                        continue
                    key = form.section, form.syntax
                    row = {"section": key[0], "form": key[1], "instances": 0, "mismatches": 0}
                    entry = rows.setdefault(key, row)
                    entry["instances"] += compared
                    entry["mismatches"] += different
    return [rows[key] for key in sorted(rows)]


def _gpu() -> Any:
    import ptxkit

    return ptxkit.open_device("cuda")


# ---- tensor copies

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
    bench = copies.Bench(_gpu())
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


# ---- tiles


def compare_tiles(device: Any, pool: Any, count: int, seed: int) -> dict[str, Any]:
    """Counts by types of D, A and B, and what differed."""
    jobs = []
    for number, (variant, some) in enumerate(_variants(count, seed)):
        made = None
        if device is not None:
            made = tiles.run(device, variant, tiles.random_tiles(variant, some, number))
        jobs.append(
            (
                variant,
                some,
                pool.apply_async(_emulated_tiles, (variant, some, number, ORDERS[number % 3], made)),
            )
        )
    by_types: Counter[str] = Counter()
    by_kernel: dict[str, tuple[int, int]] = {}
    examples: list[dict[str, Any]] = []
    different = compared = elements = 0
    for variant, some, job in jobs:
        wrong, of_all, said = job.get()
        compared += some
        elements += of_all
        by_types[f"{'.'.join(variant.types)}{' sparse' if variant.sparse else ''}"] += some
        text = tiles.sources(variant)
        before = by_kernel.get(text, (0, 0))
        by_kernel[text] = before[0] + some, before[1] + bool(wrong or said)
        if wrong or said:
            different += 1
            if len(examples) < EXAMPLES:
                examples.append({"variant": repr(variant), "elements": wrong, "of": of_all, "said": said})
    return {
        "compared": compared,
        "different": different,
        "variants": len(jobs),
        "elements": elements,
        "by types": dict(sorted(by_types.items())),
        "by kernel": by_kernel,
        "examples": examples,
    }


def _variants(count: int, seed: int) -> Iterator[tuple[tiles.Variant, int]]:
    """Variants with a number of tiles each, `count` in all: the narrow ones many, all widths some."""
    left = count
    for each in range(1000):
        for variant in tiles.variants(seed + each):
            some = min(NARROW if variant.n == 8 else WIDE, left)
            if not some:
                return
            left -= some
            yield variant, some


def _emulated_tiles(
    variant: tiles.Variant, some: int, seed: int, order: str, real: np.ndarray | None
) -> tuple[int, int, str]:
    warnings.simplefilter("ignore")
    chosen = tiles.random_tiles(variant, some, seed)
    emulator = Emulator(arch=TARGET, order=order)
    made = tiles.run(emulator, variant, chosen)
    expected = tiles.expected(variant, chosen) if real is None else real
    said = str(emulator.findings[0].message) if emulator.findings else ""
    return int((made != expected).sum()), made.size, said


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--copies", type=int, default=1500, help="random tensor copies")
    parser.add_argument("--tiles", type=int, default=60000, help="random tiles")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--only", choices=["emu"], help="the emulator alone, against formulas and model")
    parser.add_argument("--out", type=Path, help="keep the figures as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
