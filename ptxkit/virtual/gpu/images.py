"""What programs hand to the driver as code, and the PTX in it: text, fat binaries with several, ELF without.

A fat binary is a header and entries, each a header and its payload: PTX or machine code, plain or
compressed by LZ4 or Zstandard. Of the PTX texts the one is taken that the driver would compile for the
device.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ptxkit import targets
from ptxkit.virtual.abi import memory
from ptxkit.virtual.gpu.compression import lz4_block, zstandard_frame
from ptxkit.virtual.results import failure

ELF = b"\x7fELF"
FAT = struct.pack("<I", 0xBA55ED50)
WRAPPER = struct.pack("<I", 0x466243B1)
"""The first bytes of an image; of a wrapper, which holds the address of a fat binary."""
CUDA_MACHINE = 190
"""`e_machine` of machine code for a GPU."""
_PTX, _MACHINE_CODE = 1, 2
_LZ4, _ZSTANDARD = 0x2000, 0x8000
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.M)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a fat binary.

    Attributes:
        kind: 1 for PTX, 2 for machine code.
        number: of the architecture, 90.
        flags: how it is compressed.
        payload: as it lies there.
        size: bytes that it has when it is not compressed.
    """

    kind: int
    number: int
    flags: int
    payload: bytes
    size: int

    def text(self) -> str:
        """The PTX.

        Raises:
            DriverError: JIT_COMPILER_NOT_FOUND, it is compressed by what is not installed; INVALID_IMAGE.
        """
        data = self.payload
        if self.flags & _ZSTANDARD:
            data = zstandard_frame(data, self.size)
        elif self.flags & _LZ4:
            data = lz4_block(data, self.size)
        return data.rstrip(b"\0").decode("utf-8", "replace")


def ptx_of(address: int, target: targets.Target) -> str:
    """The PTX of an image for a device.

    Args:
        address: of PTX that ends with a zero byte, a fat binary, or the wrapper of one.
        target: that the device plays.

    Raises:
        DriverError: NO_BINARY_FOR_GPU, there is machine code alone or PTX for other devices; INVALID_IMAGE.
    """
    if not address:
        raise failure("INVALID_VALUE", "the image is null")
    head = memory(address, 4)
    if head == WRAPPER:
        (address,) = struct.unpack("<Q", memory(address + 8, 8))
        if not address:
            raise failure("INVALID_IMAGE", "the wrapper has no fat binary")
        head = memory(address, 4)
    if head == ELF and struct.unpack_from("<H", memory(address, 64), 18)[0] != CUDA_MACHINE:
        raise failure("INVALID_IMAGE", "the image is machine code of something else than a GPU")
    if head == ELF:
        raise failure("NO_BINARY_FOR_GPU", "the image is machine code: only PTX runs on a virtual GPU")
    if head != FAT:
        return _text_at(address)
    entries = list(_entries(address))
    if not entries:
        raise failure("INVALID_IMAGE", "the fat binary is empty")
    texts = [entry.text() for entry in entries if entry.kind == _PTX]
    best = best_for(target, texts)
    if best is None:
        found = ", ".join(sorted({_describe(text) for text in texts})) or "machine code alone"
        help = f"compile with `-gencode arch=compute_{target.name[3:]},code=compute_{target.name[3:]}`"
        raise failure("NO_BINARY_FOR_GPU", f"no PTX of the fat binary runs on {target.name}: {found}; {help}")
    return best


def best_for(target: targets.Target, texts: list[str]) -> str | None:
    """The text that a driver would take: one for exactly this target, else the newest that runs on it."""
    ranked = []
    for text in texts:
        named = _TARGET.search(text)
        own = targets.parse(named[1]) if named else None
        if own is None or not own.runs_on(target.capability):
            continue
        ranked.append(((own.suffix == "a", own.suffix == "f", own.number), text))
    return max(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _describe(text: str) -> str:
    named = _TARGET.search(text)
    return f"PTX for {named[1]}" if named else "PTX without a target"


def _text_at(address: int) -> str:
    import ctypes

    data = ctypes.string_at(address)
    text = data.decode("utf-8", "replace")
    if ".version" not in text:
        raise failure("INVALID_IMAGE", f"expected PTX, a fat binary or ELF, found {data[:16]!r}")
    return text if text.endswith("\n") else text + "\n"


def _entries(address: int) -> Iterator[Entry]:
    _, header, size = struct.unpack("<4xHHQ", memory(address, 16))
    at, end = address + header, address + header + size
    while at < end:
        kind, _, header, size = struct.unpack("<HHIQ", memory(at, 16))
        if header < 64 or not size:
            raise failure("INVALID_IMAGE", "an entry of the fat binary has no header")
        fields = memory(at, 64)
        (compressed,), (number,) = struct.unpack_from("<I", fields, 16), struct.unpack_from("<I", fields, 28)
        (flags,), (whole,) = struct.unpack_from("<Q", fields, 40), struct.unpack_from("<Q", fields, 56)
        payload = memory(at + header, compressed or size) if kind == _PTX else b""
        yield Entry(kind, number, flags, payload, whole)
        at += header + size
