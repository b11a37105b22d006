"""What wrong calls need: live things and dead ones, each made when a call asks for it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT

SIZE = 1024
"""Bytes of each allocation."""
PARAMETERS = ((0, 0), (ctypes.c_uint64, ctypes.c_uint64))
"""Of the kernel `next`: both null, as it is never run."""
GRANULARITY = 2 << 20
"""Bytes that physical memory comes in."""
_libraries: list[ctypes.CDLL] = []


def raw(name: str, *arguments: Any) -> tuple[int]:
    """A call of the driver as C makes it: every argument a number or a handle of at most 64 bits."""
    if not _libraries:
        _libraries.append(ctypes.CDLL("libcuda.so.1"))
    given = [ctypes.c_uint64(int(argument) & (1 << 64) - 1) for argument in arguments]
    return (getattr(_libraries[0], name)(*given),)


def room(*words: int) -> Any:
    """Zeroed memory of the host where a call may leave a result; or with 32-bit words at its beginning.

    It stays for as long as the process: a call may keep the address.
    """
    made = (ctypes.c_uint32 * 256)(*(word & 0xFFFFFFFF for word in words))
    _kept.append(made)
    return made


_kept: list[Any] = []


def place(*words: int) -> int:
    """The address of such memory."""
    return ctypes.addressof(room(*words))


def halves(handle: Any) -> tuple[int, int]:
    """A handle or an address as two words."""
    return int(handle) & 0xFFFFFFFF, int(handle) >> 32


def text(content: bytes) -> int:
    """The address of a text."""
    made = ctypes.create_string_buffer(content)
    _kept.append(made)
    return ctypes.addressof(made)


def at(structure: Any) -> int:
    """The address of a structure of cuda.bindings."""
    _kept.append(structure)
    return int(structure.getPtr())


def pool_properties(device: int = 0) -> Any:
    """Those of a pool of a device."""
    made = cuda.CUmemPoolProps()
    made.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    made.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    made.location.id = device
    return made


def physical_properties(device: int = 0) -> Any:
    """Those of physical memory of a device."""
    made = cuda.CUmemAllocationProp()
    made.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    made.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    made.location.id = device
    return made


def misused(thing: Any) -> Any:
    """A handle of something else than the call takes, or of something that is gone."""
    trust.kept = False
    return thing


class Trust:
    """Whether this process's driver is as sound as it was: one that got a bad handle may not be."""

    kept = True


trust = Trust()


