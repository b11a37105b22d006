"""Fetches from textures against a model in fractions that follows the CUDA C++ Programming Guide's "Texture
memory" and "Texture fetching", and PTX ISA 9.7.10."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from textures import array, run, texture

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.texels.objects import AddressMode, Sampler, SamplerObject, Texture

FOUR = "{%o0, %o1, %o2, %o3}"
COORDINATES = {
    "1d": "{%i0}",
    "2d": "{%i0, %i1}",
    "3d": "{%i0, %i1, %i2, %i2}",
    "a1d": "{%i0, %i1}",
    "a2d": "{%i0, %i1, %i2, %i2}",
    "cube": "{%i0, %i1, %i2, %i2}",
    "acube": "{%i0, %i1, %i2, %i3}",
}
EXTENTS = {"1d": (7,), "2d": (5, 6), "3d": (3, 4, 5), "a1d": (3, 6), "a2d": (2, 5, 4)}
"""Of arrays, the last axis is x; the first of an array texture its layers."""


@pytest.fixture
def device() -> Emulator:
    return Emulator()


def picked(number: int, extent: int, mode: AddressMode, normalized: bool) -> int | None:
    """The texel with a number, None for the border."""
    if mode is AddressMode.BORDER:
        return number if 0 <= number < extent else None
    if mode is AddressMode.WRAP and normalized:
        return number % extent
    if mode is AddressMode.MIRROR and normalized:
        period = [*range(extent), *range(extent)[::-1]]
        return period[number % len(period)]
    return min(max(number, 0), extent - 1)


def nearer(x: Fraction, tie: int) -> int:
    """The whole number next to one, of two as near the upper (1) or the lower (0)."""
    return floor(x + Fraction(1, 2)) if tie else -floor(Fraction(1, 2) - x)


def shares(parts: list[Fraction]) -> dict[tuple[int, ...], Fraction]:
    """What each corner of a cell weighs, x first. The guide's products, in units of 1/256: rounded as an H200
    does, so that the sum stays 1."""
    x, *others = parts
    slices = {(): 256}
    if len(others) == 2:
        far = nearer(256 * others[1], 1)
        slices = {(0,): 256 - far, (1,): far}
    found = {}
    for z, whole in slices.items():
        right = nearer(whole * x, 1)
        for side, column in ((0, whole - right), (1, right)):
            if not others:
                found[side,] = Fraction(column, 256)
                continue
            below = nearer(column * others[0], side)
            found[side, 0, *z] = Fraction(column - below, 256)
            found[side, 1, *z] = Fraction(below, 256)
    return found


def reference(
    texels: np.ndarray, place: list[Fraction], sampler: Sampler, border: Fraction = Fraction(0)
) -> Fraction:
    """The value of one channel at a place, x first. A single row is one of a picture."""
    extents = texels.shape[::-1]
    if not sampler.linear:
        numbers = [
            picked(floor(x * extent if sampler.normalized else x), extent, mode, sampler.normalized)
            for x, extent, mode in zip(place, extents, sampler.address, strict=False)
        ]
        return border if None in numbers else Fraction(float(texels[tuple(numbers[::-1])]))  # type: ignore[index]
    lows, parts = [], []
    for x, extent, mode in zip(place, extents, sampler.address, strict=False):
        below = (x * extent if sampler.normalized else x) - Fraction(1, 2)
        fixed = floor(below * 256 + Fraction(1, 2))
        if mode is AddressMode.CLAMP:
            fixed = min(max(fixed, 0), 256 * (extent - 1))
        lows.append(fixed // 256)
        parts.append(Fraction(fixed % 256, 256))
    total = Fraction(0)
    for corner, weight in shares(parts).items():
        numbers = [
            picked(low + step, extent, mode, sampler.normalized)
            for low, step, extent, mode in zip(lows, corner, extents, sampler.address, strict=False)
        ]
        value = border if None in numbers else Fraction(float(texels[tuple(numbers[::-1])]))  # type: ignore[index]
        total += weight * value
    return total


def samplers(linear: bool) -> list[Sampler]:
    made = [Sampler((mode,) * 3, linear, True, border=(0.5, 0, 0, 0)) for mode in AddressMode]
    return made + [
        Sampler((mode,) * 3, linear, False, border=(0.5, 0, 0, 0))
        for mode in (AddressMode.CLAMP, AddressMode.BORDER)
    ]


@pytest.mark.parametrize("geometry", EXTENTS)
@pytest.mark.parametrize("linear", [False, True], ids=["nearest", "linear"])
def test_fetches_follow_the_guide(device: Emulator, geometry: str, linear: bool) -> None:
    """Coordinates lie on multiples of 1/256 of a texel or off the edges of weights, texels are whole:
    what the guide says is then exact in f32."""
    rng = np.random.default_rng(len(geometry) + 10 * linear)
    shape = EXTENTS[geometry]
    texels = rng.integers(-64, 64, shape).astype(np.float32)
    made = array(device, geometry, [texels[..., None]])
    layered = geometry.startswith("a")
    extents = shape[:0:-1] if layered else shape[::-1]
    for sampler in samplers(linear):
        count = 96
        steps = rng.integers(-2 * 256, 2 * 256 * max(extents), (count, len(extents))) / 256
        places = [[Fraction(float(step)) for step in row] for row in steps]
        if sampler.normalized:
            places = [
                [Fraction(float(np.float32(x / extent))) for x, extent in zip(row, extents, strict=True)]
                for row in places
            ]
            places = [row for row in places if _clear(row, extents, sampler)]
        words = np.array([[float(x) for x in row] for row in places], np.float32).view(np.uint32)
        layers = rng.integers(0, shape[0] + 2, len(places)).astype(np.uint32)
        if layered:
            words = np.column_stack([layers, words])
        statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {COORDINATES[geometry]}]"
        found = run(device, statement, texture(device, made, sampler), words)
        for number, row in enumerate(places):
            layer = texels[min(int(layers[number]), shape[0] - 1)] if layered else texels
            if geometry == "1d" and linear:
                layer, row = layer[None], [*row, Fraction(0)]
            expected = reference(layer, row, sampler, Fraction(1, 2))
            assert found[number].tolist() == [float(np.float32(float(expected))), 0, 0, 0], (sampler, row)


def _clear(row: list[Fraction], extents: tuple[int, ...], sampler: Sampler) -> bool:
    """Whether a place is off the edges at which a rounding decides."""
    for x, extent in zip(row, extents, strict=True):
        scaled = x * extent * (256 if sampler.linear else 1)
        if sampler.linear:
            scaled += Fraction(1, 2)
        if abs(scaled - round(scaled)) < Fraction(1, 64):
            return False
    return True


# ---- what a channel gives


def expected_channel(value: int | float, kind: str, bits: int, fractions: bool) -> float | int:
    """A channel as the guide has it fetched: a fraction of the greatest value, or itself."""
    if kind == "f":
        return float(value)
    if not fractions or bits == 32:
        return int(value) & 0xFFFFFFFF
    most = 2**bits - 1 if kind == "u" else 2 ** (bits - 1) - 1
    return float(np.float32(max(Fraction(int(value), most), Fraction(-1))))


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("fractions", [False, True], ids=["integers", "fractions"])
@pytest.mark.parametrize("name", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"])
def test_channels(device: Emulator, name: str, fractions: bool, channels: int) -> None:
    dtype = np.dtype(name)
    rng = np.random.default_rng(channels)
    bits = 8 * dtype.itemsize
    if dtype.kind == "f":
        texels = rng.normal(size=(4, 8, channels)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        texels = rng.integers(limits.min, limits.max, (4, 8, channels), dtype, endpoint=True)
        texels[0, 0], texels[0, 1] = limits.min, limits.max
    handle = texture(device, array(device, "2d", [texels]), fractions=fractions)
    y, x = np.divmod(np.arange(32, dtype=np.int32), 8)
    statement = f"tex.2d.v4.u32.s32 {FOUR}, [%rd0, {{%i0, %i1}}]"
    found = run(device, statement, handle, np.column_stack([x, y]), dtype=np.uint32)
    number = dtype.kind == "f" or (fractions and bits < 32)
    for row, texel in zip(found, texels.reshape(32, channels), strict=True):
        wanted = [expected_channel(value, dtype.kind, bits, fractions) for value in texel.tolist()]
        words = [int(np.float32(each).view(np.uint32)) if number else each for each in wanted]
        assert row.tolist() == words + [0] * (4 - channels)


def test_results_of_two_bytes(device: Emulator) -> None:
    texels = np.array([[1.0, -2.5, 65504.0, 1e-7]], np.float32)
    handle = texture(device, array(device, "1d", [texels], linear=True))
    inputs = np.zeros((1, 1), np.int32)
    halves = texels.astype(np.float16).view(np.uint32).reshape(-1)
    packed = run(device, "tex.1d.v2.f16x2.s32 {%o0, %o1}, [%rd0, {%i0}]", handle, inputs, dtype=np.uint32)
    assert packed[0].tolist() == [*halves, 0, 0]
    alone = (
        "tex.1d.v4.f16.s32 {%h0,%h1,%h2,%h3}, [%rd0, {%i0}]; mov.b32 %o0, {%h0,%h1}; mov.b32 %o1, {%h2,%h3}"
    )
    assert (run(device, alone, handle, inputs, dtype=np.uint32) == packed).all()


def test_all_texels_are_resident(device: Emulator) -> None:
    handle = texture(device, array(device, "1d", [np.ones((4, 1), np.float32)], linear=True))
    statement = "tex.1d.v4.f32.s32 {%o0,%o1,%o2,%o3}|%p0, [%rd0, {%i0}]; selp.b32 %o1, 7, 8, %p0"
    assert run(device, statement, handle, np.zeros((1, 1), np.int32), dtype=np.uint32)[0, 1] == 7


# ---- whole coordinates, offsets, layers


def test_numbers_of_texels(device: Emulator) -> None:
    """Outside of linear memory and of arrays there is nothing."""
    texels = np.arange(1, 7, dtype=np.float32)[:, None]
    inputs = np.array([[-1, 0], [0, 0], [5, 0], [6, 0]], np.int32)
    places = {"1d": "%i0", "2d": "%i0, %i1"}
    for geometry, shape, linear in (("1d", (6, 1), True), ("2d", (1, 6, 1), False)):
        handle = texture(device, array(device, geometry, [texels.reshape(shape)], linear))
        statement = f"tex.{geometry}.v4.f32.s32 {FOUR}, [%rd0, {{{places[geometry]}}}]"
        found = run(device, statement, handle, inputs)
        assert found[:, 0].tolist() == [0, 1, 6, 0]


def test_offsets_have_four_bits(device: Emulator) -> None:
    texels = np.arange(64, dtype=np.float32)[:, None]
    handle = texture(device, array(device, "1d", [texels]))
    inputs = np.array([[30, shift] for shift in (-8, -1, 0, 7, 8, 15, 17)], np.int32)
    inputs[:, 0] = np.full(len(inputs), 30.5, np.float32).view(np.int32)
    found = run(device, f"tex.1d.v4.f32.f32 {FOUR}, [%rd0, {{%i0}}], {{%i1}}", handle, inputs)
    assert found[:, 0].tolist() == [22, 29, 30, 37, 22, 29, 31]


def test_handles_may_differ_from_lane_to_lane(device: Emulator) -> None:
    handles = [
        texture(device, array(device, "1d", [np.full((4, 1), n, np.float32)], linear=True)) for n in range(3)
    ]
    inputs = np.array([[0, handles[n % 3] & 0xFFFFFFFF, handles[n % 3] >> 32] for n in range(48)], np.uint32)
    statement = f"mov.b64 %rd3, {{%i1, %i2}}; tex.1d.v4.f32.s32 {FOUR}, [%rd3, {{%i0}}]"
    assert run(device, statement, 0, inputs)[:, 0].tolist() == [n % 3 for n in range(48)]


def test_a_guard_holds_for_some_lanes(device: Emulator) -> None:
    handle = texture(device, array(device, "1d", [np.arange(1, 33, dtype=np.float32)[:, None]], linear=True))
    inputs = np.arange(32, dtype=np.int32)[:, None]
    statement = f"setp.lt.s32 %p0, %i0, 5; @%p0 tex.1d.v4.f32.s32 {FOUR}, [%rd0, {{%i0}}]"
    found = run(device, statement, handle, inputs)
    assert found[:, 0].tolist() == [*range(1, 6), *[0] * 27]


# ---- gathers and cubes


def test_a_gather_takes_the_footprint_of_the_filter(device: Emulator) -> None:
    """Counter-clockwise from the lower left: y grows downwards, so that the greater y comes first."""
    texels = np.arange(5 * 4 * 4, dtype=np.float32).reshape(5, 4, 4)
    handle = texture(device, array(device, "2d", [texels]), Sampler(linear=True))
    places = np.array([[1.25, 2.25], [2.75, 1.75], [0.0, 0.0]], np.float32).view(np.uint32)
    for number, component in enumerate("rgba"):
        found = run(device, f"tld4.{component}.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}]", handle, places)
        for row, (left, top) in zip(found, [(0, 1), (2, 1), (-1, -1)], strict=True):
            corners = [(left, top + 1), (left + 1, top + 1), (left + 1, top), (left, top)]
            assert row.tolist() == [texels[max(y, 0), max(x, 0), number] for x, y in corners]


FACES = [
    #   direction of the face, then what s and t are there: the guide's table
    ((1, 0, 0), lambda x, y, z: (-z, -y)),
    ((-1, 0, 0), lambda x, y, z: (z, -y)),
    ((0, 1, 0), lambda x, y, z: (x, z)),
    ((0, -1, 0), lambda x, y, z: (x, -z)),
    ((0, 0, 1), lambda x, y, z: (x, -y)),
    ((0, 0, -1), lambda x, y, z: (-x, -y)),
]


@pytest.mark.parametrize("geometry", ["cube", "acube"])
def test_directions_find_faces(device: Emulator, geometry: str) -> None:
    edge, cubes = 8, 2 if geometry == "acube" else 1
    texels = np.arange(6 * cubes * edge * edge, dtype=np.float32).reshape(6 * cubes, edge, edge, 1)
    handle = texture(device, array(device, geometry, [texels]), Sampler(normalized=True))
    rng = np.random.default_rng(4)
    inputs, expected = [], []
    for face, (axis, project) in enumerate(FACES):
        for _ in range(24):
            minor = rng.uniform(-0.99, 0.99, 3)
            way = np.where(np.array(axis) != 0, axis, minor) * rng.uniform(0.5, 4)
            way = way.astype(np.float32)
            major = abs(float(way[np.argmax(np.abs(axis))]))
            s, t = project(*way.tolist())
            x, y = (s / major + 1) / 2 * edge, (t / major + 1) / 2 * edge
            if min(abs(x - round(x)), abs(y - round(y))) < 1e-3:
                continue
            layer = int(rng.integers(0, cubes))
            inputs.append(([np.uint32(layer)] if cubes > 1 else []) + way.view(np.uint32).tolist())
            expected.append(texels[6 * layer + face, floor(y), floor(x), 0])
    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {COORDINATES[geometry]}]"
    found = run(device, statement, handle, np.array(inputs, np.uint32))
    assert found[:, 0].tolist() == expected


def test_seamless_cubes_go_on_across_edges(device: Emulator) -> None:
    """Half way between the middles of two texels on either side of an edge: half of each."""
    edge = 4
    texels = np.arange(6 * edge * edge, dtype=np.float32).reshape(6, edge, edge, 1)
    sampler = Sampler(linear=True, normalized=True, seamless=True)
    handle = texture(device, array(device, "cube", [texels]), sampler)
    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}]"
    middle = (2 * np.arange(edge) + 1) / edge - 1
    # The edge of +x and +z: on the face +z s = x, on the face +x s = -z, t = -y on both.
    rows = np.array([[1, -t, 1] for t in middle], np.float32)
    found = run(device, statement, handle, rows.view(np.uint32))[:, 0]
    assert found.tolist() == [(texels[4, n, edge - 1, 0] + texels[0, n, 0, 0]) / 2 for n in range(edge)]
    # The edge of +y and +z: on the face +y t = z and s = x, on the face +z t = -y and s = x.
    rows = np.array([[s, 1, 1] for s in middle], np.float32)
    found = run(device, statement, handle, rows.view(np.uint32))[:, 0]
    assert found.tolist() == [(texels[2, edge - 1, n, 0] + texels[4, 0, n, 0]) / 2 for n in range(edge)]
    # The corner of +x, +y, +z, which is on +z: a third of each of the three, in whole units of 1/256.
    found = run(device, statement, handle, np.ones((1, 3), np.float32).view(np.uint32))[:, 0]
    beside = texels[0, 0, 0, 0] + texels[2, edge - 1, edge - 1, 0]
    assert found.tolist() == [(85 * beside + 86 * texels[4, 0, edge - 1, 0]) / 256]


def test_levels_of_cubes_from_derivatives(device: Emulator) -> None:
    """At the middle of a face a change of the direction by d is one of half of it in the face."""
    faces = [np.full((6, 32 >> n, 32 >> n, 1), n, np.float32) for n in range(6)]
    sampler = Sampler(normalized=True, levels_linear=True, level_clamp=(0, 16))
    handle = texture(device, array(device, "cube", faces), sampler)
    rows, expected = [], []
    for level in range(5):
        slope = 2.0**level / 32 * 2
        rows.append([0, 0, 1, slope, 0, 0, 0, 0, 0])
        rows.append([0, -2, 0, 0, 0, 0, 0, 0, 2 * slope])
        expected += [level, level]
    # To a neighbouring face, half an edge away over the common edge.
    rows.append([0.5, 0, 1, 0.5, 0, -0.5, 0, 0, 0])
    expected.append(4)
    inputs = np.array(rows, np.float32).view(np.uint32)
    statement = (
        f"tex.grad.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}], {{%i3, %i4, %i5, %i5}}, "
        "{%i6, %i7, %i8, %i8}"
    )
    assert run(device, statement, handle, inputs)[:, 0].tolist() == expected


def test_levels_from_derivatives_through_a_cube(device: Emulator) -> None:
    """The way to the opposite face has a part through the cube, an edge long. The levels are an H200's."""
    faces = [np.full((6, 32 >> n, 32 >> n, 1), n, np.float32) for n in range(6)]
    sampler = Sampler(normalized=True, levels_linear=True, level_bias=-2, level_clamp=(0, 16))
    handle = texture(device, array(device, "cube", faces), sampler)
    recorded = {
        "0 0 3f800000 3f508f2b 3f06d3a8 c0000000 0 0 0": 3.26953125,
        "bf118562 bedc12dd 3f800000 3f118562 3edc12dd c0000000 0 0 0": 3.203125,
        "3fca00a2 be1ff56b befcc8d0 c0c9cb24 bdc2f32a 3f482436 0 0 0": 3.09375,
        "3ec38420 bf0ebd05 bfb55f09 bfbc74fe 3f45bb73 40942cec bfec21e2 bea0bdcd 3e969bf2": 3.21484375,
        "bcb113d7 3e3e679e bf9361e7 bce5a9b7 3ce2fd78 4084fb37 0 0 0": 3.0234375,
        "bf51ba09 3f1bc7cd bf941a85 3f2b6ec2 c0057889 4077ad2c bfeec4f9 400ef35d be8eb510": 3.34375,
    }
    inputs = np.array([[int(word, 16) for word in words.split()] for words in recorded], np.uint32)
    statement = (
        f"tex.grad.cube.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1, %i2, %i2}}], {{%i3, %i4, %i5, %i5}}, "
        "{%i6, %i7, %i8, %i8}"
    )
    assert run(device, statement, handle, inputs)[:, 0].tolist() == [*recorded.values()]


