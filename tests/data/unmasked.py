"""A Triton kernel that reads past its input, and what compiles it: `PYTHON tests/data/unmasked.py`.

PYTHON is one that has Triton 3.9.0. It writes unmasked.ptx beside this file, without the folder's name.
"""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def grown(value, factor):
    return value * factor + 1.0


@triton.jit
def unmasked(x, y, n, factor, BLOCK: tl.constexpr):
    """y[i] = x[i] * factor + 1 for i < n, and a load without its mask."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)
    value = grown(value, factor)
    tl.store(y + i, value, mask=i < n)


if __name__ == "__main__":
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "factor": "fp32", "BLOCK": "constexpr"}
    source = ASTSource(unmasked, types, {"BLOCK": 128})
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4})
    here = Path(__file__).resolve()
    text = made.asm["ptx"].replace(f"{here.parent}/", "")
    here.with_suffix(".ptx").write_text(text, encoding="utf-8")
