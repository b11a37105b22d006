"""Hopper kernels beside what bounds them and beside others', by turns in one process, as JSON.

    python bench/peers/hopper.py gemm > gemm.json      # gemm_wgmma.ptx and cuBLAS, 8192^3
    python bench/peers/hopper.py attn > attn.json      # attn_dist.ptx, gathers alone, Triton, cuBLAS
    python bench/peers/hopper.py flash > flash.json    # flash_attn.ptx, cuDNN, FlashAttention-2
    python bench/peers/hopper.py fp8 > fp8.json        # gemm_fp8.ptx, DeepGEMM, cuBLAS
    python bench/peers/hopper.py sparse > sparse.json  # sparse_attn_bwd_sm90a.ptx, its additions, Triton

    python tools/record_results.py attn.json           # keeps it as bench/results/attn_dist.peers.h200.json

Needs a Hopper GPU, and PyTorch for cuBLAS and the random inputs; Triton takes part where it is installed.
Operands are normally distributed: on zeros the same kernels are faster. The caches are not flushed, as the
operands are many times the L2 cache or are read from it on purpose. Under `wgmma` the chip meets its power
cap, so that a kernel's speed depends on what ran before it: each round has an order of its own. A figure is
the median of all samples of all rounds; the clock, in Hz, is the median over the rounds.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import math
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from flash_attn import flash
from gemm_fp8 import fp8

import ptxkit
from ptxkit.driver import Stopwatch
from ptxkit.machine.provenance import provenance

try:
    import attn_dist_triton
    import sparse_attn
except ImportError:
    attn_dist_triton = sparse_attn = None

ROOT = Path(__file__).resolve().parents[2]
ROUNDS, SAMPLES = 20, 5
DEPTH = 576
QUERIES, KEYS, CHOSEN = 4096, 32768, 2048
SCALE, SHARED = 0.060112293, 229472
"""As in the card of attn_dist.ptx."""


def turns(watch: Any, launches: dict[str, Callable[[], Any]], work: dict[str, float]) -> dict[str, Any]:
    """Rates of each launch in TFLOP/s, sampled by turns: a drift of the clock falls on all of them."""
    for launch in launches.values():
        watch.prime(launch)
    seconds: dict[str, list[float]] = {name: [] for name in launches}
    clocks: dict[str, list[float]] = {name: [] for name in launches}
    orders = random.Random(0)
    for _ in range(ROUNDS):
        for name in orders.sample(list(launches), len(launches)):
            watch.start_clock()
            seconds[name] += watch.times(launches[name], SAMPLES)
            clocks[name].append(watch.sm_clock())
    found = {}
    for name, times in seconds.items():
        low, median, high = statistics.quantiles(times, n=4)
        found[name] = {
            "seconds": median,
            "quartiles": [low, high],
            "tflops": work[name] / median / 1e12,
            "sm_clock": statistics.median(clocks[name]),
            "samples": len(times),
        }
    return found


def cublas(watch: Any, size: int = 8192) -> tuple[Callable[[], Any], tuple[torch.Tensor, ...]]:
    """A launch of torch.matmul in the watch's stream, and its operands a, b (transposed) and d."""
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    d = torch.empty_like(a)
    stream = torch.cuda.ExternalStream(int(watch.stream.handle))

    def launch() -> None:
        with torch.cuda.stream(stream):
            torch.matmul(a, b.T, out=d)

    return launch, (a, b, d)


