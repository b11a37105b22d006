"""The queue of a batch's asynchronous operations: when each happens, and who may know of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.exits import issued
from ptxkit.emulator.asynchronous.hazards import Hazards
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.operation import (
    Arrival,
    AsyncOperation,
    Groups,
    Membership,
    Trace,
    Transaction,
)
from ptxkit.emulator.asynchronous.validity import reporting
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.values import WARP

AT_ONCE = 0.3
"""In random order, how often an operation happens at issue, and how often when lane sets change."""
EXPIRIES = 1 << 10
"""How often time limits run out without anything having changed before it is a deadlock, although registers
are never what they were."""
TIME_LIMIT = 1_000_000
"""How long `try_wait` waits, in nanoseconds: a time that the system chooses."""


class Queue:
    """The operations of a batch that are in flight.

    Attributes:
        pending: those that have not been delivered, in the order of their issue.
        groups: the groups of each kind.
        mbarriers: of the batch.
        hazards: the sanitizer's part.
        refused: the synchronisation points whose first look at an incomplete phase has said no; by `id`.
        trace: takes down what happens; None where nobody wants it.
    """

    def __init__(self, batch: Ctas, mbarriers: MBarriers, happens_before: HappensBefore) -> None:
        self.batch = batch
        self.mbarriers = mbarriers
        mbarriers.phases_completed = self.phases_completed
        self.pending: list[AsyncOperation] = []
        self.groups = {name: Groups(name, batch) for name in ("cp.async", "bulk")}
        self.hazards = Hazards(batch, mbarriers, happens_before)
        self.eager = batch.launch.options.order == "eager"
        self.refused: set[int] = set()
        self.trace: Trace | None = None
        self._random = batch.launch.random
        self._stamp = -1
        self._states: set[bytes] = set()

    # ---- what instructions call

    def issue(self, operation: AsyncOperation, held: bool = False) -> None:
        """Queue an operation; in eager order do it. `held`: it waits for `begin`. Raises EmulatorFault: its
        bytes are in use."""
        launch = self.batch.launch
        operation.number = launch.events.take(operation.site)
        launch.counts.issue(operation.site.name, operation.count)
        if launch.sanitize:
            issued(operation, self.mbarriers)
            self.hazards.enter(operation)
            self.hazards.in_flight.append(operation)
        if not held:
            self.begin(operation)

    def begin(self, operation: AsyncOperation) -> None:
        """An operation may happen from now on; in eager order it does."""
        self.pending.append(operation)
        if self.trace is not None:
            self.trace.issued(operation)
        if self.eager:
            self.complete(operation)
        elif self._random is not None:
            drawn = self._random.random()
            if drawn < AT_ONCE / 2:
                self.complete(operation)
            elif drawn < AT_ONCE:
                self.fetch(operation)

    def fetch(self, operation: AsyncOperation) -> None:
        """Read what an operation reads, with everything that it comes after."""
        if operation.fetched:
            return
        self._follow(operation)
        if operation.validity is not None:
            launch, (source, *_) = self.batch.launch, operation.reads
            operation.reporting = reporting(
                operation.validity, source, operation.count, operation.site, launch
            )
        operation.data = operation.fetch()

    def _follow(self, operation: AsyncOperation) -> None:
        """An operation is on its way: whatever it comes after is done."""
        operation.fetched = True
        self.batch.launch.changes += 1  # nothing is stuck while an operation is on its way
        for earlier in operation.after:
            self.complete(earlier)

    def complete(self, operation: AsyncOperation) -> None:
        """Do an operation to its end, with everything that it comes after, and signal it."""
        if operation.delivered:
            return
        whole = None if operation.fetched else operation.whole
        if whole is None:
            self.fetch(operation)
        else:
            self._follow(operation)
        if operation.delivered:
            return
        operation.delivered = True
        if whole is None:
            operation.deliver(operation.data)
            operation.data = None
        else:
            whole()
        self.pending.remove(operation)
        if self.trace is not None:
            self.trace.completed(operation)
        self.batch.launch.changes += 1
        match operation.signal:
            case Transaction(slots=slots, sizes=sizes):
                operation.phases = self.mbarriers.phase[slots]
                threads = self._threads(operation)
                if operation.reporting is not None and (told := operation.reporting).any():
                    self.mbarriers.report_on(slots[told], threads[told], operation.site)
                self.mbarriers.complete_tx(slots, sizes, threads, operation.site, operation.number)
            case Arrival(slots=slots):
                operation.phases = self.mbarriers.phase[slots]
                self._arrive(operation, slots)

    def _arrive(self, operation: AsyncOperation, slots: np.ndarray) -> None:
        counts = np.ones(len(slots), np.int64)
        threads = self._threads(operation)
        self.mbarriers.arrive(slots, counts, threads, operation.site, issued=operation.number)

    @staticmethod
    def _threads(operation: AsyncOperation) -> np.ndarray:
        return operation.rows * WARP + operation.lanes

    def finish(self, operations: Iterable[AsyncOperation]) -> None:
        """A wait covers these operations: they are done by now."""
        for operation in list(operations):
            self.complete(operation)

    def observe(
        self, operation: AsyncOperation, items: np.ndarray, *, reads: bool = True, writes: bool = True
    ) -> None:
        """The issuing threads know from now on that some items of an operation are done. `items`: which, bool
        (count,). `reads`, `writes`: which of its accesses."""
        if self.batch.launch.sanitize:
            self.hazards.observe(operation, items, reads, writes)

    def wait(
        self,
        name: str,
        rows: np.ndarray,
        lanes: np.ndarray,
        left: int,
        site: Site,
        read: bool,
        proxied: bool = False,
    ) -> None:
        """These threads wait until at most `left` of their groups of a kind are pending.

        Args:
            name: the kind.
            rows, lanes: the threads.
            left: of the youngest groups, how many may be pending.
            read: whether it is enough that the sources have been read.
            proxied: whether it orders what the async proxy does later, and nothing else.
        """
        groups = self.groups[name]
        number = self.batch.launch.events.take(site)
        reach = None
        for operation in list(dict.fromkeys((*self.pending, *self.hazards.in_flight))):
            signal = operation.signal
            if not isinstance(signal, Membership) or signal.groups is not groups:
                continue
            if reach is None:
                reach = groups.reach(rows, lanes, left)
            covered: np.ndarray = signal.index < reach[operation.rows, operation.lanes]
            if not covered.any():
                continue
            if read:
                self.fetch(operation)
            else:
                self.complete(operation)
            if proxied:
                known: Any = 0 if operation.proxied is None else operation.proxied
                operation.proxied = np.where(covered & (known == 0), number, known)
                continue
            self.observe(operation, covered, writes=not read)
        if not read and not proxied:
            groups.wait(rows, lanes, left, number)

    # ---- what mbarriers call

    def phases_completed(self, slots: np.ndarray, site: Site) -> None:
        """The phases of some mbarriers have completed: whoever waits for them will know what they signal."""
        if self.hazards.in_flight:
            self.hazards.phases_completed(slots, site)

    # ---- when things happen

    def stir(self) -> None:
        """Lane sets change: in random order something may happen."""
        if self._random is not None and self.pending and self._random.random() < AT_ONCE:
            self._draw()

    def _draw(self) -> None:
        assert self._random is not None
        operation = self.pending[int(self._random.integers(len(self.pending)))]
        if operation.fetched or self._random.random() < 0.5:
            self.complete(operation)
        else:
            self.fetch(operation)

    def advance(self) -> bool:
        """Let an operation happen, where nothing else can: in lazy order the oldest that somebody waits for.

        The same instruction's in other CTAs, if they are waited for too, happen with it, so that these go
        on together.

        Returns:
            Whether there was any.
        """
        if not self.pending:
            return False
        if self._random is not None:
            self._draw()
            return True
        wanted = frozenset(self.batch.scheduling.awaited().tolist())
        chosen = [operation for operation in self.pending if _signals(operation, wanted)] if wanted else []
        if not chosen:
            self.complete(self.pending[0])
        for operation in chosen:
            if operation.site is chosen[0].site:
                self.complete(operation)
        return True

    def awaken(self) -> bool:
        """No lane set can run: let operations happen until one can; then let time limits run out. Returns
        whether a lane set can run."""
        launch, scheduling = self.batch.launch, self.batch.scheduling
        while self.pending:
            self.advance()
            if scheduling.runnable():
                return True
        stamp = self.mbarriers.stamp + launch.changes
        if stamp != self._stamp:
            self._stamp = stamp
            self._states.clear()
        now = scheduling.state()
        if now in self._states or len(self._states) > EXPIRIES:
            return False
        self._states.add(now)
        launch.clock += TIME_LIMIT
        return scheduling.expire()

    def drain(self) -> None:
        """The batch's threads have exited: whatever is in flight happens."""
        while self.pending:
            self.complete(self.pending[0])


def _signals(operation: AsyncOperation, slots: frozenset[int]) -> bool:
    """Whether an operation will signal one of some mbarriers."""
    signal = operation.signal
    return isinstance(signal, Transaction | Arrival) and not slots.isdisjoint(signal.slots.tolist())