def test_srgb_becomes_linear(device: Emulator) -> None:
    """All but the fourth channel. IEC 61966-2-1."""
    texels = np.array([[[0, 10, 11, 128], [255, 128, 188, 255]]], np.uint8)
    handle = texture(device, array(device, "2d", [texels]), Sampler(srgb=True), fractions=True)
    inputs = np.array([[0, 0], [1, 0]], np.int32)
    found = run(device, f"tex.2d.v4.f32.s32 {FOUR}, [%rd0, {{%i0, %i1}}]", handle, inputs)
    for row, texel in zip(found, texels[0] / 255, strict=True):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in texel[:3]]
        assert np.allclose(row[:3], linear, rtol=1 / 128)
        assert np.isclose(row[3], texel[3])


# ---- levels


def numbered(edge: int, levels: int) -> list[np.ndarray]:
    """Levels whose texels hold their number."""
    return [np.full((max(1, edge >> n), max(1, edge >> n), 1), n, np.float32) for n in range(levels)]


def test_levels_that_are_named(device: Emulator) -> None:
    made = array(device, "2d", numbered(16, 5))
    asked = np.array([-3, 0, 0.25, 0.75, 1, 1.25, 2.75, 4, 9], np.float32)
    inputs = np.column_stack([np.full((len(asked), 2), 0.5, np.float32), asked]).view(np.uint32)
    statement = f"tex.level.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], %i2"

    def found(sampler: Sampler) -> list[float]:
        return run(device, statement, texture(device, made, sampler), inputs)[:, 0].tolist()

    nearest = Sampler(normalized=True, level_clamp=(0, 16))
    assert found(nearest) == [0, 0, 0, 1, 1, 1, 3, 4, 4]
    linear = Sampler(normalized=True, levels_linear=True, level_clamp=(0, 16))
    assert found(linear) == [0, 0, 0.25, 0.75, 1, 1.25, 2.75, 4, 4]
    clamped = Sampler(normalized=True, levels_linear=True, level_clamp=(0.5, 2))
    assert found(clamped) == [0.5, 0.5, 0.5, 0.75, 1, 1.25, 2, 2, 2]
    biased = Sampler(normalized=True, levels_linear=True, level_bias=1.0, level_clamp=(0, 16))
    assert found(biased) == [0, 1, 1.25, 1.75, 2, 2.25, 3.75, 4, 4]


