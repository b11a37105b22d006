"""The kinds of filtered fetches whose texels or borders are hard: zeros of both signs, subnormal numbers,
neighbours of one magnitude and of very different ones, infinities, NaN, the least and the largest numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from compare.textures import make
from compare.textures.kinds import COORDINATES, FOUR, THREADS, Entry, coords, trials
from compare.textures.make import CUBES, FORMATS, FRACTIONS
from compare.textures.model import ArraySpec, Kind, SamplerSpec, Trial

FLOATS = ("f16", "f32")
WAYS = ("zeros", "near", "apart", "special", "most", "least")
"""How texels are hard."""
FIELDS = {"f16": (10, 5), "f32": (23, 8)}
"""Bits of the fraction and of the exponent."""
SHARE = 0.15
"""Of special values among others."""


def hard() -> Iterator[Entry]:
    """All of them."""
    for format in FLOATS:
        for geometry in ("1d", "2d", "3d", "a2d", "cube"):
            yield _filtered(geometry, format)
        yield _seamless("cube", format)
        yield _seamless("acube", format)
        for geometry in ("1d", "2d", "3d", "cube"):
            for linear in (False, True):
                yield _levels(geometry, format, linear)
        yield _gathered(format)
    for format in FORMATS:
        yield _bordered(format)
    for format in (*FLOATS, *FRACTIONS):
        yield _corners(format)
    yield _stored()


def hard_texels(rng: np.random.Generator, spec: ArraySpec, way: str) -> list[np.ndarray]:
    """The bytes of each level of f16 or f32."""
    width = int(spec.format[1:])
    return [
        _words(rng, spec.format, way, spec.bytes(level) * 8 // width).view(np.uint8)
        for level in range(spec.levels)
    ]


def _words(rng: np.random.Generator, format: str, way: str, count: int) -> np.ndarray:
    fraction, exponent = FIELDS[format]
    middle, most = (1 << exponent - 1) - 1, (1 << exponent) - 2
    low, high = {
        "zeros": (0, 1),
        "near": (middle - 2, middle + 2),
        "apart": (max(1, middle - 20), min(most, middle + 20)),
        "special": (max(1, middle - 12), min(most, middle + 12)),
        "most": (most - 1, most),
        "least": (0, 10),
    }[way]
    power = rng.integers(low, high + 1, count)
    part = rng.integers(0, 1 << fraction, count) >> rng.integers(0, fraction, count)
    part = np.where(rng.random(count) < 0.5, part, part << fraction // 2) & ((1 << fraction) - 1)
    magnitude = (power << fraction) | part
    some = rng.random(count) < (0.6 if way == "zeros" else SHARE if way == "special" else 0)
    special = (
        [0] if way == "zeros" else [0, most + 1 << fraction, (most + 1 << fraction) + 1 + (1 << fraction - 1)]
    )
    magnitude = np.where(some, rng.choice(special, count), magnitude)
    sign = rng.integers(0, 2, count) << (fraction + exponent)
    if way == "zeros" and rng.integers(2):
        sign[:] = 1 << (fraction + exponent)
    return (magnitude | sign).astype(f"u{(fraction + exponent + 1) // 8}")


def _filtered(geometry: str, format: str) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, geometry, format)
        normalized = geometry in CUBES or bool(rng.integers(2))
        sampler = make.sampler_of(rng, normalized, True, integers=False)
        inputs = np.stack(make.place(rng, spec, normalized, THREADS))
        return Trial(0, spec, sampler, hard_texels(rng, spec, WAYS[number % len(WAYS)]), inputs)

    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
    kind = Kind(f"tex.{geometry} linear hard {format}", (statement,), COORDINATES[geometry], 4)
    return Entry(kind, trials(one, 24))


def _seamless(geometry: str, format: str) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, geometry, format)
        edge = int(rng.integers(1, 7))
        spec = replace(spec, width=edge, height=edge)
        sampler = SamplerSpec(linear=True, normalized=True, seamless=True, integers=False)
        inputs = np.stack(make.place(rng, spec, True, THREADS))
        return Trial(0, spec, sampler, hard_texels(rng, spec, WAYS[number % len(WAYS)]), inputs)

    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
    kind = Kind(f"tex.{geometry} seamless hard {format}", (statement,), COORDINATES[geometry], 4)
    return Entry(kind, trials(one, 24))


def _levels(geometry: str, format: str, linear: bool) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.mipmap_of(rng, geometry, format)
        sampler = make.sampler_of(rng, True, linear, integers=False, levels_linear=True, highest=16.0)
        level = rng.uniform(-0.2, spec.levels, THREADS).astype(np.float32).view(np.uint32)
        inputs = np.stack([*make.place(rng, spec, True, THREADS), level])
        return Trial(0, spec, sampler, hard_texels(rng, spec, WAYS[number % len(WAYS)]), inputs)

    count = COORDINATES[geometry]
    statement = f"tex.level.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], %i{count}"
    words = "linear" if linear else "nearest"
    kind = Kind(f"tex.level.{geometry} {words} level linear hard {format}", (statement,), count + 1, 4)
    return Entry(kind, trials(one, 24))


def _gathered(format: str) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "2d", format, 4, gather=True)
        sampler = make.sampler_of(rng, bool(number & 1), bool(number & 2), integers=False)
        inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
        return Trial(number % 4, spec, sampler, hard_texels(rng, spec, WAYS[number % len(WAYS)]), inputs)

    statements = tuple(f"tld4.{part}.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]" for part in "rgba")
    return Entry(Kind(f"tld4.2d hard {format}", statements, 2, 4), trials(one, 24))


COLORS = np.array(
    [0.0, -0.0, 0.5, 1.0, -1.0, 0.3, 2.0, -3.5, 255.0, 1e-6, 6e-8, 65504.0, 65519.0, 65520.0, 1e10, -1e30,
     1e-40, np.inf, -np.inf, np.nan, 127.5 / 255, 0.1234567, 3.4e38, 100.5],
    np.float32,
)  # fmt: skip


def _bordered(format: str) -> Entry:
    """Borders of any colour, which fetches meet often."""

    def one(rng: np.random.Generator, number: int) -> Trial:
        geometry = ("1d", "2d", "3d", "a2d")[number % 4]
        spec = make.array_of(rng, geometry, format)
        fractions = format in FRACTIONS and bool(number & 4)
        linear = bool(number & 8) and (fractions or format in FLOATS)
        border = tuple(float(part) for part in rng.choice(COLORS, 4))
        sampler = SamplerSpec(("border",) * 3, linear, bool(rng.integers(2)), integers=not fractions)
        sampler = replace(sampler, border=border, srgb=format == "u8" and fractions and bool(rng.integers(2)))
        inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
        inputs = np.concatenate([inputs, np.zeros((4 - len(inputs), THREADS), np.uint32)])
        return Trial(number % 4, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statements = tuple(
        f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
        for geometry in ("1d", "2d", "3d", "a2d")
    )
    return Entry(Kind(f"border of any colour {format}", statements, 4, 4), trials(one, 32))


def _corners(format: str) -> Entry:
    """Corners of small seamless cubes, and middles of texels beside them."""

    def one(rng: np.random.Generator, number: int) -> Trial:
        edge = 1 + number % 4
        spec = ArraySpec("cube", format, int(rng.choice([1, 2, 4])), edge, edge, layers=6)
        sampler = SamplerSpec(linear=True, normalized=True, seamless=True, integers=False)
        near = 1 - rng.random((2, THREADS)) * 1.5 / edge
        middles = (2 * rng.integers(0, edge, (2, THREADS)) + 1 - edge) / edge
        near = np.where(rng.random((2, THREADS)) < 0.3, middles, near)
        parts = np.concatenate([np.ones((1, THREADS)), near])
        parts = rng.permuted(parts, axis=0) * rng.choice([-1, 1], (3, THREADS))
        inputs = (parts * 2.0 ** rng.integers(-3, 4, THREADS)).astype(np.float32).view(np.uint32)
        ways = ("special", "near", "apart", "zeros")
        data = make.texels_of(rng, spec)
        if format in FLOATS:
            data = hard_texels(rng, spec, ways[number // 4 % 4])
        return Trial(0, spec, sampler, data, inputs)

    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {coords('cube')}]"
    return Entry(Kind(f"tex.cube corners {format}", (statement,), 3, 4), trials(one, 32))


def _stored() -> Entry:
    """Formatted stores of hard numbers."""
    statement = "sust.p.2d.v4.b32.zero [%rd0, {%i0,%i1}], {%i2,%i3,%i4,%i5}"

    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = ArraySpec("2d", FORMATS[number % len(FORMATS)], 4, 16, 8, surface=True)
        places = rng.permutation(THREADS)
        data = _words(rng, "f32", WAYS[number // len(FORMATS) % len(WAYS)], 4 * THREADS)
        halves = rng.choice(
            [65504.0, 65519.0, 65520.0, 6e-8, 3e-8, 2.9e-8, 6.1e-5, 1e-5, 1.0005], 4 * THREADS
        )
        data = np.where(rng.random(4 * THREADS) < 0.3, halves.astype(np.float32).view(np.uint32), data)
        inputs = np.stack([places % 16, places // 16, *data.reshape(4, THREADS)]).astype(np.uint32)
        return Trial(0, spec, None, make.texels_of(rng, spec), inputs)

    return Entry(Kind("sust.p hard numbers", (statement,), 6, 0, writes=True), trials(one, 48))
