"""The texels of a fetch with their weights. CUDA C++ Programming Guide, "Texture fetching".

All arrays broadcast against the lanes of a lane set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ptxkit.emulator.texels import coordinates, cubes, levels
from ptxkit.emulator.texels.arrays import AXES, CUBES, FACES, TexelArray
from ptxkit.emulator.texels.coordinates import FRACTION_BITS, ONE, Neighbors, Texels
from ptxkit.emulator.texels.levels import BASE_LEVEL
from ptxkit.emulator.texels.objects import Texture
from ptxkit.isa.modifiers import Geometry

Array = np.ndarray


@dataclass(slots=True)
class Place:
    """Where a fetch looks.

    Attributes:
        axes: a coordinate an axis: float32, or int32 that number texels.
        layer: of an array texture, uint32; else None.
        level: that is asked for, float32 or int32; None where the instruction names none.
        across, down: the derivatives, where it gives those.
        shifts: texels to add to each coordinate.
    """

    axes: Sequence[Array]
    layer: Array | None = None
    level: Array | None = None
    across: Sequence[Array] = ()
    down: Sequence[Array] = ()
    shifts: Sequence[Any] = field(default_factory=tuple)

    @property
    def whole(self) -> bool:
        """Whether coordinates number texels."""
        return self.axes[0].dtype == np.int32


@dataclass(slots=True)
class Tap:
    """One texel of a fetch.

    Attributes:
        address: of its first byte.
        inside: where it is a texel; None where all are, else others have the border's colour.
        weight: float64; None for the only texel of a fetch.
    """

    address: Array
    inside: Any = None
    weight: Any = None


class _Table:
    """The levels of an array as arrays by the number of a level."""

    def __init__(self, array: TexelArray) -> None:
        def column(take: Callable[[Any], int]) -> Array:
            return np.array([take(level) for level in array.levels], np.int64)

        self.extents = list(np.array([level.extents for level in array.levels], np.int64).T)
        self.address = column(lambda level: level.address)
        self.row, self.plane = column(lambda level: level.row), column(lambda level: level.plane)
        self.layer = column(lambda level: level.layer)
        self.texel, self.layers = array.base.texel, array.base.layers

    def at(self, level: Array, layer: Array, axes: Sequence[Texels]) -> tuple[Array, Any]:
        """The addresses of texels, and where they are inside."""
        address, inside = self.address[level] + layer * self.layer[level], None
        steps = (self.texel, self.row[level], self.plane[level])
        for texels, step in zip(axes, steps, strict=False):
            address = address + texels.number * step
            if texels.inside is not None:
                inside = texels.inside if inside is None else inside & texels.inside
        return address, inside


def taps(texture: Texture, geometry: Geometry, place: Place) -> list[Tap]:
    """The texels that a fetch takes."""
    axes, layer = _on_face(geometry, place)
    table = _Table(texture.array)
    count = table.layers // FACES if geometry is Geometry.ARRAY_CUBE else table.layers
    chosen = _clamped_layer(place.layer, count)
    if layer is not None:
        chosen = chosen * FACES + layer
    if place.whole:
        return [_of_number(texture, table, chosen, axes, place)]
    asked = _asked(texture, geometry, place)
    level = levels.choose(asked, texture.sampler, texture.array)
    found = list(_of_level(texture, table, level.level, chosen, axes, place.shifts))
    if level.next is None or not np.any(level.weight):
        return found
    more = list(_of_level(texture, table, level.next, chosen, axes, place.shifts))
    return [*_weighted(found, ONE - level.weight), *_weighted(more, level.weight)]


def quad(texture: Texture, geometry: Geometry, place: Place) -> list[Tap]:
    """The four texels that a linear filter would take, counter-clockwise from the lower left."""
    axes, layer = _on_face(geometry, place)
    table = _Table(texture.array)
    count = table.layers // FACES if geometry is Geometry.ARRAY_CUBE else table.layers
    chosen = _clamped_layer(place.layer, count)
    if layer is not None:
        chosen = chosen * FACES + layer
    level = levels.choose(np.full((1, 1), BASE_LEVEL, np.float32), texture.sampler, texture.array).level
    across, down = _pairs(texture, table, level, axes, place.shifts)
    corners = (
        (across.lower, down.upper),
        (across.upper, down.upper),
        (across.upper, down.lower),
        (across.lower, down.lower),
    )
    return [Tap(*table.at(level, chosen, corner)) for corner in corners]


def _on_face(geometry: Geometry, place: Place) -> tuple[Sequence[Array], Array | None]:
    """The coordinates in a layer, and the face of a cube."""
    if geometry not in CUBES:
        return place.axes[: AXES[geometry]], None
    faces = cubes.project(*place.axes[:3])
    return (faces.s, faces.t), faces.face


def _clamped_layer(layer: Array | None, count: int) -> Array:
    if layer is None:
        return np.zeros((1, 1), np.int64)
    return np.minimum(layer.astype(np.int64), count - 1)


def _asked(texture: Texture, geometry: Geometry, place: Place) -> Array:
    """The level that a fetch asks for, float32."""
    if place.across:
        return levels.of_gradients(place.across, place.down, texture.array.base.extents[: AXES[geometry]])
    if place.level is None:
        return np.full((1, 1), BASE_LEVEL, np.float32)
    return place.level.astype(np.float32)


def _of_number(texture: Texture, table: _Table, layer: Array, axes: Sequence[Array], place: Place) -> Tap:
    """The texel that integers name."""
    last = len(texture.array.levels) - 1
    level = np.zeros((1, 1), np.int64)
    if place.level is not None:
        level = np.clip(place.level.astype(np.int64), 0, last)
    shifts = [*place.shifts, 0, 0, 0]
    found = [
        coordinates.whole(x, extent[level], shift)
        for x, extent, shift in zip(axes, table.extents, shifts, strict=False)
    ]
    return Tap(*table.at(level, layer, found))


def _of_level(
    texture: Texture, table: _Table, level: Array, layer: Array, axes: Sequence[Array], shifts: Sequence[Any]
) -> Iterator[Tap]:
    """The texels of one level."""
    sampler = texture.sampler
    if not sampler.linear:
        found = [
            coordinates.nearest(x, extent[level], mode, sampler.normalized, shift)
            for x, extent, mode, shift in zip(
                axes, table.extents, sampler.address, [*shifts, 0, 0, 0], strict=False
            )
        ]
        yield Tap(*table.at(level, layer, found))
        return
    pairs = _pairs(texture, table, level, axes, shifts)
    scale = float(1 << FRACTION_BITS * len(pairs))
    for upper in product((False, True), repeat=len(pairs)):
        weight: Any = 1
        for pair, is_upper in zip(pairs, upper, strict=True):
            weight = weight * (pair.weight if is_upper else ONE - pair.weight)
        corner = [pair.upper if is_upper else pair.lower for pair, is_upper in zip(pairs, upper, strict=True)]
        yield Tap(*table.at(level, layer, corner), weight / scale)


def _pairs(
    texture: Texture, table: _Table, level: Array, axes: Sequence[Array], shifts: Sequence[Any]
) -> list[Neighbors]:
    sampler = texture.sampler
    return [
        coordinates.linear(x, extent[level], mode, sampler.normalized, shift)
        for x, extent, mode, shift in zip(
            axes, table.extents, sampler.address, [*shifts, 0, 0, 0], strict=False
        )
    ]


def _weighted(found: list[Tap], weight: Any) -> list[Tap]:
    return [
        Tap(tap.address, tap.inside, (1.0 if tap.weight is None else tap.weight) * weight / ONE)
        for tap in found
    ]
