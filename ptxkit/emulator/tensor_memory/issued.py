"""One instruction on tensor memory, and which others it follows by itself. PTX ISA 9.7.16.6.2."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.emulator.faults import Site
from ptxkit.emulator.tensor_memory.cells import Box
from ptxkit.isa.modifiers import MovementShape

COMMITTED = ("mma", "cp", "shift")
"""What `tcgen05.commit` tracks."""


@dataclass(slots=True, eq=False)
class Tcgen05InFlight:
    """An instruction that touches tensor memory.

    Attributes:
        kind: `mma`, `cp`, `shift`, `ld`, `st` or `dealloc`.
        site: the instruction.
        row, lane: the thread that issued it, or the first of the warp.
        cta_group: 1 or 2; 0 for `ld` and `st`.
        ctas: the CTAs in whose tensor memory it works.
        reads, writes: cells, the same in each of them. An accumulator counts as written.
        shape: what two products must have in common to be ordered: M, N and where D lies.
        number: the event of its issue.
        committed: the commit that tracks it.
        done: the event of its completion: of the commit's arrival, or of the wait; 0 before.
    """

    kind: str
    site: Site
    row: int
    lane: int
    cta_group: int
    ctas: tuple[int, ...]
    reads: tuple[Box, ...] = ()
    writes: tuple[Box, ...] = ()
    shape: tuple[object, ...] = ()
    number: int = 0
    committed: Site | None = None
    done: int = 0

    @property
    def spelling(self) -> str:
        """The instruction's name with its modifiers."""
        return self.site.instruction.spelling


def pipelined(earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> bool:
    """Whether two instructions execute in the order of their issue (9.7.16.6.2)."""
    if earlier.cta_group != later.cta_group:
        return False
    pair = earlier.kind, later.kind
    if pair == ("mma", "mma"):
        return earlier.shape == later.shape
    if pair == ("shift", "cp"):
        return later.site.decoded["shape"] is MovementShape.P4X256B
    return pair in (("cp", "mma"), ("shift", "mma"), ("mma", "shift"))


def tolerated(earlier: Tcgen05InFlight, later: Tcgen05InFlight, source: bool) -> bool:
    """Pairs of one thread that no text orders, and that kernels rely on all the same.

    Copies over what products and copies before them use: block-scaled main loops of CUTLASS. Products over
    what products before them only read: attention kernels, whose scores and probabilities share columns.
    """
    if earlier.row != later.row or earlier.kind not in ("mma", "cp"):
        return False
    return later.kind == "cp" or (source and later.kind == "mma" == earlier.kind)
