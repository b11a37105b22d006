"""The classic heap of a process lies far below everything else, where no device can see it. So it is
stopped: from then on the C library takes memory from mappings, which devices can be made to see."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

_FIXED_NOREPLACE = 0x100000
SIZES = [1 << power for power in range(17, 5, -1)]
"""Bytes of what is taken from the free parts of the heap, the largest first."""
MOST = 20_000
"""Most pieces that are taken."""

_libc: Any = ctypes.CDLL(None)
for _name, _result, _arguments in (
    ("sbrk", ctypes.c_void_p, [ctypes.c_long]),
    ("mmap", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]),
    ("malloc", ctypes.c_void_p, [ctypes.c_size_t]),
    ("free", None, [ctypes.c_void_p]),
):
    _function = getattr(_libc, _name)
    _function.restype, _function.argtypes = _result, _arguments


def stop_the_heap() -> None:
    """Let the heap grow no more, and take what is free in it. What the program frees of it later it gets
    again."""
    top = _libc.sbrk(0)
    if not top or top == ctypes.c_void_p(-1).value:
        return
    page = -(-top // mmap.PAGESIZE) * mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED_NOREPLACE
    _libc.mmap(page, mmap.PAGESIZE, 0, flags, -1, 0)
    taken = 0
    for size in SIZES:
        while taken < MOST:
            piece = _libc.malloc(size)
            if not piece or piece > page:
                _libc.free(piece)
                break
            taken += 1
