"""An emulation in this process that makes no progress is ended."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from ptxkit.diagnostics import PtxkitError, error, exit_code
from ptxkit.plan import LaunchPlan

LIMIT = 10.0
"""Seconds of processor time without an instruction retired."""
IDLE = 6
"""How many times as long it may wait for a processor: other work on the machine is no fault of the kernel."""


class Stalled:
    """While it is open, ends this process where an emulation in it retires nothing for too long.

    No emulation that is right stands still, and one that stands still can't be called back.

    Args:
        retired: gives the instructions retired so far, None while there is no emulation.
        plan: what runs, for the message.
        give_up: told what to print; then the process ends with exit code 6.
        limit: seconds of processor time.
    """

    def __init__(
        self,
        retired: Callable[[], int | None],
        plan: LaunchPlan,
        give_up: Callable[[PtxkitError], None],
        limit: float = LIMIT,
    ) -> None:
        self._retired = retired
        self._plan = plan
        self._give_up = give_up
        self._limit = limit
        self._done = threading.Event()

    def __enter__(self) -> Stalled:
        threading.Thread(target=self._look, name="stalled", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _look(self) -> None:
        seen, since = self._retired(), _now()
        while not self._done.wait(min(1.0, self._limit / 4)):
            retired, now = self._retired(), _now()
            if retired is None or retired != seen:
                seen, since = retired, now
            elif now[0] - since[0] > self._limit or now[1] - since[1] > IDLE * self._limit:
                what, took = kernels_of(self._plan), now[1] - since[1]
                message = f"the emulation of {what} was ended: it had retired no instruction for {took:.0f} s"
                stalled = error("P565", message, help="this is a bug of the emulator; please report it")
                self._give_up(stalled)
                os._exit(exit_code(stalled.diagnostics))


def _now() -> tuple[float, float]:
    """Processor time of this process and time, in seconds."""
    return time.process_time(), time.monotonic()


def kernels_of(plan: LaunchPlan) -> str:
    """The entries that a plan launches, and the file."""
    entries = plan.program.module().entries
    names = dict.fromkeys(launch.entry or entries[0].name for launch in plan.launches)
    return f"{', '.join(f'`{name}`' for name in names)} of `{plan.program.name}`"
