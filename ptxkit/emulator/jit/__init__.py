"""The `jit` extra: hot blocks compiled through LLVM to what numpy computes, bit for bit.

A block runs as numpy steps until `WORTH` threads have gone through it. Then a plan takes their place
(`plan.py`): pure instructions that follow one another and that `lowerings/` knows become a stretch, a
function of LLVM (`stretch.py`), and everything else stays the step that it was. Numpy remains the definition:
whatever a compiled part is not sure of, it leaves to the steps, with nothing done.
"""

from __future__ import annotations

from importlib.util import find_spec

from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.lane_set import LaneSet

WORTH = 1 << 18
"""Threads that run a block, in all launches, before it is compiled: about what its compilation costs."""
FEWER = 4
"""So many times fewer will do in a launch that is known to last."""


def available() -> bool:
    """Whether the `jit` extra is installed."""
    return find_spec("llvmlite") is not None


def prepare(block: CodeBlock) -> bool:
    """Let a block be compiled when it runs next, if it has run often enough for a launch that lasts. Returns
    whether it will then be compiled."""
    if block.plan is None and block.ran * FEWER >= WORTH:
        block.ran = WORTH
    return not block.compiled and block.ran >= WORTH


def run(block: CodeBlock, lane_set: LaneSet) -> None:
    """Run a block's instructions for a lane set, and perhaps those of blocks behind it: compiled where that
    is worth it. The lane set's `pc` is then the last block that ran."""
    if block.plan is None:
        block.ran += lane_set.size
        if block.ran < WORTH:
            block.run(lane_set)
            return
        from ptxkit.emulator.jit.chain import chain
        from ptxkit.emulator.jit.plan import plan

        block.plan = plan(block, lane_set.code)
        block.chain = chain(block, lane_set.code)
    block.compiled = True
    if block.chain is not None and block.chain(lane_set):
        return
    for step in block.plan:
        step(lane_set)
