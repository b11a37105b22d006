"""A batch of CTAs: what its parts are, and how they know of one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.operation import Trace
from ptxkit.emulator.asynchronous.queue import Queue
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.values import WARP

T = TypeVar("T")


class RelaxedOrder(Protocol):
    """What relaxed operations on mbarriers order, beside memory; see `tensor_memory.order`."""

    def arrive(self, rows: np.ndarray, slots: np.ndarray, number: int) -> None: ...

    def wait(self, rows: np.ndarray, slots: np.ndarray) -> None: ...


class CtaBatch(Ctas):
    """CTAs that execute together.

    What only some kernels need (barriers, products in flight, tensor memory), `own` makes when it is first
    asked for.

    Attributes:
        local: the local memory of each thread; one tile that nobody may touch where there is none.
        happens_before: the vector clocks of its warps, and what advances them.
        mbarriers: the objects in its shared memory.
        queue: its asynchronous operations.
        at_exit: called with the rows of which threads have exited.
        relaxed: what relaxed operations on mbarriers order; None where that is nothing.
        trace: takes down what happens here; None where nobody wants it.
    """

    def __init__(self, launch: LaunchState, ctas: np.ndarray, frame: int) -> None:
        super().__init__(launch, ctas)
        self.local = TiledBank(self.rows * WARP if frame else 1, frame, launch.sanitize)
        clocks = HappensBefore
        if launch.company is not None:
            from ptxkit.emulator.company_clocks import CompanyClocks

            clocks = CompanyClocks
        self.happens_before = clocks(self, launch.events.ordered)
        self.mbarriers = MBarriers(self, self.happens_before)
        self.queue = Queue(self, self.mbarriers, self.happens_before)
        self.at_exit: list[Callable[[np.ndarray], None]] = []
        self.relaxed_order: RelaxedOrder | None = None
        self.trace: Trace | None = None
        self._own: dict[Any, Any] = {}

    def record(self, trace: Trace) -> None:
        """From now on something takes down what happens here."""
        self.trace = self.queue.trace = self.mbarriers.trace = trace

    def dissolve(self) -> None:
        """It has ended, and nobody looks at it any more: its parts, which know one another, forget all they
        have, so that no garbage collector need find out."""
        for part in (self.happens_before, self.mbarriers, self.queue.hazards, self.queue, self):
            vars(part).clear()

    def own(self, make: Callable[[CtaBatch], T]) -> T:
        """What a part of the machine keeps for the batch; made when it is first asked for."""
        found = self._own.get(make)
        if found is None:
            found = self._own[make] = make(self)
        return found

    def found(self, make: Callable[[CtaBatch], T]) -> T | None:
        """The same if it has been asked for before."""
        return self._own.get(make)
