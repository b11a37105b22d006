"""Loads, stores and reductions of surfaces against numpy. PTX ISA 9.7.11."""

from __future__ import annotations

import numpy as np
import pytest
from textures import array, held, run, surface, texture

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator

SHAPES = {"1d": (16,), "2d": (4, 16), "3d": (3, 4, 16), "a1d": (3, 16), "a2d": (2, 4, 16)}
"""Of surfaces, x last."""
ORDER = {
    "1d": "{%i0}",
    "2d": "{%i0, %i1}",
    "3d": "{%i0, %i1, %i2, %i2}",
    "a1d": "{%i1, %i0}",
    "a2d": "{%i2, %i0, %i1, %i1}",
}
"""The operand, where the inputs are x, y, z or x, y, layer."""


@pytest.fixture
def device() -> Emulator:
    return Emulator()


def places(shape: tuple[int, ...]) -> np.ndarray:
    """Every place of a surface and those one beyond, x first."""
    ranges = [np.arange(-1, extent + 1) for extent in shape]
    grid = np.meshgrid(*ranges, indexing="ij")
    found = np.stack([part.reshape(-1) for part in grid[::-1]], axis=1).astype(np.int32)
    return found[np.random.default_rng(1).permutation(len(found))[:96]]


@pytest.mark.parametrize("geometry", SHAPES)
@pytest.mark.parametrize("clamp", ["zero", "clamp"])
def test_loads(device: Emulator, geometry: str, clamp: str) -> None:
    """Words; `.zero` gives zeros from outside, `.clamp` the nearest place."""
    shape = SHAPES[geometry]
    texels = np.random.default_rng(2).integers(0, 1 << 32, shape, np.uint32)
    handle = surface(device, array(device, geometry, [texels[..., None]]))
    asked = places(shape)
    if geometry.startswith("a"):
        asked = asked[asked[:, -1] >= 0]
    inputs = asked.copy()
    inputs[:, 0] *= 4
    statement = f"suld.b.{geometry}.b32.{clamp} %o0, [%rd0, {ORDER[geometry]}]"
    found = run(device, statement, handle, inputs, dtype=np.uint32)[:, 0]
    for row, value in zip(asked[:, ::-1], found, strict=True):
        nearest = tuple(min(max(int(n), 0), extent - 1) for n, extent in zip(row, shape, strict=True))
        inside = nearest == tuple(row.tolist())
        assert value == (texels[nearest] if inside or clamp == "clamp" else 0)


@pytest.mark.parametrize("geometry", SHAPES)
@pytest.mark.parametrize("clamp", ["zero", "clamp"])
def test_stores(device: Emulator, geometry: str, clamp: str) -> None:
    """Each thread has a place of its own where it stores, inside or outside."""
    shape = SHAPES[geometry]
    texels = np.zeros(shape, np.uint32)
    made = array(device, geometry, [texels[..., None]])
    expected, rows = texels.copy(), []
    for number, row in enumerate(places(shape), 1):
        where = row[::-1]
        nearest = tuple(min(max(int(n), 0), extent - 1) for n, extent in zip(where, shape, strict=True))
        inside = nearest == tuple(where.tolist())
        if (geometry.startswith("a") and row[-1] < 0) or (clamp == "clamp" and expected[nearest]):
            continue
        if inside or clamp == "clamp":
            expected[nearest] = number
        rows.append([*row.tolist(), number])
    inputs = np.array(rows, np.int32)
    inputs[:, 0] *= 4
    statement = f"sust.b.{geometry}.b32.{clamp} [%rd0, {ORDER[geometry]}], %i{len(shape)}"
    run(device, statement, surface(device, made), inputs)
    assert (held(device, made, texels) == expected).all()


@pytest.mark.parametrize(
    "words", ["b8", "b16", "b64", "v2.b8", "v4.b8", "v2.b16", "v4.b16", "v2.b32", "v4.b32", "v2.b64"]
)
def test_vectors_and_widths(device: Emulator, words: str) -> None:
    """What is loaded from one surface is stored to another, at the same places."""
    count = int(words[1]) if words.startswith("v") else 1
    width = int(words.rpartition("b")[2]) // 8
    size = width * count
    data = np.random.default_rng(3).integers(0, 256, (2, 64), np.uint8)
    source, target = (array(device, "2d", [each[..., None]]) for each in (data, np.zeros_like(data)))
    other = surface(device, target)
    registers = [
        f"%{ {1: 'h', 2: 'h', 4: 'o', 8: 'rd'}[width] }{n + (4 if width == 8 else 0)}" for n in range(count)
    ]
    vector = "{" + ", ".join(registers) + "}"
    statement = (
        f"mov.b64 %rd3, {{%i2, %i3}}; suld.b.2d.{words}.trap {vector}, [%rd0, {{%i0, %i1}}]; "
        f"sust.b.2d.{words}.trap [%rd3, {{%i0, %i1}}], {vector}"
    )
    rows = [[x, y, other & 0xFFFFFFFF, other >> 32] for y in (0, 1) for x in range(0, 64, size)]
    run(device, statement, surface(device, source), np.array(rows, np.uint32))
    assert (held(device, target, data) == data).all()


