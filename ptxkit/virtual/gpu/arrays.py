"""CUDA arrays and mipmaps. Driver API, "Memory management": `cuArray3DCreate` and its neighbours."""

from __future__ import annotations

from operator import le
from typing import ClassVar, NamedTuple

from ptxkit.emulator.texels.arrays import FACES, ArrayShape, TexelArray, TexelLevel, allocate
from ptxkit.emulator.texels.formats import BY_CODE, CHANNELS
from ptxkit.isa.modifiers import Geometry
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.attributes import TEXTURES
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.results import failure

LAYERED, SURFACE, CUBEMAP, GATHER, DEPTH, COLOR, SPARSE, DEFERRED = (1 << bit for bit in range(8))
"""Flags of `CUDA_ARRAY3D_DESCRIPTOR`."""
MOST: dict[Geometry, list[tuple[int, ...]]] = {
    Geometry.D1: [(21,)],
    Geometry.D2: [(22, 23)],
    Geometry.D3: [(24, 25, 26), (47, 48, 49)],
    Geometry.ARRAY_1D: [(42, 42, 43)],
    Geometry.ARRAY_2D: [(27, 28, 29)],
    Geometry.CUBE: [(52, 52)],
    Geometry.ARRAY_CUBE: [(53, 53, 54)],
}
"""The attributes of a device that limit an array's extents, texels before layers: it keeps one of these."""
KNOWN_FLAGS, FIRST_BLOCKS = 0x1FF, 0x90
"""All flags that there are, and the first `CUarray_format` beyond those of plain numbers."""


class ArrayRequest(NamedTuple):
    """What a program asks for, as in `CUDA_ARRAY3D_DESCRIPTOR`.

    Attributes:
        width, height, depth: 0 along axes that there are not; layers are depth.
        format: `CUarray_format`.
        channels: of a texel.
        flags: see above.
    """

    width: int
    height: int
    depth: int
    format: int
    channels: int
    flags: int = 0

    def shape(self) -> ArrayShape:
        """The array, no larger than a texture may be.

        Raises:
            DriverError: INVALID_VALUE; NOT_SUPPORTED for formats and flags that are not emulated.
        """
        made = self._unlimited()
        extents = (made.width, made.height, made.depth * made.layers)
        most = [tuple(TEXTURES[number] for number in numbers) for numbers in MOST[made.geometry]]
        if not any(all(map(le, extents, limits)) for limits in most):
            told = " or ".join(str(limits) for limits in most)
            raise failure("INVALID_VALUE", f"an array of {extents} texels; at most {told}")
        if self.flags & GATHER and made.geometry is not Geometry.D2:
            raise failure("INVALID_VALUE", "gathers are of arrays of two dimensions alone")
        return made

    def _unlimited(self) -> ArrayShape:
        """The array, however large.

        Raises:
            DriverError: INVALID_VALUE; NOT_SUPPORTED for formats and flags that are not emulated.
        """
        width, height, depth, code, channels, flags = self
        if flags & ~KNOWN_FLAGS or (flags & SPARSE and not height) or (flags & DEPTH and channels != 1):
            raise failure("INVALID_VALUE", f"flags {flags:#x} of {channels} channels, {height} rows")
        if flags & (SPARSE | DEFERRED) or flags >> 8:
            raise failure("NOT_SUPPORTED", f"arrays with flags {flags:#x}: sparse, deferred or for video")
        if channels not in CHANNELS or not width or not code:
            raise failure("INVALID_VALUE", f"an array {width} texels wide, of {channels} channels")
        if code not in BY_CODE and code < FIRST_BLOCKS:
            raise failure("INVALID_VALUE", f"there is no format {code:#x}")
        if code not in BY_CODE:
            raise failure("NOT_SUPPORTED", f"arrays of the format {code:#x}")
        format_ = BY_CODE[code]
        cube, layered = bool(flags & CUBEMAP), bool(flags & LAYERED)
        if cube:
            if width != height or not depth or depth % FACES or (depth > FACES and not layered):
                raise failure("INVALID_VALUE", f"a cube of {depth} faces of {width} by {height} texels")
            geometry = Geometry.ARRAY_CUBE if layered else Geometry.CUBE
            return ArrayShape(geometry, format_, channels, width, height, 1, depth)
        if layered:
            if not depth:
                raise failure("INVALID_VALUE", "a layered array without layers")
            geometry = Geometry.ARRAY_2D if height else Geometry.ARRAY_1D
            return ArrayShape(geometry, format_, channels, width, height or 1, 1, depth)
        if depth and not height:
            raise failure("INVALID_VALUE", "an array with a depth and no height")
        geometry = Geometry.D3 if depth else Geometry.D2 if height else Geometry.D1
        return ArrayShape(geometry, format_, channels, width, height or 1, depth or 1)


