"""Calls of the driver whose arguments were settled ahead.

The bindings take apart and check the four arguments of `cuLaunchKernelEx` in every call, which costs a fifth
of the driver's own work. Where the same launch is made over and over that is for nothing, so here they are
bound to the call: a function without arguments, a few instructions of machine code that load the registers
of the C calling convention (System V ABI for x86-64, 3.2.3) from a table and jump to the driver. One page
holds the code, the same for every slot, and is never written again; the next page holds the table.

Linux on x86-64 only, and only where the system lets a process make code; everywhere else `bind` gives the
bindings' own call.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from ptxkit.device.arguments import ParameterSpace
from ptxkit.driver.errors import bindings

Call = Callable[[], int]
"""Makes the call; 0, or the driver's status as a number."""

_SLOT = 64
_HALF = 4096
"""Bytes of code, and of table; a slot of each lies at the same place in its half."""

_CODE = bytes.fromhex(
    "f3 0f 1e fa"  # endbr64
    "4c 8d 1d f5 0f 00 00"  # lea r11, [rip + 4096 - 11], the slot of the table
    "49 8b 3b"  # mov rdi, [r11]
    "49 8b 73 08"  # mov rsi, [r11 + 8]
    "49 8b 53 10"  # mov rdx, [r11 + 16]
    "49 8b 4b 18"  # mov rcx, [r11 + 24]
    "41 ff 63 20"  # jmp [r11 + 32]
).ljust(_SLOT, b"\xcc")

_PROT_READ_EXEC = 1 | 4


class _Slots:
    """Slots that nobody uses, made a page at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[int] = []
        self._pages: list[mmap.mmap] = []
        self._refused = not (sys.platform == "linux" and platform.machine() == "x86_64")

    def take(self) -> int | None:
        """The address of a slot's code; None where there can't be any."""
        with self._lock:
            if not self._free and not self._refused:
                self._refused = not self._add()
            return self._free.pop() if self._free else None

    def give(self, slot: int) -> None:
        """Take a slot back."""
        self._free.append(slot)

    def _add(self) -> bool:
        pages = mmap.mmap(-1, 2 * _HALF, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        pages[:_HALF] = _CODE * (_HALF // _SLOT)
        start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        if protect(ctypes.c_void_p(start), ctypes.c_size_t(_HALF), _PROT_READ_EXEC):
            return False
        self._pages.append(pages)
        self._free += range(start, start + _HALF, _SLOT)
        return True


_SLOTS = _Slots()


class Bound:
    """A C function of four pointers that gives an int, with its arguments.

    The slot is given back with the object, which must outlive every use of `call`.

    Attributes:
        call: makes the call.
    """

    __slots__ = ("_slot", "call")

    def __init__(self, slot: int, function: int, arguments: tuple[int, int, int, int]) -> None:
        self._slot = slot
        table = (ctypes.c_uint64 * 5).from_address(slot + _HALF)
        table[:] = [*arguments, function]
        self.call: Call = ctypes.CFUNCTYPE(ctypes.c_int)(slot)

    def __del__(self) -> None:
        _SLOTS.give(self._slot)


def bind(function: int, arguments: tuple[int, int, int, int]) -> Bound | None:
    """A C function with its arguments; None where it can't be bound.

    Args:
        function: its address.
        arguments: addresses; what lies there is the caller's to keep alive.
    """
    slot = _SLOTS.take()
    return None if slot is None else Bound(slot, function, arguments)


class BoundLaunch:
    """`cuLaunchKernelEx` with its arguments, which it keeps alive; it must outlive every use of `call`.

    Attributes:
        call: makes it.
    """

    __slots__ = ("_bound", "_kept", "call")

    def __init__(self, configuration: Any, function: Any, space: ParameterSpace) -> None:
        """Bind the arguments.

        Args:
            configuration: the `CUlaunchConfig`.
            function: the `CUfunction`.
            space: where the parameters are; what it holds at the time of the call counts.
        """
        self._kept = configuration, space
        address = _launch_address()
        arguments = configuration.getPtr(), int(function), space.address, 0
        self._bound = bind(address, arguments) if address else None
        self.call: Call
        if self._bound is not None:
            self.call = self._bound.call
        else:
            start, pointers = bindings().cuLaunchKernelEx, space.address
            self.call = lambda: int(start(configuration, function, pointers, 0)[0])


@cache
def _launch_address() -> int | None:
    """Where the driver's `cuLaunchKernelEx` is; None where it does not say."""
    try:
        status, address, _ = bindings().cuGetProcAddress(b"cuLaunchKernelEx", 12000, 0)
    except (RuntimeError, ValueError):
        return None
    return None if status else int(address) or None
