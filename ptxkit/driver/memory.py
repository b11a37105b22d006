"""Device memory: buffers that free themselves and that CuPy, torch and numba take without a copy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ptxkit.device.arguments import device_address, dlpack
from ptxkit.device.arguments.values import is_device_array
from ptxkit.device.calls import AnyBuffer
from ptxkit.device.protocol import element_type, extents, host_array
from ptxkit.diagnostics import counted, error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, check, failure

LEGACY_STREAM = 1
"""`CU_STREAM_LEGACY` in `__cuda_array_interface__` and DLPack: the default stream, on which we work."""


class DeviceBuffer(AnyBuffer):
    """A dense array in a GPU's memory (`ptxkit.device.protocol.Buffer`). Dropping it frees the memory.

    Attributes:
        address: the device address of the first byte; after `free`, reading it raises P508.
        nbytes: size in bytes.
        shape: in elements, outermost first.
        dtype: numpy or ml_dtypes type of an element.
        context: the GPU that it is on.
    """

    __slots__ = ("__weakref__", "_free", "address", "context", "dtype", "nbytes", "owner", "shape")

    def __init__(
        self,
        context: CudaContext,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        owner: object = None,
    ) -> None:
        """Memory that somebody else allocated and that `owner` keeps; `empty` and `copy` make new ones."""
        self.context = context
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.nbytes = dtype.itemsize * math.prod(shape)
        self.owner = owner
        self._free: Callable[[], None] | None = None

    @classmethod
    def empty(
        cls, context: CudaContext, shape: int | Sequence[int], dtype: Any, name: str | None = None
    ) -> DeviceBuffer:
        """New memory whose content is undefined.

        Raises:
            PtxkitError: P517, no shape or type of an array; P705, out of memory.
        """
        sizes, element = extents(shape), element_type(dtype)
        address = _allocate(context, element.itemsize * math.prod(sizes), name)
        buffer = cls(context, address, sizes, element)
        buffer._free = context.own(buffer, _give_back, buffer.address)
        return buffer

    @classmethod
    def copy(cls, context: CudaContext, source: Any, name: str | None = None) -> DeviceBuffer:
        """A copy of an array: a device array's, numpy's, or of what numpy makes an array of."""
        if not is_device_array(source):
            array = host_array(source)
            buffer = cls.empty(context, array.shape, array.dtype, name)
            buffer.write(array)
            return buffer
        _, shape, dtype = _describe(source)
        buffer = cls.empty(context, shape, dtype, name)
        buffer._write_from_device(source)
        return buffer

    def numpy(self) -> np.ndarray:
        """A host copy; waits for all work on the device before it."""
        array = np.empty(self.shape, self.dtype)
        if self.nbytes:
            doing = f"copy {counted(self.nbytes, 'byte')} to the host"
            address = self.address
            self.context.synchronize(doing)
            with self.context:
                self.context.check(bindings().cuMemcpyDtoH(_pointer(array), address, self.nbytes), doing)
        return array

    def write(self, array: Any) -> None:
        """Copy an array of the same number of bytes into the buffer; waits for all work before it.

        Args:
            array: on the host, or on this GPU or another one of the host.

        Raises:
            PtxkitError: P505, another number of bytes; P517, a device array with gaps.
        """
        if device_address(array) is not None:
            self._write_from_device(array)
            return
        source = host_array(array)
        if source.nbytes != self.nbytes:
            raise error(
                "P505", f"expected {counted(self.nbytes, 'byte')} for {self!r}, found {source.nbytes}"
            )
        if self.nbytes:
            doing = f"copy {counted(self.nbytes, 'byte')} to the device"
            address = self.address
            self.context.synchronize(doing)
            with self.context:
                copied = bindings().cuMemcpyHtoD(address, _pointer(source), self.nbytes)
                self.context.check(copied, doing)

    def _write_from_device(self, source: Any) -> None:
        address, shape, dtype = _describe(source)
        nbytes = dtype.itemsize * math.prod(shape)
        if nbytes != self.nbytes:
            raise error("P505", f"expected {counted(self.nbytes, 'byte')} for {self!r}, found {nbytes}")
        if nbytes:
            doing = f"copy {counted(nbytes, 'byte')} between device arrays"
            if isinstance(source, DeviceBuffer):
                source.context.synchronize(doing)
                if source.context.ordinal != self.context.ordinal:
                    self.context.reach(source.context)
            self.context.synchronize(doing)
            with self.context:
                # Addresses are unified: the driver sees on which GPU each lies.
                self.context.check(bindings().cuMemcpy(self.address, address, nbytes), doing)

    def free(self) -> None:
        """Give the memory back now, once all work on the device is done; a second call does nothing."""
        if self._free:
            self._free()
            self._free = None
            del self.address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of Numba's CUDA array interface."""
        return {
            "data": (self.address, False),
            "shape": self.shape,
            "typestr": self.dtype.str,
            "strides": None,
            "version": 3,
            "stream": LEGACY_STREAM,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """`(kDLCUDA, ordinal)`."""
        return dlpack.CUDA, self.context.ordinal

    def __dlpack__(
        self,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule, without a copy. Work before it is done, or ordered before the default stream.

        Raises:
            BufferError: what is asked for needs a copy, or DLPack has no such element type.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("a device buffer is exported where it is, without a copy")
        if stream not in (None, -1, LEGACY_STREAM):
            self.context.synchronize()
        return dlpack.export(self, self.address, self.shape, self.dtype, self.__dlpack_device__())

    def __getattr__(self, name: str) -> Any:
        if name == "address":
            raise error("P508", f"`{self!r}` is used after it was freed")
        raise AttributeError(f"a device buffer has no attribute `{name}`")

    def __rich_repr__(self) -> Iterator[Any]:
        yield list(self.shape)
        yield "dtype", str(self.dtype)
        yield "device", f"cuda:{self.context.ordinal}"


def _allocate(context: CudaContext, nbytes: int, name: str | None) -> int:
    driver = bindings()
    with context:
        status, pointer = driver.cuMemAlloc(max(nbytes, 1))
        if not status:
            return int(pointer)
        if status.name != "CUDA_ERROR_OUT_OF_MEMORY":
            raise failure(status, f"allocate {counted(nbytes, 'byte')}")
        free, total = check(driver.cuMemGetInfo(), "ask for free memory")
    wanted = f"{counted(nbytes, 'byte')} for `{name}`" if name else f"{counted(nbytes, 'byte')}"
    message = f"out of memory on GPU {context.ordinal}: asked for {wanted}, {free} of {total} are free"
    raise error("P705", message, help="free buffers, or end what else runs on the GPU")


def _give_back(address: int) -> tuple[Any, ...]:
    # A kernel may still be using the memory. What such a kernel met is told to whoever waits for it.
    driver = bindings()
    driver.cuCtxSynchronize()
    return tuple(driver.cuMemFree(address))


def _pointer(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _describe(source: Any) -> tuple[int, tuple[int, ...], np.dtype]:
    """Address, shape and element type of a device array, which must be dense."""
    if isinstance(source, DeviceBuffer):
        return source.address, source.shape, source.dtype
    interface = getattr(source, "__cuda_array_interface__", None)
    if interface is not None:
        address, shape = interface["data"][0], tuple(interface["shape"])
        dtype = np.dtype(interface["typestr"])
        strides = interface.get("strides")
        steps = None if strides is None else tuple(stride / dtype.itemsize for stride in strides)
    else:
        seen = dlpack.view(source)
        address, shape, dtype, steps = seen.address, seen.shape, seen.dtype, seen.strides
    dense = 1
    for extent, step in zip(reversed(shape), reversed(steps or ()), strict=False):
        if extent > 1 and step != dense:
            message = f"expected a dense device array, found strides for shape {shape} that leave gaps"
            raise error("P517", message, help="make it contiguous first")
        dense *= extent
    return int(address), shape, dtype
