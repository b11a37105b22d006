"""The kinds of fetches from textures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from compare.textures import make
from compare.textures.make import CUBES, FORMATS, FRACTIONS
from compare.textures.model import AXES, ArraySpec, Kind, SamplerSpec, Trial

THREADS, TRIALS = 128, 16
"""Of a trial and of a kind: 2,048 fetches."""
FLAT = ("1d", "2d", "3d", "a1d", "a2d")
ALL = (*FLAT, *CUBES)
FOUR = "{%o0,%o1,%o2,%o3}"
COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
"""Coordinates that count, the layer's among them."""
PADDED = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4}

Maker = Callable[[np.random.Generator, int], list[Trial]]
"""The trials of a kind, from its random numbers and the number of trials."""


class Entry(NamedTuple):
    """A kind, and what makes its trials."""

    kind: Kind
    make: Maker


def vector(first: int, count: int, padded: int) -> str:
    """`{%i0,%i1,%i2,%i2}`."""
    names = [f"%i{first + n}" for n in range(count)]
    return "{" + ",".join(names + names[-1:] * (padded - count)) + "}"


def coords(geometry: str) -> str:
    """The coordinates of a geometry, from the first inputs."""
    return vector(0, COORDINATES[geometry], PADDED[geometry])


def trials(one: Callable[[np.random.Generator, int], Trial], number: int = 0) -> Maker:
    """Trials that one function makes. `number`: how many, whatever is asked for."""
    return lambda rng, count: [one(rng, each) for each in range(number or count)]


def textures() -> Iterator[Entry]:
    """All kinds of `tex` and `tld4`."""
    yield from _nearest()
    yield from _whole()
    yield from _formats()
    yield from _results()
    yield from _offsets()
    yield from _linear()
    yield from _weights()
    yield from _gathers()
    yield from _special()
    yield from _depths()


def _nearest() -> Iterator[Entry]:
    for geometry in ALL:
        for normalized in (False, True) if geometry not in CUBES else (True,):
            words = "normalized" if normalized else "texels"

            def one(
                rng: np.random.Generator, number: int, geometry: str = geometry, normalized: bool = normalized
            ) -> Trial:
                spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)])
                fractions = spec.format in FRACTIONS and bool(rng.integers(2))
                sampler = make.sampler_of(rng, normalized, False, integers=not fractions)
                inputs = np.stack(make.place(rng, spec, normalized, THREADS))
                return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

            statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
            yield Entry(
                Kind(f"tex.{geometry} nearest {words}", (statement,), COORDINATES[geometry], 4), trials(one)
            )


