"""Products of matrices that lie in memory, added to D in place by compiled code: see `tile_code`.

What that code isn't sure of is left to numpy, which is the definition, as in `compiled`.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator.tensor_cores import compiled
from ptxkit.emulator.tensor_cores.elements import SPECIAL, Scales, decode
from ptxkit.emulator.tensor_cores.fused import parts_of
from ptxkit.emulator.tensor_cores.models import Model, Order

PIECE = 16
"""Bytes that lie together."""
BITS = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m1": 4}
"""Of an element, by its type: those whose elements fill the bytes that they take."""

_seen: Counter[Any] = Counter()


@dataclass(frozen=True, slots=True, eq=False)
class TiledFactor:
    """One factor of some products.

    Attributes:
        data: uint8, the memory.
        places: int64 (rows, pieces), where each `PIECE` bytes of a matrix lie from its origin on. Rows go
            along MN where `major` is `K`, else along K.
        origins: int64 (products, parts), where matrices begin; those of a product lie side by side along MN.
        major: `K` or `MN`.
        dtype: of the elements.
        negated: whether signs are flipped.
        scales: the scale factors (blocks along K, rows) of each product; None for none.
    """

    data: np.ndarray
    places: np.ndarray
    origins: np.ndarray
    major: str
    dtype: str
    negated: bool = False
    scales: tuple[Scales, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Elements along MN, of all parts, and along K."""
        rows, pieces = self.places.shape
        along = pieces * PIECE * 8 // BITS[self.dtype]
        parts = self.origins.shape[1]
        return (rows * parts, along) if self.major == "K" else (along * parts, rows)


@dataclass(frozen=True, slots=True, eq=False)
class TiledSums:
    """D of some products, raw, and what is added to.

    Attributes:
        data: uint32 for f32, uint16 for f16; contiguous.
        places: int64 (products,), where D of each begins, in elements.
        pitch: elements from a row to the next.
        fresh: bool (products,), those that start from zero.
    """

    data: np.ndarray
    places: np.ndarray
    pitch: int
    fresh: np.ndarray


def fits(model: Model | None, a: TiledFactor, b: TiledFactor) -> bool:
    """Whether compiled code can add such products."""
    if model is None or model.order is not Order.ASCENDING or not {a.dtype, b.dtype} <= BITS.keys():
        return False
    (m, k), (n, depth) = a.shape, b.shape
    scaled = a.scales is not None
    return (
        k == depth
        and k % model.step == 0
        and n % compiled.WIDTHS[-1] == 0
        and m * k % PIECE == n * k % PIECE == 0
        and (model.group == 1 or scaled)
        and (not scaled or a.major == b.major == "K")
    )


