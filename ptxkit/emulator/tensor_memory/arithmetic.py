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
from ptxkit.emulator.tensor_cores.sparsity import expand
from ptxkit.emulator.tensor_memory.cells import TensorMemory
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.product import SCALED, Placed, Tcgen05Plan, Tcgen05Product
from ptxkit.layouts.sparsity import MEANINGFUL
from ptxkit.layouts.tensor_memory import LANES

SIGN = {"tf32": 1 << 31, "f16": 1 << 15, "bf16": 1 << 15, "e4m3": 1 << 7, "e5m2": 1 << 7, "e3m2": 1 << 5,
        "e2m3": 1 << 5, "e2m1": 1 << 3}  # fmt: skip
TF32 = np.uint32(0xFFFFE000)
"""The bits of a 32-bit element that count."""


class Senseless(Exception):
    """Metadata that means nothing.

    Attributes:
        nibble: what was found.
        row, chunk: where, in rows of the CTA's part of A.
        allowed: what would mean something.
    """

    def __init__(self, nibble: int, row: int, chunk: int, allowed: tuple[int, ...]) -> None:
        super().__init__("metadata")
        self.nibble, self.row, self.chunk, self.allowed = nibble, row, chunk, allowed


@dataclass(slots=True, eq=False)
class Side:
    """A CTA that takes part in a product.

    Attributes:
        cta: its number in the batch.
        memory: its shared memory.
        shadow: the undefined bits of it; None where none are tracked or all of it is defined.
        start: the shared address of the first byte of `memory`.
    """

    cta: int
    memory: np.ndarray
    shadow: np.ndarray | None
    start: int


@dataclass(slots=True)
class Factor:
    """Codes of a matrix (k, mn), and which of its rows hold undefined bits (mn,); None for none."""

    codes: np.ndarray
    unknown: np.ndarray | None


@dataclass(slots=True, eq=False)
class Arithmetic:
    """What computes products of one form.

    Attributes:
        model: how sums round; None in plain f32, and for integers.
    """

    model: Model | None

    def run(
        self,
        product: Tcgen05Product,
        sides: Sequence[Side],
        tensor: TensorMemory,
        disabled: np.ndarray | None,
        origin: int,
    ) -> bool:
        """Compute D in every CTA and write it.

        Args:
            product: with all its places.
            sides: the CTA, or both of a pair, the even one first.
            tensor: the tensor memory of their batch.
            disabled: bool (CTAs, lanes), those that keep what they have; None for none.
            origin: of what becomes undefined.

        Returns:
            Whether the product added to cells that nobody had written.

        Raises:
            Senseless: sparsity metadata has no meaning.
        """
        plan = product.plan
        b = _join([_matrix_b(product, side) for side in sides])
        scale_b = [_scales(product.scale_b, plan.bytes_b, plan, side.cta, tensor) for side in sides]
        stale = False
        for at, side in enumerate(sides):
            where = None if disabled is None else ~disabled[at]
            scale_a = _scales(product.scale_a, plan.bytes_a, plan, side.cta, tensor)
            stale |= self._side(product, side, tensor, b, (scale_a, scale_b[at]), where, origin)
        return stale

    def _side(
        self,
        product: Tcgen05Product,
        side: Side,
        tensor: TensorMemory,
        b: Factor,
        scales: tuple[tuple[Scales, np.ndarray | None] | None, ...],
        where: np.ndarray | None,
        origin: int,
    ) -> bool:
        plan, path, n = product.plan, product.plan.path, product.plan.n
        parts = _matrix_a(product, side, tensor)
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
        left, right = a.codes[:, :, None], b.codes[:, None]
        if plan.form.kind == "i8":
            factors = _integers(left, plan.a), _integers(right, plan.b)
            total = tensor_cores.multiply_integers(*factors, start.view(np.int32), plan.saturate)
            return total.view(np.uint32)
        first = _decoded(left, plan.a, plan.negate_a)
        second = _decoded(right, plan.b, plan.negate_b)
        if present is not None:
            first.present = present[:, :, None]
        return tensor_cores.multiply(self.model, first, second, start, (plan.d, plan.d), scales)


def arithmetic(capability: tuple[int, int], plan: Tcgen05Plan, plain: bool) -> Arithmetic:
    """What computes products of a plan on a device.

    Args:
        capability: of the device.
        plan: the plan.
        plain: in IEEE f32 along K instead.

    Raises:
        Unsupported: no model of that device is known.
    """
    if plain or plan.form.kind == "i8":
        return Arithmetic(None)
    element = plan.form.kind if plan.form.kind in SCALED else plan.a
    model = tensor_cores.find(capability, "tcgen05", element)
    if model is None or (plan.d == "f16" and model.zero_f16 is None):
        major, minor = capability
        raise Unsupported(f"sums of `.{element}` products on sm_{major}{minor}, of which no model is known")
    return Arithmetic(model)


# ---- operands


