"""Where a surface instruction reaches. PTX ISA 9.7.11."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.access import Access
from ptxkit.emulator.faults import fault
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.texels.arrays import AXES, LAYERED, TexelLevel
from ptxkit.emulator.texels.objects import Surface
from ptxkit.emulator.textures.handles import HandleOperand
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import Geometry, Mode

FLAT = {Geometry.CUBE: Geometry.ARRAY_2D, Geometry.ARRAY_CUBE: Geometry.ARRAY_2D}
"""The geometry that the faces of cubes have as surfaces: layers."""
LAYER_MASK = 0xFFFF
"""The bits of the number of a layer that count on an H200."""


class Reached(NamedTuple):
    """What lanes reach of a surface.

    Attributes:
        level: its texels.
        access: to global memory; None where no lane is inside.
        mine: the lanes that name this surface, bool (rows, 32).
    """

    level: TexelLevel
    access: Access | None
    mine: np.ndarray


class SurfaceOperand:
    """The surface and the coordinates of an instruction, `[a, coords]`.

    Args:
        instruction: whose.
        size: bytes of an access; 0 for a texel.
        scale: what the first coordinate is multiplied by; 0 for the bytes of a texel.
    """

    def __init__(self, instruction: ScopedInstruction, size: int, scale: int) -> None:
        self.site, self.size, self.scale = instruction.site, size, scale
        self.geometry: Geometry = instruction["geom"]
        self.clamp: Mode = instruction["clamp"]
        self.surface = HandleOperand(instruction, "a", Surface)
        parts, first = instruction.parts("coords"), int(self.geometry in LAYERED)
        read: Callable[..., Any] = instruction.checked_source
        self._layer = read(parts[0], "u32") if first else None
        self._axes = [read(part, "s32") for part in parts[first : first + AXES[self.geometry]]]

    def reach(self, lane_set: LaneSet, guard: Any) -> Iterator[Reached]:
        """What the lanes reach, surface by surface. Raises P602, P603, P604, P6140."""
        shape = (lane_set.n, WARP)
        axes = [np.broadcast_to(read(lane_set), shape).astype(np.int64) for read in self._axes]
        layer = np.zeros(shape, np.int64)
        if self._layer is not None:
            layer = np.broadcast_to(self._layer(lane_set), shape).astype(np.int64) & LAYER_MASK
        for surface, mine in self.surface.objects(lane_set, guard):
            level = surface.level
            if FLAT.get(level.geometry, level.geometry) is not self.geometry:
                self.surface.refuse(
                    lane_set, mine, f"expected a `.{self.geometry}` surface, found a {surface}"
                )
            yield Reached(level, self._access(lane_set, level, axes, layer, mine), mine)

    def _access(
        self,
        lane_set: LaneSet,
        level: TexelLevel,
        axes: list[np.ndarray],
        layer: np.ndarray,
        mine: np.ndarray,
    ) -> Access | None:
        size = self.size or level.texel
        places = [axes[0] * (self.scale or level.texel), *axes[1:], layer]
        ends = [level.width * level.texel - size, *level.extents[1 : len(axes)], level.layers]
        ends = [ends[0], *(end - 1 for end in ends[1:])]
        inside = np.ones(mine.shape, bool)
        for place, end in zip(places, ends, strict=True):
            inside &= (place >= 0) & (place <= end)
        outside = mine & ~inside
        if outside.any() and self.clamp is Mode.TRAP:
            self._refuse_outside(lane_set, level, axes, outside, size)
        if self.clamp is Mode.CLAMP:
            places = [np.clip(place, 0, max(end, 0)) for place, end in zip(places, ends, strict=True)]
            inside = np.ones(mine.shape, bool)
        reached = mine & inside
        if not reached.any():
            return None
        steps = [1, level.row, level.plane][: len(axes)] + [level.layer]
        index = np.full(mine.shape, level.address - BASE, np.int64)
        for place, step in zip(places, steps, strict=True):
            index += place * step
        index = np.where(reached, index, index[reached][0])
        self._check_alignment(lane_set, places[0], reached, size)
        owner = self._owner(lane_set, level, reached)
        return Access(lane_set, self.site, "global", lane_set.launch.memory, index, reached, owner)

    def _refuse_outside(
        self, lane_set: LaneSet, level: TexelLevel, axes: list[np.ndarray], bad: np.ndarray, size: int
    ) -> None:
        row, lane = lane_set.first(bad)
        where = ", ".join(str(int(axis[row, lane])) for axis in axes)
        raise fault(
            "P602",
            f"out of bounds: {counted(size, 'byte')} at ({where}) of a surface",
            self.site,
            (
                str(lane_set.thread(row, lane)),
                f"surface of {level}, rows of {level.width * level.texel} bytes",
            ),
            "`.clamp` takes the nearest place, `.zero` drops the access",
        )

    def _check_alignment(self, lane_set: LaneSet, x: np.ndarray, reached: np.ndarray, size: int) -> None:
        odd = reached & (x % size != 0)
        if odd.any():
            row, lane = lane_set.first(odd)
            raise fault(
                "P603",
                f"misaligned surface access: expected a multiple of {size}, found {int(x[row, lane])}",
                self.site,
                (
                    str(lane_set.thread(row, lane)),
                    "an unformatted access counts its first coordinate in bytes",
                ),
                "multiply the texel's number by its size in bytes",
            )

    def _owner(self, lane_set: LaneSet, level: TexelLevel, reached: np.ndarray) -> Allocation | None:
        owner = level.owner
        if owner is not None and not owner.live:
            raise fault(
                "P604",
                f"use after free: the memory of a surface of {level} was freed",
                self.site,
                (str(lane_set.thread(*lane_set.first(reached))), f"{owner} was freed: {owner.freed_by}"),
            )
        return owner
