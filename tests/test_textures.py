"""Fetches from textures against a model in fractions that follows the CUDA C++ Programming Guide's "Texture
memory" and "Texture fetching", and PTX ISA 9.7.10."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest
from textures import array, run, texture

from ptxkit.emulator import Emulator
from ptxkit.emulator.texels.objects import AddressMode, Sampler

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


def remapped(x: Fraction, extent: int, mode: AddressMode, normalized: bool) -> Fraction:
    """A coordinate in texels after the address mode: the guide's table, in exact arithmetic."""
    if not normalized:
        return x
    if mode is AddressMode.WRAP:
        x -= floor(x)
    elif mode is AddressMode.MIRROR:
        x = x - floor(x) if floor(x) % 2 == 0 else 1 - (x - floor(x))
    return x * extent


def picked(number: int, extent: int, mode: AddressMode, normalized: bool) -> int | None:
    """The texel with a number, None for the border."""
    if mode is AddressMode.BORDER:
        return number if 0 <= number < extent else None
    if mode is AddressMode.WRAP and normalized:
        return number % extent
    return min(max(number, 0), extent - 1)


def reference(
    texels: np.ndarray, place: list[Fraction], sampler: Sampler, border: Fraction = Fraction(0)
) -> Fraction:
    """The value of one channel at a place, x first. Weights are those of 8 bits."""
    extents = texels.shape[::-1]
    taps: list[list[tuple[int | None, Fraction]]] = []
    for x, extent, mode in zip(place, extents, sampler.address, strict=False):
        x = remapped(x, extent, mode, sampler.normalized)
        if not sampler.linear:
            taps.append([(picked(floor(x), extent, mode, sampler.normalized), Fraction(1))])
            continue
        below = x - Fraction(1, 2)
        weight = Fraction(round((below - floor(below)) * 256), 256)
        pair = ((floor(below), 1 - weight), (floor(below) + 1, weight))
        taps.append([(picked(n, extent, mode, sampler.normalized), part) for n, part in pair])
    total = Fraction(0)
    for corner in product(*taps):
        weight = Fraction(1)
        for _, part in corner:
            weight *= part
        numbers = [number for number, _ in corner]
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
            expected = reference(layer, row, sampler, Fraction(1, 2))
            assert found[number].tolist() == [float(np.float32(float(expected))), 0, 0, 1], (sampler, row)


def _clear(row: list[Fraction], extents: tuple[int, ...], sampler: Sampler) -> bool:
    """Whether a place is off the edges at which a rounding decides."""
    for x, extent in zip(row, extents, strict=True):
        scaled = x * extent * (256 if sampler.linear else 1)
        if sampler.linear:
            scaled += Fraction(1, 2)
        if abs(scaled - round(scaled)) < Fraction(1, 64):
            return False
    return True
