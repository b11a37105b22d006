"""The channels of texels: how they lie in memory, and what a fetch gives. Driver API, `CUarray_format`."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np


class ChannelKind(Enum):
    """What the bits of a channel are, with the channel data types of OpenCL by the bytes of a channel, which
    `txq` answers (PTX ISA 5.3.3)."""

    UNSIGNED = {1: 0x10DA, 2: 0x10DB, 4: 0x10DC}
    SIGNED = {1: 0x10D7, 2: 0x10D8, 4: 0x10D9}
    FLOAT = {2: 0x10DD, 4: 0x10DE}


NORMALIZED_TYPES = {
    (ChannelKind.SIGNED, 1): 0x10D0,
    (ChannelKind.SIGNED, 2): 0x10D1,
    (ChannelKind.UNSIGNED, 1): 0x10D2,
    (ChannelKind.UNSIGNED, 2): 0x10D3,
}
"""The same for integers that are read as fractions."""
CHANNEL_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
"""The channel orders of OpenCL by the number of channels: R, RG, RGBA."""
ONE = 0x3F800000
"""1.0 of f32."""


class ChannelFormat(NamedTuple):
    """The format of a channel.

    Attributes:
        name: of the type, as PTX has it.
        code: its `CUarray_format`.
        kind: what the bits are.
        dtype: numpy's.
    """

    name: str
    code: int
    kind: ChannelKind
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        """Of one channel."""
        return self.dtype.itemsize

    @property
    def fraction(self) -> bool:
        """Whether fetches can read it as a fraction: an integer of 8 or 16 bits."""
        return self.kind is not ChannelKind.FLOAT and self.bytes < 4

    def data_type(self, fractions: bool) -> int:
        """Its channel data type in OpenCL. `fractions`: whether it is read so."""
        return NORMALIZED_TYPES[self.kind, self.bytes] if fractions else self.kind.value[self.bytes]


def _format(name: str, code: int, kind: ChannelKind, dtype: Any) -> ChannelFormat:
    return ChannelFormat(name, code, kind, np.dtype(dtype))


FORMATS = {
    found.name: found
    for found in (
        _format("u8", 0x01, ChannelKind.UNSIGNED, np.uint8),
        _format("u16", 0x02, ChannelKind.UNSIGNED, np.uint16),
        _format("u32", 0x03, ChannelKind.UNSIGNED, np.uint32),
        _format("s8", 0x08, ChannelKind.SIGNED, np.int8),
        _format("s16", 0x09, ChannelKind.SIGNED, np.int16),
        _format("s32", 0x0A, ChannelKind.SIGNED, np.int32),
        _format("f16", 0x10, ChannelKind.FLOAT, np.float16),
        _format("f32", 0x20, ChannelKind.FLOAT, np.float32),
    )
}
"""By name."""
BY_CODE = {found.code: found for found in FORMATS.values()}
"""By `CUarray_format`."""
CHANNELS = (1, 2, 4)
"""How many channels a texel may have."""


def fetched(raw: np.ndarray, format: ChannelFormat, fractions: bool) -> np.ndarray:
    """What a fetch gives for channels.

    Args:
        raw: their bits, unsigned integers of the format's width.
        format: theirs.
        fractions: whether integers become fractions of their greatest value.

    Returns:
        uint32 of that shape: integers extended to 32 bits, numbers as f32.
    """
    values = raw.view(format.dtype)
    if format.kind is ChannelKind.FLOAT:
        return raw if format.bytes == 4 else _single(values)
    if fractions:
        return fractional(values, format).view(np.uint32)
    return values.astype(np.int32 if format.kind is ChannelKind.SIGNED else np.uint32).view(np.uint32)


def _single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).view(np.uint32)


def fractional(values: np.ndarray, format: ChannelFormat) -> np.ndarray:
    """Integers as fractions of the greatest one, float32 in [0, 1] or [-1, 1]. CUDA C++ Programming Guide,
    "Texture memory"; the least signed value is -1 as its neighbour is."""
    most = np.iinfo(format.dtype).max
    return np.maximum(values.astype(np.float64) / most, -1.0).astype(np.float32)


def stored(values: np.ndarray, format: ChannelFormat) -> np.ndarray:
    """What a formatted store (`sust.p`) writes for channels: f32 for numbers, else integers of 32 bits.

    Args:
        values: uint32.
        format: of the surface.

    Returns:
        Unsigned integers of the format's width.
    """
    width = np.dtype(f"u{format.bytes}")
    if format.kind is ChannelKind.FLOAT:
        return values if format.bytes == 4 else _toward_zero(values.view(np.float32))
    limits = np.iinfo(format.dtype)
    held = values.view(np.int32 if format.kind is ChannelKind.SIGNED else np.uint32)
    return np.clip(held, limits.min, limits.max).astype(format.dtype).view(width)


def _toward_zero(values: np.ndarray) -> np.ndarray:
    """Numbers as f16, cut off as on an H200: the bits."""
    with np.errstate(all="ignore"):
        near = values.astype(np.float16)
        beyond = np.abs(near.astype(np.float32)) > np.abs(values)
    return near.view(np.uint16) - beyond.astype(np.uint16)


def border_texel(border: tuple[float, float, float, float], format: ChannelFormat, fractions: bool) -> Any:
    """The texel that stands for what is beyond the border, as an H200 has it: its colour in the format.

    Fractions are clamped and rounded to those that there are, a half toward zero; numbers of f16 are cut off;
    where a fetch gives integers, the bits of the numbers are taken for them, of narrow ones the lowest.

    Returns:
        Unsigned integers of the format's width, (4,).
    """
    given, width = np.array(border, np.float32), np.dtype(f"u{format.bytes}")
    if format.kind is ChannelKind.FLOAT:
        return given.view(width) if format.bytes == 4 else _toward_zero(given)
    if fractions:
        least = -1.0 if format.kind is ChannelKind.SIGNED else 0.0
        held = np.clip(np.nan_to_num(given), least, 1.0) * np.float32(np.iinfo(format.dtype).max)
        return np.copysign(np.ceil(np.abs(held) - np.float32(0.5)), held).astype(format.dtype).view(width)
    return given.view(np.uint32).astype(width)
