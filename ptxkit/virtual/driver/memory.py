"""Memory management: allocations, sets, the host's pinned memory. Copies are in `copies`."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Size, put, put_if, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Fill
from ptxkit.virtual.results import failure

IO_MEMORY = 4
"""The flag of registers of another device, which are never memory of the program's own."""
PITCH = 512
"""Bytes that the pitch of a pitched allocation is a multiple of."""


def pitch_of(width: int) -> int:
    """The pitch of rows of so many bytes."""
    return -(-width // PITCH) * PITCH


def obtain(machine: Machine, size: int, kind: AllocationKind, align: int = 512) -> int:
    """The address of a new allocation of the current context's device.

    Raises:
        DriverError: INVALID_VALUE for no bytes, OUT_OF_MEMORY.
    """
    context = machine.context()
    if not size:
        raise failure("INVALID_VALUE", "an allocation of 0 bytes")
    if size > machine.memory.budget - machine.memory.used:
        raise failure("OUT_OF_MEMORY", f"asked for {size} bytes")
    machine.allocations += 1
    what = "memory" if kind is AllocationKind.DEVICE else f"{kind.value} memory"
    name = f"{what} (allocation {machine.allocations})"
    device = -1 if kind is AllocationKind.PINNED else context.device.ordinal
    return machine.memory.obtain(size, name, kind, device, machine.options.sanitize, align)


def give(
    machine: Machine, address: int, size: int, kind: AllocationKind = AllocationKind.DEVICE, align: int = 512
) -> int:
    """Put the address of a new allocation where the caller wants it, and say it.

    Raises:
        DriverError: INVALID_VALUE for no bytes or no place, OUT_OF_MEMORY.
    """
    machine.context()
    machine.refuse_while_captured()
    require_place(address)
    made = obtain(machine, size, kind, align)
    put(address, Size, made)
    return made


@driver("cuMemAlloc_v2")
def cuMemAlloc(machine: Machine, address: int, size: int) -> None:
    give(machine, address, size)


@driver("cuMemAllocPitch_v2")
def cuMemAllocPitch(
    machine: Machine, address: int, pitch: int, width: int, height: int, element: int
) -> None:
    if element not in (4, 8, 16):
        raise failure("INVALID_VALUE", f"expected elements of 4, 8 or 16 bytes, found {element}")
    row = pitch_of(width)
    machine.context()
    if row * height >> 64:
        raise failure("INVALID_VALUE", f"{height} rows of {row} bytes are more than can be addressed")
    put(pitch, Size, row)
    give(machine, address, row * height)


@driver()
def cuMemAllocManaged(machine: Machine, address: int, size: int, flags: int) -> None:
    if flags not in (1, 2):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of managed memory")
    give(machine, address, size, AllocationKind.MANAGED, 4096)


@driver("cuMemFree_v2")
def cuMemFree(machine: Machine, address: int) -> None:
    machine.refuse_while_captured()
    if not address:
        if machine.current is not None:
            machine.context()
        return
    if machine.memory.owner(address) is None:
        raise failure("INVALID_VALUE", machine.memory.what_lies_at(address))
    machine.schedule.finish_all(machine.context())
    block = machine.memory.graph_blocks.get(address)
    if block is not None:
        if not block.outstanding:
            raise failure("INVALID_VALUE", "no graph that was launched has left this allocation")
        block.free()
        return
    machine.memory.release(
        address, AllocationKind.DEVICE, AllocationKind.MANAGED, by="the host freed it by `cuMemFree`"
    )


@driver("cuMemGetInfo_v2")
def cuMemGetInfo(machine: Machine, free: int, total: int) -> None:
    device = machine.context().device
    put_if(free, Size, machine.memory.budget - machine.memory.used)
    put_if(total, Size, device.total_memory)


@driver("cuMemGetAddressRange_v2")
def cuMemGetAddressRange(machine: Machine, base: int, size: int, address: int) -> None:
    machine.context()
    found = machine.memory.owner(address)
    if found is None:
        raise failure("NOT_FOUND", machine.memory.what_lies_at(address))
    put_if(base, Size, found.address)
    put_if(size, Size, found.size)


# ---- the host's memory


@driver("cuMemAllocHost_v2")
def cuMemAllocHost(machine: Machine, address: int, size: int) -> None:
    cuMemHostAlloc(machine, address, size, 0)


@driver()
def cuMemHostAlloc(machine: Machine, address: int, size: int, flags: int) -> None:
    if flags & ~7:
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of pinned memory")
    machine.context()
    if not size:
        put(address, Size, 0)
        return
    machine.memory.flags[give(machine, address, size, AllocationKind.PINNED, 4096)] = flags


@driver()
def cuMemFreeHost(machine: Machine, address: int) -> None:
    context = machine.context()
    if not address:
        return
    machine.schedule.finish_all(context)
    machine.memory.release(address, AllocationKind.PINNED, by="the host freed it by `cuMemFreeHost`")


@driver("cuMemHostRegister_v2")
def cuMemHostRegister(machine: Machine, address: int, size: int, flags: int) -> None:
    machine.context()
    if flags & ~15 or flags & IO_MEMORY:
        raise failure("INVALID_VALUE", f"flags {flags:#x} of registered memory: unknown, or of no memory")
    machine.memory.register(address, size, "registered memory of the host")
    machine.memory.flags[address] = flags


@driver()
def cuMemHostUnregister(machine: Machine, address: int) -> None:
    machine.schedule.finish_all(machine.context())
    machine.memory.unregister(address)


@driver("cuMemHostGetDevicePointer_v2")
def cuMemHostGetDevicePointer(machine: Machine, device: int, host: int, flags: int) -> None:
    machine.context()
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    _host(machine, host)
    put(device, Size, host)


@driver()
def cuMemHostGetFlags(machine: Machine, flags: int, host: int) -> None:
    machine.context()
    put(flags, Int, machine.memory.flags.get(_host(machine, host), 0))


def _host(machine: Machine, address: int) -> int:
    """The first address of the host's allocation."""
    found = machine.memory.owner(address)
    kind = machine.memory.kinds.get(found.address) if found else None
    if found is None or kind not in (
        AllocationKind.PINNED,
        AllocationKind.REGISTERED,
        AllocationKind.MANAGED,
    ):
        raise failure("INVALID_VALUE", f"no memory of the host: {machine.memory.what_lies_at(address)}")
    return found.address


# ---- sets


def set_rows(
    machine: Machine, stream: int | None, address: int, value: bytes, width: int, height: int, pitch: int
) -> None:
    """Set rows of elements; without a stream on the default one, for which the host waits where it sees the
    memory itself."""
    place = machine.context().stream(stream or 0)
    if not width or not height:
        return
    if height > 1 and pitch < width * len(value):
        raise failure("INVALID_VALUE", f"rows of {width * len(value)} bytes are {pitch} bytes apart")
    if address % len(value) or pitch % len(value):
        raise failure(
            "INVALID_VALUE", f"elements of {len(value)} bytes at {address:#x}, rows {pitch} bytes apart"
        )
    owner = machine.memory.check(address, (height - 1) * pitch + width * len(value), "memory to be set")
    place.add(Fill(machine, address, value, width, height, pitch))
    if stream is None and machine.memory.kinds.get(owner.address) is not AllocationKind.DEVICE:
        place.synchronise()


def _register_sets(size: int) -> None:
    """`cuMemsetD8` and the like for elements of so many bytes, in one and two dimensions, on a stream or
    not."""
    name = f"D{8 * size}"

    def flat(machine: Machine, address: int, value: int, count: int, stream: int | None = None) -> None:
        set_rows(machine, stream, address, value.to_bytes(size, "little"), count, 1, 0)

    def rows(
        machine: Machine,
        address: int,
        pitch: int,
        value: int,
        width: int,
        height: int,
        stream: int | None = None,
    ) -> None:
        set_rows(machine, stream, address, value.to_bytes(size, "little"), width, height, pitch)

    driver(f"cuMemset{name}_v2", f"cuMemset{name}Async")(flat)
    driver(f"cuMemsetD2{name}_v2", f"cuMemsetD2{name}Async")(rows)


for _size in (1, 2, 4):
    _register_sets(_size)