def test_levels_by_number(device: Emulator) -> None:
    made = array(device, "2d", numbered(8, 4))
    inputs = np.array([[0, 0, level] for level in (0, 1, 2, 3)], np.int32)
    statement = f"tex.level.2d.v4.f32.s32 {FOUR}, [%rd0, {{%i0, %i1}}], %i2"
    found = run(device, statement, texture(device, made, Sampler(normalized=True)), inputs)
    assert found[:, 0].tolist() == [0, 1, 2, 3]


def test_levels_from_derivatives(device: Emulator) -> None:
    """The longer of the two, in texels, is 2 to the level."""
    made = array(device, "2d", numbered(64, 7))
    sampler = Sampler(normalized=True, levels_linear=True, level_clamp=(0, 16))
    rows, expected = [], []
    for level in range(6):
        slope = 2.0**level / 64
        for across, down in (((slope, 0), (0, 0)), ((0, 0), (0, slope)), ((0, slope / 2), (slope, 0))):
            rows.append([0.5, 0.5, *across, *down])
            expected.append(level)
    inputs = np.array(rows, np.float32).view(np.uint32)
    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], {{%i2, %i3}}, {{%i4, %i5}}"
    assert run(device, statement, texture(device, made, sampler), inputs)[:, 0].tolist() == expected


