"""`wmma` on the emulator: loads and stores of every layout, products of every type."""

from __future__ import annotations

from typing import Any

import matrix_kernels as matrices
import numpy as np
import pytest
from emulated import fault
from matrix_kernels import BITS, model_of, random_codes

from ptxkit.emulator import Emulator, EmulatorFault

SHAPES = {
    "m16n16k16": (16, 16, 16), "m8n32k16": (8, 32, 16), "m32n8k16": (32, 8, 16), "m16n16k8": (16, 16, 8),
    "m8n8k4": (8, 8, 4), "m8n8k32": (8, 8, 32), "m8n8k128": (8, 8, 128),
}  # fmt: skip
SMALL = ("m16n16k16", "m8n32k16", "m32n8k16")


def registers(matrix: str, shape: str, element: str) -> int:
    """How many a fragment has. PTX ISA 9.7.14.4.1."""
    m, n, k = SHAPES[shape]
    if matrix in "cd":
        return m * n // 32 // (2 if element == "f16" else 1)
    if element == "f16":
        return 8
    return (m if matrix == "a" else n) * k * BITS[element] // 32 // max(32, BITS[element])


def vector(name: str, count: int) -> str:
    return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"


def module(statements: str, target: str, space: str = "global", wide: bool = False) -> str:
    """A kernel of one warp with the matrices A, B, C and D and a stride of each."""
    width = 64 if wide else 32
    return f"""\
.version 8.8
.target {target}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,
                  .param .u32 sa, .param .u32 sb, .param .u32 sc, .param .u32 sd)
{{
    .reg .u64 %pa, %pb, %pc, %pd;
    .reg .u32 %sa, %sb, %sc, %sd, %t;
    .reg .pred %p;
    .reg .b{width} %a<8>, %b<8>, %c<8>, %d<8>;
    ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; ld.param.u64 %pd, [d];
    ld.param.u32 %sa, [sa]; ld.param.u32 %sb, [sb]; ld.param.u32 %sc, [sc]; ld.param.u32 %sd, [sd];
    mov.u32 %t, %tid.x;
{statements}
    ret;
}}
"""


def stored(codes: np.ndarray, layout: str, stride: int, element: str) -> np.ndarray:
    """A matrix of codes in memory, with a stride in elements; raw bytes."""
    lines = codes if layout == "row" else codes.T
    padded = np.zeros((len(lines), stride), codes.dtype)
    padded[:, : lines.shape[1]] = lines
    bits = BITS[element]
    if bits >= 8:
        return padded.astype({64: np.uint64, 32: np.uint32, 16: np.uint16, 8: np.uint8}[bits]).view(np.uint8)
    return np.ascontiguousarray(matrices.pack(padded, bits)).view(np.uint8)


