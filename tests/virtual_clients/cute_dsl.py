"""CuTe DSL on a virtual GPU: memory of the driver's, and tensors of PyTorch's where it is installed."""

import sys
from importlib.util import find_spec

import cutlass
import cutlass.cute as cute
import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from cutlass.cute.runtime import from_dlpack, make_ptr
from cutlass.utils import HardwareInfo
from kernels import SIZE, begin


@cute.kernel
def increment(elements: cute.Tensor, beyond: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * 256 + thread + beyond
    elements[at] = elements[at] + cutlass.Float32(1)


@cute.jit
def increment_at(pointer: cute.Pointer, beyond: cutlass.Int32):
    elements = cute.make_tensor(pointer, cute.make_layout(SIZE))
    increment(elements, beyond).launch(grid=[4, 1, 1], block=[256, 1, 1])


@cute.jit
def increment_twice(elements: cute.Tensor):
    increment(elements, 0).launch(grid=[4, 1, 1], block=[256, 1, 1])
    increment(elements, 0).launch(grid=[4, 1, 1], block=[256, 1, 1])


def memory_of_the_driver(beyond: int) -> None:
    begin()
    place, host = check(cuda.cuMemAlloc(4 * SIZE)), np.arange(SIZE, dtype=np.float32)
    check(cuda.cuMemcpyHtoD(place, host.ctypes.data, host.nbytes))
    increment_at(make_ptr(cutlass.Float32, int(place), cute.AddressSpace.gmem, assumed_align=16), beyond)
    result = np.empty_like(host)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, place, host.nbytes))
    assert (result == host + 1).all()


def tensors() -> None:
    import torch

    on_gpu = torch.arange(SIZE, dtype=torch.float32, device="cuda")
    passed = from_dlpack(on_gpu[:])  # the view is gone when the kernel runs, its storage is not
    assert passed.memspace == cute.AddressSpace.gmem
    increment_twice(passed)
    assert torch.equal(on_gpu, torch.arange(SIZE, dtype=torch.float32) + 2)


memory_of_the_driver(int(sys.argv[1]) if sys.argv[1:] else 0)
print("memory right")
assert HardwareInfo().get_max_active_clusters(2) > 0
print("occupancy right")
if find_spec("torch"):
    tensors()
    print("tensors right")
