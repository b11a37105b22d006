"""The primary context of a GPU: retained once a device, current where a call needs it, given back last."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from ptxkit.diagnostics import error
from ptxkit.driver.errors import bindings, check, failure, ignorable

_NOT_CURRENT = ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE")
"""How the driver refuses a launch where another context is current, or none."""


class CudaContext:
    """What everything on one GPU depends on. `with context:` makes it current for the block.

    The primary context is the one that CUDA's runtime, torch and CuPy use too, so pointers and streams go
    from one to the other.

    Attributes:
        ordinal: the GPU's number, from 0.
        device: its `CUdevice`.
        handle: the `CUcontext`.
        closed: whether it has been given back.
        users: kernels, streams and graphs, which must refuse work once their handles are gone.
        last_kernel: the name of the kernel launched last, for what is said about a fault.
    """

    def __init__(self, ordinal: int) -> None:
        driver = bindings()
        self.ordinal = ordinal
        self.device = check(driver.cuDeviceGet(ordinal), f"open GPU {ordinal}")
        self.handle = check(driver.cuDevicePrimaryCtxRetain(self.device), f"open GPU {ordinal}")
        self.closed = False
        self.last_kernel: str | None = None
        self._owned: dict[int, weakref.finalize[..., Any]] = {}
        self._keys = itertools.count()
        self._reached: weakref.WeakSet[CudaContext] = weakref.WeakSet()
        self._postponed: list[tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]] | None = None
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self._release = weakref.finalize(self, driver.cuDevicePrimaryCtxRelease, self.device)
        if not int(check(driver.cuCtxGetCurrent(), "find the current context")):
            self.bind()

    def bind(self) -> None:
        """Make the context current in this thread from now on."""
        check(bindings().cuCtxSetCurrent(self.handle), f"use GPU {self.ordinal}")

    def __enter__(self) -> CudaContext:
        if self.closed:
            raise error("P714", f"GPU {self.ordinal} was closed", help="open it again with `open_device`")
        check(bindings().cuCtxPushCurrent(self.handle), f"use GPU {self.ordinal}")
        return self

    def __exit__(self, *_: object) -> None:
        check(bindings().cuCtxPopCurrent(), f"leave GPU {self.ordinal}")

    def own(self, owner: object, give_back: Callable[..., tuple[Any, ...]], *args: Any) -> Callable[[], None]:
        """Give something back when `owner` is collected, when the context closes, or at exit: once.

        Args:
            owner: the Python object that stands for it.
            give_back: the driver's call that frees it.
            args: its arguments.

        Returns:
            A function that gives it back now; later calls do nothing.
        """
        key = next(self._keys)
        finalizer = self._owned[key] = weakref.finalize(owner, self._give_back, key, give_back, args)
        return finalizer

    def _give_back(self, key: int, give_back: Callable[..., tuple[Any, ...]], args: tuple[Any, ...]) -> None:
        self._owned.pop(key, None)
        if self._postponed is None:
            self._call(give_back, args)
        else:
            self._postponed.append((give_back, args))

    def _call(self, give_back: Callable[..., tuple[Any, ...]], args: tuple[Any, ...]) -> None:
        driver = bindings()
        driver.cuCtxPushCurrent(self.handle)
        try:
            status = give_back(*args)[0]
        finally:
            driver.cuCtxPopCurrent()
        if status and not ignorable(status):
            raise failure(status, f"give back what was used on GPU {self.ordinal}")

    def retry(self, status: Any, call: Callable[[], tuple[Any, ...]], doing: str) -> None:
        """Make a call that failed once more where our context was not current; else raise its error.

        Launches don't look whether it is: that would cost as much as they may.
        """
        if status.name in _NOT_CURRENT and not self.closed:
            if not int(check(bindings().cuCtxGetCurrent(), "find the current context")):
                self.bind()
            with self:
                status = call()[0]
        self.check((status,), doing)

    def reach(self, other: CudaContext) -> None:
        """Let copies from another GPU's memory come straight, where the two GPUs are linked so.

        CUDA driver API, peer context memory access.
        """
        if other in self._reached:
            return
        self._reached.add(other)
        driver = bindings()
        if check(driver.cuDeviceCanAccessPeer(self.device, other.device), "ask for links between GPUs"):
            with self:
                (status,) = driver.cuCtxEnablePeerAccess(other.handle, 0)
            if status and status.name != "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED":
                raise failure(status, f"reach GPU {other.ordinal} from GPU {self.ordinal}")

    def postpone(self) -> None:
        """From now on keep what is to be given back: nothing may be freed while a graph is captured."""
        self._postponed = []

    def catch_up(self) -> None:
        """Give back what was kept since `postpone`."""
        kept, self._postponed = self._postponed, None
        for give_back, args in kept or ():
            self._call(give_back, args)

    def synchronize(self, doing: str = "wait for the GPU") -> None:
        """Wait for everything; raises what a kernel met."""
        with self:
            self.check(bindings().cuCtxSynchronize(), doing)

    def check(self, result: tuple[Any, ...], doing: str) -> Any:
        """`errors.check`, with the kernel launched last in the notes of what a kernel met."""
        if result[0]:
            notes = (f"the kernel launched last is `{self.last_kernel}`",) if self.last_kernel else ()
            raise failure(result[0], doing, notes)
        return check(result, doing)

    def close(self) -> None:
        """Give everything back, newest first. A second call does nothing."""
        if self.closed:
            return
        for user in list(self.users):
            user.close()
        for finalizer in reversed(list(self._owned.values())):
            finalizer()
        self.closed = True
        self._release()
