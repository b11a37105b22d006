"""gemv.ptx beside a read-only sweep of the same bytes, Triton and CUDA C++, by turns in one process, as JSON.

    python bench/peers/gemv.py > gemv.json

Needs a Hopper GPU, PyTorch, Triton and nvcc. The L2 cache is flushed before each sample. The inputs are the
contest's own, for which the products in f16 of gemv.cu stay in range; every kernel's result is compared with
the reference. Triton's figure is of the configuration that was fastest in a first round; the sweep's is the
best of its grids, all of which take part in all rounds.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

import ptxkit
from ptxkit import card
from ptxkit.driver import CudaDevice, Stopwatch
from ptxkit.machine.provenance import provenance
from ptxkit.plan import Program, Request, make
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.session import as_gpu
from ptxkit.shipped import kernels

PRESETS = ("bench_7168x16384x1", "bench_4096x7168x8", "bench_7168x2048x4")
ROUNDS, SAMPLES, TRIED = 10, 20, 10
SWEEPS = (4, 8, 16, 32)
TILES = tuple(itertools.product((4, 8, 16), (512, 1024, 2048), (4, 8)))
"""Rows and elements of K of a Triton tile, and its warps."""
Launch = Callable[[], Any]


@triton.jit
def e2m1_halves(codes):  # type: ignore[no-untyped-def]
    """2**-14 times the low nibbles of words: sign, exponent and mantissa moved to their places in f16."""
    bits = ((codes & 8) << 12) | ((codes & 7) << 9)
    return bits.to(tl.int16).to(tl.float16, bitcast=True) * 16384.0


@triton.jit
def triton_gemv(a, sfa, b, sfb, c, M, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    """A tile of ROWS x COLUMNS elements at a time; blocks of 16 are scaled and added in f32."""
    batch = tl.program_id(1)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = rows < M
    row_bytes, row_scales = K // 2, K // 16
    at = (batch * M + rows).to(tl.int64)
    total = tl.zeros([ROWS, COLUMNS // 16], tl.float32)
    for k in range(0, K, COLUMNS):
        column = k // 2 + tl.arange(0, COLUMNS // 2)
        scale = k // 16 + tl.arange(0, COLUMNS // 16)
        use = inside[:, None] & (column < row_bytes)[None, :]
        x = tl.load(a + at[:, None] * row_bytes + column[None, :], mask=use, other=0).to(tl.int32)
        y = tl.load(b + batch * 128 * row_bytes + column, mask=column < row_bytes, other=0).to(tl.int32)
        use = inside[:, None] & (scale < row_scales)[None, :]
        sx = tl.load(sfa + at[:, None] * row_scales + scale[None, :], mask=use, other=0)
        sy = tl.load(sfb + batch * 128 * row_scales + scale, mask=scale < row_scales, other=0)
        products = (
            e2m1_halves(x) * e2m1_halves(y)[None, :] + e2m1_halves(x >> 4) * e2m1_halves(y >> 4)[None, :]
        )
        blocks = tl.sum(tl.reshape(products.to(tl.float32), [ROWS, COLUMNS // 16, 8]), 2)
        scales = sx.to(tl.float8e4nv, bitcast=True).to(tl.float32)
        total += blocks * scales * sy.to(tl.float8e4nv, bitcast=True).to(tl.float32)[None, :]
    tl.store(c + at, tl.sum(total, 1).to(tl.float16), mask=inside)


class Problem:
    """One preset: gemv.ptx on its buffers, and everybody else on the same ones."""

    def __init__(self, device: CudaDevice, watch: Stopwatch, preset: str) -> None:
        self.device, self.watch = device, watch
        name, path = kernels.find("gemv.ptx")
        module = ptxkit.parse(path)
        assert module.source is not None
        plan = make(
            Program(name, str(path)),
            module,
            card.read(module.source),
            Request(preset=preset, inputs="contest"),
        )
        self.case = Case(plan)
        self.on_device = LoadedPlan(device, device.load(module), plan)
        self.on_device.fill(self.case.inputs)
        self.sizes = [plan.sizes[name] for name in ("M", "K", "L")]
        self.launches: dict[str, Launch] = {"gemv.ptx": self.on_device.prepare(watch)}
        self.stream = torch.cuda.ExternalStream(int(watch.stream.handle))

    def addresses(self) -> list[Any]:
        """The operands and the result, in the order in which all kernels take them."""
        return [self.on_device.buffers[name] for name in ("a", "sfa", "b", "sfb", "c")]

    def sweeps(self, kernel: Any) -> dict[str, Launch]:
        """Reading as many bytes as the problem must, by roofs/stream.ptx."""
        M, K, L = self.sizes
        words = L * (M + 1) * (K // 2 + K // 16) // 16
        source = self.device.array(np.random.default_rng(0).integers(0, 1 << 32, 4 * words, np.uint32))
        found = {}
        for ctas in SWEEPS:
            sums = self.device.empty((132 * ctas,), "u32")
            arguments = [source, source, sums, words, 0]
            found[f"{ctas} CTAs a multiprocessor"] = kernel.prepare(
                132 * ctas, 256, arguments, stream=self.watch.stream
            )
        return found

    def cuda(self, module: Any) -> Any:
        """gemv.cu: two warps a row for one batch, else up to four batches a CTA, 8 or 32 warps of it."""
        M, K, L = self.sizes
        batches = 1 if L == 1 else 4 if L == 8 else 2
        rows, threads = {1: (4, 256), 2: (8, 256), 4: (16, 1024)}[batches]
        kernel = module.kernel(f"gemv_{batches}")
        return kernel.prepare(
            (-(-M // rows), L // batches),
            threads,
            [*self.addresses(), M, K],
            shared=batches * (K // 2 + K // 16),
            stream=self.watch.stream,
        )

    def tritons(self) -> dict[str, Launch]:
        """Triton's kernel in every configuration that compiles."""
        M, K, L = self.sizes
        tensors = [torch.as_tensor(buffer, device="cuda") for buffer in map(as_bytes, self.addresses())]
        tensors[-1] = tensors[-1].view(torch.float16)

        def prepared(tile: tuple[int, int, int]) -> Launch:
            rows, columns, warps = tile

            def launch() -> None:
                with torch.cuda.stream(self.stream):
                    triton_gemv[(-(-M // rows), L)](*tensors, M, K, rows, columns, num_warps=warps)

            launch()
            torch.cuda.synchronize()
            return launch

        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(prepared, TILES))
        return {f"{r} x {k}, {w} warps": launch for (r, k, w), launch in zip(TILES, made, strict=True)}

    def wrong(self, launch: Launch) -> int:
        """Results that are not within the tolerance."""
        self.on_device.fill(self.case.inputs)
        self.watch.prime(launch)
        return sum(found.wrong for found in self.case.compare(self.on_device.outputs()))

    def best(self, launches: dict[str, Launch]) -> tuple[str, Launch]:
        """The fastest of several launches, by a few samples."""
        seconds = {}
        for name, launch in launches.items():
            self.watch.prime(launch)
            seconds[name] = statistics.median(self.watch.times(launch, TRIED))
        name = min(seconds, key=lambda name: seconds[name])
        return name, launches[name]


def as_bytes(buffer: Any) -> Any:
    """A view of a buffer that PyTorch takes, whatever its type."""

    class View:
        __cuda_array_interface__ = {
            "shape": (buffer.nbytes,),
            "typestr": "|u1",
            "data": (buffer.address, False),
            "version": 3,
        }

    return View()


def measure(problem: Problem, sweep: Any, module: Any) -> dict[str, Any]:
    """Medians in seconds, in turns: a drift of the clock falls on all of them."""
    launches, chosen = dict(problem.launches), {}
    sweeps = problem.sweeps(sweep)
    launches |= sweeps
    chosen["Triton"], launches["Triton"] = problem.best(problem.tritons())
    launches["CUDA C++"] = problem.cuda(module)
    wrong = {name: problem.wrong(launch) for name, launch in launches.items() if name not in sweeps}
    launches["empty kernel"] = problem.watch.nothing
    seconds: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(ROUNDS):
        for name, launch in launches.items():
            problem.watch.prime(launch)
            seconds[name] += problem.watch.times(launch, SAMPLES)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    of_sweeps = {name: medians.pop(name) for name in sweeps}
    chosen["sweep"] = min(of_sweeps, key=lambda name: of_sweeps[name])
    medians["sweep"] = of_sweeps[chosen["sweep"]]
    ratios = {name: median / medians["sweep"] for name, median in medians.items()}
    return {
        "sizes": problem.sizes,
        "chosen": chosen,
        "seconds": medians,
        "sweeps": of_sweeps,
        "over_sweep": ratios,
        "wrong": wrong,
    }


def main() -> None:
    """Measure and print."""
    torch.cuda.init()
    device = as_gpu(ptxkit.open_device("cuda"))
    watch = Stopwatch(device)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "gemv.ptx"
        source = Path(__file__).with_name("gemv.cu")
        subprocess.run(["nvcc", "-arch=sm_90", "-O3", "-ptx", source, "-o", text], check=True)
        module = device.load(text)
    sweep = device.load(kernels.find("roofs/stream.ptx")[1]).kernel("stream")
    found = [measure(Problem(device, watch, preset), sweep, module) for preset in PRESETS]
    means = {
        name: statistics.geometric_mean(problem["over_sweep"][name] for problem in found)
        for name in found[0]["over_sweep"]
    }
    gpu = device.describe()
    document = {
        "schema": 1,
        "kind": "peers",
        "ok": not any(wrong for problem in found for wrong in problem["wrong"].values()),
        **provenance(),
        "device": gpu["name"],
        "gpu": gpu,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "files": [
            {"file": file, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for file, path in map(kernels.find, ("gemv.ptx", "roofs/stream.ptx"))
        ],
        "problems": found,
        "mean_over_sweep": means,
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
