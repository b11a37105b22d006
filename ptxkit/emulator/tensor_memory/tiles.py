"""Products of `tcgen05.mma` by compiled code: plain ones, whose matrices lie in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ptxkit.emulator.tensor_cores import Model, Scales, tiles
from ptxkit.emulator.tensor_memory.cells import PITCH, TensorMemory
from ptxkit.emulator.tensor_memory.factors import Side
from ptxkit.emulator.tensor_memory.operands import SharedMap, Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.product import Tcgen05Product
from ptxkit.layouts.tensor_memory import LANES

EVERY_BIT = np.uint32(0xFFFF_FFFF)
ScalesOfSides = Sequence[tuple[Scales, np.ndarray | None] | None]
"""Scale factors and the rows of which some are undefined, of each CTA."""


def add_products(
    model: Model,
    product: Tcgen05Product,
    sides: Sequence[Side],
    tensor: TensorMemory,
    scales: tuple[ScalesOfSides, ScalesOfSides],
) -> int:
    """Compute D in the CTAs of a product, as far as compiled code can. Of what it reads, bits of D included,
    none may be undefined.

    Args:
        model: of the sum.
        product: with all its places.
        sides: the CTA, or both of a pair.
        tensor: the tensor memory of their batch.
        scales: of A and of B.

    Returns:
        In how many CTAs it is done, the first ones.
    """
    if not _plain(product) or not isinstance(product.a, Tcgen05SharedOperand):
        return 0
    pieces_a, pieces_b = (_pieces(operand.map) for operand in (product.a, product.b))
    if pieces_a is None or pieces_b is None:
        return 0
    if any(one is not None and one[1] is not None for each in scales for one in each):
        return 0
    plan, first = product.plan, sides[0]
    starts_a = np.array([[side.place + product.a.start - side.start] for side in sides])
    starts_b = np.array([[side.place + product.b.start - side.start for side in sides]] * len(sides))
    factors = []
    for (places, major), starts, dtype, negate, each in (
        (pieces_a, starts_a, plan.a, plan.negate_a, scales[0]),
        (pieces_b, starts_b, plan.b, plan.negate_b, scales[1]),
    ):
        own = tuple(one[0] for one in each if one is not None)
        factors.append(tiles.TiledFactor(first.bank.data, places, starts, major, dtype, negate, own or None))
    if not tiles.fits(model, *factors):
        return 0
    if any(side.undefined(operand) for side in sides for operand in (product.a, product.b)):
        return 0
    accumulate = product.operands.accumulate
    if tensor.defined is not None:
        cells = [product.d.cells(tensor.defined[side.cta]) for side in sides] if accumulate else []
        if any(words.min() != EVERY_BIT for words in cells):
            return 0
    start = product.d.lane * PITCH + product.d.column
    places_of_d = np.array([side.cta * LANES * PITCH + start for side in sides])
    fresh = np.full(len(sides), not accumulate)
    sums = tiles.TiledSums(tensor.data.reshape(-1), places_of_d, PITCH, fresh)
    done = tiles.add(model, factors[0], factors[1], sums)
    for side in sides[:done]:
        if tensor.defined is not None and not accumulate:
            product.d.cells(tensor.defined[side.cta])[...] = EVERY_BIT
        if tensor.origins is not None:
            product.d.cells(tensor.origins[side.cta])[...] = 0
    return done


def _plain(product: Tcgen05Product) -> bool:
    """Whether D has a lane for each row of it, and nothing changes what lies in shared memory."""
    plan, path = product.plan, product.plan.path
    return (
        plan.d == "f32"
        and (path.rows, path.groups) == (LANES, 1)
        and product.metadata is None
        and product.mask is None
        and product.lut is None
        and not product.shift
        and not product.operands.scale_input
        and not any(plan.padded(dtype) or plan.stream(dtype) for dtype in (plan.a, plan.b))
    )


@lru_cache(maxsize=512)
def _pieces(found: SharedMap) -> tuple[np.ndarray, str] | None:
    """A map as pieces of bytes that lie together, and along what: (rows, pieces). None where some part."""
    if found.shift is None:
        bits = found.units * found.bits
    else:
        bits = found.units * 8 + found.shift
    each = tiles.PIECE * 8 // found.bits
    for major, rows in (("K", bits.T), ("MN", bits)):
        if rows.shape[1] % each == 0 and (major == "K" or found.bits >= 8):
            split = rows.reshape(len(rows), -1, each)
            begins = split[:, :, 0]
            together = split == begins[:, :, None] + np.arange(each) * found.bits
            if together.all() and not (begins % 8).any():
                return np.ascontiguousarray(begins // 8), major
    return None
