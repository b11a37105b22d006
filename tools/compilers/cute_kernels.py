"""Kernels in the CuTe DSL, own ones and some of nvidia-cutlass-operators, compiled for sm_90a and sm_100a.

    PYTHON tools/compilers/cute_kernels.py OUT

PYTHON is one that has `pip install 'nvidia-cutlass-dsl[cu13]' nvidia-cutlass-operators numpy torch`; no GPU
is needed. Without `[cu13]` the compiler is that of CUDA 12. The last three are for the products: where one is
missing, these fail, and the own kernels are made.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

SCRATCH = tempfile.TemporaryDirectory()
os.environ["CUTE_DSL_DUMP_DIR"] = SCRATCH.name  # where the compiler leaves its files: it asks when imported

import cutlass  # noqa: E402
from cutlass import cute  # noqa: E402
from cutlass.cute import runtime  # noqa: E402
from packages import versions  # noqa: E402

TARGETS = ("sm_90a", "sm_100a")
CLUSTERS = 64
"""Clusters that a persistent kernel may have at once."""


@cute.kernel
def _add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 128 + thread
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    _add(a, b, c).launch(grid=(8, 1, 1), block=(128, 1, 1))


@cute.kernel
def _row_sums(a: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    memory = cutlass.utils.SmemAllocator()
    partial = memory.allocate_tensor(cutlass.Float32, cute.make_layout(4))
    total = cutlass.Float32(0.0)
    for i in cutlass.range(thread, cute.size(a, mode=[1]), 128):
        total += cute.exp(a[row, i].to(cutlass.Float32))
    for step in cutlass.range_constexpr(5):
        total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
    if thread % 32 == 0:
        partial[thread // 32] = total
    cute.arch.sync_threads()
    if thread == 0:
        out[row] = cute.log(partial[0] + partial[1] + partial[2] + partial[3])


@cute.jit
def row_sums(a: cute.Tensor, out: cute.Tensor):
    _row_sums(a, out).launch(grid=(64, 1, 1), block=(128, 1, 1))


@cute.kernel
def _copy_tiles(a: cute.Tensor, b: cute.Tensor, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    mine = copy.get_slice(thread)
    source = mine.partition_S(a[((None, None), (block, 0))])
    target = mine.partition_D(b[((None, None), (block, 0))])
    held = cute.make_fragment_like(source)
    cute.copy(copy, source, held)
    held.store(held.load() * 2.0)
    cute.copy(copy, held, target)


@cute.jit
def copy_tiles(a: cute.Tensor, b: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), a.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((16, 8), stride=(8, 1)), cute.make_layout((1, 4)))
    tile = (16, 32)
    _copy_tiles(cute.zipped_divide(a, tile), cute.zipped_divide(b, tile), copy).launch(
        grid=(4, 1, 1), block=(128, 1, 1)
    )


def tensor(dtype: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """A tensor without data; `order` ranks the strides, 0 the innermost."""
    return runtime.make_fake_compact_tensor(dtype, shape, stride_order=order, assumed_align=16)


def implementation(name: str) -> Any:
    """A module of nvidia-cutlass-operators with a kernel."""
    return import_module(f"cutlass.operators.providers.cutedsl.gemm.implementations.{name}_impl")


def operands(dtype: Any, out: Any) -> tuple[Any, Any, Any]:
    """A, B and C of a batched product, 512 x 512 x 256."""
    row, column = (2, 1, 0), (2, 0, 1)
    return (
        tensor(dtype, (1, 512, 256), row),
        tensor(dtype, (1, 256, 512), column),
        tensor(out, (1, 512, 512), row),
    )


def hopper(dtype: Any, tile: tuple[int, int], cluster: tuple[int, int]) -> tuple[Any, ...]:
    """The persistent product of sm_90a."""
    kernel = implementation("sm90_static_persistent").Sm90StaticPersistentGemmKernel(
        cutlass.Float32, tile, cluster
    )
    return (kernel, *operands(dtype, cutlass.Float16), CLUSTERS, runtime.make_fake_stream())


def blackwell(
    dtype: Any, pair: bool, tile: tuple[int, int], cluster: tuple[int, int], tma: bool
) -> tuple[Any, ...]:
    """The persistent product of sm_100a."""
    module = implementation("sm100_persistent")
    names = [name for name in vars(module) if name.endswith("Kernel")]
    scheduler = module.PersistentTileSchedulerType
    kernel = getattr(module, names[0])(
        cutlass.Float32, pair, tile, cluster, tma, next(iter(scheduler)), lambda x: x
    )
    return (kernel, *operands(dtype, cutlass.Float16), runtime.make_fake_stream(), CLUSTERS)


def thin() -> tuple[Any, ...]:
    """The product of sm_100a for a few columns."""
    module = implementation("sm100_tgv_gemm")
    name = next(
        name
        for name in vars(module)
        if name.lower().startswith(("tgv", "sm100")) and isinstance(vars(module)[name], type)
    )
    kernel = getattr(module, name)()
    a = tensor(cutlass.BFloat16, (512, 256, 1), (1, 0, 2))
    b = tensor(cutlass.BFloat16, (8, 256, 1), (1, 0, 2))
    c = tensor(cutlass.BFloat16, (512, 8, 1), (0, 1, 2))
    return (kernel, a, b, c, runtime.make_fake_stream())


F16, BF16, F32 = cutlass.Float16, cutlass.BFloat16, cutlass.Float32
VECTOR = (F32, (1024,), (0,))
CASES: dict[str, tuple[tuple[str, ...], Callable[[], tuple[Any, ...]]]] = {
    "add": (TARGETS, lambda: (add, *(tensor(*VECTOR) for _ in range(3)))),
    "row_sums": (TARGETS, lambda: (row_sums, tensor(BF16, (64, 1024), (1, 0)), tensor(F32, (64,), (0,)))),
    "copy_tiles": (TARGETS, lambda: (copy_tiles, *(tensor(F32, (64, 32), (1, 0)) for _ in range(2)))),
    "gemm_f16": (("sm_90a",), lambda: hopper(F16, (128, 128), (1, 1))),
    "gemm_bf16_cluster": (("sm_90a",), lambda: hopper(BF16, (128, 256), (2, 1))),
    "gemm_fp8": (("sm_90a",), lambda: hopper(cutlass.Float8E4M3FN, (64, 128), (1, 2))),
    "gemm_pair_f16": (("sm_100a",), lambda: blackwell(F16, True, (256, 128), (2, 1), True)),
    "gemm_bf16": (("sm_100a",), lambda: blackwell(BF16, False, (128, 128), (1, 1), True)),
    "gemm_without_tma_store": (("sm_100a",), lambda: blackwell(F16, False, (128, 64), (1, 1), False)),
    "gemm_fp8_pair": (("sm_100a",), lambda: blackwell(cutlass.Float8E5M2, True, (256, 256), (2, 2), True)),
    "gemm_tf32": (("sm_100a",), lambda: blackwell(cutlass.TFloat32, False, (128, 128), (1, 1), True)),
    "gemm_thin": (("sm_100a",), thin),
}
"""Where each kernel can run, and what makes the kernel and its arguments."""


def compiled(make: Callable[[], tuple[Any, ...]], target: str) -> str:
    """The PTX of a kernel."""
    kernel, *arguments = make()
    made = cute.compile(kernel, *arguments, options=f"--keep-ptx --gpu-arch={target}")
    return str(made.__ptx__)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    failed = {}
    for name, (targets, make) in CASES.items():
        for target in targets if given.only in name else ():
            file = f"{name}.{target}.ptx"
            try:
                (out / file).write_text(compiled(make, target).rstrip("\0"), encoding="utf-8")
                print(f"{file}: made", flush=True)
            except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                failed[file] = f"{type(reason).__name__}: {' '.join(str(reason).split())[-300:]}"
                print(f"{file}: {failed[file]}", flush=True)
    made_by = versions("nvidia-cutlass-dsl", "nvidia-cutlass-dsl-libs-cu13", "nvidia-cutlass-operators")
    about = {"compiler": "CuTe DSL", "versions": made_by, "failed": failed}
    (out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
