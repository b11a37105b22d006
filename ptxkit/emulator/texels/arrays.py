"""Where the texels of an array lie in global memory.

The layout of a CUDA array is opaque: here it is row by row, plane by plane, layer by layer. Linear memory and
pitched memory lie as the program laid them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ptxkit.emulator.global_memory import Allocation, GlobalMemory
from ptxkit.emulator.texels.formats import ChannelFormat
from ptxkit.isa.modifiers import Geometry

FACES = 6
CUBES = frozenset({Geometry.CUBE, Geometry.ARRAY_CUBE})
LAYERED = frozenset({Geometry.ARRAY_1D, Geometry.ARRAY_2D, Geometry.ARRAY_CUBE})
AXES = {
    Geometry.D1: 1,
    Geometry.D2: 2,
    Geometry.D3: 3,
    Geometry.ARRAY_1D: 1,
    Geometry.ARRAY_2D: 2,
    Geometry.CUBE: 2,
    Geometry.ARRAY_CUBE: 2,
}
"""How many axes a layer, or the face of a cube, has."""


@dataclass(slots=True, eq=False)
class TexelLevel:
    """The texels of one level.

    Attributes:
        geometry: of the array.
        format: of each channel.
        channels: of a texel.
        width, height, depth: in texels; 1 along axes that there are not.
        layers: 1 where there are none; the faces of cubes count as layers.
        address: of the first texel.
        row, plane, layer: bytes from one to the next.
        owner: the allocation that holds them; None where memory of the program does.
    """

    geometry: Geometry
    format: ChannelFormat
    channels: int
    width: int
    height: int
    depth: int
    layers: int
    address: int
    row: int
    plane: int
    layer: int
    owner: Allocation | None = None

    @property
    def texel(self) -> int:
        """Bytes of a texel."""
        return self.format.bytes * self.channels

    @property
    def extents(self) -> tuple[int, int, int]:
        """Width, height and depth."""
        return self.width, self.height, self.depth

    @property
    def size(self) -> int:
        """Bytes from the first texel's first to the last one's last."""
        last = (self.layers - 1) * self.layer + (self.depth - 1) * self.plane + (self.height - 1) * self.row
        return last + self.width * self.texel

    def __str__(self) -> str:
        extents = [self.width, self.height, self.depth][: AXES[self.geometry]]
        shape = "x".join(str(extent) for extent in extents)
        layers = f", {self.layers} layers" if self.layers > 1 else ""
        return f"{self.geometry} array of {shape} texels{layers}, {self.channels} {self.format.name}"


class ArrayShape(NamedTuple):
    """What an array is to be.

    Attributes:
        geometry: its own.
        format, channels: of a texel.
        width, height, depth: of the first level; 1 along axes that there are not.
        layers: 1 where there are none; six for each cube.
    """

    geometry: Geometry
    format: ChannelFormat
    channels: int
    width: int
    height: int = 1
    depth: int = 1
    layers: int = 1

    def level(self, number: int) -> ArrayShape:
        """The shape of a level of a mipmap. PTX ISA 9.7.10.2."""
        extents = [max(1, extent >> number) for extent in (self.width, self.height, self.depth)]
        return self._replace(width=extents[0], height=extents[1], depth=extents[2])

    @property
    def most_levels(self) -> int:
        """Levels of a whole mipmap."""
        return max(self.width, self.height, self.depth).bit_length()

    def texels(self, address: int, pitch: int = 0, owner: Allocation | None = None) -> TexelLevel:
        """The texels at an address. `pitch`: bytes from row to row, where they don't follow each other."""
        row = pitch or self.width * self.channels * self.format.bytes
        plane = row * self.height
        return TexelLevel(*self, address, row, plane, plane * self.depth, owner)


@dataclass(slots=True, eq=False)
class TexelArray:
    """An array, or a mipmap, which is several.

    Attributes:
        levels: the first is the largest.
        mipmapped: whether it was made as a mipmap.
        owner: its memory; None where it is the program's own.
        linear: whether it is linear memory, which is fetched by number alone.
    """

    levels: tuple[TexelLevel, ...]
    mipmapped: bool = False
    owner: Allocation | None = None
    linear: bool = False

    @property
    def base(self) -> TexelLevel:
        """The first level."""
        return self.levels[0]

    def __str__(self) -> str:
        return f"{self.base}, {len(self.levels)} levels" if self.mipmapped else str(self.base)


def allocate(memory: GlobalMemory, shape: ArrayShape, levels: int = 0, track: bool = False) -> TexelArray:
    """An array in fresh memory.

    Args:
        memory: where.
        shape: of its first level.
        levels: of a mipmap; 0 for an array that is none.
        track: whether its bytes count as undefined until somebody writes them.

    Raises:
        PtxkitError: P705, out of memory.
    """
    shapes = [shape.level(number) for number in range(max(1, levels))]
    starts, size = [], 0
    for each in shapes:
        starts.append(size)
        size += -(-each.texels(0).size // 512) * 512
    owner = memory.allocate(size, str(shapes[0].texels(0)))
    if track:
        memory.forget(owner)
    made = [each.texels(owner.address + at, owner=owner) for each, at in zip(shapes, starts, strict=True)]
    return TexelArray(tuple(made), levels > 0, owner)
