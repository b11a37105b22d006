"""Texture reference management, surface reference management, both deprecated: what `.texref` and `.surfref`
variables of a module stand for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.objects import (
    AddressMode,
    OpaqueVariable,
    Sampler,
    Surface,
    Texture,
    initial_sampler,
)
from ptxkit.virtual.abi import ArrayDescriptor, Float, Int, Pointer, Size, UInt, put, put_if, several, text
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.textures import structure
from ptxkit.virtual.gpu.arrays import SURFACE, VirtualArray, VirtualMipmap
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import VirtualModule
from ptxkit.virtual.gpu.textures import (
    AS_INTEGER,
    NORMALIZED,
    SRGB,
    UNTOUCHED,
    ResourceRequest,
    ResourceType,
    texels_of,
)
from ptxkit.virtual.results import failure

FORMATTED = 1
"""The flag that a reference takes its format from the array: the only one, and necessary."""


class TextureReference(Object):
    """A texture reference.

    Attributes:
        context: of its module.
        variable: what it stands for in the module.
        array: the handle of the array that it is bound to; 0 for memory.
        format, channels: of memory that is bound to it.
        flags: `CU_TRSF_..`.
        texture: what kernels fetch from.
    """

    noun: ClassVar[str] = "texture reference"

    def __init__(self, context: VirtualContext, variable: OpaqueVariable) -> None:
        self.context = context
        self.variable = variable
        self.array = self.address = 0
        self.format, self.channels = 0x20, 1
        self.sampler = initial_sampler(variable.members).sampler
        self.flags = NORMALIZED if self.sampler.normalized else 0
        self.texels: TexelArray | None = None

    def update(self, sampler: Sampler | None = None) -> None:
        """Let the variable stand for what the reference says."""
        self.sampler = sampler or self.sampler
        if self.texels is None:
            return
        how = replace(self.sampler, normalized=bool(self.flags & NORMALIZED), srgb=bool(self.flags & SRGB))
        fractions = not self.flags & AS_INTEGER and self.texels.base.format.fraction
        self.variable.bound = Texture(self.texels, how, fractions)


class SurfaceReference(Object):
    """A surface reference. `array`: the handle of the array that it is bound to."""

    noun: ClassVar[str] = "surface reference"

    def __init__(self, variable: OpaqueVariable) -> None:
        self.variable = variable
        self.array = 0


def _variable(machine: Machine, module: int, name: int, kind: type[Texture | Surface]) -> Any:
    """The opaque variable of a module, and its context.

    Raises:
        DriverError: NOT_FOUND.
    """
    found = machine.handles.get(VirtualModule, module)
    address, _ = found.variable(text(name))
    variable = found.context.device.emulator.textures.variable(address)
    if variable is None or variable.kind is not kind:
        raise failure("NOT_FOUND", f"`{text(name)}` is no variable of that kind")
    return found.context, variable


@driver()
def cuModuleGetTexRef(machine: Machine, reference: int, module: int, name: int) -> None:
    context, variable = _variable(machine, module, name, Texture)
    known = (each for each in machine.handles.all(TextureReference) if each.variable is variable)
    found = next(known, None) or TextureReference(context, variable)
    put(reference, Pointer, found.handle or context.own(found))


@driver()
def cuModuleGetSurfRef(machine: Machine, reference: int, module: int, name: int) -> None:
    context, variable = _variable(machine, module, name, Surface)
    known = (each for each in machine.handles.all(SurfaceReference) if each.variable is variable)
    found = next(known, None) or SurfaceReference(variable)
    put(reference, Pointer, found.handle or context.own(found))


# ---- what is bound


def _formatted(flags: int) -> None:
    if flags != FORMATTED:
        raise failure("INVALID_VALUE", "expected CU_TRSA_OVERRIDE_FORMAT alone")


@driver()
def cuTexRefSetArray(machine: Machine, reference: int, array: int, flags: int) -> None:
    _formatted(flags)
    found, source = machine.handles.get(TextureReference, reference), machine.handles.get(VirtualArray, array)
    found.array, found.texels = array, source.texels
    found.format, found.channels = source.level.format.code, source.level.channels
    found.update()


@driver()
def cuTexRefSetMipmappedArray(machine: Machine, reference: int, mipmap: int, flags: int) -> None:
    _formatted(flags)
    found = machine.handles.get(TextureReference, reference)
    found.array, found.texels = mipmap, machine.handles.get(VirtualMipmap, mipmap).texels
    found.update()


@driver()
def cuTexRefSetFormat(machine: Machine, reference: int, format: int, channels: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    found.format, found.channels = format, channels


@driver("cuTexRefSetAddress_v2")
def cuTexRefSetAddress(machine: Machine, offset: int, reference: int, address: int, size: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    request = ResourceRequest(ResourceType.LINEAR, address, found.format, found.channels, size)
    found.texels, found.array, found.address = texels_of(found.context, request), 0, address
    put_if(offset, Size, 0)
    found.update()


@driver("cuTexRefSetAddress2D_v3", "cuTexRefSetAddress2D_v2")
def cuTexRefSetAddress2D(machine: Machine, reference: int, descriptor: int, address: int, pitch: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    given = structure(ArrayDescriptor, descriptor, "the descriptor of memory")
    request = ResourceRequest(
        ResourceType.PITCHED, address, given.format, given.channels, given.width, given.height, pitch
    )
    found.texels, found.array, found.address = texels_of(found.context, request), 0, address
    found.update()


@driver()
def cuSurfRefSetArray(machine: Machine, reference: int, array: int, flags: int) -> None:
    found, source = machine.handles.get(SurfaceReference, reference), machine.handles.get(VirtualArray, array)
    if flags or not source.flags & SURFACE:
        raise failure("INVALID_VALUE", "the array was made without CUDA_ARRAY3D_SURFACE_LDST")
    found.array, found.variable.bound = array, Surface(source.level)


@driver()
def cuSurfRefGetArray(machine: Machine, array: int, reference: int) -> None:
    put(array, Pointer, machine.handles.get(SurfaceReference, reference).array)


# ---- how it is sampled


def _sampled(machine: Machine, reference: int, **changes: Any) -> None:
    found = machine.handles.get(TextureReference, reference)
    found.update(replace(found.sampler, **changes))


@driver()
def cuTexRefSetAddressMode(machine: Machine, reference: int, axis: int, mode: int) -> None:
    if not 0 <= axis <= 2 or not 0 <= mode <= 3:
        raise failure("INVALID_VALUE", f"there is no axis {axis}, or no mode {mode}")
    modes = list(machine.handles.get(TextureReference, reference).sampler.address)
    modes[axis] = AddressMode(mode)
    _sampled(machine, reference, address=tuple(modes))


@driver()
def cuTexRefSetFilterMode(machine: Machine, reference: int, mode: int) -> None:
    _sampled(machine, reference, linear=bool(mode))


@driver()
def cuTexRefSetMipmapFilterMode(machine: Machine, reference: int, mode: int) -> None:
    _sampled(machine, reference, levels_linear=bool(mode))


@driver()
def cuTexRefSetMipmapLevelBias(machine: Machine, reference: int, bias: float) -> None:
    _sampled(machine, reference, level_bias=bias)


@driver()
def cuTexRefSetMipmapLevelClamp(machine: Machine, reference: int, least: float, most: float) -> None:
    _sampled(machine, reference, level_clamp=(least, most))


@driver()
def cuTexRefSetMaxAnisotropy(machine: Machine, reference: int, most: int) -> None:
    _sampled(machine, reference, anisotropy=min(max(most, 1), 16))


@driver()
def cuTexRefSetBorderColor(machine: Machine, reference: int, color: int) -> None:
    _sampled(machine, reference, border=tuple(several(color, Float, 4)))


@driver()
def cuTexRefSetFlags(machine: Machine, reference: int, flags: int) -> None:
    if flags & ~(AS_INTEGER | NORMALIZED | SRGB | UNTOUCHED):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of a texture reference")
    found = machine.handles.get(TextureReference, reference)
    found.flags = flags
    found.update()


# ---- what it says of itself

_ANSWERS: dict[str, tuple[Any, Callable[[TextureReference], Any]]] = {
    "FilterMode": (Int, lambda found: int(found.sampler.linear)),
    "MipmapFilterMode": (Int, lambda found: int(found.sampler.levels_linear)),
    "MipmapLevelBias": (Float, lambda found: found.sampler.level_bias),
    "MaxAnisotropy": (Int, lambda found: found.sampler.anisotropy),
    "Flags": (UInt, lambda found: found.flags),
    "Array": (Pointer, lambda found: found.array),
    "MipmappedArray": (Pointer, lambda found: found.array),
    "Address": (Size, lambda found: found.address),
}


def _register(name: str, kind: Any, answer: Callable[[TextureReference], Any]) -> None:
    @driver(f"cuTexRefGet{name}_v2" if name == "Address" else f"cuTexRefGet{name}")
    def ask(machine: Machine, into: int, reference: int) -> None:
        put(into, kind, answer(machine.handles.get(TextureReference, reference)))


for _name, _answer in _ANSWERS.items():
    _register(_name, *_answer)


@driver()
def cuTexRefGetAddressMode(machine: Machine, mode: int, reference: int, axis: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    if not 0 <= axis <= 2:
        raise failure("INVALID_VALUE", f"there is no axis {axis}")
    put(mode, Int, found.sampler.address[axis].value)


@driver()
def cuTexRefGetFormat(machine: Machine, format: int, channels: int, reference: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    put(format, Int, found.format)
    put(channels, Int, found.channels)


@driver()
def cuTexRefGetMipmapLevelClamp(machine: Machine, least: int, most: int, reference: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    for place, value in zip((least, most), found.sampler.level_clamp, strict=True):
        put(place, Float, value)


@driver()
def cuTexRefGetBorderColor(machine: Machine, color: int, reference: int) -> None:
    found = machine.handles.get(TextureReference, reference)
    if not color:
        raise failure("INVALID_VALUE", "the color has no place")
    ctypes.memmove(color, bytes((Float * 4)(*found.sampler.border)), 16)
