"""Kernels in Pallas for Mosaic GPU, JAX's compiler for Hopper and Blackwell: own ones, and some of jax's.

    PYTHON tools/compilers/mosaic_kernels.py OUT

PYTHON is one that has `pip install jax jax-cuda13-plugin jax-cuda13-pjrt absl-py` and ptxkit, 3.12 or newer
for the newest jax; no GPU is needed. Mosaic asks the driver which GPU there is, and links what it has made:
each target has a process of its own under `ptxkit exec`, whose GPU is one of that target. `CUDA_HOME` names a
toolkit, for its libdevice.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import core, utils
from jax.experimental.pallas import mosaic_gpu as gpu
from packages import versions

TARGETS = {"sm_90a": (9, 0), "sm_100a": (10, 0), "sm_103a": (10, 3)}
HOPPER, BLACKWELL = ("sm_90a",), ("sm_100a", "sm_103a")
CORES = {"sm_90a": 132, "sm_100a": 148, "sm_103a": 148}
"""Multiprocessors of an H100, a B200 and a B300."""
SWIZZLED = (gpu.TilingTransform((8, 64)), gpu.SwizzleTransform(128))
"""How 16-bit matrices lie in shared memory."""


def array(shape: tuple[int, ...], dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """An array without data."""
    return jax.ShapeDtypeStruct(shape, dtype)


def add(x, y, out):
    out[...] = x[...] + y[...]


def functions(x, out):
    v = x[...]
    out[...] = jnp.exp(v) * jnp.tanh(v) + jnp.sqrt(jnp.abs(v)) - jnp.where(v > 0, jnp.log2(v), v / 3.0)


def softmax(x, out, tile, barrier):
    """Rows of 256: each warp reduces those that it holds as wgmma would leave them."""
    rows = pl.ds(lax.axis_index("i") * 64, 64)
    gpu.copy_gmem_to_smem(x.at[rows], tile, barrier)
    gpu.barrier_wait(barrier)
    v = gpu.load(tile, layout=gpu.Layout.WGMMA, optimized=False).astype(jnp.float32)
    powers = jnp.exp(v - lax.broadcast_in_dim(v.max(axis=1), v.shape, [0]))
    tile[...] = (powers / lax.broadcast_in_dim(powers.sum(axis=1), v.shape, [0])).astype(tile.dtype)
    gpu.commit_smem()
    gpu.copy_smem_to_gmem(tile, out.at[rows])
    gpu.wait_smem_to_gmem(0)


def integers(x, out):
    v = x[...]
    out[...] = (v ^ (v >> 3)) * 7 + lax.rem(v, 13) - lax.max(v, 5 - v)


def matmul_wgmma(a, b, out, staged):
    """Tiles of 128 x 128 of a product: a ring of four stages that the tensor memory accelerator fills."""
    rows = pl.ds(lax.axis_index("m") * 128, 128)
    columns = pl.ds(lax.axis_index("n") * 128, 128)

    def of(sums):
        def step(_, a_tile, b_tile):
            gpu.wgmma(sums, a_tile, b_tile)
            gpu.wgmma_wait(1)

        gpu.emit_pipeline(
            step,
            grid=(a.shape[1] // 64,),
            in_specs=[
                gpu.BlockSpec((128, 64), lambda k: (0, k), transforms=SWIZZLED, delay_release=1),
                gpu.BlockSpec((64, 128), lambda k: (k, 0), transforms=SWIZZLED, delay_release=1),
            ],
            max_concurrent_steps=4,
        )(a.at[rows], b.at[:, columns])
        return sums[...]

    staged[...] = pl.run_scoped(of, gpu.ACC((128, 128))).astype(staged.dtype)
    gpu.commit_smem()
    gpu.copy_smem_to_gmem(staged, out.at[rows, columns])
    gpu.wait_smem_to_gmem(0)


def matmul_tcgen05(a, b, out, a_tile, b_tile, staged, sums, filled, done):
    """One tile of 128 x 128, K of 128, in one step."""
    gpu.copy_gmem_to_smem(a, a_tile, filled)
    gpu.copy_gmem_to_smem(b, b_tile, filled)
    gpu.barrier_wait(filled)
    gpu.tcgen05_mma(sums, a_tile, b_tile, done, accumulate=False)
    gpu.barrier_wait(done)
    staged[...] = gpu.async_load_tmem(sums).astype(staged.dtype)
    gpu.commit_smem()
    gpu.copy_smem_to_gmem(staged, out)
    gpu.wait_smem_to_gmem(0)


def plain(body: Any, count: int, dtype: Any = jnp.float32) -> tuple[Any, ...]:
    """A kernel that reads and writes global memory."""
    whole = array((128, 128), dtype)
    return (gpu.kernel(body, out_type=whole), *[whole] * count)


def rows_softmax() -> tuple[Any, ...]:
    """Rows through shared memory, a CTA for 64 of them."""
    whole = array((256, 256), jnp.bfloat16)
    scratch = (gpu.SMEM((64, 256), jnp.bfloat16, transforms=SWIZZLED), gpu.Barrier())
    made = gpu.kernel(softmax, out_type=whole, grid=(4,), grid_names=("i",), scratch_types=scratch)
    return made, whole


def hopper(dtype: Any) -> tuple[Any, ...]:
    """The product of sm_90a."""
    made = gpu.kernel(
        matmul_wgmma,
        out_type=array((512, 512), dtype),
        grid=(4, 4),
        grid_names=("m", "n"),
        scratch_types=(gpu.SMEM((128, 128), dtype, transforms=SWIZZLED),),
    )
    return made, array((512, 512), dtype), array((512, 512), dtype)


def blackwell(dtype: Any) -> tuple[Any, ...]:
    """The product of sm_100a."""
    whole = array((128, 128), dtype)
    made = gpu.kernel(
        matmul_tcgen05,
        out_type=whole,
        scratch_types=(
            *[gpu.SMEM((128, 128), dtype, transforms=SWIZZLED)] * 3,
            gpu.TMEM((128, 128), jnp.float32),
            gpu.Barrier(num_arrivals=2),
            gpu.Barrier(orders_tensor_core=True),
        ),
    )
    return made, whole, whole


def library(module: str, function: str, *arrays: Any, **tuning: Any) -> tuple[Any, ...]:
    """A kernel that jax brings, with its tuning: of those that don't ask the GPU for its multiprocessors."""
    found = import_module(f"jax.experimental.pallas.ops.gpu.{module}_mgpu")
    config = found.TuningConfig(**tuning)
    return (functools.partial(getattr(found, function), config=config), *arrays)


