"""The planner of fifth-generation tensor cores: from shapes, types and swizzles to exact instructions.

    a = SharedTile(mn=128, k=64, dtype="bf16", swizzle="128B")
    b = SharedTile(mn=256, k=64, dtype="bf16", swizzle="128B")
    product = Product(a, b, d="f32")              # refuses what the hardware can't do, and says what it can
    plan = plan_mma(product)                      # plain data: descriptors, offsets, ids, accumulate flags
    emit.mma(k, plan, emit.Operands(d, a, b, more))  # statements of a kernel that `asm.build` builds

parts     what a product is made of
problem   what it may be
mma       the instructions of a product
memory    allocation, ld and st, copies of scale factors and metadata, commit
emit      plans as instructions of a kernel under construction
"""

from __future__ import annotations

from ptxkit.tcgen05 import emit
from ptxkit.tcgen05.memory import (
    allocation_columns,
    move_cells,
    plan_columns,
    plan_commit,
    plan_metadata_copy,
    plan_move,
    plan_scale_copy,
    slice_columns,
)
from ptxkit.tcgen05.mma import PlannedMma, plan_mma
from ptxkit.tcgen05.parts import LookedUpTile, TensorTile
from ptxkit.tcgen05.problem import Product

__all__ = [
    "LookedUpTile",
    "PlannedMma",
    "Product",
    "TensorTile",
    "allocation_columns",
    "emit",
    "move_cells",
    "plan_columns",
    "plan_commit",
    "plan_metadata_copy",
    "plan_mma",
    "plan_move",
    "plan_scale_copy",
    "slice_columns",
]
