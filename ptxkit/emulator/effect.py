"""Operations with effects, and how one is found for an instruction.

Where a pure operation only computes (`ptxkit.emulator.operation`), an effect touches memory, other lanes,
control flow or the machine. Its reader, registered by the name of its row in `Effects`, takes a
`ScopedInstruction` and returns an `Effect`, made of up to three parts that the machine runs at different
times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.symbols import Symbol
from ptxkit.emulator.code import IRNode
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import End, LaneSet, SyncPoint
from ptxkit.emulator.opcodes import EFFECTS, ChapterReaders, load_operation

GuardedStep = Callable[[LaneSet, Any], Any]
"""Runs an instruction for a lane set, and for those of its lanes that a guard holds for: None for all of
them, else a bool array that differs between lanes. A true result says that undefined bits came into a
register."""


class Links:
    """Where the end of a block can lead to: to the next one, and to labels."""

    def __init__(self, flow: FunctionCode, block_at: Mapping[int, int], number: int) -> None:
        self._flow, self._block_at = flow, block_at
        self.next = number + 1

    def block(self, label: Symbol) -> int:
        """The block at a label."""
        return self._block_at[self._flow.at[label]]


class Effect(NamedTuple):
    """What an instruction does.

    Attributes:
        step: its work, in the middle of a block.
        sync_point: what a lane set must pass before the instruction; a block starts there.
        link: for what ends a block, the function that ends it, given where it can lead to.
        target: the one label that it leads to, for a branch.
        uniform: whether the lanes of a warp must agree on its guard.
        ir: what `step` does, where that is a weak load or store, or an exchange, and no more.
        alone: whether it parts lane sets at its own block, which then holds nothing else.
    """

    step: GuardedStep | None = None
    sync_point: SyncPoint | None = None
    link: Callable[[Links], End] | None = None
    target: Symbol | None = None
    uniform: bool = False
    alone: bool = False
    ir: IRNode = None


Reader = Callable[[ScopedInstruction], Effect]


def hint(instruction: ScopedInstruction) -> Effect:
    """An instruction that changes nothing, and of which an address that is not valid does not matter."""
    return Effect(lambda lane_set, guard: None)


class Effects(ChapterReaders[Reader]):
    """The effects of a chapter."""

    readers = EFFECTS


def effect_of(instruction: ScopedInstruction) -> Effect | None:
    """What an instruction does; None where nobody says."""
    load_operation(instruction.row.chapter, instruction.row.name)
    reader = EFFECTS.get((instruction.row.chapter, instruction.row.name))
    return reader(instruction) if reader is not None else None
