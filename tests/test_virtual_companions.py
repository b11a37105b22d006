"""The virtual nvJitLink, as a program calls it: it links PTX, and refuses what is newer than it knows."""

from __future__ import annotations

import sys

import pytest
from virtual import execute, needs_linux

from ptxkit.targets import NEWEST_VERSION, show

pytestmark = [needs_linux, pytest.mark.long]

PROGRAM = r"""
import ctypes
import sys

linker = ctypes.CDLL("libnvJitLink.so.13")
handle, size = ctypes.c_void_p(), ctypes.c_size_t()
assert linker.nvJitLinkCreate(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b"-arch=sm_90a")) == 0
text = sys.argv[1].encode()
added = linker.nvJitLinkAddData(handle, 2, text, len(text), None)
print(added, added or linker.nvJitLinkComplete(handle))
linker.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
linker.nvJitLinkGetErrorLog(handle, log)
print(log.value.decode())
"""
KERNEL = "\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"


@pytest.mark.parametrize(
    ("ptx", "says"),
    [
        (f".version {show(NEWEST_VERSION)}{KERNEL}", "0 0\n\n"),
        (
            ".version 99.99",
            "4 4\nptxas application ptx input, line 1; fatal   : Unsupported .version 99.99; "
            f"current version is '{show(NEWEST_VERSION)}'\n",
        ),
        (f"// a comment\n.version 10.1{KERNEL}", "line 2; fatal   : Unsupported .version 10.1; current"),
    ],
    ids=["the newest", "what XLA asks to hear which that is", "behind a comment"],
)
def test_a_version(ptx: str, says: str) -> None:
    done = execute(sys.executable, "-c", PROGRAM, ptx)
    assert says in done.stdout, done.stderr