def request_of(level: TexelLevel, flags: int) -> ArrayRequest:
    """What asks for an array like a level."""
    flat = level.geometry in (Geometry.D1, Geometry.ARRAY_1D)
    depth = level.depth if level.geometry is Geometry.D3 else 0
    if flags & (LAYERED | CUBEMAP):
        depth = level.layers
    height = 0 if flat else level.height
    return ArrayRequest(level.width, height, depth, level.format.code, level.channels, flags)


class VirtualArray(Object):
    """An array, or a level of a mipmap.

    Attributes:
        context: where it was made.
        texels: it alone.
        flags: it was made with.
        whole: the mipmap that it is a level of.
    """

    noun: ClassVar[str] = "array"
    destroyed: ClassVar[str] = "CONTEXT_IS_DESTROYED"

    def __init__(
        self, context: VirtualContext, texels: TexelArray, flags: int, whole: VirtualMipmap | None = None
    ) -> None:
        self.context = context
        self.texels = texels
        self.flags = flags
        self.whole = whole

    @property
    def level(self) -> TexelLevel:
        """Its texels."""
        return self.texels.base

    def close(self) -> None:
        """Give its memory back."""
        if self.whole is None:
            _free(self.context, self.texels)


class VirtualMipmap(Object):
    """A mipmap.

    Attributes:
        context: where it was made.
        texels: all levels.
        levels: each as an array.
        flags: it was made with.
    """

    noun: ClassVar[str] = "mipmapped array"
    other: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, context: VirtualContext, texels: TexelArray, flags: int) -> None:
        self.context = context
        self.texels = texels
        self.flags = flags
        parts = (TexelArray((level,), False, texels.owner) for level in texels.levels)
        self.levels = [VirtualArray(context, part, flags, self) for part in parts]

    def close(self) -> None:
        """Give its memory back."""
        _free(self.context, self.texels)


def new_array(context: VirtualContext, request: ArrayRequest) -> VirtualArray:
    """An array. Raises DriverError."""
    return VirtualArray(context, _texels(context, request.shape(), 0), request.flags)


def new_mipmap(context: VirtualContext, request: ArrayRequest, levels: int) -> VirtualMipmap:
    """A mipmap of so many levels, of at least one and of as many as there can be. Raises DriverError."""
    shape = request.shape()
    made = VirtualMipmap(
        context, _texels(context, shape, min(max(levels, 1), shape.most_levels)), request.flags
    )
    for level in made.levels:
        context.own(level)
    return made


def _texels(context: VirtualContext, shape: ArrayShape, levels: int) -> TexelArray:
    machine = context.machine
    room = machine.memory.budget - machine.memory.used
    size = sum(shape.level(number).texels(0).size for number in range(max(1, levels)))
    if size > room:
        raise failure("OUT_OF_MEMORY", f"asked for {size} bytes")
    made = allocate(machine.memory, shape, levels, machine.options.sanitize)
    assert made.owner is not None
    machine.memory.kinds[made.owner.address] = AllocationKind.DEVICE
    machine.memory.devices[made.owner.address] = context.device.ordinal
    return made


def _free(context: VirtualContext, texels: TexelArray) -> None:
    assert texels.owner is not None
    context.machine.memory.free(texels.owner, "the host destroyed the array")
