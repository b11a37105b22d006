"""The texels of a fetch with their weights. CUDA C++ Programming Guide, "Texture fetching".

All arrays broadcast against the lanes of a lane set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.emulator.texels import coordinates, cubes, levels, slopes, weights
from ptxkit.emulator.texels.arrays import AXES, CUBES, FACES, TexelArray
from ptxkit.emulator.texels.coordinates import ONE, Neighbors, Texels
from ptxkit.emulator.texels.filters import SLICES_OF_LEVEL
from ptxkit.emulator.texels.levels import BASE_LEVEL
from ptxkit.emulator.texels.objects import AddressMode, Texture
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
        bordered: whether they have it; else they are zeros.
        weight: in units of 1/256; None for the only texel of a fetch.
        taken: where it takes part in a sum, which it does even with a weight that was rounded to nothing.
        slice: the number of its slice: `SLICES_OF_LEVEL` for each level before its own, and of those along z.
    """

    address: Array
    inside: Any = None
    weight: Any = None
    taken: Any = np.True_
    bordered: bool = True
    slice: int = 0


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


@dataclass(slots=True)
class _Where:
    """Where a fetch looks in each layer.

    Attributes:
        axes: the coordinates that are left: on a face of a cube two.
        layer: the layer, or of a cube the first of its faces.
        face: of a cube; None where there is none.
    """

    axes: Sequence[Array]
    layer: Array
    face: Array | None = None

    @classmethod
    def of(cls, geometry: Geometry, place: Place, table: _Table) -> _Where:
        """Of a place in an array of a geometry."""
        count = table.layers // FACES if geometry is Geometry.ARRAY_CUBE else table.layers
        layer = _clamped_layer(place.layer, count)
        if geometry is Geometry.D1 and not place.whole:
            # An H200 has it as one row of a picture, whose address mode along y counts.
            return cls((place.axes[0], np.zeros((1, 1), np.float32)), layer)
        if geometry not in CUBES:
            return cls(place.axes[: AXES[geometry]], layer)
        faces = cubes.project(*place.axes[:3])
        return cls((faces.s, faces.t), layer * FACES, faces.face)

    @property
    def whole_layer(self) -> Array:
        """The number of the layer, faces included."""
        return self.layer if self.face is None else self.layer + self.face


def taps(texture: Texture, geometry: Geometry, place: Place) -> list[Tap]:
    """The texels that a fetch takes."""
    table = _Table(texture.array)
    where = _Where.of(geometry, place, table)
    if place.whole:
        return [_of_number(texture, table, where, place)]
    asked = _asked(texture, geometry, place)
    level = levels.choose(asked, texture.sampler, texture.array)
    if level.next is None:
        return list(_of_level(texture, table, level.level, where, place.shifts, ONE))
    first = list(_of_level(texture, table, level.level, where, place.shifts, ONE - level.weight))
    second = list(_of_level(texture, table, level.next, where, place.shifts, level.weight))
    for tap in second:
        tap.slice += SLICES_OF_LEVEL
    return [*first, *second]


QUAD = ((False, True), (True, True), (True, False), (False, False))
"""Which neighbours in x and y a gather takes, counter-clockwise from the lower left."""


def quad(texture: Texture, geometry: Geometry, place: Place) -> list[Tap]:
    """The four texels that a linear filter would take; what is no texel, at corners, is not taken."""
    table = _Table(texture.array)
    where = _Where.of(geometry, place, table)
    level = np.zeros((1, 1), np.int64)  # as on an H200, whatever the sampler's limits
    pairs = _pairs(texture, table, level, where.axes, place.shifts)
    made = [_corner(texture, table, level, where, pairs, upper) for upper in QUAD]
    for tap, missing in made:
        tap.taken = ~missing
    return [tap for tap, _ in made]


def _clamped_layer(layer: Array | None, count: int) -> Array:
    if layer is None:
        return np.zeros((1, 1), np.int64)
    return np.minimum(layer.astype(np.int64), count - 1)


def _asked(texture: Texture, geometry: Geometry, place: Place) -> Array:
    """The level that a fetch asks for, float32."""
    if place.across:
        extents = texture.array.base.extents[: AXES[geometry]]
        if geometry not in CUBES:
            return slopes.level(place.across, place.down, extents)
        x, y = (cubes.step(place.axes, change) for change in (place.across, place.down))
        edges = (*extents, extents[0])
        return slopes.level((x.s, x.t, x.through), (y.s, y.t, y.through), edges, x.stays & y.stays)
    if place.level is None:
        return np.full((1, 1), BASE_LEVEL, np.float32)
    return place.level.astype(np.float32)


