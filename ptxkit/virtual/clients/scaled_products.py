"""PyTorch's `_scaled_mm` with factors of blocks, nvfp4, mxfp8 and mxfp4, which its CPU has not: by the
layouts that cuBLASLt's manual gives for such factors and elements."""

from __future__ import annotations

from types import ModuleType
from typing import Any

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The values of four bits without their sign."""
ROWS, COLUMNS = 128, 4
"""Of factors that lie together: 32 times a word of each of four rows that are 32 apart."""
ELEMENTS = {"float8_e4m3fn": 16, "float8_e8m0fnu": 32}
"""How many elements of a row share a factor of a type."""


def scaled_product(
    torch: ModuleType, plain: Any, a: Any, b: Any, scale_a: Any, scale_b: Any, *rest: Any, **named: Any
) -> Any:
    """`torch._scaled_mm`: the product of an M x K matrix by rows and a K x N matrix by columns.

    Args:
        plain: PyTorch's function, which does all other kinds of factors.

    Raises:
        RuntimeError: a bias, or a factor of the result.
    """
    count = ELEMENTS.get(str(scale_a.dtype).removeprefix("torch."))
    if count is None:
        return plain(a, b, scale_a, scale_b, *rest, **named)
    if rest or named.get("bias") is not None or named.get("scale_result") is not None:
        raise RuntimeError("torch._scaled_mm with factors of blocks has no bias on a virtual GPU")
    left, right = _values(torch, a), _values(torch, b.transpose(0, 1))
    left *= _factors(torch, scale_a, count, left.shape)
    right *= _factors(torch, scale_b, count, right.shape)
    return (left @ right.transpose(0, 1)).to(named.get("out_dtype") or torch.bfloat16)


def _values(torch: ModuleType, matrix: Any) -> Any:
    """The elements in double precision; of two in a byte the lower bits are the first."""
    if matrix.dtype.itemsize != 1 or "x2" not in str(matrix.dtype):
        return matrix.to(torch.float64)
    table = torch.tensor([*E2M1, *(-value for value in E2M1)], dtype=torch.float64)
    pairs = matrix.contiguous().view(torch.uint8).to(torch.int64)
    return table[torch.stack((pairs & 15, pairs >> 4), -1)].flatten(1)


def _factors(torch: ModuleType, factors: Any, count: int, shape: tuple[int, int]) -> Any:
    """The factor of each element of a matrix."""
    rows, columns = shape
    wide = -(-columns // count)
    blocks = -(-rows // ROWS), -(-wide // COLUMNS)
    parts = factors.flatten().to(torch.float64).view(*blocks, 32, ROWS // 32, COLUMNS)
    whole = parts.permute(0, 3, 2, 1, 4).reshape(blocks[0] * ROWS, blocks[1] * COLUMNS)
    return whole[:rows, :wide].repeat_interleave(count, 1)[:, :columns]
