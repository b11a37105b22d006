"""Physical memory that is mapped twice is one memory; without access, or unmapped, it is out of bounds."""

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def main() -> None:
    begin()
    function = kernel()
    properties = cuda.CUmemAllocationProp()
    properties.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    least = cuda.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    size = check(cuda.cuMemGetAllocationGranularity(properties, least))
    handle = check(cuda.cuMemCreate(size, properties, 0))
    first, second = (int(check(cuda.cuMemAddressReserve(size, 0, 0, 0))) for _ in range(2))
    access = cuda.CUmemAccessDesc()
    access.location = properties.location
    access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for address in (first, second):
        check(cuda.cuMemMap(address, size, 0, handle, 0))
    assert cuda.cuMemsetD32(first, 1, SIZE)[0] == 1, "no access yet"
    for address in (first, second):
        check(cuda.cuMemSetAccess(address, size, [access], 1))
    assert int(check(cuda.cuMemGetAccess(properties.location, first))) == 3
    assert cuda.cuMemMap(first, size, 0, handle, 0)[0] == 1, "mapped already"
    check(cuda.cuMemRelease(handle))
    check(cuda.cuMemsetD32(first, 6, SIZE))
    launch(function, second, first)
    result = np.empty(SIZE, np.uint32)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, second, result.nbytes))
    assert (result == 7).all()
    assert cuda.cuMemAddressFree(first, size)[0] == 1, "still mapped"
    for address in (first, second):
        check(cuda.cuMemUnmap(address, size))
        check(cuda.cuMemAddressFree(address, size))
    assert cuda.cuMemcpyDtoH(result.ctypes.data, second, result.nbytes)[0] == 1
    print("right")


if __name__ == "__main__":
    main()