F16, BF16 = jnp.float16, jnp.bfloat16
SQUARE = (array((512, 512), F16), array((512, 512), F16))
HEADS = [array((1, 512, 2, 64), F16)] * 3
RING = {"tile_m": 128, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4}
CASES: dict[str, tuple[tuple[str, ...], Callable[[], tuple[Any, ...]]]] = {
    "add_f32": (tuple(TARGETS), lambda: plain(add, 2)),
    "add_bf16": (tuple(TARGETS), lambda: plain(add, 2, BF16)),
    "functions": (tuple(TARGETS), lambda: plain(functions, 1)),
    "integers": (tuple(TARGETS), lambda: plain(integers, 1, jnp.int32)),
    "softmax": (tuple(TARGETS), rows_softmax),
    "matmul_wgmma_f16": (HOPPER, lambda: hopper(F16)),
    "matmul_wgmma_bf16": (HOPPER, lambda: hopper(BF16)),
    "matmul_tcgen05_f16": (BLACKWELL, lambda: blackwell(F16)),
    "matmul_tcgen05_bf16": (BLACKWELL, lambda: blackwell(BF16)),
    "jax_matmul": (HOPPER, lambda: library("hopper_matmul", "matmul", *SQUARE, None, **RING)),
    "jax_matmul_cluster": (
        HOPPER,
        lambda: library("hopper_matmul", "matmul", *SQUARE, None, **RING, cluster_dimension=0),
    ),
    "jax_attention": (
        HOPPER,
        lambda: library("attention", "attention", *HEADS, block_q=64, block_kv=64, max_concurrent_steps=2),
    ),
    "jax_attention_causal": (
        HOPPER,
        lambda: library(
            "attention", "attention", *HEADS, block_q=64, block_kv=64, max_concurrent_steps=2, causal=True
        ),
    ),
    "jax_pair_matmul": (
        BLACKWELL,
        lambda: library("blackwell_matmul", "matmul_kernel", *SQUARE, **RING, collective=True),
    ),
    "jax_single_matmul": (
        BLACKWELL,
        lambda: library("blackwell_matmul", "matmul_kernel", *SQUARE, **RING, collective=False),
    ),
}
"""Where each kernel can run, and what makes the kernel and its arguments."""


