"""Texture and surface objects, as a device has them. Driver API, "Texture object management"."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from ptxkit.emulator.texels.arrays import ArrayShape, TexelArray, TexelLevel
from ptxkit.emulator.texels.formats import BY_CODE, CHANNELS, FORMATS, ChannelKind
from ptxkit.emulator.texels.objects import AddressMode, Border, Sampler, Surface, Texture
from ptxkit.isa.modifiers import Geometry
from ptxkit.virtual.gpu.arrays import SURFACE, VirtualArray, VirtualMipmap
from ptxkit.virtual.gpu.attributes import device_attribute
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.results import failure

AS_INTEGER, NORMALIZED, SRGB, UNTOUCHED, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
"""Flags of `CUDA_TEXTURE_DESC`."""
TEXTURE_ALIGNMENT = 14
"""`CUdevice_attribute`."""
VIEW_FORMATS = [
    (FORMATS[name], channels)
    for name in ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32")
    for channels in CHANNELS
]
"""`CUresourceViewFormat` from 1 on."""


BLOCK_FORMATS = 10
"""How many more there are behind those, compressed in blocks."""


class ResourceType(IntEnum):
    """`CUresourcetype`."""

    ARRAY = 0
    MIPMAP = 1
    LINEAR = 2
    PITCHED = 3


class ResourceRequest(NamedTuple):
    """What an object is to be made of.

    Attributes:
        type: see `ResourceType`.
        place: the handle of an array, or an address.
        format, channels: of linear and pitched memory.
        width: texels; of linear memory bytes.
        height: rows of pitched memory.
        pitch: bytes from row to row.
    """

    type: int
    place: int
    format: int = 0
    channels: int = 0
    width: int = 0
    height: int = 0
    pitch: int = 0


class ViewRequest(NamedTuple):
    """What of a resource an object shows: `CUDA_RESOURCE_VIEW_DESC`."""

    format: int
    width: int
    height: int
    depth: int
    first_level: int
    last_level: int
    first_layer: int
    last_layer: int


class SamplerRequest(NamedTuple):
    """How a texture is to be sampled: `CUDA_TEXTURE_DESC`."""

    address: tuple[int, int, int]
    filter: int
    flags: int
    anisotropy: int
    level_filter: int
    bias: float
    lowest: float
    highest: float
    border: Border

    def sampler(self) -> Sampler:
        """The sampler. Raises DriverError: INVALID_VALUE."""
        if not all(0 <= mode <= 3 for mode in self.address):
            raise failure("INVALID_VALUE", f"there are no address modes {self.address}")
        if self.filter not in (0, 1) or self.level_filter not in (0, 1) or self.flags & ~0x73:
            raise failure(
                "INVALID_VALUE", f"filters {self.filter}, {self.level_filter}, flags {self.flags:#x}"
            )
        x, y, z = (AddressMode(mode) for mode in self.address)
        return Sampler(
            (x, y, z),
            bool(self.filter),
            bool(self.flags & NORMALIZED),
            bool(self.level_filter),
            self.bias,
            (self.lowest, self.highest),
            min(max(self.anisotropy, 1), 16),
            self.border,
            bool(self.flags & SEAMLESS),
            bool(self.flags & SRGB),
        )


def _array_of(context: VirtualContext, request: ResourceRequest) -> VirtualArray:
    """The array of a resource. Raises DriverError: INVALID_VALUE."""
    found = context.machine.handles.find(VirtualArray, request.place)
    if found is None:
        raise failure("INVALID_VALUE", f"{request.place:#x} is no handle of an array")
    return found


def texels_of(context: VirtualContext, request: ResourceRequest) -> TexelArray:
    """The texels of a resource.

    Raises:
        DriverError: INVALID_VALUE, INVALID_HANDLE; NOT_SUPPORTED for formats that are not emulated.
    """
    machine = context.machine
    if request.type == ResourceType.ARRAY:
        return _array_of(context, request).texels
    if request.type == ResourceType.MIPMAP:
        return machine.handles.get(VirtualMipmap, request.place).texels
    if request.type not in (ResourceType.LINEAR, ResourceType.PITCHED):
        raise failure("INVALID_VALUE", f"there is no resource type {request.type}")
    if request.format not in BY_CODE:
        raise failure("NOT_SUPPORTED", f"memory of the format {request.format:#x}")
    if request.channels not in CHANNELS:
        raise failure("INVALID_VALUE", f"texels of {request.channels} channels")
    format_, texel = BY_CODE[request.format], BY_CODE[request.format].bytes * request.channels
    if request.place % device_attribute(context.device, TEXTURE_ALIGNMENT):
        raise failure("INVALID_VALUE", f"memory at {request.place:#x} is not aligned for a texture")
    if request.type == ResourceType.LINEAR:
        shape = ArrayShape(Geometry.D1, format_, request.channels, request.width // texel)
        made = TexelArray((shape.texels(request.place),), linear=True)
    else:
        if request.pitch % 32 or request.pitch < request.width * texel or not request.height:
            raise failure("INVALID_VALUE", f"{request.height} rows {request.pitch} bytes apart")
        shape = ArrayShape(Geometry.D2, format_, request.channels, request.width, request.height)
        made = TexelArray((shape.texels(request.place, request.pitch),))
    if not shape.width:
        raise failure("INVALID_VALUE", "memory without a texel")
    machine.memory.check(request.place, made.base.size, "the memory of a texture")
    return made


def viewed(texels: TexelArray, view: ViewRequest) -> TexelArray:
    """What a view shows of an array.

    Raises:
        DriverError: INVALID_VALUE; NOT_SUPPORTED for compressed formats.
    """
    base = texels.base
    format_, channels = base.format, base.channels
    if view.format > len(VIEW_FORMATS) + BLOCK_FORMATS:
        raise failure("INVALID_VALUE", f"there is no format {view.format:#x} of a view")
    if view.format > len(VIEW_FORMATS):
        raise failure("NOT_SUPPORTED", f"a view of the format {view.format:#x}: compressed in blocks")
    if view.format:
        format_, channels = VIEW_FORMATS[view.format - 1]
    if format_.bytes * channels != base.texel or texels.linear:
        raise failure("INVALID_VALUE", f"a view of the format {view.format:#x} of a {texels}")
    if (view.width, view.height or 1) != (base.width, base.height):
        raise failure("INVALID_VALUE", f"a view of {view.width} by {view.height} texels of a {texels}")
    levels = texels.levels[view.first_level : view.last_level + 1]
    layers = view.last_layer - view.first_layer + 1
    if (
        not levels
        or view.last_level >= len(texels.levels)
        or not 1 <= layers <= base.layers - view.first_layer
    ):
        raise failure("INVALID_VALUE", f"levels or layers of a view beyond those of a {texels}")

    def shown(level: TexelLevel) -> TexelLevel:
        at = level.address + view.first_layer * level.layer
        return replace(level, format=format_, channels=channels, layers=layers, address=at)

    return replace(texels, levels=tuple(shown(level) for level in levels))


def new_texture(
    context: VirtualContext, request: ResourceRequest, sampling: SamplerRequest, view: ViewRequest | None
) -> Texture:
    """A texture.

    Raises:
        DriverError: INVALID_VALUE where the parts don't go together, and as above.
    """
    texels, sampler = texels_of(context, request), sampling.sampler()
    if view is not None:
        texels = viewed(texels, view)
    fractions = not sampling.flags & AS_INTEGER and texels.base.format.fraction
    if texels.mipmapped and not sampler.normalized:
        raise failure("INVALID_VALUE", "a mipmap needs normalized coordinates")
    numbers = fractions or texels.base.format.kind is ChannelKind.FLOAT or texels.linear
    if sampler.linear and not numbers:
        raise failure("INVALID_VALUE", "a linear filter of integers")
    if sampler.seamless and texels.base.geometry not in (Geometry.CUBE, Geometry.ARRAY_CUBE):
        raise failure("INVALID_VALUE", "seamless filters of what is no cube")
    return Texture(texels, sampler, fractions)


def new_surface(context: VirtualContext, request: ResourceRequest) -> Surface:
    """A surface.

    Raises:
        DriverError: INVALID_VALUE, the resource is no array that was made for it.
    """
    if request.type != ResourceType.ARRAY:
        raise failure("INVALID_VALUE", "a surface of something else than an array")
    found = _array_of(context, request)
    if not found.flags & SURFACE:
        raise failure(
            "INVALID_VALUE", "a surface of an array that was made without CUDA_ARRAY3D_SURFACE_LDST"
        )
    return Surface(found.level)
