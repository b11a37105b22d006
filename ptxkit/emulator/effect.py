"""Operations with effects, and how one is found for an instruction.

Where a pure operation only computes (`ptxkit.emulator.operation`), an effect touches memory, other lanes,
control flow or the machine. Its reader, registered by the name of its row in `Effects`, takes a
`ScopedInstruction` and returns an `Effect`, made of up to three parts that run at different times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ptxkit.asm.symbols import Symbol
from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import End, LaneSet, SyncPoint
from ptxkit.emulator.opcodes import REGISTERED, load_operation

GuardedStep = Callable[[LaneSet, Any], Any]
"""Runs an instruction for a lane set, and for those of its lanes that a guard holds for: None for all of
them, else a bool array that differs between lanes. A true result says that undefined bits came into a
register."""


class Links(Protocol):
    """Where an end can lead to, known once a function has been cut into blocks."""

    @property
    def next(self) -> int:
        """The block behind the instruction."""

    def block(self, label: Any) -> int:
        """The block at a label's symbol."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does.

    Attributes:
        step: its work, in the middle of a block.
        sync_point: what a lane set must pass before the instruction; a block starts there.
        link: for what ends a block, the function that ends it, given where it can lead to.
        target: the one label that it leads to, for a branch.
        uniform: whether the lanes of a warp must agree on its guard.
        transfer: what `step` does, where that is a weak load or store and no more.
        alone: whether it parts lane sets at its own block, which then holds nothing else.
    """

    step: GuardedStep | None = None
    sync_point: SyncPoint | None = None
    link: Callable[[Links], End] | None = None
    target: Symbol | None = None
    uniform: bool = False
    alone: bool = False
    transfer: MemoryTransfer | None = None


class Effects:
    """Where a chapter's effects are registered by the names of their rows, as pure operations are
    (`ptxkit.emulator.operation.Operations`).

    Args:
        chapter: the name of the chapter's file in `ptxkit.isa`.
    """

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter

    def __call__(self, *names: str) -> Callable[[Reader], Reader]:
        """A decorator: the effect of instructions of these names."""

        def register(reader: Reader) -> Reader:
            for name in names:
                if EFFECTS.setdefault((self.chapter, name), reader) is not reader:
                    raise ValueError(f"`{name}` of chapter {self.chapter} is registered twice")
                REGISTERED.add((self.chapter, name))
            return reader

        return register


def effect_of(form: ScopedInstruction) -> Effect | None:
    """What an instruction does; None where nobody says."""
    load_operation(form.row.chapter, form.row.name)
    reader = EFFECTS.get((form.row.chapter, form.row.name))
    return reader(form) if reader is not None else None


Reader = Callable[["ScopedInstruction"], Effect]
EFFECTS: dict[tuple[str, str], Reader] = {}
"""The effects by chapter of the instruction set and name of the instruction."""
