"""Graph management: user objects, which graphs keep alive."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Pointer, put, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.graph import UserObject, VirtualGraph
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

NO_DESTRUCTOR_SYNC = 1
MOVE = 1


def _count(count: int) -> int:
    if not 0 < count < 1 << 31:
        raise failure("INVALID_VALUE", f"expected a number of references, found {count}")
    return count


@driver()
def cuUserObjectCreate(
    machine: Machine, place: int, data: int, destroy: int, references: int, flags: int
) -> None:
    if not destroy or flags != NO_DESTRUCTOR_SYNC:
        raise failure("INVALID_VALUE", "the destructor is null, or the flags are not 1")
    require_place(place)
    call = ctypes.CFUNCTYPE(None, Pointer)(destroy)
    made = UserObject(machine, lambda: call(data), _count(references))
    put(place, Pointer, machine.handles.add(made))


@driver()
def cuUserObjectRetain(machine: Machine, thing: int, count: int) -> None:
    machine.handles.get(UserObject, thing).references += _count(count)


@driver()
def cuUserObjectRelease(machine: Machine, thing: int, count: int) -> None:
    machine.handles.get(UserObject, thing).release(_count(count))


@driver()
def cuGraphRetainUserObject(machine: Machine, graph: int, thing: int, count: int, flags: int) -> None:
    found = machine.handles.get(UserObject, thing)
    if flags not in (0, MOVE):
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of a reference")
    if flags != MOVE:
        found.references += _count(count)
    machine.handles.get(VirtualGraph, graph).objects[found] += _count(count)


@driver()
def cuGraphReleaseUserObject(machine: Machine, graph: int, thing: int, count: int) -> None:
    owner, found = machine.handles.get(VirtualGraph, graph), machine.handles.get(UserObject, thing)
    if owner.objects[found] < _count(count):
        raise failure("INVALID_VALUE", f"the graph has {owner.objects[found]} references, found {count}")
    owner.objects[found] -= count
    found.release(count)
