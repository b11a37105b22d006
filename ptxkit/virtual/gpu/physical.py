"""Physical memory and its mappings. Driver API, chapter "Virtual memory management".

Physical memory is a file without a name; to map it is to map the file where a device address says. So what is
mapped twice is one memory.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any, ClassVar, Protocol

from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.memory import MAP_NORESERVE
from ptxkit.emulator.multicast import MulticastRange
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.memory import UnifiedMemory
from ptxkit.virtual.results import failure

GRANULARITY = 2 << 20
"""Bytes that sizes and addresses are multiples of."""
_FIXED = 0x10

_libc: Any = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


class PhysicalMemory(Object):
    """What `cuMemCreate` gives.

    Attributes:
        size: in bytes.
        device: whose it is.
        references: handles that were given and mappings.
        handles: handles that were given and not released.
    """

    noun: ClassVar[str] = "physical allocation"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, size: int, device: int) -> None:
        self.size = size
        self.device = device
        self.references = self.handles = 1
        self._file = os.memfd_create("ptxkit")
        os.ftruncate(self._file, size)

    def check(self, size: int, offset: int) -> None:
        """Refuse what is not all of it.

        Raises:
            DriverError: NOT_SUPPORTED.
        """
        if offset or size != self.size:
            raise failure("NOT_SUPPORTED", f"{size} bytes from {offset} on of {self.size} are mapped")

    def map(self, address: int, size: int, offset: int) -> None:
        """Put it at an address."""
        flags = mmap.MAP_SHARED | _FIXED
        modes = mmap.PROT_READ | mmap.PROT_WRITE
        if _libc.mmap(address, size, modes, flags, self._file, offset) != address:
            raise failure("OUT_OF_MEMORY", os.strerror(ctypes.get_errno()))
        self.references += 1

    def release(self) -> bool:
        """One reference less; whether it was the last one."""
        self.references -= 1
        if not self.references:
            os.close(self._file)
        return not self.references


class Mappable(Protocol):
    """What can be mapped: physical memory, or a multicast object."""

    handle: int

    @property
    def size(self) -> int:
        """Bytes of it."""

    @property
    def device(self) -> int:
        """Whose it is; -1 for no single device's."""

    def check(self, size: int, offset: int) -> None:
        """Refuse bytes of it that can't be mapped."""

    def map(self, address: int, size: int, offset: int) -> None:
        """Put it at an address."""

    def release(self) -> bool:
        """One reference less; whether it was the last one."""


