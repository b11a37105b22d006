"""The tensor memory of a batch at work: chains of asynchronous instructions, and when they happen.

What a thread issues between two commits is a chain: one operation of the batch's queue, which carries out its
instructions in the order of their issue when it is delivered. `tcgen05.commit` is an operation that comes
after the chains of its thread and arrives at the mbarrier. The reads of shared memory are the chain's
regions, so that the queue's hazards cover them; cells of tensor memory are in the `InFlightTable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import ASYNC
from ptxkit.emulator.asynchronous.granules import Granules
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.tensor_memory.allocation import ColumnPool, ColumnPools, Holder, leak
from ptxkit.emulator.tensor_memory.cells import TensorMemory
from ptxkit.emulator.tensor_memory.consumed import consumed_loads
from ptxkit.emulator.tensor_memory.factors import Side
from ptxkit.emulator.tensor_memory.in_flight import InFlightTable
from ptxkit.emulator.tensor_memory.order import Fences, Tcgen05InFlight
from ptxkit.emulator.tensor_memory.shared_reads import SharedRead, SharedReads
from ptxkit.targets import limits


class Tcgen05Work:
    """What an instruction does when it happens; `work`: that, of one that reads no matrix A early."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.do = work

    def read_a(self) -> None:
        """Read matrix A now, if it lies in shared memory; the rest comes later."""


@dataclass(slots=True, eq=False)
class ChainStep:
    """An instruction of a chain.

    Attributes:
        issued: the same in the account.
        work: what it does.
        a: where its matrix A lies in shared memory, until somebody knows that it has been read.
    """

    issued: Tcgen05InFlight
    work: Tcgen05Work
    a: tuple[Region, ...]


@dataclass(slots=True, eq=False)
class Chain:
    """The instructions of a thread since its last commit.

    Attributes:
        operation: of the queue.
        steps: its instructions, in order.
        done: how many of them have been carried out.
    """

    operation: AsyncOperation
    steps: list[ChainStep] = field(default_factory=list)
    done: int = 0

    def run(self) -> None:
        """Do all that is left."""
        steps, self.done = self.steps[self.done :], len(self.steps)
        for step in steps:
            step.work.do()


@dataclass(frozen=True, slots=True)
class ColumnRequest:
    """What a warp asks for at an allocation or deallocation.

    Attributes:
        row: the warp.
        columns: how many.
        address: the TMEM address to be freed.
        exclusive: whether no other allocation may live meanwhile.
    """

    row: int
    columns: int
    address: int
    exclusive: bool
    site: Site


