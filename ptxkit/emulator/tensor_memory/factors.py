"""The factors of one `tcgen05.mma`, out of shared and tensor memory, with their undefined bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator import tensor_cores
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.tensor_cores.elements import expand
from ptxkit.emulator.tensor_memory.cells import TensorMemory
from ptxkit.emulator.tensor_memory.mma_plan import Tcgen05Plan
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.product import LUT_GROUP, Placed, Tcgen05Product
from ptxkit.layouts.sparsity import MEANINGFUL

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


class NoNumber(Exception):
    """An element of type s1z4m11 of which one of the four bits that must be zero is set.

    Attributes:
        code: the element.
        row, k: where it is in its matrix.
        matrix: `A` or `B`.
    """

    def __init__(self, code: int, row: int, k: int, matrix: str) -> None:
        super().__init__("element")
        self.code, self.row, self.k, self.matrix = code, row, k, matrix


ZEROS = np.uint16(0x7800)
"""The bits of an element of type s1z4m11 that must be zero."""


@dataclass(slots=True, eq=False)
class Side:
    """A CTA that takes part in a product.

    Attributes:
        cta: its number in the batch.
        bank: the shared memory of its batch.
        start: the shared address of the first byte of a CTA's part of that.
    """

    cta: int
    bank: TiledBank
    start: int

    @property
    def place(self) -> int:
        """Where its part of the bank begins."""
        return self.cta * self.bank.stride

    @property
    def memory(self) -> np.ndarray:
        """Its shared memory."""
        return self.bank.data[self.place : self.place + self.bank.stride]

    @property
    def shadow(self) -> np.ndarray | None:
        """The undefined bits of that; None where none are tracked."""
        shadow = self.bank.shadow
        return None if shadow is None else shadow[self.place : self.place + self.bank.stride]

    def gather(self, operand: Tcgen05SharedOperand) -> tuple[np.ndarray, np.ndarray | None]:
        """The codes of an operand, and their undefined bits, if any of its bits may be."""
        return operand.map.gather(self.memory, operand.start - self.start), self._masks(operand)

    def undefined(self, operand: Tcgen05SharedOperand) -> bool:
        """Whether some bits of an operand are undefined."""
        masks = self._masks(operand)
        if masks is None:
            return False
        if masks.any():
            return True
        self.bank.found_defined()
        return False

    def _masks(self, operand: Tcgen05SharedOperand) -> np.ndarray | None:
        shadow = self.shadow
        if shadow is None or not self.bank.suspect(operand.first - self.start, operand.last - self.start):
            return None
        return operand.map.gather(shadow, operand.start - self.start)


@dataclass(slots=True)
class Factor:
    """Codes of a matrix (k, mn), and which of its rows hold undefined bits (mn,); None for none."""

    codes: np.ndarray
    unknown: np.ndarray | None


def matrix_b(product: Tcgen05Product, side: Side, tensor: TensorMemory) -> Factor:
    """B of one CTA."""
    plan = product.plan
    if product.lut is not None:
        return _looked_up(product, product.lut, side, tensor)
    found = stored_in_shared(product.b, side, plan, "b")
    if product.shift:
        found.codes = found.codes[:, product.shift :]
        found.unknown = None if found.unknown is None else found.unknown[product.shift :]
    if product.mask is not None:
        zeroed = np.array(product.mask, bool)
        found.codes = np.where(zeroed, found.codes.dtype.type(0), found.codes)
        found.unknown = None if found.unknown is None else found.unknown & ~zeroed
    return found


def check_numbers(factor: Factor, matrix: str) -> None:
    """Elements of type s1z4m11 must be numbers, undefined ones apart. Raises NoNumber."""
    wrong = factor.codes & ZEROS != 0
    if factor.unknown is not None:
        wrong &= ~factor.unknown
    if wrong.any():
        k, row = (int(i) for i in np.argwhere(wrong)[0])
        raise NoNumber(int(factor.codes[k, row]), row, k, matrix)


def side_by_side(halves: list[Factor]) -> Factor:
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


def stored_in_shared(operand: Tcgen05SharedOperand, side: Side, plan: Tcgen05Plan, name: str) -> Factor:
    """Matrix `a` or `b` as it is stored in the shared memory of a CTA."""
    dtype = plan.a if name == "a" else plan.b
    codes, masks = side.gather(operand)
    if plan.stream(dtype):
        codes = fields_of(codes, DTYPES[dtype].bits)
    if masks is None:
        return Factor(codes, None)
    return Factor(codes, rows_with_any(masks & TF32 if dtype == "tf32" else masks))


def fields_of(codes: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of some bits each that follow each other through bytes (k, rows), the lowest bits first."""
    each = np.unpackbits(codes, axis=0, bitorder="little").reshape(-1, bits, codes.shape[1])
    return np.packbits(each, axis=1, bitorder="little")[:, 0]


