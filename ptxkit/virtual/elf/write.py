"""The bytes of a shared library: ELF64, little-endian. System V gABI 4.1, with GNU's symbol versions."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ptxkit.virtual.elf.aarch64 import AArch64
from ptxkit.virtual.elf.assembly import IMPORTS, EntryCode, boot_code
from ptxkit.virtual.elf.x86_64 import X86_64

MACHINES: dict[str, type[EntryCode]] = {"x86_64": X86_64, "aarch64": AArch64}
"""By what `os.uname().machine` says."""
TABLE = "ptxkit_table"
"""The exported symbol of the table: a word a symbol, in their order."""
END = "ptxkit_end"
"""An exported function without arguments: from then on no entry needs Python."""
RESTORE = "ptxkit_restore"
"""An exported function, the destructor of a capsule of Python's: it calls the fourth word that the capsule
points to, with the first three as arguments."""

PAGE = 1 << 16
"""The largest page of the machines."""
NEEDED = ("libc.so.6", "libdl.so.2", "libpthread.so.0")
"""Older C libraries have the imports in the last two."""

_HEADER, _SEGMENT, _SYMBOL, _RELOCATION = 64, 56, 24, 24
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_READ_EXECUTE, _READ_WRITE = 5, 6
_SECTION = 64
_NULL, _PROGRAM_BITS, _SYMBOL_TABLE, _STRING_TABLE, _HASH_TABLE, _DYNAMIC_TABLE = 0, 1, 11, 3, 5, 6
_VERSION_NUMBERS, _VERSION_TABLE = 0x6FFFFFFF, 0x6FFFFFFD
_WRITTEN, _ALLOCATED, _EXECUTED = 1, 2, 4
_TEXT_SECTION, _DATA_SECTION = 4, 6
_FUNCTION, _OBJECT = 0x12, 0x11  # of global binding


class _Strings:
    """A string table."""

    def __init__(self) -> None:
        self.data = bytearray(1)
        self._at: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._at[text]


def shared_object(
    soname: str,
    symbols: Sequence[str],
    machine: str,
    *,
    libpython: str,
    executable: str,
    program: str,
    failure: int,
    ended: int,
    pointers: Sequence[int] = (),
    version: str | None = None,
) -> bytes:
    """The bytes of a library.

    Args:
        soname: its name.
        symbols: what it exports besides `TABLE`.
        machine: one of `MACHINES`.
        libpython: the file that is loaded where a process has no Python when it first calls.
        executable: the Python that is then begun, as from this command: its packages are to be found.
        program: what runs in Python at the first call; it fills the table.
        failure: what a call returns whose slot is empty then.
        ended: what a call returns after `END`.
        pointers: the numbers of the symbols that return an address; after `END` they return 0.
        version: of the symbols, where they have one.
    """
    assembly = MACHINES[machine]()
    for index in range(len(symbols)):
        assembly.entry(index)
    assembly.start(failure)
    _write_end(assembly, len(symbols), ended, pointers)
    names: set[str] = set()
    boot_code(assembly, names)
    texts = {f"text.{name}": name.encode() + b"\0" for name in sorted(names)}
    texts["text.libpython"] = libpython.encode() + b"\0"
    texts["text.executable"] = executable.encode("utf-32-le") + bytes(4)
    texts["text.program"] = program.encode() + b"\0"

    strings = _Strings()
    everything = [*IMPORTS, *symbols, END, RESTORE, TABLE]
    offsets = [strings(name) for name in everything]
    named = [strings(name) for name in (soname, version or soname, *NEEDED)]

    # ---- what is read and executed, from offset 0
    layout = _Layout(_HEADER + 4 * _SEGMENT)
    layout.put("hash", _hash_table(everything), 8)
    layout.reserve("symbols", _SYMBOL * (len(everything) + 1), 8)
    layout.put("strings", bytes(strings.data), 1)
    layout.put("versions", _versions(len(symbols) + 3) if version else b"", 2)
    layout.put("definitions", _definitions(soname, version, named) if version else b"", 8)
    layout.reserve("relocations", _RELOCATION * len(IMPORTS), 8)
    for label, data in texts.items():
        layout.put(label, data, 8)
    layout.reserve("code", len(assembly.code), 64)
    executable_end = layout.end
    # ---- what is written
    layout.end = -(-layout.end // PAGE) * PAGE
    writable = layout.end
    tags = 16 if version else 13
    layout.reserve("dynamic", 16 * tags, 8)
    for name in IMPORTS:
        layout.reserve(f"import.{name}", 8, 8)
    layout.reserve("once", 8, 8)
    layout.reserve("table", 8 * len(symbols), 64)

    at = layout.at
    layout.fill("code", assembly.linked(at["code"], at))
    entries = bytearray(_SYMBOL)
    for offset in offsets[: len(IMPORTS)]:
        entries += struct.pack("<IBBHQQ", offset, _FUNCTION, 0, 0, 0, 0)
    size = _entry_size(type(assembly))
    starts = [
        *(size * index for index in range(len(symbols))),
        assembly.labels[END],
        assembly.labels[RESTORE],
    ]
    for start, offset in zip(starts, offsets[len(IMPORTS) : -1], strict=True):
        entries += struct.pack("<IBBHQQ", offset, _FUNCTION, 0, _TEXT_SECTION, at["code"] + start, size)
    entries += struct.pack("<IBBHQQ", offsets[-1], _OBJECT, 0, _DATA_SECTION, at["table"], 8 * len(symbols))
    layout.fill("symbols", bytes(entries))
    layout.fill(
        "relocations",
        b"".join(
            struct.pack("<QQq", at[f"import.{name}"], number << 32 | assembly.relocation, 0)
            for number, name in enumerate(IMPORTS, 1)
        ),
    )
    dynamic = [(1, needed) for needed in named[2:]]
    dynamic += [(14, named[0]), (4, at["hash"]), (5, at["strings"]), (6, at["symbols"])]
    dynamic += [(10, len(strings.data)), (11, _SYMBOL)]
    dynamic += [(7, at["relocations"]), (8, _RELOCATION * len(IMPORTS)), (9, _RELOCATION)]
    if version:
        dynamic += [(0x6FFFFFF0, at["versions"]), (0x6FFFFFFC, at["definitions"]), (0x6FFFFFFD, 2)]
    dynamic.append((0, 0))
    layout.fill("dynamic", b"".join(struct.pack("<QQ", *entry) for entry in dynamic))

    segments = [
        (_LOAD, _READ_EXECUTE, 0, executable_end, PAGE),
        (_LOAD, _READ_WRITE, writable, layout.end - writable, PAGE),
        (_DYNAMIC, _READ_WRITE, at["dynamic"], 16 * tags, 8),
        (_STACK, _READ_WRITE, 0, 0, 16),
    ]
    sections = _Sections(layout)
    sections.add("", _NULL, 0)
    sections.add(".hash", _HASH_TABLE, _ALLOCATED, "hash", link=2, entry=4)
    sections.add(".dynsym", _SYMBOL_TABLE, _ALLOCATED, "symbols", link=3, info=1, entry=_SYMBOL)
    sections.add(".dynstr", _STRING_TABLE, _ALLOCATED, "strings")
    sections.add(".text", _PROGRAM_BITS, _ALLOCATED | _EXECUTED, "code")
    sections.add(".dynamic", _DYNAMIC_TABLE, _ALLOCATED | _WRITTEN, "dynamic", link=3, entry=16)
    sections.add(".data", _PROGRAM_BITS, _ALLOCATED | _WRITTEN, "table")
    if version:
        sections.add(".gnu.version", _VERSION_NUMBERS, _ALLOCATED, "versions", link=2, entry=2)
        sections.add(".gnu.version_d", _VERSION_TABLE, _ALLOCATED, "definitions", link=3, info=2)
    place, count = sections.write()

    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    numbers = (_HEADER, _SEGMENT, len(segments), _SECTION, count, count - 1)
    header += struct.pack("<HHIQQQIHHHHHH", 3, assembly.machine, 1, 0, _HEADER, place, 0, *numbers)
    for kind, flags, start, size, align in segments:
        header += struct.pack("<IIQQQQQQ", kind, flags, start, start, start, size, size, align)
    return layout.image(header)


class _Sections:
    """The section headers, which a linker reads where a program is linked against the library."""

    def __init__(self, layout: _Layout) -> None:
        self._layout = layout
        self._names = _Strings()
        self._entries: list[tuple[int, ...]] = []

    def add(
        self, name: str, kind: int, flags: int, part: str = "", link: int = 0, info: int = 0, entry: int = 0
    ) -> None:
        """Add the header of a part of the file."""
        at, size = self._layout.at.get(part, 0), self._layout.sizes.get(part, 0)
        address = at if flags & _ALLOCATED else 0
        align = 0 if kind == _NULL else 1 if kind == _STRING_TABLE else 8
        self._entries.append((self._names(name), kind, flags, address, at, size, link, info, align, entry))

    def write(self) -> tuple[int, int]:
        """Put them, and their names, behind everything else; the offset of the first and their number."""
        self._names(".shstrtab")
        self._layout.put("section names", bytes(self._names.data), 1)
        self.add(".shstrtab", _STRING_TABLE, 0, "section names")
        data = b"".join(struct.pack("<IIQQQQIIQQ", *entry) for entry in self._entries)
        self._layout.put("sections", data, 8)
        return self._layout.at["sections"], len(self._entries)


def _write_end(assembly: EntryCode, count: int, ended: int, pointers: Sequence[int]) -> None:
    """`END`, and what entries lead to after it."""
    for label, code in (("ended", ended), ("nothing", 0)):
        assembly.align()
        assembly.label(label)
        assembly.answer(code)
    assembly.align()
    assembly.label(END)
    assembly.store("ended", "table", 0, count)
    for index in pointers:
        assembly.store("nothing", "table", 8 * index, 1)
    assembly.answer(0)
    assembly.align()
    assembly.label(RESTORE)
    assembly.call_with_words()


class _Layout:
    """Parts of a file one after another; an offset in the file is the address in memory."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.at: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self._parts: dict[str, bytes] = {}

    def reserve(self, name: str, size: int, align: int) -> None:
        self.end = -(-self.end // align) * align
        self.at[name] = self.end
        self.sizes[name] = size
        self.end += size

    def fill(self, name: str, data: bytes) -> None:
        self._parts[name] = data

    def put(self, name: str, data: bytes, align: int) -> None:
        self.reserve(name, len(data), align)
        self.fill(name, data)

    def image(self, header: bytes) -> bytes:
        whole = bytearray(self.end)
        whole[: len(header)] = header
        for name, data in self._parts.items():
            whole[self.at[name] : self.at[name] + len(data)] = data
        return bytes(whole)


def _entry_size(kind: type[EntryCode]) -> int:
    """Bytes of an entry in the code: all are of one size."""
    one = kind()
    one.entry(0)
    one.align()
    return len(one.code)


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _hash_table(names: Sequence[str]) -> bytes:
    """`DT_HASH`: the symbol table's first symbol is the empty one."""
    count = max(1, len(names) // 2)
    buckets, chain = [0] * count, [0] * (len(names) + 1)
    for number, name in enumerate(names, 1):
        bucket = _hash(name) % count
        chain[number], buckets[bucket] = buckets[bucket], number
    return struct.pack(f"<{2 + count + len(chain)}I", count, len(chain), *buckets, *chain)


def _versions(exported: int) -> bytes:
    """`DT_VERSYM`: imports of any version (1), exports of the library's own (2)."""
    numbers = [0, *[1] * len(IMPORTS), *[2] * exported]
    return struct.pack(f"<{len(numbers)}H", *numbers)


def _definitions(soname: str, version: str, named: Sequence[int]) -> bytes:
    """`DT_VERDEF`: the library itself, and the version of its symbols."""
    entries = ((1, 1, soname, named[0], 28), (0, 2, version, named[1], 0))
    return b"".join(
        struct.pack("<HHHHIII", 1, flags, index, 1, _hash(name), 20, following)
        + struct.pack("<II", offset, 0)
        for flags, index, name, offset, following in entries
    )
