"""What processes share: nothing here. Asking for what was not made to be shared is an error as everywhere."""

from __future__ import annotations

from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.context import VirtualEvent
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure


@driver(
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolExportPointer",
    "cuMemPoolImportPointer",
    "cuMemExportToShareableHandle",
    "cuIpcCloseMemHandle",
)
def not_shared(machine: Machine, *given: int) -> None:
    """Pools, pointers and memory of no kind that can be shared, as nothing of such a kind is ever made."""
    raise failure("INVALID_VALUE", "it was not made to be shared between processes")


@driver()
def cuIpcGetMemHandle(machine: Machine, handle: int, address: int) -> None:
    machine.memory.check(address, 1, "memory for another process")
    raise failure("NOT_SUPPORTED", "memory that is shared between processes")


@driver()
def cuIpcGetEventHandle(machine: Machine, handle: int, event: int) -> None:
    found = machine.handles.get(VirtualEvent, event)
    if not found.interprocess:
        raise failure("INVALID_HANDLE", "the event was made without CU_EVENT_INTERPROCESS")
    raise failure("NOT_SUPPORTED", "events that are shared between processes")
