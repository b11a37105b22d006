"""What takes the place of a hot block's steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxkit.asm.bit_sets import bits_of
from ptxkit.emulator.code import CodeBlock, Computation, IRNode, MemoryTransfer
from ptxkit.emulator.faults import EmulatorFault
from ptxkit.emulator.jit import lowerings as all_lowerings
from ptxkit.emulator.jit.loads import CompiledLoads, kind_of
from ptxkit.emulator.jit.lowering import Lowering, find
from ptxkit.emulator.jit.stretch import Stretch
from ptxkit.emulator.jit.transfer import CompiledTransfer
from ptxkit.emulator.lane_set import CodeToRun, LaneSet, Step
from ptxkit.emulator.special import VARYING

assert all_lowerings  # importing it registers the lowerings

LONGEST = 512
"""Instructions that are put in stages together: more would take LLVM long at once."""


def plan(block: CodeBlock, code: CodeToRun) -> list[Step]:
    """The steps of a block, its stretches compiled when they first run; each for lane sets of any kind."""
    found: list[Staged | Step] = []
    staged = Staged()
    for at, node in enumerate(block.ir):
        if staged.take(at, node, code):
            continue
        found.append(staged)
        staged = Staged()
        if staged.take(at, node, code):
            continue
        if isinstance(node, MemoryTransfer) and node.address.base is not None:
            found.append(CompiledTransfer(node, block.steps[at]))
        else:
            found.append(either(block.steps[at], block.tracked[at]))
    found.append(staged)
    found = [each for each in found if not isinstance(each, Staged) or each.has_any]
    live = block.live_after(each.end for each in found if isinstance(each, Staged))
    steps: list[Step] = []
    for each in found:
        steps += each.steps(block, code, live[each.end]) if isinstance(each, Staged) else [each]
    return steps


class Staged:
    """Loads and computations that follow one another, in stages: what hangs on no load, the loads that hang
    on that alone, what hangs on them, and so on. Computations have even stages, loads odd ones.

    Within a stage of loads any may come first; computations keep their order. A slot is written in no earlier
    stage than it was read or written before.
    """

    def __init__(self) -> None:
        self.end = 0
        self._loads: dict[int, dict[Any, list[tuple[int, MemoryTransfer]]]] = {}
        self._computations: dict[int, list[tuple[int, Computation, Lowering]]] = {}
        self._count = 0
        self._written: dict[int, int] = {}
        self._read: dict[int, int] = {}

    @property
    def has_any(self) -> bool:
        """Whether an instruction is part of it."""
        return self._count > 0

    def take(self, at: int, node: IRNode, code: CodeToRun) -> bool:
        """Make an instruction part of it, if it can be one."""
        if self._count == LONGEST:
            return False
        if isinstance(node, MemoryTransfer):
            taken = self._load(at, node)
        else:
            taken = self._computation(at, node, code)
        if taken:
            self.end = at
            self._count += 1
        return taken

    def _load(self, at: int, node: MemoryTransfer) -> bool:
        kind = kind_of(node)
        if kind is None:
            return False
        targets = [target.slot for target in node.targets if target is not None]
        if len({*targets}) < len(targets) or kind[0] in targets:
            return False
        stage = self._written.get(kind[0], -1) | 1
        if self._written.get(kind[0], -1) == stage:
            stage += 2  # The address itself is loaded.
        for slot in targets:
            while stage <= max(self._written.get(slot, -1), self._read.get(slot, -1)):
                stage += 2
        self._loads.setdefault(stage, {}).setdefault(kind, []).append((at, node))
        self._note(stage, [kind[0]], targets)
        return True

    def _computation(self, at: int, node: IRNode, code: CodeToRun) -> bool:
        lowering = lowering_of(node, code)
        if not isinstance(node, Computation) or lowering is None:
            return False
        read = [source.slot for source in node.sources if source.slot is not None]
        stage = max([0, *(self._written.get(slot, 0) for slot in read)])
        if node.guard is not None and node.guard.slot is not None:
            read += [node.guard.slot, *node.writes]  # What a guard keeps is read.
            stage = max([stage, *(self._written.get(slot, 0) for slot in node.writes)])
            if node.guard.slot in self._written:
                # A stretch knows its guards when it begins.
                stage = max(stage, self._written[node.guard.slot] + 1)
        for slot in node.writes:
            stage = max(stage, self._written.get(slot, 0), self._read.get(slot, 0))
        stage += stage % 2
        self._computations.setdefault(stage, []).append((at, node, lowering))
        self._note(stage, read, node.writes)
        return True

    def _note(self, stage: int, read: Iterable[int], written: Iterable[int]) -> None:
        for slot in read:
            self._read[slot] = max(self._read.get(slot, 0), stage)
        for slot in written:
            self._written[slot] = stage

    def steps(self, block: CodeBlock, code: CodeToRun, live: int) -> list[Step]:
        """One stage after the other. `live`: the slots whose values count behind them, as bits."""
        found: list[list[StagedPart]] = []
        for stage in sorted({*self._loads, *self._computations}, reverse=True):
            if stage % 2:
                found.append([_loads(each, block) for each in self._loads[stage].values()])
                live |= bits_of(kind[0] for kind in self._loads[stage])
                continue
            chosen = self._computations[stage]
            reads = {slot for _, node, _ in chosen for slot in _read_by(node)}
            places = [at for at, *_ in chosen]
            found.append([StagedPart(places, _stretch(chosen, block, code, live), (*reads,))])
            live |= bits_of(reads)
        parts = [part for stage_parts in reversed(found) for part in stage_parts]
        if len(parts) < 2:
            return [part.step for part in parts]
        return [StagedSteps(parts, block)]


class StagedPart(NamedTuple):
    """Instructions that run at once.

    Attributes:
        places: where in the block they stand, ascending.
        step: runs them.
        reads: the slots that computations read.
    """

    places: Sequence[int]
    step: Step
    reads: Sequence[int] = ()


class StagedSteps:
    """Stages as a step of a plan. What is reported, and what a launch ends with, comes in the order of the
    program all the same: what has been run ahead of its turn had nothing to report."""

    def __init__(self, parts: Sequence[StagedPart], block: CodeBlock) -> None:
        self.parts = parts
        transfers = {
            at: transfer
            for part in parts
            if isinstance(part.step, CompiledLoads)
            for at, transfer in zip(part.places, part.step.transfers, strict=True)
        }
        self._alone: dict[int, Step] = {
            at: transfers.get(at) or either(block.steps[at], block.tracked[at])
            for part in parts
            for at in part.places
        }

    def __call__(self, lane_set: LaneSet) -> None:
        """Run them for a lane set."""
        options = lane_set.launch.options
        goes_past = options.keep_going or options.rules
        for number, (places, step, reads) in enumerate(self.parts):
            undefined = lane_set.undefined
            if not isinstance(step, CompiledLoads):
                if undefined and any(slot in undefined for slot in reads):
                    return self._in_order(lane_set, number, places)
                step(lane_set)
            elif not step.done(lane_set):
                for at, transfer in zip(places, step.transfers, strict=True):
                    if transfer.done(lane_set):
                        continue
                    if goes_past:
                        left = [other for other in places if other >= at]
                        return self._in_order(lane_set, number, left)
                    try:
                        transfer.step(lane_set)
                    except EmulatorFault:
                        self._in_order(lane_set, number, (), at)
                        raise
        return None

    def _in_order(self, lane_set: LaneSet, number: int, left: Sequence[int], end: int | None = None) -> None:
        """Run what is left of a part, and all behind it, one by one. `end`: only what stands before it."""
        waiting = [*left, *(at for part in self.parts[number + 1 :] for at in part.places)]
        for at in sorted(waiting):
            if end is None or at < end:
                self._alone[at](lane_set)


def _loads(chosen: Sequence[tuple[int, MemoryTransfer]], block: CodeBlock) -> StagedPart:
    transfers = [CompiledTransfer(node, block.steps[at]) for at, node in chosen]
    return StagedPart([at for at, _ in chosen], CompiledLoads(transfers))


def _stretch(
    chosen: Sequence[tuple[int, Computation, Lowering]], block: CodeBlock, code: CodeToRun, live: int
) -> Step:
    places = [at for at, *_ in chosen]
    own, tracked = [block.steps[at] for at in places], [block.tracked[at] for at in places]
    if len(places) == 1 and isinstance(chosen[0][1].operation.function, np.ufunc):
        return either(own[0], tracked[0])  # One that numpy does at once is not worth a call.
    computations, lowerings = [node for _, node, _ in chosen], [lowering for *_, lowering in chosen]
    return Stretch(computations, lowerings, own, tracked, code.widths, live)


def _read_by(node: Computation) -> list[int]:
    """The slots that a computation reads, or may leave as they are."""
    read = [source.slot for source in node.sources if source.slot is not None]
    if node.guard is not None and node.guard.slot is not None:
        read += [node.guard.slot, *node.writes]
    return read


def either(step: Step, tracked: Step) -> Step:
    """A step for lane sets with and without undefined bits."""
    if step is tracked:
        return step

    def chosen(lane_set: LaneSet) -> Any:
        return (tracked if lane_set.undefined else step)(lane_set)

    return chosen


def lowering_of(node: IRNode, code: CodeToRun) -> Lowering | None:
    """How an instruction is compiled; None where it is left to numpy."""
    if not isinstance(node, Computation):
        return None
    operation = node.operation
    if operation.reads_carry or operation.writes_carry:
        return None
    slots = [source.slot for source in node.sources if source.slot is not None] + [*node.writes]
    if any(code.widths[slot] > 64 for slot in slots):
        return None
    if any(source.compute is not None and source.name in VARYING for source in node.sources):
        return None
    return find(node.form)
