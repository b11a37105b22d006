"""The kinds of fetches from mipmaps: levels that are named, clamped, biased, or follow from derivatives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compare.textures import make
from compare.textures.kinds import COORDINATES, FOUR, THREADS, Entry, coords, trials, vector
from compare.textures.make import CUBES
from compare.textures.model import AXES, ArraySpec, Kind, SamplerSpec, Trial

GEOMETRIES = ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube")
DERIVATIVES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
WIDE = {"1d": 1, "2d": 2, "3d": 4, "a1d": 1, "a2d": 2, "cube": 4, "acube": 4}


def levels() -> Iterator[Entry]:
    """All kinds of `tex.base`, `tex.level`, `tex.grad`."""
    for geometry in GEOMETRIES:
        yield from _named(geometry)
        yield from _derived(geometry)
    yield from _base()
    yield from _whole()
    yield from _revealed()
    yield from _anisotropic()


def _spec_and_sampler(
    rng: np.random.Generator, number: int, geometry: str, linear: bool, levels_linear: bool
) -> tuple[ArraySpec, SamplerSpec]:
    spec = make.mipmap_of(rng, geometry, "f32")
    lowest = 0.0 if number % 2 else float(rng.uniform(0, 2))
    highest = 16.0 if number % 3 else lowest + float(rng.uniform(0, 3))
    bias = 0.0 if number % 4 else float(rng.uniform(-2, 2))
    sampler = make.sampler_of(
        rng, True, linear, levels_linear=levels_linear, lowest=lowest, highest=highest, bias=bias
    )
    return spec, sampler


def _filters() -> Iterator[tuple[str, bool, bool, str]]:
    for linear in (False, True):
        for levels_linear in (False, True):
            words = f"{'linear' if linear else 'nearest'} level {'linear' if levels_linear else 'nearest'}"
            yield words, linear, levels_linear, "filter" if linear or levels_linear else "bits"


def _named(geometry: str) -> Iterator[Entry]:
    count = COORDINATES[geometry]
    statement = f"tex.level.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], %i{count}"
    for words, linear, levels_linear, judged in _filters():

        def one(
            rng: np.random.Generator, number: int, linear: bool = linear, levels_linear: bool = levels_linear
        ) -> Trial:
            spec, sampler = _spec_and_sampler(rng, number, geometry, linear, levels_linear)
            level = rng.uniform(-1, spec.levels + 1, THREADS).astype(np.float32)
            some = rng.random(THREADS) < 0.2
            level[some] = np.round(level[some] * 2) / 2
            inputs = np.stack([*make.place(rng, spec, True, THREADS), level.view(np.uint32)])
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        yield Entry(Kind(f"tex.level.{geometry} {words}", (statement,), count + 1, 4, judged), trials(one))


def _derived(geometry: str) -> Iterator[Entry]:
    count, parts = COORDINATES[geometry], DERIVATIVES[geometry]
    across = vector(count, parts, WIDE[geometry])
    down = vector(count + parts, parts, WIDE[geometry])
    statement = f"tex.grad.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], {across}, {down}"
    for words, linear, levels_linear, judged in _filters():

        def one(
            rng: np.random.Generator, number: int, linear: bool = linear, levels_linear: bool = levels_linear
        ) -> Trial:
            spec, sampler = _spec_and_sampler(rng, number, geometry, linear, levels_linear)
            inputs = np.stack([*make.place(rng, spec, True, THREADS), *_slopes(rng, spec, 2 * parts)])
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        name = f"tex.grad.{geometry} {words}"
        kind = Kind(name, (statement,), count + 2 * parts, 4, judged, derived=True)
        yield Entry(kind, trials(one))


def _slopes(
    rng: np.random.Generator, spec: ArraySpec, count: int, threads: int = THREADS
) -> list[np.ndarray]:
    """Derivatives of normalized coordinates, about as long as texels of some level."""
    scale = 2.0 ** rng.uniform(-1, spec.levels, threads) / max(spec.width, spec.height, spec.depth)
    return [(rng.normal(size=threads) * scale).astype(np.float32).view(np.uint32) for _ in range(count)]


def _base() -> Iterator[Entry]:
    """Level 0, which the clamp and the bias of the sampler may move."""
    for name in ("tex", "tex.base"):

        def one(rng: np.random.Generator, number: int) -> Trial:
            spec, sampler = _spec_and_sampler(rng, number, "2d", bool(number & 1), bool(number & 2))
            inputs = np.stack(make.place(rng, spec, True, THREADS))
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        statement = f"{name}.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
        yield Entry(Kind(f"{name}.2d of a mipmap", (statement,), 2, 4, "filter"), trials(one))

    def gathered(rng: np.random.Generator, number: int) -> Trial:
        spec, sampler = _spec_and_sampler(rng, number, "2d", True, False)
        inputs = np.stack(make.place(rng, spec, True, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

    statement = f"tld4.r.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}]"
    yield Entry(Kind("tld4.2d of a mipmap", (statement,), 2, 4), trials(gathered))


def _whole() -> Iterator[Entry]:
    """Levels and texels by number."""
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):

        def one(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec, sampler = _spec_and_sampler(rng, number, geometry, False, False)
            level = rng.integers(-1, spec.levels + 2, THREADS).astype(np.int32).view(np.uint32)
            inputs = np.stack([*make.whole_place(rng, spec, THREADS), level])
            return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

        count = COORDINATES[geometry]
        statement = f"tex.level.{geometry}.v4.f32.s32 {FOUR}, [%rd0, {coords(geometry)}], %i{count}"
        yield Entry(Kind(f"tex.level.{geometry} s32", (statement,), count + 1, 4), trials(one))


def numbered(spec: ArraySpec) -> list[np.ndarray]:
    """Texels that hold the number of their level, so that a fetch tells which it took."""
    sizes = [spec.bytes(level) // 4 for level in range(spec.levels)]
    return [np.full(size, level, np.float32).view(np.uint8) for level, size in enumerate(sizes)]


def _revealed() -> Iterator[Entry]:
    """Which level, and with which weight."""
    for levels_linear in (False, True):
        words = f"level {'linear' if levels_linear else 'nearest'}"

        def fine(rng: np.random.Generator, count: int, levels_linear: bool = levels_linear) -> list[Trial]:
            spec = ArraySpec("2d", "f32", 1, 32, 32, resource="mipmap", levels=6)
            level = (np.arange(4096) / 1024 - 0.25).astype(np.float32)
            center = np.full(4096, 0.5, np.float32).view(np.uint32)
            sampler = SamplerSpec(normalized=True, levels_linear=levels_linear, highest=16.0)
            return [
                Trial(0, spec, sampler, numbered(spec), np.stack([center, center, level.view(np.uint32)]))
            ]

        statement = f"tex.level.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}], %i2"
        yield Entry(Kind(f"{words} revealed", (statement,), 3, 4, "filter"), fine)
        for geometry in ("1d", "2d", "3d", "cube"):
            parts = DERIVATIVES[geometry]

            def slopes(
                rng: np.random.Generator,
                count: int,
                geometry: str = geometry,
                levels_linear: bool = levels_linear,
            ) -> list[Trial]:
                edges = [32, 16, 8][: AXES[geometry]] if geometry not in CUBES else [32, 32]
                layers = 6 if geometry in CUBES else 1
                spec = ArraySpec(geometry, "f32", 1, *edges, layers=layers, resource="mipmap", levels=6)
                place = make.place(rng, spec, True, 2048)
                slope = _slopes(rng, spec, 2 * DERIVATIVES[geometry], 2048)
                sampler = SamplerSpec(normalized=True, levels_linear=levels_linear, highest=16.0)
                return [Trial(0, spec, sampler, numbered(spec), np.stack([*place, *slope]))]

            first = COORDINATES[geometry]
            across, down = vector(first, parts, WIDE[geometry]), vector(first + parts, parts, WIDE[geometry])
            statement = f"tex.grad.{geometry}.v4.f32.f32 {FOUR}, [%rd0, {coords(geometry)}], {across}, {down}"
            name = f"{words} of derivatives {geometry} revealed"
            kind = Kind(name, (statement,), first + 2 * parts, 4, "filter", derived=True)
            yield Entry(kind, slopes)


def _anisotropic() -> Iterator[Entry]:
    """Anisotropic filters, which no document defines."""

    def one(rng: np.random.Generator, number: int) -> Trial:
        spec = make.mipmap_of(rng, "2d", "f32")
        sampler = SamplerSpec(
            ("clamp",) * 3, True, True, levels_linear=True, highest=16.0, anisotropy=[2, 4, 8, 16][number % 4]
        )
        inputs = np.stack([*make.place(rng, spec, True, THREADS), *_slopes(rng, spec, 4)])
        return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

    statement = f"tex.grad.2d.v4.f32.f32 {FOUR}, [%rd0, {coords('2d')}], {{%i2,%i3}}, {{%i4,%i5}}"
    note = "no document defines anisotropic filters"
    yield Entry(Kind("tex.grad.2d anisotropic", (statement,), 6, 4, "noted", note=note), trials(one))
