"""Arrays in the emulator's memory."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ptxkit.device.arguments import dlpack
from ptxkit.device.calls import AnyBuffer
from ptxkit.device.protocol import host_array
from ptxkit.diagnostics import counted, error
from ptxkit.emulator.faults import EmulatorFault, Origins, fault
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory


class EmulatorBuffer(AnyBuffer):
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
        self._name = name
        self._shape = shape
        self._dtype = dtype
        size = math.prod(shape) * dtype.itemsize
        dimensions = ", ".join(str(extent) for extent in shape)
        self.allocation: Allocation = memory.allocate(size, f"`{name} {dtype}[{dimensions}]`")
        self.allocation.shape, self.allocation.element_bytes = shape, dtype.itemsize
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
        return self._elements(memory.data, where).copy()

    def _elements(self, bank: np.ndarray, where: slice) -> np.ndarray:
        """A view of the buffer's elements."""
        return bank[where].view(self._dtype).reshape(self._shape)

    def _check_results(self, where: slice, chosen: np.ndarray | None = None) -> None:
        """Refuse undefined bits that a kernel made, in all bytes or in those that are chosen."""
        memory, origins = self.memory, self._origins
        assert memory.shadow is not None
        assert memory.origins is not None
        words = memory.origins[where.start // 4 : (where.stop + 3) // 4]
        for word in np.flatnonzero(words):
            at = where.start + 4 * int(word)
            end = min(at + 4, where.stop)
            shadow = memory.shadow[at:end]
            if chosen is not None:
                shadow = shadow * chosen[at - where.start : end - where.start]
            bad = np.flatnonzero(shadow)
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

    def __getitem__(self, index: Any) -> Any:
        """A host copy of some elements: what `buffer.numpy()[index]` gives.

        Raises:
            EmulatorFault: P606, as `numpy`, of those elements alone.
        """
        where = self._bytes()
        if self.allocation.undefined and self.memory.origins is not None:
            chosen = np.zeros((*self._shape, self._dtype.itemsize), bool)
            chosen[index] = True
            self._check_results(where, chosen.reshape(-1))
        found = self._elements(self.memory.data, where)[index]
        return found.copy() if isinstance(found, np.ndarray) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write some elements."""
        where = self._bytes()
        self._elements(self.memory.data, where)[index] = value
        if self.allocation.undefined and self.memory.shadow is not None:
            self.memory.shadow[where].reshape(*self._shape, self._dtype.itemsize)[index] = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        """`(kDLCPU, 0)`: the emulator's memory is the host's."""
        return dlpack.CPU, 0

    def __dlpack__(
        self,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over the emulator's own memory. Its bytes count as written from now on.

        Raises:
            BufferError: what is asked for needs a copy, or DLPack has no such element type.
            EmulatorFault: P606, as `numpy`.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("a buffer of the emulator is exported where it is, without a copy")
        where = self._bytes()
        memory = self.memory
        if self.allocation.undefined and memory.origins is not None:
            self._check_results(where)
        capsule = dlpack.export(
            self, memory.data[where].ctypes.data, self._shape, self._dtype, self.__dlpack_device__()
        )
        if memory.shadow is not None:
            memory.shadow[where] = 0
            self.allocation.undefined = False
        return capsule

    def __rich_repr__(self) -> Iterator[Any]:
        yield list(self._shape)
        yield "dtype", str(self._dtype)
        yield "name", self._name
        yield "address", hex(self.address)
        yield "live", self.allocation.live, True

    def free(self) -> None:
        """Give the memory back now; a second call does nothing."""
        if self._finalizer.detach() is not None:
            self.memory.free(self.allocation, "the host freed it")