def add(model: Model, a: TiledFactor, b: TiledFactor, sums: TiledSums) -> int:
    """Add products to D.

    Args:
        model: of the sum.
        a, b: the factors, which `fits` has seen.
        sums: D.

    Returns:
        How many of the products have been added, the first ones.
    """
    (m, k), n = a.shape, b.shape[0]
    result = "f16" if sums.data.itemsize == 2 else "f32"
    count = len(sums.places)
    kind = (model, result, m, n, k, a.dtype, b.dtype)
    if _seen[kind] < compiled.WORTH:
        _seen[kind] += m * n * k * count
        if _seen[kind] < compiled.WORTH:
            return 0
    if any(scale.nan is not None for side in (a, b) for scale in side.scales or ()):
        return 0
    from ptxkit.emulator.native import address, compiler
    from ptxkit.emulator.tensor_cores.tile_code import FIELDS

    if result == "f16" and not compiler().halves:
        return 0
    width = next(width for width in compiled.WIDTHS if n % width == 0)
    held: list[Any] = []

    def at(array: np.ndarray) -> int:
        held.append(array)
        return address(array)

    total, decoded = _room(m, n, k, sums.data.dtype.str)
    values = {
        "tiles": count, "d": at(sums.data), "d tiles": at(sums.places), "d row": sums.pitch,
        "fresh": at(sums.fresh.view(np.uint8)), "sums": at(total),
    }  # fmt: skip
    operands = []
    for name, side, own in zip("ab", (a, b), decoded, strict=True):
        numbers, levels = _table(side.dtype, side.negated)
        values |= {
            f"{name} data": at(side.data), f"{name} origins": at(side.origins),
            f"{name} places": at(side.places), f"{name} numbers": at(numbers), f"{name} levels": at(levels),
            f"{name} values": at(own[0]), f"{name} exponents": at(own[1]),
        }  # fmt: skip
        blocks = 0
        if side.scales is not None:
            factors, shifts = _laid(side.scales, width if name == "b" else 1, model.group > 1)
            values |= {f"{name} significands": at(factors), f"{name} scales": at(shifts)}
            blocks = len(side.scales[0].exponents)
        rows = m if name == "a" else n
        parts = side.origins.shape[1]
        operands.append((rows, side.major, BITS[side.dtype], parts, blocks, side.dtype != "bf16"))
    step = model.step
    groups = step // model.group if model.group > 1 else 0
    steps = k // step
    shape = (
        width, False, True, step, 1 if groups else parts_of(step, model), model.fraction, model.bits,
        model.zero_exponent(result), result == "f16", groups,
        *((operand[4] // steps if groups else 0) for operand in operands),
    )  # fmt: skip
    words = np.array([values.get(field, 0) for field in FIELDS], np.int64)
    done: int = _function(shape, k, *operands)(address(words))
    return done


@cache
def _function(shape: tuple[Any, ...], k: int, a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """The function of a `TileShape`."""
    from ptxkit.emulator.native import compiler
    from ptxkit.emulator.tensor_cores.sum_code import SumShape
    from ptxkit.emulator.tensor_cores.tile_code import TileOperand, TileShape, tile_code

    whole = TileShape(SumShape(*shape), k, TileOperand(*a), TileOperand(*b))
    return compiler().function(tile_code(whole), compiled.KIND)


class _Rooms(threading.local):
    """Arrays that code works in, by shape and type: each thread has its own, for code lets others run."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, int, str], tuple[np.ndarray, list[tuple[Any, Any]]]] = {}

    def __call__(self, m: int, n: int, k: int, kind: str) -> tuple[np.ndarray, list[tuple[Any, Any]]]:
        """Room for the sums of a tile, and for each of its factors; one product is added at a time."""
        found = self.known.get((m, n, k, kind))
        if found is None:
            sides = [(np.empty(rows * k, np.float32), np.empty(rows * k, np.int16)) for rows in (m, n)]
            found = self.known[m, n, k, kind] = np.empty(m * n, kind), sides
        return found


_room = _Rooms()


@cache
def _table(dtype: str, negated: bool) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and exponents by codes."""
    found = decode(np.arange(1 << BITS[dtype]), dtype)
    exponents = found.exponents.copy()
    if found.special is not None:
        exponents[~np.isfinite(found.special)] = SPECIAL
    return -found.values if negated else found.values, exponents


def _laid(scales: tuple[Scales, ...], width: int, split: bool) -> tuple[np.ndarray, np.ndarray]:
    """The scale factors of some products: one row, or `width` columns, after the other, each with its blocks
    along K. `split`: as significands and exponents, else whole numbers and exponents."""
    exponents = np.stack([scale.exponents for scale in scales])
    significands = np.stack([scale.significands for scale in scales])
    if not split:
        significands = np.ldexp(significands, exponents)
    made = []
    for array, kind in ((significands, np.float32), (exponents, np.int16)):
        count, blocks, rows = array.shape
        columns = array.reshape(count, blocks, rows // width, width).transpose(0, 2, 1, 3)
        made.append(np.ascontiguousarray(columns, kind))
    return made[0], made[1]
