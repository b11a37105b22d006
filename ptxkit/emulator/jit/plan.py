"""What takes the place of a hot block's steps."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.code import CodeBlock, Computation, IRNode, MemoryTransfer
from ptxkit.emulator.jit import lowerings as all_lowerings
from ptxkit.emulator.jit.loads import CompiledLoads, kind_of
from ptxkit.emulator.jit.lowering import Lowering, find
from ptxkit.emulator.jit.stretch import Stretch
from ptxkit.emulator.jit.transfer import CompiledTransfer
from ptxkit.emulator.lane_set import CodeToRun, LaneSet, Step
from ptxkit.emulator.special import VARYING

assert all_lowerings  # importing it registers the lowerings

SHORTEST, LONGEST = 2, 512
"""Instructions of a stretch: fewer are not worth a call, more would take LLVM long at once."""


def plan(block: CodeBlock, code: CodeToRun) -> list[Step]:
    """The steps of a block, its stretches compiled when they first run; each for lane sets of any kind."""
    found: list[LoadsFirst | Step] = []
    group = LoadsFirst()
    for at, node in enumerate(block.ir):
        if group.take(at, node, code):
            continue
        found.append(group)
        group = LoadsFirst()
        if group.take(at, node, code):
            continue
        if isinstance(node, MemoryTransfer) and node.address.base is not None:
            found.append(CompiledTransfer(node, block.steps[at]))
        else:
            found.append(either(block.steps[at], block.tracked[at]))
    found.append(group)
    live = block.live_after(each.end for each in found if isinstance(each, LoadsFirst))
    steps: list[Step] = []
    for each in found:
        steps += each.steps(block, code, live[each.end]) if isinstance(each, LoadsFirst) else [each]
    return steps


class LoadsFirst:
    """Loads and computations that follow one another, in which the loads may as well come first: none has its
    address from a computation, or writes what one before it reads or writes."""

    def __init__(self) -> None:
        self.end = 0
        self._loads: dict[Any, list[tuple[int, MemoryTransfer]]] = {}
        self._computations: list[tuple[int, Computation, Lowering]] = []
        self._reads: set[int] = set()
        self._writes: set[int] = set()
        self._computed: set[int] = set()

    def take(self, at: int, node: IRNode, code: CodeToRun) -> bool:
        """Make an instruction part of it, if it can be one."""
        if isinstance(node, MemoryTransfer):
            taken = self._load(at, node)
        else:
            taken = self._computation(at, node, code)
        if taken:
            self.end = at
        return taken

    def _load(self, at: int, node: MemoryTransfer) -> bool:
        kind = kind_of(node)
        if kind is None:
            return False
        targets = {target.slot for target in node.targets if target is not None}
        if kind[0] in self._writes or targets & (self._reads | self._writes):
            return False
        if len(targets) < sum(target is not None for target in node.targets):
            return False
        self._loads.setdefault(kind, []).append((at, node))
        self._reads.add(kind[0])
        self._writes |= targets
        return True

    def _computation(self, at: int, node: IRNode, code: CodeToRun) -> bool:
        lowering = lowering_of(node, code)
        if not isinstance(node, Computation) or lowering is None or len(self._computations) == LONGEST:
            return False
        if node.guard is not None and node.guard.slot in self._computed:
            return False  # A stretch knows its guards when it begins.
        self._computations.append((at, node, lowering))
        self._reads |= {source.slot for source in node.sources if source.slot is not None}
        if node.guard is not None and node.guard.slot is not None:
            self._reads.add(node.guard.slot)
        self._writes |= node.writes
        self._computed |= node.writes
        return True

    def steps(self, block: CodeBlock, code: CodeToRun, live: int) -> list[Step]:
        """The loads, then the computations. `live`: the slots whose values count behind them, as bits."""
        found: list[Step] = [
            CompiledLoads([CompiledTransfer(node, block.steps[at]) for at, node in loads])
            for loads in self._loads.values()
        ]
        places = [at for at, *_ in self._computations]
        own, tracked = [block.steps[at] for at in places], [block.tracked[at] for at in places]
        if len(places) < SHORTEST:
            return found + [either(*pair) for pair in zip(own, tracked, strict=True)]
        computations = [node for _, node, _ in self._computations]
        lowerings = [lowering for *_, lowering in self._computations]
        return [*found, Stretch(computations, lowerings, own, tracked, code.widths, live)]


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
