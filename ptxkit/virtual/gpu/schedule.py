"""When what was queued happens. An operation begins after the one before it in its stream, and after what
it was told to wait for; nothing else orders two operations. CUDA programming guide, "Asynchronous
concurrent execution".

- `eager`: everything happens when it is queued.
- `lazy`: nothing happens before somebody waits for it; then only what that needs, the youngest first, so that
  work which another stream should have waited for comes too late.
- `random`: by a seed, whatever may happen next, needed or not.

A GPU works while the host does something else: what nobody waits for happens after a while (`idle_work`).

A kernel on one of several devices may need another one that runs at the same time, or whatever else may
happen. So it happens round by round, and where it stalls, everything that may happen does, one after the
other. Only where none of it gets on is it stuck: whoever waits for it finds that out, and others leave it as
it is.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from random import Random
from threading import Condition, RLock, get_ident
from types import GeneratorType
from typing import Any, Protocol

from ptxkit.virtual.calling import NOWHERE, HostStack, host_stack
from ptxkit.virtual.gpu.stream_order import OrderedOperation, StreamOrder
from ptxkit.virtual.results import failure

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


Rounds = Generator[None]
"""What happens round by round: it has begun when it yields first, and stalls, or gives a turn to others, when
it yields again."""


class Operation:
    """Something queued.

    Attributes:
        run: what happens; where that is a round at a time, what gives the rounds.
        after: what must have happened before.
        owner: its context: once lost, nothing of it happens any more.
        number: in the order of queueing.
        outside: whether it runs code of the program, which may call the driver from other threads.
        done: whether it has happened, or never will.
        running: whether somebody runs it right now.
        thread: who runs it, or did last.
        rounds: what is left of it, where it happens round by round and has begun.
        beside: whether it begins when another such of another owner does, if it may.
        place: what has happened before it, whatever order they happen in.
        stream, stack: where it was queued: what its stream is called, and where the program stood.
        behind: those that were queued to happen after it.
        waits: how many it waits for that have not happened.
    """

    stack: HostStack = NOWHERE
    after: tuple[Operation, ...] = ()
    waits = 0
    done = False
    running = False
    thread = 0
    rounds: Rounds | None = None

    def __init__(
        self,
        number: int,
        run: Callable[[], Any],
        owner: Owner,
        outside: bool,
        beside: bool,
        place: OrderedOperation,
        stream: str,
    ) -> None:
        self.number = number
        self.run = run
        self.owner = owner
        self.outside = outside
        self.beside = beside
        self.place = place
        self.stream = stream
        self.behind: list[Operation] = []


class WorkSchedule:
    """The queues of all streams of all devices, as one graph of operations.

    Attributes:
        lock: held by whoever calls the machine; freed while code of the program runs.
        pending: what has not happened, in the order of queueing.
        streams: what happens before what.
        current: what happens just now, or happened last.
        queued: is called when something was queued that has not happened yet.
        stuck: says why nothing that has begun will ever get on; None where it may.
    """

    def __init__(self, order: str, seed: int) -> None:
        self.order = order
        self.lock = RLock()
        self._changed = Condition(self.lock)
        self._waiting = 0
        self._random = Random(seed)
        self._count = 0
        self.pending: dict[int, Operation] = {}
        self._free_to: dict[int, Operation] = {}
        self._beside: dict[int, int] = {}
        self.stuck: Callable[[], Exception | None] = lambda: None
        self.streams = StreamOrder()
        self.current: Operation | None = None
        self.queued: Callable[[], None] = lambda: None

    def queue(
        self,
        run: Callable[[], Any],
        owner: Owner,
        after: Iterable[Operation | None],
        outside: bool = False,
        beside: bool = False,
        stream: str = "a graph",
    ) -> Operation:
        """Queue an operation behind others; `stream`: what its stream is called."""
        places, ahead = [], []
        for other in after:
            if other is not None:
                places.append(other.place)
                if not other.done:
                    ahead.append(other)
        self._count = number = self._count + 1
        place = self.streams.place(places, owner)
        operation = Operation(number, run, owner, outside, beside, place, stream)
        if self.streams.several and self.streams.is_busy_beside(place):
            operation.stack = host_stack()
        self.pending[number] = operation
        if ahead:
            operation.after, operation.waits = tuple(ahead), len(ahead)
            for other in ahead:
                other.behind.append(operation)
        else:
            self._free_to[number] = operation
        if beside:
            self._beside[id(owner)] = self._beside.get(id(owner), 0) + 1
        if self.order == "eager":
            self._let([operation], patient=True)
        elif len(self.pending) > DEPTH:
            self._let([next(iter(self.pending.values()))], patient=True)
        else:
            self.queued()
        return operation

    def finish(self, operation: Operation | None) -> None:
        """The host waits for an operation: it happens, and what it waits for."""
        if operation is None:
            return
        if operation.waits or self.order == "random":
            self._let([operation])
        else:
            self._perform(operation)
        if operation.done:
            self.streams.saw(operation.place)

    @property
    def oldest(self) -> OrderedOperation | None:
        """The place of what was queued first of what has not ended."""
        first = next(iter(self.pending.values()), None)
        return None if first is None else first.place

    def _let(self, wanted: Iterable[Operation | None], patient: bool = False) -> None:
        """Let operations happen, and what they wait for. `patient`: those that are stuck may stay so."""
        needed = _closure(wanted)
        if not needed:
            return
        if len(needed) == 1 and self.order != "random":
            self._perform(needed[0], patient)
            return
        chosen = {operation.number for operation in needed}
        ready = [self._rank(operation) for operation in needed if not operation.waits]
        heapq.heapify(ready)
        while ready:
            operation = heapq.heappop(ready)[-1]
            if self.order == "random":
                self._anything()
            self._perform(operation, patient)
            for other in operation.behind if operation.done else ():
                if other.number in chosen and not other.waits:
                    heapq.heappush(ready, self._rank(other))

    def finish_all(self, owner: Owner | None = None) -> None:
        """The host waits for everything, or for everything of one context."""
        while wanted := [o for o in self.pending.values() if owner is None or o.owner is owner]:
            self._let(wanted)
        self.streams.all_seen(owner)

    def step(self, wanted: Operation | None) -> bool:
        """Let some of the operations that `wanted` needs happen, itself at last; whether it has happened.

        This is what a question for progress does: who asks often enough gets there.
        """
        until = time.perf_counter() + STEP
        for operation in _closure([wanted]):
            self._perform(operation, patient=True)  # the oldest first: what it waits for has happened
            if time.perf_counter() > until or not operation.done:
                break
        if wanted is not None and wanted.done:
            self.streams.saw(wanted.place)
        return wanted is None or wanted.done

    def idle_work(self) -> bool:
        """Let the oldest operation happen that may and is not stuck; whether there was one."""
        for operation in self._free():
            self._perform(operation, patient=True)
            if operation.done:
                return True
        return False

    def _free(self) -> list[Operation]:
        """The operations that may happen now, the oldest first."""
        found = [operation for operation in self._free_to.values() if not operation.running]
        return sorted(found, key=lambda operation: operation.number)

    def _rank(self, operation: Operation) -> tuple[float, int, Operation]:
        if self.order == "random":
            return self._random.random(), operation.number, operation
        return (-operation.number if self.order == "lazy" else operation.number), operation.number, operation

    def _anything(self) -> None:
        """Now and then let something happen that nobody asked for."""
        while self.pending and self._random.random() < 0.5:
            free = self._free()
            if not free:
                return
            self._perform(self._random.choice(free), patient=True)

    def _perform(self, operation: Operation, patient: bool = False) -> None:
        """Let an operation happen for which everything before it has; wait where another thread runs it.

        `patient`: if it is stuck, it stays so; otherwise everything that is stuck fails.

        Raises:
            DriverError: NOT_PERMITTED, this thread runs it: a host function, or a finaliser that Python calls
                while it emulates a kernel.
        """
        while not operation.done:
            if operation.running and operation.thread == get_ident():
                raise failure("NOT_PERMITTED", "called within what it would have to wait for")
            if operation.running:
                self._waiting += 1
                self._changed.wait()
                self._waiting -= 1
            elif not self._advance(operation) and not self._help(operation):
                problem = self.stuck()
                if problem is None:
                    continue
                if patient:
                    return
                for one in [one for one in self.pending.values() if one.rounds is not None]:
                    one.owner.lose(problem)
                    self._end(one)

    def _help(self, operation: Operation) -> bool:
        """Let everything else that may happen do so, or get on a little; whether any of it has happened."""
        happened, free = False, self._free()
        if self.order == "lazy":
            free.reverse()
        elif self.order == "random":
            self._random.shuffle(free)
        for other in free:
            if other is not operation and not other.running and not other.done:
                happened |= self._advance(other)
        return happened

    def _advance(self, operation: Operation) -> bool:
        """Let an operation happen, or get on until it stalls; whether it has happened."""
        operation.running, operation.thread = True, get_ident()
        over = True
        try:
            if not operation.owner.lost:
                if operation.rounds is None:
                    self._begin(operation)
                    if operation.beside and len(self._beside) > 1:
                        self._begin_beside(operation)
                if operation.rounds is not None:
                    next(operation.rounds)
                    over = False
        except StopIteration:
            pass
        except Exception as problem:  # noqa: BLE001 - whatever it is, the context is lost to it
            operation.owner.lose(problem)
        finally:
            operation.running = False
            if over:
                self._end(operation)
        return over

    def _begin(self, operation: Operation) -> None:
        """An operation begins, or happens at once."""
        if operation.outside:
            operation.place.begin()
            with _Unlocked(self.lock):
                operation.run()
            return
        self.current = operation
        operation.place.begin()
        rounds = operation.run()
        if rounds is not None and isinstance(rounds, GeneratorType):
            operation.rounds = rounds
            next(rounds)

    def _begin_beside(self, operation: Operation) -> None:
        """Those of other owners begin that may begin beside an operation."""
        for other in self._free():
            if other.beside and other.rounds is None and other.owner is not operation.owner:
                try:
                    if not other.owner.lost:
                        self._begin(other)
                except Exception as problem:  # noqa: BLE001 - its own context is lost to it
                    other.owner.lose(problem)
                    self._end(other)

    def _end(self, operation: Operation) -> None:
        """An operation has happened, or never will."""
        if operation.rounds is not None:
            operation.rounds.close()
            operation.rounds = None
        if operation.done:
            return
        operation.done = True
        operation.after = ()
        self.pending.pop(operation.number, None)
        self._free_to.pop(operation.number, None)
        for other in operation.behind:
            other.waits -= 1
            if not other.waits and not other.done:
                self._free_to[other.number] = other
        if operation.beside:
            owner = id(operation.owner)
            self._beside[owner] -= 1
            if not self._beside[owner]:
                del self._beside[owner]
        if self._waiting:
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
    left = [operation for operation in wanted if operation is not None and not operation.done]
    if not left or (len(left) == 1 and not left[0].waits):
        return left
    found: dict[int, Operation] = {}
    while left:
        operation = left.pop()
        if operation.number not in found:
            found[operation.number] = operation
            left.extend(_not_done(operation))
    return [found[number] for number in sorted(found)]


def _not_done(operation: Operation) -> Iterator[Operation]:
    return (other for other in operation.after if not other.done)
