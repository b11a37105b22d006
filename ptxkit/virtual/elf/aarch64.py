"""The code of a library for AArch64 Linux. AAPCS64: arguments in x0 to x7 and v0 to v7, x8 for a result in
memory; a callee keeps x19 and the frame. x16 and x17 belong to nobody at a call, x9 is kept by callers
alone."""

from __future__ import annotations

import struct

from ptxkit.virtual.elf.assembly import EntryCode, Fixup

FRAME = 224
"""Bytes for x29, x30, x0 to x8, the index, and v0 to v7."""


class AArch64(EntryCode):
    """See `EntryCode`."""

    machine = 183
    relocation = 1025
    alignment = 4

    def apply(self, code: bytearray, fixup: Fixup, here: int, there: int) -> None:
        (word,) = struct.unpack_from("<I", code, fixup.at)
        match fixup.kind:
            case "page":
                pages = (there >> 12) - (here >> 12)
                word |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
            case "offset":
                word |= (there & 0xFFF) << 10
            case "doubleword":
                word |= (there & 0xFFF) >> 3 << 10
            case "branch26":
                word |= (there - here) >> 2 & 0x3FFFFFF
            case "branch19":
                word |= ((there - here) >> 2 & 0x7FFFF) << 5
        struct.pack_into("<I", code, fixup.at, word)

    def _word(self, word: int, kind: str | None = None, label: str = "", addend: int = 0) -> None:
        if kind is not None:
            self.fix(kind, label, addend)
        self.code += struct.pack("<I", word)

    def _address(self, register: int, label: str, addend: int = 0) -> None:
        self._word(0x90000000 | register, "page", label, addend)  # adrp
        self._word(0x91000000 | register << 5 | register, "offset", label, addend)  # add

    def _load(self, register: int, label: str, addend: int = 0) -> None:
        self._word(0x90000010, "page", label, addend)  # adrp x16
        self._word(0xF9400000 | 16 << 5 | register, "doubleword", label, addend)  # ldr x, [x16, ..]

    def entry(self, index: int) -> None:
        self._load(17, "table", 8 * index)
        self._word(0xB4000000 | 2 << 5 | 17)  # cbz x17, over the branch
        self._word(0xD61F0220)  # br x17
        self._word(0xD2800000 | index << 5 | 17)  # mov x17, index
        self._word(0x14000000, "branch26", "start")

    def start(self, failure: int) -> None:
        self.label("start")
        self._word(
            0xA9800000 | (-FRAME // 8 & 0x7F) << 15 | 30 << 10 | 31 << 5 | 29
        )  # stp x29, x30, [sp, -F]!
        self._word(0x910003FD)  # mov x29, sp
        self._saved(store=True)
        self.argument_address(0, "once")
        self.argument_address(1, "boot")
        self.call_import("pthread_once")
        self._saved(store=False)
        self._word(0xA8C00000 | FRAME // 8 << 15 | 30 << 10 | 31 << 5 | 29)  # ldp x29, x30, [sp], F
        self._address(16, "table")
        self._word(0xF8607800 | 17 << 16 | 16 << 5 | 17)  # ldr x17, [x16, x17, lsl 3]
        self._word(0xB4000000 | 2 << 5 | 17)  # cbz x17, over the branch
        self._word(0xD61F0220)  # br x17
        self.answer(failure)

    def answer(self, code: int) -> None:
        self._word(0x52800000 | code << 5)  # mov w0, code
        self._word(0xD65F03C0)  # ret

    def _saved(self, store: bool) -> None:
        """Store or load x0 to x8 and x17 (the index), then v0 to v7 whole, above x29 and x30."""
        pair = 0xA9000000 if store else 0xA9400000
        for number, (first, second) in enumerate(((0, 1), (2, 3), (4, 5), (6, 7), (8, 17))):
            self._word(pair | (2 + 2 * number) << 15 | second << 10 | 31 << 5 | first)
        vector = 0xAD000000 if store else 0xAD400000
        for number in range(4):  # 16 bytes each from byte 96
            self._word(vector | (6 + 2 * number) << 15 | (2 * number + 1) << 10 | 31 << 5 | 2 * number)

    def store(self, label: str, place: str, addend: int, count: int) -> None:
        self._address(0, label)
        self._address(1, place, addend)
        self._word(0xD2800000 | count << 5 | 2)  # mov x2, count
        self._word(0xF8008420)  # str x0, [x1], 8
        self._word(0xF1000442)  # subs x2, x2, 1
        self._word(0x54FFFFC1)  # b.ne, two words back

    def call_with_words(self) -> None:
        self._word(0xF9400809)  # ldr x9, [x0, 16]
        self._word(0xA9400520)  # ldp x0, x1, [x9]
        self._word(0xA9412522)  # ldp x2, x9, [x9, 16]
        self._word(0xD61F0120)  # br x9

    def enter(self) -> None:
        self._word(0xA9BE7BFD)  # stp x29, x30, [sp, -32]!
        self._word(0x910003FD)  # mov x29, sp
        self._word(0xF9000BF3)  # str x19, [sp, 16]

    def leave(self) -> None:
        self._word(0xF9400BF3)  # ldr x19, [sp, 16]
        self._word(0xA8C27BFD)  # ldp x29, x30, [sp], 32
        self._word(0xD65F03C0)  # ret

    def call_import(self, name: str) -> None:
        self._load(17, f"import.{name}")
        self._word(0xD63F0220)  # blr x17

    def call_result(self) -> None:
        self._word(0xD63F0120)  # blr x9

    def argument(self, index: int, number: int) -> None:
        self._word(0xD2800000 | number << 5 | index)  # mov x, number

    def argument_address(self, index: int, label: str) -> None:
        self._address(index, label)

    def argument_kept(self, index: int) -> None:
        self._word(0xAA1303E0 | index)  # mov x, x19

    def keep(self) -> None:
        self._word(0xAA0003F3)  # mov x19, x0

    def branch_if_zero(self, label: str, *, wide: bool = True) -> None:
        self._word(0xAA0003E9)  # mov x9, x0: what was returned may be called behind the arguments
        self._word((0xB4000000 if wide else 0x34000000), "branch19", label)  # cbz x0 | w0

    def jump(self, label: str) -> None:
        self._word(0x14000000, "branch26", label)
