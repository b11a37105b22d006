"""C code that calls the driver while an exception of Python's is set, as destructors do: both come
through."""

import ctypes
import mmap

from bindings import check
from cuda.bindings import driver as cuda

check(cuda.cuInit(0))
library = ctypes.CDLL("libcuda.so.1")


def address(function: object) -> bytes:
    number = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert number
    return number.to_bytes(8, "little")


version = ctypes.c_int()
error = id(KeyError).to_bytes(8, "little")
where = ctypes.addressof(version).to_bytes(8, "little")
# push rbx; PyErr_SetNone(KeyError); cuDriverGetVersion(&version); pop rbx; ret
code = b"\x53\x48\xbf" + error + b"\x48\xb8" + address(ctypes.pythonapi.PyErr_SetNone) + b"\xff\xd0"
code += b"\x48\xbf" + where + b"\x48\xb8" + address(library.cuDriverGetVersion) + b"\xff\xd0\x5b\xc3"
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
call = ctypes.PYFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
for _ in range(100):
    version.value = 0
    try:
        call()
    except KeyError:
        assert version.value >= 13000
    else:
        raise AssertionError("the exception was lost")
print("right")