def _whole() -> Iterator[Entry]:
    cases = [(geometry, "array") for geometry in FLAT] + [("1d", "linear"), ("2d", "pitch")]
    for geometry, resource in cases:

        def one(
            rng: np.random.Generator, number: int, geometry: str = geometry, resource: str = resource
        ) -> Trial:
            spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)], resource=resource)
            fractions = spec.format in FRACTIONS and bool(rng.integers(2))
            sampler = make.sampler_of(rng, False, False, integers=not fractions)
            inputs = np.stack(make.whole_place(rng, spec, THREADS))
            return Trial(number % 3, spec, sampler, make.texels_of(rng, spec), inputs)

        statements = tuple(
            f"tex.{geometry}.v4.{dtype}.s32 {FOUR}, [%rd0, {coords(geometry)}]"
            for dtype in ("u32", "s32", "f32")
        )
        yield Entry(Kind(f"tex.{geometry} s32 {resource}", statements, COORDINATES[geometry], 4), trials(one))

    def pitched(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "2d", FORMATS[number % len(FORMATS)], resource="pitch")
        normalized = bool(number & 1)
        sampler = make.sampler_of(rng, normalized, False)
        inputs = np.stack(make.place(rng, spec, normalized, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

    statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
    yield Entry(Kind("tex.2d nearest pitch", (statement,), 2, 4), trials(pitched))


def _formats() -> Iterator[Entry]:
    statement = f"tex.2d.v4.u32.f32 {FOUR}, [%rd0, {coords('2d')}]"
    for format in (*FORMATS, *(f"{name} fractions" for name in FRACTIONS), "u8 srgb"):

        def one(rng: np.random.Generator, number: int, format: str = format) -> Trial:
            name, *how = format.split()
            spec = make.array_of(rng, "2d", name, [1, 2, 4][number % 3])
            sampler = SamplerSpec(
                ("border",) * 3,
                integers=not how,
                srgb=how == ["srgb"],
                border=make.BORDER if number & 4 else (0.0,) * 4,
            )
            inputs = np.stack(make.place(rng, spec, False, THREADS))
            return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

        yield Entry(Kind(f"format {format}", (statement,), 2, 4), trials(one))

    for format in ("u8", "s8", "u16", "s16", "f16", "u8 srgb"):

        def every(rng: np.random.Generator, count: int, format: str = format) -> list[Trial]:
            name, *how = format.split()
            edge = 16 if name.endswith("8") else 256
            spec = ArraySpec("2d", name, 1, edge, edge)
            data = np.arange(edge * edge, dtype=f"u{int(name[1:]) // 8}").view(np.uint8)
            y, x = np.divmod(np.arange(edge * edge), edge)
            inputs = np.stack(
                [(part + np.float32(0.5)).astype(np.float32).view(np.uint32) for part in (x, y)]
            )
            return [Trial(0, spec, SamplerSpec(integers=False, srgb=bool(how)), [data], inputs)]

        yield Entry(Kind(f"every {format} as a number", (statement,), 2, 4), every)


def _results() -> Iterator[Entry]:
    half = "tex.2d.v4.f16.f32 {%h0,%h1,%h2,%h3}, [%rd0, {%i0,%i1}]"
    half += "; mov.b32 %o0, {%h0,%h1}; mov.b32 %o1, {%h2,%h3}"
    packed = "tex.2d.v2.f16x2.f32 {%o0,%o1}, [%rd0, {%i0,%i1}]"
    resident = f"tex.2d.v4.f32.f32 {FOUR}|%p0, [%rd0, {{%i0,%i1}}]; selp.b32 %o4, 1, 0, %p0"

    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "2d", ("f32", "f16", "u8", "s16")[number % 4])
        sampler = make.sampler_of(rng, False, False, integers=False)
        inputs = np.stack(make.place(rng, spec, False, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=number > 8), inputs)

    yield Entry(Kind("tex.2d to f16", (half,), 2, 2), trials(one))
    yield Entry(Kind("tex.2d to f16x2", (packed,), 2, 2), trials(one))
    yield Entry(Kind("tex.2d with residency", (resident,), 2, 5), trials(one))


def _offsets() -> Iterator[Entry]:
    for geometry in FLAT:
        axes, count = AXES[geometry], COORDINATES[geometry]
        shifts = vector(count, axes, 4 if axes == 3 else axes)
        for linear in (False, True):

            def one(
                rng: np.random.Generator,
                number: int,
                geometry: str = geometry,
                linear: bool = linear,
                axes: int = axes,
            ) -> Trial:
                spec = make.array_of(rng, geometry, "f32")
                normalized = bool(number & 1)
                sampler = make.sampler_of(rng, normalized, linear)
                shift = [make.numbers(rng, 8, THREADS, margin=8) for _ in range(axes)]
                inputs = np.stack([*make.place(rng, spec, normalized, THREADS), *shift])
                return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

            statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], {shifts}"
            words = "linear" if linear else "nearest"
            judged = "filter" if linear else "bits"
            yield Entry(
                Kind(f"tex.{geometry} {words} offset", (statement,), count + axes, 4, judged), trials(one)
            )

        def whole(rng: np.random.Generator, number: int, geometry: str = geometry, axes: int = axes) -> Trial:
            spec = make.array_of(rng, geometry, "f32")
            shift = [make.numbers(rng, 8, THREADS, margin=8) for _ in range(axes)]
            inputs = np.stack([*make.whole_place(rng, spec, THREADS), *shift])
            return Trial(0, spec, make.sampler_of(rng, False, False), make.texels_of(rng, spec), inputs)

        statement = f"tex.{geometry}.v4.f32.s32 {FOUR}, [%rd0, {coords(geometry)}], {shifts}"
        yield Entry(Kind(f"tex.{geometry} s32 offset", (statement,), count + axes, 4), trials(whole))


