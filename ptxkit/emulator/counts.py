"""What a launch did, counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ptxkit.emulator.faults import Site
from ptxkit.emulator.traffic import Traffic


class Ran(Protocol):
    """A block, as counts know it: its instructions."""

    sites: list[Site]


@dataclass(slots=True)
class Counts:
    """What a launch did.

    Attributes:
        instructions: thread-instructions, those with a false guard included.
        loaded, stored: bytes by state space, each lane's own.
        barriers: barriers completed, one a CTA; those of clusters one a cluster.
        phases: phases of mbarriers completed.
        executed: how many threads have run each block; `by_chapter` makes counts of it.
        asynchronous: operations queued, by `Site.name`: one a thread and destination, of `wgmma` one a
            warpgroup.
        tensor_columns: most columns of tensor memory that a CTA had at once.
        shared_bytes: shared memory of a CTA, static and dynamic.
        ctas: CTAs finished.
        traffic: what accesses cost the memory system; None where nobody asked.
    """

    instructions: int = 0
    loaded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    executed: dict[Ran, int] = field(default_factory=dict, compare=False, repr=False)
    barriers: int = 0
    phases: int = 0
    asynchronous: dict[str, int] = field(default_factory=dict)
    tensor_columns: int = 0
    shared_bytes: int = 0
    ctas: int = 0
    traffic: Traffic | None = None

    def load(self, space: str, size: int) -> None:
        """Count bytes that lanes loaded."""
        self.loaded[space] = self.loaded.get(space, 0) + size

    def store(self, space: str, size: int) -> None:
        """Count bytes that lanes stored."""
        self.stored[space] = self.stored.get(space, 0) + size

    @property
    def by_chapter(self) -> dict[str, int]:
        """Thread-instructions by the chapter of `ptxkit.isa` that they belong to."""
        found: dict[str, int] = {}
        for block, lanes in self.executed.items():
            for site in block.sites:
                found[site.row.chapter] = found.get(site.row.chapter, 0) + lanes
        return found

    def issue(self, operation: str, count: int) -> None:
        """Count asynchronous operations."""
        self.asynchronous[operation] = self.asynchronous.get(operation, 0) + count