# ---- questions


def test_questions_to_a_texture(device: Emulator) -> None:
    sampler = Sampler((AddressMode.MIRROR, AddressMode.BORDER, AddressMode.CLAMP), True, True)
    made = array(device, "a2d", [np.zeros((5, 6, 8, 2), np.uint8), np.zeros((5, 3, 4, 2), np.uint8)])
    handle = texture(device, made, sampler, fractions=True)
    expected = {
        "width": 8, "height": 6, "depth": 5, "array_size": 5, "num_mipmap_levels": 2, "num_samples": 0,
        "normalized_coords": 1, "filter_mode": 1, "addr_mode_0": 1, "addr_mode_1": 4, "addr_mode_2": 3,
        "channel_data_type": 0x10D2, "channel_order": 0x10B2,
    }  # fmt: skip
    inputs = np.zeros((1, 1), np.uint32)
    for field, value in expected.items():
        found = run(device, f"txq.{field}.b32 %o0, [%rd0]", handle, inputs, dtype=np.uint32)
        assert found[0, 0] == value, field
    statement = "txq.level.width.b32 %o0, [%rd0], %i0; txq.level.height.b32 %o1, [%rd0], %i0"
    found = run(device, statement, handle, np.array([[0], [1]], np.uint32), dtype=np.uint32)
    assert found[:, :2].tolist() == [[8, 6], [4, 3]]