def _linear() -> Iterator[Entry]:
    for geometry in ALL:
        for normalized in (False, True) if geometry not in CUBES else (True,):
            words = "normalized" if normalized else "texels"

            def one(
                rng: np.random.Generator, number: int, geometry: str = geometry, normalized: bool = normalized
            ) -> Trial:
                spec = make.array_of(rng, geometry, "f32")
                sampler = make.sampler_of(rng, normalized, True)
                inputs = np.stack(make.place(rng, spec, normalized, THREADS))
                return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

            statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
            kind = Kind(f"tex.{geometry} linear {words}", (statement,), COORDINATES[geometry], 4, "filter")
            yield Entry(kind, trials(one))

    for format in ("f16", *FRACTIONS):

        def fraction(rng: np.random.Generator, number: int, format: str = format) -> Trial:
            spec = make.array_of(rng, "2d", format)
            sampler = make.sampler_of(rng, bool(number & 1), True, integers=False)
            inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
        yield Entry(Kind(f"tex.2d linear {format}", (statement,), 2, 4, "filter"), trials(fraction))

    def seamless(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "cube", "f32")
        sampler = SamplerSpec(linear=True, normalized=True, seamless=True)
        inputs = np.stack(make.place(rng, spec, True, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {coords('cube')}]"
    yield Entry(Kind("tex.cube linear seamless", (statement,), 3, 4, "filter"), trials(seamless))


def _weights() -> Iterator[Entry]:
    """One texel of 1 among zeros: the fetch gives the product of its weights."""
    for geometry in ("1d", "2d", "3d"):
        for format in ("f32", "u8", "u16", "f16"):

            def every(
                rng: np.random.Generator, count: int, geometry: str = geometry, format: str = format
            ) -> list[Trial]:
                axes, found = AXES[geometry], []
                for normalized in (False, True):
                    edges = [8, 5, 3][:axes]
                    spec = ArraySpec(geometry, format, 1, *edges)
                    dtype = np.dtype({"f": "f", "u": "u"}[format[0]] + str(int(format[1:]) // 8))
                    data = np.zeros(edges[::-1], dtype)
                    data[(1,) * axes] = 1 if dtype.kind == "f" else np.iinfo(dtype).max
                    fine = np.arange(2048) / 1024 + 0.5
                    parts = [fine if axes == 1 else rng.uniform(0.5, 2.5, 2048) for _ in range(axes)]
                    places = [
                        (part / edge if normalized else part).astype(np.float32).view(np.uint32)
                        for part, edge in zip(parts, edges, strict=True)
                    ]
                    sampler = SamplerSpec(linear=True, normalized=normalized, integers=False)
                    found.append(Trial(0, spec, sampler, [data.reshape(-1).view(np.uint8)], np.stack(places)))
                return found

            statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
            yield Entry(
                Kind(f"weights {geometry} {format}", (statement,), AXES[geometry], 4, "filter"), every
            )


def _gathers() -> Iterator[Entry]:
    for geometry in ("2d", "a2d", "cube", "acube"):

        def one(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)], gather=geometry == "2d")
            normalized = geometry in CUBES or bool(rng.integers(2))
            fractions = spec.format in FRACTIONS and bool(rng.integers(2))
            linear = bool(number & 2) and (fractions or spec.format.startswith("f"))
            sampler = make.sampler_of(rng, normalized, linear, integers=not fractions)
            inputs = np.stack(make.place(rng, spec, normalized, THREADS))
            return Trial(number % 12, spec, sampler, make.texels_of(rng, spec), inputs)

        statements = tuple(
            f"tld4.{component}.{geometry}.v4.{dtype}.f32 {FOUR}, [%rd0, {coords(geometry)}]"
            for dtype in ("u32", "s32", "f32")
            for component in "rgba"
        )
        yield Entry(Kind(f"tld4.{geometry}", statements, COORDINATES[geometry], 4), trials(one))

    def shifted(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "2d", "f32", gather=True)
        normalized = bool(number & 1)
        shift = [make.numbers(rng, 8, THREADS, margin=8) for _ in range(2)]
        inputs = np.stack([*make.place(rng, spec, normalized, THREADS), *shift])
        return Trial(0, spec, make.sampler_of(rng, normalized, True), make.texels_of(rng, spec), inputs)

    statement = f"tld4.r.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0,%i1}}], {{%i2,%i3}}"
    yield Entry(Kind("tld4.2d offset", (statement,), 4, 4), trials(shifted))


def _depths() -> Iterator[Entry]:
    """Comparisons with a depth, of which no document says how they come out."""
    for depth_buffer in (False, True):

        def one(rng: np.random.Generator, number: int, depth_buffer: bool = depth_buffer) -> Trial:
            spec = make.array_of(rng, "2d", "f32", 1, depth_buffer=depth_buffer)
            data = rng.uniform(0, 1, spec.bytes(0) // 4).astype(np.float32).view(np.uint8)
            depth = rng.uniform(0, 1, THREADS).astype(np.float32).view(np.uint32)
            inputs = np.stack([*make.place(rng, spec, False, THREADS), depth])
            return Trial(0, spec, make.sampler_of(rng, False, bool(number & 1)), [data], inputs)

        statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}], %i2"
        words = "a depth buffer" if depth_buffer else "an array"
        note = "no document says how a texel is compared with a depth"
        kind = Kind(f"tex.2d of {words} with a depth", (statement,), 3, 4, alone=True, note=note)
        yield Entry(kind, trials(one))


SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 1e10, -1e10, 3e38, -3e38, 1e-40, -1e-40, 65536.5, -65536.5, 2.0**23, 2.0**31],
    np.float32,
)


def _special() -> Iterator[Entry]:
    """Coordinates that are no numbers, or far away."""
    for linear in (False, True):

        def one(rng: np.random.Generator, number: int, linear: bool = linear) -> Trial:
            spec = make.array_of(rng, "2d", "f32")
            normalized = bool(number & 1)
            parts = make.place(rng, spec, normalized, THREADS)
            for part in parts:
                some = rng.random(THREADS) < 0.6
                part[some] = rng.choice(SPECIAL, int(some.sum())).view(np.uint32)
            sampler = make.sampler_of(rng, normalized, linear)
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), np.stack(parts))

        statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
        words = "linear" if linear else "nearest"
        judged = "filter" if linear else "bits"
        yield Entry(Kind(f"tex.2d {words} far away", (statement,), 2, 4, judged), trials(one))
