"""`wmma.load`, `wmma.store`, `wmma.mma` in every shape, type and layout. PTX ISA 9.7.14.4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps, count_products, uniform
from ptxkit.emulator.effect import Effect, Effects, GuardedStep
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices import Fragment, MatrixSource, MatrixTarget, Unknown
from ptxkit.emulator.operands import AddressOperand, SourceOperand, TargetOperand
from ptxkit.emulator.operations.matrix.arithmetic import arithmetic, significant
from ptxkit.emulator.values import RAW, WARP, viewed
from ptxkit.isa.modifiers import Layout, Shape, StateSpace
from ptxkit.layouts import fragments

effect, later = Effects("matrix"), Effects("compression")


def _bits(element: str) -> int:
    return 32 if element == "tf32" else DTYPES[element].bits


@effect("wmma.mma")
def mma(instruction: ScopedInstruction) -> Effect:
    """`wmma.mma{.op.popc}.sync.aligned.alayout.blayout.shape{.rnd}.dtype{.atype.btype}.ctype d, a, b, c`.

    From sm_75 on fragments don't depend on the layout in memory.
    """
    shape, types = instruction.the(Shape), [type_.name for type_ in instruction.types]
    d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
    compute = arithmetic(instruction, "wmma", (d, a, b, c))
    rows, columns, depth = shape
    bits = _bits(a)
    if bits == 1:
        depth, bits = depth // 32, 32
    half = a == "f16"
    row, column = fragments.wmma_a(rows, columns, depth, bits, half)
    target = MatrixTarget.of(instruction, "d", Fragment(*fragments.wmma_c(rows, columns), DTYPES[d].bits))
    left = MatrixSource.of(instruction, "a", Fragment(column, row, bits))
    right = MatrixSource.of(
        instruction, "b", Fragment(*fragments.wmma_b(rows, columns, depth, bits, half), bits)
    )
    start = MatrixSource.of(instruction, "c", Fragment(*fragments.wmma_c(rows, columns), DTYPES[c].bits))
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        count_products(lane_set, guard, shape.multiply_adds)
        check_whole_warps(lane_set, guard, site)
        unknown = Unknown()
        if lane_set.undefined:
            unknown.add_rows(significant(left.unknown(lane_set), a, None))
            unknown.add_columns(significant(right.unknown(lane_set), b, None))
            unknown.add(start.unknown(lane_set))
        factors = left.codes(lane_set)[:, :, None], right.codes(lane_set)[:, None]
        result = compute(*factors, start.codes(lane_set), None, None)
        return target.write(lane_set, guard, result, unknown.found(lane_set, site))

    return Effect(step, AlignedSyncPoint(instruction))


# ---- loads and stores


class Matrix:
    """A matrix in memory and in a warp's registers.

    Args:
        instruction: the instruction, to which a stride that is left out is the matrix's own extent.
        matrix: `a`, `b`, `c` or `d`.
    """

    def __init__(self, instruction: ScopedInstruction, matrix: str) -> None:
        by_row, element = instruction.the(Layout) is Layout.ROW, instruction.the(DType).name
        space = plain_space(instruction["ss"] or StateSpace.GENERIC)
        self.bits = _bits(element)
        cells, height, width = _cells(matrix, instruction.the(Shape), element)
        outer, inner = cells if by_row else (cells[1], cells[0])
        self.least = width if by_row else height
        self.word = max(self.bits, 32)
        packed = self.word // self.bits
        elements = outer.shape[1]
        self.registers = elements // packed
        runs = all(
            (outer[:, i] == outer[:, i - 1]).all() and (inner[:, i] == inner[:, i - 1] + 1).all()
            for i in range(elements)
            if i % packed
        )
        together = packed if runs else 1
        self.size = together * self.bits // 8
        self.fragment = self.registers * self.word // 8
        self.site = instruction.site
        self.address = instruction.address("p")
        self.stride = instruction.source("stride") if "stride" in instruction.operands else None
        self.pieces = [
            FragmentPiece(
                i // packed, i % packed * self.bits, FragmentPlace(self, outer[:, i], inner[:, i]), space
            )
            for i in range(0, elements, together)
        ]
        instruction.scope.program.touches(space, self.size)
        self._find_moves(cells, by_row, together)

    def _find_moves(self, cells: fragments.Cells, by_row: bool, together: int) -> None:
        """Say of each piece how many bytes the hardware moves for it: none for what another register has,
        and two registers side by side of C or D at once, as ptxas has it."""
        outer, inner = cells if by_row else (cells[1], cells[0])
        seen: dict[bytes, FragmentPiece] = {}
        for i, piece in zip(range(0, outer.shape[1], together), self.pieces, strict=True):
            here = outer[:, i].tobytes(), inner[:, i].tobytes()
            before = seen.get(outer[:, i].tobytes() + (inner[:, i] - 1).tobytes())
            if b"".join(here) in seen:
                piece.moved = 0
            elif together == 1 and self.size == 4 and before is not None and before.moved == self.size:
                before.moved, piece.moved = 2 * self.size, 0
            seen.setdefault(b"".join(here), piece)

    def strides(self, lane_set: LaneSet) -> Any:
        """The stride in elements."""
        return np.uint32(self.least) if self.stride is None else self.stride.reader(lane_set)

    def check(self, lane_set: LaneSet, guard: Any) -> None:
        """Address and stride must be the same in the whole warp, large enough and aligned. 9.7.14.4.2.

        The manual wants every row aligned as the whole fragment is; the CUDA programming guide is content
        with multiples of 16 bytes from row to row, on which shipped code relies.

        Raises:
            EmulatorFault: P642, lanes disagree; P645, the stride; P603, the address.
        """
        address = np.asarray(self.address.read(lane_set))
        if self.address.base is not None:
            address = uniform(lane_set, guard, self.address.base, address, self.site)
        stride = self.strides(lane_set)
        if self.stride is not None:
            stride = uniform(lane_set, guard, self.stride, stride, self.site)
        between, whole = min(16, self.fragment), min(32, self.fragment)
        step = 8 * between // self.bits
        self._expect(lane_set, guard, stride, stride < self.least, "P645", f"at least {self.least} elements")
        self._expect(lane_set, guard, stride, stride % step != 0, "P645", f"a multiple of {step} elements")
        self._expect(lane_set, guard, address, address % whole != 0, "P603", f"a multiple of {whole}")

    def _expect(self, lane_set: LaneSet, guard: Any, value: Any, wrong: Any, code: str, wanted: str) -> None:
        active = lane_set.active(guard)
        bad = np.asarray(wrong if active is None else wrong & active)
        if bad.any():
            lane = lane_set.first(bad)
            found = int(np.broadcast_to(value, (lane_set.n, WARP))[lane])
            message = f"misaligned matrix: expected an address that is {wanted}, found {found:#x}"
            if code == "P645":
                message = f"expected {wanted}, found {found}"
            raise fault(code, message, self.site, (f"{lane_set.thread(*lane)}",))


def _cells(matrix: str, shape: Shape, element: str) -> tuple[fragments.Cells, int, int]:
    """The fragment of a matrix, and its height and width."""
    rows, columns, depth = shape
    bits, half = _bits(element), element == "f16"
    if matrix == "a":
        return fragments.wmma_a(rows, columns, depth, bits, half), rows, depth
    if matrix == "b":
        return fragments.wmma_b(rows, columns, depth, bits, half), depth, columns
    return fragments.wmma_c(rows, columns), rows, columns


class FragmentPlace(AddressOperand):
    """The address of one part of a matrix in each lane."""

    def __init__(self, matrix: Matrix, outer: np.ndarray, inner: np.ndarray) -> None:
        super().__init__(matrix.address.base, 0, symbol=matrix.address.symbol)
        self.matrix = matrix
        self.outer, self.inner = outer.astype(np.uint64)[None], inner.astype(np.uint64)[None]
        self.read = self._read

    def _read(self, lane_set: LaneSet) -> np.ndarray:
        """uint64 (n or 1, 32)."""
        matrix = self.matrix
        elements = self.outer * np.asarray(matrix.strides(lane_set), np.uint64) + self.inner
        offset = elements * np.uint64(matrix.bits) // np.uint64(8)
        return np.asarray(matrix.address.read(lane_set)).astype(np.uint64) + offset


class FragmentPiece:
    """A part of a register that is contiguous in memory.

    Args:
        register: its number.
        shift: its lowest bit.
        place: its address.

    Attributes:
        moved: bytes that the hardware moves for it in each lane.
    """

    def __init__(self, register: int, shift: int, place: FragmentPlace, space: str) -> None:
        self.register, self.shift, self.moved = register, shift, place.matrix.size
        self.accessor = Accessor(place, space, place.matrix.size, place.matrix.site, named=False)


def load(matrix: str) -> Callable[[ScopedInstruction], Effect]:
    """`wmma.load.{a,b,c}.sync.aligned.layout.shape{.ss}.type r, [p]{, stride}`."""

    def made(instruction: ScopedInstruction) -> Effect:
        where = Matrix(instruction, matrix)
        targets = [instruction.target(part, f"b{where.word}") for part in instruction.parts("r")]
        return Effect(_loader(where, targets, instruction.site), AlignedSyncPoint(instruction))

    return made


for matrix in ("a", "b", "c"):
    effect(f"wmma.load.{matrix}")(load(matrix))
later("wmma.load.c")(load("c"))


@later("wmma.store.d")
@effect("wmma.store.d")
def store(instruction: ScopedInstruction) -> Effect:
    """`wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r{, stride}`."""
    where = Matrix(instruction, "d")
    sources = [instruction.source(part, f"b{where.word}") for part in instruction.parts("r")]
    return Effect(_storer(where, sources, instruction.site), AlignedSyncPoint(instruction))


def _loader(where: Matrix, targets: Sequence[TargetOperand | None], site: Site) -> GuardedStep:
    raw = RAW[where.word]

    def step(lane_set: LaneSet, guard: Any) -> bool:
        check_whole_warps(lane_set, guard, site)
        where.check(lane_set, guard)
        launch = lane_set.launch
        values = np.zeros((where.registers, lane_set.n, WARP), raw)
        masks: np.ndarray | None = None
        origin = 0
        for piece in where.pieces:
            for access in piece.accessor(lane_set, guard):
                launch.counts.load(access.space, access.lanes * where.size)
                if piece.moved:
                    access.count_traffic(piece.moved, "loaded")
                (value,), unknown = access.load(where.size, 1)
                values[piece.register] |= value.astype(raw) << raw.type(piece.shift)
                if unknown is not None:
                    masks = np.zeros_like(values) if masks is None else masks
                    masks[piece.register] |= unknown[0].astype(raw) << raw.type(piece.shift)
                    origin = origin or access.origin(where.size)
        for i, target in enumerate(targets):
            if target is not None:
                entry = (masks[i], origin) if masks is not None and masks[i].any() else None
                target.write(lane_set, values[i], entry, guard)
        return masks is not None

    return step


def _storer(where: Matrix, sources: Sequence[SourceOperand], site: Site) -> GuardedStep:
    raw, narrow = RAW[where.word], RAW[8 * where.size]

    def step(lane_set: LaneSet, guard: Any) -> None:
        check_whole_warps(lane_set, guard, site)
        where.check(lane_set, guard)
        launch = lane_set.launch
        for piece in where.pieces:
            source = sources[piece.register]
            value = (source.reader(lane_set) >> raw.type(piece.shift)).astype(narrow)
            entry = source.undefined(lane_set) if lane_set.undefined else None
            masks, origin = None, 0
            if entry is not None:
                masks = ((viewed(entry[0], raw) >> raw.type(piece.shift)).astype(narrow),)
                origin = launch.origin_of_store(entry[1], site)
            for access in piece.accessor(lane_set, guard):
                launch.counts.store(access.space, access.lanes * where.size)
                if piece.moved:
                    access.count_traffic(piece.moved, "stored")
                access.store((value,), masks, where.size, origin)

    return step
