"""`mma` and `mma.sp` in every shape and type. PTX ISA 9.7.14.5.14, 9.7.14.6.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.fragments import Fragment
from ptxkit.emulator.matrices.operand import MatrixSource, MatrixTarget, Unknown
from ptxkit.emulator.operations.matrix.arithmetic import CONTAINED, SCALED, arithmetic, significant
from ptxkit.emulator.operations.matrix.scales import ScaleOperand
from ptxkit.emulator.operations.matrix.sparse import MmaMetadata
from ptxkit.isa.modifiers import Layout, MmaKind, ScaleVector, Shape, SparseOrder
from ptxkit.layouts import fragments

effect = Effects("matrix")

VECTORS = {ScaleVector.X1: 1, ScaleVector.X2: 2, ScaleVector.X4: 4}
DEFAULT_VECTOR = {MmaKind.MXF8F6F4: ScaleVector.X1, MmaKind.MXF4: ScaleVector.X2}


@effect("mma")
def mma(form: ScopedForm) -> Effect:
    """`mma{.sp}.sync.aligned.shape.alayout.blayout{.kind}{..}.dtype.atype.btype.ctype{..} d, a, b, c, ..`."""
    shape, kind, sparse = form.the(Shape), form.find(MmaKind), form["spvariant"]
    d, a, b, c = (type_.name for type_ in form.types[:4])
    quads = shape == QUADS and a == "f16"
    compute = arithmetic(form, "mma.m8n8k4" if quads else "mma", (d, a, b, c))
    bits = 8 if kind in CONTAINED else 32 if a == "tf32" else DTYPES[a].bits
    if quads:
        shape_a, shape_b, shape_c, shape_d = _quads(form.all(Layout), c, d)
    else:
        stored = shape.k // 2 if sparse else shape.k
        shape_a, shape_b = _factors(shape.m, shape.n, stored, shape.k, bits)
        shape_c = shape_d = Fragment(*fragments.mma_cd(shape.m, shape.n), DTYPES[c].bits)
    target = MatrixTarget.of(form, "d", shape_d)
    left = MatrixSource.of(form, "a", shape_a)
    right = MatrixSource.of(form, "b", shape_b)
    start = MatrixSource.of(form, "c", shape_c)
    metadata = MmaMetadata(form, shape.k, bits, sparse is SparseOrder.ORDERED) if sparse else None
    scales = _scales(form, kind) if kind in SCALED else None
    site = form.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        check_whole_warps(lane_set, guard, site)
        unknown = Unknown()
        if lane_set.undefined:
            unknown.add_rows(significant(left.unknown(lane_set), a, kind))
            unknown.add_columns(significant(right.unknown(lane_set), b, kind))
            unknown.add(start.unknown(lane_set))
        codes, present, factors = left.codes(lane_set), None, None
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

    return Effect(step, AlignedSyncPoint(form))


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


def _scales(form: ScopedForm, kind: MmaKind) -> tuple[ScaleOperand, ScaleOperand]:
    element, count = form.types[4].name, VECTORS[form.find(ScaleVector) or DEFAULT_VECTOR[kind]]
    return (
        ScaleOperand(form, "a", element, count, fragments.mma_scales_a, 2),
        ScaleOperand(form, "b", element, count, fragments.mma_scales_b, 4),
    )
