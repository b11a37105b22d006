"""The Triton kernels of the corpus, and what compiles them: `PYTHON tests/corpus/triton/kernels.py`.

PYTHON is one that has Triton 3.6.0; neither a GPU nor PyTorch is needed. Each `NAME_TARGET.ptx` gets a
`.json` that says how to launch it. Triton appends two pointers to scratch memory to a kernel's parameters,
and passes a tensor descriptor as the tensor map by value, the shape (i32) and the strides in elements (i64).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    """c[i] = a[i] + b[i] for i < n; grid (ceil(n / BLOCK),)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, y, sx, sy, n, BLOCK: tl.constexpr):
    """A row of y is the softmax of x's, n <= BLOCK; strides sx and sy in elements, grid (rows,)."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * sx + i, mask=i < n, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * sy + i, values / tl.sum(values, axis=0), mask=i < n)


@triton.jit
def layernorm(x, w, b, y, mean, rstd, n, eps, BLOCK: tl.constexpr):
    """y = (x - mean) * rstd * w + b over rows of n numbers; mean and rstd are kept, grid (rows,)."""
    row = tl.program_id(0)
    x += row * n
    y += row * n
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    centre = tl.sum(total, axis=0) / n
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        apart = tl.where(i < n, tl.load(x + i, mask=i < n, other=0.0).to(tl.float32) - centre, 0.0)
        total += apart * apart
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    tl.store(mean + row, centre)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        weight, bias = tl.load(w + i, mask=i < n), tl.load(b + i, mask=i < n)
        value = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
        tl.store(y + i, (value - centre) * scale * weight + bias, mask=i < n)


@triton.jit
def scan_sum(x, y, n, BLOCK: tl.constexpr):
    """y is the inclusive prefix sum of x, n <= BLOCK; grid (1,)."""
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), 0), mask=i < n)


@triton.jit
def convert(x, e4m3, e5m2, half, brain, n, BLOCK: tl.constexpr):
    """x in four narrower types, rounded to nearest; grid (ceil(n / BLOCK),)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(e4m3 + i, value.to(tl.float8e4nv), mask=i < n)
    tl.store(e5m2 + i, value.to(tl.float8e5), mask=i < n)
    tl.store(half + i, value.to(tl.float16), mask=i < n)
    tl.store(brain + i, value.to(tl.bfloat16), mask=i < n)


@triton.jit
def spinlock(lock, x, total, BLOCK: tl.constexpr):
    """Every CTA adds its BLOCK numbers of x to total[:BLOCK] under a lock; total[BLOCK] is the largest."""
    i = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + i, tl.load(total + i) + values)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.atomic_max(total + BLOCK, tl.max(values, axis=0))


@triton.jit
def tma_reduce(a, x):
    """x (32, 32) is added to every tile of a; grid (rows / 32, columns / 32)."""
    i, j = tl.arange(0, 32), tl.arange(0, 32)
    a.atomic_add([tl.program_id(0) * 32, tl.program_id(1) * 32], tl.load(x + i[:, None] * 32 + j[None, :]))