def test_formatted_stores(device: Emulator) -> None:
    """Integers that don't fit become the nearest that do; numbers of f16 are rounded."""
    values = {
        np.uint8: ([5, 255, 256, 0xFFFFFFFF], [5, 255, 255, 255]),
        np.int8: ([5, -129 & 0xFFFFFFFF, 128, -128 & 0xFFFFFFFF], [5, -128, 127, -128]),
        np.int16: ([40000, -40000 & 0xFFFFFFFF, 7, 0], [32767, -32768, 7, 0]),
        np.uint32: ([1, 2, 3, 0xFFFFFFFF], [1, 2, 3, 0xFFFFFFFF]),
        np.float16: (np.array([1.0, 0.1, -3, 65504], np.float32).view(np.uint32), [1.0, 0.1, -3, 65504]),
        np.float32: (np.array([1.0, 0.1, -3, 1e30], np.float32).view(np.uint32), [1.0, 0.1, -3, 1e30]),
    }
    for dtype, (given, expected) in values.items():
        texels = np.zeros((4, 8, 4), dtype)
        made = array(device, "2d", [texels])
        inputs = np.array([[3, 2, *[int(word) for word in given]]], np.uint32)
        statement = "sust.p.2d.v4.b32.trap [%rd0, {%i0, %i1}], {%i2, %i3, %i4, %i5}"
        run(device, statement, surface(device, made), inputs)
        texels[2, 3] = np.array(expected).astype(dtype)
        assert (held(device, made, texels) == texels).all()


def test_channels_without_a_value_are_undefined(device: Emulator) -> None:
    made = array(device, "1d", [np.ones((8, 2), np.uint32)])
    statement = (
        "sust.p.1d.b32.trap [%rd0, {%i0}], %i1; mul.lo.s32 %i2, %i0, 8; "
        "suld.b.1d.v2.b32.trap {%o0, %o1}, [%rd0, {%i2}]; setp.eq.u32 %p0, %o0, 5; @%p0 mov.b32 %o2, 1"
    )
    inputs = np.array([[3, 5, 0]], np.uint32)
    with pytest.raises(PtxkitError, match="P606"):
        run(device, statement, surface(device, made), inputs, dtype=np.uint32)


