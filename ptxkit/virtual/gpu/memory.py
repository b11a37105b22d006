"""One address space: what devices allocate, what the host shares with them, and the host's own memory.

A device address is the address in this process where the bytes are. So memory that both sides see (pinned,
managed, registered) has one address on both, and a copy is a copy. The emulator's global memory is a window
on the process's addresses from `BASE` on, where the system puts whatever is mapped; its arena, from which
devices allocate, is reserved there.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.emulator.global_memory import BASE, CAPACITY, Allocation, GlobalMemory
from ptxkit.emulator.memory import MAP_NORESERVE, reserve
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.heap import stop_the_heap
from ptxkit.virtual.results import failure

WINDOW = (2 << 40) - (1 << 24)
"""Bytes from `BASE` on that devices can be made to see: up to the end of a process's addresses, almost."""
_FIXED_NOREPLACE = 0x100000

_libc: Any = ctypes.CDLL(None)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class HeldMemory(Protocol):
    """Memory of a graph, which is there for as long as somebody holds it or it is `outstanding`."""

    address: int
    size: int
    outstanding: bool

    def hold(self) -> None: ...
    def drop(self) -> None: ...
    def free(self) -> None: ...
    def forget(self) -> None: ...
    def settle(self) -> None: ...


class UnifiedMemory(GlobalMemory):
    """The memory of all devices. Its bytes lie where their addresses say.

    Attributes:
        kinds: of the allocations that the host asked for, by their first address.
        devices: the ordinal of the device that has each; of memory of the host, -1.
        flags: that the host gave it.
        pools: the handle of the pool that it came from.
        freeing: those that a stream will free.
        graph_blocks: those of graphs.
        advice: what was said of where each had best be.
        synchronous: those whose copies the host waits for (`SYNC_MEMOPS`).
        allowed: of those that say so themselves, the devices that may reach each: mappings and pools.
        peers: by device, those whose memory it may reach.
        host_visible: whether kernels may reach all memory of the host in the window, as with HMM.
    """

    def __init__(self, host_visible: bool = False) -> None:
        stop_the_heap()
        self._start = _reserved_arena()
        self.kinds: dict[int, AllocationKind] = {}
        self.devices: dict[int, int] = {}
        self.flags: dict[int, int] = {}
        self.pools: dict[int, int] = {}
        self.freeing: set[int] = set()
        self.graph_blocks: dict[int, HeldMemory] = {}
        self.advice: dict[int, Any] = {}
        self.synchronous: dict[int, bool] = {}
        self.allowed: dict[int, set[int]] = {}
        self.peers: dict[int, set[int]] = {}
        self.host_visible = host_visible
        self._host: list[Allocation] = []
        super().__init__()

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        data = np.ctypeslib.as_array((ctypes.c_uint8 * WINDOW).from_address(BASE))
        return data, reserve(WINDOW)

    def _arena(self) -> tuple[int, int]:
        return self._start + (2 << 20), self._start + CAPACITY

    def _clear(self, start: int, size: int) -> None:
        first, last = BASE + start, BASE + start + size
        page = mmap.PAGESIZE
        inner, end = -(-first // page) * page, last // page * page
        if inner < end:
            _libc.madvise(inner, end - inner, mmap.MADV_DONTNEED)
            ctypes.memset(first, 0, inner - first)
            ctypes.memset(end, 0, last - end)
        else:
            ctypes.memset(first, 0, size)

    def free(self, allocation: Allocation, by: str) -> None:
        """Give a range back, and its pages to the system. Its address stays known as freed."""
        if not allocation.live:
            return
        for of_allocation in (
            self.kinds,
            self.devices,
            self.flags,
            self.pools,
            self.allowed,
            self.advice,
            self.synchronous,
        ):
            of_allocation.pop(allocation.address, None)
        super().free(allocation, by)

    # ---- what the host asks for

    def obtain(
        self, size: int, name: str, kind: AllocationKind, device: int, track: bool, align: int = 512
    ) -> int:
        """The address of a new allocation.

        Args:
            size: in bytes.
            name: what findings call it.
            kind: what it is to the host.
            device: whose it is.
            track: whether its bytes count as undefined until somebody writes them.
            align: of the address.

        Raises:
            PtxkitError: P705, out of memory.
        """
        allocation = self.allocate(size, name, align)
        self.kinds[allocation.address] = kind
        self.devices[allocation.address] = device
        if track and kind is AllocationKind.DEVICE:
            self.forget(allocation)
        return allocation.address

    def register(self, address: int, size: int, name: str) -> None:
        """Let devices see a range of the host's own memory.

        Raises:
            DriverError: INVALID_VALUE for one outside the window or in an allocation;
            HOST_MEMORY_ALREADY_REGISTERED.
        """
        if not BASE <= address <= address + size <= BASE + WINDOW or not size:
            raise failure("INVALID_VALUE", f"host memory at {address:#x} lies where no device can see it")
        before, after = self.known(address), self.after(address)
        overlaps = before is not None and before.live and before.end > address
        if before is not None and overlaps:
            if self.kinds.get(before.address) is not AllocationKind.REGISTERED:
                raise failure("INVALID_VALUE", f"{before} is seen by devices anyway")
            raise failure("HOST_MEMORY_ALREADY_REGISTERED")
        if after is not None and after.live and after.address < address + size:
            raise failure("HOST_MEMORY_ALREADY_REGISTERED")
        self.adopt(address, size, name)
        self.kinds[address] = AllocationKind.REGISTERED
        self.devices[address] = -1

    def unregister(self, address: int) -> None:
        """Hide it again.

        Raises:
            DriverError: HOST_MEMORY_NOT_REGISTERED; INVALID_VALUE, inside of a range that is, or of an
            allocation.
        """
        owner = self.owner(address)
        if owner is not None and owner.address != address:
            raise failure("INVALID_VALUE", f"registered memory begins at {owner.address:#x}")
        if not address or self.kinds.get(address, AllocationKind.REGISTERED) is not AllocationKind.REGISTERED:
            raise failure("INVALID_VALUE", f"{address:#x} is null, or of an allocation")
        if self.kinds.get(address) is not AllocationKind.REGISTERED:
            raise failure("HOST_MEMORY_NOT_REGISTERED")
        found = self.known(address)
        assert found is not None
        del self.kinds[address], self.devices[address]
        self.disown(found)

    def release(self, address: int, *kinds: AllocationKind, by: str) -> None:
        """Free an allocation by its first address.

        Raises:
            DriverError: INVALID_VALUE, there is none of these kinds there.
        """
        found = self.known(address)
        if (
            found is None
            or not found.live
            or found.address != address
            or self.kinds.get(address) not in kinds
        ):
            raise failure("INVALID_VALUE", self.what_lies_at(address))
        self.free(found, by)

    def what_lies_at(self, address: int) -> str:
        """A few words about an address that was not expected."""
        found = self.known(address)
        if found is None or address >= found.end:
            return f"{address:#x} belongs to no allocation"
        if not found.live:
            return f"{address:#x} belongs to {found.name}, which is gone: {found.freed_by}"
        return f"{address:#x} is byte {address - found.address} of {found}"

    def bars(self, allocation: Allocation, device: int) -> bool:
        """Whether a device may not reach an allocation: it is another one's, and no peer's."""
        address = allocation.address
        if self.kinds.get(address) is not AllocationKind.DEVICE:
            return False
        if address in self.allowed:
            return device not in self.allowed[address]
        owner = self.devices.get(address, device)
        return owner not in (-1, device) and owner not in self.peers.get(device, ())

    def is_device(self, address: int) -> bool:
        """Whether an address is of memory that the host does not see."""
        owner = self.owner(address)
        return owner is not None and self.kinds.get(owner.address) is AllocationKind.DEVICE

    def owner(self, address: int) -> Allocation | None:
        """The live allocation that an address belongs to."""
        found = self.known(address)
        return found if found is not None and found.live and address < found.end else None

    def check(self, address: int, size: int, what: str) -> Allocation:
        """The allocation that holds a whole range.

        Raises:
            DriverError: INVALID_VALUE, none does.
        """
        found = self.owner(address)
        if found is None:
            raise failure("INVALID_VALUE", f"{what}: {self.what_lies_at(address)}")
        if address + size > found.end:
            beyond = address + size - found.end
            raise failure("INVALID_VALUE", f"{what} goes {beyond} bytes beyond the end of {found}")
        return found

    # ---- the host's own memory

    def reaches(self, address: int, size: int) -> bool:
        """Whether devices can be made to see a range of the host's memory."""
        return address >= BASE and address + size <= BASE + WINDOW

    def known(self, address: int) -> Allocation | None:
        """The allocation, live or freed, with the greatest address not above `address`."""
        return super().find(address)

    def find(self, address: int) -> Allocation | None:
        """As every global memory; where the host's is visible, a mapping of the process, too."""
        found = super().find(address)
        if not self.host_visible or (found is not None and found.live and address < found.end):
            return found
        return self._mapping(address) or found

    def inside(self, addresses: Any, size: int) -> Any:
        """As every global memory; addresses of the host's count where it is visible."""
        held = super().inside(addresses, size)
        if not self.host_visible or held.all():
            return held
        for address in np.unique(np.asarray(addresses)[~held]):
            self.find(int(address))
        return super().inside(addresses, size)

    def _mapping(self, address: int) -> Allocation | None:
        """The stretch of a mapping round an address that belongs to no allocation."""
        if not self.reaches(address, 1):
            return None
        before, after = super().find(address), self.after(address)
        for start, end in _mappings():
            if start <= address < end:
                low = max(start, before.end if before is not None and before.end <= address else start)
                high = min(end, after.address if after is not None else end, BASE + WINDOW)
                self._host.append(self.adopt(low, high - low, "memory of the host"))
                return self._host[-1]
        return None

    def forget_host(self) -> None:
        """Forget what was looked up of the host's mappings: it may unmap them."""
        for allocation in self._host:
            self.disown(allocation)
        self._host.clear()

    def staged(self, address: int, size: int) -> tuple[int, int]:
        """A copy of memory that no device can see, where all see it: its address and size."""
        made = self.obtain(size, "copy of memory of the host", AllocationKind.PINNED, -1, False)
        ctypes.memmove(made, address, size)
        return made, size

    def unstaged(self, address: int, made: int, size: int) -> None:
        """Copy it back."""
        ctypes.memmove(address, made, size)
        self.release(made, AllocationKind.PINNED, by="the launch has ended")

    # ---- copies

    def copy(self, dst: int, src: int, size: int) -> None:
        """Copy bytes; what is undefined stays so."""
        ctypes.memmove(dst, src, size)
        to, origin = self._tracked(dst), self._tracked(src)
        if to is None or self.shadow is None:
            return
        start = dst - BASE
        if origin is not None and origin.undefined:
            self.shadow[start : start + size] = self.shadow[src - BASE : src - BASE + size]
            to.undefined = True
        elif to.undefined:
            self.define(to, dst, size)

    def write(self, address: int, data: bytes) -> None:
        """Store bytes."""
        ctypes.memmove(address, data, len(data))
        owner = self._tracked(address)
        if owner is not None and owner.undefined:
            self.define(owner, address, len(data))

    def define(self, allocation: Allocation, address: int, size: int) -> None:
        """Bytes of an allocation were written."""
        assert self.shadow is not None
        self.shadow[address - BASE : address - BASE + size] = 0
        if size == allocation.size:
            allocation.undefined = False

    def fill(self, address: int, value: bytes, count: int) -> None:
        """Store a value of 1, 2 or 4 bytes `count` times."""
        size = count * len(value)
        if not size:
            return
        target = (ctypes.c_uint8 * size).from_address(address)
        np.ctypeslib.as_array(target).view(f"u{len(value)}")[:] = int.from_bytes(value, "little")
        owner = self._tracked(address)
        if owner is not None and owner.undefined:
            self.define(owner, address, size)

    def _tracked(self, address: int) -> Allocation | None:
        return self.owner(address) if BASE <= address < BASE + WINDOW else None


def _reserved_arena() -> int:
    """The address of `CAPACITY` bytes that nobody else uses, in the window."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE | _FIXED_NOREPLACE
    for place in range(BASE, BASE + WINDOW - CAPACITY, CAPACITY):
        if _libc.mmap(place, CAPACITY, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) == place:
            return place
    raise error(
        "P705",
        "out of device memory: no range of addresses is left for the virtual GPU",
        help="the process must be able to reserve 64 GiB of addresses; see `ulimit -v`",
    )


def _mappings() -> Iterator[tuple[int, int]]:
    """The stretches of this process's addresses that can be read and written."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, modes, *_ = line.split(maxsplit=2)
        if modes.startswith("rw"):
            start, _, end = where.partition("-")
            yield int(start, 16), int(end, 16)
