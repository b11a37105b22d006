"""The handle of a fabric operation: a logical endpoint, and an offset in what it has. PTX ISA 9.7.11.1."""

from __future__ import annotations

import numpy as np

from ptxkit.asm.tree import Address
from ptxkit.diagnostics import counted
from ptxkit.emulator.copy_sides import UNIT
from ptxkit.emulator.endpoints import LogicalEndpoint
from ptxkit.emulator.faults import EmulatorFault, fault
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet

COUNTER = 256
"""What the offset of a counter is a multiple of."""


class FabricHandle:
    """The operand `[leId, offset{, counter}]`."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        self.site, self.multimem = instruction.site, instruction["multimem"] is not None
        self.pulls = self.multimem or instruction.row.name.startswith("fabric.try_pullred")
        first = instruction.operands["leId"]
        named = first.base if isinstance(first, Address) else first  # it opens the brackets, or a map does
        self.endpoint = instruction.checked_source(named, "u32")
        self.offset = instruction.checked_source("offset")
        self.counter = instruction.checked_source("counter") if "counter" in instruction.operands else None

    def refused(self, issuers: Issuers, message: str, help: str) -> EmulatorFault:
        """What is said of a handle that is wrong."""
        return fault("P6153", message, self.site, (issuers.name(0),), help)

    def endpoint_of(self, lane_set: LaneSet, issuers: Issuers) -> LogicalEndpoint:
        """The endpoint that one thread names. Raises P6153."""
        launch = lane_set.launch
        number = int(issuers.take(self.endpoint(lane_set))[0])
        found: LogicalEndpoint | None = launch.memory.endpoints.get(number)
        if found is None:
            help = "give it the number of an endpoint that is constructed and not destroyed"
            raise self.refused(issuers, f"there is no logical endpoint {number}", help)
        if found.multicast is not self.pulls:
            kind, wanted = ("multicast", "unicast") if found.multicast else ("unicast", "multicast")
            message = f"logical endpoint {number} is a {kind} one, where it takes a {wanted} one"
            raise self.refused(
                issuers, message, "`.multimem` goes with multicast endpoints, and they with it"
            )
        if found.multicast and launch.device not in found.bound.team:
            message = f"device {launch.device} is no member of logical endpoint {number}"
            raise self.refused(issuers, message, "issue it on a device of the endpoint's team")
        if self.counter is not None and not found.counted:
            message = f"logical endpoint {number} does not support counted operations"
            raise self.refused(issuers, message, "create it with `CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS`")
        return found

    def places(
        self, issuers: Issuers, found: LogicalEndpoint, offset: int, size: int, align: int = UNIT
    ) -> list[int]:
        """The offsets in global memory of a range behind an endpoint, one of each device. Raises P661,
        P6153."""
        if offset % align:
            message = f"expected an offset that is a multiple of {align}, found {offset:#x}"
            raise fault("P661", message, self.site, (issuers.name(0),))
        places = []
        for device in found.bound.team:
            place = int(found.bound.places(device, np.int64(offset), size))
            if not place:
                message = (
                    f"{counted(size, 'byte')} at offset {offset:#x} are not all bound by device {device}"
                )
                help = "stay within what is bound to the endpoint"
                raise self.refused(issuers, message, help)
            places.append(place - BASE)
        return places

    def offset_of(self, lane_set: LaneSet, issuers: Issuers) -> int:
        """The offset that one thread gives."""
        return int(issuers.take(self.offset(lane_set))[0])

    def counters(
        self, lane_set: LaneSet, issuers: Issuers, found: LogicalEndpoint, offset: int, size: int
    ) -> list[int]:
        """The counters that an operation adds its bytes to, one of each device. Raises P661, P6153."""
        if self.counter is None:
            return []
        counter = int(issuers.take(self.counter(lane_set))[0])
        if counter < offset + size and offset < counter + 8:
            message = f"the counter at offset {counter:#x} lies in the data"
            raise self.refused(issuers, message, "let the counter be apart from what it counts")
        places = self.places(issuers, found, counter, 8, COUNTER)
        for place in places:
            owner = lane_set.launch.memory.find(place + BASE)
            if owner is not None and lane_set.launch.sanitize:
                lane_set.launch.seek_races(owner)
        return places
