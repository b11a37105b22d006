"""What a planned product consists of, and whether the hardware can do it.

PTX ISA 9.7.16.2.1 (shapes), 9.7.16.10.1 to .3 (transposition, types, swizzles), 9.7.16.10.7 (scales).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shapes import K_SIZES, TRANSPOSED_8BIT_N, Tcgen05Shape, in_words, shapes
from ptxkit.layouts import SharedTile
from ptxkit.layouts.scales import factor_count
from ptxkit.layouts.tensor_memory import DataPath, data_path
from ptxkit.tcgen05.parts import (
    ACCUMULATORS,
    KIND_OF_TYPE,
    OPERANDS,
    PLACE,
    SCALES,
    SIZE,
    SWIZZLE,
    TYPES,
    LookedUpTile,
    TensorTile,
    is_later,
    refusal,
    target_problems,
    tensor_columns,
    vectors_of,
)


@dataclass(frozen=True)
class Product:
    """D (+)= A B^T by one CTA, or by a pair of CTAs.

    Attributes:
        a: matrix A of this CTA, M x K: a tile in shared memory or in tensor memory; K / 2 where sparse.
        b: matrix B of this CTA, N x K, or the indexes of its elements. A pair of CTAs holds N / 2 rows each:
            of every `step_n` columns of D the even CTA has the first half, the odd one the second.
        d: type of D.
        cta_group: 1, or 2 for a pair.
        ws: weight stationary, `tcgen05.mma.ws`.
        sparse: A is structured sparse.
        scale: type of the scale factors, `ue8m0`, `ue4m3` or `ue5m3`; None without block scaling.
        scale_vec: `1X`, `2X` or `4X`; None takes the kind's first.
        fold: fold N of M = 64 into both halves of the lanes: columns 0 .. N/2 - 1 at lane 0, the rest at
            lane 16, so that D takes N / 2 columns.
        k96: 96 elements along K to an instruction, of `sm_103a` and `sm_107a`: packed e2m1 with scales.
        negate_a, negate_b, saturate, max_shift: see the instruction descriptor; `max_shift` is `.ws`'s.
        wide_k: twice the elements along K to an instruction, of `sm_107f`: of 8 bits, or packed e2m1 with
            scales.
        sfa_lanes: lanes that hold different scale factors of A, 32, or 128 on `sm_107f`.
        target: that the plan is for, `sm_107a` or its like; what only some targets have is refused where
            another one is given, or none.

    Raises:
        PtxkitError: P480 .. P485, with what is allowed.
    """

    a: SharedTile | TensorTile
    b: SharedTile | LookedUpTile
    d: str
    cta_group: int = 1
    ws: bool = False
    sparse: bool = False
    scale: str | None = None
    scale_vec: str | None = None
    fold: bool = False
    k96: bool = False
    negate_a: bool = False
    negate_b: bool = False
    saturate: bool = False
    max_shift: int = 0
    wide_k: bool = False
    sfa_lanes: int = 32
    target: str | None = None

    def __post_init__(self) -> None:
        found = (
            list(self._matrix_problems())
            or list(self._operand_problems())
            or list(self._target_problems())
            or list(self._type_problems())
            or list(self._size_problems())
        )
        if found:
            raise PtxkitError(found)

    # ---- what follows from the parts

    @property
    def kind(self) -> str:
        """The MMA kind, without `.kind::`."""
        if self.scale is None:
            return KIND_OF_TYPE[self.a.dtype]
        padded = isinstance(self.a, SharedTile) and self.a.padded
        if self.a.dtype == self.b.dtype == "e2m1" and not padded and not self.b.padded:
            return "mxf4" if self.scale == "ue8m0" and self.scale_vec in (None, "2X") else "mxf4nvf4"
        return "mxf8f6f4"

    @property
    def vector(self) -> str | None:
        """The scale vector: `1X`, `2X`, `4X`, or None."""
        return (self.scale_vec or vectors_of(self.kind, self.later)[self.scale][0]) if self.scale else None

    @property
    def m(self) -> int:
        """Rows of D, of both CTAs."""
        return self.a.mn * self.cta_group

    @property
    def n(self) -> int:
        """Columns of D."""
        return self.b.mn * self.cta_group

    @property
    def k(self) -> int:
        """Elements along K, of the dense matrices."""
        return self.b.k

    @property
    def step_k(self) -> int:
        """Dense elements along K that one instruction consumes."""
        size = K_SIZES[self.kind][self.k_code]
        return (size.sparse or 0) if self.sparse else size.dense

    @property
    def k_code(self) -> int:
        """Which of its kind's K an instruction has."""
        return 1 if self.k96 else len(K_SIZES[self.kind]) - 1 if self.wide else 0

    @property
    def wide(self) -> bool:
        """Whether an instruction has the K of `sm_107f`, as look-up tables want it."""
        return self.wide_k or self.looked_up

    @property
    def looked_up(self) -> bool:
        """Whether B is looked up in tables."""
        return isinstance(self.b, LookedUpTile)

    @property
    def later(self) -> bool:
        """Whether the plan is for sm_107."""
        return is_later(self.target)

    @property
    def sparsity_version(self) -> int:
        """How a sparse A of packed elements of 4 bits is stored: 0 by pairs, 1 by elements."""
        return int(self.later and self.sparse and self.kind in ("mxf4", "mxf4nvf4"))

    @property
    def columns(self) -> int:
        """Columns of tensor memory that the target has."""
        return tensor_columns(self.target)

    @property
    def path(self) -> DataPath:
        """The data path of D (9.7.16.10.5)."""
        return data_path(self.m, self.cta_group, self.sparse, self.ws)

    @property
    def lane_groups(self) -> int:
        """2 where N is folded into both halves of the lanes."""
        return 2 if self.fold else 1

    @property
    def step_n(self) -> int:
        """Columns of D that one instruction computes: the most that are legal and divide N; 0: none are."""
        part = self.n // self.lane_groups
        return max((n for n in self._allowed_n() if part % n == 0), default=0)

    def _rows(self) -> list[Tcgen05Shape]:
        return shapes(
            self.kind, cta_group=self.cta_group, ws=self.ws, sparse=self.sparse, m=self.m, k=self.step_k
        )

    def _allowed_n(self) -> tuple[int, ...]:
        """N of one instruction; of several side by side, each begins at an atom of B and at 128 scales."""
        allowed = self._rows()[0].n
        if self.b.major == "MN" and DTYPES[self.b.dtype].bits == 8:
            allowed = tuple(n for n in allowed if n in TRANSPOSED_8BIT_N[self.cta_group])

        def begins_whole(n: int) -> bool:
            scaled = not self.scale or (n % 128 == 0 and self.path.name != "B")
            return n // self.cta_group % self.b.atom[0] == 0 and scaled

        return tuple(n for n in allowed if n == self.n or begins_whole(n))

    # ---- refusals

    def _matrix_problems(self) -> Iterator[Diagnostic]:
        if not isinstance(self.a, (SharedTile, TensorTile)):
            found = type(self.a).__name__
            yield Diagnostic(OPERANDS, f"A must be a `SharedTile` or a `TensorTile`, found `{found}`")
        if not isinstance(self.b, (SharedTile, LookedUpTile)):
            found = type(self.b).__name__
            message = f"B must be a `SharedTile`: it can only be read from shared memory, found `{found}`"
            yield refusal(message, OPERANDS, "PTX ISA 9.7.16.10.9.1")

    def _operand_problems(self) -> Iterator[Diagnostic]:
        if self.cta_group not in (1, 2):
            yield Diagnostic(OPERANDS, f"`cta_group` must be 1 or 2, found {self.cta_group}")
        if self.ws and self.cta_group == 2:
            yield refusal("`.ws` needs `cta_group` 1, found 2", OPERANDS, "PTX ISA 9.7.16.2.1, table 39")
        if self.max_shift and not self.ws:
            yield refusal(f"`max_shift` needs `.ws`, found {self.max_shift}", OPERANDS, "PTX ISA table 42")
        if self.ws and self.scale:
            yield refusal("`.ws` has no block-scaled kinds", OPERANDS, "PTX ISA 9.7.16.2.1, table 39")
        stored = self.a.k * (2 if self.sparse else 1)
        if stored != self.b.k:
            half = " (twice the stored ones, A being sparse)" if self.sparse else ""
            yield Diagnostic(OPERANDS, f"A and B must have the same K, found {stored}{half} and {self.b.k}")
        if self.k96 and (self.a.mn != 128 or self.sparse):
            found = f"{self.a.mn} rows, `cta_group` {self.cta_group}{', sparse' if self.sparse else ''}"
            message = f"`k96` needs a dense product with 128 rows in a CTA, found {found}"
            yield refusal(message, OPERANDS, "PTX ISA 9.4 9.7.18.2.1, table 48")
        if self.fold and (self.ws or self.cta_group == 2 or self.a.mn != 64):
            found = f"{self.a.mn} rows, `cta_group` {self.cta_group}{' with `.ws`' if self.ws else ''}"
            yield Diagnostic(OPERANDS, f"`fold` needs M = 64 of one CTA without `.ws`, found {found}")

    def _target_problems(self) -> Iterator[Diagnostic]:
        asked = {
            "`s1z4m11`": "s1z4m11" in (self.a.dtype, self.b.dtype),
            "`LookedUpTile`": self.looked_up,
            "`wide_k`": self.wide_k,
            "`sfa_lanes` of 128": self.sfa_lanes == 128,
            "`scale` ue5m3": self.scale == "ue5m3",
        }
        return target_problems(self.target, [what for what, wanted in asked.items() if wanted])

    def _wide_problems(self) -> Iterator[Diagnostic]:
        """What there is of the K of `sm_107f`, of tables and of the scale factors in 128 lanes."""
        what = "`LookedUpTile`" if self.looked_up else "`wide_k`"
        if self.wide and (self.k96 or (self.looked_up and (self.sparse or self.ws))):
            found = ", ".join(name for name in ("k96", "sparse", "ws") if getattr(self, name))
            yield refusal(f"{what} is for a product without {found}", OPERANDS, "PTX ISA 9.4 table 48")
        elif self.wide:
            kind = KIND_OF_TYPE[self.a.dtype]
            bits = {DTYPES[tile.dtype].bits for tile in (self.a, self.b)}
            if kind != "f8f6f4" or not (bits == {8} or self.kind in ("mxf4", "mxf4nvf4")):
                message = f"{what} needs types of 8 bits, or packed `e2m1` with scale factors"
                yield refusal(f"{message}, found `{self.a.dtype}` and `{self.b.dtype}`", TYPES, "table 48")
            elif not self.step_k:
                yield refusal(
                    f"`wide_k` of `.kind::{self.kind}` needs a dense A", TYPES, "PTX ISA 9.4 table 48"
                )
        if self.sfa_lanes not in ((32, 128) if self.scale else (32,)):
            only = "32 or 128" if self.scale else "32 without scale factors"
            yield Diagnostic(SCALES, f"`sfa_lanes` must be {only}, found {self.sfa_lanes}")

    def _type_problems(self) -> Iterator[Diagnostic]:
        a, b = self.a.dtype, self.b.dtype
        for name, dtype in (("A", a), ("B", b)):
            if dtype not in KIND_OF_TYPE:
                known = ", ".join(KIND_OF_TYPE)
                yield Diagnostic(TYPES, f"{name} must have one of the types {known}, found `{dtype}`")
                return
        if KIND_OF_TYPE[a] != KIND_OF_TYPE[b]:
            yield Diagnostic(TYPES, f"A and B must be of one MMA kind, found `{a}` and `{b}`")
            return
        if self.scale is None and self.scale_vec is not None:
            yield Diagnostic(SCALES, f"`scale_vec` needs `scale`, found {self.scale_vec} alone")
        if self.scale is not None:
            yield from self._scale_problems()
        yield from self._wide_problems()
        if self.k96 and (not self.scale or self.kind not in ("mxf4", "mxf4nvf4")):
            found = f"`{a}` and `{b}`, `scale` {self.scale}"
            message = f"`k96` needs packed `e2m1` with scale factors, found {found}"
            yield refusal(message, TYPES, "PTX ISA 9.7.16.2.1, table 39")
        elif not self.wide and not self._padded():
            message = "packed `e2m1` needs scale factors and another such matrix; else its tiles are padded"
            yield Diagnostic(TYPES, message, help="give `scale`, or `SharedTile(.., padded=True)`")
        accumulators = ("f32",) if self.scale or "bf16" in (a, b) else ACCUMULATORS[KIND_OF_TYPE[a]]
        if self.d not in accumulators:
            names = " or ".join(f"`{name}`" for name in accumulators)
            scaled = "block-scaled " if self.scale else ""
            yield Diagnostic(TYPES, f"D of {scaled}`{a}` x `{b}` must be {names}, found `{self.d}`")

    def _padded(self) -> bool:
        tiles = [tile for tile in (self.a, self.b) if isinstance(tile, SharedTile) and tile.dtype == "e2m1"]
        return self.kind in ("mxf4", "mxf4nvf4") or all(tile.padded for tile in tiles)

    def _scale_problems(self) -> Iterator[Diagnostic]:
        if KIND_OF_TYPE[self.a.dtype] != "f8f6f4":
            yield Diagnostic(SCALES, f"block scaling needs types of 4 to 8 bits, found `{self.a.dtype}`")
            return
        kinds = vectors_of(self.kind, self.later)
        if self.scale not in kinds:
            names = " or ".join(f"`{name}`" for name in kinds)
            message = f"the scales of `.kind::{self.kind}` must be {names}, found `{self.scale}`"
            yield refusal(message, SCALES, "PTX ISA 9.7.16.10.7.1, table 57")
        elif self.scale_vec not in (None, *kinds[self.scale]):
            names = " or ".join(f"`{name}`" for name in kinds[self.scale])
            what = f"`scale_vec` of `.kind::{self.kind}` with `{self.scale}`"
            message = f"{what} must be {names}, found {self.scale_vec}"
            yield refusal(message, SCALES, "PTX ISA 9.7.16.10.7.1, table 57")

    def _size_problems(self) -> Iterator[Diagnostic]:
        way = f"`.kind::{self.kind}` with `cta_group` {self.cta_group}{', `.ws`' if self.ws else ''}"
        every = shapes(self.kind, cta_group=self.cta_group, ws=self.ws, sparse=self.sparse)
        if not self._rows():
            ms = in_words(tuple(sorted({m // self.cta_group for row in every for m in row.m})))
            sparse = " sparse" if self.sparse else ""
            message = f"A of{sparse} {way} must have {ms} rows in a CTA, found {self.a.mn}"
            yield refusal(message, SIZE, "PTX ISA 9.7.16.2.1, table 39")
            return
        if self.k % self.step_k:
            yield Diagnostic(SIZE, f"K of {way} must be a multiple of {self.step_k}, found {self.k}")
            return
        if not self.step_n:
            yield self._no_step_n(way)
            return
        yield from self._place_problems()
        yield from self._swizzle_problems()

    def _no_step_n(self, way: str) -> Diagnostic:
        part = self.n // self.lane_groups
        legal = self._rows()[0].n
        if any(part % n == 0 for n in legal):
            message = f"N = {self.n} takes several instructions, each of which begins at an atom of B"
            where = f"{self.b.atom[0]} rows with `swizzle` {self.b.swizzle}"
            return Diagnostic(
                SWIZZLE, f"{message} ({where}), found {part} columns", help="use a narrower swizzle"
            )
        message = f"N of {way} with M = {self.m} must be a multiple of one of {in_words(legal)}, found {part}"
        return refusal(message, SIZE, "PTX ISA 9.7.16.2.1, table 39")

    def _place_problems(self) -> Iterator[Diagnostic]:
        space = f"{self.columns} columns of tensor memory"
        if self.accumulator_columns > self.columns:
            columns = self.accumulator_columns
            yield Diagnostic(PLACE, f"D must fit {space}, found {columns}: N = {self.n}")
        elif (
            isinstance(self.a, TensorTile) and self.accumulator_columns + self.operand_columns > self.columns
        ):
            found = f"{self.accumulator_columns} and {self.operand_columns}"
            yield Diagnostic(PLACE, f"D and A must fit {space} together, found {found}")
        if isinstance(self.a, TensorTile) and self.ws and self.m < 128:
            yield Diagnostic(PLACE, f"A in tensor memory with `.ws` needs M = 128, found {self.m}")
        if self.fold and isinstance(self.a, TensorTile):
            yield Diagnostic(PLACE, "`fold` needs A in shared memory: it would read A at lanes 0 and 16")

    def _swizzle_problems(self) -> Iterator[Diagnostic]:
        for name, tile in (("A", self.a), ("B", self.b)):
            if not isinstance(tile, SharedTile):
                continue
            wide = tile.swizzle == "128B-32B-atom"
            if self.kind == "tf32" and tile.major == "MN" and not wide:
                message = (
                    f"transposed {name} of `.kind::tf32` needs `swizzle` 128B-32B-atom, found {tile.swizzle}"
                )
                yield refusal(message, SWIZZLE, "PTX ISA 9.7.16.10.1")
            if self.kind != "tf32" and wide:
                message = (
                    f"`swizzle` 128B-32B-atom of {name} is for `.kind::tf32`, found `.kind::{self.kind}`"
                )
                yield refusal(message, SWIZZLE, "PTX ISA 9.7.16.10.1")
            if self.kind in ("mxf4", "mxf4nvf4", "ti16") and tile.major == "MN":
                yield refusal(f"{name} of `.kind::{self.kind}` must be K-major", SWIZZLE, "PTX ISA table 51")
            if self.k96:
                if tile.swizzle != "128B":
                    message = f"{name} of a `k96` product needs `swizzle` 128B, found {tile.swizzle}"
                    yield refusal(message, SWIZZLE, "PTX ISA 9.7.16.3.1.2.1")
                continue
            step = self.step_k // (2 if self.sparse and name == "A" else 1)
            if tile.major == "K" and tile.swizzle != "none" and tile.atom[1] % step:
                wants = f"one step takes {step} elements of {name} along K"
                message = f"{wants}, an atom of `swizzle` {tile.swizzle} has {tile.atom[1]}"
                yield Diagnostic(
                    SWIZZLE, message, help="use a wider swizzle or none, or transpose the matrix"
                )

    @property
    def operand_bits(self) -> int:
        """Bits that an element of A takes in tensor memory, 0 where A lies in shared memory."""
        if isinstance(self.a, SharedTile):
            return 0
        return 4 if self.kind in ("mxf4", "mxf4nvf4") else self.a.container_bits

    @property
    def operand_columns(self) -> int:
        """Columns of tensor memory that A takes."""
        return -(-self.a.k * self.operand_bits // 32)

    @property
    def accumulator_columns(self) -> int:
        """Columns of tensor memory that D takes."""
        return self.n // self.lane_groups // self.path.groups


def scale_count(product: Product) -> int:
    """Scale factors of a row that one instruction reads."""
    assert product.vector is not None
    return factor_count(product.vector, product.k_code)
