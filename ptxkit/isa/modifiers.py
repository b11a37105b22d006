"""What modifiers mean: the values of a form's slots as the rest of the house reads them.

A slot's text becomes a member of one of these enumerations, a `DType`, a number (`.v4`, `.x8`, `.3d`) or a shape
(`.m16n8k16`); a flag (`.ftz`, `.sat`) becomes True. A member's value is the modifier's text; where an enumeration
gives none, it is the member's name in small letters. If one word means two things, the name of its slot decides
(`SLOTS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from ptxkit.dtypes import DTYPES


class StateSpace(StrEnum):
    """Where a variable lies, and what an address is in. PTX ISA 5.1; no modifier says `GENERIC`."""

    GENERIC = "generic"
    GLOBAL = "global"
    SHARED = "shared"
    SHARED_CTA = "shared::cta"
    SHARED_CLUSTER = "shared::cluster"
    LOCAL = "local"
    CONST = "const"
    PARAM = "param"
    PARAM_ENTRY = "param::entry"
    PARAM_FUNC = "param::func"
    TENSOR_MEMORY = "tmem"


MemoryOrder = StrEnum("MemoryOrder", "WEAK RELAXED ACQUIRE RELEASE ACQ_REL SC VOLATILE MMIO")
"""How a memory operation is ordered. PTX ISA 8.4, 8.7; `VOLATILE` and `MMIO` order as relaxed ones do."""

MemoryScope = StrEnum("MemoryScope", "CTA CLUSTER GPU SYS GL")
"""The threads among which an order holds. PTX ISA 8.5; `GL` is what `membar` calls the GPU."""

Rounding = StrEnum("Rounding", "RN RZ RM RP RNA RS")
"""Which of its two neighbours a value is rounded to. PTX ISA 9.7.3, 9.7.9.21; `RS` is stochastic."""


IntegerRounding = StrEnum("IntegerRounding", "RNI RZI RMI RPI")
"""The same, to an integer. PTX ISA 9.7.9.21."""

Comparison = StrEnum("Comparison", "EQ NE LT LE GT GE LO LS HI HS EQU NEU LTU LEU GTU GEU NUM NAN")
"""Comparison operators. PTX ISA 9.3.1."""

MemoryOperation = StrEnum("MemoryOperation", "ADD MIN MAX AND OR XOR INC DEC EXCH CAS POPC")
"""The operation on a value in memory or across threads. PTX ISA 9.7.13.5, 9.7.13.12; also of `setp`."""


class Property(StrEnum):
    """What `testp` asks. PTX ISA 9.7.3.1."""

    FINITE = "finite"
    INFINITE = "infinite"
    NUMBER = "number"
    NOT_A_NUMBER = "notanumber"
    NORMAL = "normal"
    SUBNORMAL = "subnormal"


Mode = StrEnum("Mode", "UP DOWN BFLY IDX F4E B4E RC8 ECL ECR RC16 ALL ANY UNI CLAMP WRAP TRAP ZERO")
"""The variants of `shfl`, `prmt`, `vote`, of shifts and of bit fields."""


Layout = StrEnum("Layout", "ROW COL")
"""How a matrix lies in memory. PTX ISA 9.7.14.1."""


class LoadMode(StrEnum):
    """How a tensor copy walks the tensor. PTX ISA 5.5.3."""

    TILE = "tile"
    TILE_GATHER4 = "tile::gather4"
    TILE_SCATTER4 = "tile::scatter4"
    IM2COL = "im2col"
    IM2COL_W = "im2col::w"
    IM2COL_W_128 = "im2col::w::128"
    IM2COL_NO_OFFS = "im2col_no_offs"
    IM2COL_NO_OFFS_W = "im2col_no_offs::w"


TensorMapField = StrEnum(
    "TensorMapField",
    "GLOBAL_ADDRESS RANK BOX_DIM GLOBAL_DIM ELEMENT_STRIDE GLOBAL_STRIDE ELEMTYPE INTERLEAVE_LAYOUT "
    "SWIZZLE_MODE SWIZZLE_ATOMICITY FILL_MODE",
)
"""What `tensormap.replace` writes. PTX ISA 9.7.9.29."""


class MmaKind(StrEnum):
    """The kinds of `tcgen05.mma`, and of block-scaled `mma`. PTX ISA 9.7.16.2."""

    TF32 = "kind::tf32"
    F16 = "kind::f16"
    I8 = "kind::i8"
    F8F6F4 = "kind::f8f6f4"
    MXF8F6F4 = "kind::mxf8f6f4"
    MXF4 = "kind::mxf4"
    MXF4NVF4 = "kind::mxf4nvf4"
    TI16 = "kind::ti16"


class ScaleVector(StrEnum):
    """How many elements share a scale, or how many scales a row has. PTX ISA 9.7.16.10.7, 9.7.14.4.1."""

    X1 = "scale_vec::1X"
    X2 = "scale_vec::2X"
    X4 = "scale_vec::4X"
    BLOCK16 = "block16"
    BLOCK32 = "block32"


class SyncRestrict(StrEnum):
    """What alone `tcgen05.commit` waits for. PTX ISA 9.7.18.12.1 of 9.4."""

    READ_OF_A = "sync_restrict::shared::read::mma::a"


class SparseOrder(StrEnum):
    """Whether metadata may name the elements of a chunk in any order. PTX ISA 9.7.14.6.2."""

    ANY = "sp"
    ORDERED = "sp::ordered_metadata"


class MovementShape(StrEnum):
    """Which cells of Tensor Memory an access moves, and to which threads. PTX ISA 9.7.16.2.3."""

    P16X64B = "16x64b"
    P16X128B = "16x128b"
    P16X256B = "16x256b"
    P32X32B = "32x32b"
    P16X32BX2 = "16x32bx2"
    P128X256B = "128x256b"
    P4X256B = "4x256b"
    P128X128B = "128x128b"
    P64X128B = "64x128b"
    P32X128B = "32x128b"


class MbarrierLayout(StrEnum):
    """What an mbarrier object holds; one of `V1` has a payload report, too. PTX ISA 9.4, 9.7.15.16.2."""

    V0 = "layout::v0"
    V1 = "layout::v1"


class Multicast(StrEnum):
    """Which warps' rows `tcgen05.cp` writes. PTX ISA 9.7.16.8.2."""

    WARPX2_02_13 = "warpx2::02_13"
    WARPX2_01_23 = "warpx2::01_23"
    WARPX4 = "warpx4"


