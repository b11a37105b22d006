"""Factors of A's and B's elements. cuBLAS's manual, `cublasLtMatmulMatrixScale_t`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxkit.dtypes import numpy_dtype
from ptxkit.layouts.scales import blocked_size, from_blocked
from ptxkit.virtual.blas.memory import DeviceAccess, MemoryLines

SCALAR, BLOCKS_16, BLOCKS_32, OUTER_VECTOR = 0, 1, 2, 3
"""One factor; one of UE4M3 for 16 elements, one of UE8M0 for 32, one for each row of A or column of B."""
BLOCKS = {BLOCKS_16: (16, "ue4m3"), BLOCKS_32: (32, "ue8m0")}
"""Elements of a block, and the type of its factor."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """The factors of a matrix.

    Attributes:
        mode: which it has.
        address: where they are.
    """

    mode: int
    address: int

    def factors(self, access: DeviceAccess, name: str, outer: int, inner: int) -> np.ndarray:
        """What to multiply `outer` x `inner` elements by, of which the inner dimension is summed over."""
        what = f"the scale of {name}"
        if self.mode in BLOCKS:
            block, kind = BLOCKS[self.mode]
            count = -(-inner // block)
            raw = access.take(MemoryLines(what, self.address, blocked_size(outer, count)))[0]
            if kind == "ue4m3":
                raw = raw & 0x7F
            found = from_blocked(raw, outer, count).view(numpy_dtype(kind)).astype(np.float64)
            return found.repeat(block, axis=1)[:, :inner]
        count = outer if self.mode == OUTER_VECTOR else 1
        vector = access.take(MemoryLines(what, self.address, 4 * count, element=4)).view(np.float32)
        return vector.astype(np.float64).T
