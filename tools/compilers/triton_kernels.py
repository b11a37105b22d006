"""Kernels for which Triton emits much of what it can, compiled to PTX for sm_90a and sm_100a.

    PYTHON tools/compilers/triton_kernels.py OUT [--ptx-version 90]

PYTHON is one that has Triton, `pip install triton`; neither a GPU nor PyTorch is needed. `--ptx-version` asks
for that PTX ISA version instead of the newest that this Triton knows.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice

TARGETS = {80: "sm_80", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 120: "sm_120a"}


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n, other=1.0), mask=i < n)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + i, (values / tl.sum(values, axis=0)).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=0.0, eviction_policy="evict_first").to(tl.float32)
    mean = tl.sum(values, axis=0) / n
    centred = tl.where(i < n, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(weight + i, mask=i < n, eviction_policy="evict_last")
    b = tl.load(bias + i, mask=i < n, cache_modifier=".cg")
    tl.store(out + row * n + i, centred * scale * w + b, mask=i < n, cache_modifier=".wt")


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, K, BK, num_stages=STAGES):
        left = tl.load(a + m[:, None] * K + start + k[None, :], mask=m[:, None] < M, other=0.0)
        right = tl.load(b + (start + k)[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        total = tl.dot(left, right, total)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def matmul_tma(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr
):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    result = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, K, BK, warp_specialize=SPECIALIZE, num_stages=3):
        total = tl.dot(left.load([m, start]), right.load([n, start]).T, total)
    result.store([m, n], total.to(c.dtype.element_ty))


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    result = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=True):
        m, n = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            total = tl.dot(left.load([m, start]), right.load([n, start]).T, total)
        result.store([m, n], total.to(c.dtype.element_ty))


@triton.jit
def matmul_scaled(
    a, sa, b, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr,
    PACK: tl.constexpr, VEC: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK // PACK)
    s = tl.arange(0, BK // VEC)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * (K // PACK) + start // PACK + k[None, :])
        right = tl.load(b + n[None, :] * (K // PACK) + start // PACK + k[:, None])
        left_scale = tl.load(sa + m[:, None] * (K // VEC) + start // VEC + s[None, :])
        right_scale = tl.load(sb + n[:, None] * (K // VEC) + start // VEC + s[None, :])
        total = tl.dot_scaled(left, left_scale, KIND, right, right_scale, KIND, total)
    tl.store(c + m[:, None] * 4096 + n[None, :], total)


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in tl.range(0, length, BN, num_stages=2):
        n = start + tl.arange(0, BN)
        scores = tl.dot(queries, tl.load(k + n[None, :] * D + d[:, None])) * scale
        new = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        fix = tl.exp2(largest - new)
        weight = weight * fix + tl.sum(p, 1)
        total = total * fix[:, None]
        total = tl.dot(p.to(v.dtype.element_ty), tl.load(v + n[:, None] * D + d[None, :]), total)
        largest = new
    tl.store(out + m[:, None] * D + d[None, :], (total / weight[:, None]).to(out.dtype.element_ty))


@triton.jit
def _first(a, b):
    return a * 3 + b


@triton.jit
def scans(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    tl.store(out + i, tl.cumsum(values, 0))
    tl.store(out + BLOCK + i, tl.associative_scan(values, 0, _first))
    tl.store(out + 2 * BLOCK + i, tl.sort(values))
    tl.store(out + 3 * BLOCK + i, tl.flip(values))
    tl.store(out + 4 * BLOCK + i, tl.gather(values, (i * 7) % BLOCK, 0))
    tl.store(out + 5 * BLOCK + tl.arange(0, 64), tl.histogram(values % 64, 64))
    tl.store(out + 6 * BLOCK, tl.argmax(values, 0) + tl.argmin(values, 0) + tl.xor_sum(values, 0))


@triton.jit
def atomics(counts, floats, halves, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_add(counts + i % 7, 1, mask=mask, sem="relaxed", scope="cta")
    tl.atomic_max(counts + 8 + i % 7, i, mask=mask)
    tl.atomic_min(counts + 16 + i % 7, i, mask=mask, sem="acquire")
    tl.atomic_and(counts + 24 + i % 7, i, mask=mask, sem="release")
    tl.atomic_or(counts + 32 + i % 7, i, mask=mask)
    tl.atomic_xor(counts + 40 + i % 7, i, mask=mask)
    old = tl.atomic_xchg(counts + 48 + i, i, mask=mask, scope="sys")
    tl.atomic_add(floats + i, old.to(tl.float32), mask=mask)
    tl.atomic_add(halves + i, old.to(tl.float16), mask=mask)
    tl.atomic_cas(counts + 64, 0, 1)


@triton.jit
def mathematics(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    total = tl.exp(v) + tl.log(v) + tl.sin(v) + tl.cos(v) + tl.sqrt(v) + tl.sqrt_rn(v) + tl.erf(v)
    total += (
        tl.floor(v) + tl.ceil(v) + tl.abs(v) + tl.div_rn(v, 3.0) + tl.fma(v, v, v) + tl.exp2(v) + tl.log2(v)
    )
    total += libdevice.tanh(v) + libdevice.pow(v, 2.5) + libdevice.atan2(v, total) + libdevice.lgamma(v)
    total += libdevice.cyl_bessel_i0(v) + libdevice.rint(v) + libdevice.fmod(v, 1.5) + libdevice.cbrt(v)
    whole = libdevice.float_as_int(v)
    whole += tl.umulhi(whole.to(tl.uint32), 12345).to(tl.int32) + libdevice.popc(whole) + libdevice.clz(whole)
    tl.store(out + i, total + whole.to(tl.float32), mask=i < n)


@triton.jit
def conversions(x, out8, out5, out16, outbf, out64, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out8 + i, v.to(tl.float8e4nv))
    tl.store(out5 + i, v.to(tl.float8e5))
    tl.store(out16 + i, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(outbf + i, v.to(tl.bfloat16))
    tl.store(out64 + i, v.to(tl.float64) + v.to(tl.int64).to(tl.float64) + v.to(tl.uint8).to(tl.float64))
    back = tl.load(out8 + i).to(tl.float32) + tl.load(out5 + i).to(tl.float32)
    tl.store(x + i, back + tl.load(outbf + i).to(tl.float32) + tl.load(out16 + i).to(tl.float32))


@triton.jit
def random_numbers(out, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.rand(seed, i) + tl.randn(seed, i))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(out + 4096 + i, (a ^ b ^ c ^ d).to(tl.float32))


@triton.jit
def inline_assembly(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    r = tl.inline_asm_elementwise(
        "{ .reg .b32 t; shl.b32 t, $1, 2; lop3.b32 $0, t, $1, 7, 0x96; }",
        "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(out + i, r)


@triton.jit
def control(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int64)
    step = n
    while step > 1:
        total += tl.load(x + i + step)
        if step % 2 == 0:
            step = step // 2
        else:
            step = step - 1
            tl.debug_barrier()
    tl.device_assert(step >= 0, "step")
    tl.device_print("step", step)
    tl.store(out + i, total)


@triton.jit
def gather_rows(a, rows, out, M, N, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(a, [M, N], [N, 1], [1, BN])
    index = tl.load(rows + tl.arange(0, 32))
    values = source.gather(index, tl.program_id(0) * BN)
    tl.store(out + tl.arange(0, 32)[:, None] * BN + tl.arange(0, BN)[None, :], values)


@triton.jit
def transpose_and_reduce(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + j[None, :])
    turned = tl.trans(tile)
    tl.store(out + j[:, None] * M + i[None, :], turned)
    tl.store(out + M * N + i, tl.max(tile, axis=1))
    tl.store(out + M * N + M + j, tl.reduce(tile, 0, _first))
    low, high = tl.split(tl.reshape(tile, (M, N // 2, 2)))
    tl.store(out + 2 * M * N + i[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :], low * high)


def gemm(pointers: str) -> dict[str, str]:
    """The signature of a matrix product."""
    return {"a": pointers, "b": pointers, "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}


BLACKWELL_ONLY = frozenset({"gather_rows"})
"""Kernels whose copies sm_90a does not have."""

TILE = {"BM": 128, "BN": 128, "BK": 64}
CASES: list[tuple[str, Any, dict[str, str], dict[str, Any], dict[str, Any]]] = [
    ("add", add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}, {}),
    ("add_bf16", add, {"x": "*bf16", "y": "*bf16", "out": "*bf16", "n": "i64"}, {"BLOCK": 2048}, {}),
    (
        "softmax",
        softmax,
        {"x": "*fp16", "out": "*fp16", "stride": "i32", "n": "i32"},
        {"BLOCK": 4096},
        {"num_warps": 8},
    ),
    (
        "layer_norm",
        layer_norm,
        dict.fromkeys(("x", "weight", "bias", "out"), "*fp32") | {"n": "i32", "eps": "fp32"},
        {"BLOCK": 1024},
        {},
    ),
    *(
        (f"matmul_{name}", matmul, gemm(pointers), {**TILE, "STAGES": 3}, {})
        for name, pointers in (("fp16", "*fp16"), ("bf16", "*bf16"), ("tf32", "*fp32"), ("fp8", "*fp8e4nv"))
    ),
    (
        "matmul_8_warps",
        matmul,
        gemm("*bf16"),
        {"BM": 128, "BN": 256, "BK": 64, "STAGES": 4},
        {"num_warps": 8},
    ),
    ("matmul_small", matmul, gemm("*fp16"), {"BM": 16, "BN": 16, "BK": 16, "STAGES": 2}, {"num_warps": 1}),
    ("matmul_tma", matmul_tma, gemm("*fp16"), {**TILE, "SPECIALIZE": False}, {}),
    (
        "matmul_tma_fp8",
        matmul_tma,
        gemm("*fp8e5"),
        {"BM": 128, "BN": 256, "BK": 128, "SPECIALIZE": False},
        {"num_warps": 8},
    ),
    ("matmul_warp_specialized", matmul_tma, gemm("*bf16"), {**TILE, "SPECIALIZE": True}, {}),
    ("matmul_persistent", matmul_persistent, gemm("*bf16"), TILE, {"num_warps": 8}),
    ("matmul_cluster", matmul_tma, gemm("*bf16"), {**TILE, "SPECIALIZE": False}, {"num_ctas": 2}),
    (
        "matmul_mxfp8",
        matmul_scaled,
        {"a": "*fp8e4nv", "sa": "*u8", "b": "*fp8e4nv", "sb": "*u8", "c": "*fp32", "K": "i32"},
        {"BM": 128, "BN": 128, "BK": 128, "KIND": "e4m3", "PACK": 1, "VEC": 32},
        {},
    ),
    (
        "matmul_mxfp4",
        matmul_scaled,
        {"a": "*u8", "sa": "*u8", "b": "*u8", "sb": "*u8", "c": "*fp32", "K": "i32"},
        {"BM": 128, "BN": 128, "BK": 128, "KIND": "e2m1", "PACK": 2, "VEC": 32},
        {},
    ),
    (
        "matmul_nvfp4",
        matmul_scaled,
        {"a": "*u8", "sa": "*fp8e4nv", "b": "*u8", "sb": "*fp8e4nv", "c": "*fp32", "K": "i32"},
        {"BM": 128, "BN": 128, "BK": 128, "KIND": "e2m1", "PACK": 2, "VEC": 16},
        {},
    ),
    (
        "attention",
        attention,
        dict.fromkeys(("q", "k", "v", "out"), "*fp16") | {"length": "i32", "scale": "fp32"},
        {"BM": 128, "BN": 64, "D": 64},
        {},
    ),
    (
        "attention_fp8",
        attention,
        dict.fromkeys(("q", "k", "v"), "*fp8e5") | {"out": "*fp16", "length": "i32", "scale": "fp32"},
        {"BM": 128, "BN": 128, "D": 128},
        {"num_warps": 8},
    ),
    ("scans", scans, {"x": "*i32", "out": "*i32"}, {"BLOCK": 1024}, {}),
    (
        "atomics",
        atomics,
        {"counts": "*i32", "floats": "*fp32", "halves": "*fp16", "n": "i32"},
        {"BLOCK": 256},
        {},
    ),
    ("mathematics", mathematics, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}, {}),
    (
        "conversions",
        conversions,
        {
            "x": "*fp32",
            "out8": "*fp8e4nv",
            "out5": "*fp8e5",
            "out16": "*fp16",
            "outbf": "*bf16",
            "out64": "*fp64",
        },
        {"BLOCK": 512},
        {},
    ),
    ("random_numbers", random_numbers, {"out": "*fp32", "seed": "i32"}, {"BLOCK": 256}, {}),
    ("inline_assembly", inline_assembly, {"x": "*i32", "out": "*i32"}, {"BLOCK": 256}, {}),
    ("control", control, {"x": "*i64", "out": "*i64", "n": "i32"}, {"BLOCK": 128}, {"debug": True}),
    (
        "gather_rows",
        gather_rows,
        {"a": "*bf16", "rows": "*i32", "out": "*bf16", "M": "i32", "N": "i32"},
        {"BN": 64},
        {},
    ),
    ("transpose_and_reduce", transpose_and_reduce, {"x": "*fp32", "out": "*fp32"}, {"M": 64, "N": 128}, {}),
]
"""Name, kernel, types of the parameters, constants, options of the compiler."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--ptx-version", type=int, help="90 for PTX ISA 9.0")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    asked = {"ptx_version": given.ptx_version} if given.ptx_version else {}
    failed = {}
    for name, kernel, signature, constants, options in CASES:
        for capability, target in TARGETS.items():
            if given.only not in name or (capability < 100 and name in BLACKWELL_ONLY):
                continue
            file = f"{name}.{target}.ptx"
            source = ASTSource(kernel, signature | dict.fromkeys(constants, "constexpr"), constants)
            try:
                made = triton.compile(
                    source, target=GPUTarget("cuda", capability, 32), options=options | asked
                )
                (given.out / file).write_text(made.asm["ptx"], encoding="utf-8")
                print(f"{file}: made", flush=True)
            except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                failed[file] = f"{type(reason).__name__}: {str(reason).strip().splitlines()[-1:]}"
                print(f"{file}: {failed[file]}", flush=True)
    about = {"compiler": "Triton", "versions": {"triton": triton.__version__}, "failed": failed}
    (given.out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
