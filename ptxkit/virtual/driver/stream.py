"""Stream management. Captures are in `graph`."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import (
    Int,
    Pointer,
    Size,
    UInt,
    memory,
    put,
    put_bytes,
    put_if,
    require_place,
    several,
)
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.execution import RANGES
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.context import NON_BLOCKING, VirtualEvent, VirtualStream
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import HostCall, Upload
from ptxkit.virtual.results import failure

PRIORITIES = (-5, 0)
"""The greatest and the least."""
WRITE_FLAGS, WAIT_FLAGS = 1, 3 | 1 << 30
"""`CUstreamWriteValue_flags` and `CUstreamWaitValue_flags`."""
OPERATION, MOST = 48, 256
"""Bytes of a `CUstreamBatchMemOpParams`, and how many a batch may have."""
OPERATIONS = {1, 2, 3, 4, 5, 6, 8}
"""`CUstreamBatchMemOpType`."""
ATTRIBUTE = 64
"""Bytes of a value."""
ATTRIBUTES = {1, 3, 8, 9, 10}
"""`CUstreamAttrID`: the cache's window, the policy of waits, the priority, the memory's domains."""


@driver()
def cuStreamCreate(machine: Machine, stream: int, flags: int) -> None:
    cuStreamCreateWithPriority(machine, stream, flags, 0)


@driver()
def cuStreamCreateWithPriority(machine: Machine, stream: int, flags: int, priority: int) -> None:
    context = machine.context()
    if flags not in (0, NON_BLOCKING):
        raise failure("INVALID_VALUE", f"there are no stream flags {flags:#x}")
    require_place(stream)
    greatest, least = PRIORITIES
    made = VirtualStream(context, flags, min(max(priority, greatest), least))
    put(stream, Pointer, context.own(made))


@driver("cuStreamDestroy", "cuStreamDestroy_v2")
def cuStreamDestroy(machine: Machine, stream: int) -> None:
    context = machine.context()
    if stream in (0, 1, 2):
        raise failure("INVALID_HANDLE", "a default stream can't be destroyed")
    found = context.stream(stream)
    machine.capturing = [one for one in machine.capturing if one.origin is not found]
    found.context.disown(found)


@driver()
def cuStreamSynchronize(machine: Machine, stream: int) -> None:
    not_captured(machine.context().stream(stream)).synchronise()


@driver()
def cuStreamQuery(machine: Machine, stream: int) -> None:
    found = not_captured(machine.context().stream(stream))
    if not found.ready():
        raise failure("NOT_READY")
    found.context.check()


def not_captured(stream: VirtualStream) -> VirtualStream:
    """A stream that is not being captured, to whose capture the call is the end. Raises DriverError."""
    if stream.capture is not None:
        stream.capture.invalidate()
        raise failure("STREAM_CAPTURE_UNSUPPORTED", "a stream that is captured has nothing to wait for")
    return stream


@driver()
def cuStreamWaitEvent(machine: Machine, stream: int, event: int, flags: int) -> None:
    waiting = machine.context().stream(stream)
    found = machine.handles.get(VirtualEvent, event)
    if flags not in (0, 1):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of a wait")
    waiting.wait(found)


@driver()
def cuStreamGetFlags(machine: Machine, stream: int, flags: int) -> None:
    put(flags, UInt, machine.context().stream(stream).flags)


@driver()
def cuStreamGetPriority(machine: Machine, stream: int, priority: int) -> None:
    put(priority, Int, machine.context().stream(stream).priority)


@driver()
def cuStreamGetId(machine: Machine, stream: int, identifier: int) -> None:
    found = machine.context().stream(stream)
    put(identifier, Size, found.handle or (1 if found is found.context.legacy else 2))


@driver()
def cuStreamGetDevice(machine: Machine, stream: int, device: int) -> None:
    put(device, Int, machine.context().stream(stream).context.device.ordinal)


@driver()
def cuStreamGetCtx(machine: Machine, stream: int, context: int) -> None:
    put(context, Pointer, machine.context().stream(stream).context.handle)


@driver("cuStreamGetCtx_v2")
def cuStreamGetCtx_v2(machine: Machine, stream: int, context: int, green: int) -> None:
    put_if(context, Pointer, machine.context().stream(stream).context.handle)
    put_if(green, Pointer, 0)


@driver()
def cuStreamAttachMemAsync(machine: Machine, stream: int, address: int, size: int, flags: int) -> None:
    machine.context().stream(stream)
    owner = machine.memory.check(address, size, "attached memory")
    kind = machine.memory.kinds.get(owner.address)
    if kind is not AllocationKind.MANAGED or owner.address != address or size not in (0, owner.size):
        raise failure("INVALID_VALUE", "only a whole managed allocation can be attached to a stream")
    if flags not in (1, 2, 4) or (flags == 4 and stream in (0, 1, 2)):
        raise failure("INVALID_VALUE", f"memory can't be attached with flags {flags:#x} to this stream")


# ---- attributes, which are kept and mean nothing


def _attribute(number: int) -> int:
    if number not in ATTRIBUTES:
        raise failure("INVALID_VALUE", f"a stream has no attribute {number}")
    return number


@driver()
def cuStreamSetAttribute(machine: Machine, stream: int, attribute: int, value: int) -> None:
    place = machine.context().stream(stream)
    data = memory(value, ATTRIBUTE)
    number = int.from_bytes(data[:4], "little")
    if number not in RANGES.get(_attribute(attribute), (number,)):
        raise failure("INVALID_VALUE", f"attribute {attribute} of a stream can't be {number}")
    place.attributes[attribute] = data


@driver()
def cuStreamGetAttribute(machine: Machine, stream: int, attribute: int, value: int) -> None:
    found = machine.context().stream(stream).attributes
    put_bytes(value, found.get(_attribute(attribute), bytes(ATTRIBUTE)))


@driver()
def cuStreamCopyAttributes(machine: Machine, dst: int, src: int) -> None:
    context = machine.context()
    context.stream(dst).attributes.update(context.stream(src).attributes)


# ---- the host's part


@driver("cuLaunchHostFunc")
def cuLaunchHostFunc(machine: Machine, stream: int, function: int, data: int) -> None:
    if not function:
        raise failure("INVALID_VALUE", "the function is null")
    machine.context().stream(stream).add(HostCall(function, data))


@driver("cuLaunchHostFunc_v2")
def cuLaunchHostFunc_v2(machine: Machine, stream: int, function: int, data: int, mode: int) -> None:
    cuLaunchHostFunc(machine, stream, function, data)


@driver()
def cuStreamAddCallback(machine: Machine, stream: int, callback: int, data: int, flags: int) -> None:
    if not callback or flags:
        raise failure("INVALID_VALUE", "the callback is null, or its flags are not 0")
    found = not_captured(machine.context().stream(stream))
    call = ctypes.CFUNCTYPE(None, Pointer, Int, Pointer)(callback)
    context = found.context
    found.queue(lambda: call(stream, context.lost, data), outside=True)


# ---- values in memory


def _check_value(machine: Machine, address: int, size: int, flags: int, known: int) -> None:
    """Refuse a value of so many bytes at an address, or flags that there are not. Raises DriverError."""
    if address % size or flags & ~known:
        raise failure("INVALID_VALUE", f"a value of {size} bytes at {address:#x}, with flags {flags:#x}")
    machine.memory.check(address, size, "a value")


def _write(machine: Machine, stream: int, address: int, data: bytes, flags: int) -> None:
    _check_value(machine, address, len(data), flags, WRITE_FLAGS)
    machine.context().stream(stream).add(Upload(machine, address, data))


@driver("cuStreamWriteValue32", "cuStreamWriteValue32_v2")
def cuStreamWriteValue32(machine: Machine, stream: int, address: int, value: int, flags: int) -> None:
    _write(machine, stream, address, value.to_bytes(4, "little"), flags)


@driver("cuStreamWriteValue64", "cuStreamWriteValue64_v2")
def cuStreamWriteValue64(machine: Machine, stream: int, address: int, value: int, flags: int) -> None:
    _write(machine, stream, address, value.to_bytes(8, "little"), flags)


def _register_wait(size: int) -> None:
    def wait(machine: Machine, stream: int, address: int, value: int, flags: int) -> None:
        machine.context().stream(stream)
        _check_value(machine, address, size, flags, WAIT_FLAGS)
        raise failure("NOT_SUPPORTED", "a stream that waits for a value in memory")

    driver(f"cuStreamWaitValue{8 * size}", f"cuStreamWaitValue{8 * size}_v2")(wait)


for _size in (4, 8):
    _register_wait(_size)


@driver("cuStreamBatchMemOp", "cuStreamBatchMemOp_v2")
def cuStreamBatchMemOp(machine: Machine, stream: int, count: int, operations: int, flags: int) -> None:
    machine.context().stream(stream)
    kinds = several(operations, Size, count * OPERATION // 8)[:: OPERATION // 8] if count <= MOST else []
    if flags or count > MOST or any(kind & 0xFFFFFFFF not in OPERATIONS for kind in kinds):
        raise failure("INVALID_VALUE", "flags, too many operations, or one that there is not")
    if count:
        raise failure("NOT_SUPPORTED", "batches of operations on memory")