@triton.jit
def matmul_bf16(
    a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """c (M, N) = a (M, K) times b (K, N); row strides sa, sb, sc, grid (ceil(M / BM), ceil(N / BN))."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * sa + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * sb + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * sc + n[None, :], total.to(tl.bfloat16), mask=mask)


@triton.jit
def matmul_tma_host(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c (M, N) = a (M, K) times b (K, N) through the host's tensor descriptors; grid (M / BM, N / BN)."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        total = tl.dot(a.load([m, start]), b.load([start, n]), total)
    c.store([m, n], total.to(tl.bfloat16))


@triton.jit
def matmul_scaled_mxfp8(
    a, b, sa, sb, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """c (M, N) f32 = a (M, K) e4m3 times b (N, K) transposed, a ue8m0 scale for each 32 along K."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, s = start + tl.arange(0, BK), start // 32 + tl.arange(0, BK // 32)
        left = tl.load(a + m[:, None] * K + k[None, :])
        right = tl.load(b + n[None, :] * K + k[:, None])
        left_scale = tl.load(sa + m[:, None] * (K // 32) + s[None, :])
        right_scale = tl.load(sb + n[:, None] * (K // 32) + s[None, :])
        total = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e4m3", total)
    tl.store(c + m[:, None] * N + n[None, :], total)


F32, I32, BF16, E4M3 = "*fp32", "*i32", "*bf16", "*fp8e4nv"
PRODUCT = [BF16, BF16, BF16, *["i32"] * 6]
SCALED = [E4M3, E4M3, "*u8", "*u8", F32, "i32", "i32"]
TENSORS = ["tensordesc<bf16[{BM},{BK}]>", "tensordesc<bf16[{BK},{BN}]>", "tensordesc<bf16[{BM},{BN}]>", "i32"]
SMALL = {"BM": 64, "BN": 64, "BK": 32}
CASES: list[tuple[Any, list[str], dict[str, int], str]] = [
    (add, [F32, F32, F32, "i32"], {"BLOCK": 1024}, "75 80"),
    (softmax, [F32, F32, "i32", "i32", "i32"], {"BLOCK": 1024}, "75 90 100"),
    (layernorm, [BF16, BF16, BF16, BF16, F32, F32, "i32", "fp32"], {"BLOCK": 2048}, "90"),
    (scan_sum, [I32, I32, "i32"], {"BLOCK": 512}, "80 100"),
    (convert, [F32, E4M3, "*fp8e5", "*fp16", BF16, "i32"], {"BLOCK": 512}, "90 100"),
    (spinlock, [I32, F32, F32], {"BLOCK": 128}, "80 90"),
    (tma_reduce, ["tensordesc<fp32[32,32]>", F32], {}, "90 100"),
    (matmul_bf16, PRODUCT, SMALL, "80 120"),
    (matmul_bf16, PRODUCT, {"BM": 64, "BN": 64, "BK": 64}, "90"),
    (matmul_bf16, PRODUCT, {"BM": 128, "BN": 64, "BK": 64}, "100"),
    (matmul_tma_host, TENSORS, {"BM": 128, "BN": 128, "BK": 64}, "90 100"),
    (matmul_tma_host, TENSORS, {"BM": 64, "BN": 64, "BK": 64}, "120"),
    (matmul_scaled_mxfp8, SCALED, {"BM": 128, "BN": 128, "BK": 128}, "100"),
    (matmul_scaled_mxfp8, SCALED, {"BM": 64, "BN": 64, "BK": 128}, "120"),
]
"""Kernel, types of its parameters, constants, compute capabilities."""
ALIGNED = {matmul_bf16: {*"abcNK", "sa", "sb", "sc"}, matmul_scaled_mxfp8: {*"abcNK", "sa", "sb"}}
"""Parameters that are multiples of 16."""


def main() -> int:
    triton.knobs.compilation.disable_line_info = True
    for kernel, types, constants, capabilities in CASES:
        names = [name for name in kernel.arg_names if name not in constants]
        types = [kind.format(**constants) for kind in types]
        signature = dict(zip(names, types, strict=True)) | dict.fromkeys(constants, "constexpr")
        aligned = [at for at, name in enumerate(names) if name in ALIGNED.get(kernel, ())]
        known = {(at,): [["tt.divisibility", 16]] for at in aligned}
        for capability in map(int, capabilities.split()):
            source = ASTSource(kernel, signature, constants, known)
            made = triton.compile(source, target=GPUTarget("cuda", capability, 32))
            about = {
                "kernel": made.metadata.name,
                "triton": triton.__version__,
                "block": [32 * made.metadata.num_warps],
                "shared_mem_bytes": made.metadata.shared,
                "constexprs": constants,
                "tensordesc_meta": made.metadata.tensordesc_meta or [],
            }
            stem = FOLDER / f"{kernel.__name__}_sm{capability}"
            stem.with_suffix(".ptx").write_text(made.asm["ptx"], encoding="utf-8")
            stem.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