class Fixtures:
    """What one call needs. Nothing is shared between calls but the context."""

    def __init__(self) -> None:
        self._later: list[Callable[[], object]] = []

    def later(self, call: Callable[[], object]) -> None:
        """Make a call once the wrong one was answered, whatever it is answered itself."""
        self._later.append(call)

    def close(self) -> None:
        for call in reversed(self._later):
            call()

    # ---- memory

    @cached_property
    def address(self) -> int:
        return int(check(cuda.cuMemAlloc(SIZE)))

    @cached_property
    def freed(self) -> int:
        made = check(cuda.cuMemAlloc(SIZE))
        check(cuda.cuMemFree(made))
        return int(made)

    @cached_property
    def pinned(self) -> int:
        return int(check(cuda.cuMemHostAlloc(SIZE, 0)))

    @cached_property
    def managed(self) -> int:
        return int(check(cuda.cuMemAllocManaged(SIZE, cuda.CUmemAttach_flags(1))))

    @cached_property
    def numbers(self) -> int:
        """The address of 64 KiB of the host's memory, zeroed."""
        made = np.zeros(1 << 16, np.uint8)
        _kept.append(made)
        return int(made.ctypes.data)

    @cached_property
    def pages(self) -> int:
        """The address of 32 pages of the host's memory."""
        made = np.zeros(1 << 22, np.uint8)
        _kept.append(made)
        return -(-int(made.ctypes.data) // 4096) * 4096

    @cached_property
    def registered(self) -> int:
        """The first of them, the first two registered."""
        check(cuda.cuMemHostRegister(self.pages, 8192, 0))
        self.later(lambda: cuda.cuMemHostUnregister(self.pages))
        return self.pages

    @cached_property
    def pool(self) -> Any:
        return check(cuda.cuMemPoolCreate(pool_properties()))

    @cached_property
    def destroyed_pool(self) -> Any:
        made = check(cuda.cuMemPoolCreate(pool_properties()))
        check(cuda.cuMemPoolDestroy(made))
        return misused(made)

    @cached_property
    def default_pool(self) -> Any:
        return check(cuda.cuDeviceGetDefaultMemPool(0))

    @cached_property
    def pooled(self) -> int:
        """An allocation of the default pool."""
        made = check(cuda.cuMemAllocAsync(SIZE, 0))
        check(cuda.cuCtxSynchronize())
        return int(made)

    @cached_property
    def physical(self) -> Any:
        """Physical memory of two granules."""
        return check(cuda.cuMemCreate(2 * GRANULARITY, physical_properties(), 0))

    @cached_property
    def released(self) -> Any:
        made = check(cuda.cuMemCreate(GRANULARITY, physical_properties(), 0))
        check(cuda.cuMemRelease(made))
        return misused(made)

    @cached_property
    def reserved(self) -> int:
        """Four granules of addresses."""
        return int(check(cuda.cuMemAddressReserve(4 * GRANULARITY, 0, 0, 0)))

    @cached_property
    def mapped(self) -> int:
        """The same, the physical memory mapped to their beginning."""
        check(cuda.cuMemMap(self.reserved, 2 * GRANULARITY, 0, self.physical, 0))
        return self.reserved

    # ---- code

    @cached_property
    def module(self) -> Any:
        return check(cuda.cuModuleLoadData(NEXT))

    @cached_property
    def unloaded(self) -> Any:
        made = check(cuda.cuModuleLoadData(NEXT))
        check(cuda.cuModuleUnload(made))
        return misused(made)

    @cached_property
    def function(self) -> Any:
        """The kernel `next`."""
        return check(cuda.cuModuleGetFunction(self.module, b"next"))

    @cached_property
    def gone_function(self) -> Any:
        """A kernel whose module was unloaded."""
        module = check(cuda.cuModuleLoadData(NEXT))
        made = check(cuda.cuModuleGetFunction(module, b"next"))
        check(cuda.cuModuleUnload(module))
        return misused(made)

    @cached_property
    def library(self) -> Any:
        return check(cuda.cuLibraryLoadData(NEXT, None, None, 0, None, None, 0))

    @cached_property
    def unloaded_library(self) -> Any:
        made = check(cuda.cuLibraryLoadData(NEXT, None, None, 0, None, None, 0))
        check(cuda.cuLibraryUnload(made))
        return misused(made)

    @cached_property
    def kernel(self) -> Any:
        return check(cuda.cuLibraryGetKernel(self.library, b"next"))

    @cached_property
    def parameters(self) -> int:
        """The addresses of the two parameters of `next`."""
        one = place(0, 0)
        return place(*halves(one), *halves(one))

    # ---- streams and events

    @cached_property
    def context(self) -> Any:
        """A context beside the primary one, not current."""
        made = check(cuda.cuCtxCreate(None, 0, 0))
        check(cuda.cuCtxPopCurrent())
        self.later(lambda: cuda.cuCtxDestroy(made))
        return made

    @cached_property
    def destroyed_context(self) -> Any:
        made = check(cuda.cuCtxCreate(None, 0, 0))
        check(cuda.cuCtxDestroy(made))
        return misused(made)

    @cached_property
    def stream(self) -> Any:
        return check(cuda.cuStreamCreate(1))

    @cached_property
    def other_stream(self) -> Any:
        return check(cuda.cuStreamCreate(1))

    @cached_property
    def destroyed_stream(self) -> Any:
        made = check(cuda.cuStreamCreate(0))
        check(cuda.cuStreamDestroy(made))
        return misused(made)

    @cached_property
    def event(self) -> Any:
        return check(cuda.cuEventCreate(0))

    @cached_property
    def recorded(self) -> Any:
        """An event that is reached."""
        made = check(cuda.cuEventCreate(0))
        check(cuda.cuEventRecord(made, 0))
        check(cuda.cuCtxSynchronize())
        return made

    @cached_property
    def destroyed_event(self) -> Any:
        made = check(cuda.cuEventCreate(0))
        check(cuda.cuEventDestroy(made))
        return misused(made)

    def capturing(self, mode: int = 2, blocking: bool = False) -> Any:
        """A stream that is captured; relaxed, so that other calls are allowed meanwhile."""
        made = check(cuda.cuStreamCreate(0 if blocking else 1))
        check(cuda.cuStreamBeginCapture(made, cuda.CUstreamCaptureMode(mode)))
        self.later(lambda: cuda.cuStreamEndCapture(made))
        return made

    # ---- graphs

    @cached_property
    def graph(self) -> Any:
        return check(cuda.cuGraphCreate(0))

    @cached_property
    def other_graph(self) -> Any:
        return check(cuda.cuGraphCreate(0))

    @cached_property
    def destroyed_graph(self) -> Any:
        made = check(cuda.cuGraphCreate(0))
        check(cuda.cuGraphDestroy(made))
        return misused(made)

    @cached_property
    def node(self) -> Any:
        """An empty node of the graph."""
        return check(cuda.cuGraphAddEmptyNode(self.graph, None, 0))

    @cached_property
    def kernel_node(self) -> Any:
        return check(cuda.cuGraphAddKernelNode(self.graph, None, 0, self.kernel_parameters()))

    def kernel_parameters(self, grid: int = 4, block: int = 256) -> Any:
        """A launch of `next`."""
        made = cuda.CUDA_KERNEL_NODE_PARAMS()
        made.func = self.function
        made.gridDimX, made.gridDimY, made.gridDimZ = grid, 1, 1
        made.blockDimX, made.blockDimY, made.blockDimZ = block, 1, 1
        made.kernelParams = PARAMETERS
        return made

    def set_parameters(self, width: int = 16, element: int = 1, address: int | None = None) -> Any:
        """A set of the memory at `address`."""
        made = cuda.CUDA_MEMSET_NODE_PARAMS()
        made.dst = self.address if address is None else address
        made.elementSize, made.width, made.height = element, width, 1
        return made

    @cached_property
    def set_node(self) -> Any:
        context = check(cuda.cuCtxGetCurrent())
        return check(cuda.cuGraphAddMemsetNode(self.graph, None, 0, self.set_parameters(), context))

    @cached_property
    def executable(self) -> Any:
        """Of the graph with whatever nodes were asked for so far."""
        return check(cuda.cuGraphInstantiate(self.graph, 0))

    @cached_property
    def destroyed_executable(self) -> Any:
        made = check(cuda.cuGraphInstantiate(self.graph, 0))
        check(cuda.cuGraphExecDestroy(made))
        return misused(made)

    # ---- arrays

    def described(self, width: int = 16, height: int = 16, depth: int = 0, **more: Any) -> Any:
        """What an array of floats is like; `Format`, `NumChannels` and `Flags` may be given."""
        made = cuda.CUDA_ARRAY3D_DESCRIPTOR()
        made.Width, made.Height, made.Depth = width, height, depth
        made.Format = cuda.CUarray_format(more.get("Format", 0x20))
        made.NumChannels = more.get("NumChannels", 1)
        made.Flags = more.get("Flags", 0)
        return made

    @cached_property
    def array(self) -> Any:
        return check(cuda.cuArray3DCreate(self.described()))

    @cached_property
    def destroyed_array(self) -> Any:
        made = check(cuda.cuArray3DCreate(self.described()))
        check(cuda.cuArrayDestroy(made))
        return misused(made)

    @cached_property
    def mipmap(self) -> Any:
        return check(cuda.cuMipmappedArrayCreate(self.described(), 3))


Call = Callable[[Fixtures], tuple[Any, ...]]
