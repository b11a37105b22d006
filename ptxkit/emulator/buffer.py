"""Arrays in the emulator's memory."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable

import numpy as np

from ptxkit.device.protocol import host_array
from ptxkit.diagnostics import counted, error
from ptxkit.emulator.faults import EmulatorFault, Origins, fault
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory


class EmulatorBuffer:
    """An array in an emulator's memory.

    Args:
        memory: where to allocate it.
        origins: where undefined bits there come from.
        shape, dtype: in elements, and the type of one.
        name: what findings call it.
        refuse: called with what a read of it meets: raises it, or goes past it.
    """

    def __init__(
        self,
        memory: GlobalMemory,
        origins: Origins,
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str,
        refuse: Callable[[EmulatorFault], None],
    ) -> None:
        memory.refuse_closed()
        self._refuse = refuse
        self.memory = memory
        self._origins = origins
        self._shape = shape
        self._dtype = dtype
        size = math.prod(shape) * dtype.itemsize
        dimensions = ", ".join(str(extent) for extent in shape)
        self.allocation: Allocation = memory.allocate(size, f"`{name} {dtype}[{dimensions}]`")
        self._finalizer = weakref.finalize(
            self, memory.free, self.allocation, "the host dropped its last reference to it"
        )

    @property
    def address(self) -> int:
        """The device address of the first byte."""
        return self.allocation.address

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.allocation.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in elements, outermost first."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """The numpy (or ml_dtypes) type of an element."""
        return self._dtype

    def _bytes(self) -> slice:
        self.memory.refuse_closed()
        if not self.allocation.live:
            raise error("P604", f"use after free: the host uses {self.allocation}")
        start = self.address - BASE
        return slice(start, start + self.nbytes)

    def numpy(self) -> np.ndarray:
        """A host copy.

        Raises:
            EmulatorFault: P606, a kernel made some of it from data that nobody wrote, unless the device keeps
                going: the finding is then among `findings`.
            PtxkitError: P714, the emulator was closed.
        """
        where = self._bytes()
        memory = self.memory
        if self.allocation.undefined and memory.origins is not None:
            self._check_results(where)
        return memory.data[where].copy().view(self._dtype).reshape(self._shape)

    def _check_results(self, where: slice) -> None:
        memory, origins = self.memory, self._origins
        assert memory.shadow is not None
        assert memory.origins is not None
        words = memory.origins[where.start // 4 : (where.stop + 3) // 4]
        for word in np.flatnonzero(words):
            at = where.start + 4 * int(word)
            bad = np.flatnonzero(memory.shadow[at : min(at + 4, where.stop)])
            if not len(bad):
                continue
            number = int(words[word])
            offset = at + int(bad[0]) - where.start
            notes, labels = origins.describe(number)
            element = offset // self._dtype.itemsize
            index = np.unravel_index(element, self._shape) if self._shape else ()
            place = f"element [{', '.join(str(int(i)) for i in index)}]"
            wrong = fault(
                "P606",
                f"undefined result: {place} of {self.allocation.name} depends on bits "
                "that were never written",
                origins[number].site,
                [f"byte {offset} of {self.allocation}", *notes],
                labels=[label for label in labels if label.span != origins[number].site.span],
            )
            self._refuse(wrong)
            return

    def write(self, array: np.ndarray) -> None:
        """Copy a host array of the same number of bytes into the buffer."""
        where = self._bytes()
        data = host_array(array)
        if data.nbytes != self.nbytes:
            raise error(
                "P505", f"expected an array of {counted(self.nbytes, 'byte')}, found one of {data.nbytes}"
            )
        memory = self.memory
        memory.data[where] = data.reshape(-1).view(np.uint8)
        if self.allocation.undefined and memory.shadow is not None:
            memory.shadow[where] = 0
            self.allocation.undefined = False

    def free(self) -> None:
        """Give the memory back now; a second call does nothing."""
        if self._finalizer.detach() is not None:
            self.memory.free(self.allocation, "the host freed it")
