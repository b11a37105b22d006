"""What tensor memory's asynchronous instructions have under way, and who may touch which cells when.

`tcgen05.mma`, `cp` and `shift` are complete for those who know of a commit's mbarrier phase; `ld` and `st`
once their warp has waited. Some pairs are ordered without either (PTX ISA 9.7.16.6.2); whatever else touches
the same cells needs an order between threads, by happens-before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from ptxkit.diagnostics import SpanLabel
from ptxkit.emulator.faults import Site, label_at
from ptxkit.emulator.tensor_memory.cells import Box, boxes_meet
from ptxkit.emulator.tensor_memory.order import COMMITTED, Fences, Tcgen05InFlight, pipelined, tolerated

REMEMBERED = 32
"""How many commits of a warp findings can look back on."""


@dataclass(slots=True, eq=False)
class InFlightTable:
    """The instructions of a batch in flight that touch tensor memory.

    Attributes:
        fences: of the batch.
        by_cta: for each CTA what may still matter to somebody.
        commits: for each warp its lanes' last commits: the event, lane and instruction.
    """

    fences: Fences
    by_cta: dict[int, list[Tcgen05InFlight]] = field(default_factory=dict)
    commits: dict[int, deque[tuple[int, int, Site]]] = field(default_factory=dict)

    def enter(self, issued: Tcgen05InFlight) -> None:
        """Take an instruction in, held against all before it. Raises EmulatorFault: it touches cells that
        another one uses, and nothing orders them."""
        for cta in issued.ctas:
            known = self.by_cta.setdefault(cta, [])
            kept = []
            for other in known:
                if other.is_apart(issued):
                    kept.append(other)
                    continue
                ordered = self._check(other, issued, cta)
                if not (ordered and _covers(issued, other)):
                    kept.append(other)
            if issued.kind != "dealloc":
                kept.append(issued)
            self.by_cta[cta] = kept

    def _check(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, cta: int) -> bool:
        """Whether one is ordered before the other. Raises EmulatorFault: it is not, and both touch a cell
        that one of them writes."""
        if self._ordered(earlier, later):
            if not self.fences.follows(earlier, later, pipelined(earlier, later)):
                self._warn_unfenced(earlier, later, cta)
            return True
        box = boxes_meet(later.reads, earlier.writes) or boxes_meet(later.writes, earlier.writes)
        source = None if box is not None else boxes_meet(later.writes, earlier.reads)
        if box is None and source is None:
            return False
        if later.kind == "dealloc" and self._over_by_relaxed_barrier(earlier, later):
            return True
        if tolerated(earlier, later, box is None):
            self._warn_tolerated(earlier, later, box or source)
            return False
        if earlier.kind == later.kind == "mma" and earlier.row == later.row:
            self._warn_products(earlier, later, box)
            return False
        self._report(earlier, later, cta, box, source)
        return False

    def _ordered(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> bool:
        if earlier.kind in COMMITTED:
            if self.covers_done(later.row, earlier):
                return True
            return pipelined(earlier, later) and self.covers(later.row, earlier.row, earlier.number)
        return earlier.done > 0 and self.covers(later.row, earlier.row, earlier.done)

    def _over_by_relaxed_barrier(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> bool:
        """Whether a warp that knew an instruction to be over executed `tcgen05.fence::before_thread_sync` and
        arrived at the cluster barrier with `.relaxed`, and who frees its cells has waited there since.

        The fence orders `tcgen05` instructions before what orders the execution of threads (9.7.16.11), and
        freeing is not asynchronous, so it needs no fence of its own. Ordinary memory is not ordered by that.
        """
        fences, batch = self.fences, self.fences.batch
        if batch.launch.strict:
            return False
        size = batch.warps_per_cta * batch.cluster
        first = later.row // size * size
        for row in range(first, first + size):
            number = fences.fenced_before(row)
            if not number or not batch.happens_before.met_relaxed(row, number, later.row):
                continue
            if earlier.kind in COMMITTED:
                known = self.covers_done(row, earlier)
            else:
                mine = row == earlier.row
                known = 0 < earlier.done < number and (mine or self.covers(row, earlier.row, earlier.done))
            if known:
                return True
        return False

    def covers(self, row: int, by: int, number: int) -> bool:
        """Whether a row has seen an event of another one."""
        return self.fences.batch.happens_before.covers_one(row, by, number)

    def covers_done(self, row: int, issued: Tcgen05InFlight) -> bool:
        """Whether a row knows of the commit that tells of an instruction's completion."""
        if issued.done == 0:
            return False
        happens_before = self.fences.batch.happens_before
        warps = self.fences.batch.warps_per_cta
        if row // warps // self.fences.batch.cluster != issued.row // warps // self.fences.batch.cluster:
            return False
        return (
            int(happens_before.completed[row, happens_before.rank[issued.row], self.fences.local])
            >= issued.done
        )

    # ---- findings

    def _warn_tolerated(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, box: Box | None) -> None:
        """Where the emulator is strict, tell of what no text orders and kernels rely on."""
        launch = self.fences.batch.launch
        if launch.strict:
            said = f"`{_name(later)}` overwrites {box}, which `{_name(earlier)}` may still use"
            where = f"the other by `{earlier.spelling}` at {earlier.site.where}"
            launch.warn("P6131", said, later.site, (f"{self._who(later)} issues it here", where))

    def _warn_unfenced(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, cta: int) -> None:
        """Tell of an instruction that is ordered after another one, but for the fence."""
        touched = (*earlier.reads, *earlier.writes)
        box = boxes_meet(later.reads, earlier.writes) or boxes_meet(later.writes, touched)
        if box is None:
            return
        verb = "reads" if box in later.reads else "overwrites"
        where = f"{box} of CTA {self.fences.batch.name_cta(cta)}"
        self.fences.batch.launch.warn(
            "P6103",
            f"`{_name(later)}` {verb} {where}, and no fence follows what orders it after `{_name(earlier)}`",
            later.site,
            (
                f"{self._who(later)} executes `{later.spelling}` here",
                f"{self._who(earlier)} issued `{earlier.spelling}` at {earlier.site.where}",
                "its warp knows of that by a barrier or an mbarrier, and has executed no "
                "`tcgen05.fence::after_thread_sync` since",
            ),
            "put `tcgen05.fence::after_thread_sync` behind the barrier or the wait",
            _other(earlier, later),
        )

    def _warn_products(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, box: Box | None) -> None:
        self.fences.batch.launch.warn(
            "P6107",
            f"two products of different shapes or accumulators use {box}",
            later.site,
            (
                f"{self._who(later)} issues one here",
                f"the other by `{earlier.spelling}` at {earlier.site.where}",
                "PTX orders only products with the same accumulator and shape",
            ),
        )

    def _report(
        self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, cta: int, box: Box | None, source: Box | None
    ) -> None:
        code, said, help = self._rule(earlier, later, box is None)
        where = f"{box or source} of CTA {self.fences.batch.name_cta(cta)}"
        notes = [
            f"{self._who(later)} executes `{later.spelling}` here",
            f"{self._who(earlier)} issued `{earlier.spelling}` at {earlier.site.where}",
            *self._state(earlier),
        ]
        verb = {"ld": "reads", "dealloc": "frees"}.get(
            later.kind, "reads" if box in later.reads else "overwrites"
        )
        launch = self.fences.batch.launch
        # Kernels of CuTe DSL and CUTLASS wait for no load, and read its registers.
        loaded_back = earlier.done == 0 and self._loaded_back(earlier, later)
        excused = loaded_back or (earlier.kind == "ld" and earlier.done == 0)
        say = launch.formally_wrong if excused else launch.report
        say(code, f"`{_name(later)}` {verb} {where}, {said}", later.site, notes, help, _other(earlier, later))
        if loaded_back:
            earlier.done = later.number

    def _loaded_back(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> bool:
        from ptxkit.emulator.tensor_memory.practice import loaded_back

        flow = self.fences.batch.launch.program.flow(earlier.site.function)
        return loaded_back(flow, earlier, later)

    def _rule(self, earlier: Tcgen05InFlight, later: Tcgen05InFlight, source: bool) -> tuple[str, str, str]:
        """Code, words and advice."""
        name = f"`{_name(earlier)}`"
        if later.kind == "dealloc":
            help = "wait for the last commit, for loads and stores, and synchronise the warps before freeing"
            return "P6114", f"while {name} may still use them", help
        if earlier.kind == "st" and earlier.done == 0:
            help = "put `tcgen05.wait::st` behind the store, in its warp"
            return "P6105", f"before {name} has been waited for", help
        if earlier.kind == "ld" and earlier.done == 0:
            help = "put `tcgen05.wait::ld` behind the load, in its warp"
            return "P6106", f"before {name} has been waited for", help
        fence = self.fences.missing(earlier, later) if earlier.done else None
        if fence is not None:
            return fence
        if earlier.kind not in COMMITTED:
            help = "let the waiting thread arrive at a barrier or mbarrier that this one waits for"
            return "P6107", f"and nothing orders that after {name}", help
        if earlier.committed is None:
            wrong = self._wrong_lane(earlier)
            if wrong is not None:
                said = f"after a commit by another thread than that of {name}"
                help = "commit in the thread that issued the work: use one elected lane for both"
                return "P6102", said, help
            if later.kind == "ld":
                help = "commit with `tcgen05.commit`, and wait for its mbarrier"
                return "P6101", f"and no commit tracks {name}", help
        if source:
            help = "wait for the commit that tracks it before its operands change"
            return "P6130", f"while {name} may still read them", help
        help = "wait for the mbarrier of the commit that tracks it, or synchronise with a thread that has"
        if later.kind in ("ld", "mma", "shift"):
            return "P6100", f"while {name} may still write them", help
        return "P6107", f"while {name} may still use them", help

    def _wrong_lane(self, issued: Tcgen05InFlight) -> Site | None:
        """A commit by another lane of the warp since its issue."""
        for number, lane, site in self.commits.get(issued.row, ()):
            if number > issued.number and lane != issued.lane:
                return site
        return None

    def _state(self, earlier: Tcgen05InFlight) -> list[str]:
        """Notes on how far the earlier one is."""
        if earlier.kind not in COMMITTED:
            return [] if earlier.done else [f"its warp has not executed `tcgen05.wait::{earlier.kind}` since"]
        if earlier.committed is None:
            wrong = self._wrong_lane(earlier)
            if wrong is not None:
                return [f"`{wrong.instruction.spelling}` at {wrong.where} tracks the work of another lane"]
            if earlier.read is not None:
                spelling = earlier.read.instruction.spelling
                return [f"`{spelling}` at {earlier.read.where} tells of its reads of A alone"]
            return ["no `tcgen05.commit` of its thread has followed"]
        return [f"tracked by `{earlier.committed.instruction.spelling}` at {earlier.committed.where}"]

    def _who(self, issued: Tcgen05InFlight) -> str:
        return str(self.fences.batch.thread(issued.row, issued.lane))

    # ---- how far things are

    def committed(self, row: int, lane: int, site: Site, number: int) -> None:
        """A lane of a warp has executed a commit."""
        self.commits.setdefault(row, deque(maxlen=REMEMBERED)).append((number, lane, site))

    def waited(self, kind: str, rows: Iterable[int], number: int) -> None:
        """Warps have waited for their loads or stores."""
        chosen = set(rows)
        for row in chosen:
            self.fences.used(row, number)
        for instructions in self.by_cta.values():
            for issued in instructions:
                if issued.kind == kind and issued.done == 0 and issued.row in chosen:
                    issued.done = number

    def freed(self, cta: int, first: int, end: int) -> None:
        """Columns have been given back: what was done to them is over."""
        instructions = self.by_cta.get(cta, [])
        every = (Box((1 << 128) - 1, first, end),)
        self.by_cta[cta] = [
            one for one in instructions if boxes_meet((*one.reads, *one.writes), every) is None
        ]


def _name(issued: Tcgen05InFlight) -> str:
    return f"tcgen05.{issued.kind}"


def _other(earlier: Tcgen05InFlight, later: Tcgen05InFlight) -> list[SpanLabel]:
    """Where the earlier instruction stands."""
    return label_at(earlier.site, "the other instruction", later.site)


def _covers(later: Tcgen05InFlight, earlier: Tcgen05InFlight) -> bool:
    """Whether whoever may touch what a later instruction touched may touch what the earlier one did."""
    if later.kind == "dealloc":
        return False
    every = (
        (*later.reads, *later.writes)
        if later.kind == earlier.kind and later.row == earlier.row
        else later.writes
    )
    return all(_inside(box, every) for box in earlier.reads) and all(
        _inside(box, later.writes) for box in earlier.writes
    )


def _inside(box: Box, others: tuple[Box, ...]) -> bool:
    return any(
        box.lanes & ~other.lanes == 0 and other.first <= box.first and box.end <= other.end
        for other in others
    )
