"""What takes the place of a hot block's steps."""

from __future__ import annotations

from ptxkit.emulator.code import CodeBlock, MemoryTransfer
from ptxkit.emulator.jit import lowerings as all_lowerings
from ptxkit.emulator.jit.staged import Staged, either
from ptxkit.emulator.jit.transfer import CompiledTransfer
from ptxkit.emulator.lane_set import CodeToRun, Step

assert all_lowerings  # importing it registers the lowerings


def plan(block: CodeBlock, code: CodeToRun) -> list[Step]:
    """The steps of a block, its stretches compiled when they first run; each for lane sets of any kind."""
    found: list[Staged | Step] = []
    staged = Staged(code)
    for at, node in enumerate(block.ir):
        if staged.take(at, node):
            continue
        found.append(staged)
        staged = Staged(code)
        if staged.take(at, node):
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
        steps += each.steps(block, live[each.end]) if isinstance(each, Staged) else [each]
    return steps
