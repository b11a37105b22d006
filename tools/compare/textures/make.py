"""Random objects, texels and coordinates."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from compare.textures.model import AXES, ArraySpec, SamplerSpec

FORMATS = ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32")
FRACTIONS = ("u8", "s8", "u16", "s16")
MODES = ("wrap", "clamp", "mirror", "border")
LAYERED = ("a1d", "a2d", "acube")
CUBES = ("cube", "acube")
BORDER = (0.25, -1.5, 3.0, 0.75)
SPECIAL = np.array([0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 0.25, 0.75, -0.5, 1.5], np.float32)


def random_of(seed: int, name: str) -> np.random.Generator:
    """The random numbers of a kind."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def array_of(
    rng: np.random.Generator, geometry: str, format: str, channels: int = 0, **more: object
) -> ArraySpec:
    """An array of random extents. `channels`: of a texel, 0 for any number."""
    channels = channels or int(rng.choice([1, 2, 4]))
    width, height, depth, layers = (int(rng.integers(1, most)) for most in (34, 18, 9, 6))
    axes = AXES[geometry]
    if geometry in CUBES:
        width = height = int(rng.integers(1, 18))
        layers = 6 if geometry == "cube" else 6 * int(rng.integers(1, 4))
    elif geometry not in LAYERED:
        layers = 1
    return ArraySpec(
        geometry,
        format,
        channels,
        width,
        height if axes > 1 else 1,
        depth if axes > 2 else 1,
        layers,
        **more,  # type: ignore[arg-type]
    )


def mipmap_of(rng: np.random.Generator, geometry: str, format: str, channels: int = 0) -> ArraySpec:
    """A mipmap of random extents."""
    spec = array_of(rng, geometry, format, channels)
    edge = int(rng.integers(4, 34))
    width = edge
    height = edge if geometry in CUBES else int(rng.integers(2, 34)) if AXES[geometry] > 1 else 1
    depth = int(rng.integers(1, 9)) if AXES[geometry] > 2 else 1
    levels = max(width, height, depth).bit_length()
    return ArraySpec(
        geometry,
        format,
        spec.channels,
        width,
        height,
        depth,
        spec.layers,
        "mipmap",
        int(rng.integers(2, levels + 1)),
    )


def texels_of(rng: np.random.Generator, spec: ArraySpec, tame: bool = False) -> list[np.ndarray]:
    """The bytes of each level. `tame`: numbers of one magnitude, where else there are any bits."""
    return [_level(rng, spec, spec.bytes(level), tame) for level in range(spec.levels)]


def _level(rng: np.random.Generator, spec: ArraySpec, size: int, tame: bool) -> np.ndarray:
    if tame and spec.format in ("f16", "f32"):
        dtype = np.dtype(spec.format.replace("f16", "float16").replace("f32", "float32"))
        values = rng.uniform(-2, 2, size // dtype.itemsize).astype(dtype)
        return values.view(np.uint8)
    return rng.integers(0, 256, size, dtype=np.uint8)


def sampler_of(rng: np.random.Generator, normalized: bool, linear: bool, **more: object) -> SamplerSpec:
    """A sampler with random modes."""
    modes = MODES if normalized else ("clamp", "border")
    address = tuple(str(rng.choice(modes)) for _ in range(3))
    border = BORDER if rng.integers(2) else (0.0, 0.0, 0.0, 0.0)
    return SamplerSpec(address, linear, normalized, border=border, **more)  # type: ignore[arg-type]


def coordinates(rng: np.random.Generator, extent: int, normalized: bool, threads: int) -> np.ndarray:
    """Coordinates along an axis as uint32 bits of f32: about the texture, some on edges of texels."""
    low, high = (-1.5, 2.5) if normalized else (-0.5 * extent - 2, 1.5 * extent + 2)
    values = rng.uniform(low, high, threads).astype(np.float32)
    edges = rng.integers(-2, 2 * extent + 3, threads) / np.float32(2)
    some = rng.random(threads) < 0.25
    values[some] = (edges / extent if normalized else edges).astype(np.float32)[some]
    special = rng.random(threads) < 0.03
    values[special] = rng.choice(SPECIAL, int(special.sum()))
    return values.view(np.uint32)


def directions(rng: np.random.Generator, threads: int) -> list[np.ndarray]:
    """Three components of directions, uint32 bits of f32; some along the edges and axes of a cube."""
    parts = rng.normal(size=(3, threads)).astype(np.float32)
    some = rng.random(threads) < 0.1
    parts[:, some] = rng.choice(np.array([-1, 0, 1, 2], np.float32), (3, int(some.sum())))
    parts[:, np.abs(parts).max(axis=0) == 0] = 1
    return [part.view(np.uint32) for part in parts]


def numbers(rng: np.random.Generator, extent: int, threads: int, margin: int = 3) -> np.ndarray:
    """Numbers of texels along an axis as uint32 bits of s32, some outside."""
    return rng.integers(-margin, extent + margin, threads).astype(np.int32).view(np.uint32)


def layers_of(rng: np.random.Generator, spec: ArraySpec, threads: int) -> np.ndarray:
    """Numbers of layers, or of cubes, some beyond the last."""
    count = spec.layers // 6 if spec.geometry == "acube" else spec.layers
    return rng.integers(0, count + 2, threads).astype(np.uint32)


def place(rng: np.random.Generator, spec: ArraySpec, normalized: bool, threads: int) -> list[np.ndarray]:
    """All coordinates of a geometry, the layer first."""
    found = [layers_of(rng, spec, threads)] if spec.geometry in LAYERED else []
    if spec.geometry in CUBES:
        return found + directions(rng, threads)
    extents: Sequence[int] = (spec.width, spec.height, spec.depth)[: AXES[spec.geometry]]
    return found + [coordinates(rng, extent, normalized, threads) for extent in extents]


def whole_place(rng: np.random.Generator, spec: ArraySpec, threads: int) -> list[np.ndarray]:
    """The same as numbers of texels."""
    found = [layers_of(rng, spec, threads)] if spec.geometry in LAYERED else []
    extents = (spec.width, spec.height, spec.depth)[: AXES[spec.geometry]]
    return found + [numbers(rng, extent, threads) for extent in extents]
