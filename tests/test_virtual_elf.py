"""The libraries that are written without a compiler: their structure, their code on both machines."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from virtual import needs_linux

from ptxkit.virtual.elf.aarch64 import AArch64
from ptxkit.virtual.elf.write import MACHINES, TABLE, shared_object
from ptxkit.virtual.elf.x86_64 import X86_64
from ptxkit.virtual.libraries import LIBRARIES, library_bytes

NAMES = ("first", "second_v2", "third")


def made(machine: str, version: str | None = None, program: str = "pass") -> bytes:
    return shared_object(
        "libthing.so.1",
        NAMES,
        machine,
        libpython="libpython3.so",
        executable=sys.executable,
        program=program,
        failure=802,
        ended=4,
        version=version,
    )


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("version", [None, "libthing.so.1"])
@pytest.mark.skipif(not shutil.which("readelf"), reason="readelf is needed")
def test_readelf_reads_it(machine: str, version: str | None, tmp_path: Path) -> None:
    path = tmp_path / "libthing.so.1"
    path.write_bytes(made(machine, version))
    command = ["readelf", "-W", "-h", "-l", "-d", "-r", "--use-dynamic", "-s", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert not done.stderr
    text = done.stdout
    assert {"x86_64": "X86-64", "aarch64": "AArch64"}[machine] in text
    assert "Library soname: [libthing.so.1]" in text
    for name in (*NAMES, TABLE):
        assert f" {name}" in text
    assert ("VERDEF" in text) == bool(version)


@needs_linux
@pytest.mark.parametrize("version", [None, "libthing.so.1"])
@pytest.mark.long
def test_entries_jump_through_the_table(version: str | None, tmp_path: Path) -> None:
    """In a process of its own: the first call runs the program in the Python that is there, once; an entry
    whose slot stays empty returns the failure code."""
    path = tmp_path / "libthing.so.1"
    fill = (
        f"import ctypes; library = ctypes.CDLL({str(path)!r})\n"
        "add = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * 8)(lambda *all: sum(all))\n"
        "ctypes.kept = add; print('filled')\n"
        "(ctypes.c_void_p * 3).in_dll(library, 'ptxkit_table')[1] = ctypes.cast(add, ctypes.c_void_p).value"
    )
    path.write_bytes(made(os.uname().machine, version, f"exec({fill!r}, {{}})"))
    script = (
        f"import ctypes; library = ctypes.CDLL({str(path)!r})\n"
        "print(library.first(1), library.second_v2(1, 2, 3, 4, 5, 6, 7, 8), library.third())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "filled\n802 36 802\n", done.stderr


def test_code_of_x86_64() -> None:
    assembly = X86_64()
    assembly.entry(0)
    assembly.entry(1)
    assembly.start(802)
    assembly.label("boot")
    code = assembly.linked(0x1000, {"table": 0x3000, "once": 0x2F00, "import.pthread_once": 0x2F08})
    assert code[:7] == b"\x48\x8b\x05" + struct.pack("<i", 0x3000 - 0x1007)  # mov rax, [rip + slot 0]
    assert code[32:39] == b"\x48\x8b\x05" + struct.pack("<i", 0x3008 - 0x1027)  # the next slot
    assert code[14:19] == b"\x68\0\0\0\0"  # push 0


def test_code_of_aarch64() -> None:
    """The words as a disassembler reads them."""
    assembly = AArch64()
    assembly.entry(3)
    assembly.start(802)
    assembly.label("boot")
    code = assembly.linked(0x1000, {"table": 0x12340, "once": 0x12300, "import.pthread_once": 0x12308})
    words = struct.unpack(f"<{len(code) // 4}I", code)
    assert words[:6] == (
        0xB0000090,  # adrp x16, 0x12000
        0xF941AE11,  # ldr x17, [x16, 0x358]: slot 3
        0xB4000051,  # cbz x17, 2 words on
        0xD61F0220,  # br x17
        0xD2800071,  # mov x17, 3
        0x14000001,  # b start
    )
    assert words[6:8] == (0xA9B27BFD, 0x910003FD)  # stp x29, x30, [sp, -224]!; mov x29, sp
    assert words[8] == 0xA90107E0  # stp x0, x1, [sp, 16]
    assert words[12] == 0xA90547E8  # stp x8, x17, [sp, 80]
    assert words[13] == 0xAD0307E0  # stp q0, q1, [sp, 96]
    assert words[-2:] == (0x52806440, 0xD65F03C0)  # mov w0, 802; ret


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("definition", LIBRARIES, ids=lambda definition: definition.name)
def test_every_library_can_be_written(machine: str, definition: object) -> None:
    data = library_bytes(definition, "/nowhere", machine)  # type: ignore[arg-type]
    assert data[:4] == b"\x7fELF"
    assert ctypes.sizeof(ctypes.c_void_p) * len(definition.symbols()) < len(data)  # type: ignore[attr-defined]
