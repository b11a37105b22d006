"""Exceptions that are on their way while C calls a library of ours.

C++ destructors call the driver while an exception of Python's is set: to them that makes no difference, but
a function of Python's neither runs with one set nor leaves one behind. So it is taken first, and given back
when the callback's result is destroyed, which is the last thing that a callback does: a capsule in the
result has a destructor of machine code, `RESTORE` of the library, that sets it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

_python: Any = ctypes.PyDLL(None)
_python.PyErr_Fetch.restype = None
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
_restore = ctypes.cast(_python.PyErr_Restore, ctypes.c_void_p).value

_kept: deque[Any] = deque(maxlen=4096)
"""What the last capsules point to: it must be there when they are destroyed."""


class _Answer(int):
    """A result with a capsule."""

    capsule: object


class PendingException:
    """Takes and gives back the exception that is set when a callback begins. One of these for each
    callback: taking one must call nothing of Python's before it is taken.

    Attributes:
        take: takes it; to be called first.
        parts: what was taken: an exception's type, value and traceback; None each if none was set.
    """

    def __init__(self, restore: int) -> None:
        """Args: restore: the address of the library's `RESTORE`."""
        self.parts = (ctypes.c_void_p * 3)()
        self._destructor = restore
        # Such values are passed as they are; others would be converted by calls.
        places = [ctypes.c_void_p(ctypes.addressof(self.parts) + 8 * part) for part in range(3)]
        self.take: Callable[[], None] = partial(_python.PyErr_Fetch, *places)

    def give_back(self, parts: tuple[int | None, ...], result: int) -> int:
        """The result, which sets the exception again when it is destroyed."""
        words = (ctypes.c_void_p * 4)(*parts, _restore)
        _kept.append(words)
        answer = _Answer(result)
        answer.capsule = _python.PyCapsule_New(ctypes.addressof(words), None, self._destructor)
        return answer
