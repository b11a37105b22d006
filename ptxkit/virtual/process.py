"""A process on a virtual GPU: its one machine, the libraries that call into it, and its end."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ptxkit.virtual import libraries
from ptxkit.virtual.dispatch import SymbolLibrary
from ptxkit.virtual.forks import ProcessMark, process_mark
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.options import VirtualOptions

IDLE = 0.02
"""Seconds without a call after which work happens that nobody has waited for."""

_attached: dict[str, SymbolLibrary] = {}
_machine: Machine | None = None
_kept: list[Any] = []
_ours: ProcessMark | None = None
"""Of the process whose the machine is: one that is forked has none."""


def machine(options: VirtualOptions | None = None) -> Machine:
    """The machine of this process; made by the first call, as the environment says where nothing else is
    said."""
    global _machine, _ours
    if _machine is None:
        _ours = process_mark()
        _machine = Machine(options or VirtualOptions.from_environment())
        _machine.address_of = _address_of
        if sys.orig_argv:
            atexit.register(_end)
        else:
            _at_exit_of_c(_end)
        os.register_at_fork(after_in_child=_free_lock)
        if _machine.options.order != "eager":
            work = IdleWork(_machine)
            if not sys.orig_argv:
                _beside_forks(work)
    return _machine


def attached() -> bool:
    """Whether any library of this process calls into Python."""
    return bool(_attached)


def attach(name: str, path: str) -> SymbolLibrary:
    """Let a library of this process call into Python."""
    definition = next(one for one in libraries.LIBRARIES if one.name == name)
    if definition.initialises:
        attach("driver", str(Path(path).with_name("libcuda.so.1")))
        machine().initialised = True
    if name not in _attached:
        home = definition.module()
        failed = getattr(home, "failed", int)
        _attached[name] = SymbolLibrary(machine(), path, definition.symbols(), home.load(), failed)
    return _attached[name]


def _address_of(name: str) -> int:
    return _attached["driver"].address(name)


class IdleTimer:
    """Wakes a thread `IDLE` seconds after it was last set, by the system's clock (timerfd_create(2)).

    The thread sleeps without the interpreter's lock, and does not want it while the timer is set again and
    again: a thread that waits for that lock makes each call slower that gives it up, as each of ours does.
    """

    def __init__(self) -> None:
        library: Any = ctypes.PyDLL(None, use_errno=True)
        self._file = library.timerfd_create(time.CLOCK_MONOTONIC, os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._settime = library.timerfd_settime
        self._until = 0.0
        # Seconds and nanoseconds from one time to the next, and until the first.
        self._soon, self._now = ((ctypes.c_long * 4)(0, 0, 0, wait) for wait in (int(1e9 * IDLE), 1))

    def set(self) -> None:
        """Wake the thread in `IDLE` seconds, and not before; a quarter of these may be missing, for the sake
        of those who say it often."""
        now = time.monotonic()
        if now >= self._until:
            self._until = now + IDLE / 4
            self._settime(self._file, 0, self._soon, None)

    def wake(self) -> None:
        """Wake it now."""
        self._until = 0.0
        self._settime(self._file, 0, self._now, None)

    def wait(self) -> None:
        """Sleep until that is over."""
        os.read(self._file, 8)


class IdleWork:
    """What a GPU does while the host is busy with something else: a thread."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._timer = IdleTimer()
        machine.schedule.queued = self._timer.set
        self.start()

    def start(self) -> None:
        """Begin, or begin again."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._over,), daemon=True)
        self._thread.start()
        self._timer.set()

    def stop(self) -> None:
        """Wait until nothing of it happens any more."""
        if threading.current_thread() is not self._thread:
            self._over.set()
            self._timer.wake()
            self._thread.join()

    def _run(self, over: threading.Event) -> None:
        made, schedule, calls = self._machine, self._machine.schedule, -1
        while True:
            self._timer.wait()
            if over.is_set():
                return
            while made.calls == calls and schedule.pending and not over.is_set():
                with schedule.lock:
                    if made.calls != calls or not schedule.idle_work():
                        break
            calls = made.calls
            if schedule.pending:
                self._timer.set()


def _beside_forks(work: IdleWork) -> None:
    """Let a program that is not Python fork while none of our threads runs: a child in which one held the
    interpreter's lock could never take it."""
    before, behind = (ctypes.CFUNCTYPE(None)(each) for each in (work.stop, work.start))
    _kept.extend((before, behind))
    register: Any = ctypes.CDLL(None).__register_atfork
    register.argtypes = [ctypes.c_void_p] * 4
    register(ctypes.cast(before, ctypes.c_void_p), ctypes.cast(behind, ctypes.c_void_p), None, None)


def _free_lock() -> None:
    """Whichever thread held the lock, a forked process does not have it; every call is refused there."""
    assert _machine is not None
    lock: Any = _machine.schedule.lock
    lock._at_fork_reinit()


_ended = False


def _end() -> None:
    """The process ends: what was queued happens, so that what is wrong with it is found. What a forked
    process's parent has queued is its parent's."""
    global _ended
    if _ended or _machine is None or _ours is None or not _ours[0]:
        return
    _ended = True
    with _machine.schedule.lock:
        _machine.schedule.finish_all()
    _machine.ended = True
    _machine.report.close()


def _at_exit_of_c(function: Any) -> None:
    """Where Python was only started for us nobody ends it: the C library calls `function` at `exit`."""
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: function())
    _kept.append(callback)
    register: Any = ctypes.CDLL(None).__cxa_atexit
    register.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    register(ctypes.cast(callback, ctypes.c_void_p), None, None)
