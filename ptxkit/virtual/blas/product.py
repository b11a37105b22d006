"""A matrix product as work of a stream: D = epilogue(alpha op(A) op(B) + beta C), for each of a batch.

numpy computes in double precision (complex numbers: twice that; integers exactly); results are rounded to
fp32, then to the type of D. So bits are not those of NVIDIA's library, whose order of summation is its own.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ptxkit.virtual.blas.memory import DeviceAccess, MemoryLines
from ptxkit.virtual.blas.scaling import Scaling
from ptxkit.virtual.blas.types import CudaType, Values
from ptxkit.virtual.calling import NOWHERE, HostStack
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.reported import ReportedWork
from ptxkit.virtual.gpu.work import Work

POINTER = 8
"""Bytes of one."""


@dataclass(frozen=True, slots=True)
class BlasMatrix:
    """A batch of matrices in memory.

    Attributes:
        name: `A`.
        type: of its elements.
        rows, columns: of each.
        ld: elements from column to column; where it lies by rows, from row to row.
        address: of the first; of an array of their addresses where `pointers` says so.
        stride: elements from one of the batch to the next.
        pointers: whether each has an address of its own.
        by_rows: whether rows are contiguous, not columns.
    """

    name: str
    type: CudaType
    rows: int
    columns: int
    ld: int
    address: int
    stride: int = 0
    pointers: bool = False
    by_rows: bool = False

    @property
    def lines(self) -> int:
        """How many columns there are; where it lies by rows, how many rows."""
        return self.rows if self.by_rows else self.columns

    @property
    def length(self) -> int:
        """Elements of a line."""
        return self.columns if self.by_rows else self.rows

    def stretch(self, access: DeviceAccess, batch: int) -> MemoryLines:
        """Where one of the batch lies."""
        bits = self.type.bits
        at = self.address + batch * self.stride * bits // 8
        if self.pointers:
            told = f"the array of pointers to {self.name}"
            place = MemoryLines(told, self.address + batch * POINTER, POINTER, element=POINTER)
            at = int.from_bytes(access.take(place).tobytes(), "little")
        length, pitch = self.length * bits // 8, self.ld * bits // 8
        return MemoryLines(self.name, at, length, self.lines, pitch, max(1, bits // 8))

    def values(self, access: DeviceAccess, where: MemoryLines, working: np.dtype) -> Values:
        """Its elements: (rows, columns)."""
        lines = self.type.decoded(access.read(where)).astype(working)
        return lines if self.by_rows else lines.T

    def undefined(self, access: DeviceAccess, where: MemoryLines) -> np.ndarray | None:
        """Which of them have bits that nobody wrote: bool (rows, columns); None for none."""
        found = access.undefined(where)
        if found is None:
            return None
        bits = self.type.bits
        each = (
            found.reshape(self.lines, self.length, -1) if bits >= 8 else found.repeat(8 // bits, 1)[..., None]
        )
        lines = np.asarray(each.any(axis=2))
        return lines if self.by_rows else lines.T

    def store(
        self, access: DeviceAccess, where: MemoryLines, values: Values, undefined: np.ndarray | None
    ) -> None:
        """Write its elements."""
        if not self.by_rows:
            values, undefined = values.T, None if undefined is None else undefined.T
        if undefined is not None:
            undefined = undefined.repeat(self.type.bits // 8, axis=1)
        access.write(where, self.type.encoded(values), undefined)


@dataclass(frozen=True, slots=True)
class BlasOperand:
    """A or B.

    Attributes:
        matrix: where it is.
        transposed: whether its rows are the dimension that is summed over.
        conjugated: whether its elements are.
        scaling: what they are multiplied by.
    """

    matrix: BlasMatrix
    transposed: bool
    conjugated: bool = False
    scaling: Scaling | None = None

    def values(self, access: DeviceAccess, batch: int, working: np.dtype) -> tuple[Values, np.ndarray | None]:
        """Its elements, the dimension that is summed over last, and which of the other's hold any undefined
        one."""
        where = self.matrix.stretch(access, batch)
        values = self.matrix.values(access, where, working)
        undefined = self.matrix.undefined(access, where)
        if self.transposed:
            values, undefined = values.T, None if undefined is None else undefined.T
        if self.conjugated:
            values = values.conj()
        if self.scaling is not None:
            values = values * self.scaling.factors(access, self.matrix.name, *values.shape)
        return values, None if undefined is None else np.asarray(undefined.any(axis=1))


@dataclass(frozen=True, slots=True)
class Scalar:
    """Alpha or beta: what the host gave, or where the device has it.

    Attributes:
        type: its type.
        data: its bytes; None where they are at `address`, on the device.
    """

    name: str
    type: CudaType
    address: int = 0
    data: bytes | None = None

    def value(self, access: DeviceAccess) -> complex | int:
        """The number."""
        if self.data is not None:
            raw = np.frombuffer(self.data, np.uint8)[None]
        else:
            size = self.type.bits // 8
            raw = access.take(MemoryLines(self.name, self.address, size, element=size))
        found = self.type.decoded(raw).astype(self.type.working)[0, 0]
        return found.item()


def host_scalar(name: str, kind: CudaType, address: int) -> Scalar:
    """A number that the host has, taken now."""
    return Scalar(name, kind, data=ctypes.string_at(address, kind.bits // 8))


@dataclass(frozen=True, slots=True)
class Epilogue:
    """What is done to alpha op(A) op(B) + beta C before it is stored.

    Attributes:
        bias: a number for each row, or None.
        activation: `RELU`, `GELU` or empty.
        scale: where a factor for all is, or 0.
        largest: where the greatest absolute value goes, before that factor; or 0.
    """

    bias: BlasMatrix | None = None
    activation: str = ""
    scale: int = 0
    largest: int = 0

    def applied(self, access: DeviceAccess, batch: int, values: Values) -> Values:
        """What is stored."""
        if self.bias is not None:
            where = self.bias.stretch(access, batch)
            access.take(where)
            values = values + self.bias.values(access, where, values.dtype)
        if self.activation == "RELU":
            values = np.maximum(values, 0)
        elif self.activation == "GELU":
            values = values / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (values + 0.044715 * values**3)))
        if self.largest:
            most = np.abs(values).max().astype(np.float32).reshape(1, 1)
            access.write(MemoryLines("AMAX_D", self.largest, 4, element=4), most.view(np.uint8))
        if self.scale:
            raw = access.take(MemoryLines("the scale of D", self.scale, 4, element=4))
            values = values * float(raw.view(np.float32)[0, 0])
        return values


@dataclass(slots=True)
class BlasProduct(Work):
    """See the module.

    Attributes:
        context: whose device computes it.
        name: the function that was called.
        a, b: the factors.
        c, d: what is added, and the result.
        alpha, beta: the numbers.
        batches: how many products.
        epilogue: what follows.
        stack: where the host called.
    """

    node_type: ClassVar[int] = 0
    context: VirtualContext
    name: str
    a: BlasOperand
    b: BlasOperand
    c: BlasMatrix
    d: BlasMatrix
    alpha: Scalar
    beta: Scalar
    batches: int = 1
    epilogue: Epilogue = Epilogue()
    stack: HostStack = NOWHERE

    def run(self) -> None:
        machine, access = self.context.machine, DeviceAccess(self.context, f"`{self.name}`")
        with ReportedWork(machine, access.call, self.stack), np.errstate(all="ignore"):
            for batch in range(self.batches):
                self._one(access, batch)
            if machine.seeks_stream_races:
                machine.touched(access.call, access.touched, self.stack)

    def _one(self, access: DeviceAccess, batch: int) -> None:
        access.tainted = False
        working, where = self.alpha.type.working, self.d.stretch(access, batch)
        alpha, beta = self.alpha.value(access), self.beta.value(access)
        total = np.zeros((self.d.rows, self.d.columns), working)
        bad = np.zeros(total.shape, bool)
        if alpha and self.a.matrix.lines and self.a.matrix.length:
            a, bad_rows = self.a.values(access, batch, working)
            b, bad_columns = self.b.values(access, batch, working)
            total = alpha * _multiplied(a, b.T)
            bad |= False if bad_rows is None else bad_rows[:, None]
            bad |= False if bad_columns is None else bad_columns[None, :]
        if beta:
            place = self.c.stretch(access, batch)
            total = total + beta * self.c.values(access, place, working)
            bad_summands = self.c.undefined(access, place)
            bad |= False if bad_summands is None else bad_summands
        total = self.epilogue.applied(access, batch, total)
        bad |= access.tainted
        self.d.store(access, where, total, bad if bad.any() else None)


def _multiplied(a: Values, b: Values) -> Values:
    """The product; that of integers is exact, for sums below 2^53."""
    if a.dtype.kind == "i":
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(a.dtype)
    return np.asarray(a @ b)
