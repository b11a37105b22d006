"""saxpy by cuda.bindings; the number of elements that the kernel is told is an argument."""

import ctypes
import sys

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda

SAXPY = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p1;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r2, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""

SIZE = 4096


def main() -> None:
    told = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    module = check(cuda.cuModuleLoadData(SAXPY))
    kernel = check(cuda.cuModuleGetFunction(module, b"saxpy"))
    x, y = np.arange(SIZE, dtype=np.float32), np.ones(SIZE, np.float32)
    there = [check(cuda.cuMemAlloc(array.nbytes)) for array in (x, y)]
    for address, array in zip(there, (x, y), strict=True):
        check(cuda.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))
    types = (ctypes.c_uint, ctypes.c_float, ctypes.c_uint64, ctypes.c_uint64)
    arguments = (told, 2.0, *map(int, there))
    ctas = -(-told // 256)
    check(cuda.cuLaunchKernel(kernel, ctas, 1, 1, 256, 1, 1, 0, 0, (arguments, types), 0))
    result = np.empty_like(y)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, there[1], result.nbytes))
    assert (result == 2 * x + 1).all()
    for address in there:
        check(cuda.cuMemFree(address))
    print("right")


if __name__ == "__main__":
    main()
