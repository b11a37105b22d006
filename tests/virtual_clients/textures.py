"""Arrays, texture and surface objects and references by the driver API; and wrong calls."""

import ctypes

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.global .texref image;
.global .surfref pixels;
.visible .entry fetch(.param .u64 handle, .param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mad.lo.u32 %r2, %r1, 8, %r0;
    mad.wide.u32 %rd2, %r2, 4, %rd2;
    tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r0, %r1}];
    st.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry by_name(.param .u64 out)
{
    .reg .b32 %r<7>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mad.lo.u32 %r2, %r1, 8, %r0;
    mad.wide.u32 %rd2, %r2, 4, %rd2;
    tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [image, {%r0, %r1}];
    st.global.u32 [%rd2], %r2;
    shl.b32 %r6, %r0, 2;
    sust.b.2d.b32.trap [pixels, {%r6, %r1}], %r2;
    ret;
}
"""
WIDTH, HEIGHT = 8, 4
TEXELS = np.arange(WIDTH * HEIGHT, dtype=np.uint32).reshape(HEIGHT, WIDTH) * 3 + 1


def array_of(flags: int = 0) -> object:
    """An array, with the texels in it."""
    made = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    made.Width, made.Height, made.Format, made.NumChannels, made.Flags = (
        WIDTH,
        HEIGHT,
        cuda.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32,
        1,
        flags,
    )
    array = check(cuda.cuArray3DCreate(made))
    copy = cuda.CUDA_MEMCPY2D()
    copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.srcPitch = TEXELS.ctypes.data, WIDTH * 4
    copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
    copy.dstArray, copy.WidthInBytes, copy.Height = array, WIDTH * 4, HEIGHT
    check(cuda.cuMemcpy2D(copy))
    return array


def contents(array: object) -> np.ndarray:
    """What is in an array."""
    found = np.zeros_like(TEXELS)
    copy = cuda.CUDA_MEMCPY2D()
    copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
    copy.srcArray = array
    copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.dstHost, copy.dstPitch, copy.WidthInBytes, copy.Height = (
        found.ctypes.data,
        WIDTH * 4,
        WIDTH * 4,
        HEIGHT,
    )
    check(cuda.cuMemcpy2D(copy))
    return found


def resource_of(array: object) -> object:
    """An array as a resource."""
    resource = cuda.CUDA_RESOURCE_DESC()
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    return resource


def launch(module: object, name: bytes, *values: int) -> np.ndarray:
    """What a kernel leaves."""
    out = check(cuda.cuMemAlloc(TEXELS.nbytes))
    function = check(cuda.cuModuleGetFunction(module, name))
    given = ((*values, int(out)), (ctypes.c_uint64,) * (len(values) + 1))
    check(cuda.cuLaunchKernel(function, 1, 1, 1, WIDTH, HEIGHT, 1, 0, 0, given, 0))
    found = np.zeros_like(TEXELS)
    check(cuda.cuMemcpyDtoH(found.ctypes.data, out, found.nbytes))
    check(cuda.cuMemFree(out))
    return found


begin()
module = check(cuda.cuModuleLoadData(PTX))
array = array_of()
how = cuda.CUDA_TEXTURE_DESC()
how.flags = 1
texture = check(cuda.cuTexObjectCreate(resource_of(array), how, None))
print("object", (launch(module, b"fetch", int(texture)) == TEXELS).all())
print(
    "described",
    int(check(cuda.cuTexObjectGetTextureDesc(texture)).flags),
    check(cuda.cuArray3DGetDescriptor(array)).Width,
)

view = cuda.CUDA_RESOURCE_VIEW_DESC()
view.format = cuda.CUresourceViewFormat.CU_RES_VIEW_FORMAT_UINT_4X8
view.width, view.height = WIDTH, HEIGHT
bytes_ = check(cuda.cuTexObjectCreate(resource_of(array), how, view))
print("view", (launch(module, b"fetch", int(bytes_)) == (TEXELS & 255)).all())

reference = check(cuda.cuModuleGetTexRef(module, b"image"))
check(cuda.cuTexRefSetArray(reference, array, 1))
check(cuda.cuTexRefSetFlags(reference, 1))
surface = check(cuda.cuModuleGetSurfRef(module, b"pixels"))
target = array_of(2)
check(cuda.cuSurfRefSetArray(surface, target, 0))
print("references", (launch(module, b"by_name") == TEXELS).all(), (contents(target) == TEXELS).all())

numbers = np.zeros(64, np.uint8)
print("a surface of an array not made for it:", int(cuda.cuSurfObjectCreate(resource_of(array))[0]))
print("a copy beyond an array:", int(cuda.cuMemcpyAtoH(numbers.ctypes.data, array, 8, 32)[0]))
print("a texture that is destroyed:", int(check((cuda.cuTexObjectDestroy(texture)[0],)) or 0))
print("a second time:", int(cuda.cuTexObjectDestroy(texture)[0]))
how.filterMode = cuda.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
print("a linear filter of integers:", int(cuda.cuTexObjectCreate(resource_of(array), how, None)[0]))
check(cuda.cuArrayDestroy(array))
print("an array a second time:", int(cuda.cuArrayDestroy(array)[0]))
made = cuda.CUDA_ARRAY3D_DESCRIPTOR()
made.Width, made.NumChannels, made.Format = 8, 3, cuda.CUarray_format.CU_AD_FORMAT_FLOAT
print("three channels:", int(cuda.cuArray3DCreate(made)[0]))
