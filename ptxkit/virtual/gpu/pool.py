"""Memory pools. Driver API, chapter "Stream ordered memory allocator"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.results import failure

FOLLOW_EVENTS, OPPORTUNISTIC, INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(1, 9)
"""`CUmemPool_attribute`."""
DEVICE_LOCATION, HOST_LOCATION, HOST_NODE, NEAREST_NODE = 1, 2, 3, 4
"""`CUmemLocationType`: a node is one of the host's memory."""
PINNED, MANAGED = 1, 2
"""`CUmemAllocationType`."""
HANDLES = {0, 1, 2, 4, 8}
"""`CUmemAllocationHandleType`: none, and those by which processes share memory."""


@dataclass(frozen=True, slots=True)
class PoolPlace:
    """Where the memory of a pool is.

    Attributes:
        type: PINNED or MANAGED.
        location: a `CUmemLocationType`; 0 for managed memory that had best be nowhere.
        number: of the device or the node.
    """

    type: int
    location: int
    number: int

    @property
    def kind(self) -> AllocationKind:
        """What its memory is to the host."""
        if self.type == MANAGED:
            return AllocationKind.MANAGED
        return AllocationKind.DEVICE if self.location == DEVICE_LOCATION else AllocationKind.PINNED


class Pool(Object):
    """A memory pool.

    Attributes:
        place: where its memory is.
        ordinal: of the device where that is; -1 for the host's.
        settings: the attributes that can be set.
        used: bytes of each allocation, by address.
        highest: most bytes in use at once.
        most: bytes that it may give out, 0 for any.
        access: the flags of each device's access.
        devices: those that have access.
    """

    noun: ClassVar[str] = "memory pool"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, place: PoolPlace, most: int = 0) -> None:
        self.place = place
        self.ordinal = ordinal = place.number if place.location == DEVICE_LOCATION else -1
        self.settings = {FOLLOW_EVENTS: 1, OPPORTUNISTIC: 1, INTERNAL: 1, THRESHOLD: 0}
        self.used: dict[int, int] = {}
        self.highest = 0
        self.most = most
        self.access: dict[int, int] = {ordinal: 3}
        self.devices = {ordinal}

    def attribute(self, number: int) -> int:
        """The value of an attribute."""
        used = sum(self.used.values())
        if number in self.settings:
            return self.settings[number]
        counted = {RESERVED: used, USED: used, RESERVED_HIGH: self.highest, USED_HIGH: self.highest}
        if number in counted:
            return counted[number]
        place = self.place
        rest = {9: place.type, 10: 0, 11: place.number, 12: place.location, 13: self.most, 14: 0}
        if number not in rest:
            raise failure("INVALID_VALUE", f"there is no attribute {number} of a memory pool")
        return rest[number]
