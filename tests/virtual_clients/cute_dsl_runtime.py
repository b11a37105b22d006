"""The runtime library of CuTe DSL as its host code calls it: a launch of `next`, and an error's name."""

import ctypes
import struct

from kernels import NEXT, SIZE

runtime = ctypes.CDLL("libcute_dsl_runtime.so")
library, kernel, word = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
x, y = ctypes.c_void_p(), ctypes.c_void_p()
host = (ctypes.c_uint32 * SIZE)(*range(SIZE))
for place in (x, y):
    assert runtime._cudaMalloc(ctypes.byref(place), ctypes.c_size_t(4 * SIZE)) == 0
assert runtime._cudaMemcpy(x, host, ctypes.c_size_t(4 * SIZE), 1) == 0

assert runtime._cudaLibraryLoadData(ctypes.byref(library), NEXT, None, None, 0, None, None, 0) == 0
assert runtime._cudaLibraryGetKernel(ctypes.byref(kernel), library, b"next") == 0
assert runtime._cuKernelGetAttribute(ctypes.byref(word), 1, kernel, 0) == 0
assert runtime._cudaFuncSetAttribute(kernel, 8, 1024) == 0
attribute = struct.pack("<i4x64s", 4, struct.pack("<3I", 2, 1, 1))  # a cluster of two
attributes = ctypes.create_string_buffer(attribute, len(attribute))
configuration = struct.pack("<3I3IQQQI4x", 4, 1, 1, 256, 1, 1, 0, 0, ctypes.addressof(attributes), 1)
given = (ctypes.c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(y))
assert runtime._cudaLaunchKernelEx(configuration, kernel, given) == 0
assert runtime._cudaMemcpy(host, y, ctypes.c_size_t(4 * SIZE), 2) == 0
assert list(host) == list(range(1, SIZE + 1))

runtime.cuda_dialect_get_error_name.restype = ctypes.c_char_p
print(runtime.cuda_dialect_get_error_name(runtime._cudaSetDevice(7)).decode())