PackedSource = StrEnum("PackedSource", "B6X16_P32 B4X16_P64")
"""Narrow elements as they lie in memory, to be spread out. PTX ISA 9.7.16.8.1, 9.7.14.5.15."""

GridAction = StrEnum("GridAction", "LAUNCH_DEPENDENTS WAIT")
"""What `griddepcontrol` does. PTX ISA 9.7.13.13."""


class FirstCta(StrEnum):
    """Which coordinate `clusterlaunchcontrol.query_cancel` gives. PTX ISA 9.7.13.18."""

    X = "get_first_ctaid::x"
    Y = "get_first_ctaid::y"
    Z = "get_first_ctaid::z"


CollectorUse = StrEnum("CollectorUse", "FILL USE LASTUSE DISCARD")
"""What `tcgen05.mma` does with a collector buffer. PTX ISA 9.7.16.10.7."""


class Collector(NamedTuple):
    """A collector buffer, `a`, `b` or `b0` to `b3`, and what is done with it."""

    buffer: str
    use: CollectorUse

    @classmethod
    def of(cls, text: str) -> Collector:
        """`collector::a::fill`, read."""
        _, buffer, use = text.split("::")
        return cls(buffer, CollectorUse(use))


class PackedInteger(NamedTuple):
    """What `cvt.pack` converts to. PTX ISA 9.7.9.22."""

    signed: bool
    bits: int

    @classmethod
    def of(cls, text: str) -> PackedInteger:
        """`s4`, read."""
        return cls(text[0] == "s", int(text[1:]))


class Validity(NamedTuple):
    """Which elements of a copy's source make it report: those that equal a pattern. PTX ISA 9.4,
    9.7.10.28.1.3.

    Attributes:
        bits: of an element; 0 where none are looked at.
        sampled: whether one element of every 16 bytes is looked at, or each.
    """

    pattern: int
    bits: int
    sampled: bool

    @classmethod
    def of(cls, text: str) -> Validity:
        """`mbarrier::report::validity::per_16bytes::8000`, read."""
        _, _, kind, *rest = text.split("::")
        if kind == "disabled":
            return cls(0, 0, False)
        granularity, digits = rest
        return cls(int(digits, 16), 4 * len(digits), granularity == "per_16bytes")


