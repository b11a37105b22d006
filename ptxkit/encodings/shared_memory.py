"""Shared-memory matrix descriptors: what `wgmma` and `tcgen05` read matrices through.

Offsets and addresses are bytes and multiples of 16; the hardware keeps 14 bits of each, so they stay
below 256 KiB, or 15 of addresses on sm_107, 512 KiB. What LBO and SBO mean depends on the major-ness and
the swizzle; `ptxkit.layouts` computes both for every canonical layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.bits import Field, Word64, bits
from ptxkit.diagnostics import Diagnostic
from ptxkit.encodings.targeted import Targeted

BASE_OFFSET = "P410"
ABSOLUTE_MODE = "P411"


NARROW = 1 << 18
"""Addresses and offsets below it fit 14 bits, in units of 16 bytes."""
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


class _SmemDesc(Word64, abstract=True):
    __slots__ = ()

    address = bits[13:0].scaled(16, "matrix start address, bytes")
    reserved_14 = bits[15:14].reserved()
    reserved_30 = bits[31:30].reserved()
    stride_byte_offset = bits[45:32].scaled(16, "stride dimension byte offset")
    base_offset = (
        bits[51:49].about("(pattern start / 128) % 8 where the swizzle pattern is not aligned").default(0)
    )
    swizzle: ClassVar[Field[str]]

    def rules(self) -> Iterator[Diagnostic]:
        """The base offset belongs to a swizzle pattern."""
        if self.swizzle == "none" and self.base_offset:
            message = f"`base_offset` must be 0 where `swizzle` is none, found {self.base_offset}"
            yield Diagnostic(BASE_OFFSET, message, notes=(self.SECTION,))


class SmemDescWgmma(_SmemDesc):
    """Shared-memory matrix descriptor of `wgmma`."""

    __slots__ = ()
    KIND = "smem.wgmma"
    SECTION = "PTX ISA 9.7.15.5.1.2.2, matrix descriptor format"

    leading_byte_offset = bits[29:16].scaled(
        16, "leading dimension byte offset; unread where K-major and swizzled"
    )
    reserved_46 = bits[48:46].reserved()
    reserved_52 = bits[61:52].reserved()
    swizzle = bits[63:62].enum({"none": 0, "128B": 1, "64B": 2, "32B": 3}, "swizzling mode")


class SmemDescTcgen05(Targeted, _SmemDesc):
    """Shared-memory matrix descriptor of `tcgen05.mma` and `tcgen05.cp`; table 40 is table 49 of 9.4."""

    __slots__ = ()
    KIND = "smem.tcgen05"
    SECTION = "PTX ISA 9.7.16.4.1, table 40"

    address = bits[14:0].scaled(16, "matrix start address, bytes; from 0x40000 on `sm_107f`")
    reserved_15 = bits[15].reserved()
    leading_byte_offset = bits[30:16].scaled(
        16, "leading dimension byte offset, or the address of the second chunk"
    )
    reserved_31 = bits[31].reserved()
    constant = bits[48:46] == 0b001
    leading_mode = (
        bits[52].enum({"relative": 0, "absolute": 1}, "leading dimension stride mode").default("relative")
    )
    lut_segment = (
        bits[53]
        .enum({0: 0, 24: 1}, "bytes of every 48 of B that `.decompress::lut::b` passes over (`sm_107f`)")
        .default(0)
    )
    reserved_54 = bits[60:54].reserved("reserved, 0 (the manual's 0xb00000000 is a misprint of 0b00000000)")
    swizzle = bits[63:61].enum(
        {"none": 0, "128B-32B-atom": 1, "128B": 2, "64B": 4, "32B": 6}, "swizzling mode and atomicity"
    )

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """As the base: addresses of 15 bits, and where indexes of look-up tables begin."""
        for name in ("address", "leading_byte_offset"):
            if getattr(self, name) >= NARROW:
                yield f"`{name}` of {getattr(self, name):#x}", ("sm_107f",)
        if self.lut_segment:
            yield f"`lut_segment` {self.lut_segment}", ("sm_107f",)

    @classmethod
    def without_idle_offset(cls, word: int) -> int:
        """A word without the base offset that nothing is swizzled by: hardware does not read it there.

        Triton sets it in pieces of matrices that are not swizzled (its scale factors), and is right on B200s.
        """
        return word if cls.swizzle.extract(word) else word & ~cls.base_offset.place(7)

    def moved(self, distance: int) -> SmemDescTcgen05:
        """The descriptor of the same matrix `distance` bytes further on."""
        both = {"address": self.address + distance}
        if self.leading_mode == "absolute":
            both["leading_byte_offset"] = self.leading_byte_offset + distance
        return self.replace(**both)

    def rules(self) -> Iterator[Diagnostic]:
        """As the base, and what absolute mode allows (9.7.16.3.1.2.1)."""
        yield from super().rules()
        if self.leading_mode == "absolute":
            where = "PTX ISA 9.7.16.3.1.2.1: restrictions on the absolute address stride mode"
            for name, only in (("swizzle", "128B"), ("base_offset", 0)):
                if (found := getattr(self, name)) != only:
                    message = f"`leading_mode` absolute needs `{name}` {only}, found {found}"
                    yield Diagnostic(ABSOLUTE_MODE, message, notes=(where,))
