"""`mma` and `mma.sp` in every shape and type. PTX ISA 9.7.14.3, 9.7.14.5.14, 9.7.14.6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps, count_products, uniform
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices import Fragment, Mask, MatrixSource, MatrixTarget, SparsityMetadata, Unknown
from ptxkit.emulator.operations.matrix.arithmetic import CONTAINED, SCALED, arithmetic, significant
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_cores import Scales, decode_scales
from ptxkit.emulator.tensor_cores.elements import ANY_ORDER, ORDERED, TF32, expand
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import Layout, MmaKind, ScaleVector, Shape, SparseOrder
from ptxkit.layouts import fragments


class MmaMetadata(SparsityMetadata):
    """The operands `e, f`: metadata and sparsity selector; `ordered`: `.sp::ordered_metadata`."""

    def __init__(self, instruction: ScopedInstruction, k: int, bits: int, ordered: bool) -> None:
        meaningful = TF32 if bits == 32 else ORDERED if ordered else ANY_ORDER
        super().__init__(instruction, ("e", "f"), k, bits, meaningful)

    def read(self, lane_set: LaneSet, guard: Any) -> tuple[np.ndarray, Mask]:
        """The nibbles of each tile, see `checked`."""
        lanes = executing(lane_set, guard)
        return self.checked(
            lane_set,
            lambda value: np.broadcast_to(value, (lane_set.n, WARP))[:, self.lanes],
            None if lanes is None else lanes[:, 0],
            lambda chunk, row, at: str(lane_set.thread(at, int(self.lanes[row, chunk]))),
        )

    def expand(self, stored: np.ndarray, nibbles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`tensor_cores.expand` for this instruction's elements."""
        return expand(stored, nibbles, self.bits)


BYTES = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
"""The valid `byte-id`s by the number of factors of a row. Table 37."""


class ScaleOperand:
    """`scale-data, {byte-id, thread-id}`.

    Args:
        matrix: `a` or `b`.
        kind: `ue8m0` or `ue4m3`.
        count: factors of a row of A or column of B, by `.scale_vec`.
        lanes: `fragments.mma_scales_a` or `fragments.mma_scales_b`.
        threads: how many values `thread-id` has.
    """

    def __init__(
        self,
        instruction: ScopedInstruction,
        matrix: str,
        kind: str,
        count: int,
        lanes: Callable[[int], np.ndarray],
        threads: int,
    ) -> None:
        self.kind, self.count, self.site = kind, count, instruction.site
        self.data = instruction.source(f"sf{matrix}", "b32")
        self.selectors = instruction.source(f"byte_{matrix}"), instruction.source(f"thread_{matrix}")
        self.lanes = np.stack([lanes(choice) for choice in range(threads)])

    def read(self, lane_set: LaneSet, guard: Any) -> tuple[Scales, Mask]:
        """The factors and their undefined bits: (count, rows, n)."""
        n = lane_set.n
        byte = self._selector(lane_set, guard, 0, BYTES[self.count])
        thread = self._selector(lane_set, guard, 1, tuple(range(len(self.lanes))))
        lanes = self.lanes[thread]
        shift = (8 * byte).astype(np.uint32)
        factors = decode_scales(self._bytes(self.data.reader(lane_set), lanes, shift, n), self.kind)
        entry = self.data.undefined(lane_set) if lane_set.undefined else None
        if entry is None:
            return factors, None
        return factors, (self._bytes(entry[0], lanes, shift, n), entry[1])

    def _selector(self, lane_set: LaneSet, guard: Any, which: int, valid: tuple[int, ...]) -> np.ndarray:
        """A selector of each row of the set: (n,) or ()."""
        source = self.selectors[which]
        value = np.asarray(uniform(lane_set, guard, source, source.reader(lane_set), self.site))
        bad = ~np.isin(value, valid)
        if bad.any() and not (guard is not None and not np.any(bad & guard)):
            name = ("byte-id", "thread-id")[which]
            found = int(value.flat[int(np.argmax(bad))])
            allowed = ", ".join(str(number) for number in valid)
            raise fault(
                "P644",
                f"expected {name} {allowed} for {counted(self.count, 'factor')}, found {found}",
                self.site,
                (f"{lane_set.thread(*lane_set.first(bad))}",),
            )
        value = np.where(bad, 0, value)
        return value.reshape(-1) if value.ndim else value

    def _bytes(self, value: Any, lanes: np.ndarray, shift: np.ndarray, n: int) -> np.ndarray:
        """The chosen bytes: uint8 (count, rows, n)."""
        words = np.broadcast_to(value, (n, WARP))
        if lanes.ndim == 1:
            chosen = words[:, lanes]
        else:
            chosen = np.take_along_axis(words, np.broadcast_to(lanes, (n, lanes.shape[1])), axis=1)
        chosen = chosen >> (shift if shift.ndim == 0 else shift[:, None])
        steps = np.arange(self.count, dtype=np.uint32)[:, None, None] * np.uint32(8)
        return (chosen.T[None] >> steps & np.uint32(0xFF)).astype(np.uint8)


effect, later = Effects("matrix"), Effects("compression")

VECTORS = {ScaleVector.X1: 1, ScaleVector.X2: 2, ScaleVector.X4: 4}
DEFAULT_VECTOR = {MmaKind.MXF8F6F4: ScaleVector.X1, MmaKind.MXF4: ScaleVector.X2}


