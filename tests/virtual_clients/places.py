"""Pools of the host's, of managed memory and of a device's; what was said of managed memory."""

import ctypes

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

PINNED, MANAGED = cuda.CUmemAllocationType(1), cuda.CUmemAllocationType(2)
INVALID = cuda.CUresult.CUDA_ERROR_INVALID_VALUE


def location(kind: int, number: int = 0) -> cuda.CUmemLocation:
    place = cuda.CUmemLocation()
    place.type, place.id = cuda.CUmemLocationType(kind), number
    return place


def pool(kind: object, place: cuda.CUmemLocation) -> object:
    properties = cuda.CUmemPoolProps()
    properties.allocType, properties.location = kind, place
    return check(cuda.cuMemPoolCreate(properties))


def pools() -> None:
    """A kernel reaches what the host wrote, and the host what it wrote, without a copy."""
    function, stream = kernel(), check(cuda.cuStreamCreate(1))
    for kind, place in ((PINNED, location(2)), (PINNED, location(3)), (MANAGED, location(0))):
        made = pool(kind, place)
        x, y = (check(cuda.cuMemAllocFromPoolAsync(4 * SIZE, made, stream)) for _ in range(2))
        check(cuda.cuStreamSynchronize(stream))
        numbers = [np.ctypeslib.as_array((ctypes.c_uint32 * SIZE).from_address(int(at))) for at in (x, y)]
        numbers[0][:] = range(SIZE)
        launch(function, x, y, stream)
        check(cuda.cuStreamSynchronize(stream))
        assert (numbers[1] == numbers[0] + 1).all()
        wanted = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
        assert check(cuda.cuPointerGetAttribute(wanted, x)) == (kind == MANAGED)
        check(cuda.cuMemFreeAsync(x, stream))
        check(cuda.cuMemFreeAsync(y, stream))
        check(cuda.cuStreamSynchronize(stream))
        check(cuda.cuMemPoolDestroy(made))
    check(cuda.cuMemFreeAsync(check(cuda.cuMemAllocAsync(0, stream)), stream))
    check(cuda.cuMemFreeAsync(0, stream))
    for place in (location(1), location(2)):
        default = check(cuda.cuMemGetDefaultMemPool(place, PINNED))
        own = pool(PINNED, place)
        check(cuda.cuMemSetMemPool(place, PINNED, own))
        assert int(check(cuda.cuMemGetMemPool(place, PINNED))) == int(own)
        check(cuda.cuMemPoolDestroy(own))
        assert int(check(cuda.cuMemGetMemPool(place, PINNED))) == int(default)
    assert int(check(cuda.cuDeviceGetMemPool(0))) == int(check(cuda.cuMemGetMemPool(location(1), PINNED)))
    assert cuda.cuMemSetMemPool(location(1), PINNED, default)[0] == INVALID


def advice() -> None:
    """What was said is told again."""
    address = check(cuda.cuMemAllocManaged(4096, 1))
    attribute, said = cuda.CUmem_range_attribute, cuda.CUmem_advise

    def told(which: object, size: int = 4) -> object:
        return check(cuda.cuMemRangeGetAttribute(size, which, address, 4096))

    prefers = attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
    assert told(prefers) == -2
    check(cuda.cuMemAdvise(address, 4096, said.CU_MEM_ADVISE_SET_READ_MOSTLY, location(1)))
    check(cuda.cuMemAdvise(address, 4096, said.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(2)))
    check(cuda.cuMemAdvise(address, 4096, said.CU_MEM_ADVISE_SET_ACCESSED_BY, location(2)))
    check(cuda.cuMemAdvise(address, 4096, said.CU_MEM_ADVISE_SET_ACCESSED_BY, location(1)))
    check(cuda.cuMemPrefetchAsync(address, 4096, location(1), 0, 0))
    assert told(attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 1
    assert told(prefers) == -1
    assert told(attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION) == 0
    assert list(told(attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, 12)) == [0, -1, -2]
    waits = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    for value in (True, False):
        check(cuda.cuPointerSetAttribute(value, waits, address))
        assert check(cuda.cuPointerGetAttribute(waits, address)) == value
    check(cuda.cuMemAdvise(address, 4096, said.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, location(2)))
    assert told(prefers) == -2
    wrong = cuda.CUresult.CUDA_ERROR_INVALID_DEVICE
    assert cuda.cuMemPrefetchAsync(address, 4096, location(1, 5), 0, 0)[0] == wrong
    assert cuda.cuMemPrefetchAsync(address, 8192, location(1), 0, 0)[0] == INVALID


begin()
pools()
advice()
print("right")