def _matrix_b(product: Tcgen05Product, side: Side) -> Factor:
    plan = product.plan
    found = _from_shared(product.b, side, plan.b)
    if product.shift:
        found.codes = found.codes[:, product.shift :]
        found.unknown = None if found.unknown is None else found.unknown[product.shift :]
    if product.mask is not None:
        zeroed = np.array(product.mask, bool)
        found.codes = np.where(zeroed, found.codes.dtype.type(0), found.codes)
        found.unknown = None if found.unknown is None else found.unknown & ~zeroed
    return found


def _join(halves: list[Factor]) -> Factor:
    """B of both CTAs of a pair side by side."""
    if len(halves) == 1:
        return halves[0]
    unknown = None
    if any(half.unknown is not None for half in halves):
        parts = [
            np.zeros(half.codes.shape[1], bool) if half.unknown is None else half.unknown for half in halves
        ]
        unknown = np.concatenate(parts)
    return Factor(np.concatenate([half.codes for half in halves], axis=1), unknown)


def _from_shared(operand: Tcgen05SharedOperand, side: Side, dtype: str) -> Factor:
    at = operand.start - side.start
    codes = operand.map.gather(side.memory, at)
    if side.shadow is None:
        return Factor(codes, None)
    masks = operand.map.gather(side.shadow, at)
    return Factor(codes, _some(masks & TF32 if dtype == "tf32" else masks))


def _some(masks: np.ndarray) -> np.ndarray | None:
    """For each row of a matrix (k, rows) whether any bit is set; None where none is."""
    found: np.ndarray = np.any(masks, axis=0)
    return found if found.any() else None


def _matrix_a(
    product: Tcgen05Product, side: Side, tensor: TensorMemory
) -> list[tuple[Factor, np.ndarray | None]]:
    """A, for each part of N that has its own copy of it, and which elements are there."""
    plan = product.plan
    if isinstance(product.a, Tcgen05SharedOperand):
        stored = [_from_shared(product.a, side, plan.a)]
    else:
        stored = _from_tensor(product.a, side.cta, tensor, plan.a)
        if plan.form.kind in ("f8f6f4", "mxf8f6f4"):
            for part in stored:
                part.codes = tensor_cores.container(part.codes, plan.a)
        if plan.form.ashift:
            for part in stored:
                part.codes = _one_down(part.codes)
    if product.metadata is None:
        return [(part, None) for part in stored]
    nibbles = _from_tensor(product.metadata, side.cta, tensor, "e2m1")
    if len(nibbles) != len(stored):
        both = max(len(nibbles), len(stored))
        stored, nibbles = stored * (both // len(stored)), nibbles * (both // len(nibbles))
    return [_dense(plan, part, chosen) for part, chosen in zip(stored, nibbles, strict=True)]


def _one_down(codes: np.ndarray) -> np.ndarray:
    """`.ashift`: every row but the last takes the next one's place."""
    shifted: np.ndarray = np.concatenate([codes[:, 1:], codes[:, -1:]], axis=1)
    return shifted


def _from_tensor(operand: Placed, cta: int, tensor: TensorMemory, dtype: str) -> list[Factor]:
    """A matrix for each of its copies; one where all are alike."""
    cells = operand.map.cells + operand.cell
    codes = operand.map.pick(tensor.load(cta, cells))
    masks = tensor.undefined(cta, cells)
    unknown: np.ndarray | None = None
    if masks is not None:
        masks = operand.map.pick(masks)
        unknown = np.any(masks & TF32 if dtype == "tf32" else masks, axis=1)
    copies = [
        Factor(part, None if unknown is None or not unknown[at].any() else unknown[at])
        for at, part in enumerate(codes)
    ]
    if len(copies) > 1 and unknown is None and (codes[1:] == codes[:1]).all():
        return copies[:1]
    return copies


def _dense(plan: Tcgen05Plan, stored: Factor, nibbles: Factor) -> tuple[Factor, np.ndarray]:
    """A with its dense K."""
    width = 32 if plan.a == "tf32" else 4 if plan.form.kind in ("mxf4", "mxf4nvf4") else 8
    allowed = MEANINGFUL.get(plan.form.kind, MEANINGFUL["other"])
    bad = ~np.isin(nibbles.codes, allowed)
    if nibbles.unknown is not None:
        bad &= ~nibbles.unknown
    if bad.any():
        chunk, row = (int(i) for i in np.argwhere(bad)[0])
        raise Senseless(int(nibbles.codes[chunk, row]), row, chunk, allowed)
    dense, present = expand(stored.codes, nibbles.codes, width)
    unknown = stored.unknown
    if nibbles.unknown is not None:
        unknown = nibbles.unknown if unknown is None else unknown | nibbles.unknown
    return Factor(dense, unknown), present


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
    unknown = None if masks is None else _some(masks >> shifts & np.uint32(0xFF))
    return tensor_cores.decode_scales(codes, plan.scale), unknown


def _decoded(codes: np.ndarray, dtype: str, negate: bool) -> Elements:
    if negate:
        codes = codes ^ codes.dtype.type(SIGN[dtype])
    return tensor_cores.decode(codes, dtype)


def _integers(codes: np.ndarray, dtype: str) -> np.ndarray:
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
