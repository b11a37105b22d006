"""The one table of types: PTX name, width, kind, numpy or ml_dtypes name, tensor-map code.

PTX ISA 5.2 (fundamental types), 5.2.3 (alternate floating-point formats), 5.2.5 (packed), 5.5
(tensor maps: `tensormap.replace .elemtype` values). Names are PTX's, without the dot.
Nothing here imports numpy: `numpy_dtype` does so when asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


class Kind(StrEnum):
    """What the bits of a type mean."""

    BITS = "bits"
    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FLOAT = "float"
    PREDICATE = "predicate"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class DType:
    """One type.

    Attributes:
        name: PTX's name without the dot.
        bits: width of one element; of one lane's whole value for packed types such as `f16x2`.
        kind: what the bits mean.
        numpy: the name of the numpy or `ml_dtypes` type that holds one element, or None.
        lanes: elements in a packed value, 1 for scalars.
        fundamental: whether registers and variables may be declared with it.
        tensor_map: the `.elemtype` value of `tensormap.replace`, or None.
        pack: elements to a byte where numpy can't address one alone (2 for `e2m1`), else 1.
    """

    name: str
    bits: int
    kind: Kind
    numpy: str | None = None
    lanes: int = 1
    fundamental: bool = False
    tensor_map: int | None = None
    pack: int = 1

    @property
    def bytes(self) -> int:
        """Width in bytes, rounded up."""
        return (self.bits + 7) // 8

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.kind is Kind.FLOAT

    @property
    def is_signed(self) -> bool:
        """Whether the elements are two's-complement integers."""
        return self.kind is Kind.SIGNED

    @property
    def is_integer(self) -> bool:
        """Whether the elements are signed or unsigned integers (untyped bits are not)."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)


_B, _U, _S, _F = Kind.BITS, Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT

_TABLE = (
    # name     bits kind  numpy      and the rest
    DType("b8", 8, _B, "uint8", fundamental=True),
    DType("b16", 16, _B, "uint16", fundamental=True),
    DType("b32", 32, _B, "uint32", fundamental=True),
    DType("b64", 64, _B, "uint64", fundamental=True),
    DType("b128", 128, _B, None, fundamental=True),
    DType("u8", 8, _U, "uint8", fundamental=True, tensor_map=0),
    DType("u16", 16, _U, "uint16", fundamental=True, tensor_map=1),
    DType("u32", 32, _U, "uint32", fundamental=True, tensor_map=2),
    DType("u64", 64, _U, "uint64", fundamental=True, tensor_map=4),
    DType("s8", 8, _S, "int8", fundamental=True),
    DType("s16", 16, _S, "int16", fundamental=True),
    DType("s32", 32, _S, "int32", fundamental=True, tensor_map=3),
    DType("s64", 64, _S, "int64", fundamental=True, tensor_map=5),
    DType("f16", 16, _F, "float16", fundamental=True, tensor_map=6),
    DType("f32", 32, _F, "float32", fundamental=True, tensor_map=7),
    DType("f64", 64, _F, "float64", fundamental=True, tensor_map=9),
    DType("f16x2", 32, _F, None, lanes=2, fundamental=True),
    DType("f32x2", 64, _F, None, lanes=2),
    DType("pred", 1, Kind.PREDICATE, "bool", fundamental=True),
    DType("bf16", 16, _F, "bfloat16", tensor_map=10),
    DType("bf16x2", 32, _F, None, lanes=2),
    DType("tf32", 32, _F, "float32", tensor_map=11),
    DType("f32.ftz", 32, _F, "float32", tensor_map=8),
    DType("tf32.ftz", 32, _F, "float32", tensor_map=12),
    DType("e4m3", 8, _F, "float8_e4m3fn"),
    DType("e5m2", 8, _F, "float8_e5m2"),
    DType("e2m3", 6, _F, "float6_e2m3fn"),
    DType("e3m2", 6, _F, "float6_e3m2fn"),
    DType("e2m1", 4, _F, "float4_e2m1fn", pack=2),
    DType("ue8m0", 8, _F, "float8_e8m0fnu"),
    DType("ue4m3", 8, _F, "float8_e4m3fn"),
    DType("ue5m3", 8, _F, "uint8"),
    DType("s1z4m11", 16, _B, "uint16"),
    DType("e4m3x2", 16, _F, None, lanes=2),
    DType("e5m2x2", 16, _F, None, lanes=2),
    DType("e2m3x2", 16, _F, None, lanes=2),
    DType("e3m2x2", 16, _F, None, lanes=2),
    DType("e2m1x2", 8, _F, None, lanes=2),
    DType("ue8m0x2", 16, _F, None, lanes=2),
    DType("e4m3x4", 32, _F, None, lanes=4),
    DType("e5m2x4", 32, _F, None, lanes=4),
    DType("e2m3x4", 32, _F, None, lanes=4),
    DType("e3m2x4", 32, _F, None, lanes=4),
    DType("e2m1x4", 16, _F, None, lanes=4),
    DType("u16x2", 32, _U, None, lanes=2),
    DType("s16x2", 32, _S, None, lanes=2),
    DType("u8x4", 32, _U, None, lanes=4),
    DType("s8x4", 32, _S, None, lanes=4),
    DType("e2m1p4x4", 32, _F, None, lanes=4),
    DType("ue8m0x4", 32, _F, None, lanes=4),
    DType("ue5m3x2", 16, _F, None, lanes=2),
    DType("s2f6x2", 16, _F, None, lanes=2),
    DType("b4", 4, _B, "uint8", pack=2),
    DType("u4", 4, _U, "uint4", pack=2),
    DType("s4", 4, _S, "int4", pack=2),
    DType("b1", 1, _B, None, pack=8),
    DType("b4x16", 64, _B, None, lanes=16, tensor_map=13),
    DType("b4x16_p64", 64, _B, None, lanes=16, tensor_map=14),
    DType("b6x16_p32", 96, _B, None, lanes=16, tensor_map=15),
    DType("texref", 64, Kind.OPAQUE),
    DType("samplerref", 64, Kind.OPAQUE),
    DType("surfref", 64, Kind.OPAQUE),
)

DTYPES: dict[str, DType] = {dtype.name: dtype for dtype in _TABLE}
FUNDAMENTAL: frozenset[str] = frozenset(d.name for d in _TABLE if d.fundamental)


def dtype(name: str) -> DType:
    """The type called `name` (with or without its dot).

    Raises:
        KeyError: there is no such type; `DTYPES` lists them.
    """
    return DTYPES[name.removeprefix(".")]


def numpy_dtype(name: str) -> numpy.dtype:
    """The numpy dtype that holds one element of type `name`, from `ml_dtypes` where numpy has none.

    Raises:
        KeyError: the type is unknown or has no numpy counterpart (packed and opaque types).
    """
    import numpy as np

    counterpart = dtype(name).numpy
    if counterpart is None:
        raise KeyError(f"type `{name}` has no numpy counterpart")
    if not hasattr(np, counterpart):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, counterpart))
    return np.dtype(counterpart)
