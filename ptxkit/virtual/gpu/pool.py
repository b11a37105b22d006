"""Memory pools. Driver API, chapter "Stream ordered memory allocator"."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.results import failure

FOLLOW_EVENTS, OPPORTUNISTIC, INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(1, 9)
"""`CUmemPool_attribute`."""
DEVICE_LOCATION, HOST_LOCATION = 1, 2


class Pool(Object):
    """A memory pool.

    Attributes:
        ordinal: of the device where its memory is.
        settings: the attributes that can be set.
        used: bytes of each allocation, by address.
        highest: most bytes in use at once.
        most: bytes that it may give out, 0 for any.
        access: the flags of each device's access.
        devices: those that have access.
    """

    noun: ClassVar[str] = "memory pool"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, ordinal: int, most: int = 0) -> None:
        self.ordinal = ordinal
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
        rest = {9: 1, 10: 0, 11: self.ordinal, 12: DEVICE_LOCATION, 13: self.most, 14: 0}
        if number not in rest:
            raise failure("INVALID_VALUE", f"there is no attribute {number} of a memory pool")
        return rest[number]
