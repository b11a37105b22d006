"""From a multimem address to the places that it means, one in the memory of each device of its team.

PTX ISA 8.2.3. With one device, an address that belongs to no multicast object has one copy behind it, itself.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.access import Access
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import space_of
from ptxkit.emulator.faults import fault
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.multicast import MulticastRange
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

HELP = "bind memory of every device of the team there, or let lanes stay within one multicast object"


class MultimemAccessor(Accessor):
    """Turns the address operand of a `multimem` instruction into accesses: one for each device, in the order
    of the team, whatever their memory bars."""

    by_device = False

    def __call__(self, lane_set: LaneSet, guard: Any = None, offset: int = 0) -> list[Access]:
        if lane_set.undefined and self.slot in lane_set.undefined:
            self._check_defined(lane_set, guard)
        address = self.read(lane_set)
        if offset:
            address = address + (offset if isinstance(address, int) else address.dtype.type(offset))
        address = np.asarray(address).astype(np.uint64)
        active = lanes_of(lane_set, guard, (lane_set.n, WARP))
        if active is not None:
            active = np.broadcast_to(active, (lane_set.n, WARP))
            if not active.any():
                return []
            spread = np.broadcast_to(address, (lane_set.n, WARP))
            address = np.where(active, spread, spread.flat[int(active.argmax())])
        if self.space != "global":
            self._check_space(lane_set, address, guard)
        memory = lane_set.launch.memory
        low, high = int(address.min()), int(address.max())
        found = memory.find(low)
        if not isinstance(found, MulticastRange) or low >= found.end:
            if memory.device_count == 1:
                return [self.global_(lane_set, address, guard)]
            self._not_multimem(lane_set, address, guard, low)
        if high + self.size > found.end:
            self._not_multimem(lane_set, address, guard, high)
        if memory.bars(found, lane_set.launch.device):
            self._no_peer(lane_set, address, guard, found)
        self._check_alignment(lane_set, address, guard, "global")
        offsets = (address - np.uint64(found.address)).astype(np.int64) + found.start
        accesses = []
        for device in found.multicast.team:
            places = found.multicast.places(device, offsets, self.size)
            if not places.all():
                self._unbound(lane_set, address, guard, places == 0, device, found)
            accesses.append(self.global_(lane_set, places, guard))
        return accesses

    def _check_space(self, lane_set: LaneSet, address: Any, guard: Any) -> None:
        """A generic address must be one of global memory."""
        spaces = {space_of(int(one)) for one in np.unique(address)} - {"global"}
        if spaces:
            thread = lane_set.thread(*lane_set.first(np.True_ if guard is None else guard))
            spelling = self.site.instruction.spelling
            message = f"`{spelling}` needs an address in global memory, found one in {min(spaces)} memory"
            raise fault("P602", message, self.site, (str(thread),))

    def _not_multimem(self, lane_set: LaneSet, address: Any, guard: Any, which: int) -> NoReturn:
        memory = lane_set.launch.memory
        where, lane = self._culprit(lane_set, address, address == np.uint64(which), guard)
        before = memory.find(where)
        notes = [str(lane_set.thread(*lane))]
        if before is not None and where < before.end:
            notes.append(f"byte {where - before.address} of {before}")
        message = f"{counted(self.size, 'byte')} at {where:#x}, which is no multimem address"
        help = "give it an address of a multicast object: one device's memory alone has no copies"
        raise fault("P6151", message, self.site, notes, help)

    def _unbound(
        self, lane_set: LaneSet, address: Any, guard: Any, bad: Any, device: int, found: MulticastRange
    ) -> NoReturn:
        where, lane = self._culprit(lane_set, address, bad, guard)
        message = f"{counted(self.size, 'byte')} at {where:#x}, where device {device} has bound no memory"
        notes = (str(lane_set.thread(*lane)), f"byte {where - found.address} of {found}")
        raise fault("P6151", message, self.site, notes, HELP)
