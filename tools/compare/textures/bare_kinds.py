"""The kinds of filtered fetches whose texels have any bits, NaN, infinities and subnormal numbers among them,
and of gathers under a sampler that takes the nearest texel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compare.textures import make
from compare.textures.kinds import COORDINATES, FOUR, THREADS, Entry, coords, trials
from compare.textures.make import FRACTIONS
from compare.textures.model import Kind, SamplerSpec, Trial

FLOATS = ("f16", "f32")


def bare() -> Iterator[Entry]:
    """All of them."""
    yield from _gathers()
    for geometry in ("2d", "3d"):
        for format in (*FLOATS, *(FRACTIONS if geometry == "3d" else ())):
            yield _filtered(geometry, format)
    for format in (*FLOATS, *FRACTIONS):
        yield _seamless(format)


def _gathers() -> Iterator[Entry]:
    for format in (*FLOATS, *FRACTIONS):

        def one(rng: np.random.Generator, number: int, format: str = format) -> Trial:
            spec = make.array_of(rng, "2d", format, 4, gather=True)
            linear = bool(number & 1) and format in FRACTIONS
            sampler = make.sampler_of(rng, bool(number & 2), linear, integers=False)
            inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
            return Trial(number % 4, spec, sampler, make.texels_of(rng, spec), inputs)

        statements = tuple(f"tld4.{part}.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]" for part in "rgba")
        yield Entry(Kind(f"tld4.2d any {format}", statements, 2, 4), trials(one))


def _filtered(geometry: str, format: str) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, geometry, format)
        sampler = make.sampler_of(rng, bool(number & 1), True, integers=False)
        inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
    return Entry(
        Kind(f"tex.{geometry} linear any {format}", (statement,), COORDINATES[geometry], 4), trials(one)
    )


def _seamless(format: str) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "cube", format)
        sampler = SamplerSpec(linear=True, normalized=True, seamless=True, integers=False)
        inputs = np.stack(make.place(rng, spec, True, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {coords('cube')}]"
    return Entry(Kind(f"tex.cube seamless any {format}", (statement,), 3, 4), trials(one))