def gemm(device: Any) -> dict[str, Any]:
    """gemm_wgmma.ptx and cuBLAS on the same operands."""
    size = 8192
    watch = Stopwatch(device, "none")
    peer, (a, b, d) = cublas(watch, size)
    own = torch.empty_like(d)
    maps = [
        ptxkit.tensor_map(
            tensor.data_ptr(), dtype="bf16", shape=(size, size), strides=(2 * size,), box=box, swizzle="128B"
        )
        for tensor, box in ((a, (128, 64)), (b, (128, 64)), (own, (64, 64)))
    ]
    own.fill_(float("nan"))
    kernel = device.load(ROOT / "kernels_ptx" / "gemm_wgmma.ptx").kernel("gemm_wgmma")
    args = [*maps, size // 256, size // 256, size // 64]
    launch = kernel.prepare(132, 384, args, cluster=2, shared=229504, stream=watch.stream)
    launches = {"gemm_wgmma.ptx": launch, "cuBLAS": peer}
    figures = turns(watch, launches, dict.fromkeys(launches, 2.0 * size**3))
    rows = slice(0, size, 64)
    exact = a[rows].double() @ b.double().T
    errors = {
        name: ((found[rows].double() - exact).norm() / exact.norm()).item()
        for name, found in zip(launches, (own, d), strict=True)
    }
    differs = (own.float() - d.float()).abs().max().item()
    return {"size": size, "figures": figures, "errors": errors, "largest_difference": differs}


def attn(device: Any) -> dict[str, Any]:
    """attn_dist.ptx with 128 and 64 heads, its gathers alone, Triton's kernels, and cuBLAS."""
    watch = Stopwatch(device, "none")
    peer, _ = cublas(watch)
    launches: dict[str, Callable[[], Any]] = {"cuBLAS": peer}
    work = {"cuBLAS": 2.0 * 8192**3}
    k = torch.randn(KEYS, DEPTH, device="cuda").bfloat16()
    indices = torch.randint(0, KEYS, (QUERIES, CHOSEN), device="cuda", dtype=torch.int32)
    kept: list[Any] = [k, indices]
    sums = torch.empty(QUERIES, CHOSEN, device="cuda")
    tuned, errors = {}, {}
    for heads in (128, 64):
        q = torch.randn(QUERIES * heads, DEPTH, device="cuda").bfloat16()
        lse = torch.randn(QUERIES, heads, device="cuda") + 11
        kept += [q, lse]
        q_map = ptxkit.tensor_map(
            q.data_ptr(), dtype="bf16", shape=q.shape, strides=(2 * DEPTH,), box=(64, 64), swizzle="128B"
        )
        tensors = [tensor.data_ptr() for tensor in (k, indices, lse, sums)]
        args = [q_map, *tensors, QUERIES, heads, KEYS, CHOSEN, KEYS, 1, SCALE]
        own = {}
        for name, folder in (("attn_dist", "kernels_ptx"), ("attn_gather", "bench/kernels")):
            kernel = device.load(ROOT / folder / f"{name}.ptx").kernel(name)
            own[f"{name}.ptx"] = kernel.prepare(132, 384, args, shared=SHARED, stream=watch.stream)
        if attn_dist_triton is not None:
            stream = torch.cuda.ExternalStream(int(watch.stream.handle))
            inputs, sizes = (q, k, indices, lse, sums), (KEYS, CHOSEN, KEYS, 1)
            for name, (launch, best) in attn_dist_triton.tune(stream, heads, inputs, sizes).items():
                own[f"Triton, {name}"] = launch
                tuned[f"{name}, {heads} heads"] = best
        for name, launch in own.items():
            launches[f"{name}, {heads} heads"] = launch
            work[f"{name}, {heads} heads"] = 2.0 * QUERIES * heads * CHOSEN * DEPTH
            if name != "attn_gather.ptx":
                errors[f"{name}, {heads} heads"] = error(launch, device, q, k, indices, lse, sums)
    return {
        "sizes": {"s_q": QUERIES, "s_kv": KEYS, "topk": CHOSEN},
        "figures": turns(watch, launches, work),
        "errors": errors,
        "triton": {"version": importlib.metadata.version("triton"), **tuned} if tuned else None,
    }


def error(launch: Callable[[], Any], device: Any, *tensors: torch.Tensor) -> float:
    """Over the norm of float64 results, that of the difference to them; of every 64th query."""
    q, k, indices, lse, sums = tensors
    sums.fill_(float("nan"))
    torch.cuda.synchronize()
    launch()
    device.synchronize()
    heads = lse.shape[1]
    found, exact = [], []
    for query in range(0, QUERIES, 64):
        rows = q[query * heads : (query + 1) * heads].double()
        products = rows @ k[indices[query].long()].double().T
        exact.append(torch.exp2(products * SCALE - lse[query].double()[:, None]).sum(0))
        found.append(sums[query].double())
    difference = torch.stack(found) - torch.stack(exact)
    return (difference.norm() / torch.stack(exact).norm()).item()


LARGEST = {"gemm": 4e-3, "attn": 1e-3, "flash": 4e-3, "fp8": 4e-3, "sparse": 4e-3}
"""The greatest error over the norm that counts as right: of bf16 results, and of f32."""
ROUNDED = 6e-3
"""The same of PyTorch's sparse gradient, which rounds what it adds up to bf16."""


def right(what: str, name: str, error: float) -> bool:
    """Whether a result of a measurement is right, by what it is called and its error over the norm."""
    rounded = what == "sparse" and ", PyTorch, " in name
    return math.isfinite(error) and error < (ROUNDED if rounded else LARGEST[what])


FILES = {
    "gemm": ("kernels_ptx/gemm_wgmma.ptx",),
    "attn": ("kernels_ptx/attn_dist.ptx", "bench/kernels/attn_gather.ptx"),
    "flash": ("kernels_ptx/flash_attn.ptx",),
    "fp8": ("kernels_ptx/gemm_fp8.ptx",),
    "sparse": ("kernels_ptx/sparse_attn_bwd_sm90a.ptx", "bench/kernels/sparse_attn_adds.ptx"),
}
"""The kernel texts of a measurement."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=tuple(FILES))
    what = parser.parse_args().what
    torch.cuda.init()
    torch.manual_seed(0)
    device = ptxkit.open_device("cuda")
    gpu = device.describe()
    measured = {
        "gemm": gemm,
        "attn": attn,
        "flash": lambda device: flash(device, turns),
        "fp8": lambda device: fp8(device, turns),
        "sparse": lambda device: sparse_attn.sparse(device, turns, cublas),
    }
    found = measured[what](device)
    document = {
        "schema": 1,
        "kind": "peers",
        "ok": all(right(what, name, error) for name, error in found["errors"].items()),
        **provenance(),
        "device": gpu["name"],
        "gpu": gpu,
        "torch": torch.__version__,
        "files": [
            {"file": Path(file).name, "sha256": hashlib.sha256((ROOT / file).read_bytes()).hexdigest()}
            for file in FILES[what]
        ],
        **found,
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
