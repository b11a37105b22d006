"""The memory of a virtual GPU as a library's kernel reads and writes it: in allocations, of its own device or
a peer's, at addresses that are multiples of an element's size; undefined bytes stay so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ptxkit.diagnostics import counted
from ptxkit.emulator.faults import LibraryCall, fault
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.stream_races import TouchedBytes, lines

REACH = "sizes, leading dimension and stride say how far a matrix reaches"
HOST_MEMORY = (
    "it must be memory of the device, or of the host and pinned, registered or managed; with `--host-memory` "
    "all of the host's will do"
)


@dataclass(frozen=True, slots=True)
class MemoryLines:
    """Lines of bytes in memory.

    Attributes:
        what: what they are, for findings: `A`.
        address: of the first byte.
        length: bytes of a line.
        lines: how many there are.
        pitch: bytes from one to the next.
        element: bytes of an element, of which every address is a multiple.
    """

    what: str
    address: int
    length: int
    lines: int = 1
    pitch: int = 0
    element: int = 1

    @property
    def extent(self) -> int:
        """Bytes from the first to behind the last."""
        return self.length + (self.lines - 1) * self.pitch if self.length and self.lines else 0


class DeviceAccess:
    """What a call reads and writes.

    Attributes:
        call: its name, for findings: `` `cublasSgemm_v2` ``.
        origin: where the undefined bytes come from that it has read; 0 where it has read none.
        tainted: whether a number that all results depend on had any.
        touched: what it has read and written.
    """

    def __init__(self, context: VirtualContext, call: str) -> None:
        self._machine = context.machine
        self._memory = context.machine.memory
        self._device = context.device.ordinal
        self.call = call
        self.origin = 0
        self.tainted = False
        self.touched: list[TouchedBytes] = []

    def read(self, stretch: MemoryLines) -> np.ndarray:
        """A copy of bytes: uint8 (lines, length).

        Raises:
            EmulatorFault: P602, P603, P604, P6152.
        """
        self._check(stretch, "reads")
        return self._view(self._memory.data, stretch).copy()

    def take(self, stretch: MemoryLines) -> np.ndarray:
        """`read` of what all results depend on."""
        data = self.read(stretch)
        self.tainted |= self.undefined(stretch) is not None
        return data

    def undefined(self, stretch: MemoryLines) -> np.ndarray | None:
        """Which bytes of what was read nobody has written: bool (lines, length); None for none."""
        memory, owner = self._memory, self._memory.owner(stretch.address)
        if owner is None or not owner.undefined or memory.shadow is None:
            return None
        found = self._view(memory.shadow, stretch) != 0
        if not found.any():
            return None
        self.origin = self.origin or self._origin(owner, stretch, found)
        return found

    def _origin(self, owner: Allocation, stretch: MemoryLines, bad: np.ndarray) -> int:
        memory = self._memory
        line, place = (int(part) for part in np.argwhere(bad)[0])
        index = stretch.address - BASE + line * stretch.pitch + place
        known = int(memory.origins[index >> 2]) if memory.origins is not None else 0
        return known or self._machine.origins.of_read(LibraryCall(self.call), f"{stretch.what}, {owner.name}")

    def write(self, stretch: MemoryLines, data: np.ndarray, undefined: np.ndarray | None = None) -> None:
        """Store bytes: uint8 (lines, length); `undefined`: which of them depend on what nobody wrote.

        Raises:
            EmulatorFault: P602, P603, P604, P6152.
        """
        owner = self._check(stretch, "writes")
        memory = self._memory
        self._view(memory.data, stretch)[:] = data
        if memory.shadow is None or (undefined is None and not owner.undefined):
            return
        if undefined is None:
            self._view(memory.shadow, stretch)[:] = 0
            if stretch.extent == owner.size and stretch.pitch <= stretch.length:
                owner.undefined = False
            return
        owner.undefined = True
        self._view(memory.shadow, stretch)[:] = np.where(undefined, 0xFF, 0)
        lines, places = np.nonzero(undefined)
        memory.set_origin(stretch.address - BASE + lines * stretch.pitch + places, 1, self.origin)

    def _view(self, bank: np.ndarray, stretch: MemoryLines) -> Any:
        start = stretch.address - BASE
        whole = bank[start : start + stretch.extent]
        return as_strided(whole, (stretch.lines, stretch.length), (stretch.pitch, 1))

    def _check(self, stretch: MemoryLines, does: str) -> Allocation:
        memory, at, size = self._memory, stretch.address, stretch.extent
        told = f"{counted(size, 'byte')} at {at:#x}, which {self.call} {does} as {stretch.what}"
        if at % stretch.element:
            message = f"misaligned: {told}"
            raise fault("P603", message, None, help=f"elements have {stretch.element} bytes each")
        found = memory.find(at)
        if found is None or at >= found.end:
            raise fault("P602", f"out of bounds: {told}", None, (memory.what_lies_at(at),), HOST_MEMORY)
        if not found.live:
            raise fault("P604", f"use after free: {told}", None, (memory.what_lies_at(at),))
        if at + size > found.end:
            note = f"{found} ends {counted(at + size - found.end, 'byte')} before that"
            raise fault("P602", f"out of bounds: {told}", None, (note,), REACH)
        if memory.bars(found, self._device):
            message = f"{told}, are memory that device {self._device} may not reach"
            help = "enable peer access in this device's context, or give its device access to the mapping"
            raise fault("P6152", message, None, help=help)
        write = does == "writes"
        self.touched += lines(memory, at, stretch.length, write, stretch.lines, stretch.pitch)
        return found
