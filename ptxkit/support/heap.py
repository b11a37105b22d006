"""The C library's heap, told to keep what is freed."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Of glibc's `mallopt`: from how many free bytes at its end the heap is made shorter; from what size on an
array is mapped by itself, and unmapped when it is freed."""
KEPT, MAPPED = 1 << 28, 1 << 25
"""Bytes for them; glibc takes no more than 32 MB for the latter."""


@cache
def keep_freed_memory() -> bool:
    """Let the process keep memory that is freed, up to 256 MB, for what it allocates next.

    The emulator makes and drops arrays of some MB for every few instructions. By default the C library gives
    such memory back each time, and the system clears every page of it anew: half of some launches' time.

    Returns whether that could be said: by glibc alone.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, MAPPED) and mallopt(M_TRIM_THRESHOLD, KEPT))
