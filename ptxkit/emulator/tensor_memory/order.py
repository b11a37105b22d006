"""What orders instructions on tensor memory: issue, and `tcgen05.fence`. PTX ISA 9.7.16.6, 9.7.16.11.

A relaxed operation on an mbarrier orders nothing; together with a fence it orders instructions on tensor
memory. A barrier, and an mbarrier with `.release` and `.acquire`, orders these as it orders everything else,
says one sentence of the manual; an asynchronous instruction follows it by `tcgen05.fence::after_thread_sync`,
says another. CUTLASS and Triton write no fence at all. So a kernel that has such fences is held to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site
from ptxkit.emulator.tensor_memory.cells import Box
from ptxkit.emulator.values import distinct
from ptxkit.isa.modifiers import MovementShape

COMMITTED = ("mma", "cp", "shift")
"""What `tcgen05.commit` tracks."""


@dataclass(slots=True, eq=False)
class Tcgen05InFlight:
    """An instruction that touches tensor memory.

    Attributes:
        kind: `mma`, `cp`, `shift`, `ld`, `st` or `dealloc`.
        row, lane: the thread that issued it, or the first of the warp.
        cta_group: 1 or 2; 0 for `ld` and `st`.
        ctas: the CTAs in whose tensor memory it works.
        reads, writes: cells, the same in each of them. An accumulator counts as written.
        shape: what two products must have in common to be ordered: M, N and where D lies.
        number: the event of its issue.
        committed: the commit that tracks it.
        read: the commit that tells of its reads of A alone.
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
    read: Site | None = None
    done: int = 0
    _spans: tuple[int, int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._spans = (*_columns(self.reads), *_columns(self.writes))

    def is_apart(self, later: Tcgen05InFlight) -> bool:
        """Whether it is plain, by their columns, that a later instruction uses no cell that the other does:
        else they may race, or the later one may stand for both."""
        read, read_end, written, end = self._spans
        reads, reads_end, writes, writes_end = later._spans
        return (
            (writes >= end or written >= writes_end)
            and (writes >= read_end or read >= writes_end)
            and (reads >= end or written >= reads_end)
            and (reads >= read_end or read >= reads_end)
        )

    @property
    def spelling(self) -> str:
        """The instruction's name with its modifiers."""
        return self.site.instruction.spelling


def _columns(boxes: tuple[Box, ...]) -> tuple[int, int]:
    """The first column of some boxes, and the end of the last."""
    if not boxes:
        return 0, 0
    return min(box.first for box in boxes), max(box.end for box in boxes)


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


class Fences:
    """What the warps of a batch have fenced. `local`: the number by which `HappensBefore.completed` knows
    what commits tell of."""

    def __init__(self, batch: CtaBatch, local: int) -> None:
        self.batch, self.local = batch, local
        rows = batch.rows
        self._used = np.zeros(rows, np.int64)
        self._before = np.zeros(rows, np.int64)
        self._bare = np.zeros(rows, np.int64)
        self._waited: dict[int, set[int]] = {}
        happens_before, launch = batch.happens_before, batch.launch
        self._clocks = happens_before.clocks.copy()
        self._completed = np.zeros((rows, happens_before.completed.shape[1]), np.int64)
        self._wanted = launch.strict or launch.program.tensor_fences

    def used(self, row: int, number: int) -> None:
        """A row has used tensor memory, or waited for its loads or stores."""
        self._used[row] = number

    def before(self, rows: np.ndarray, number: int) -> None:
        """Rows execute `tcgen05.fence::before_thread_sync`."""
        self._before[rows] = number

    def fenced_before(self, row: int) -> int:
        """The event of a row's last `tcgen05.fence::before_thread_sync`; 0 where it has used tensor memory
        since, or executed none."""
        return int(self._before[row]) if self._before[row] > self._used[row] else 0

    def arrive(self, rows: np.ndarray, slots: np.ndarray, number: int) -> None:
        """Rows arrive at mbarriers with `.relaxed`: what came before their fence is released."""
        fenced = self._before[rows] > self._used[rows]
        self._bare[rows[~fenced]] = number
        for row, slot in zip(rows[fenced].tolist(), slots[fenced].tolist(), strict=True):
            one = np.array([row])
            self.batch.happens_before.release(one, np.array([slot]), int(self._before[row]))

    def wait(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """Rows have waited for mbarriers with `.relaxed`: a fence will acquire that."""
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            self._waited.setdefault(row, set()).add(slot)

    def after(self, rows: np.ndarray, number: int) -> None:
        """Rows execute `tcgen05.fence::after_thread_sync`: what they know of, later instructions follow."""
        batch = self.batch
        for row in distinct(rows).tolist():
            slots = self._waited.pop(row, None)
            if slots:
                found = np.array(sorted(slots))
                batch.happens_before.acquire(np.full(len(found), row), found, number)
        self._clocks[rows] = batch.happens_before.clocks[rows]
        self._completed[rows] = batch.happens_before.completed[rows, :, self.local]

    def follows(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, pipelined: bool) -> bool:
        """Whether an instruction follows one that its warp knows of, by the fences of that warp.

        Args:
            earlier, later: the instructions; the later one's warp knows that the earlier one is done, or
                has been issued.
            pipelined: whether the two execute in the order of their issue.
        """
        if not self._wanted or later.kind == "dealloc":
            return True
        committed = earlier.kind in COMMITTED
        if earlier.row == later.row and (pipelined or not committed):
            return True
        happens_before = self.batch.happens_before
        if committed and 0 < earlier.done <= self._completed[later.row, happens_before.rank[earlier.row]]:
            return True
        number = earlier.number if committed else earlier.done
        fenced = int(self._clocks[later.row, happens_before.column[earlier.row]])
        return (pipelined or not committed) and number < fenced

    def missing(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> tuple[str, str, str] | None:
        """Code, words and advice where a relaxed operation lacks its fence between two instructions."""
        name = f"`tcgen05.{earlier.kind}`"
        if self._waited.get(later.row):
            help = "put `tcgen05.fence::after_thread_sync` behind the relaxed wait"
            return "P6103", f"and no fence follows its relaxed wait for {name}", help
        if self._bare[earlier.row] > (earlier.done or earlier.number) and earlier.row != later.row:
            help = "put `tcgen05.fence::before_thread_sync` before the relaxed arrival"
            return "P6104", f"and no fence orders the arrival after {name}", help
        return None
