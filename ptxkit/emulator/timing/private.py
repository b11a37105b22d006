"""What loads of constants and accesses to local memory cost, which the profiler counts elsewhere.

Constants come one address after another: where the lanes of a warp want different ones, each takes a turn.
Local memory lies word by word, those of the 32 lanes side by side, so that lanes which want the same word of
theirs want one line. L1 holds what is loaded, and what is stored goes on to L2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.counts import LINE, SECTOR, WORD
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.timing.recorded import AccessCost
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import StateSpace

NOBODY = -1
LINES = 2
"""Lines that a wavefront of a load may come from, if its words lie in different banks."""
_SPACES = frozenset({"const", "local"})


def varies(ir: Any, site: Site) -> bool:
    """Whether an instruction loads a constant whose address is in a register, so that it is no operand."""
    spaces = {plain_space(space) for space in site.decoded.all(StateSpace)}
    return isinstance(ir, MemoryTransfer) and "const" in spaces and ir.address.base is not None


def add_cost(cost: AccessCost, ir: Any, site: Site, lane_set: LaneSet, guard: Any) -> None:
    """Add what an access to constants or to local memory costs, of all warps that execute it.

    Args:
        cost: of the instruction.
        ir: what is known of it.
        site: where it is.
        lane_set: who executes it.
        guard: the guard's value, None where there is none.
    """
    if not isinstance(ir, MemoryTransfer):
        return
    spaces = {plain_space(space) for space in site.decoded.all(StateSpace)}
    if spaces and not spaces & _SPACES:
        return
    for access in ir.accessor(lane_set, guard):
        if access.space not in _SPACES:
            continue
        places = np.broadcast_to(np.asarray(access.index).astype(np.int64), (lane_set.n, WARP))
        active = lanes_of(lane_set, access.guard, places.shape)
        if access.space == "const":
            cost.constants += different(places, active).sum()
        elif isinstance(access.bank, TiledBank):
            _add_local(cost, places % access.bank.stride, active, ir.width * ir.count, ir.stores)


def _add_local(cost: AccessCost, offsets: np.ndarray, active: Any, size: int, stores: bool) -> None:
    words = max(size // WORD, 1)
    lines = sectors = 0
    for word in range(words):
        which = offsets // WORD + word
        lines += int(different(which, active).sum())
        sectors += int(different(which * (LINE // SECTOR) + np.arange(WARP) * WORD // SECTOR, active).sum())
    lanes = offsets.size if active is None else int(np.count_nonzero(np.broadcast_to(active, offsets.shape)))
    cost.requests += len(offsets)
    cost.lines += lines
    cost.waves += lines if stores else max(lines / LINES, len(offsets) * words)
    if stores:
        cost.sectors += sectors
        cost.sent += lines
        cost.partial += max(sectors - lanes * size / SECTOR, 0.0)


def different(numbers: np.ndarray, active: Any) -> np.ndarray:
    """How many different ones the lanes of each row have."""
    numbers = np.sort(numbers if active is None else np.where(active, numbers, NOBODY), axis=1)
    apart: np.ndarray = np.count_nonzero(numbers[:, 1:] != numbers[:, :-1], axis=1)
    return apart + (numbers[:, 0] != NOBODY)