INDEX_BITS = 3
"""Of an index into a look-up table."""


def _looked_up(product: Tcgen05Product, lut: Placed, side: Side, tensor: TensorMemory) -> Factor:
    """B out of the tables that its indexes point into: one for every eight columns."""
    plan, first = product.plan, product.lut_segment
    used = slice(first, first + plan.k * INDEX_BITS // 8)
    codes, masks = side.gather(product.b)
    indexes = fields_of(codes[used], INDEX_BITS)
    group = np.arange(plan.columns) // LUT_GROUP
    cells = (lut.map.cells + lut.cell)[0]
    unknown = None if masks is None else rows_with_any(masks[used])
    lacking = tensor.undefined(side.cta, cells)
    if lacking is not None:
        read = rows_with_any(_entries(lacking)[indexes, group])
        unknown = read if unknown is None else unknown if read is None else unknown | read
    return Factor(_entries(tensor.load(side.cta, cells))[indexes, group], unknown)


def _entries(words: np.ndarray) -> np.ndarray:
    """The eight bytes of each table (8, tables) out of its two words (2, tables)."""
    return np.ascontiguousarray(words.T).view(np.uint8).T


def rows_with_any(masks: np.ndarray) -> np.ndarray | None:
    """For each row of a matrix (k, rows) whether any bit is set; None where none is."""
    found: np.ndarray = np.any(masks, axis=0)
    return found if found.any() else None


def matrix_a(
    product: Tcgen05Product, side: Side, tensor: TensorMemory, read: Factor | None = None
) -> list[tuple[Factor, np.ndarray | None]]:
    """A, for each part of N that has its own copy of it, and which elements are there. `read`: what has been
    read of it out of shared memory before."""
    plan = product.plan
    if isinstance(product.a, Tcgen05SharedOperand):
        stored = [stored_in_shared(product.a, side, plan, "a") if read is None else read]
    else:
        stored = _from_tensor(product.a, side.cta, tensor, plan.a)
        if plan.stream(plan.a):
            for part in stored:
                part.codes = fields_of(_bytes_of(part.codes), DTYPES[plan.a].bits)
        elif plan.form.kind in ("f8f6f4", "mxf8f6f4"):
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
    return [_dense(product, part, chosen) for part, chosen in zip(stored, nibbles, strict=True)]


def _bytes_of(words: np.ndarray) -> np.ndarray:
    """The bytes of words (k, rows), the lowest first."""
    split = np.ascontiguousarray(words.T).view(np.uint8)
    return np.ascontiguousarray(split.T)


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


def _at_one_place(codes: np.ndarray, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stored elements such that of two at one place the one that is not zero counts, and the rows in which
    neither is zero.

    Args:
        codes: (k, rows).
        where: bool (chunks, rows), the chunks whose two halves have one place.
    """
    halves = codes.reshape(len(where), 2, -1, codes.shape[1]).copy()
    first, second = halves[:, 0], halves[:, 1]
    chosen = where[:, None]
    twice: np.ndarray = (chosen & (first != 0) & (second != 0)).any(axis=(0, 1))
    halves[:, 1] = np.where(chosen & (second == 0), first, second)
    return halves.reshape(codes.shape), twice


def _dense(product: Tcgen05Product, stored: Factor, nibbles: Factor) -> tuple[Factor, np.ndarray]:
    """A with its dense K."""
    plan = product.plan
    pairs = plan.form.kind in ("mxf4", "mxf4nvf4") and plan.sparsity_version == 0
    width = 32 if plan.a == "tf32" else 4 if pairs else 8
    allowed = MEANINGFUL.get(plan.form.kind, MEANINGFUL["other"])
    bad = ~np.isin(nibbles.codes, allowed)
    if nibbles.unknown is not None:
        bad &= ~nibbles.unknown
    codes, unknown = stored.codes, stored.unknown
    if product.zeros and width != 32 and bad.any():
        none = bad & (nibbles.codes == 0)
        bad &= ~none
        codes, twice = _at_one_place(codes, none)
        unknown = twice if unknown is None else unknown | twice
    if bad.any():
        chunk, row = (int(i) for i in np.argwhere(bad)[0])
        raise Senseless(int(nibbles.codes[chunk, row]), row, chunk, allowed)
    dense, present = expand(codes, nibbles.codes, width)
    if nibbles.unknown is not None:
        unknown = nibbles.unknown if unknown is None else unknown | nibbles.unknown
    return Factor(dense, unknown), present
