"""A kernel that sleeps until it has seen 20 milliseconds pass, by the clock and the rate that the device
says, and the events around it. Prints the milliseconds that they tell."""

import ctypes

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

WAITING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry waiting(.param .u64 clocks)
{
    .reg .b64 %begun, %now, %clocks;
    .reg .pred %more;
    ld.param.u64 %clocks, [clocks];
    mov.u64 %begun, %clock64;
again:
    nanosleep.u32 100000;
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %begun;
    setp.lt.u64 %more, %now, %clocks;
    @%more bra again;
    ret;
}
"""


def main() -> None:
    begin()
    module = check(cuda.cuModuleLoadData(WAITING.encode()))
    function = check(cuda.cuModuleGetFunction(module, b"waiting"))
    rate = check(cuda.cuDeviceGetAttribute(cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0))
    first, last = (check(cuda.cuEventCreate(0)) for _ in range(2))
    given = ((20 * rate,), (ctypes.c_uint64,))
    check(cuda.cuEventRecord(first, 0))
    check(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, given, 0))
    check(cuda.cuEventRecord(last, 0))
    check(cuda.cuEventSynchronize(last))
    print(check(cuda.cuEventElapsedTime(first, last)))


if __name__ == "__main__":
    main()
