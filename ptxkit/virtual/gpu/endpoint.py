"""Logical endpoints as the driver keeps them. Driver API, chapter "Logical endpoint"."""

from __future__ import annotations

from typing import ClassVar

from ptxkit.emulator.endpoints import LogicalEndpoint
from ptxkit.virtual.gpu.multicast import VirtualMulticast
from ptxkit.virtual.gpu.physical import PhysicalMemory
from ptxkit.virtual.results import failure

FIRST_ID = 0x100
"""The first number of an endpoint that is given out; small numbers are more likely to be mistakes."""


class VirtualEndpoint(VirtualMulticast):
    """What `cuLogicalEndpointCreate` makes.

    Attributes:
        endpoint: as the emulator has it.
        ready: whether somebody asked and was told that it is constructed.
    """

    noun: ClassVar[str] = "logical endpoint"

    def __init__(self, size: int, devices: int, owner: int | None, counted: bool) -> None:
        super().__init__(size, devices)
        self.endpoint = LogicalEndpoint(size, [] if owner is None else [owner], owner is None, counted)
        self.endpoint.bound = self.object
        if owner is not None:
            self.object.team.append(owner)
        self.ready = False

    @property
    def constructed(self) -> bool:
        """Whether all its devices have been added."""
        return len(self.object.team) == self.devices

    def check_complete(self) -> None:
        """Raises:
        DriverError: INVALID_VALUE, nobody has asked whether it is ready, or it was not.
        """
        if not self.ready:
            raise failure("INVALID_VALUE", "`cuLogicalEndpointQuery` has not told that the endpoint is ready")

    def unbind_all(self, device: int, offset: int, size: int) -> list[PhysicalMemory]:
        """Undo the bindings of a range; memory that nobody has any more.

        Raises:
            DriverError: INVALID_VALUE, there are none, or some lie in it in part.
        """
        inside = [
            one
            for one in self.object.bindings
            if one.device == device and one.offset < offset + size and offset < one.offset + one.size
        ]
        whole = all(offset <= one.offset and one.offset + one.size <= offset + size for one in inside)
        if not whole or not any(one.offset == offset for one in inside):
            raise failure(
                "INVALID_VALUE", f"{size} bytes at {offset} are no whole bindings of device {device}"
            )
        gone = [self.unbind(device, one.offset, one.size) for one in inside]
        return [held for held in gone if held is not None]


class Endpoints:
    """The numbers of endpoints, and those that have one.

    Attributes:
        reserved: the numbers that somebody has reserved.
        made: the endpoints, by their numbers.
    """

    def __init__(self) -> None:
        self.reserved: set[int] = set()
        self.made: dict[int, VirtualEndpoint] = {}
        self._next = FIRST_ID

    def reserve(self, count: int) -> int:
        """The first of so many numbers in a row that nobody else gets."""
        first, self._next = self._next, self._next + count
        self.reserved.update(range(first, first + count))
        return first

    def release(self, first: int, count: int) -> None:
        """Give numbers back.

        Raises:
            DriverError: INVALID_VALUE, some are not reserved, or name endpoints.
        """
        wanted = set(range(first, first + count))
        if not wanted or not wanted <= self.reserved or not wanted.isdisjoint(self.made):
            why = f"{count} numbers from {first} on are not all reserved, and without endpoints"
            raise failure("INVALID_VALUE", why)
        self.reserved -= wanted

    def get(self, number: int) -> VirtualEndpoint:
        """An endpoint by its number.

        Raises:
            DriverError: INVALID_VALUE, there is none.
        """
        if number not in self.made:
            raise failure("INVALID_VALUE", f"there is no logical endpoint {number}")
        return self.made[number]
