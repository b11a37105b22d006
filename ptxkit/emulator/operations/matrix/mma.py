"""`mma` and `mma.sp` in every shape and type. PTX ISA 9.7.14.5.14, 9.7.14.6.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.aligned import AlignedGate, check_whole
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.matrices.fragments import Fragment
from ptxkit.emulator.matrices.operand import MatrixSource, MatrixTarget, Unknown
from ptxkit.emulator.operation import Modifiers, Unsupported
from ptxkit.emulator.operations.matrix.arithmetic import CONTAINED, SCALED, arithmetic, significant
from ptxkit.emulator.operations.matrix.scales import ScaleOperand
from ptxkit.emulator.operations.matrix.sparse import Metadata
from ptxkit.layouts import fragments

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

SHAPES = (
    "m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64",
    "m16n8k128", "m16n8k256",
)  # fmt: skip
KINDS = ("kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4")
VECTORS = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4}
DEFAULT_VECTOR = {"mxf8f6f4": "scale_vec::1X", "mxf4": "scale_vec::2X"}


def extents(shape: str) -> tuple[int, int, int]:
    """`m16n8k8` as (16, 8, 8)."""
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


@effect("mma")
def mma(form: Form) -> Effect:
    """`mma{.sp}.sync.aligned.shape.alayout.blayout{.kind}{..}.dtype.atype.btype.ctype{..} d, a, b, c, ..`."""
    m = form.modifiers
    m.need("sync")
    m.need("aligned")
    sparse = m.choose("sp", "sp::ordered_metadata")
    rows, columns, depth = extents(m.need(*SHAPES))
    layouts = m.need("row", "col"), m.need("row", "col")
    kind = (m.choose(*KINDS) or "").removeprefix("kind::") or None
    block_scale = m.flag("block_scale")
    vector = m.choose(*VECTORS, default=DEFAULT_VECTOR.get(kind or ""))
    d, a, b, c = (m.type().name for _ in range(4))
    if block_scale != (kind in SCALED):
        raise Unsupported("`.block_scale` without a kind for it, or such a kind without it")
    quads = (rows, columns, depth) == (8, 8, 4) and a == "f16"
    compute = arithmetic(form.builder, "mma.m8n8k4" if quads else "mma", (d, a, b, c), m, kind)

    bits = 8 if kind in CONTAINED else DTYPES[a].bits
    if a == "tf32":
        bits = 32
    if quads:
        shape_a, shape_b, shape_c, shape_d = _quads(layouts, c, d)
    else:
        if layouts != ("row", "col"):
            raise Unsupported(f"layouts `.{'.'.join(layouts)}`")
        shape_a, shape_b = _factors(rows, columns, depth // (2 if sparse else 1), depth, bits)
        shape_c = shape_d = Fragment(*fragments.mma_cd(rows, columns), DTYPES[c].bits)
        if d != c:
            raise Unsupported(f"an accumulator of `.{c}` with a result of `.{d}`")
    target = MatrixTarget.of(form, shape_d)
    left = MatrixSource.of(form, shape_a, "A")
    right = MatrixSource.of(form, shape_b, "B")
    start = MatrixSource.of(form, shape_c, "C")
    metadata = Metadata(form, depth, bits, sparse == "sp::ordered_metadata") if sparse else None
    scales = _scales(form, m, vector) if block_scale else None
    if form.sources:
        raise Unsupported(f"{counted(len(form.sources), 'operand')} too many")
    site = form.site

    def step(group: Group, guard: Any) -> bool:
        check_whole(group, guard, site)
        unknown = Unknown()
        if group.undefined:
            unknown.add_rows(significant(left.unknown(group), a, kind))
            unknown.add_columns(significant(right.unknown(group), b, kind))
            unknown.add(start.unknown(group))
        codes, present, factors = left.codes(group), None, None
        if metadata is not None:
            nibbles, doubtful = metadata.read(group, guard)
            unknown.add_rows(doubtful)
            codes, kept = metadata.expand(codes, nibbles)
            present = kept[:, :, None]
        if scales is not None:
            (of_a, doubtful_a), (of_b, doubtful_b) = (scale.read(group, guard) for scale in scales)
            unknown.add_rows(doubtful_a)
            unknown.add_columns(doubtful_b)
            factors = of_a.at(np.s_[:, :, None]), of_b.at(np.s_[:, None])
        result = compute(codes[:, :, None], right.codes(group)[:, None], start.codes(group), present, factors)
        return target.write(group, guard, result, unknown.found(group, site))

    return Effect(step, AlignedGate(form))


def _quads(layouts: tuple[str, str], c: str, d: str) -> tuple[Fragment, Fragment, Fragment, Fragment]:
    """The fragments of `mma.m8n8k4` with f16: each warp makes four products."""

    def quad(first: np.ndarray, second: np.ndarray, bits: int) -> Fragment:
        lane = np.arange(32)[:, None]
        return Fragment(first, second, bits, np.broadcast_to(lane % 16 // 4, first.shape))

    row, column = fragments.mma_m8n8k4("a", layouts[0] == "col")
    results = (fragments.mma_m8n8k4("c", f32=kind == "f32") for kind in (c, d))
    shape_c, shape_d = (quad(*cells, DTYPES[kind].bits) for cells, kind in zip(results, (c, d), strict=True))
    shape_b = quad(*fragments.mma_m8n8k4("b", layouts[1] == "col"), 16)
    return quad(column, row, 16), shape_b, shape_c, shape_d


def _factors(rows: int, columns: int, stored: int, depth: int, bits: int) -> tuple[Fragment, Fragment]:
    """A as (K, M), of which `stored` elements of K are kept, and B as (K, N); single bits as words of 32."""
    if bits == 1:
        stored, depth, bits = stored // 32, depth // 32, 32
    row, column = fragments.mma_a(rows, stored, bits)
    return Fragment(column, row, bits), Fragment(*fragments.mma_b(columns, depth, bits), bits)


def _scales(form: Form, m: Modifiers, vector: str | None) -> tuple[ScaleOperand, ScaleOperand]:
    if vector is None:
        raise Unsupported("`.kind::mxf4nvf4` without `.scale_vec`")
    kind, count = m.type().name, VECTORS[vector]
    return (
        ScaleOperand(form, kind, count, fragments.mma_scales_a, 2),
        ScaleOperand(form, kind, count, fragments.mma_scales_b, 4),
    )
