"""Whether a process is still the one that it was, or one that was forked from it."""

from __future__ import annotations

import mmap
import os
from typing import Protocol

_WIPE_ON_FORK = 18
"""MADV_WIPEONFORK of madvise(2), which `mmap` has no name for."""


class ProcessMark(Protocol):
    """Something whose element 0 is true in the process that made it, and false in what is forked from it."""

    def __getitem__(self, index: int, /) -> int: ...


class _ByNumber:
    """The same where the kernel (before Linux 4.14) wipes no pages: each look is a call of the system."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def __getitem__(self, index: int, /) -> int:
        return os.getpid() == self._process


def process_mark() -> ProcessMark:
    """The mark of this process: a page that a forked one finds empty."""
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        page.madvise(_WIPE_ON_FORK)
    except OSError:
        return _ByNumber()
    page[0] = 1
    return page
