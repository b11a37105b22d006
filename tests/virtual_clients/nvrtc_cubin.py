"""What NVRTC calls machine code, loaded and launched."""

import numpy as np
from bindings import check
from cuda.bindings import driver, nvrtc

SOURCE = b'extern "C" __global__ void twice(int *x) { x[threadIdx.x] *= 2; }'


def main() -> None:
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"twice.cu", 0, None, None))
    check(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]))
    code = bytearray(check(nvrtc.nvrtcGetCUBINSize(program)))
    check(nvrtc.nvrtcGetCUBIN(program, code))
    check(driver.cuInit(0))
    context = check(driver.cuDevicePrimaryCtxRetain(0))
    check(driver.cuCtxSetCurrent(context))
    function = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(bytes(code))), b"twice"))
    data = np.arange(32, dtype=np.int32)
    back = np.zeros_like(data)
    there = check(driver.cuMemAlloc(data.nbytes))
    check(driver.cuMemcpyHtoD(there, data.ctypes.data, data.nbytes))
    check(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ((there,), (None,)), 0))
    check(driver.cuMemcpyDtoH(back.ctypes.data, there, data.nbytes))
    print("right" if (back == 2 * data).all() else "wrong")


main()
