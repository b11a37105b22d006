"""Multicast objects and what is bound to them. Driver API, chapter "Multicast object management"."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ptxkit.emulator.multicast import Binding, MulticastObject
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.physical import GRANULARITY, PhysicalMemory
from ptxkit.virtual.results import failure

FINE = 256
"""What offsets of memory are multiples of from sm_107 on; then a granule stays free behind what is bound."""


class VirtualMulticast(Object):
    """What `cuMulticastCreate` gives.

    Attributes:
        object: as the emulator has it.
        devices: how many devices its team has when all are added.
        references: handles that were given and mappings.
        handles: handles that were given and not released.
    """

    noun: ClassVar[str] = "multicast object"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, size: int, devices: int) -> None:
        self.object = MulticastObject(size, [])
        self.devices = devices
        self.references = self.handles = 1
        self._held: dict[Binding, PhysicalMemory] = {}

    @property
    def size(self) -> int:
        """Bytes that each device may bind."""
        return self.object.size

    def add(self, device: int) -> None:
        """A device joins the team.

        Raises:
            DriverError: INVALID_VALUE, it has joined already, or the team is complete.
        """
        team = self.object.team
        if device in team or len(team) == self.devices:
            raise failure("INVALID_VALUE", f"device {device} can't join the team of {self.devices}: {team}")
        team.append(device)

    def check_complete(self) -> None:
        """What a GPU's driver would wait for must be so.

        Raises:
            DriverError: ILLEGAL_STATE, some devices have not joined.
        """
        if len(self.object.team) < self.devices:
            joined = f"{len(self.object.team)} of {self.devices} devices have joined the team"
            raise failure("ILLEGAL_STATE", f"{joined}: a driver would wait here for the others")

    def bind(
        self,
        device: int,
        offset: int,
        size: int,
        place: int,
        length: int,
        address: Callable[[], int],
        held: PhysicalMemory | None,
        fine: bool,
    ) -> None:
        """Bind memory of a device.

        Args:
            device: whose memory it is.
            offset, size: the bytes of the object.
            place, length: the offset in the memory, and its size.
            address: gives the address of the first byte.
            held: what is kept as long as it is bound.
            fine: whether the offset in the memory may be a multiple of 256.

        Raises:
            DriverError: INVALID_DEVICE, INVALID_VALUE, ILLEGAL_STATE.
        """
        self.check_complete()
        if device not in self.object.team:
            raise failure("INVALID_DEVICE", f"device {device} is none of the team {self.object.team}")
        loose = fine and place % GRANULARITY != 0
        if (offset | size) % GRANULARITY or place % (FINE if loose else GRANULARITY) or not size:
            raise failure(
                "INVALID_VALUE",
                f"sizes and offsets are multiples of {GRANULARITY}: {size}, {offset}, {place}",
            )
        if place + size > length or offset + size + (GRANULARITY if loose else 0) > self.size:
            raise failure("INVALID_VALUE", f"{size} bytes leave the memory or the multicast object")
        if any(
            one.device == device and one.offset < offset + size and offset < one.offset + one.size
            for one in self.object.bindings
        ):
            raise failure("INVALID_VALUE", f"device {device} has bound memory at {offset} already")
        made = Binding(device, offset, size, address)
        self.object.bindings.append(made)
        if held is not None:
            held.references += 1
            self._held[made] = held

    def unbind(self, device: int, offset: int, size: int) -> PhysicalMemory | None:
        """Undo a binding; memory that nobody has any more.

        Raises:
            DriverError: INVALID_VALUE, nothing was bound so.
        """
        for one in self.object.bindings:
            if one[:3] == (device, offset, size):
                self.object.bindings.remove(one)
                held = self._held.pop(one, None)
                return held if held is not None and held.release() else None
        raise failure("INVALID_VALUE", f"device {device} has not bound {size} bytes at {offset}")

    # ---- as memory that is mapped

    @property
    def device(self) -> int:
        """It is memory of no one device."""
        return -1

    def check(self, size: int, offset: int) -> None:
        """Parts of it can be mapped."""

    def map(self, address: int, size: int, offset: int) -> None:
        """Put it at an address, where there are no bytes of its own."""
        self.check_complete()
        self.references += 1

    def release(self) -> bool:
        """One reference less; whether it was the last one."""
        self.references -= 1
        return not self.references

    def close(self) -> list[PhysicalMemory]:
        """It is gone: what was bound is not any more. Memory that nobody has any more."""
        bound = [(one.device, one.offset, one.size) for one in self.object.bindings]
        return [held for held in (self.unbind(*one) for one in bound) if held is not None]
