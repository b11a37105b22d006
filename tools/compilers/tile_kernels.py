"""Kernels of cuda-tile (cuTile Python), whose compiler hands PTX to ptxas: what it hands over.

    PYTHON tools/compilers/tile_kernels.py OUT

PYTHON is one that has cuda-tile and its compiler, `pip install cuda-tile nvidia-cuda-tileiras`; no GPU is
needed. `tileiras` calls the ptxas that lies beside it, so it runs from a folder where that is a script that
keeps its input.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile import compilation
from packages import demand, versions

TARGETS = "sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_107 sm_110 sm_120 sm_121".split()
KEEPER = """#!/bin/sh
for argument in "$@"; do case "$argument" in *.ptx) cp "$argument" "{kept}";; esac; done
exec "{ptxas}" "$@"
"""
"""A ptxas that keeps its input."""
Constant = ct.Constant[int]


@ct.kernel
def add(a, b, c, T: Constant):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(T,)) + ct.load(b, index=(i,), shape=(T,)))


@ct.kernel
def matmul(a, b, c, M: Constant, N: Constant, K: Constant):
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K))
        sums = ct.mma(left, ct.load(b, index=(k, j), shape=(K, N)), sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@ct.kernel
def softmax(x, out, N: Constant):
    row = ct.bid(0)
    values = ct.astype(ct.load(x, index=(row, 0), shape=(1, N)), ct.float32)
    powers = ct.exp(values - ct.max(values, axis=1, keepdims=True))
    ct.store(out, index=(row, 0), tile=ct.astype(powers / ct.sum(powers, axis=1, keepdims=True), out.dtype))


@ct.kernel
def transpose(x, out, M: Constant, N: Constant):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(out, index=(j, i), tile=ct.transpose(ct.load(x, index=(i, j), shape=(M, N))))


def array(dtype: Any, rank: int) -> compilation.ArrayConstraint:
    """An aligned array whose last dimension is contiguous."""
    return compilation.ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=[],
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1],
        stride_divisible_by=[16] * (rank - 1) + [1],
        shape_divisible_by=16,
        base_addr_divisible_by=16,
    )


F32, F16, BF16, FP8 = ct.float32, ct.float16, ct.bfloat16, ct.float8_e4m3fn
CASES: dict[str, tuple[Any, Sequence[Any]]] = {
    "add_f32": (add, (*[array(F32, 1)] * 3, 1024)),
    "add_bf16": (add, (*[array(BF16, 1)] * 3, 2048)),
    "matmul_f16": (matmul, (*[array(F16, 2)] * 3, 128, 128, 64)),
    "matmul_bf16_small": (matmul, (*[array(BF16, 2)] * 3, 64, 64, 32)),
    "matmul_f32": (matmul, (*[array(F32, 2)] * 3, 64, 64, 32)),
    "matmul_fp8": (matmul, (array(FP8, 2), array(FP8, 2), array(F16, 2), 128, 128, 64)),
    "softmax_f16": (softmax, (array(F16, 2), array(F16, 2), 1024)),
    "transpose_f32": (transpose, (array(F32, 2), array(F32, 2), 64, 64)),
}


def toolchain(folder: Path, kept: Path) -> Path:
    """The toolkit's folder anew, with a copy of `tileiras` beside a ptxas that keeps its input."""
    found = importlib.util.find_spec("nvidia.cu13")
    toolkits = [Path(place) for place in found.submodule_search_locations or ()] if found else []
    toolkit = next(place for place in toolkits if (place / "bin" / "tileiras").exists())
    made = folder / "toolkit"
    (made / "bin").mkdir(parents=True)
    for part in toolkit.iterdir():
        if part.name != "bin":
            (made / part.name).symlink_to(part)
    shutil.copy2(toolkit / "bin" / "tileiras", made / "bin" / "tileiras")
    keeper = made / "bin" / "ptxas"
    keeper.write_text(KEEPER.format(kept=kept, ptxas=toolkit / "bin" / "ptxas"), encoding="utf-8")
    keeper.chmod(0o755)
    return made / "bin" / "tileiras"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    demand("cuda-tile nvidia-cuda-tileiras", "nvidia-cuda-tileiras")
    given.out.mkdir(parents=True, exist_ok=True)
    failed = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kept, code = folder / "kept.ptx", folder / "code"
        tileiras = toolchain(folder, kept)
        for name, (kernel, parameters) in CASES.items():
            for target in TARGETS:
                file = f"{name}.{target}.ptx"
                kept.unlink(missing_ok=True)
                try:
                    signature = compilation.KernelSignature(
                        parameters, compilation.CallingConvention.cutile_python_v1()
                    )
                    compilation.export_kernel(
                        kernel, [signature], code, gpu_code=target, output_format="tileir_bytecode"
                    )
                    subprocess.run(
                        [tileiras, code, "-o", folder / "cubin", "--gpu-name", target],
                        check=True,
                        capture_output=True,
                        text=True,
                    )
                    (given.out / file).write_bytes(kept.read_bytes())
                    print(f"{file}: made", flush=True)
                except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                    said = getattr(reason, "stderr", "") or str(reason)
                    said = said.replace(f"{Path(__file__).resolve().parents[2]}/", "")
                    failed[file] = f"{type(reason).__name__}: {' '.join(said.split())[-300:]}"
                    print(f"{file}: {failed[file]}", flush=True)
    made_by = versions("cuda-tile", "nvidia-cuda-tileiras")
    about = {"compiler": "cuda-tile", "versions": made_by, "failed": failed}
    (given.out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
