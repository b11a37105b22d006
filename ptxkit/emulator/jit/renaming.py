"""Slots for values that are still to be read while their register gets another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.operands import SourceOperand, TargetOperand


class Renaming:
    """Which slot has the value of each register, from instruction to instruction: its own, or one behind
    those of the function, which lasts as long as the instructions run.

    Args:
        widths: of the function's slots, in bits.

    Attributes:
        widths: the same, and behind them those of the slots that were added.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self._own = len(widths)
        self.widths = [*widths]
        self._now: dict[int, int] = {}

    def now(self, slot: int) -> int:
        """Where the value of a register is."""
        return self._now.get(slot, slot)

    def anew(self, slot: int) -> int:
        """Where its next one will be."""
        self._now[slot] = len(self.widths)
        self.widths.append(self.widths[slot])
        return self._now[slot]

    def source(self, source: SourceOperand) -> SourceOperand:
        """An operand as it is read now."""
        if source.slot is None or source.slot not in self._now:
            return source
        return replace(source, slot=self._now[source.slot])

    def targets(self, targets: Sequence[TargetOperand | None]) -> list[TargetOperand | None]:
        """Operands as they are written now."""
        return [
            replace(target, slot=self._now[target.slot])
            if target is not None and target.slot in self._now
            else target
            for target in targets
        ]

    def elsewhere(self, slots: Iterable[int]) -> list[tuple[int, int]]:
        """Registers whose values are elsewhere, and where."""
        return [(slot, self._now[slot]) for slot in dict.fromkeys(slots) if slot in self._now]

    def live(self, live: int) -> int:
        """Registers, as bits, as the slots where their values are."""
        for slot, now in self._now.items():
            if live >> slot & 1:
                live = live & ~(1 << slot) | 1 << now
        return live

    def frame(self, live: int) -> SlotFrame | None:
        """What makes room for the added slots; None where there are none. `live`: the registers whose values
        count behind the instructions, as bits."""
        if len(self.widths) == self._own:
            return None
        return SlotFrame(self._own, len(self.widths), self.elsewhere(s for s in self._now if live >> s & 1))


class SlotFrame:
    """The added slots of some instructions.

    Args:
        own: how many slots the function has.
        all_: how many there are with those that are added.
        moves: registers, and where their values are in the end.
    """

    def __init__(self, own: int, all_: int, moves: Sequence[tuple[int, int]]) -> None:
        self._own = own
        self._blank = [None] * (all_ - own)
        self._moves = moves

    def enter(self, lane_set: LaneSet) -> None:
        """Before the first instruction."""
        lane_set.regs += self._blank

    def leave(self, lane_set: LaneSet) -> None:
        """Behind the last one."""
        for slot, now in self._moves:
            _copy(lane_set, now, slot)
        self.drop(lane_set)

    def drop(self, lane_set: LaneSet) -> None:
        """Behind one that ends the launch."""
        del lane_set.regs[self._own :]
        for slot in [slot for slot in lane_set.undefined if slot >= self._own]:
            del lane_set.undefined[slot]


def _copy(lane_set: LaneSet, source: int, target: int) -> None:
    lane_set.regs[target] = lane_set.regs[source]
    _mark(lane_set, target, lane_set.undefined.get(source))


def _mark(lane_set: LaneSet, slot: int, undefined: Any) -> None:
    if undefined is not None:
        lane_set.undefined[slot] = undefined
    else:
        lane_set.undefined.pop(slot, None)


class Renamed:
    """A step of numpy, which knows its registers by their own slots, for values that are elsewhere.

    Args:
        step: the step.
        reads: registers that it reads or may keep, and where their values are.
        writes: registers that it writes, and where their values belong.
    """

    def __init__(
        self, step: Step, reads: Sequence[tuple[int, int]], writes: Sequence[tuple[int, int]]
    ) -> None:
        self._step, self._reads, self._writes = step, reads, writes
        self._touched = dict.fromkeys(slot for slot, _ in (*reads, *writes))

    def __call__(self, lane_set: LaneSet) -> Any:
        """Run the instruction. One that ends the launch leaves the registers as it saw them."""
        regs, undefined = lane_set.regs, lane_set.undefined
        kept = [(slot, regs[slot], undefined.get(slot)) for slot in self._touched]
        for slot, now in self._reads:
            _copy(lane_set, now, slot)
        found = self._step(lane_set)
        for slot, now in self._writes:
            _copy(lane_set, slot, now)
        for slot, value, mask in kept:
            regs[slot] = value
            _mark(lane_set, slot, mask)
        return found
