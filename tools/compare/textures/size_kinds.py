"""The kinds of fetches with sizes, mixtures of modes, levels and places that the others seldom have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from compare.textures import make
from compare.textures.kinds import ALL, COORDINATES, FOUR, THREADS, Entry, coords, trials, vector
from compare.textures.level_kinds import numbered
from compare.textures.make import CUBES, FORMATS, FRACTIONS
from compare.textures.model import AXES, ArraySpec, Kind, SamplerSpec, Trial

EDGES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 257, 1000, 1023, 2047)
MOST = 2200
"""Texels of a layer."""
FAR = np.array([-(1 << 31), (1 << 31) - 1, -(1 << 16), 1 << 16, 1 << 24, 0xFFFF, -1], np.int64)


def sizes() -> Iterator[Entry]:
    """All of them."""
    for geometry in ALL:
        for linear in (False, True):
            yield _sized(geometry, linear)
    for format in ("f16", *FRACTIONS, "u8 srgb"):
        for geometry in ("2d", "3d", "cube"):
            yield _trilinear(geometry, format)
    for geometry in ("1d", "3d", "a2d", "cube"):
        for format in (*FRACTIONS, "u8 srgb"):
            yield _fractions(geometry, format)
    yield from _seamless()
    yield from _extreme_levels()
    yield from _far()
    yield from _offsets()
    yield from _pitched()
    yield from _slopes()
    yield from _cubes()
    yield from _anisotropic()


def sized(rng: np.random.Generator, geometry: str, format: str) -> ArraySpec:
    """An array whose edges are one, or about powers of two, or others."""
    axes = AXES[geometry]
    while True:
        edges = [int(rng.choice(EDGES)) for _ in range(axes)]
        if geometry in CUBES:
            edges[1] = edges[0]
        if np.prod(edges) <= MOST:
            break
    spec = make.array_of(rng, geometry, format, int(rng.choice([1, 2])))
    width, height, depth = (*edges, 1, 1)[:3]
    return replace(spec, width=width, height=height, depth=depth)


def _sized(geometry: str, linear: bool) -> Entry:
    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = sized(rng, geometry, "f16" if number % 4 == 3 else "f32")
        normalized = geometry in CUBES or bool(number & 1)
        sampler = make.sampler_of(rng, normalized, linear, integers=False)
        inputs = np.stack(make.place(rng, spec, normalized, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
    name = f"tex.{geometry} {'linear' if linear else 'nearest'} of any size"
    judged = "filter" if linear else "bits"
    return Entry(Kind(name, (statement,), COORDINATES[geometry], 4, judged), trials(one, 32))


def _trilinear(geometry: str, format: str) -> Entry:
    """Levels of what is read as fractions, and of f16."""
    name, *how = format.split()

    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.mipmap_of(rng, geometry, name)
        seamless = geometry in CUBES and bool(number & 4)
        sampler = make.sampler_of(
            rng, True, bool(number % 4), integers=False, levels_linear=True, highest=16.0, srgb=bool(how)
        )
        sampler = replace(sampler, seamless=seamless)
        level = rng.uniform(-0.2, spec.levels, THREADS).astype(np.float32).view(np.uint32)
        inputs = np.stack([*make.place(rng, spec, True, THREADS), level])
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    count = COORDINATES[geometry]
    statement = f"tex.level.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], %i{count}"
    return Entry(
        Kind(f"tex.level.{geometry} level linear {format}", (statement,), count + 1, 4, "filter"), trials(one)
    )


def _fractions(geometry: str, format: str) -> Entry:
    words, *how = format.split()

    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, geometry, words)
        normalized = geometry in CUBES or bool(number & 1)
        sampler = make.sampler_of(rng, normalized, True, integers=False, srgb=bool(how))
        inputs = np.stack(make.place(rng, spec, normalized, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

    statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
    name = f"tex.{geometry} linear fractions {format}"
    kind = Kind(name, (statement,), COORDINATES[geometry], 4, "filter")
    return Entry(kind, trials(one))


def _seamless() -> Iterator[Entry]:
    """Seamless cubes with the nearest texel, with levels, and gathers from them."""
    for geometry in CUBES:
        count = COORDINATES[geometry]
        for instruction in ("tex", "tex.level", "tld4.r"):

            def one(
                rng: np.random.Generator,
                number: int,
                geometry: str = geometry,
                instruction: str = instruction,
            ) -> Trial:
                levelled = instruction == "tex.level"
                spec = (make.mipmap_of if levelled else make.array_of)(rng, geometry, "f32")
                linear = instruction != "tex" and bool(number % 4)
                sampler = SamplerSpec(linear=linear, normalized=True, seamless=True, integers=False)
                sampler = replace(sampler, levels_linear=bool(number & 1), highest=16.0 if levelled else 0.0)
                parts = make.place(rng, spec, True, THREADS)
                if levelled:
                    level = rng.uniform(-0.2, spec.levels, THREADS).astype(np.float32)
                    parts.append(level.view(np.uint32))
                return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), np.stack(parts))

            more = f", %i{count}" if instruction == "tex.level" else ""
            statement = f"{instruction}.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]{more}"
            name = f"{instruction.removesuffix('.r')}.{geometry} seamless"
            inputs = count + (instruction == "tex.level")
            judged = "filter" if instruction == "tex.level" else "bits"
            yield Entry(Kind(name, (statement,), inputs, 4, judged), trials(one))


LEVELS = np.array(
    [np.nan, np.inf, -np.inf, 1e10, -1e10, 1e-40, -1e-40, -0.0, 0.0, 1 / 512, -1 / 512, 300.5], np.float32
)
BIASES = (0.0, 15.99, -16.0, 1 / 256, -1 / 512, 0.3, 31.0, -40.0)


def _extreme_levels() -> Iterator[Entry]:
    """Levels that are no numbers or far away, biases and limits likewise."""
    for levels_linear in (False, True):

        def one(rng: np.random.Generator, number: int, levels_linear: bool = levels_linear) -> Trial:
            spec = ArraySpec("2d", "f32", 1, 64, 16, resource="mipmap", levels=int(rng.integers(1, 8)))
            lowest = float(rng.choice([0.0, 0.3, 1.0, 2.498, 5.0, -3.0]))
            highest = float(rng.choice([16.0, 0.0, 0.7, 1.0, 3.3, 2.0]))
            sampler = SamplerSpec(
                normalized=True,
                levels_linear=levels_linear,
                bias=float(rng.choice(BIASES)),
                lowest=lowest,
                highest=highest,
            )
            level = rng.uniform(-20, 20, THREADS).astype(np.float32)
            some = rng.random(THREADS) < 0.4
            level[some] = rng.choice(LEVELS, int(some.sum()))
            inputs = np.stack([*make.place(rng, spec, True, THREADS), level.view(np.uint32)])
            return Trial(0, spec, sampler, numbered(spec), inputs)

        statement = f"tex.level.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}], %i2"
        words = "linear" if levels_linear else "nearest"
        yield Entry(Kind(f"tex.level.2d level {words} far away", (statement,), 3, 4), trials(one, 32))


def _far_numbers(rng: np.random.Generator, parts: list[np.ndarray]) -> list[np.ndarray]:
    """Some of them far away."""
    for part in parts:
        some = rng.random(THREADS) < 0.15
        part[some] = rng.choice(FAR, int(some.sum())).astype(np.int32).view(np.uint32)
    return parts


def _far() -> Iterator[Entry]:
    """Numbers of texels and of layers that are far away."""
    for geometry in ("2d", "3d", "a1d", "a2d"):

        def whole(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)])
            sampler = make.sampler_of(rng, False, False)
            inputs = np.stack(_far_numbers(rng, make.whole_place(rng, spec, THREADS)))
            return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

        statement = f"tex.{geometry}.v4.u32.s32 {FOUR}, [%rd0, {coords(geometry)}]"
        yield Entry(
            Kind(f"tex.{geometry} s32 far away", (statement,), COORDINATES[geometry], 4), trials(whole)
        )
    for geometry in ("a1d", "a2d", "acube"):

        def layer(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.array_of(rng, geometry, "f32")
            sampler = make.sampler_of(rng, True, bool(number & 1))
            parts = make.place(rng, spec, True, THREADS)
            inputs = np.stack([*_far_numbers(rng, parts[:1]), *parts[1:]])
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        statement = f"tex.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}]"
        yield Entry(
            Kind(f"tex.{geometry} layers far away", (statement,), COORDINATES[geometry], 4), trials(layer)
        )
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        for clamp in ("zero", "clamp"):

            def load(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
                spec = make.array_of(rng, geometry, "u32", 1, surface=True)
                parts = make.whole_place(rng, spec, THREADS)
                first = len(parts) - AXES[geometry]
                parts[first] *= np.uint32(4)
                parts = _far_numbers(rng, parts)
                parts[first] &= ~np.uint32(3)
                return Trial(0, spec, None, make.texels_of(rng, spec), np.stack(parts))

            statement = f"suld.b.{geometry}.b32.{clamp} %o0, [%rd0, {coords(geometry)}]"
            name = f"suld.b.{geometry} {clamp} far away"
            yield Entry(Kind(name, (statement,), COORDINATES[geometry], 1), trials(load))


def _offsets() -> Iterator[Entry]:
    """Offsets with levels, and of gathers from arrays."""
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        axes, count = AXES[geometry], COORDINATES[geometry]
        shifts = vector(count + 1, axes, 4 if axes == 3 else axes)

        def one(rng: np.random.Generator, number: int, geometry: str = geometry, axes: int = axes) -> Trial:
            spec = make.mipmap_of(rng, geometry, "f32")
            sampler = make.sampler_of(
                rng, True, bool(number & 1), levels_linear=bool(number & 2), highest=16.0
            )
            level = rng.uniform(-0.2, spec.levels, THREADS).astype(np.float32).view(np.uint32)
            shift = [make.numbers(rng, 8, THREADS, margin=8) for _ in range(axes)]
            inputs = np.stack([*make.place(rng, spec, True, THREADS), level, *shift])
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        statement = f"tex.level.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], %i{count}, {shifts}"
        yield Entry(
            Kind(f"tex.level.{geometry} offset", (statement,), count + 1 + axes, 4, "filter"), trials(one)
        )

    def gathered(rng: np.random.Generator, number: int) -> Trial:
        spec = make.array_of(rng, "a2d", "f32")
        shift = [make.numbers(rng, 30, THREADS, margin=40) for _ in range(2)]
        sampler = make.sampler_of(rng, bool(number & 1), bool(number & 2))
        inputs = np.stack([*make.place(rng, spec, sampler.normalized, THREADS), *shift])
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statement = f"tld4.r.a2d.v4.f32.f32 {FOUR}, [%rd0, {coords('a2d')}], {{%i3,%i4}}"
    yield Entry(Kind("tld4.a2d offset", (statement,), 5, 4), trials(gathered))


def _pitched() -> Iterator[Entry]:
    """Filters over pitched memory."""

    def one(rng: np.random.Generator, number: int) -> Trial:
        format = ("f32", "f16", *FRACTIONS)[number % 6]
        spec = make.array_of(rng, "2d", format, resource="pitch")
        sampler = make.sampler_of(rng, bool(number & 1), True, integers=False)
        inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statement = f"tex.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
    yield Entry(Kind("tex.2d linear pitch", (statement,), 2, 4, "filter"), trials(one, 24))


def _slopes() -> Iterator[Entry]:
    """Levels of derivatives along one axis, and round a circle: what the formula is made of."""
    spec = ArraySpec("2d", "f32", 1, 64, 64, resource="mipmap", levels=7)
    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0,%i1}}], {{%i2,%i3}}, {{%i4,%i5}}"
    for way in ("one axis", "one direction", "two directions", "far away"):

        def one(rng: np.random.Generator, count: int, way: str = way) -> list[Trial]:
            number = 4096
            slopes = np.zeros((4, number))
            size = 2.0 ** rng.uniform(-1, 5, number) / 64
            turn = rng.uniform(0, 2 * np.pi, (2, number))
            if way == "one axis":
                slopes[0] = (2 + np.arange(number) * 2 / number) / 64
            elif way == "one direction":
                slopes[:2] = np.stack([np.cos(turn[0]), np.sin(turn[0])]) * size
            elif way == "two directions":
                other = size * 2.0 ** rng.uniform(-2, 2, number)
                slopes[:2] = np.stack([np.cos(turn[0]), np.sin(turn[0])]) * size
                slopes[2:] = np.stack([np.cos(turn[1]), np.sin(turn[1])]) * other
            else:
                slopes[:] = rng.normal(size=(4, number)) * size
                some = rng.random((4, number)) < 0.3
                values = [np.nan, np.inf, -np.inf, 1e30, 1e-30, 1e-42, 0.0, -0.0, 1e10]
                slopes[some] = rng.choice(values, int(some.sum()))
            inputs = [np.full(number, 0.5)] * 2 + list(slopes)
            words = np.stack(inputs).astype(np.float32).view(np.uint32)
            sampler = SamplerSpec(normalized=True, levels_linear=True, highest=16.0)
            return [Trial(0, spec, sampler, numbered(spec), words)]

        yield Entry(Kind(f"level of derivatives, {way}", (statement,), 6, 4, "filter", derived=True), one)


def _cubes() -> Iterator[Entry]:
    """Where directions point, and how far derivatives go on a cube."""

    def place(rng: np.random.Generator, count: int) -> list[Trial]:
        edge, found = 64, []
        spec = ArraySpec("cube", "f32", 4, edge, edge, layers=6)
        face, y, x = (part.ravel() for part in np.indices((6, edge, edge)))
        rows = np.stack([x, y, face, 0 * face], axis=1)
        data = rows.astype(np.float32).reshape(-1).view(np.uint8)
        for _ in range(4):
            inputs = np.stack(make.directions(rng, 4096))
            found.append(Trial(0, spec, SamplerSpec(linear=True, normalized=True), [data], inputs))
        return found

    statement = f"tex.cube.v4.f32.f32 {FOUR}, [%rd0, {coords('cube')}]"
    yield Entry(Kind("tex.cube place revealed", (statement,), 3, 4, "filter"), place)

    def slopes(rng: np.random.Generator, count: int) -> list[Trial]:
        spec = ArraySpec("cube", "f32", 1, 64, 64, layers=6, resource="mipmap", levels=7)
        sampler = SamplerSpec(normalized=True, levels_linear=True, highest=16.0)
        found = []
        for number in range(4):
            parts = rng.normal(size=(9, 4096)).astype(np.float32)
            parts[3:] *= (2.0 ** rng.uniform(-6, 1 - 2 * (number & 1), 4096)).astype(np.float32)
            parts[6:] *= np.float32(number < 2)
            found.append(Trial(0, spec, sampler, numbered(spec), parts.view(np.uint32)))
        return found

    across, down = vector(3, 3, 4), vector(6, 3, 4)
    grad = f"tex.grad.cube.v4.f32.f32 {FOUR}, [%rd0, {coords('cube')}], {across}, {down}"
    yield Entry(Kind("level of derivatives, a cube", (grad,), 9, 4, "filter", derived=True), slopes)

    def far(rng: np.random.Generator, count: int) -> list[Trial]:
        spec = ArraySpec("cube", "f32", 1, 64, 64, layers=6, resource="mipmap", levels=7)
        sampler = SamplerSpec(normalized=True, levels_linear=True, bias=-2.0, highest=16.0)
        found = []
        for number in range(4):
            parts = rng.normal(size=(9, 4096)).astype(np.float32)
            parts[3:] *= np.float32(2)
            if number & 1:  # to the opposite face
                parts[3:6] = -parts[:3] * rng.uniform(1.5, 3, 4096).astype(np.float32) + parts[3:6] / 8
            parts[6:] *= np.float32(number < 2)
            found.append(Trial(0, spec, sampler, numbered(spec), parts.view(np.uint32)))
        return found

    name = "level of derivatives, to other faces of a cube"
    yield Entry(Kind(name, (grad,), 9, 4, "filter", derived=True), far)


def _anisotropic() -> Iterator[Entry]:
    """Samplers that ask for anisotropy, where there are no derivatives."""
    for instruction in ("tex", "tex.level"):

        def one(rng: np.random.Generator, number: int, instruction: str = instruction) -> Trial:
            spec = make.mipmap_of(rng, "2d", "f32")
            sampler = make.sampler_of(
                rng, True, True, levels_linear=True, highest=16.0, anisotropy=[2, 3, 4, 8, 16, 1][number % 6]
            )
            parts = make.place(rng, spec, True, THREADS)
            if instruction == "tex.level":
                level = rng.uniform(-0.2, spec.levels, THREADS).astype(np.float32)
                parts.append(level.view(np.uint32))
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), np.stack(parts))

        count = 3 if instruction == "tex.level" else 2
        more = ", %i2" if count == 3 else ""
        statement = f"{instruction}.2d.v4.f32.f32 {FOUR}, [%rd0, {{%i0,%i1}}]{more}"
        yield Entry(
            Kind(f"{instruction}.2d anisotropic without derivatives", (statement,), count, 4), trials(one)
        )
