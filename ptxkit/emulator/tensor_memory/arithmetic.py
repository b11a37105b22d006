"""The arithmetic of `tcgen05.mma`, one product at a time, as numpy blocks.

The sums follow the Blackwell rows of `tensor_cores.models`. What no text states is assumed: `scale-input-d`
multiplies D before the sum, rounded to nearest; a column shift of `.ws` takes B from that column on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.tensor_cores import Elements, Model, Scales
from ptxkit.emulator.tensor_memory.cells import TensorMemory
from ptxkit.emulator.tensor_memory.factors import (
    Factor,
    Side,
    check_numbers,
    matrix_a,
    matrix_b,
    rows_with_any,
    side_by_side,
)
from ptxkit.emulator.tensor_memory.mma_plan import SCALED, Tcgen05Plan
from ptxkit.emulator.tensor_memory.product import Placed, Tcgen05Product
from ptxkit.emulator.tensor_memory.tiles import add_products
from ptxkit.layouts.tensor_memory import LANES

SIGN = {"tf32": 1 << 31, "f16": 1 << 15, "bf16": 1 << 15, "e4m3": 1 << 7, "e5m2": 1 << 7, "e3m2": 1 << 5,
        "e2m3": 1 << 5, "e2m1": 1 << 3, "s1z4m11": 1 << 15}  # fmt: skip
INTEGERS = ("i8", "ti16")
MAGNITUDE = np.uint16(0x7FF)
"""Of an element of type s1z4m11."""


@dataclass(slots=True, eq=False)
class Arithmetic:
    """What computes products of one form. `model`: how sums round; None in plain f32, and for integers.
    `jit`: whether sums may be compiled."""

    model: Model | None
    jit: bool = False

    def run(
        self,
        product: Tcgen05Product,
        sides: Sequence[Side],
        tensor: TensorMemory,
        disabled: np.ndarray | None,
        origin: int,
        read: Sequence[Factor] | None = None,
    ) -> bool:
        """Compute D in every CTA and write it.

        Args:
            product: with all its places.
            sides: the CTA, or both of a pair, the even one first.
            tensor: the tensor memory of their batch.
            disabled: bool (CTAs, lanes), those that keep what they have; None for none.
            origin: of what becomes undefined.
            read: A of each CTA, where it has been read out of shared memory before.

        Returns:
            Whether the product added to cells that nobody had written.

        Raises:
            Senseless: sparsity metadata has no meaning.
            NoNumber: an element of type s1z4m11 has none.
        """
        plan = product.plan
        scale_a, scale_b = (
            [_scales(placed, chosen, plan, side.cta, tensor) for side in sides]
            for placed, chosen in ((product.scale_a, plan.bytes_a), (product.scale_b, plan.bytes_b))
        )
        done = 0
        if self.jit and self.model is not None and disabled is None and read is None:
            done = add_products(self.model, product, sides, tensor, (scale_a, scale_b))
            if done == len(sides):
                return False
        b = side_by_side([matrix_b(product, side, tensor) for side in sides])
        stale = False
        parts = [
            matrix_a(product, side, tensor, None if read is None else read[at])
            for at, side in enumerate(sides)
        ]
        for at, side in enumerate(sides):
            if at < done:
                continue
            where = None if disabled is None else ~disabled[at]
            scales = scale_a[at], scale_b[at]
            stale |= self._side(product, side, tensor, (parts[at], b), scales, where, origin)
        return stale

    def _side(
        self,
        product: Tcgen05Product,
        side: Side,
        tensor: TensorMemory,
        factors: tuple[list[tuple[Factor, np.ndarray | None]], Factor],
        scales: tuple[tuple[Scales, np.ndarray | None] | None, ...],
        where: np.ndarray | None,
        origin: int,
    ) -> bool:
        plan, path, n = product.plan, product.plan.path, product.plan.n
        parts, b = factors
        start, unknown, stale = _accumulator(product, side.cta, tensor, where)
        width = n // len(parts)
        results = []
        for at, (a, present) in enumerate(parts):
            columns = slice(at * width, (at + 1) * width)
            factor = Factor(b.codes[:, columns], None if b.unknown is None else b.unknown[columns])
            pair = None
            if scales[0] is not None and scales[1] is not None:
                pair = (scales[0][0].at(np.s_[:, :, None]), scales[1][0].at(np.s_[:, None, columns]))
            results.append(self._multiply(plan, a, present, factor, start[:, columns], pair))
            unknown = _spread(unknown, start.shape, a.unknown, factor.unknown, columns)
        for axis, scale in enumerate(scales):
            if scale is not None and scale[1] is not None:
                rows, columns_of = (scale[1], None) if axis == 0 else (None, scale[1])
                unknown = _spread(unknown, start.shape, rows, columns_of, slice(None))
        result = results[0] if len(results) == 1 else np.concatenate(results, axis=1)
        product.d.write(tensor.data[side.cta], result.astype(np.uint32, copy=False), where)
        _mark(product, side.cta, tensor, unknown, where, origin, (path.rows, n))
        return stale

    def _multiply(
        self,
        plan: Tcgen05Plan,
        a: Factor,
        present: np.ndarray | None,
        b: Factor,
        start: np.ndarray,
        scales: tuple[Scales, Scales] | None,
    ) -> np.ndarray:
        if plan.form.kind == "ti16":
            check_numbers(a, "A")
            check_numbers(b, "B")
        left, right = a.codes[:, :, None], b.codes[:, None]
        if plan.form.kind in INTEGERS:
            factors = _integers(left, plan.a, plan.negate_a), _integers(right, plan.b, plan.negate_b)
            total = tensor_cores.multiply_integers(*factors, start.view(np.int32), plan.saturate)
            return total.view(np.uint32)
        first = _decoded(left, plan.a, plan.negate_a)
        second = _decoded(right, plan.b, plan.negate_b)
        if present is not None:
            first.present = present[:, :, None]
        return tensor_cores.multiply(self.model, first, second, start, (plan.d, plan.d), scales, self.jit)


def arithmetic(capability: tuple[int, int], plan: Tcgen05Plan, plain: bool, jit: bool = False) -> Arithmetic:
    """What computes products of a plan on a device.

    Args:
        capability: of the device.
        plan: the plan.
        plain: in IEEE f32 along K instead.
        jit: whether sums may be compiled.

    Raises:
        Unsupported: no model of that device is known.
    """
    if plain or plan.form.kind in INTEGERS:
        return Arithmetic(None)
    element = plan.form.kind if plan.form.kind in SCALED else plan.a
    model = tensor_cores.find(capability, "tcgen05", element)
    if model is None or (plan.d == "f16" and model.zero_f16 is None):
        major, minor = capability
        raise Unsupported(f"sums of `.{element}` products on sm_{major}{minor}, of which no model is known")
    return Arithmetic(model, jit)


def _scales(
    placed: Placed | None, chosen: tuple[int, ...], plan: Tcgen05Plan, cta: int, tensor: TensorMemory
) -> tuple[Scales, np.ndarray | None] | None:
    """Scale factors (blocks, rows) and the rows of which some are undefined."""
    if placed is None or plan.scale is None:
        return None
    byte = np.array(chosen, np.uint32)
    cells = (placed.map.cells + placed.cell)[0][byte // 4]
    shifts = (byte % 4 * 8)[:, None]
    codes = (tensor.load(cta, cells) >> shifts & np.uint32(0xFF)).astype(np.uint8)
    masks = tensor.undefined(cta, cells)
    unknown = None if masks is None else rows_with_any(masks >> shifts & np.uint32(0xFF))
    return tensor_cores.decode_scales(codes, plan.scale), unknown


def _decoded(codes: np.ndarray, dtype: str, negate: bool) -> Elements:
    if negate:
        codes = codes ^ codes.dtype.type(SIGN[dtype])
    return tensor_cores.decode(codes, dtype)


def _integers(codes: np.ndarray, dtype: str, negate: bool) -> np.ndarray:
    if dtype == "s1z4m11":
        size = (codes & MAGNITUDE).astype(np.int32)
        return np.where((codes & SIGN[dtype] != 0) != negate, -size, size)
    return (codes if dtype == "u8" else codes.view(np.int8)).astype(np.int32)


# ---- D


def _accumulator(
    product: Tcgen05Product, cta: int, tensor: TensorMemory, where: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None, bool]:
    """D as it goes into the sum, its undefined elements, and whether some were never written."""
    plan = product.plan
    half = plan.d == "f16"
    if not product.operands.accumulate:
        return np.zeros((plan.path.rows, plan.n), np.uint16 if half else np.uint32), None, False
    words = product.d.read(tensor.data[cta])
    unknown: np.ndarray | None = None
    stale = False
    if tensor.defined is not None:
        written = product.d.read(tensor.defined[cta])
        unknown = np.asarray(written & np.uint32(0xFFFF) if half else written) != np.uint32(
            0xFFFF if half else 0xFFFF_FFFF
        )
        if where is not None:
            unknown &= product.d.choose(where)
        if unknown.any():
            stale = bool((unknown & (written == 0)).any())
        else:
            unknown = None
    if half:
        words = words.astype(np.uint16)
    if product.operands.scale_input:
        step = -product.operands.scale_input
        if half:
            words = (
                np.ldexp(words.view(np.float16).astype(np.float32), step).astype(np.float16).view(np.uint16)
            )
        else:
            words = np.ldexp(words.view(np.float32), step).astype(np.float32).view(np.uint32)
    return words, unknown, stale


def _spread(
    unknown: np.ndarray | None,
    shape: tuple[int, ...],
    rows: np.ndarray | None,
    columns: np.ndarray | None,
    part: slice,
) -> np.ndarray | None:
    """Undefined elements of D with those of some rows and columns."""
    if rows is None and columns is None:
        return unknown
    found = np.zeros(shape, bool) if unknown is None else unknown
    if rows is not None:
        found[:, part] |= rows[:, None]
    if columns is not None:
        found[:, part] |= columns
    return found


def _mark(
    product: Tcgen05Product,
    cta: int,
    tensor: TensorMemory,
    unknown: np.ndarray | None,
    where: np.ndarray | None,
    origin: int,
    shape: tuple[int, int],
) -> None:
    """Set which bits of D are defined."""
    if tensor.defined is None:
        return
    every = np.uint32(0xFFFF_FFFF)
    masks = np.full(shape, every) if unknown is None else np.where(unknown, np.uint32(0), every)
    product.d.write(tensor.defined[cta], masks, where)
    if unknown is not None and tensor.origins is None:
        tensor.origins = np.zeros(tensor.data.shape, np.uint32)
    if tensor.origins is not None:
        origins = np.uint32(0) if unknown is None else np.where(unknown, np.uint32(origin), np.uint32(0))
        product.d.write(tensor.origins[cta], np.broadcast_to(origins, shape), where)


def lanes_of(words: Sequence[int], ctas: int) -> np.ndarray | None:
    """`disable-output-lane` as bool (CTAs, lanes); None where no lane is disabled."""
    if not any(words):
        return None
    bits = np.unpackbits(np.array(words, np.uint32).view(np.uint8), bitorder="little")
    return bits.reshape(ctas, LANES).astype(bool)
