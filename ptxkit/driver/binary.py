"""Cubins and fatbins: whether a file is one, and whole. The driver trusts their headers and reads on.

ELF-64 (cubin): System V ABI, ELF header and section headers. Fatbin: magic, version, header size, then the
size of what follows (`fatbinary_section.h` of the CUDA toolkit).
"""

from __future__ import annotations

import struct

from ptxkit.diagnostics import counted, error

CUBIN, FATBIN = b"\x7fELF", b"\x50\xed\x55\xba"

_ELF = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BITS = 8
_FAT = struct.Struct("<IHHQ")


def is_binary(data: bytes) -> bool:
    """Whether data begins like a cubin or a fatbin."""
    return data[:4] in (CUBIN, FATBIN)


def check_binary(name: str, data: bytes) -> None:
    """Refuse what the driver would not survive.

    Raises:
        PtxkitError: P710, neither cubin nor fatbin, or not whole.
    """
    if not is_binary(data):
        found = f"{counted(len(data), 'byte')} that begin with {data[:4].hex(' ') or 'nothing'}"
        raise error("P710", f"expected a cubin or a fatbin in `{name}`, found {found}")
    needed = _elf_size(data) if data[:4] == CUBIN else _fatbin_size(data)
    if needed > len(data):
        message = f"`{name}` is cut short: expected {counted(needed, 'byte')}, found {len(data)}"
        raise error("P710", message, help="make it again")


def _elf_size(data: bytes) -> int:
    """Bytes up to the end of the last section, and of both tables of headers."""
    if len(data) < _ELF.size:
        return _ELF.size
    *_, programs_at, sections_at, _, _, program, programs, section, sections, _ = _ELF.unpack_from(data)
    needed = max(_ELF.size, programs_at + program * programs, sections_at + section * sections)
    if needed <= len(data) and section >= _SECTION.size:
        for at in range(sections_at, sections_at + section * sections, section):
            _, kind, _, _, offset, size, *_ = _SECTION.unpack_from(data, at)
            if kind != _NO_BITS:
                needed = max(needed, offset + size)
    return int(needed)


def _fatbin_size(data: bytes) -> int:
    if len(data) < _FAT.size:
        return _FAT.size
    _, _, header, content = _FAT.unpack_from(data)
    return int(header + content)