def test_kinds_of_handles(device: Emulator) -> None:
    """On an H200 only the address of a variable is one."""
    handle = texture(device, array(device, "1d", [np.ones((4, 1), np.float32)], linear=True))
    statement = "; ".join(
        f"istypep.{kind} %p{n}, %rd0; selp.b32 %o{n}, 1, 0, %p{n}"
        for n, kind in enumerate(("texref", "samplerref", "surfref"))
    )
    inputs = np.zeros((1, 1), np.uint32)
    assert run(device, statement, handle, inputs, dtype=np.uint32)[0, :3].tolist() == [0, 0, 0]
    assert run(device, statement, 12345, inputs, dtype=np.uint32)[0, :3].tolist() == [0, 0, 0]


def test_samplers_of_their_own(device: Emulator) -> None:
    """Independent mode: the sampler filters as it says, and may override that coordinates are normalized."""
    texels = np.arange(8, dtype=np.float32)[:, None]
    handle = texture(device, array(device, "1d", [texels]), Sampler(normalized=True))
    place = np.array([[0.5]], np.float32)
    found = {}
    for unnormalized in (False, True):
        made = device.textures.add(SamplerObject(Sampler(linear=True), unnormalized))
        words = np.column_stack([place.view(np.uint32), [[made & 0xFFFFFFFF, made >> 32]]]).astype(np.uint32)
        statement = f"mov.b64 %rd3, {{%i1, %i2}}; tex.1d.v4.f32.f32 {FOUR}, [%rd0, %rd3, {{%i0}}]"
        found[unnormalized] = run(device, statement, handle, words, target="sm_90, texmode_independent")[0, 0]
    assert found == {False: 3.5, True: 0}


