"""Event management."""

from __future__ import annotations

from ptxkit.virtual.abi import Float, Pointer, put, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.context import VirtualEvent
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

INTERPROCESS = 4


@driver()
def cuEventCreate(machine: Machine, event: int, flags: int) -> None:
    context = machine.context()
    if flags & ~7 or (flags & INTERPROCESS and not flags & 2):
        raise failure("INVALID_VALUE", f"there are no event flags {flags:#x}")
    require_place(event)
    put(event, Pointer, context.own(VirtualEvent(context, flags)))


@driver("cuEventDestroy", "cuEventDestroy_v2")
def cuEventDestroy(machine: Machine, event: int) -> None:
    found = machine.handles.get(VirtualEvent, event)
    found.context.disown(found)
    found.context.check()


@driver()
def cuEventRecord(machine: Machine, event: int, stream: int) -> None:
    context = machine.context()
    found, place = machine.handles.get(VirtualEvent, event), context.stream(stream)
    if place.context is not found.context:
        raise failure("INVALID_HANDLE", "the event and the stream are of different contexts")
    found.record(place)


@driver()
def cuEventRecordWithFlags(machine: Machine, event: int, stream: int, flags: int) -> None:
    if flags not in (0, 1):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of a record")
    if flags and machine.context().stream(stream).capture is None:
        raise failure("ILLEGAL_STATE", "a record for others than a capture, outside of one")
    cuEventRecord(machine, event, stream)


def _recorded(machine: Machine, event: int) -> VirtualEvent:
    found = machine.handles.get(VirtualEvent, event)
    if found.nodes is not None:
        raise failure("CAPTURED_EVENT")
    return found


@driver()
def cuEventSynchronize(machine: Machine, event: int) -> None:
    found = _recorded(machine, event)
    machine.schedule.finish(found.operation)
    found.context.check()


@driver()
def cuEventQuery(machine: Machine, event: int) -> None:
    found = _recorded(machine, event)
    machine.refuse_while_captured()
    if not machine.schedule.step(found.operation):
        raise failure("NOT_READY")
    found.context.check()


@driver("cuEventElapsedTime", "cuEventElapsedTime_v2")
def cuEventElapsedTime(machine: Machine, milliseconds: int, start: int, end: int) -> None:
    first, last = _recorded(machine, start), _recorded(machine, end)
    for event in (first, last):
        if not event.timed:
            raise failure("INVALID_HANDLE", "an event without timing has no time")
        if event.operation is None:
            raise failure("INVALID_HANDLE", "an event has no time that was never recorded")
    if first.time is None or last.time is None:
        raise failure("NOT_READY")
    put(milliseconds, Float, 1e3 * (last.time - first.time))