@pytest.mark.parametrize(
    "operation", ["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
                  "add.u64", "min.u64", "max.s64"]
)  # fmt: skip
def test_reductions(device: Emulator, operation: str) -> None:
    """Several threads hit each place; all of them count."""
    operator, kind = operation.split(".")
    dtype = np.dtype({"u": "u", "s": "i", "b": "u"}[kind[0]] + str(int(kind[1:]) // 8))
    rng = np.random.default_rng(5)
    texels = rng.integers(0, 1 << 32, (2, 8, dtype.itemsize // 4), np.uint32)
    made = array(device, "2d", [texels])
    where = rng.integers(0, [8, 2], (64, 2)).astype(np.uint32)
    operands = rng.integers(0, 1 << 32, (64, 2), np.uint32)
    inputs = np.column_stack([where[:, 0] * dtype.itemsize, where[:, 1], operands])
    value = "%rd3" if kind.endswith("64") else "%i2"
    statement = f"mov.b64 %rd3, {{%i2, %i3}}; sured.b.{operator}.2d.{kind}.trap [%rd0, {{%i0, %i1}}], {value}"
    run(device, statement, surface(device, made), inputs)
    expected = np.ascontiguousarray(texels).view(dtype).reshape(2, 8).copy()
    function = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
    }
    given = (
        np.ascontiguousarray(operands).view(dtype)
        if dtype.itemsize == 8
        else operands[:, :1].copy().view(dtype)
    )
    function[operator].at(expected, (where[:, 1], where[:, 0]), given.reshape(-1))
    assert (held(device, made, texels).view(dtype).reshape(2, 8) == expected).all()


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_formatted_reductions_take_their_sign_from_the_surface(device: Emulator, dtype: type) -> None:
    texels = np.array([5, 5, 5, 5], dtype)[:, None]
    made = array(device, "1d", [texels])
    inputs = np.array([[n, 0xFFFFFFFF] for n in range(4)], np.uint32)
    run(device, "sured.p.min.1d.b32.trap [%rd0, {%i0}], %i1", surface(device, made), inputs)
    expected = 5 if dtype is np.uint32 else -1
    assert held(device, made, texels).reshape(-1).tolist() == [expected] * 4


def test_questions_to_a_surface(device: Emulator) -> None:
    made = array(device, "a2d", [np.zeros((5, 6, 8, 4), np.int16)])
    expected = {
        "width": 8, "height": 6, "depth": 5, "array_size": 5, "memory_layout": 0,
        "channel_data_type": 0x10D8, "channel_order": 0x10B5,
    }  # fmt: skip
    for field, value in expected.items():
        statement = f"suq.{field}.b32 %o0, [%rd0]"
        found = run(device, statement, surface(device, made), np.zeros((1, 1), np.uint32), dtype=np.uint32)
        assert found[0, 0] == value, field


def fails(code: str, says: str, device: Emulator, statement: str, handle: int, inputs: object) -> None:
    with pytest.raises(PtxkitError, match=says) as caught:
        run(device, statement, handle, inputs)
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_what_is_found(device: Emulator) -> None:
    made = array(device, "2d", [np.zeros((4, 8, 1), np.uint32)])
    handle = surface(device, made)
    load = "suld.b.2d.b32.trap %o0, [%rd0, {%i0, %i1}]"
    fails(
        "P602",
        r"4 bytes at \(32, 0\) of a surface",
        device,
        load,
        handle,
        np.array([[0, 0], [32, 0]], np.int32),
    )
    fails("P602", r"4 bytes at \(-4, 0\) of a surface", device, load, handle, np.array([[-4, 0]], np.int32))
    fails("P603", "expected a multiple of 4, found 2", device, load, handle, np.array([[2, 0]], np.int32))
    flat = "suld.b.1d.b32.trap %o0, [%rd0, {%i0}]"
    fails(
        "P6140",
        "expected a `.1d` surface, found a surface of 2d array",
        device,
        flat,
        handle,
        np.zeros((1, 1), np.int32),
    )
    assert made.owner is not None
    device.memory.free(made.owner, "`cuArrayDestroy`")
    fails(
        "P604",
        "the memory of a surface of 2d array .* was freed",
        device,
        load,
        handle,
        np.zeros((1, 2), np.int32),
    )


def test_stores_of_two_warps_race(device: Emulator) -> None:
    """To one place; to places of their own they don't, and reductions never."""
    made = array(device, "1d", [np.zeros((64, 1), np.uint32)])
    handle, inputs = surface(device, made), np.array([[4 * (n % 32), n] for n in range(64)], np.uint32)
    run(device, "sured.b.add.1d.u32.trap [%rd0, {%i0}], %i1", handle, inputs)
    apart = inputs.copy()
    apart[:, 0] = 4 * np.arange(64)
    run(device, "sust.b.1d.b32.trap [%rd0, {%i0}], %i1", handle, apart)
    fails("P651", "GMEM-RACE", device, "sust.b.1d.b32.trap [%rd0, {%i0}], %i1", handle, inputs)


def test_a_fetch_of_what_the_launch_wrote(device: Emulator) -> None:
    """Behind a barrier, too; the next launch may."""

    made = array(device, "2d", [np.zeros((1, 64, 1), np.uint32)])
    image = texture(device, made)
    inputs = np.array([[4 * n, n, image & 0xFFFFFFFF, image >> 32] for n in range(64)], np.uint32)
    store = "mov.b32 %t1, 0; sust.b.2d.b32.trap [%rd0, {%i0, %t1}], %i1"
    fetch = "mov.b32 %t1, 0; mov.b64 %rd3, {%i2, %i3}; "
    fetch += "tex.2d.v4.u32.s32 {%o0, %o1, %o2, %o3}, [%rd3, {%i1, %t1}]"
    handle = surface(device, made)
    fails("P6141", "TEXTURE-STALE", device, f"{store}; bar.sync 0; {fetch}", handle, inputs)
    run(device, store, handle, inputs)
    assert run(device, fetch, handle, inputs, dtype=np.uint32)[:, 0].tolist() == list(range(64))