def multiply(
    shape: str,
    types: tuple[str, str, str, str],
    layouts: str,
    target: str,
    random: np.random.Generator,
    suffix: str = "",
    space: str = ".global",
    pad: bool = True,
    device: Any = None,
) -> tuple[np.ndarray, ...]:
    """A, B, C and D of one product, each in a layout of its own: `row col row col`."""
    m, n, k = SHAPES[shape]
    d_type, a_type, _, c_type = types
    extents = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    codes = {
        name: random_codes(kind, extents[name], random) for name, kind in zip("abc", types[1:], strict=True)
    }
    named = dict(zip("abcd", layouts.split(), strict=True))
    elements = dict(zip("dabc", types, strict=True))
    strides = {}
    for name, (rows, columns) in extents.items():
        tight = columns if named[name] == "row" else rows
        strides[name] = tight + (128 // BITS[elements[name]] * 2 if pad else 0)
    device = device or Emulator()
    known = len(device.findings)
    buffers = [device.array(stored(codes[x], named[x], strides[x], elements[x])) for x in "abc"]
    lines = m if named["d"] == "row" else n
    result = device.array(np.zeros((lines, strides["d"]), matrices.RAW[BITS[d_type]]))
    stride = {x: f", %s{x}" if pad else "" for x in "abcd"}
    loads = "\n".join(
        f"    wmma.load.{x}.sync.aligned.{named[x]}.{shape}{space}.{elements[x]}"
        f" {vector(x, registers(x, shape, elements[x]))}, [%p{x}]{stride[x]};"
        for x in "abc"
    )
    kinds = f"{d_type}.{c_type}" if a_type == "f16" else ".".join(types)
    name = f"wmma.mma{suffix if 'popc' in suffix else ''}.sync.aligned.{named['a']}.{named['b']}.{shape}"
    count = {x: registers(x, shape, elements[x]) for x in "abcd"}
    product = f"    {name}.{kinds}{'' if 'popc' in suffix else suffix} " + ", ".join(
        vector(x, count[x]) for x in "dabc"
    )
    name = f"wmma.store.d.sync.aligned.{named['d']}.{shape}{space}.{d_type}"
    store = f"    {name} [%pd], {vector('d', count['d'])}{stride['d']};"
    text = module(f"{loads}\n{product};\n{store}", target, wide=a_type == "f64")
    args = [*buffers, result, *(strides[x] for x in "abcd")]
    device.load(text).kernel("k").launch((1,), (32,), args)
    assert device.findings[known:] == []
    found = result.numpy()
    found = found[:, : n if named["d"] == "row" else m]
    return codes["a"], codes["b"], codes["c"], found if named["d"] == "row" else found.T


ANY = ["row row row row", "col col col col", "row col col row", "col row row col"]


@pytest.mark.parametrize("shape", SMALL)
@pytest.mark.parametrize("layouts", ANY)
@pytest.mark.parametrize(("d", "c"), [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")])
def test_f16(shape: str, layouts: str, d: str, c: str) -> None:
    types = (d, "f16", "f16", c)
    target = "sm_75" if layouts == ANY[1] else "sm_90"
    a, b, start, found = multiply(shape, types, layouts, target, np.random.default_rng(1))
    wanted = matrices.floats(model_of(target, "wmma", "f16"), a[None], b[None], start[None], types)[0]
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(("shape", "element"), [*((s, "bf16") for s in SMALL), ("m16n16k8", "tf32")])
@pytest.mark.parametrize("layouts", ANY)
@pytest.mark.parametrize("pad", [False, True])
def test_bf16_and_tf32(shape: str, element: str, layouts: str, pad: bool) -> None:
    types = ("f32", element, element, "f32")
    target = "sm_80" if pad else "sm_90"
    a, b, start, found = multiply(shape, types, layouts, target, np.random.default_rng(2), pad=pad)
    wanted = matrices.floats(model_of(target, "wmma", element), a[None], b[None], start[None], types)[0]
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("layouts", ANY)
@pytest.mark.parametrize("mode", ["", "rz"])
def test_f64(layouts: str, mode: str) -> None:
    random = np.random.default_rng(3)
    a, b, c, found = multiply("m8n8k4", ("f64",) * 4, layouts, "sm_80", random, mode and f".{mode}")
    assert np.array_equal(found, matrices.doubles(a[None], b[None], c[None], mode or "rn")[0])


@pytest.mark.parametrize(("shape", "element"), [(s, e) for s in SMALL for e in ("u8", "s8")])
@pytest.mark.parametrize("layouts", ANY)
def test_bytes(shape: str, element: str, layouts: str) -> None:
    types = ("s32", element, element, "s32")
    a, b, c, found = multiply(shape, types, layouts, "sm_80", np.random.default_rng(4), ".satfinite")
    assert np.array_equal(found, matrices.integers(a[None], b[None], c[None], (element, element), True)[0])


@pytest.mark.parametrize("element", ["u4", "s4"])
@pytest.mark.parametrize("layouts", ["row col row row", "row col col row"])
def test_nibbles(element: str, layouts: str) -> None:
    types = ("s32", element, element, "s32")
    a, b, c, found = multiply("m8n8k32", types, layouts, "sm_75", np.random.default_rng(5))
    assert np.array_equal(found, matrices.integers(a[None], b[None], c[None], (element, element), False)[0])


@pytest.mark.parametrize("operator", ["xor", "and"])
@pytest.mark.parametrize("space", [".global", ""])
def test_bits(operator: str, space: str) -> None:
    types = ("s32", "b1", "b1", "s32")
    random = np.random.default_rng(6)
    a, b, c, found = multiply(
        "m8n8k128", types, "row col row col", "sm_80", random, f".{operator}.popc", space
    )
    assert np.array_equal(found, matrices.bits(a[None], b[None], c[None], operator)[0])


def test_fragments_lie_as_in_mma() -> None:
    """An f16 matrix A loaded by wmma is that of mma.m16n8k16, and once more."""
    load = (
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%pa];"
    )
    stores = "\n".join(f"    st.global.u32 [%pd+{4 * i}], %a{i};" for i in range(8))
    text = module(f"    {load}\n    mad.wide.u32 %pd, %t, 32, %pd;\n{stores}", "sm_90")
    device = Emulator()
    a = np.arange(256, dtype=np.uint16).reshape(16, 16)
    result = device.empty((32, 8), np.uint32)
    device.load(text).kernel("k").launch((1,), (32,), [device.array(a), result, result, result, 0, 0, 0, 0])
    found = result.numpy()
    for lane in range(32):
        g, t = divmod(lane, 4)
        for i, (row, column) in enumerate(((g, 2 * t), (g + 8, 2 * t), (g, 2 * t + 8), (g + 8, 2 * t + 8))):
            wanted = int(a[row, column]) | int(a[row, column + 1]) << 16
            assert found[lane, i] == found[lane, i + 4] == wanted


# ---- what is wrong with them

LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%a0, %a1, %a2, %a3}, [%pa]"


def broken(statements: str, stride: int = 16) -> tuple[str, list[Any], Emulator]:
    device = Emulator()
    matrix = device.array(np.zeros(4096, np.uint16))
    return module(statements, "sm_90"), [matrix] * 4 + [stride] * 4, device


def test_addresses_and_strides_are_checked() -> None:
    for code, statements, stride, wanted in (
        ("P645", f"    {LOAD}, %sa;", 8, "at least 16 elements, found 8"),
        ("P645", f"    {LOAD}, %sa;", 18, "multiple of 8 elements, found 18"),
        ("P603", f"    add.u64 %pa, %pa, 8;\n    {LOAD};", 16, "multiple of 16"),
        ("P642", f"    mad.wide.u32 %pa, %t, 32, %pa;\n    {LOAD};", 16, "disagree about `%pa`"),
        ("P642", f"    mad.lo.u32 %sa, %t, 8, %sa;\n    {LOAD}, %sa;", 16, "disagree about `%sa`"),
        ("P602", f"    {LOAD}, %sa;", 800, "out of bounds"),
    ):
        text, args, device = broken(statements, stride)
        assert wanted in fault(code, text, args, device=device).message


def test_undefined_elements_reach_their_rows_and_columns_alone() -> None:
    """One element of A that nobody wrote spoils its row of D."""
    device = Emulator()
    a = device.empty((16, 16), np.float16)
    b, c = device.array(np.ones((16, 16), np.float16)), device.array(np.ones((16, 16), np.float32))
    d = device.empty((16, 16), np.float32)
    fill = "\n".join(
        f"    st.global.u32 [%q+{128 * i}], 0x3c003c00;"
        if i < 3
        else f"    @%p st.global.u32 [%q+{128 * i}], 0x3c003c00;"
        for i in range(4)
    )
    statements = f"""
    .reg .u64 %q;
    mad.wide.u32 %q, %t, 4, %pa;
    setp.ne.u32 %p, %t, 31;
{fill}
    bar.warp.sync -1;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {vector("a", 8)}, [%pa];
    wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {vector("b", 8)}, [%pb];
    wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {vector("c", 8)}, [%pc];
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
        {vector("d", 8)}, {vector("a", 8)}, {vector("b", 8)}, {vector("c", 8)};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%pd], {vector("d", 8)};"""
    device.load(module(statements, "sm_90")).kernel("k").launch((1,), (32,), [a, b, c, d, 16, 16, 16, 16])
    with pytest.raises(EmulatorFault, match="P606") as caught:
        d.numpy()
    assert "element [15, 0]" in caught.value.diagnostics[0].message
