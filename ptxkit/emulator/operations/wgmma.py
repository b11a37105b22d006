"""`wgmma.mma_async`, dense and sparse, `wgmma.fence`, `commit_group`, `wait_group`. PTX ISA 9.7.15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.addresses import SHIFT, rank_in_descriptor, unmasked_rank, unshifted
from ptxkit.emulator.aligned import uniform
from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import Layouts
from ptxkit.emulator.matrices import Fragment, MatrixSource, MatrixTarget
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations.matrix.arithmetic import arithmetic, compiled_model
from ptxkit.emulator.operations.wgmma_product import M, WgmmaPlan, WgmmaProduct
from ptxkit.emulator.values import WARP, first_true
from ptxkit.emulator.warpgroup.in_flight import Warpgroups, WgmmaInFlight
from ptxkit.emulator.warpgroup.members import WARPS, Members, WarpgroupSyncPoint, gathered, per_thread
from ptxkit.emulator.warpgroup.operands import (
    WgmmaMetadata,
    WgmmaSharedOperand,
    outside,
    shared_matrix,
    thread_of,
)
from ptxkit.encodings.shared_memory import SmemDescWgmma
from ptxkit.isa.modifiers import Shape
from ptxkit.layouts import fragments

effect = Effects("wgmma")

NONUNIFORM, DESCRIPTOR = "P638", "P639"


@effect("wgmma.mma_async")
def mma_async(instruction: ScopedInstruction) -> Effect:
    """`wgmma.mma_async{.sp}.sync.aligned.shape{.satfinite}.dtype.atype.btype d, a, b-desc, .., scale-d..`."""
    shape, sparse = instruction.the(Shape), instruction["sp"] is not None
    d, a, b = (type_.name for type_ in instruction.types)
    majors = (
        "MN" if instruction.constant("imm_trans_a") else "K",
        "MN" if instruction.constant("imm_trans_b") else "K",
    )
    negated = (instruction.constant("imm_scale_a") == -1, instruction.constant("imm_scale_b") == -1)
    types = (d, a, b, d)
    compute, model = arithmetic(instruction, "wgmma", types), compiled_model(instruction, "wgmma", types)
    plan = WgmmaPlan((d, a, b), shape.n, shape.k, sparse, compute, model, negated, majors)
    target = MatrixTarget.of(instruction, "d", Fragment(*fragments.wgmma_d(shape.n), DTYPES[d].bits))
    source = descriptor = None
    if "a_desc" in instruction.operands:
        descriptor = instruction.source("a_desc")
    else:
        stored, bits = (plan.stored // 32, 32) if a == "b1" else (plan.stored, plan.bits)
        row, column = fragments.wgmma_a(stored, bits)
        source = MatrixSource.of(instruction, "a", Fragment(column, row, bits))
    descriptor_b = instruction.source("b_desc")
    metadata = WgmmaMetadata(instruction, plan.k, plan.bits) if sparse else None
    accumulate = _accumulates(instruction)
    used = (*target.targets, *(source.sources if source else ()))
    slots = frozenset(part.slot for part in used if part is not None and part.slot is not None)
    instruction.scope.program.asynchronous = True
    instruction.scope.program.touches("shared", 16)
    instruction.scope.warpgroup_slots |= slots
    operands = target, source, descriptor, descriptor_b, metadata, accumulate
    return Effect(
        _Issue(instruction.site, plan, shape, *operands, slots),
        WarpgroupSyncPoint(instruction.site, instruction.guard),
    )


def _accumulates(instruction: ScopedInstruction) -> SourceOperand:
    """scale-d: a predicate, or 0 and 1."""
    number = instruction.constant("scale_d")
    if number is not None:
        return SourceOperand(np.dtype(bool), 1, value=np.bool_(number != 0))
    return instruction.source("scale_d")


@dataclass(slots=True, eq=False)
class _Issue:
    """The step of `wgmma.mma_async`."""

    site: Site
    plan: WgmmaPlan
    shape: Shape
    target: MatrixTarget
    source: MatrixSource | None
    descriptor_a: SourceOperand | None
    descriptor_b: SourceOperand
    metadata: WgmmaMetadata | None
    accumulate: SourceOperand
    slots: frozenset[int]

    def __call__(self, lane_set: LaneSet, guard: Any) -> None:
        members = Members.of(lane_set, guard, self.site)
        if not len(members.which):
            return
        batch, plan = lane_set.batch, self.plan
        batch.launch.counts.multiply_adds += self.shape.multiply_adds * len(members.which)
        state = batch.own(Warpgroups)
        accumulator, fresh = state.accumulator(lane_set, members, self.target, self.shape, self.site)
        chained = not fresh.any()
        sources = self.source.sources if self.source is not None else []
        held = frozenset(source.slot for source in sources if source.slot is not None)
        if batch.launch.sanitize:
            used = held if chained else self.slots
            state.check_fenced(lane_set, members, used, accumulator.slots, self.site)
        kept = self._uniform(lane_set, guard, members, self.accumulate)
        if not chained:
            needed = fresh & kept
            if needed.any():
                accumulator.take(lane_set, members, needed)
            accumulator.active[members.which] = True
        a = self._register_a(lane_set, members)
        nibbles, doubtful = (None, None) if self.metadata is None else self.metadata.read(lane_set, members)
        shared_a = None
        if batch.launch.layouts is not None:
            on = id(accumulator), kept, None if a is None else a[0]
            self._tell(batch.launch.layouts, lane_set, guard, members, on)
        if self.descriptor_a is not None:
            shared_a = self._shared(lane_set, guard, members, self.descriptor_a, 0)
        shared_b = self._shared(lane_set, guard, members, self.descriptor_b, 1)
        bank, which = batch.shared, members.which
        product = WgmmaProduct(
            lane_set, self.site, plan, accumulator, which, kept, shared_b, shared_a, a, nibbles, doubtful
        )
        regions = tuple(Region(bank, *operand.intervals()) for operand in (shared_a, shared_b) if operand)
        first = members.rows[:, 0] if members.rows is not None else np.arange(0, lane_set.n, WARPS)
        rows = first if lane_set.rows is None else lane_set.rows[first]
        operation = AsyncOperation(
            self.site,
            batch,
            rows,
            np.zeros(len(rows), np.int64),
            reads=regions,
            fetch=product.fetch,
            deliver=product.deliver,
            whole=product.whole,
            after=state.before(accumulator, members),
            warps=WARPS,
            completion=None if state.completion is None else state.completion[which],
        )
        unseen, left = np.ones(len(which), bool), np.full(len(which), -1)
        index = state.committed[which]
        state.in_flight.append(WgmmaInFlight(operation, accumulator, which, index, unseen, left, held))
        batch.queue.issue(operation)

    def _tell(
        self, layouts: Layouts, lane_set: LaneSet, guard: Any, members: Members, on: tuple[int, Any, Any]
    ) -> None:
        """Let somebody hold the matrices that are read against what copies brought. `on`: which accumulator,
        which warpgroups' products add to it, and matrix A out of registers, (K, 64, warpgroups)."""
        from ptxkit.emulator.fragment_reads import RegisterMatrix
        from ptxkit.emulator.matrix_reads import MatrixRead

        batch, plan = lane_set.batch, self.plan
        ctas = members.which // -(-batch.warps_per_cta // WARPS)
        sides = [] if self.descriptor_a is None else [("A", self.descriptor_a, M, plan.stored)]
        sides.append(("B", self.descriptor_b, plan.n, plan.k))
        words = [self._uniform(lane_set, guard, members, source) for _, source, *_ in sides]
        for at, cta in enumerate(ctas.tolist()):
            reads = []
            for (name, _, mn, k), word in zip(sides, words, strict=True):
                side, step = "AB".index(name), 1 + (plan.sparse and name == "A")
                how = plan.types[1 + side], plan.majors[side]
                reads.append(MatrixRead.of(name, SmemDescWgmma, int(word[at]), mn, k, *how, step=step))
            accumulator, kept, held = on
            a = None if held is None else RegisterMatrix("A", plan.types[1], plan.bits, held[..., [at]])
            mine = int(members.which[at]), accumulator, a
            layouts.adds(batch, mine[:2], self.site.where, bool(kept[at]), len({*plan.negated}) > 1)
            layouts.product(batch, (cta,), self.site.where, *reads, of=mine)

    def _register_a(self, lane_set: LaneSet, members: Members) -> Any:
        """Matrix A out of registers with its undefined bits; None where it is in shared memory."""
        if self.source is None:
            return None
        fragment = self.source.fragment
        codes = gathered(fragment, [read(lane_set) for read in self.source.readers], members.rows, lane_set.n)
        found = [s.undefined(lane_set) for s in self.source.sources] if lane_set.undefined else []
        if not any(found):
            return codes, None
        masks = [np.uint32(0) if entry is None else entry[0] for entry in found]
        return codes, gathered(fragment, masks, members.rows, lane_set.n)

    def _uniform(self, lane_set: LaneSet, guard: Any, members: Members, source: SourceOperand) -> np.ndarray:
        """An operand that all threads of a warpgroup agree about: (warpgroups,). Raises P638, they don't;
        P642, lanes of a warp don't."""
        value = uniform(lane_set, guard, source, source.reader(lane_set), self.site)
        count = len(members.which)
        if np.ndim(value) == 0:
            return np.full(count, value)
        held = per_thread(value, members.rows, lane_set.n)[:, ::WARP]
        if (at := first_true((held != held[:, :1]).any(axis=1))) is not None:
            warp = int(np.argmax(held[at] != held[at, 0]))
            values = [hex(int(held[at, i])) for i in (warp, 0)]
            who = thread_of(lane_set, members, at, warp * WARP)
            raise fault(
                NONUNIFORM,
                f"the warps of a warpgroup disagree about `{source.name}`",
                self.site,
                (f"{who} has {values[0]}, warp 0 of it {values[1]}",),
            )
        return np.ascontiguousarray(held[:, 0])

    def _shared(
        self, lane_set: LaneSet, guard: Any, members: Members, source: SourceOperand, side: int
    ) -> WgmmaSharedOperand:
        """The matrix that a descriptor gives. Raises P639, the descriptor has no meaning; P602, it leads out
        of shared memory."""
        plan, launch, bank = self.plan, lane_set.launch, lane_set.batch.shared
        words = self._uniform(lane_set, guard, members, source)
        mn, k = (M, plan.stored) if side == 0 else (plan.n, plan.k)
        different, which = np.unique(words, return_inverse=True)
        rows = np.arange(0, lane_set.n, WARPS) if members.rows is None else members.rows[:, 0]
        ctas = (rows if lane_set.rows is None else lane_set.rows[rows]) // lane_set.batch.warps_per_cta
        maps, starts = [], []

        def refused(said: str, note: str, help: str | None = None) -> Exception:
            who = thread_of(lane_set, members, int(np.argmax(which == number)), 0)
            return fault(DESCRIPTOR, said, self.site, (who, note), help)

        for number, word in enumerate(different.tolist()):
            try:
                start, found = shared_matrix(word, mn, k, plan.types[1 + side], plan.majors[side])
            except PtxkitError as wrong:
                note = f"the descriptor is {word:#018x}: {wrong.diagnostics[0].message}"
                said, help = f"`{source.name}` is no matrix descriptor", None
                if (
                    whole := unshifted(word, launch.shared.start, launch.shared.total, SmemDescWgmma)
                ) is not None:
                    said, help = (
                        f"`{source.name}` has the address {whole:#x} itself, not shifted right by 4",
                        SHIFT,
                    )
                raise refused(said, note, help) from None
            if found.torn:
                raise refused(
                    f"a row of matrix {'AB'[side]} takes more bytes than its swizzle has",
                    f"{k} elements of `{plan.types[1 + side]}` along K, in rows of 32 bytes",
                    "where A is sparse a row of B takes 64 bytes: use a swizzle of 64 or 128 bytes, or none",
                )
            if outside(launch, start, found):
                at = int(np.argmax(which == number))
                end = launch.shared.start + launch.shared.total
                notes = [
                    thread_of(lane_set, members, at, 0),
                    f"the CTA's shared memory reaches from {launch.shared.start:#x} to {end:#x}",
                ]
                rank, help = int(ctas[at]) % lane_set.batch.cluster, launch.forgotten("shared")
                bits = rank_in_descriptor(rank)
                if bits and word & bits == bits:
                    without = shared_matrix(word ^ bits, mn, k, plan.types[1 + side], plan.majors[side])
                    if not outside(launch, *without):
                        note, help = unmasked_rank(rank)
                        notes.append(note)
                low, high = start + int(found.start[0]), start + found.last
                raise fault(
                    "P602",
                    f"out of bounds: matrix {'AB'[side]} takes bytes {low:#x} to {high:#x} of shared memory",
                    self.site,
                    notes,
                    help,
                )
            maps.append(found)
            starts.append(start)
        origins = ctas * bank.stride + np.array(starts, np.int64)[which] - launch.shared.start
        each = list(dict.fromkeys(maps))
        return WgmmaSharedOperand(tuple(each), np.array([each.index(one) for one in maps])[which], origins)


# ---- the order of products


def warpgroup_wide(instruction: ScopedInstruction, do: Callable[[Warpgroups, Members], None]) -> Effect:
    """`wgmma.fence.sync.aligned`, `wgmma.commit_group.sync.aligned`."""
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        do(lane_set.batch.own(Warpgroups), Members.of(lane_set, guard, site))

    return Effect(step, WarpgroupSyncPoint(site, instruction.guard))


effect("wgmma.fence")(partial(warpgroup_wide, do=Warpgroups.fence))
effect("wgmma.commit_group")(partial(warpgroup_wide, do=Warpgroups.commit))


@effect("wgmma.wait_group")
def wait_group(instruction: ScopedInstruction) -> Effect:
    """`wgmma.wait_group.sync.aligned N`."""
    site, left = instruction.site, instruction.number("N")

    def step(lane_set: LaneSet, guard: Any) -> bool:
        members = Members.of(lane_set, guard, site)
        return lane_set.batch.own(Warpgroups).wait(lane_set, members, left, site)

    return Effect(step, WarpgroupSyncPoint(site, instruction.guard))
