"""One asynchronous operation: what an instruction started for the lanes of a set, and what it signals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import Validity


class Groups:
    """The groups of one kind, `cp.async` or `bulk`, of every thread of a batch.

    Attributes:
        name: the kind.
        committed: int64 (rows, 32), how many groups each thread has committed; the number of the open one.
        waited: int64 (rows, 32), the event of each thread's last wait; 0 for none.
        left: int64 (rows, 32), how many groups that wait left pending.
    """

    def __init__(self, name: str, batch: Ctas) -> None:
        self.name = name
        self._shape = (batch.rows, WARP)

    # Most kernels have no group, and a batch begins too often to make these for nothing.

    @cached_property
    def committed(self) -> np.ndarray:
        return np.zeros(self._shape, np.int64)

    @cached_property
    def waited(self) -> np.ndarray:
        return np.zeros(self._shape, np.int64)

    @cached_property
    def left(self) -> np.ndarray:
        return np.zeros(self._shape, np.int64)

    def join(self, rows: np.ndarray, lanes: np.ndarray) -> Membership:
        """The signal of an operation that these threads issue: it belongs to the group that each has open."""
        return Membership(self, self.committed[rows, lanes])

    def commit(self, rows: np.ndarray, lanes: np.ndarray) -> None:
        """These threads close their open groups, empty ones too."""
        self.committed[rows, lanes] += 1

    def reach(self, rows: np.ndarray, lanes: np.ndarray, left: int) -> np.ndarray:
        """For each thread, int64 (rows, 32), which of its groups is the first that a wait of these threads
        for all but `left` groups doesn't cover."""
        reach = np.full(self.committed.shape, -1, np.int64)
        reach[rows, lanes] = self.committed[rows, lanes] - left
        return reach

    def wait(self, rows: np.ndarray, lanes: np.ndarray, left: int, number: int) -> None:
        """Take note that these threads waited."""
        self.waited[rows, lanes] = number
        self.left[rows, lanes] = left


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Each item belongs to a group of its issuing thread, which waits for it there.

    Attributes:
        groups: of which kind.
        index: the number of the thread's group.
    """

    groups: Groups
    index: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Transaction:
    """Each item subtracts its bytes from the tx-count of an mbarrier: complete_tx, PTX ISA 9.7.13.15.5.

    Attributes:
        slots: the mbarrier of each item.
        sizes: bytes of each.
    """

    slots: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """Each item arrives at an mbarrier with count 1.

    Attributes:
        slots: the mbarrier of each item.
        covers_after: whether the phase's completion tells that everything in `AsyncOperation.after` is done.
    """

    slots: np.ndarray
    covers_after: bool = True


Signal = Transaction | Arrival | Membership


def _nothing(data: Any = None) -> Any:
    return None


@dataclass(slots=True, eq=False)
class AsyncOperation:
    """What one instruction started; see the package's docstring.

    Attributes:
        batch: where.
        rows, lanes: the issuing thread of each item.
        reads, writes: bytes that it touches.
        reads_at_once: the same bytes as `reads` at its issue as one region, where that is at hand.
        fetch: reads every source; what it returns goes to `deliver`, which writes every result.
        whole: does both, where nothing comes between them; None for `fetch`, then `deliver`.
        signal: what its completion does.
        proxy: `async` or `generic`; `fabric` for what reaches global memory through that, and shared memory
            through the async proxy.
        after: what must be done before it is.
        reduces: whether it combines with what is there, so that several may be in flight at once.
        strong: whether it reads and writes 16 bytes at a time by strong operations: two such do not race.
        validity: what it looks for in what it reads, to report on the mbarriers that it signals; None for
            nothing.
        warps: how many warps issue each item together, from its row on: 4 of a warpgroup.
        completion: int64 (count,), the number in `HappensBefore.completed` by which warps that have waited
            know of each item's completion; None where a wait tells the issuing thread alone, or an mbarrier
            tells.
        number: the event of its issue.
        fetched, delivered: how far it is.
        data: what was fetched.
        reporting: bool (count,), which items found what they look for, once it has fetched.
        phases: for a `Transaction`, the phase that each item's bytes counted for; -1 before that.
        proxied: int64 (count,), the event of a wait by which the issuing thread has seen each item done, for
            the async proxy alone; 0 for none. None where there was no such wait.
        unread, unwritten: bool (count,), the items whose reads and writes nobody has seen completed.
    """

    site: Site
    batch: Ctas
    rows: np.ndarray
    lanes: np.ndarray
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    reads_at_once: Region | None = None
    fetch: Callable[[], Any] = _nothing
    deliver: Callable[[Any], None] = _nothing
    whole: Callable[[], None] | None = None
    signal: Signal | None = None
    proxy: str = "async"
    after: tuple[AsyncOperation, ...] = ()
    reduces: bool = False
    strong: bool = False
    validity: Validity | None = None
    warps: int = 1
    completion: np.ndarray | None = None
    number: int = 0
    fetched: bool = False
    delivered: bool = False
    data: Any = None
    reporting: np.ndarray | None = None
    proxied: np.ndarray | None = None
    phases: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    unread: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    unwritten: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def count(self) -> int:
        """How many items it has."""
        return len(self.rows)

    @property
    def spelling(self) -> str:
        """The instruction's name with its modifiers."""
        return self.site.instruction.spelling

    def thread(self, item: int) -> str:
        """The issuing thread of an item, as messages call it."""
        return str(self.batch.thread(int(self.rows[item]), int(self.lanes[item])))


class Trace(Protocol):
    """Takes down what happens to operations, mbarriers and tensor memory; see `ptxkit.emulator.timeline`."""

    def issued(
        self, operation: AsyncOperation, site: Site | None = None, reads: Sequence[Region] | None = None
    ) -> None: ...

    def completed(self, operation: AsyncOperation) -> None: ...

    def turned(self, slots: np.ndarray) -> None: ...

    def invalidated(self, slots: np.ndarray) -> None: ...

    def allocated(self, cta: int, first: int, columns: int, cta_group: int, site: Site) -> None: ...

    def freed(self, cta: int, first: int) -> None: ...
