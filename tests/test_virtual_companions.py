"""The virtual nvJitLink and NVML, as a program calls them."""

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


OPTIONS = r"""
import ctypes
import sys

linker, handle = ctypes.CDLL("libnvJitLink.so.13"), ctypes.c_void_p()
for word in sys.argv[1:]:
    made = linker.nvJitLinkCreate(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(word.encode()))
    print(made, made or linker.nvJitLinkComplete(handle))
"""


def test_options_that_nvjitlink_does_not_have() -> None:
    """1 is an unrecognised option; a link of nothing is right."""
    words = (
        "-arch=sm_90a",
        "-arch=sm_XX",
        "-arch=sm_99",
        "-arch=compute_120f",
        "-O3",
        "-fictitious",
        "-ftz=true",
    )
    done = execute(sys.executable, "-c", OPTIONS, *words)
    codes = [line.split()[0] for line in done.stdout.splitlines()]
    assert codes == ["0", "1", "1", "0", "0", "1", "0"], done.stderr
    assert "0 0" in done.stdout


CALL = """
.version 8.0
.target sm_90
.address_size 64
.extern .func elsewhere();
.visible .entry k() { call elsewhere; ret; }
"""


def test_a_function_that_no_input_has_is_an_error_of_the_link() -> None:
    done = execute(sys.executable, "-c", PROGRAM, CALL)
    assert done.stdout == "0 3\nUndefined reference to 'elsewhere'\n", done.stderr
    done = execute(sys.executable, "-c", PROGRAM, CALL.replace("elsewhere", "vprintf"))
    assert done.stdout == "0 0\n\n", done.stderr


NVML = r"""
import ctypes

from ctypes import byref

nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlErrorString.restype = ctypes.c_char_p
handle, other, number = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
text, words = ctypes.create_string_buffer(100), (ctypes.c_uint * 20)()
print(nvml.nvmlDeviceGetCount_v2(byref(number)), nvml.nvmlErrorString(1).decode())
for _ in range(2):
    assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlShutdown() == 0
assert nvml.nvmlDeviceGetCount_v2(byref(number)) == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(number.value - 1, byref(handle)) == 0
assert nvml.nvmlDeviceGetUUID(handle, text, 100) == 0
assert nvml.nvmlDeviceGetHandleByUUID(text, byref(other)) == 0 and other.value == handle.value
assert nvml.nvmlDeviceGetHandleByUUID(text.value[4:], byref(other)) == 0
assert nvml.nvmlDeviceGetPciInfo_v3(handle, words) == 0
print(bytes(words)[:12].decode(), words[5], bytes(words)[36:52].decode())
assert nvml.nvmlDeviceGetHandleByPciBusId_v2(bytes(words)[:12], byref(other)) == 0
print(other.value == handle.value, nvml.nvmlDeviceGetHandleByPciBusId_v2(b"0000:77:00.0", byref(other)))
assert nvml.nvmlDeviceGetArchitecture(handle, byref(number)) == 0
print(number.value, nvml.nvmlDeviceGetPowerUsage(handle, byref(number)))
assert nvml.nvmlShutdown() == 0
print(nvml.nvmlShutdown())
"""


def test_nvml_says_which_devices_there_are() -> None:
    """It counts its users; 1 is uninitialised, 3 not supported, 6 not found."""
    done = execute(sys.executable, "-c", NVML, options=("--devices", "2"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 Uninitialized\n0000:02:00.0 2 00000000:02:00.0\nTrue 6\n9 3\n1\n"
