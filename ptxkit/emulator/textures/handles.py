"""Operands that name a texture, a sampler or a surface: a handle in a register, or a variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, NoReturn

import numpy as np

from ptxkit.asm import tree
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import lanes_of, undefined_decides
from ptxkit.emulator.texels.objects import Kind
from ptxkit.emulator.texels.table import UnknownObject
from ptxkit.emulator.values import WARP, dtype_of


class HandleOperand(Generic[Kind]):
    """An operand that stands for objects of a kind.

    Args:
        instruction: whose.
        name: of the operand: the base of an address, or another name in its brackets.
        kind: what it must stand for.
    """

    def __init__(self, instruction: ScopedInstruction, name: str, kind: type[Kind]) -> None:
        self.kind: type[Kind] = kind
        self.site = instruction.site
        operand = instruction.operands[name]
        self._slot: int | None
        if isinstance(operand, tree.Address):
            address = instruction.address(operand)
            self._slot = address.base.slot if address.base is not None else None
            self._read = address.read
        else:
            source = instruction.source(operand, "u64")
            self._slot, self._read = source.slot, source.reader

    def objects(self, lane_set: LaneSet, guard: Any) -> Iterator[tuple[Kind, np.ndarray]]:
        """The objects that lanes name, each with the lanes that do, bool (rows, 32). Raises P6140, P605."""
        shape = (lane_set.n, WARP)
        active = lanes_of(lane_set, guard, shape)
        mine = np.ones(shape, bool) if active is None else np.broadcast_to(active, shape)
        self._check_defined(lane_set, mine)
        handles = np.broadcast_to(np.asarray(self._read(lane_set), dtype_of("u64")), shape)
        for handle in np.unique(handles[mine]):
            chosen = mine & (handles == handle)
            try:
                found = lane_set.launch.textures.get(self.kind, int(handle))
            except UnknownObject as unknown:
                self.refuse(lane_set, chosen, str(unknown))
            yield found, chosen

    def _check_defined(self, lane_set: LaneSet, mine: np.ndarray) -> None:
        entry = lane_set.undefined.get(self._slot) if self._slot is not None else None
        if entry is not None:
            bad = (np.broadcast_to(entry[0], mine.shape) != 0) & mine
            if bad.any():
                undefined_decides(lane_set, bad, entry[1], self.site, "the handle")

    def refuse(self, lane_set: LaneSet, guard: Any, why: str) -> NoReturn:
        """Report that a handle can't be used so. Raises P6140."""
        thread = lane_set.thread(*lane_set.first(guard))
        raise fault("P6140", why, self.site, (str(thread),))
