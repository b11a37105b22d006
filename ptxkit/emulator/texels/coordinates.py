"""From coordinates along one axis to texels and weights. CUDA C++ Programming Guide, "Texture memory" and
"Texture fetching"."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.texels.objects import AddressMode

FRACTION_BITS = 8
"""Of the weights of a linear filter."""
ONE = 1 << FRACTION_BITS
FAR = float(1 << 30)
"""Where coordinates end: far outside every texture."""
NORMALIZED_BITS = 21
"""Bits of fraction that normalized coordinates have."""
CUT = float(1 << NORMALIZED_BITS)
SMALLEST = np.finfo(np.float32).tiny


class Texels(NamedTuple):
    """Texels along an axis.

    Attributes:
        number: theirs, in range.
        inside: where they are texels; None where all are, else others have the border's colour.
    """

    number: np.ndarray
    inside: Any = None


class Neighbors(NamedTuple):
    """Two neighbours, and the weight of the upper one in units of 1/256."""

    lower: Texels
    upper: Texels
    weight: np.ndarray


def addressed(index: np.ndarray, extent: Any, mode: AddressMode | None) -> Texels:
    """Texels by numbers that may be out of range; without a mode they stay so."""
    if mode is None:
        return Texels(index)
    if mode is AddressMode.WRAP:
        return Texels(index % extent)
    if mode is AddressMode.MIRROR:
        turn = index % (2 * extent)
        return Texels(np.where(turn < extent, turn, 2 * extent - 1 - turn))
    clamped = np.clip(index, 0, extent - 1)
    return Texels(clamped, clamped == index if mode is AddressMode.BORDER else None)


def scaled(x: np.ndarray, extent: Any, normalized: bool) -> np.ndarray:
    """Coordinates in texels, float64, before the address mode.

    Normalized ones are cut off behind `NORMALIZED_BITS` of fraction first, and the product is exact;
    subnormal numbers count as 0. So does an H200; the guide leaves the precision open.

    Args:
        x: float32; what is no number counts as 0.
        extent: texels of the axis.
        normalized: whether they go from 0 to 1.
    """
    wide = np.where(np.abs(x) >= SMALLEST, x, np.float32(0)).astype(np.float64)
    wide = np.clip(wide, -FAR, FAR)
    if normalized:
        wide = np.floor(wide * CUT) / CUT * extent
    return wide


def effective(mode: AddressMode | None, normalized: bool) -> AddressMode | None:
    """The mode that holds: coordinates that are not normalized are neither wrapped nor mirrored."""
    if not normalized and mode in (AddressMode.WRAP, AddressMode.MIRROR):
        return AddressMode.CLAMP
    return mode


def nearest(x: np.ndarray, extent: Any, mode: AddressMode, normalized: bool, shift: Any) -> Texels:
    """The texel at a coordinate: T[floor(x)]. `shift`: texels to add."""
    index = np.floor(scaled(x, extent, normalized)).astype(np.int64)
    return addressed(index + shift, extent, effective(mode, normalized))


def linear(x: np.ndarray, extent: Any, mode: AddressMode | None, normalized: bool, shift: Any) -> Neighbors:
    """The two texels round a coordinate, with weights in fixed point. `shift`: texels to add.

    `clamp` holds for the coordinate, as on an H200: beyond the centre of the last texel there is no fraction,
    which matters where what is left of a weight is rounded."""
    mode = effective(mode, normalized)
    fixed = np.floor(scaled(x, extent, normalized) * ONE + 0.5).astype(np.int64) - ONE // 2
    index, weight = (fixed >> FRACTION_BITS) + shift, fixed & (ONE - 1)
    lower, upper = addressed(index, extent, mode), addressed(index + 1, extent, mode)
    if mode is AddressMode.CLAMP:
        weight = np.where(lower.number == upper.number, 0, weight)
    return Neighbors(lower, upper, weight)
