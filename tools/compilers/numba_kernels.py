"""Kernels that numba-cuda compiles to PTX for several targets.

    PYTHON tools/compilers/numba_kernels.py OUT

PYTHON is one that has numba-cuda with its compiler, `pip install 'numba-cuda[cu13]' 'numpy<2.5'`; no GPU is
needed. numba-cuda up to 0.30.4 asks numpy for what 2.5 no longer has.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numba.cuda.dispatcher
import numpy as np
from numba import cuda
from packages import demand, versions

INSTALL = "'numba-cuda[cu13]' 'numpy<2.5'"
TARGETS = ((7, 5), (8, 0), (8, 9), (9, 0), (10, 0), (12, 0))


def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def tile_sums(x, out):
    tile = cuda.shared.array(256, numba.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if lane < step:
            tile[lane] += tile[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.add(out, 0, tile[0])


def warp(x, out):
    i = cuda.grid(1)
    value = x[i]
    for shift in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, shift)
    out[i] = value + cuda.popc(cuda.ballot_sync(0xFFFFFFFF, value > 0)) + cuda.laneid


def atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, i % 7, x[i])
    cuda.atomic.min(out, i % 5, x[i])
    cuda.atomic.exch(out, 9, x[i])
    cuda.atomic.cas(out, 10, x[i], i)
    cuda.threadfence()


def functions(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = (
        math.sin(v) + math.exp(v) * math.sqrt(abs(v)) + math.log1p(abs(v)) + math.pow(v, 3.5) + math.erf(v)
    )


def local_sort(x, out):
    kept = cuda.local.array(8, numba.int32)
    for j in range(8):
        kept[j] = x[cuda.grid(1) * 8 + j]
    for a in range(8):
        for b in range(7 - a):
            if kept[b] > kept[b + 1]:
                kept[b], kept[b + 1] = kept[b + 1], kept[b]
    for j in range(8):
        out[cuda.grid(1) * 8 + j] = kept[j] // (j + 1)


F32, F64, I32 = (np.zeros(1, type_) for type_ in (np.float32, np.float64, np.int32))
CASES: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "axpy_f32": (axpy, (np.float32(1), F32, F32)),
    "axpy_f64": (axpy, (np.float64(1), F64, F64)),
    "tile_sums": (tile_sums, (F32, F32)),
    "warp": (warp, (I32, I32)),
    "atomics": (atomics, (I32, I32)),
    "functions_f32": (functions, (F32, F32)),
    "functions_f64": (functions, (F64, F64)),
    "local_sort": (local_sort, (I32, I32)),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    demand(INSTALL, "nvidia-nvvm")
    if not hasattr(np, "row_stack"):
        sys.exit(f"numpy {np.__version__} has no `row_stack`, which numba-cuda uses: pip install {INSTALL}")
    given.out.mkdir(parents=True, exist_ok=True)
    failed = {}
    for name, (kernel, arguments) in CASES.items():
        for target in TARGETS:
            file = f"{name}.sm_{target[0]}{target[1]}.ptx"
            device = SimpleNamespace(compute_capability=target)
            numba.cuda.dispatcher.get_current_device = lambda device=device: device
            try:
                signature = tuple(numba.typeof(argument) for argument in arguments)
                text, _ = cuda.compile_ptx(kernel, signature, cc=target)
                written = text if isinstance(text, str) else text.decode()
                (given.out / file).write_text(written.rstrip("\0"), encoding="utf-8")
                print(f"{file}: made", flush=True)
            except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                failed[file] = f"{type(reason).__name__}: {' '.join(str(reason).split())[-300:]}"
                print(f"{file}: {failed[file]}", flush=True)
    about = {"compiler": "numba-cuda", "versions": versions("numba-cuda", "nvidia-nvvm"), "failed": failed}
    (given.out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
