"""What takes the place of a hot block's steps."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.code import CodeBlock, Computation, IRNode, MemoryTransfer
from ptxkit.emulator.jit import lowerings as all_lowerings
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
    steps: list[Step | tuple[int, int, list[Lowering]]] = []
    computations: list[Computation] = []
    found: list[Lowering] = []

    def close(end: int) -> None:
        start = end - len(computations)
        if len(computations) >= SHORTEST:
            steps.append((start, end, list(found)))
        else:
            steps.extend(either(block.steps[at], block.tracked[at]) for at in range(start, end))
        computations.clear()
        found.clear()

    for at, node in enumerate(block.ir):
        lowering = lowering_of(node, code)
        if not isinstance(node, Computation) or lowering is None:
            close(at)
            if isinstance(node, MemoryTransfer) and node.address.base is not None:
                steps.append(CompiledTransfer(node, block.steps[at]))
                continue
            steps.append(either(block.steps[at], block.tracked[at]))
            continue
        if node.guard is not None and any(node.guard.slot in each.writes for each in computations):
            # A stretch knows its guards when it begins.
            close(at)
        if len(computations) == LONGEST:
            close(at)
        computations.append(node)
        found.append(lowering)
    close(len(block.ir))
    live = block.live_after(stretch[1] - 1 for stretch in steps if isinstance(stretch, tuple))
    return [
        _stretch(block, code, *step, live[step[1] - 1]) if isinstance(step, tuple) else step for step in steps
    ]


def _stretch(
    block: CodeBlock, code: CodeToRun, start: int, end: int, lowerings: list[Lowering], live: int
) -> Stretch:
    """The instructions `start` to `end` (exclusive) of a block as one step."""
    computations = [node for node in block.ir[start:end] if isinstance(node, Computation)]
    steps, tracked = block.steps[start:end], block.tracked[start:end]
    return Stretch(computations, lowerings, steps, tracked, code.widths, live)


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