# ---- findings


def fails(code: str, says: str, device: Emulator, statement: str, handle: int, inputs: object) -> None:
    with pytest.raises(PtxkitError, match=says) as caught:
        run(device, statement, handle, inputs)
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_handles_that_can_not_be_used(device: Emulator) -> None:
    made = array(device, "2d", [np.ones((4, 4, 1), np.float32)])
    handle, inputs = texture(device, made), np.zeros((2, 2), np.int32)
    flat = f"tex.1d.v4.f32.s32 {FOUR}, [%rd0, {{%i0}}]"
    fails(
        "P6140",
        "expected a `.1d` texture, found a texture of 2d array of 4x4 texels",
        device,
        flat,
        handle,
        inputs,
    )
    statement = f"tex.2d.v4.f32.s32 {FOUR}, [%rd0, {{%i0, %i1}}]"
    fails("P6140", "0x11 is no handle of a texture", device, statement, 17, inputs)
    linear = texture(device, array(device, "1d", [np.ones((4, 1), np.float32)], linear=True))
    floating = f"tex.1d.v4.f32.f32 {FOUR}, [%rd0, {{%i0}}]"
    fails("P6140", "expected integer coordinates for linear memory", device, floating, linear, inputs)
    device.textures.remove(handle)
    fails("P6140", "it is destroyed", device, statement, handle, inputs)


