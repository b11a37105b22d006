"""Two devices that wait for each other's flags, in streams that nothing else orders.

Prints what they counted to. `peers.py flags SCOPE`: with peer access. `vain`: both wait in vain. `late`: the
second kernel is launched when the first has waited for a while. `barred`: without peer access.
"""

import sys
import time
from typing import Any

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda

ROUNDS = 6
PTX = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry turns(
    .param .u64 mine, .param .u64 theirs, .param .u64 data, .param .u32 me, .param .u32 rounds)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [mine];
    ld.param.u64 %rd2, [theirs];
    ld.param.u64 %rd3, [data];
    ld.param.u32 %r1, [me];
    ld.param.u32 %r2, [rounds];
    mov.u32 %r3, 0;
LOOP:
    and.b32 %r4, %r3, 1;
    setp.ne.u32 %p1, %r4, %r1;
    add.u32 %r3, %r3, 1;
    @%p1 bra WAIT;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
    st.release.SCOPE.global.u32 [%rd1], %r3;
    bra NEXT;
WAIT:
    ld.acquire.SCOPE.global.u32 %r6, [%rd2];
    setp.lt.u32 %p2, %r6, %r3;
    @%p2 bra WAIT;
NEXT:
    setp.lt.u32 %p3, %r3, %r2;
    @%p3 bra LOOP;
    ret;
}
"""


class Side:
    """A device with its kernel and a stream."""

    def __init__(self, ordinal: int, text: str) -> None:
        self.ordinal = ordinal
        self.device = check(cuda.cuDeviceGet(ordinal))
        self.context = check(cuda.cuDevicePrimaryCtxRetain(self.device))
        self.enter()
        self.kernel = check(
            cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(text.encode() + b"\0")), b"turns")
        )
        self.stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def enter(self) -> None:
        """Make its context current."""
        check(cuda.cuCtxSetCurrent(self.context))

    def zero(self) -> Any:
        """A word of its memory, 0."""
        self.enter()
        address = check(cuda.cuMemAlloc(4))
        check(cuda.cuMemsetD32(address, 0, 1))
        check(cuda.cuCtxSynchronize())
        return address

    def launch(self, *args: int) -> None:
        """Launch the kernel in its stream."""
        self.enter()
        held = [np.array([int(arg)], np.uint64 if at < 3 else np.uint32) for at, arg in enumerate(args)]
        pointers = np.array([one.ctypes.data for one in held], np.uint64)
        check(cuda.cuLaunchKernel(self.kernel, 1, 1, 1, 1, 1, 1, 0, self.stream, pointers.ctypes.data, 0))


def main(how: str, scope: str = "sys") -> None:
    check(cuda.cuInit(0))
    sides = [Side(ordinal, PTX.replace("SCOPE", scope)) for ordinal in (0, 1)]
    for side, other in (sides, sides[::-1]):
        assert check(cuda.cuDeviceCanAccessPeer(side.device, other.device)) == 1
        if how != "barred":
            side.enter()
            check(cuda.cuCtxEnablePeerAccess(other.context, 0))
            assert cuda.cuCtxEnablePeerAccess(other.context, 0)[0] == 704
            assert cuda.cuCtxEnablePeerAccess(side.context, 0)[0] == 217
    flags, data = [side.zero() for side in sides], sides[0].zero()
    first = 1 if how == "vain" else 0
    sides[0].launch(*flags, data, first, ROUNDS)
    if how == "late":
        for _ in range(3):
            assert cuda.cuStreamQuery(sides[0].stream)[0] == 600, "not ready"
            time.sleep(0.05)
    sides[1].launch(*flags[::-1], data, 1, ROUNDS)
    code = cuda.cuStreamSynchronize(sides[1].stream)[0]
    if code:
        print(code.name)
        return
    sides[0].enter()
    check(cuda.cuStreamSynchronize(sides[0].stream))
    result = np.zeros(1, np.uint32)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, data, 4))
    print(result[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
