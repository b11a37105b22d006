"""What `txq` and `suq` answer. PTX ISA 5.3, 9.7.10.5, 9.7.11.4."""

from __future__ import annotations

from ptxkit.emulator.texels.arrays import AXES, FACES, LAYERED, TexelLevel
from ptxkit.emulator.texels.formats import CHANNEL_ORDERS
from ptxkit.emulator.texels.objects import AddressMode, Sampler, SamplerObject, Surface, Texture
from ptxkit.isa.modifiers import Geometry, OpaqueField

ADDRESS_MODES = {
    AddressMode.WRAP: 0,
    AddressMode.MIRROR: 1,
    AddressMode.CLAMP: 3,
    AddressMode.BORDER: 4,
}
"""The modes in the order of the manual's enumeration; `clamp_ogl` is none of CUDA's."""
_AXES = {OpaqueField.WIDTH: 0, OpaqueField.HEIGHT: 1, OpaqueField.DEPTH: 2}
_MODES = {OpaqueField.ADDR_MODE_0: 0, OpaqueField.ADDR_MODE_1: 1, OpaqueField.ADDR_MODE_2: 2}


def answer(field: OpaqueField, thing: Texture | Surface | SamplerObject, level: int = 0) -> int:
    """The value of a field of an object. `level`: of the mipmap, for an extent."""
    if isinstance(thing, SamplerObject):
        if field is OpaqueField.FORCE_UNNORMALIZED_COORDS:
            return int(thing.unnormalized)
        return _of_sampler(field, thing.sampler)
    if isinstance(thing, Surface):
        return _of_texels(field, thing.level, False)
    if field is OpaqueField.NUM_MIPMAP_LEVELS:
        return len(thing.array.levels) if thing.array.mipmapped else 0
    if field is OpaqueField.NORMALIZED_COORDS:
        return int(thing.sampler.normalized)
    if field is OpaqueField.FILTER_MODE or field in _MODES:
        return _of_sampler(field, thing.sampler)
    if level >= len(thing.array.levels):
        return 0
    texels = thing.array.levels[level]
    if field is OpaqueField.HEIGHT and texels.geometry is Geometry.D1 and not thing.array.linear:
        return 1  # An H200 has it as one row.
    return _of_texels(field, texels, thing.fractions and texels.format.fraction)


def _of_sampler(field: OpaqueField, sampler: Sampler) -> int:
    if field is OpaqueField.FILTER_MODE:
        return int(sampler.linear)
    return ADDRESS_MODES[sampler.address[_MODES[field]]]


def _of_texels(field: OpaqueField, texels: TexelLevel, fractions: bool) -> int:
    if field in _AXES:
        axis, axes = _AXES[field], AXES[texels.geometry]
        # The layers come as one more axis, as on an H200.
        return texels.extents[axis] if axis < axes else _layers(texels) if axis == axes else 0
    if field is OpaqueField.CHANNEL_DATA_TYPE:
        return texels.format.data_type(fractions)
    if field is OpaqueField.CHANNEL_ORDER:
        return CHANNEL_ORDERS[texels.channels]
    return _layers(texels) if field is OpaqueField.ARRAY_SIZE else 0


def _layers(texels: TexelLevel) -> int:
    """How many there are to index; 0 where there are none."""
    if texels.geometry not in LAYERED:
        return 0
    return texels.layers // FACES if texels.geometry is Geometry.ARRAY_CUBE else texels.layers
