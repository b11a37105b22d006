"""Loads and computations that follow one another, put in an order in which many run at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ptxkit.asm.bit_sets import bits_of
from ptxkit.emulator.code import CodeBlock, Computation, Exchange, IRNode, MemoryTransfer
from ptxkit.emulator.faults import EmulatorFault
from ptxkit.emulator.jit.loads import CompiledLoads, kind_of
from ptxkit.emulator.jit.lowering import Across, Lowering, lowering_of, lowerings_of
from ptxkit.emulator.jit.renaming import Renamed, Renaming, SlotFrame
from ptxkit.emulator.jit.stretch import Stretch
from ptxkit.emulator.jit.transfer import CompiledTransfer
from ptxkit.emulator.lane_set import CodeToRun, LaneSet, Step
from ptxkit.emulator.operands import AddressOperand

LONGEST = 512
"""Instructions that are put in stages together: more would take LLVM long at once."""

Elsewhere = list[tuple[int, int]]
"""Registers whose values are not in their own slots, and where."""


@dataclass(slots=True, eq=False)
class StagedNode:
    """An instruction of a stage.

    Attributes:
        at: where in the block it stands.
        reads, writes: its registers that are elsewhere, as it reads and writes them.
        transfer: the load, with the slots where its values are.
        computations: what it computes, with those slots, and how each is compiled.
    """

    at: int
    reads: Elsewhere
    writes: Elsewhere
    transfer: MemoryTransfer | None = None
    computations: Sequence[tuple[Computation, Lowering | Across]] = ()

    def moved(self, step: Step) -> Step:
        """A step of numpy for it."""
        return Renamed(step, self.reads, self.writes) if self.reads or self.writes else step


class Staged:
    """Loads and computations in stages: what hangs on no load, the loads that hang on that alone, what hangs
    on them, and so on. Computations have even stages, loads odd ones.

    Within a stage of loads any may come first; computations keep their order. A slot is written in no earlier
    stage than it was read or written before: a register that would have to wait for that gets a new slot.
    No load comes behind an exchange, which orders what was read before it.

    Args:
        code: the function.
    """

    def __init__(self, code: CodeToRun) -> None:
        self.exchanges = False
        self.end = 0
        self._code = code
        self._loads: dict[int, dict[Any, list[StagedNode]]] = {}
        self._computations: dict[int, list[StagedNode]] = {}
        self._count = 0
        self._written: dict[int, int] = {}
        self._read: dict[int, int] = {}
        self._renaming = Renaming(code.widths)

    @property
    def has_any(self) -> bool:
        """Whether an instruction is part of it."""
        return self._count > 0

    def take(self, at: int, node: IRNode) -> bool:
        """Make an instruction part of it, if it can be one."""
        if self._count == LONGEST:
            return False
        if isinstance(node, MemoryTransfer):
            taken = not self.exchanges and self._load(at, node)
        elif isinstance(node, Exchange):
            taken = self._exchange(at, node)
            self.exchanges |= taken
        else:
            taken = self._computation(at, node)
        if taken:
            self.end = at
            self._count += 1
        return taken

    def _load(self, at: int, node: MemoryTransfer) -> bool:
        base = node.address.base
        if kind_of(node) is None or base is None or base.slot is None:
            return False
        targets = [target.slot for target in node.targets if target is not None]
        if len({*targets}) < len(targets) or base.slot in targets:
            return False
        renaming = self._renaming
        reads = renaming.elsewhere([base.slot])
        slot = renaming.now(base.slot)
        stage = self._written.get(slot, -1) | 1
        if self._written.get(slot, -1) == stage:
            stage += 2  # The address itself is loaded.
        self._note(self._read, [slot], stage)
        self._write(targets, stage)
        address = node.address
        if reads:
            address = AddressOperand(renaming.source(base), address.offset, address.local, address.symbol)
        moved = replace(node, address=address, targets=renaming.targets(node.targets))
        self._loads.setdefault(stage, {}).setdefault(kind_of(moved), []).append(
            StagedNode(at, reads, renaming.elsewhere(targets), moved)
        )
        return True

    def _computation(self, at: int, node: IRNode) -> bool:
        lowering = lowering_of(node, self._code)
        if not isinstance(node, Computation) or lowering is None:
            return False
        renaming, guard = self._renaming, node.guard
        slots = read_by(node)
        reads = renaming.elsewhere(slots)
        now = [renaming.now(slot) for slot in slots]
        sources = [renaming.source(source) for source in node.sources]
        stage = self._known(now)
        if guard is not None and guard.slot is not None:
            # A stretch knows its guards when it begins.
            known = self._written.get(renaming.now(guard.slot))
            stage = max(stage, 0 if known is None else known + 1)
            guard = renaming.source(guard)
            # What a guard keeps stays where it is.
            kept = [renaming.now(slot) for slot in node.writes]
            stage = max([stage, *(self._read.get(slot, 0) for slot in kept)])
        stage += stage % 2
        self._note(self._read, now, stage)
        self._write(node.writes, stage)
        moved = replace(node, sources=sources, guard=guard, targets=renaming.targets(node.targets))
        self._computations.setdefault(stage, []).append(
            StagedNode(at, reads, renaming.elsewhere(node.writes), computations=[(moved, lowering)])
        )
        return True

    def _exchange(self, at: int, node: Exchange) -> bool:
        lowerings = lowerings_of(node, self._code)
        if lowerings is None:
            return False
        renaming = self._renaming
        slots = [slot for each in node.computations for slot in read_by(each)]
        mask = [node.members.slot] if node.members.slot is not None else []
        reads = renaming.elsewhere([*slots, *mask])
        now = [renaming.now(slot) for slot in slots]
        sources = [[renaming.source(source) for source in each.sources] for each in node.computations]
        stage = self._known(now)
        stage += stage % 2
        self._note(self._read, now, stage)
        writes = [slot for each in node.computations for slot in each.writes]
        self._write(writes, stage)
        moved = [
            replace(each, sources=own, targets=renaming.targets(each.targets))
            for each, own in zip(node.computations, sources, strict=True)
        ]
        self._computations.setdefault(stage, []).append(
            StagedNode(
                at, reads, renaming.elsewhere(writes), computations=[*zip(moved, lowerings, strict=True)]
            )
        )
        return True

    def _known(self, slots: Iterable[int]) -> int:
        """The first stage behind what gives some slots their values."""
        return max([0, *(self._written.get(slot, 0) for slot in slots)])

    @staticmethod
    def _note(stages: dict[int, int], slots: Iterable[int], stage: int) -> None:
        for slot in slots:
            stages[slot] = max(stages.get(slot, 0), stage)

    def _write(self, registers: Iterable[int], stage: int) -> None:
        """An instruction of a stage writes registers."""
        for register in registers:
            slot = self._renaming.now(register)
            written, read = self._written.get(slot, -1), self._read.get(slot, -1)
            late = stage <= max(written, read) if stage % 2 else stage < max(written, read)
            if late:
                slot = self._renaming.anew(register)
            self._written[slot] = stage

    def steps(self, block: CodeBlock, live: int) -> list[Step]:
        """One stage after the other. `live`: the registers whose values count behind them, as bits."""
        frame = self._renaming.frame(live)
        live = self._renaming.live(live)
        found: list[list[StagedPart]] = []
        for stage in sorted({*self._loads, *self._computations}, reverse=True):
            if stage % 2:
                found.append([_loads(each, block) for each in self._loads[stage].values()])
                live |= bits_of(kind[0] for kind in self._loads[stage])
                continue
            chosen = self._computations[stage]
            reads = {slot for each in chosen for node, _ in each.computations for slot in read_by(node)}
            stretch = _stretch(chosen, block, self._renaming.widths, live)
            found.append([StagedPart(chosen, stretch, (*reads,))])
            live |= bits_of(reads)
        parts = [part for stage_parts in reversed(found) for part in stage_parts]
        if len(parts) < 2 and frame is None:
            return [part.step for part in parts]
        return [StagedSteps(parts, block, frame)]


class StagedPart(NamedTuple):
    """Instructions that run at once.

    Attributes:
        nodes: they, in the block's order.
        step: runs them.
        reads: the slots that computations read.
    """

    nodes: Sequence[StagedNode]
    step: Step
    reads: Sequence[int] = ()


class StagedSteps:
    """Stages as a step of a plan. What is reported, and what a launch ends with, comes in the order of the
    program all the same: what has been run ahead of its turn had nothing to report."""

    def __init__(self, parts: Sequence[StagedPart], block: CodeBlock, frame: SlotFrame | None) -> None:
        self.parts = [(part, [node.at for node in part.nodes]) for part in parts]
        self._frame = frame
        self._alone: dict[int, Step] = {}
        for nodes, step, _ in parts:
            if isinstance(step, CompiledLoads):
                self._alone.update(zip((node.at for node in nodes), step.transfers, strict=True))
                continue
            for node in nodes:
                self._alone[node.at] = node.moved(either(block.steps[node.at], block.tracked[node.at]))

    def __call__(self, lane_set: LaneSet) -> None:
        """Run them for a lane set."""
        frame = self._frame
        if frame is None:
            return self._run(lane_set)
        frame.enter(lane_set)
        try:
            self._run(lane_set)
        except EmulatorFault:
            frame.drop(lane_set)
            raise
        frame.leave(lane_set)
        return None

    def _run(self, lane_set: LaneSet) -> None:
        options = lane_set.launch.options
        goes_past = options.keep_going or options.rules
        for number, ((_, step, reads), places) in enumerate(self.parts):
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
        waiting = [*left, *(at for _, places in self.parts[number + 1 :] for at in places)]
        for at in sorted(waiting):
            if end is None or at < end:
                self._alone[at](lane_set)


def _loads(chosen: Sequence[StagedNode], block: CodeBlock) -> StagedPart:
    transfers = [
        CompiledTransfer(each.transfer, each.moved(block.steps[each.at]))
        for each in chosen
        if each.transfer is not None
    ]
    return StagedPart(chosen, CompiledLoads(transfers))


def _stretch(chosen: Sequence[StagedNode], block: CodeBlock, widths: Sequence[int], live: int) -> Step:
    own = [each.moved(block.steps[each.at]) for each in chosen]
    tracked = [each.moved(block.tracked[each.at]) for each in chosen]
    computations = [pair for each in chosen for pair in each.computations]
    if len(computations) == 1 and isinstance(computations[0][0].operation.function, np.ufunc):
        return either(own[0], tracked[0])  # One that numpy does at once is not worth a call.
    nodes, lowerings = [node for node, _ in computations], [lowering for _, lowering in computations]
    return Stretch(nodes, lowerings, own, tracked, widths, live)


def read_by(node: Computation) -> list[int]:
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