class SparseRatio(NamedTuple):
    """How many elements of how many a structured sparse vector keeps. PTX ISA 9.7.16.8.7."""

    kept: int
    total: int

    @classmethod
    def of(cls, text: str) -> SparseRatio:
        """`sp::2:4`, read."""
        return cls(*map(int, text.removeprefix("sp::").split(":")))


class Geometry(StrEnum):
    """What coordinates of a texture or surface select from. PTX ISA 9.7.10.3; `MS` is multi-sampled."""

    D1 = "1d"
    D2 = "2d"
    D3 = "3d"
    ARRAY_1D = "a1d"
    ARRAY_2D = "a2d"
    CUBE = "cube"
    ARRAY_CUBE = "acube"
    MS_2D = "2dms"
    ARRAY_MS_2D = "a2dms"


OpaqueField = StrEnum(
    "OpaqueField",
    "WIDTH HEIGHT DEPTH CHANNEL_DATA_TYPE CHANNEL_ORDER NORMALIZED_COORDS FORCE_UNNORMALIZED_COORDS "
    "ARRAY_SIZE NUM_MIPMAP_LEVELS NUM_SAMPLES FILTER_MODE ADDR_MODE_0 ADDR_MODE_1 ADDR_MODE_2 MEMORY_LAYOUT",
)
"""What `txq` and `suq` ask of a texture, sampler or surface. PTX ISA 5.3."""


class Shape(NamedTuple):
    """The extents of a matrix product, or of a matrix that is moved (`k` is 0 then)."""

    m: int
    n: int
    k: int

    @property
    def multiply_adds(self) -> int:
        """Those of the product."""
        return self.m * self.n * self.k

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}" + (f"k{self.k}" if self.k else "")


_ENUMERATIONS: tuple[type[StrEnum], ...] = (
    StateSpace,
    MemoryOrder,
    MemoryScope,
    Rounding,
    IntegerRounding,
    Comparison,
    MemoryOperation,
    Property,
    Mode,
    Layout,
    LoadMode,
    TensorMapField,
    MmaKind,
    ScaleVector,
    SyncRestrict,
    MovementShape,
    MbarrierLayout,
    Multicast,
    PackedSource,
    GridAction,
    FirstCta,
)

SLOTS: Mapping[str, Callable[[str], Any]] = {
    "dim": lambda text: int(text[0]),
    "scale": lambda text: int(text.removeprefix("shr")),
    "spvariant": SparseOrder,
    "collector": Collector.of,
    "collector_b": Collector.of,
    "src_fmt": PackedSource,
    "convertType": PackedInteger.of,
    "ratio": SparseRatio.of,
    "report": Validity.of,
    "itype": lambda text: int(text[1:]),
    "geom": Geometry,
    "comp": "rgba".index,
    "query": OpaqueField,
}
"""How slots of these names are read, whatever else their words mean."""

_SHAPE = re.compile(r"m(\d+)n(\d+)(?:k(\d+))?")
_COUNT = re.compile(r"[vx](\d+)|cta_group::(\d)")


@cache
def _words() -> Mapping[str, Any]:
    """Every word that means the same in each slot."""
    found: dict[str, Any] = {}
    for members in _ENUMERATIONS:
        for member in members:
            if found.setdefault(member.value, member) is not member:
                raise ValueError(f"`.{member.value}` means two things")
    return DTYPES | found


def meaning(slot: str, text: str) -> Any:
    """What a modifier in the slot of that name means.

    Returns:
        A member of an enumeration of this file, a `DType`, an int, a `Shape`; True for any other word.
    """
    if slot in SLOTS:
        return SLOTS[slot](text)
    known = _words().get(text)
    if known is not None:
        return known
    if found := _SHAPE.fullmatch(text):
        return Shape(*(int(number or 0) for number in found.groups()))
    if found := _COUNT.fullmatch(text):
        return int(found[1] or found[2])
    return True
