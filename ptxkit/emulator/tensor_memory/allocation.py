"""Who has which columns of tensor memory. PTX ISA 9.7.16.7.

The columns belong to an SM; CTAs that share one wait for one another. A CTA that allocates has the permit to
do so until it relinquishes it or exits, and no other CTA of its SM may allocate meanwhile. An exclusive
allocation is the only one of its SM while it lives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import EmulatorFault, Site, fault

SIZES = (32, 64, 128, 256, 512)
UNIT = 32
"""Columns of which an exclusive allocation has a multiple."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnAllocation:
    """Columns that a CTA has.

    Attributes:
        first, columns: which.
        cta_group: 1, or 2 where both CTAs of a pair have them together.
        exclusive: whether no other allocation may live on the SM.
        site: the instruction that allocated them.
        thread: the first thread of the warp that executed it.
        row: that warp.
        number: the event of the allocation.
        arrivals: how often that warp had arrived at the cluster barrier by then.
    """

    first: int
    columns: int
    cta_group: int
    exclusive: bool
    site: Site
    thread: str
    row: int
    number: int
    arrivals: int

    @property
    def end(self) -> int:
        """The column after the last."""
        return self.first + self.columns

    def __str__(self) -> str:
        by = f"`{self.site.instruction.spelling}` at {self.site.where}"
        return f"columns {self.first} to {self.end - 1}, allocated by {by}"


@dataclass(slots=True, eq=False)
class Holder:
    """What one CTA has and had.

    Attributes:
        cta: its number in the grid.
        name: what messages call it.
        held: what it has.
        freed: what it gave back, the last of each base.
        least: columns of its last allocation, which later ones must not exceed.
        relinquished: the instruction by which it gave up its permit.
    """

    cta: int
    name: str
    held: list[ColumnAllocation] = field(default_factory=list)
    freed: dict[int, tuple[ColumnAllocation, Site]] = field(default_factory=dict)
    least: ColumnAllocation | None = None
    relinquished: Site | None = None

    def owns(self, first: int, end: int) -> bool:
        """Whether columns are all in its allocations."""
        column = first
        for one in sorted(self.held, key=lambda held: held.first):
            if one.first <= column < one.end:
                column = one.end
        return column >= end

    def notes(self) -> list[str]:
        """What it has, for findings."""
        return [f"{self.name} has {one}" for one in self.held] or [f"{self.name} has no tensor memory"]


class ColumnPool:
    """The columns of one SM.

    Args:
        columns: how many it has.

    Attributes:
        taken: bool (columns,).
        exclusive: the holder of an exclusive allocation, as long as that lives.
        permit: the CTA that may allocate, as long as it has neither relinquished nor exited.
        batches: those that may wait for columns.
    """

    def __init__(self, columns: int) -> None:
        self.taken = np.zeros(columns, bool)
        self.exclusive: Holder | None = None
        self.permit: Holder | None = None
        self.batches: list[Ctas] = []

    def may(self, holder: Holder) -> bool:
        """Whether a CTA has or can take the permit."""
        return self.permit is None or self.permit is holder

    def wake(self) -> None:
        """Columns or the permit have become free: whoever waits for them tries again."""
        for batch in self.batches:
            batch.scheduling.reconsider()

    def free(self) -> int:
        """How many columns nobody has."""
        return int(np.count_nonzero(~self.taken))


class ColumnPools(dict[int, ColumnPool]):
    """The columns of each SM of a launch that has given any."""


def places(pools: list[ColumnPool], columns: int, exclusive: bool) -> np.ndarray:
    """The first columns at which an allocation fits into every pool; column 0 for an exclusive one, where
    nobody has any."""
    taken = np.logical_or.reduce([pool.taken for pool in pools])
    if any(pool.exclusive for pool in pools) or (exclusive and taken.any()):
        return np.zeros(0, np.int64)
    if exclusive:
        return np.zeros(1, np.int64)
    fits = ~taken[: SIZES[-1]].reshape(-1, columns).any(axis=1)
    found: np.ndarray = np.flatnonzero(fits) * columns
    return found


def check_size(columns: int, most: int, exclusive: bool, site: Site, who: str) -> None:
    """A number of columns must be a power of two from 32 to 512, exclusive ones a multiple of 32.
    Raises P6117. `most`: the columns that the device has."""
    if exclusive and (columns % UNIT or not 0 < columns <= most):
        message = f"expected a multiple of {UNIT} up to {most} columns, found {columns}"
        raise fault("P6117", message, site, (who,), f"round up to a multiple of {UNIT}")
    if not exclusive and columns not in SIZES:
        message = f"expected 32, 64, 128, 256 or 512 columns, found {columns}"
        raise fault("P6117", message, site, (who,), "round up to a power of two of at least 32")


def check_alloc(holder: Holder, columns: int, site: Site, who: str) -> None:
    """Whether a CTA may ask for columns. Raises P6115, after relinquishing; P6116, for more than before."""
    if holder.relinquished is not None:
        past = holder.relinquished
        raise fault(
            "P6115",
            f"{holder.name} allocates after it gave up the right to",
            site,
            (who, f"`{past.instruction.spelling}` at {past.where}"),
            "relinquish after the last allocation of the CTA",
        )
    if holder.least is not None and columns > holder.least.columns:
        raise fault(
            "P6116",
            f"expected at most {holder.least.columns} columns, found {columns}",
            site,
            (who, f"the last allocation was {holder.least}"),
            "allocate the largest part first, or everything at once",
        )


def release(
    holder: Holder, first: int, columns: int, cta_group: int, exclusive: bool, site: Site, who: str
) -> ColumnAllocation:
    """Take an allocation from a CTA. Raises P6113, it was freed before; P6112, it is none, or of another size
    or `.cta_group`, or one of both is `.exclusive`."""
    for one in holder.held:
        if (one.first, one.columns, one.cta_group) == (first, columns, cta_group):
            if one.exclusive != exclusive:
                break
            holder.held.remove(one)
            holder.freed[first] = one, site
            return one
    past = holder.freed.get(first)
    if past is not None and all(one.first != first for one in holder.held):
        one, earlier = past
        raise fault(
            "P6113",
            f"columns {first} to {one.end - 1} of {holder.name} were freed before",
            site,
            (who, f"by `{earlier.instruction.spelling}` at {earlier.where}"),
            "free every allocation once",
        )
    message = (
        f"{holder.name} has no allocation of {counted(columns, 'column')} "
        f"at column {first} with `.cta_group::{cta_group}`{' and `.exclusive`' if exclusive else ''}"
    )
    raise fault(
        "P6112",
        message,
        site,
        (who, *holder.notes()),
        "free what `tcgen05.alloc` gave, as many columns, with `.exclusive` if it had that",
    )


def leak(holder: Holder) -> EmulatorFault:
    """The fault for a CTA that exits with tensor memory."""
    one = holder.held[0]
    return fault(
        "P6111",
        f"{holder.name} exits and still has tensor memory",
        one.site,
        (f"{one.thread} allocated it", *holder.notes()),
        "free every allocation with `tcgen05.dealloc` before the kernel ends",
    )