def _of_number(texture: Texture, table: _Table, where: _Where, place: Place) -> Tap:
    """The texel that integers name; there is none in a layer beyond the last."""
    level, inside = np.zeros((1, 1), np.int64), None
    if place.level is not None:
        # Where a level is named an H200 clamps everything but that.
        level = np.clip(place.level.astype(np.int64), 0, len(texture.array.levels) - 1)
        inside = place.level == level
    elif place.layer is not None:
        inside = place.layer < table.layers
    mode = AddressMode.BORDER if place.level is None else AddressMode.CLAMP
    found = [
        coordinates.addressed(x.astype(np.int64) + shift, extent[level], mode)
        for x, extent, shift in zip(where.axes, table.extents, [*place.shifts, 0, 0, 0], strict=False)
    ]
    address, there = table.at(level, where.layer, found)
    if there is not None:
        inside = there if inside is None else inside & there
    return Tap(address, inside, bordered=False)


def _of_level(
    texture: Texture, table: _Table, level: Array, where: _Where, shifts: Sequence[Any], total: Any
) -> Iterator[Tap]:
    """The texels of one level, whose weights have a sum in units of 1/256."""
    sampler = texture.sampler
    if not sampler.linear:
        modes = (AddressMode.CLAMP,) * 3 if sampler.seamless else sampler.address
        found = [
            coordinates.nearest(x, extent[level], mode, sampler.normalized, shift)
            for x, extent, mode, shift in zip(
                where.axes, table.extents, modes, [*shifts, 0, 0, 0], strict=False
            )
        ]
        # The whole weight is an int where there are no other levels.
        weight = None if isinstance(total, int) else total
        yield Tap(*table.at(level, where.whole_layer, found), weight, np.asarray(total) != 0)
        return
    pairs = _pairs(texture, table, level, where.axes, shifts)
    made: list[tuple[Tap, Any]] = []
    slices = [total]
    if len(pairs) > 2:
        above = weights.share(total, pairs[2].weight)
        slices = [total - above, above]
    for upper, weight in weights.split(total, [pair.weight for pair in pairs]):
        tap, missing = _corner(texture, table, level, where, pairs, upper)
        tap.weight, tap.slice = weight, sum(upper[2:])
        tap.taken = np.asarray(slices[tap.slice]) != 0
        for pair, is_upper in zip(pairs[:2], upper, strict=False):
            tap.taken = tap.taken & (pair.weight != 0) if is_upper else tap.taken
        made.append((tap, missing))
    if sampler.seamless:
        _share_corners(made, total)
    yield from (tap for tap, _ in made)


def _corner(
    texture: Texture,
    table: _Table,
    level: Array,
    where: _Where,
    pairs: Sequence[Neighbors],
    upper: Sequence[bool],
) -> tuple[Tap, Any]:
    """One of the texels round a place, without its weight, and where it lies beyond two edges of a face."""
    chosen = [pair.upper if is_upper else pair.lower for pair, is_upper in zip(pairs, upper, strict=True)]
    if where.face is None or not texture.sampler.seamless:
        return Tap(*table.at(level, where.whole_layer, chosen)), np.False_
    x, y = (texels.number for texels in chosen)
    seam = cubes.across_edges(where.face, x, y, table.extents[0][level])
    return Tap(*table.at(level, where.layer + seam.face, (Texels(seam.x), Texels(seam.y)))), seam.corner


def _share_corners(made: Sequence[tuple[Tap, Any]], total: Any) -> None:
    """Where three faces meet there are three texels, which share the weight of the fourth: the two beside it
    get a third each, rounded, and the one across gets the rest, as on an H200. All three take part then."""
    for number, (lost, missing) in enumerate(made):
        weight = np.where(missing, lost.weight, 0)
        third = weights.third(weight)
        across = len(made) - 1 - number
        some = missing & (np.asarray(total) != 0)
        for other, (tap, _) in enumerate(made):
            if other != number:
                tap.weight = tap.weight + (weight - 2 * third if other == across else third)
                tap.taken = tap.taken | some
        lost.weight = lost.weight - weight
        lost.taken = lost.taken & ~missing


def _pairs(
    texture: Texture, table: _Table, level: Array, axes: Sequence[Array], shifts: Sequence[Any]
) -> list[Neighbors]:
    sampler = texture.sampler
    modes = (None, None) if sampler.seamless else sampler.address
    return [
        coordinates.linear(x, extent[level], mode, sampler.normalized, shift)
        for x, extent, mode, shift in zip(axes, table.extents, modes, [*shifts, 0, 0, 0], strict=False)
    ]
