"""Whole matrix products on the emulator, bit for bit: kernels of Triton's and one of our own."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from asm_corpus import each_build
from both_devices import Both, device, gpu

from ptxkit.emulator import Emulator, tensor_cores

__all__ = ["device", "gpu"]

CAPABILITY = {"sm80": (8, 0), "sm90": (9, 0), "sm120": (12, 0)}


@pytest.fixture(autouse=True)
def quiet() -> object:
    with np.errstate(all="ignore"):
        yield


def product(capability: tuple[int, int], element: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A (M, K) times B (K, N) by the model, as f32."""
    model = tensor_cores.find(capability, "mma", element)
    left = tensor_cores.decode(np.ascontiguousarray(a.view(np.uint16).T)[:, :, None], element)
    right = tensor_cores.decode(np.ascontiguousarray(b.view(np.uint16))[:, None, :], element)
    zero = np.zeros((a.shape[0], b.shape[1]), np.uint32)
    return tensor_cores.multiply(model, left, right, zero, ("f32", "f32")).view(np.float32)


@each_build("matmul_bf16", "sm80", "sm120")
def test_triton_matmul(path: Path, device: Emulator | Both) -> None:
    """ldmatrix (stmatrix on sm_120) and mma.sync, masked edges; a GPU sums as its own tensor cores do."""
    target = path.stem.split("_")[2]
    capability = CAPABILITY[target] if isinstance(device, Emulator) else device.gpu.capability
    meta = json.loads(path.with_suffix(".json").read_text())
    m, n, k = 130, 144, 80
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
    c = device.empty((m, n), ml_dtypes.bfloat16)
    tiles = -(-m // meta["constexprs"]["BM"]), -(-n // meta["constexprs"]["BN"])
    args = [device.array(a), device.array(b), c, m, n, k, k, n, n, 0, 0]
    kernel = device.load(path).kernel()
    kernel.launch(tiles, meta["block"], args, shared=meta["shared_mem_bytes"])
    assert device.findings == []
    wanted = product(capability, "bf16", a, b)
    assert np.array_equal(c.numpy(), wanted.astype(ml_dtypes.bfloat16))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(wanted, exact, rtol=2.0**-16, atol=2.0**-16 * np.abs(exact).max())


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0), ("eager", 0), ("random", 1), ("random", 2)])
@each_build("matmul_scaled_mxfp8", "sm120")
def test_triton_matmul_mxfp8(path: Path, order: str, seed: int) -> None:
    meta = json.loads(path.with_suffix(".json").read_text())
    size, k = 128, 256
    random = np.random.default_rng(2)
    a, b = random.standard_normal((2, size, k)).astype(ml_dtypes.float8_e4m3fn)
    scales = random.integers(120, 134, (2, size, k // 32)).astype(np.uint8)
    device = Emulator(order, seed)
    c = device.empty((size, size), np.float32)
    args = [
        *(device.array(x.view(np.uint8)) for x in (a, b)),
        *(device.array(s) for s in scales),
        c,
        size,
        k,
        0,
        0,
    ]
    kernel = device.load(path).kernel()
    grid = size // meta["constexprs"]["BM"], size // meta["constexprs"]["BN"]
    kernel.launch(grid, meta["block"], args, shared=meta["shared_mem_bytes"])
    factors = np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=2)
    exact = (a.astype(np.float64) * factors[0]) @ (b.astype(np.float64) * factors[1]).T
    assert device.findings == []
    assert np.allclose(c.numpy(), exact, rtol=2.0**-16, atol=2.0**-16 * np.abs(exact).max())


GEMM = """\
.version 8.0
.target sm_90
.address_size 64
// C (M, N) f32 = A (M, K) f16 times B (N, K) f16 transposed; a warp computes 16 x 8, grid (M/16, N/8).
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u32 k)
{
    .reg .u64 %a, %b, %c, %at;
    .reg .u32 %n, %k, %t, %row, %half, %i, %sa, %sb, %pa, %pb, %step;
    .reg .b32 %v<4>, %x<4>, %y<2>;
    .reg .f32 %d<4>;
    .reg .pred %low, %more;
    .shared .align 16 .b8 tile_a[512];
    .shared .align 16 .b8 tile_b[256];
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %c, [c];
    ld.param.u32 %n, [n];
    ld.param.u32 %k, [k];
    mov.u32 %t, %tid.x;
    // Each lane copies 16 bytes: row %t / 2, half %t % 2 of A; the low lanes the same of B.
    shr.u32 %row, %t, 1;
    and.b32 %half, %t, 1;
    setp.lt.u32 %low, %t, 16;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, 16, %row;
    mul.lo.u32 %i, %i, %k;
    mad.lo.u32 %i, %half, 8, %i;
    mad.wide.u32 %a, %i, 2, %a;
    mov.u32 %i, %ctaid.y;
    mad.lo.u32 %i, %i, 8, %row;
    mul.lo.u32 %i, %i, %k;
    mad.lo.u32 %i, %half, 8, %i;
    mad.wide.u32 %b, %i, 2, %b;
    mov.u32 %sa, tile_a;
    mov.u32 %sb, tile_b;
    mad.lo.u32 %sa, %t, 16, %sa;
    mad.lo.u32 %sb, %t, 16, %sb;
    // The rows that ldmatrix reads: of A lanes 0-15 the rows of the left half, 16-31 of the right one; of B
    // lanes 0-7 the left halves, 8-15 the right ones.
    and.b32 %i, %t, 15;
    shr.u32 %row, %t, 4;
    mov.u32 %pa, tile_a;
    mad.lo.u32 %pa, %i, 32, %pa;
    mad.lo.u32 %pa, %row, 16, %pa;
    and.b32 %i, %t, 7;
    shr.u32 %row, %t, 3;
    and.b32 %row, %row, 1;
    mov.u32 %pb, tile_b;
    mad.lo.u32 %pb, %i, 32, %pb;
    mad.lo.u32 %pb, %row, 16, %pb;
    mov.f32 %d0, 0f00000000;
    mov.f32 %d1, 0f00000000;
    mov.f32 %d2, 0f00000000;
    mov.f32 %d3, 0f00000000;
    mov.u32 %step, 0;
LOOP:
    ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%a];
    st.shared.v4.b32 [%sa], {%v0, %v1, %v2, %v3};
    @%low ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%b];
    @%low st.shared.v4.b32 [%sb], {%v0, %v1, %v2, %v3};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x0, %x1, %x2, %x3}, [%pa];
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%y0, %y1}, [%pb];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%d0, %d1, %d2, %d3}, {%x0, %x1, %x2, %x3}, {%y0, %y1}, {%d0, %d1, %d2, %d3};
    bar.warp.sync -1;
    add.u64 %a, %a, 32;
    add.u64 %b, %b, 32;
    add.u32 %step, %step, 16;
    setp.lt.u32 %more, %step, %k;
    @%more bra LOOP;
    shr.u32 %row, %t, 2;
    and.b32 %half, %t, 3;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %row, %i, 16, %row;
    mul.lo.u32 %i, %row, %n;
    mad.lo.u32 %i, %half, 2, %i;
    mov.u32 %row, %ctaid.y;
    mad.lo.u32 %i, %row, 8, %i;
    mad.wide.u32 %at, %i, 4, %c;
    st.global.v2.f32 [%at], {%d0, %d1};
    mad.lo.u32 %i, %n, 8, %i;
    mad.wide.u32 %at, %i, 4, %c;
    st.global.v2.f32 [%at], {%d2, %d3};
    ret;
}
"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_100a"])
def test_gemm(arch: str) -> None:
    m, n, k = 96, 64, 112
    random = np.random.default_rng(3)
    a, b = (
        random.standard_normal((m, k)).astype(np.float16),
        random.standard_normal((n, k)).astype(np.float16),
    )
    device = Emulator(arch=arch)
    c = device.empty((m, n), np.float32)
    device.load(GEMM).kernel().launch((m // 16, n // 8), (32,), [device.array(a), device.array(b), c, n, k])
    assert np.array_equal(c.numpy(), product((9, 0), "f16", a, np.ascontiguousarray(b.T)))
    assert np.allclose(c.numpy(), a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-4, atol=1e-4)
