"""Reads whose values come to nothing, which shipping kernels let race; see docs/emulator/rules.md.

Triton has every thread of a CTA load a scalar, and one of them store what it made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.tree import Guard, Name
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.reach import Reach
from ptxkit.emulator.values import WARP

UNUSED = "what was read goes into stores that the reading thread does not execute, and nowhere else"

PURE = frozenset("integer floating half mixed narrow extended comparison conversion logic packed".split())
"""Chapters whose instructions do nothing but write registers of their own thread."""
MOVES = frozenset(("mov", "prmt"))


def is_unused(access: Reach, load: Site, store: Site, rows: range, threads: int, row: int, lane: int) -> bool:
    """Whether of the threads of a CTA that access the same place as one of them, one at most does anything
    with what a load gives it: a store.

    Args:
        access: what executes, the load or the store.
        load, store: the load, and one of the stores that what it gives goes into.
        rows: the CTA's, in the batch.
        threads: how many it has.
        row, lane: the one thread.
    """
    lane_set = access.lane_set
    if {load.function, store.function} != {lane_set.code.name}:
        return False
    at = np.arange(lane_set.n) if lane_set.rows is None else lane_set.rows
    own = (at >= rows.start) & (at < rows.stop)
    here = np.broadcast_to(own[:, None], (lane_set.n, WARP))
    if lane_set.mask is not None:
        here = here & lane_set.mask
    if np.count_nonzero(here) < threads:
        return False  # elsewhere others may still come to their stores
    flow = lane_set.batch.launch.program.flow(load.function)
    guards = guards_of_uses(flow, flow.number_of(load.instruction))
    if guards is None or flow.number_of(store.instruction) not in guards:
        return False
    used = np.zeros((lane_set.n, WARP), bool)
    for guard in guards.values():
        used |= _holds(lane_set, guard)
    index = np.broadcast_to(np.atleast_2d(np.asarray(access.index)), (lane_set.n, WARP))
    same = index == index[int(np.searchsorted(at, row)), lane]
    return int(np.count_nonzero(used & here & same)) <= 1


@lru_cache(maxsize=256)
def guards_of_uses(flow: FunctionCode, load: int) -> Mapping[int, Guard] | None:
    """The stores that what a load gives goes into, by their numbers, and their guards; None where it goes
    elsewhere, too. `load`: its number in the function."""
    reached = flow.writes[load]
    guards: dict[int, Guard] = {}
    ahead = reached
    while ahead:
        ahead = 0
        for at, instruction in enumerate(flow.instructions):
            used = flow.reads[at] & reached
            if not used or at == load:
                continue
            made = Decoded(instruction)
            if made.row.name == "st" and instruction.guard is not None:
                values = [value for value, _ in made.values(written=False) if isinstance(value, Name)]
                if used & ~flow.register_bits(values):
                    return None
                guards[at] = instruction.guard
            elif made.row.chapter in PURE or made.row.name in MOVES:
                ahead |= flow.writes[at] & ~reached
            else:
                return None
        reached |= ahead
    return guards


def _holds(lane_set: LaneSet, guard: Guard) -> np.ndarray:
    """For which lanes of the set a guard may hold: bool (rows, 32)."""
    found = np.zeros((lane_set.n, WARP), bool)
    for slot, name in enumerate(lane_set.code.names):
        if name == guard.name:
            found |= np.asarray(lane_set.regs[slot]).astype(bool) != guard.negated
    return found
