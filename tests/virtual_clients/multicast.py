"""A multicast object of two devices: what wrong calls return, and kernels of both that use it.

Prints what each copy has in the end. `multicast.py memory`: bound by handles; `address`: by an address;
`late`: copies are mapped when the kernels have ended; `barred`: one device has no access.
"""

import sys
from typing import Any

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda

PTX = b"""
.version 8.1
.target sm_90
.address_size 64
.visible .entry add(.param .u64 all, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [all];
    ld.param.u32 %r1, [value];
    multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;
    multimem.red.relaxed.sys.global.add.u32 [%rd1+0x200000], %r1;
    ret;
}
\0"""
MINIMUM = cuda.CUmulticastGranularity_flags.CU_MULTICAST_GRANULARITY_MINIMUM


def properties(device: int) -> Any:
    """Those of physical memory of a device."""
    made = cuda.CUmemAllocationProp()
    made.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    made.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    made.location.id = device
    return made


def mapped(handle: Any, size: int, *devices: int) -> int:
    """Where something is mapped, and some devices have access."""
    address = int(check(cuda.cuMemAddressReserve(size, 0, 0, 0)))
    check(cuda.cuMemMap(address, size, 0, handle, 0))
    for device in devices:
        access = cuda.CUmemAccessDesc()
        access.location = properties(device).location
        access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        check(cuda.cuMemSetAccess(address, size, [access], 1))
    return address


def main(how: str) -> None:
    check(cuda.cuInit(0))
    contexts = [check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(at)))) for at in (0, 1)]
    check(cuda.cuCtxSetCurrent(contexts[0]))
    wanted = cuda.CUmulticastObjectProp()
    wanted.numDevices = 2
    wanted.size = 1
    supported = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
    assert check(cuda.cuDeviceGetAttribute(supported, 0)) == 1
    grain = check(cuda.cuMulticastGetGranularity(wanted, MINIMUM))
    assert cuda.cuMulticastCreate(wanted)[0] == 1, "no multiple of the granularity"
    wanted.size = size = 2 * grain
    wanted.numDevices = 3
    assert cuda.cuMulticastCreate(wanted)[0] == 1, "more devices than there are"
    wanted.numDevices = 2
    team = check(cuda.cuMulticastCreate(wanted))
    memory = [check(cuda.cuMemCreate(size, properties(at), 0)) for at in (0, 1)]
    check(cuda.cuMulticastAddDevice(team, 0))
    assert cuda.cuMulticastAddDevice(team, 0)[0] == 1, "it has joined already"
    assert cuda.cuMulticastAddDevice(team, 2)[0] == 101, "no such device"
    assert cuda.cuMulticastBindMem(team, 0, memory[0], 0, size, 0)[0] == 401, "the team is not complete"
    check(cuda.cuMulticastAddDevice(team, 1))
    assert cuda.cuMulticastBindMem(team, 0, memory[0], 0, grain // 2, 0)[0] == 1, "half a granule"
    assert cuda.cuMulticastBindMem(team, grain, memory[0], 0, size, 0)[0] == 1, "beyond the object"
    assert cuda.cuMulticastBindMem(team, 0, memory[0], 0, size, 1)[0] == 1, "flags"
    check(cuda.cuMulticastBindMem(team, 0, memory[0], 0, size, 0))
    assert cuda.cuMulticastBindMem(team, grain, memory[0], 0, grain, 0)[0] == 1, "bound already"
    copies = [mapped(handle, size, device) for device, handle in enumerate(memory) if how != "late"]
    if how == "address":
        check(cuda.cuMulticastBindAddr(team, 0, copies[1], size, 0))
    else:
        check(cuda.cuMulticastBindMem(team, 0, memory[1], 0, grain, 0))
        check(cuda.cuMulticastBindMem(team, grain, memory[1], grain, grain, 0))
    everywhere = mapped(team, size, *((0, 1) if how != "barred" else (0,)))
    for copy in copies:
        check(cuda.cuMemsetD32(copy, 0, size // 4))
    check(cuda.cuCtxSynchronize())
    for at, context in enumerate(contexts):
        check(cuda.cuCtxSetCurrent(context))
        kernel = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(PTX)), b"add"))
        stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING))
        held = [np.array([everywhere], np.uint64), np.array([at + 1], np.uint32)]
        pointers = np.array([one.ctypes.data for one in held], np.uint64)
        check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, pointers.ctypes.data, 0))
    for context in contexts:
        check(cuda.cuCtxSetCurrent(context))
        code = cuda.cuCtxSynchronize()[0]
        if code:
            print(code.name)
            return
    if how == "late":
        copies = [mapped(handle, size, device) for device, handle in enumerate(memory)]
    for copy in copies:
        for offset in (0, grain):
            result = np.zeros(1, np.uint32)
            check(cuda.cuMemcpyDtoH(result.ctypes.data, copy + offset, 4))
            print(result[0])
    assert cuda.cuMulticastUnbind(team, 0, grain, grain)[0] == 1, "it was bound as one"
    check(cuda.cuMulticastUnbind(team, 0, 0, size))
    check(cuda.cuMemUnmap(everywhere, size))
    check(cuda.cuMemAddressFree(everywhere, size))
    check(cuda.cuMemRelease(team))
    assert cuda.cuMulticastAddDevice(team, 0)[0] == 1, "it is gone"
    for handle, copy in zip(memory, copies, strict=True):
        check(cuda.cuMemRelease(handle))
        check(cuda.cuMemUnmap(copy, size))


if __name__ == "__main__":
    main(sys.argv[1])