def test_anisotropic_filters_are_told(device: Emulator) -> None:
    made = array(device, "2d", numbered(16, 5))
    sampler = Sampler(normalized=True, linear=True, level_clamp=(0, 16), anisotropy=8)
    inputs = np.full((1, 6), 0.25, np.float32).view(np.uint32)
    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0, %i1}}], {{%i2, %i3}}, {{%i4, %i5}}"
    run(device, statement, texture(device, made, sampler), inputs)
    assert [found.code for found in device.findings] == ["P6142"]
    run(device, statement, texture(device, made, Sampler(normalized=True)), inputs)
    assert len(device.findings) == 1


def test_memory_that_was_freed(device: Emulator) -> None:
    made = array(device, "1d", [np.ones((4, 1), np.float32)], linear=True)
    handle = texture(device, made)
    assert made.owner is not None
    device.memory.free(made.owner, "`cuArrayDestroy`")
    statement = f"tex.1d.v4.f32.s32 {FOUR}, [%rd0, {{%i0}}]"
    fails("P604", "use after free", device, statement, handle, np.zeros((2, 1), np.int32))


def test_texels_that_nobody_wrote(device: Emulator) -> None:
    """They matter where the result decides something, and only those that have a weight."""
    made = array(device, "1d", [np.ones((8, 1), np.float32)])
    assert made.owner is not None
    device.memory.forget(made.owner)

    start = made.base.address - BASE
    device.memory.shadow[start : start + 16] = 0  # type: ignore[index]
    handle = texture(device, made, Sampler(linear=True))
    statement = (
        f"tex.1d.v4.f32.f32 {FOUR}, [%rd0, {{%i0}}]; setp.gt.f32 %p0, %o0, 0f00000000; @%p0 mov.b32 %o1, 5"
    )
    good = np.array([[0.5], [3.5]], np.float32).view(np.uint32)
    assert run(device, statement, handle, good)[:, 0].tolist() == [1, 1]
    bad = np.array([[0.5], [3.75]], np.float32).view(np.uint32)
    fails("P605", "undefined", device, statement, handle, bad)


