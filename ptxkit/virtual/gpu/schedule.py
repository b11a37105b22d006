"""When what was queued happens. An operation begins after the one before it in its stream, and after what
it was told to wait for; nothing else orders two operations. CUDA programming guide, "Asynchronous
concurrent execution".

- `eager`: everything happens when it is queued.
- `lazy`: nothing happens before somebody waits for it; then only what that needs, the youngest first, so that
  work which another stream should have waited for comes too late.
- `random`: by a seed, whatever may happen next, needed or not.

A GPU works while the host does something else: what nobody waits for happens after a while (`idle_work`).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator
from random import Random
from threading import Condition, RLock
from typing import Any, Protocol

STEP = 0.0002
"""Seconds after which a question for progress begins no other operation."""
DEPTH = 1024
"""Operations that may be queued before the oldest one happens, as in the queues of a GPU."""


class Owner(Protocol):
    """The context of an operation."""

    def lose(self, problem: Exception) -> None:
        """An operation failed."""

    @property
    def lost(self) -> int:
        """The error code of the first that did, else 0."""


class Operation:
    """Something queued.

    Attributes:
        run: what happens.
        after: what must have happened before.
        owner: its context: once lost, nothing of it happens any more.
        number: in the order of queueing.
        outside: whether it runs code of the program, which may call the driver from other threads.
        done: whether it has happened, or never will.
        running: whether somebody runs it right now.
    """

    __slots__ = ("after", "done", "number", "outside", "owner", "run", "running")

    def __init__(self, run: Callable[[], Any], owner: Owner, outside: bool) -> None:
        self.run = run
        self.owner = owner
        self.outside = outside
        self.after: tuple[Operation, ...] = ()
        self.number = 0
        self.done = False
        self.running = False


class WorkSchedule:
    """The queues of all streams of all devices, as one graph of operations.

    Attributes:
        lock: held by whoever calls the machine; freed while code of the program runs.
        pending: what has not happened, in the order of queueing.
    """

    def __init__(self, order: str, seed: int) -> None:
        self.order = order
        self.lock = RLock()
        self._changed = Condition(self.lock)
        self._random = Random(seed)
        self._count = 0
        self.pending: dict[int, Operation] = {}

    def queue(
        self, run: Callable[[], Any], owner: Owner, after: Iterable[Operation | None], outside: bool = False
    ) -> Operation:
        """Queue an operation behind others."""
        operation = Operation(run, owner, outside)
        self._count += 1
        operation.number = self._count
        operation.after = tuple(other for other in after if other is not None and not other.done)
        self.pending[operation.number] = operation
        if self.order == "eager":
            self.finish([operation])
        elif len(self.pending) > DEPTH:
            self.finish([next(iter(self.pending.values()))])
        return operation

    def finish(self, wanted: Iterable[Operation | None]) -> None:
        """Let operations happen, and what they wait for."""
        needed = _closure(wanted)
        if not needed:
            return
        waiting = {operation.number: sum(not other.done for other in operation.after) for operation in needed}
        behind: dict[int, list[Operation]] = {}
        for operation in needed:
            for other in operation.after:
                if not other.done:
                    behind.setdefault(other.number, []).append(operation)
        ready = [self._rank(operation) for operation in needed if not waiting[operation.number]]
        heapq.heapify(ready)
        while ready:
            operation = heapq.heappop(ready)[-1]
            if self.order == "random":
                self._anything()
            self._perform(operation)
            for other in behind.get(operation.number, ()):
                waiting[other.number] -= 1
                if not waiting[other.number]:
                    heapq.heappush(ready, self._rank(other))

    def finish_all(self, owner: Owner | None = None) -> None:
        """Let everything happen, or everything of one context."""
        while wanted := [o for o in self.pending.values() if owner is None or o.owner is owner]:
            self.finish(wanted)

    def step(self, wanted: Operation | None) -> bool:
        """Let some of the operations that `wanted` needs happen, itself at last; whether it has happened.

        This is what a question for progress does: who asks often enough gets there.
        """
        until = time.perf_counter() + STEP
        for operation in _closure([wanted]):
            self._perform(operation)  # the oldest first: what it waits for has happened
            if time.perf_counter() > until:
                break
        return wanted is None or wanted.done

    def idle_work(self) -> bool:
        """Let the oldest operation happen that may; whether there was one."""
        for operation in list(self.pending.values()):
            if not operation.running and all(other.done for other in operation.after):
                self._perform(operation)
                return True
        return False

    def _rank(self, operation: Operation) -> tuple[float, int, Operation]:
        if self.order == "random":
            return self._random.random(), operation.number, operation
        return (-operation.number if self.order == "lazy" else operation.number), operation.number, operation

    def _anything(self) -> None:
        """Now and then let something happen that nobody asked for."""
        while self.pending and self._random.random() < 0.5:
            free = [
                o for o in self.pending.values() if all(other.done for other in o.after) and not o.running
            ]
            if not free:
                return
            self._perform(self._random.choice(free))

    def _perform(self, operation: Operation) -> None:
        """Let an operation happen for which everything before it has; wait where another thread runs it."""
        while operation.running:
            self._changed.wait()
        if operation.done:
            return
        operation.running = True
        try:
            if not operation.owner.lost:
                if operation.outside:
                    with _Unlocked(self.lock):
                        operation.run()
                else:
                    operation.run()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the context is lost to it
            operation.owner.lose(problem)
        finally:
            operation.running = False
            operation.done = True
            operation.after = ()
            self.pending.pop(operation.number, None)
            self._changed.notify_all()


class _Unlocked:
    """A stretch in which others may take a lock that this thread holds, however often it holds it."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._state = self._lock._release_save()

    def __exit__(self, *_: object) -> None:
        self._lock._acquire_restore(self._state)


def _closure(wanted: Iterable[Operation | None]) -> list[Operation]:
    """The operations that have not happened and must, so that those happen; the oldest first."""
    found: dict[int, Operation] = {}
    left = [operation for operation in wanted if operation is not None and not operation.done]
    while left:
        operation = left.pop()
        if operation.number not in found:
            found[operation.number] = operation
            left.extend(_not_done(operation))
    return [found[number] for number in sorted(found)]


def _not_done(operation: Operation) -> Iterator[Operation]:
    return (other for other in operation.after if not other.done)