class AddressSpace:
    """Addresses that were reserved, and what is mapped there.

    Attributes:
        reserved: bytes of each reservation, by its first address.
        mapped: the memory and the bytes of each mapping, by its first address.
    """

    def __init__(self, memory: UnifiedMemory) -> None:
        self._memory = memory
        self.reserved: dict[int, int] = {}
        self.mapped: dict[int, tuple[Mappable, int]] = {}
        self._offsets: dict[int, int] = {}
        self._private: dict[tuple[PhysicalMemory, int, int], int] = {}
        self._visible: dict[int, Allocation] = {}

    def reserve(self, size: int, align: int) -> int:
        """Addresses that nothing else gets."""
        address = self._memory.set_aside(size, max(align, GRANULARITY))
        self.reserved[address] = size
        return address

    def unreserve(self, address: int, size: int) -> None:
        """Give addresses back.

        Raises:
            DriverError: INVALID_VALUE, they were not reserved so, or something is mapped there.
        """
        if self.reserved.get(address) != size or any(address <= at < address + size for at in self.mapped):
            raise failure("INVALID_VALUE", f"{address:#x} is no reservation of {size} bytes without mappings")
        del self.reserved[address]

    def map(self, physical: Mappable, address: int, size: int, offset: int) -> None:
        """Map memory at reserved addresses; no device may use it before `allow`.

        Raises:
            DriverError: INVALID_VALUE, NOT_SUPPORTED.
        """
        if size:
            physical.check(size, offset)
        inside = any(at <= address and address + size <= at + length for at, length in self.reserved.items())
        taken = any(at < address + size and address < at + held for at, (_, held) in self.mapped.items())
        if (
            not size
            or not inside
            or taken
            or offset + size > physical.size
            or (address | size | offset) % GRANULARITY
        ):
            raise failure("INVALID_VALUE", f"{size} bytes can't be mapped at {address:#x}")
        physical.map(address, size, offset)
        self.mapped[address] = physical, size
        self._offsets[address] = offset

    def address_of(self, physical: PhysicalMemory, offset: int, size: int) -> int:
        """Where bytes of physical memory are: where they are mapped, or at an address that nobody knows."""
        for at, (held, length) in self.mapped.items():
            start = self._offsets[at]
            inside = start <= offset and offset + size <= start + length
            if held is physical and inside and at in self._visible:
                return at + offset - start
        key = physical, offset, size
        if key not in self._private:
            start, end = offset // GRANULARITY * GRANULARITY, -(-(offset + size) // GRANULARITY) * GRANULARITY
            address = self._memory.set_aside(end - start, GRANULARITY)
            physical.map(address, end - start, start)
            physical.references -= 1
            self._memory.adopt(address, end - start, "memory bound to a multicast object")
            self._private[key] = address + offset - start
        return self._private[key]

    def unmap(self, address: int, size: int) -> list[Mappable]:
        """Undo mappings; those that nobody has any more.

        Raises:
            DriverError: INVALID_VALUE, the range was not reserved, or has a mapping in part.
        """
        end = address + size
        reserved = any(at <= address and end <= at + length for at, length in self.reserved.items())
        found = {at: held for at, held in self.mapped.items() if at < end and address < at + held[1]}
        if not reserved or any(at < address or end < at + length for at, (_, length) in found.items()):
            raise failure("INVALID_VALUE", f"{size} bytes at {address:#x} are no whole mappings")
        gone = []
        for at, (physical, length) in found.items():
            self.forbid(at)
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE | _FIXED
            _libc.mmap(at, length, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
            del self.mapped[at], self._offsets[at]
            if physical.release():
                gone.append(physical)
        return gone

    def allow(self, address: int, size: int, device: int) -> None:
        """Let a device use what is mapped in a range.

        Raises:
            DriverError: INVALID_VALUE, not all of it is mapped.
        """
        found = [at for at in self.mapped if address <= at < address + size]
        if sum(self.mapped[at][1] for at in found) != size:
            raise failure("INVALID_VALUE", f"not all of {size} bytes at {address:#x} is mapped")
        for at in found:
            if at not in self._visible:
                physical, length = self.mapped[at]
                self._visible[at] = self._made_visible(physical, at, length)
                self._memory.kinds[at] = AllocationKind.DEVICE
                self._memory.devices[at] = physical.device
                self._memory.allowed[at] = set()
            self._memory.allowed[at].add(device)

    def _made_visible(self, physical: Mappable, address: int, size: int) -> Allocation:
        multicast = getattr(physical, "object", None)
        if multicast is None:
            return self._memory.adopt(address, size, "mapped memory")
        name, start = "mapped multicast object", self._offsets[address]
        made = MulticastRange.of(multicast, address, size, start, name)
        self._memory.place(made)
        return made

    def deny(self, address: int, device: int) -> None:
        """A device may not use a mapping any more."""
        left = self._memory.allowed.get(address, set())
        left.discard(device)
        if not left:
            self.forbid(address)

    def forbid(self, address: int) -> None:
        """No device may use a mapping any more."""
        allocation = self._visible.pop(address, None)
        if allocation is not None:
            self._memory.disown(allocation)
            memory = self._memory
            del memory.kinds[address], memory.devices[address], memory.allowed[address]

    def allowed(self, address: int, device: int) -> bool:
        """Whether a device may use what is at an address."""
        return any(
            at <= address < at + held.size and device in self._memory.allowed[at]
            for at, held in self._visible.items()
        )

    def at(self, address: int) -> Mappable:
        """The memory that is mapped at an address.

        Raises:
            DriverError: INVALID_VALUE, none is.
        """
        for start, (physical, size) in self.mapped.items():
            if start <= address < start + size:
                return physical
        raise failure("INVALID_VALUE", f"nothing is mapped at {address:#x}")