@later("mma")
@effect("mma")
def mma(instruction: ScopedInstruction) -> Effect:
    """`mma{.sp}.sync.aligned.shape.alayout.blayout{.kind}{..}.dtype.atype.btype.ctype{..} d, a, b, c, ..`."""
    shape, kind = instruction.the(Shape), instruction.find(MmaKind)
    sparse = (
        SparseOrder.ORDERED if "sp::ordered_metadata" in instruction.match.slots else instruction["spvariant"]
    )
    d, a, b, c = (type_.name for type_ in instruction.types[:4])
    quads = shape == QUADS and a == "f16"
    compute = arithmetic(instruction, "mma.m8n8k4" if quads else "mma", (d, a, b, c))
    bits = 8 if kind in CONTAINED else 32 if a == "tf32" else DTYPES[a].bits
    if quads:
        shape_a, shape_b, shape_c, shape_d = _quads(instruction.all(Layout), c, d)
    else:
        stored = shape.k // 2 if sparse else shape.k
        shape_a, shape_b = _factors(shape.m, shape.n, stored, shape.k, bits)
        shape_c = shape_d = Fragment(*fragments.mma_cd(shape.m, shape.n), DTYPES[c].bits)
    target = MatrixTarget.of(instruction, "d", shape_d)
    left = MatrixSource.of(instruction, "a", shape_a)
    right = MatrixSource.of(instruction, "b", shape_b)
    start = MatrixSource.of(instruction, "c", shape_c)
    metadata = MmaMetadata(instruction, shape.k, bits, sparse is SparseOrder.ORDERED) if sparse else None
    scales = _scales(instruction, kind) if kind in SCALED else None
    site, work = instruction.site, shape.multiply_adds * (4 if quads else 1)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        count_products(lane_set, guard, work)
        check_whole_warps(lane_set, guard, site)
        unknown = Unknown()
        if lane_set.undefined:
            unknown.add_rows(significant(left.unknown(lane_set), a, kind))
            unknown.add_columns(significant(right.unknown(lane_set), b, kind))
            unknown.add(start.unknown(lane_set))
        codes, present, factors = left.codes(lane_set), None, None
        if lane_set.launch.layouts is not None and metadata is None:
            _tell(lane_set, guard, site, (("A", a, bits, codes), ("B", b, bits, right.codes(lane_set))))
        if metadata is not None:
            nibbles, doubtful = metadata.read(lane_set, guard)
            unknown.add_rows(doubtful)
            codes, kept = metadata.expand(codes, nibbles)
            present = kept[:, :, None]
        if scales is not None:
            (of_a, doubtful_a), (of_b, doubtful_b) = (scale.read(lane_set, guard) for scale in scales)
            unknown.add_rows(doubtful_a)
            unknown.add_columns(doubtful_b)
            factors = of_a.at(np.s_[:, :, None]), of_b.at(np.s_[:, None])
        result = compute(
            codes[:, :, None], right.codes(lane_set)[:, None], start.codes(lane_set), present, factors
        )
        return target.write(lane_set, guard, result, unknown.found(lane_set, site))

    return Effect(step, AlignedSyncPoint(instruction))


def _tell(
    lane_set: LaneSet, guard: Any, site: Site, sides: Sequence[tuple[str, str, int, np.ndarray]]
) -> None:
    """Let somebody look where the matrices come from that are multiplied."""
    from ptxkit.emulator.fragment_reads import RegisterMatrix

    lanes = executing(lane_set, guard)
    warps = slice(None) if lanes is None else np.flatnonzero(lanes[:, 0])
    matrices = (RegisterMatrix(name, dtype, bits, codes[..., warps]) for name, dtype, bits, codes in sides)
    assert lane_set.launch.layouts is not None
    lane_set.launch.layouts.fragments(lane_set.batch, site.where, *matrices)


QUADS = Shape(8, 8, 4)


def _quads(layouts: Sequence[Layout], c: str, d: str) -> tuple[Fragment, Fragment, Fragment, Fragment]:
    """The fragments of `mma.m8n8k4` with f16: each warp makes four products."""

    def quad(first: np.ndarray, second: np.ndarray, bits: int) -> Fragment:
        lane = np.arange(32)[:, None]
        return Fragment(first, second, bits, np.broadcast_to(lane % 16 // 4, first.shape))

    row, column = fragments.mma_m8n8k4("a", layouts[0] is Layout.COL)
    results = (fragments.mma_m8n8k4("c", f32=kind == "f32") for kind in (c, d))
    shape_c, shape_d = (quad(*cells, DTYPES[kind].bits) for cells, kind in zip(results, (c, d), strict=True))
    shape_b = quad(*fragments.mma_m8n8k4("b", layouts[1] is Layout.COL), 16)
    return quad(column, row, 16), shape_b, shape_c, shape_d


def _factors(rows: int, columns: int, stored: int, depth: int, bits: int) -> tuple[Fragment, Fragment]:
    """A as (K, M), of which `stored` elements of K are kept, and B as (K, N); single bits as words of 32."""
    if bits == 1:
        stored, depth, bits = stored // 32, depth // 32, 32
    row, column = fragments.mma_a(rows, stored, bits)
    return Fragment(column, row, bits), Fragment(*fragments.mma_b(columns, depth, bits), bits)


def _scales(instruction: ScopedInstruction, kind: MmaKind) -> tuple[ScaleOperand, ScaleOperand]:
    element, count = instruction.types[4].name, VECTORS[instruction.find(ScaleVector) or DEFAULT_VECTOR[kind]]
    return (
        ScaleOperand(instruction, "a", element, count, fragments.mma_scales_a, 2),
        ScaleOperand(instruction, "b", element, count, fragments.mma_scales_b, 4),
    )
