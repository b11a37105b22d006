"""One measurement on a GPU at a time, whoever started it: by a lock for each GPU of the host.

Timings of two processes on one GPU would spoil each other. The lock is on a file of the host's temporary
folder named by the GPU's UUID; the operating system gives it back when its holder ends, however that is.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptxkit.diagnostics import error
from ptxkit.running.devices import NAMES

ALL = "cuda:all"
"""The device that stands for every GPU of the host."""
_PAUSE = 0.05
"""Seconds between two looks for a GPU that is free."""
_PATIENCE = 2.0
"""Seconds of waiting after which it is said what is waited for."""


def gpus_of(device: str) -> list[int]:
    """The ordinals of the GPUs that a device names: `cuda`, `cuda:1`, `cuda:all`; none for the emulator.

    Raises:
        PtxkitError: P701, no driver; P702, no GPU for `cuda:all`; P520, no such device.
    """
    kind, colon, which = device.partition(":")
    if device in ("auto", "emu"):
        return []
    if device == ALL:
        from ptxkit.driver import device_count

        count = device_count()
        if not count:
            raise error("P702", f"expected a GPU for `{ALL}`, found none", help="use `--device emu`")
        return list(range(count))
    if kind != "cuda" or (colon and not which.isdecimal()):
        raise error("P520", f"expected one of {NAMES}, `{ALL}`, found `{device}`")
    return [int(which or 0)]


@contextlib.contextmanager
def alone_on(device: str) -> Iterator[str]:
    """Wait until nobody else is on the GPU, or on one of them; gives its name, `cuda:1`.

    Args:
        device: a name; one that is no GPU's is given back at once.
    """
    gpus = gpus_of(device)
    if not gpus:
        yield device
        return
    ordinal, lock = _wait(gpus)
    try:
        yield f"cuda:{ordinal}"
    finally:
        os.close(lock)


def _wait(gpus: Sequence[int]) -> tuple[int, int]:
    """The first GPU that is free, and the descriptor that holds its lock."""
    from ptxkit.driver import device_uuid

    paths = {gpu: Path(tempfile.gettempdir()) / f"ptxkit-{device_uuid(gpu)}.lock" for gpu in gpus}
    begin, announced = time.monotonic(), False
    while True:
        for gpu, path in paths.items():
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if try_lock(lock):
                return gpu, lock
            os.close(lock)
        if not announced and time.monotonic() - begin > _PATIENCE:
            names = ", ".join(f"cuda:{gpu}" for gpu in gpus)
            print(f"waiting for another measurement on {names} to end", file=sys.stderr)
            announced = True
        time.sleep(_PAUSE)


def try_lock(lock: int) -> bool:
    """Lock an open file against other processes; False where one of them holds it."""
    try:
        import fcntl
    except ImportError:  # Windows: files have no such locks there
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
