"""A result that a kernel makes of memory that nobody wrote."""

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

begin()
x, y = (check(cuda.cuMemAlloc(4 * SIZE)) for _ in range(2))
check(cuda.cuMemsetD32(x, 1, SIZE // 2))
launch(kernel(), x, y)
result = np.empty(SIZE, np.uint32)
check(cuda.cuMemcpyDtoH(result.ctypes.data, y, 2 * SIZE))
print((result[: SIZE // 2] == 2).all())
check(cuda.cuMemcpyDtoH(result.ctypes.data, y, 4 * SIZE))
