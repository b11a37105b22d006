"""Logical endpoints of two devices: what wrong calls return, a put from the first to the second, and to both.

Prints three words of each copy, and what a put to an endpoint comes to that is destroyed.
"""

import ctypes
from typing import Any

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from multicast import mapped, properties

SEND = """
.version 9.4
.target sm_100a
.address_size 64
.visible .entry send(.param .u32 endpoint, .param .u64 offset)
{
    .reg .pred %p<3>;
    .reg .b8 %v1;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .shared .align 16 .b8 tile[16];
    .shared .align 8 .b64 bar;
    ld.param.u32 %r1, [endpoint];
    ld.param.u64 %rd1, [offset];
    mov.u32 %r2, tile;
    mov.u32 %r3, bar;
    st.shared.v4.u32 [%r2], {7, 7, 7, 7};
    mbarrier.init.layout::v1.shared::cta.b64 [%r3], 1;
    fence.proxy.async.shared::cta;
    fabric.try_put.async KIND.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.b128
        [%r1, %rd1], [%r2], 16, [%r3];
    fabric.submit;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r3], 1;
WAIT:
    mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p1|%p2, %v1, [%r3], 0;
    @!%p1 bra WAIT;
    ret;
}
"""


def send(kind: str, number: int, offset: int) -> None:
    """Put 16 bytes, from the device whose context is current."""
    text = SEND.replace(" KIND", kind).encode() + b"\0"
    kernel = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(text)), b"send"))
    given = ((number, offset), (ctypes.c_uint32, ctypes.c_uint64))
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, given, 0))
    check(cuda.cuCtxSynchronize())


def wanted(kind: str, count: int, size: int) -> Any:
    """The properties of an endpoint."""
    made = cuda.CUlogicalEndpointProp()
    made.type = getattr(cuda.CUlogicalEndpointType, f"CU_LOGICAL_ENDPOINT_TYPE_{kind}")
    if kind == "UNICAST":
        made.unicast.device = count
    else:
        made.multicast.numDevices = count
    made.size = size
    return made


def main() -> None:
    check(cuda.cuInit(0))
    contexts = [check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(at)))) for at in (0, 1)]
    check(cuda.cuCtxSetCurrent(contexts[0]))
    grain, largest = map(int, check(cuda.cuLogicalEndpointGetLimits(wanted("UNICAST", 1, 1))))
    assert largest >= 2 * grain
    memory = [check(cuda.cuMemCreate(2 * grain, properties(at), 0)) for at in (0, 1)]
    copies = [mapped(handle, 2 * grain, device) for device, handle in enumerate(memory)]
    first = int(check(cuda.cuLogicalEndpointIdReserve(2)))
    one, both = first, first + 1
    assert cuda.cuLogicalEndpointCreate(first + 7, wanted("UNICAST", 1, grain))[0] == 1, "not reserved"
    assert cuda.cuLogicalEndpointCreate(one, wanted("UNICAST", 1, grain + 1))[0] == 1, "no multiple"
    check(cuda.cuLogicalEndpointCreate(one, wanted("UNICAST", 1, 2 * grain)))
    check(cuda.cuLogicalEndpointCreate(both, wanted("MULTICAST", 2, grain)))
    assert cuda.cuLogicalEndpointCreate(one, wanted("UNICAST", 1, grain))[0] == 1, "it names one already"
    assert cuda.cuLogicalEndpointAddDevice(one, 0)[0] == 1, "a unicast one"
    assert cuda.cuLogicalEndpointBindMem(one, 1, grain, memory[1], 0, grain, 0)[0] == 1, "not asked for yet"
    assert check(cuda.cuLogicalEndpointQuery(one, 1)) != 0
    assert check(cuda.cuLogicalEndpointQuery(one, 2)) == 0, "the second has no devices"
    for device in (0, 1):
        check(cuda.cuLogicalEndpointAddDevice(both, device))
    assert check(cuda.cuLogicalEndpointQuery(one, 2)) != 0
    check(cuda.cuLogicalEndpointBindMem(one, 1, grain, memory[1], 0, grain, 0))
    check(cuda.cuLogicalEndpointBindMem(both, 0, 0, memory[0], grain, grain, 0))
    check(cuda.cuLogicalEndpointBindAddr(both, 1, 0, copies[1] + grain, grain, 0))
    send("", one, grain)
    send(".multimem", both, 16)
    for copy in copies:
        result = np.zeros(grain // 2, np.uint32)
        check(cuda.cuMemcpyDtoH(result.ctypes.data, copy, result.nbytes))
        print(result[0], result[grain // 4], result[grain // 4 + 4])
    assert cuda.cuLogicalEndpointUnbind(one, 1, 0, grain)[0] == 1, "nothing is bound there"
    check(cuda.cuLogicalEndpointUnbind(one, 1, grain, grain))
    assert cuda.cuLogicalEndpointIdRelease(first, 2)[0] == 1, "they name endpoints"
    for number in (one, both):
        check(cuda.cuLogicalEndpointDestroy(number))
    check(cuda.cuLogicalEndpointIdRelease(first, 2))
    try:
        send("", one, grain)
    except AssertionError as problem:
        print(problem)


if __name__ == "__main__":
    main()