class Engine:
    """What a batch has of tensor memory.

    Attributes:
        memory: the cells.
        columns: that each SM has.
        holders: what each CTA has allocated.
        reads: where instructions read shared memory.
        in_flight: who may touch which cells; empty without the sanitizer.
        local: the number by which `HappensBefore.completed` knows what commits tell of.
        local_reads: that for what is told of reads of matrix A alone.
        groups: for each CTA the `.cta_group` of its first instruction, and that instruction.
        collectors: for each CTA and buffer what fills it.
        requests: by kind of synchronisation point and CTA, warps that wait for the other CTA of their pair.
        granted: by row the address that its allocation has got.
        freed: rows whose deallocation the other CTA of the pair has carried out.
        fences: relaxed operations on mbarriers, and the fences that make them order something.
    """

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        launch = batch.launch
        self.memory = TensorMemory(len(batch.ctas), launch.sanitize)
        self.columns = limits(launch.program.capability).tensor_memory_columns
        self.holders = [
            Holder(int(number), f"CTA {batch.name_cta(cta)}") for cta, number in enumerate(batch.ctas)
        ]
        self.local = batch.mbarriers.reserve() if launch.sanitize else 0
        self.local_reads = batch.mbarriers.reserve(reads=True) if launch.sanitize else 0
        self.groups: dict[int, tuple[int, Site]] = {}
        self.collectors: dict[tuple[int, str], Any] = {}
        self.requests: dict[tuple[str, int], ColumnRequest] = {}
        self.granted: dict[int, int] = {}
        self.freed: set[int] = set()
        self.fences = Fences(batch, self.local)
        batch.relaxed_order = self.fences
        self.in_flight = InFlightTable(self.fences)
        self._gone = np.zeros(len(batch.ctas), bool)
        self._chains: dict[tuple[int, int], list[Chain]] = {}
        self._consumed: dict[str, frozenset[int]] = {}
        self.reads = SharedReads(batch)
        batch.at_exit.append(self.retired)

    def pool(self, cta: int) -> ColumnPool:
        """The columns of the SM that a CTA of the batch runs on."""
        number = int(self.batch.ctas[cta]) % self.batch.launch.sm_count
        pool = self.batch.launch.own(ColumnPools).setdefault(number, ColumnPool(self.columns))
        if self.batch not in pool.batches:
            pool.batches.append(self.batch)
        return pool

    def check_group(self, cta: int, group: int, site: Site, who: str) -> None:
        """All instructions of a CTA have the same `.cta_group`; two CTAs must be there for `.cta_group::2`.
        Raises P6121, P6123; P6122, the other CTA has exited."""
        known, first = self.groups.setdefault(cta, (group, site))
        if known != group:
            message = f"expected `.cta_group::{known}` as before, found `.cta_group::{group}`"
            raise fault(
                "P6121",
                f"{message}",
                site,
                (who, f"`{first.instruction.spelling}` at {first.where} was the first one"),
                "use one `.cta_group` throughout a kernel",
            )
        if group == 1:
            return
        batch = self.batch
        if batch.cluster % 2:
            raise fault(
                "P6123",
                f"`.cta_group::2` needs pairs of CTAs, found clusters of {batch.cluster}",
                site,
                (who,),
                "launch with an even cluster size",
            )
        peer = cta ^ 1
        if not batch.alive[peer * batch.warps_per_cta : (peer + 1) * batch.warps_per_cta].any():
            raise fault(
                "P6122",
                f"the other CTA of the pair, {batch.name_cta(peer)}, has exited",
                site,
                (who,),
                "let both CTAs meet at a cluster barrier before either exits",
            )

    def retired(self, rows: np.ndarray) -> None:
        """Threads of some rows have exited: CTAs without any left give up what they have of their SMs. Raises
        P6111, a CTA still has columns."""
        batch = self.batch
        gone: np.ndarray = ~np.any(batch.alive.reshape(len(batch.ctas), -1), axis=1)
        for cta in np.flatnonzero(gone & ~self._gone).tolist():
            holder, pool = self.holders[cta], self.pool(cta)
            if holder.held and batch.launch.sanitize:
                raise leak(holder)
            for one in holder.held:
                pool.taken[one.first : one.end] = False
            if pool.permit is holder:
                pool.permit = None
            if pool.exclusive is holder:
                pool.exclusive = None
            pool.wake()
        self._gone = gone

    def side(self, cta: int) -> Side:
        """The shared memory of a CTA."""
        return Side(cta, self.batch.shared, self.batch.launch.shared.start)

    def pair(self, cta: int, cta_group: int) -> tuple[int, ...]:
        """The CTAs that an instruction works on, the even one first."""
        return (cta,) if cta_group == 1 else (cta & ~1, cta | 1)

    # ---- asynchronous instructions

    def issue(self, issued: Tcgen05InFlight, shared: Sequence[SharedRead], work: Tcgen05Work) -> None:
        """Queue an instruction that a commit tracks.

        Args:
            issued: the instruction in the account.
            shared: what it reads from shared memory.
            work: what it does.

        Raises:
            EmulatorFault: it touches what others use.
        """
        batch = self.batch
        regions, of_a, whole = self.reads(tuple(shared))
        step = ChainStep(issued, work, of_a)
        issued.number = batch.launch.events.take(issued.site)
        chains = self._chains.setdefault((issued.row, issued.lane), [])
        if not chains or not self._open(chains[-1]):
            earlier = tuple(chain.operation for chain in chains if not chain.operation.delivered)
            operation = AsyncOperation(
                issued.site,
                batch,
                *self._issuer(issued),
                reads=regions,
                reads_at_once=whole,
                after=earlier,
            )
            chain = Chain(operation)
            operation.deliver = lambda data: chain.run()
            self._enter(issued)
            chain.steps.append(step)
            chains.append(chain)
            batch.queue.issue(operation)
            return
        chain = chains[-1]
        if batch.launch.sanitize:
            again = AsyncOperation(
                issued.site,
                batch,
                *self._issuer(issued),
                reads=regions,
                reads_at_once=whole,
                number=issued.number,
            )
            batch.queue.hazards.enter(again)
        self._enter(issued)
        batch.launch.counts.issue(issued.site.name, 1)
        chain.operation.reads += regions
        if batch.trace is not None:
            batch.trace.issued(chain.operation, issued.site, regions)
        chain.steps.append(step)
        if chain.operation.delivered:
            chain.run()

    def _open(self, chain: Chain) -> bool:
        """Whether an instruction may join a chain: nothing has committed it, and it happens together."""
        if chain.steps[-1].issued.committed is not None:
            return False
        return not chain.operation.delivered or self.batch.queue.eager

    def _issuer(self, issued: Tcgen05InFlight) -> tuple[np.ndarray, np.ndarray]:
        return np.array([issued.row]), np.array([issued.lane])

    def _enter(self, issued: Tcgen05InFlight) -> None:
        if self.batch.launch.sanitize:
            self.fences.used(issued.row, issued.number)
            self.in_flight.enter(issued)

    def is_consumed(self, site: Site) -> bool:
        """Whether the registers of a load are read before anything that could order others behind it; never
        where the device is strict."""
        launch = self.batch.launch
        if launch.strict:
            return False
        if site.function not in self._consumed:
            self._consumed[site.function] = consumed_loads(launch.program.flow(site.function))
        return id(site.instruction) in self._consumed[site.function]

    def at_once(self, issued: Tcgen05InFlight, over: bool = False) -> None:
        """Take in a load, a store or a deallocation, which happens now. `over`: whether nobody need wait for
        it."""
        issued.number = self.batch.launch.events.take(issued.site)
        if over:
            issued.done = issued.number
        self._enter(issued)

    def commit(self, site: Site, row: int, lane: int, cta_group: int, slots: np.ndarray) -> None:
        """Let mbarriers track what a thread has issued so far with this `.cta_group`."""
        batch = self.batch
        chains = self._chains.get((row, lane), [])
        for chain in chains:
            for step in chain.steps:
                if step.issued.cta_group == cta_group:
                    step.issued.committed = site
        number = batch.launch.events.take(site)
        self.in_flight.committed(row, lane, site, number)
        rows, lanes = np.full(len(slots), row), np.full(len(slots), lane)
        if batch.launch.sanitize:
            # The work came after all that the thread had seen: so does whoever waits for its completion.
            batch.happens_before.release_acquired(rows, slots)
        tracked = tuple(chains)
        operation = AsyncOperation(
            site,
            batch,
            rows,
            lanes,
            signal=Arrival(slots),
            after=tuple(chain.operation for chain in tracked if not chain.operation.delivered),
            deliver=lambda data: self._complete(tracked, row, lane, slots, cta_group, site),
        )
        batch.queue.issue(operation)

    def _complete(
        self, chains: tuple[Chain, ...], row: int, lane: int, slots: np.ndarray, cta_group: int, site: Site
    ) -> None:
        """Everything that a commit tracks is done: whoever waits for its mbarriers will know."""
        batch = self.batch
        number = batch.launch.events.take(site)
        for chain in chains:
            for step in chain.steps:
                step.issued.done = step.issued.done or number
            self._leave(chain.operation, number)
        mine = self._chains.get((row, lane), [])
        self._chains[row, lane] = [chain for chain in mine if chain not in chains]
        if batch.launch.sanitize:
            rank = row // batch.warps_per_cta % batch.cluster
            for one in self.pair(rank, cta_group):
                for local in (self.local, self.local_reads):
                    batch.happens_before.tell(slots, one, local, number)

    def commit_reads(self, site: Site, row: int, lane: int, cta_group: int, slots: np.ndarray) -> None:
        """Let mbarriers track the reads of matrix A from shared memory of what a thread has issued so far."""
        batch = self.batch
        tracked = [
            (chain.operation, step)
            for chain in self._chains.get((row, lane), [])
            for step in chain.steps
            if step.issued.cta_group == cta_group
        ]
        for _, step in tracked:
            step.issued.read = site
        rows, lanes = np.full(len(slots), row), np.full(len(slots), lane)
        if batch.launch.sanitize:
            batch.happens_before.release_acquired(rows, slots)

        def arrive(data: Any) -> None:
            number = batch.launch.events.take(site)
            for operation, step in tracked:
                step.work.read_a()
                if step.a and operation.unread.any():
                    operation.reads = tuple(one for one in operation.reads if one not in step.a)
                    self._over(step.a, self.local_reads, number)
                step.a = ()
            if batch.launch.sanitize:
                rank = row // batch.warps_per_cta % batch.cluster
                for one in self.pair(rank, cta_group):
                    batch.happens_before.tell(slots, one, self.local_reads, number)

        batch.queue.issue(AsyncOperation(site, batch, rows, lanes, signal=Arrival(slots), deliver=arrive))

    def _leave(self, operation: AsyncOperation, number: int) -> None:
        """The reads of shared memory are over: later writes must know of the commit."""
        if operation.unread.any():
            operation.unread[:] = False
            self._over(operation.reads, self.local, number)

    def _over(self, regions: Sequence[Region], local: int, number: int) -> None:
        """Reads are over, of which a number of `HappensBefore.completed` tells."""
        bank = self.batch.shared
        history = bank.history
        if history is None or not regions:
            return
        start = np.concatenate([region.start for region in regions])
        size = np.concatenate([region.size for region in regions])
        tiles = start // bank.stride
        threads = self.batch.happens_before.record_of_machine(history, np.full(len(start), local), tiles)
        touched = Granules(self.batch, history, Region(bank, start, size))
        records = history.own(number, ASYNC, threads)
        for kind in ("first read", "last read"):
            touched.fill(kind, records)
