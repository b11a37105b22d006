"""Swizzles: how shared memory permutes the chunks of rows. PTX ISA 5.5.7, 9.7.16.10.6.

A swizzle XORs a few low bits of the byte address with higher ones, so applying it twice gives the
address back. It works on absolute shared-memory addresses: a tile that starts inside a pattern keeps
the pattern's phase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptxkit.diagnostics import error

LAYOUT_ARGUMENT = "P470"
LAYOUT_UNSUPPORTED = "P471"


class SwizzlePattern(NamedTuple):
    """CuTe's `Swizzle<bits, base, shift>` on byte addresses.

    Attributes:
        bits: how many address bits change.
        base: the lowest of them; chunks of `2**base` bytes stay whole.
        shift: how far above it the bits are that are XORed in.
        row_bytes: bytes of a row; a repeat of the pattern is `2**bits` lines of 128 bytes.
    """

    bits: int
    base: int
    shift: int
    row_bytes: int


PATTERNS = {
    "none": SwizzlePattern(0, 4, 3, 16),
    "32B": SwizzlePattern(1, 4, 3, 32),
    "64B": SwizzlePattern(2, 4, 3, 64),
    "96B": SwizzlePattern(1, 4, 3, 96),
    "128B": SwizzlePattern(3, 4, 3, 128),
    "128B-32B-atom": SwizzlePattern(2, 5, 2, 128),
    "128B-32B-atom-8B-flip": SwizzlePattern(2, 5, 2, 128),
    "128B-64B-atom": SwizzlePattern(1, 6, 1, 128),
}
"""Every swizzle of tensor maps; the matrix descriptors know `none`, `32B`, `64B`, `128B`, `128B-32B-atom`."""


def pattern(swizzle: str) -> SwizzlePattern:
    """The pattern called `swizzle`.

    Raises:
        PtxkitError: P470, there is none.
    """
    if swizzle not in PATTERNS:
        raise error(LAYOUT_ARGUMENT, f"`swizzle` must be one of {', '.join(PATTERNS)}, found {swizzle}")
    return PATTERNS[swizzle]


def swizzle_address(address: np.ndarray | int, swizzle: str, base_offset: int = 0) -> np.ndarray:
    """Where the byte that would be at `address` lies; its own inverse.

    Args:
        address: byte addresses in shared memory.
        swizzle: a key of `PATTERNS`. With `128B-32B-atom-8B-flip` the halves of each 16 bytes also
            change places in every odd line of 128 bytes.
        base_offset: the descriptor's: lines of 128 bytes by which the pattern starts late.
    """
    bits, base, shift, _ = pattern(swizzle)
    address = np.asarray(address, dtype=np.int64)
    line = address - 128 * base_offset
    mask = (1 << bits) - 1 << base
    moved = address ^ (line >> shift & mask)
    if swizzle.endswith("8B-flip"):
        moved = moved ^ (line >> 7 & 1) << 3
    return moved
