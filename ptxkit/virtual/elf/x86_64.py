"""The code of a library for x86-64 Linux. System V ABI: arguments in rdi rsi rdx rcx r8 r9 and xmm0 to
xmm7."""

from __future__ import annotations

import struct

from ptxkit.virtual.elf.assembly import EntryCode, Fixup

_LOAD_ADDRESS = (b"\x48\x8d\x3d", b"\x48\x8d\x35", b"\x48\x8d\x15")  # lea rdi | rsi | rdx, [rip + x]
_LOAD_NUMBER = (b"\xbf", b"\xbe", b"\xba")  # mov edi | esi | edx, imm32
_LOAD_KEPT = (b"\x48\x89\xdf", b"\x48\x89\xde", b"\x48\x89\xda")  # mov rdi | rsi | rdx, rbx


class X86_64(EntryCode):
    """See `EntryCode`. rax, r10 and r11 belong to nobody at a call."""

    machine = 62
    relocation = 6
    alignment = 16

    def apply(self, code: bytearray, fixup: Fixup, here: int, there: int) -> None:
        struct.pack_into("<i", code, fixup.at, there - (here + 4))

    def _relative(self, opcode: bytes, label: str, addend: int = 0) -> None:
        self.code += opcode
        self.fix("rel32", label, addend)
        self.code += bytes(4)

    def entry(self, index: int) -> None:
        self.align()
        self._relative(b"\x48\x8b\x05", "table", 8 * index)  # mov rax, [slot]
        self.code += b"\x48\x85\xc0\x74\x02\xff\xe0"  # test rax, rax; je +2; jmp rax
        self.code += b"\x68" + struct.pack("<I", index)  # push index
        self._relative(b"\xe9", "start")  # jmp start

    def start(self, failure: int) -> None:
        self.align()
        self.label("start")
        self.code += b"\x57\x56\x52\x51\x41\x50\x41\x51"  # push rdi rsi rdx rcx r8 r9
        self.code += b"\x48\x81\xec" + struct.pack("<I", 128)  # sub rsp, 128
        for register in range(8):  # movups [rsp + 16 n], xmm n
            self.code += bytes((0x0F, 0x11, 0x44 | register << 3, 0x24, 16 * register))
        self.argument_address(0, "once")
        self.argument_address(1, "boot")
        self.call_import("pthread_once")
        for register in range(8):
            self.code += bytes((0x0F, 0x10, 0x44 | register << 3, 0x24, 16 * register))
        self.code += b"\x48\x81\xc4" + struct.pack("<I", 128)
        self.code += b"\x41\x59\x41\x58\x59\x5a\x5e\x5f\x58"  # pop r9 r8 rcx rdx rsi rdi; pop rax, the index
        self._relative(b"\x4c\x8d\x1d", "table")  # lea r11, [table]
        self.code += b"\x49\x8b\x04\xc3"  # mov rax, [r11 + 8 rax]
        self.code += b"\x48\x85\xc0\x74\x02\xff\xe0"
        self.answer(failure)

    def answer(self, code: int) -> None:
        self.code += b"\xb8" + struct.pack("<I", code) + b"\xc3"  # mov eax, code; ret

    def store(self, label: str, place: str, addend: int, count: int) -> None:
        self._relative(b"\x48\x8d\x05", label)  # lea rax, [label]
        self._relative(b"\x48\x8d\x15", place, addend)  # lea rdx, [place]
        self.code += b"\xb9" + struct.pack("<I", count)  # mov ecx, count
        self.code += (
            b"\x48\x89\x02\x48\x83\xc2\x08\xff\xc9\x75\xf5"  # mov [rdx], rax; add rdx, 8; dec ecx; jne
        )

    def call_with_words(self) -> None:
        self.code += b"\x48\x8b\x47\x10"  # mov rax, [rdi + 16]
        self.code += (
            b"\x48\x8b\x38\x48\x8b\x70\x08\x48\x8b\x50\x10"  # mov rdi | rsi | rdx, [rax + 0 | 8 | 16]
        )
        self.code += b"\xff\x60\x18"  # jmp [rax + 24]

    def enter(self) -> None:
        self.code += b"\x53"  # push rbx: the stack is aligned for calls, too

    def leave(self) -> None:
        self.code += b"\x5b\xc3"

    def call_import(self, name: str) -> None:
        self._relative(b"\xff\x15", f"import.{name}")

    def call_result(self) -> None:
        self.code += b"\xff\xd0"

    def argument(self, index: int, number: int) -> None:
        self.code += _LOAD_NUMBER[index] + struct.pack("<I", number)

    def argument_address(self, index: int, label: str) -> None:
        self._relative(_LOAD_ADDRESS[index], label)

    def argument_kept(self, index: int) -> None:
        self.code += _LOAD_KEPT[index]

    def keep(self) -> None:
        self.code += b"\x48\x89\xc3"  # mov rbx, rax

    def branch_if_zero(self, label: str, *, wide: bool = True) -> None:
        self.code += b"\x48\x85\xc0" if wide else b"\x85\xc0"  # test
        self._relative(b"\x0f\x84", label)

    def jump(self, label: str) -> None:
        self._relative(b"\xe9", label)
