"""The heap keeps what is freed: the emulator's arrays come and go without a page that is cleared for them."""

import subprocess
import sys

import pytest

from ptxkit.support.heap import keep_freed_memory

ARRAYS = """
import resource, sys
import numpy as np
if len(sys.argv) > 1:
    from ptxkit.emulator import Emulator
    Emulator()
arrays = 0
def some():
    kept = [np.empty(3 << 20, np.uint8) for _ in range(4)]
    for each in kept:
        each[::4096] = 1
some()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    some()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
PAGES = 20 * 4 * 768


def faults(*arguments: str) -> int:
    """How many pages a process is given for 20 times 12 MB that it has had before."""
    command = [sys.executable, "-c", ARRAYS, *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="a C library other than glibc")
def test_an_emulator_keeps_what_it_freed() -> None:
    assert faults("emulator") < PAGES // 20
    assert faults() > PAGES // 2  # what the C library does by default
