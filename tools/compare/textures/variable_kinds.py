"""The kinds of fetches through variables of a module, in both texture modes, and of views of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from compare.textures import make
from compare.textures.kinds import FOUR, THREADS, Entry, coords, trials
from compare.textures.model import ArraySpec, Kind, SamplerSpec, Trial, ViewSpec

IMAGE = ".global .texref image;"
SAMPLERS = {
    "nearest": "{filter_mode = nearest, addr_mode_0 = clamp_to_border, addr_mode_1 = wrap}",
    "linear": "{filter_mode = linear, addr_mode_0 = mirror, addr_mode_1 = clamp_to_edge}",
    "unnormalized": "{filter_mode = nearest, force_unnormalized_coords = 1}",
}


def variables() -> Iterator[Entry]:
    """All kinds through variables."""
    fetch = f"tex.2d.v4.f32.f32 {FOUR}, [image, {coords('2d')}]"
    for name, statement in (
        ("a variable", fetch),
        ("the address of a variable", "mov.u64 %rd3, image; " + fetch.replace("[image", "[%rd3")),
    ):

        def one(rng: np.random.Generator, number: int) -> Trial:
            spec = make.array_of(rng, "2d", "f32")
            sampler = replace(make.sampler_of(rng, bool(number & 1), bool(number & 2)), border=(0.0,) * 4)
            inputs = np.stack(make.place(rng, spec, sampler.normalized, THREADS))
            return Trial(0, spec, sampler, make.texels_of(rng, spec, tame=True), inputs)

        kind = Kind(f"tex.2d of {name}", (statement,), 2, 4, "filter", alone=True, variables=IMAGE)
        yield Entry(kind, trials(one))
    for name, words in SAMPLERS.items():

        def independent(rng: np.random.Generator, number: int, name: str = name) -> Trial:
            spec = make.array_of(rng, "2d", "f32")
            inputs = np.stack(make.place(rng, spec, name != "unnormalized", THREADS))
            return Trial(0, spec, SamplerSpec(normalized=True), make.texels_of(rng, spec, tame=True), inputs)

        statement = f"tex.2d.v4.f32.f32 {FOUR}, [image, how, {coords('2d')}]"
        declared = f"{IMAGE}\n.global .samplerref how = {words};"
        kind = Kind(f"independent mode {name}", (statement,), 2, 4, "filter", alone=True, variables=declared)
        yield Entry(kind, trials(independent))

    def surface(rng: np.random.Generator, number: int) -> Trial:
        spec = replace(make.array_of(rng, "2d", "u32", 1), surface=True)
        x, y = (rng.integers(0, extent, THREADS) for extent in (spec.width, spec.height))
        inputs = np.stack([(x * 4).astype(np.uint32), y.astype(np.uint32)])
        return Trial(0, spec, None, make.texels_of(rng, spec), inputs)

    statement = "suld.b.2d.b32.trap %o0, [pixels, {%i0,%i1}]; suq.width.b32 %o1, [pixels]"
    declared = ".global .surfref pixels;"
    yield Entry(
        Kind("suld of a variable", (statement,), 2, 2, alone=True, variables=declared), trials(surface)
    )
    kinds = "; ".join(
        f"istypep.{kind} %p{n}, %rd3; selp.b32 %o{n}, 1, 0, %p{n}"
        for n, kind in enumerate(("texref", "samplerref", "surfref"))
    )
    typed = f"mov.u64 %rd3, image; {kinds}; mov.b64 {{%o3,%o4}}, %rd3"
    kind = Kind("istypep of a variable", (typed,), 2, 5, "types", alone=True, variables=IMAGE)
    yield Entry(kind, trials(one, 1))
    yield from _views()


ALIKE = {
    4: [("u8", 4), ("s8", 4), ("u16", 2), ("s16", 2), ("u32", 1), ("s32", 1), ("f16", 2), ("f32", 1)],
    8: [("u16", 4), ("s16", 4), ("u32", 2), ("s32", 2), ("f16", 4), ("f32", 2)],
}
"""Formats and channels by the bytes of a texel."""


def _views() -> Iterator[Entry]:
    """Other formats of the same size, and some of the levels or layers."""
    statement = f"tex.2d.v4.u32.f32 {FOUR}, [%rd0, {coords('2d')}]"

    def formatted(rng: np.random.Generator, number: int) -> Trial:
        formats = ALIKE[4 + 4 * (number & 1)]
        (format, channels), (other, others) = (formats[int(rng.integers(len(formats)))] for _ in range(2))
        spec = make.array_of(rng, "2d", format, channels)
        sampler = SamplerSpec(integers=bool(number & 2))
        inputs = np.stack(make.place(rng, spec, False, THREADS))
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs, view=ViewSpec(other, others))

    yield Entry(Kind("view of another format", (statement,), 2, 4), trials(formatted))

    def layered(rng: np.random.Generator, number: int) -> Trial:
        spec = replace(make.array_of(rng, "a2d", "f32", 1), layers=6)
        first = int(rng.integers(0, 6))
        last = int(rng.integers(first, 6))
        inputs = np.stack(make.place(rng, spec, False, THREADS))
        view = ViewSpec("f32", 1, first_layer=first, last_layer=last)
        return Trial(0, spec, SamplerSpec(), make.texels_of(rng, spec), inputs, view=view)

    array = f"tex.a2d.v4.u32.f32 {FOUR}, [%rd0, {coords('a2d')}]"
    yield Entry(Kind("view of some layers", (array,), 3, 4), trials(layered))

    def levelled(rng: np.random.Generator, number: int) -> Trial:
        spec = ArraySpec("2d", "f32", 1, 32, 16, resource="mipmap", levels=6)
        first = int(rng.integers(0, 5))
        last = int(rng.integers(first, 6))
        level = rng.uniform(-1, 7, THREADS).astype(np.float32).view(np.uint32)
        inputs = np.stack([*make.place(rng, spec, True, THREADS), level])
        sampler = SamplerSpec(normalized=True, lowest=0.0 if number & 1 else 1.0, highest=16.0)
        view = ViewSpec("f32", 1, first_level=first, last_level=last)
        return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs, view=view)

    level = f"tex.level.2d.v4.u32.f32 {FOUR}, [%rd0, {coords('2d')}], %i2"
    yield Entry(Kind("view of some levels", (level,), 3, 4), trials(levelled))