def lowered(make: Callable[[], tuple[Any, ...]], target: str) -> bytes:
    """A kernel as jax hands it to Mosaic's second half: the dialect of MLIR that the plugin compiles."""
    utils._infer_arch = lambda: TARGETS[target]
    device = jax.sharding.AbstractDevice(device_kind=target, num_cores=CORES[target], platform="gpu")
    core.KNOWN_KERNELS.clear()
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=device)):
        kernel, *arguments = make()
        jax.jit(kernel).trace(*arguments).lower(lowering_platforms=("cuda",))
    return bytes(next(iter(core.KNOWN_KERNELS.values())))


def compiled(module: bytes, folder: Path) -> str:
    """The PTX of a kernel, which Mosaic leaves in a folder."""
    import jax_plugins.xla_cuda13 as plugin

    library = ctypes.CDLL(plugin._get_library_path())
    library.MosaicGpuCompile.argtypes = [ctypes.c_char_p, ctypes.c_int]
    library.MosaicGpuCompile.restype = ctypes.c_void_p
    made = library.MosaicGpuCompile(module, len(module))
    found = sorted(folder.glob("*.ptx"))
    if not made or len(found) != 1:
        raise RuntimeError(
            f"Mosaic compiled {'it' if made else 'nothing'} and left {len(found)} files of PTX"
        )
    return found[0].read_text(encoding="utf-8")


def enter_context() -> None:
    """Make a context current, as Mosaic expects."""
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    for code in (
        driver.cuInit(0),
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        driver.cuCtxSetCurrent(context),
    ):
        if code:
            raise RuntimeError(f"the driver returned {code}")


def one_target(out: Path, target: str, only: str) -> dict[str, str]:
    """Compile the kernels of a target; what went wrong, by file."""
    enter_context()
    failed = {}
    for name, (targets, make) in CASES.items():
        if target not in targets or only not in name:
            continue
        file = f"{name}.{target}.ptx"
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(MOSAIC_GPU_DUMP_PTX="1", MOSAIC_GPU_DUMP_TO=folder)
            try:
                text = compiled(lowered(make, target), Path(folder))
                (out / file).write_text(text.rstrip("\0"), encoding="utf-8")
                print(f"{file}: made", flush=True)
            except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                failed[file] = f"{type(reason).__name__}: {' '.join(str(reason).split())[-300:]}"
                print(f"{file}: {failed[file]}", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--target", choices=TARGETS, help="this target alone, on the GPU that is there")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.target:
        failed = one_target(given.out, given.target, given.only)
        (given.out / f"{given.target}.json").write_text(json.dumps(failed), encoding="utf-8")
        return 0
    failed = {}
    for target in TARGETS:
        again = [sys.executable, __file__, str(given.out), "--only", given.only, "--target", target]
        under = [sys.executable, "-m", "ptxkit", "exec", "--arch", target, "--", *again]
        subprocess.run(under, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        outcome = given.out / f"{target}.json"
        failed |= json.loads(outcome.read_text(encoding="utf-8"))
        outcome.unlink()
    about = {"compiler": "Mosaic GPU", "versions": versions("jax", "jax-cuda13-plugin"), "failed": failed}
    (given.out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