def test_initial_values_of_samplers(device: Emulator) -> None:
    """A `.samplerref` samples as its initial value says; the texture is bound by the host."""
    variables = (
        ".global .texref image;\n"
        ".global .samplerref near = {filter_mode = nearest, addr_mode_0 = clamp_to_border};\n"
        ".global .samplerref smooth = {filter_mode = linear, addr_mode_0 = wrap};\n"
        ".global .samplerref texels = {filter_mode = linear, force_unnormalized_coords = 1};"
    )
    texels = np.array([1, 2, 4, 8], np.float32)[:, None]
    handle = texture(device, array(device, "1d", [texels]), Sampler(normalized=True))
    inputs = np.array([[-0.1], [1.0], [0.5]], np.float32).view(np.uint32)
    for name, expected in (("near", [0, 0, 4]), ("smooth", [None, 4.5, 3]), ("texels", [1, 1.5, 1])):
        statement = f"tex.1d.v4.f32.f32 {FOUR}, [%rd0, {name}, {{%i0}}]"
        found = run(device, statement, handle, inputs, variables, "sm_90, texmode_independent")[:, 0]
        for value, wanted in zip(found.tolist(), expected, strict=True):
            assert wanted is None or value == wanted, name
    statement = "txq.addr_mode_0.b32 %o0, [near]; txq.filter_mode.b32 %o1, [smooth]"
    statement += "; txq.force_unnormalized_coords.b32 %o2, [texels]"
    found = run(device, statement, handle, inputs[:1], variables, "sm_90, texmode_independent", np.uint32)
    assert found[0].tolist() == [4, 1, 1, 0]


def test_variables_stand_for_what_is_bound(device: Emulator) -> None:

    made = array(device, "1d", [np.full((4, 1), 7, np.float32)], linear=True)
    text = """.version 9.0
.target sm_90
.address_size 64
.global .texref image;
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p;
    mov.u32 %r0, 0;
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%r0}];
    mov.u64 %rd1, image;
    istypep.texref %p, %rd1;
    @%p txq.width.b32 %r0, [%rd1];
    cvt.rn.f32.u32 %f1, %r0;
    ld.param.u64 %rd0, [out];
    st.global.v2.f32 [%rd0], {%f0, %f1};
    ret;
}
"""
    module = device.load(text)
    address, _ = module.variable("image") or (0, 0)
    bound = device.textures.variable(address)
    assert bound is not None
    bound.bound = Texture(made)
    out = device.array(np.zeros(2, np.float32))
    module.kernel().launch((1,), (1,), [out])
    assert out.numpy().tolist() == [7, 4]
