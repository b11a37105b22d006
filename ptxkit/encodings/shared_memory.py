"""Shared-memory matrix descriptors: what `wgmma` and `tcgen05` read matrices through.

Offsets and addresses are bytes and multiples of 16; the hardware keeps 14 bits of each, so they
stay below 256 KiB. What LBO and SBO mean depends on the major-ness and the swizzle; `ptxkit.layouts`
computes both for every canonical layout.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.bits import Word64, bits
from ptxkit.diagnostics import Diagnostic

BASE_OFFSET = "P410"
ABSOLUTE_MODE = "P411"


PATTERN_BYTES = {"32B": 256, "64B": 512, "128B": 1024, "128B-32B-atom": 1024}
"""Bytes after which the swizzle of a matrix repeats; 9.7.16.4.1, table 41."""


def base_offset(pattern_start: int, swizzle: str) -> int:
    """The base offset of a matrix whose swizzle pattern starts at shared address `pattern_start`.

    0 where the pattern starts at a multiple of its own size (`PATTERN_BYTES`), which is where tensor
    copies put it when the buffer is so aligned. PTX ISA 9.7.16.4.1.
    """
    if swizzle == "none" or pattern_start % PATTERN_BYTES[swizzle] == 0:
        return 0
    return pattern_start // 128 % 8


class SmemDescWgmma(Word64):
    """Shared-memory matrix descriptor of `wgmma`."""

    KIND = "smem.wgmma"
    SECTION = "PTX ISA 9.7.15.5.1.2.2, matrix descriptor format"

    address = bits[13:0].scaled(16, "matrix start address, bytes")
    reserved_14 = bits[15:14].reserved()
    leading_byte_offset = bits[29:16].scaled(
        16, "leading dimension byte offset; unread where K-major and swizzled"
    )
    reserved_30 = bits[31:30].reserved()
    stride_byte_offset = bits[45:32].scaled(16, "stride dimension byte offset")
    reserved_46 = bits[48:46].reserved()
    base_offset = (
        bits[51:49].about("(pattern start / 128) % 8 where the swizzle pattern is not aligned").default(0)
    )
    reserved_52 = bits[61:52].reserved()
    swizzle = bits[63:62].enum({"none": 0, "128B": 1, "64B": 2, "32B": 3}, "swizzling mode")

    def rules(self) -> Iterator[Diagnostic]:
        """The base offset belongs to a swizzle pattern."""
        yield from _base_offset_needs_swizzle(self)


class SmemDescTcgen05(Word64):
    """Shared-memory matrix descriptor of `tcgen05.mma` and `tcgen05.cp`."""

    KIND = "smem.tcgen05"
    SECTION = "PTX ISA 9.7.16.4.1, table 40"

    address = bits[13:0].scaled(16, "matrix start address, bytes")
    reserved_14 = bits[15:14].reserved()
    leading_byte_offset = bits[29:16].scaled(
        16, "leading dimension byte offset, or the address of the second chunk"
    )
    reserved_30 = bits[31:30].reserved()
    stride_byte_offset = bits[45:32].scaled(16, "stride dimension byte offset")
    constant = bits[48:46] == 0b001
    base_offset = (
        bits[51:49].about("(pattern start / 128) % 8 where the swizzle pattern is not aligned").default(0)
    )
    leading_mode = (
        bits[52].enum({"relative": 0, "absolute": 1}, "leading dimension stride mode").default("relative")
    )
    reserved_53 = bits[60:53].reserved("reserved, 0 (the manual's 0xb00000000 is a misprint of 0b00000000)")
    swizzle = bits[63:61].enum(
        {"none": 0, "128B-32B-atom": 1, "128B": 2, "64B": 4, "32B": 6}, "swizzling mode and atomicity"
    )

    def moved(self, distance: int) -> SmemDescTcgen05:
        """The descriptor of the same matrix `distance` bytes further on."""
        both = {"address": self.address + distance}
        if self.leading_mode == "absolute":
            both["leading_byte_offset"] = self.leading_byte_offset + distance
        return self.replace(**both)

    def rules(self) -> Iterator[Diagnostic]:
        """The base offset belongs to a swizzle pattern; what absolute mode allows (9.7.16.3.1.2.1)."""
        yield from _base_offset_needs_swizzle(self)
        if self.leading_mode == "absolute":
            where = "PTX ISA 9.7.16.3.1.2.1: restrictions on the absolute address stride mode"
            if self.swizzle != "128B":
                message = f"`leading_mode` absolute needs `swizzle` 128B, found {self.swizzle}"
                yield Diagnostic(ABSOLUTE_MODE, message, notes=(where,))
            if self.base_offset:
                message = f"`leading_mode` absolute needs `base_offset` 0, found {self.base_offset}"
                yield Diagnostic(ABSOLUTE_MODE, message, notes=(where,))


def _base_offset_needs_swizzle(word: SmemDescWgmma | SmemDescTcgen05) -> Iterator[Diagnostic]:
    if word.swizzle == "none" and word.base_offset:
        message = f"`base_offset` must be 0 where `swizzle` is none, found {word.base_offset}"
        yield Diagnostic(BASE_OFFSET, message, notes=(word.SECTION,))
