"""`cudaDataType` and `cublasComputeType_t`: what each is to numpy, and which go together. cuBLAS's manual,
the tables of cublasGemmEx and cublasLtMatmul."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxkit.dtypes import dtype, numpy_dtype
from ptxkit.virtual.results import failure

Values = np.ndarray
"""Numbers of `CudaType.working`."""


@dataclass(frozen=True, slots=True)
class CudaType:
    """A type of matrices' elements.

    Attributes:
        name: as `cudaDataType` has it, without CUDA_.
        part: what a real number of it is, or each part of a complex one, by PTX's name.
    """

    name: str
    part: str

    @property
    def is_complex(self) -> bool:
        """Whether an element is two numbers."""
        return self.name.startswith("C")

    @property
    def bits(self) -> int:
        """Of an element."""
        return dtype(self.part).bits * (2 if self.is_complex else 1)

    @property
    def working(self) -> np.dtype:
        """What numpy computes in where alpha and beta are of this type."""
        if self.is_complex:
            return np.dtype(np.complex128)
        return np.dtype(np.int64 if self.name == "R_32I" else np.float64)

    @property
    def narrow(self) -> bool:
        """Whether only tensor cores multiply it, which have rules of their own."""
        return self.part in ("e4m3", "e5m2", "e2m1")

    def decoded(self, lines: np.ndarray) -> Values:
        """Elements from their bytes, line by line."""
        raw = np.ascontiguousarray(lines)
        if dtype(self.part).pack == 2:
            raw = np.stack((raw & 15, raw >> 4), axis=-1).reshape(len(raw), -1)
        values = raw.view(numpy_dtype(self.part)).astype(np.float64)
        return values.view(np.complex128) if self.is_complex else values

    def encoded(self, values: Values) -> np.ndarray:
        """The bytes of elements, line by line. Integers are as near as there are any; so is FP8, whose
        numbers have no infinity."""
        part = numpy_dtype(self.part)
        if self.is_complex:
            values = np.ascontiguousarray(values).view(np.float64)
        if part.kind == "i":
            values = _integers(values, np.iinfo(part))
        elif self.narrow:
            largest = {"e4m3": 448.0, "e5m2": 57344.0}[self.part]
            values = np.clip(values, -largest, largest)
        if part.itemsize < 4 and part.kind != "i":
            values = values.astype(np.float32)  # as sums are, on a GPU
        return np.ascontiguousarray(values.astype(part)).view(np.uint8)


def _integers(values: Values, limits: np.iinfo) -> Values:
    """Integers keep their low bits; of other numbers the nearest is taken that there is."""
    if values.dtype.kind == "i":
        return values
    return np.clip(np.rint(np.nan_to_num(values)), limits.min, limits.max).astype(np.int64)


TYPES = {
    0: CudaType("R_32F", "f32"),
    1: CudaType("R_64F", "f64"),
    2: CudaType("R_16F", "f16"),
    3: CudaType("R_8I", "s8"),
    4: CudaType("C_32F", "f32"),
    5: CudaType("C_64F", "f64"),
    7: CudaType("C_8I", "s8"),
    10: CudaType("R_32I", "s32"),
    14: CudaType("R_16BF", "bf16"),
    28: CudaType("R_8F_E4M3", "e4m3"),
    29: CudaType("R_8F_E5M2", "e5m2"),
    33: CudaType("R_4F_E2M1", "e2m1"),
}
"""`cudaDataType` by its number: those that some product takes."""
NAMED = {each.name: each for each in TYPES.values()}

COMPUTE_TYPES = {
    **dict.fromkeys((64, 65), "16F"),
    **dict.fromkeys((68, 69), "32F"),
    **dict.fromkeys((74, 75, 77, 78), "32F_FAST"),
    **dict.fromkeys((70, 71, 79), "64F"),
    **dict.fromkeys((72, 73), "32I"),
}
"""`cublasComputeType_t` by its number. What may be less precise is not, nor is anything emulated."""
COMBINATIONS = {
    "16F": "R_16F>R_16F",
    "32F": "R_16BF>R_16BF R_16F>R_16F R_8I>R_32F R_16BF>R_32F R_16F>R_32F R_32F>R_32F C_8I>C_32F C_32F>C_32F",
    "32F_FAST": "R_32F>R_32F C_32F>C_32F",
    "64F": "R_64F>R_64F C_64F>C_64F",
    "32I": "R_8I>R_32I",
}
"""By compute type: the type of A and B, and of C and D."""
_WIDE = "R_16BF>R_16BF R_16F>R_16F R_32F>R_32F"
_E4M3 = f"{_WIDE} R_16BF>R_8F_E4M3 R_16F>R_8F_E4M3"
_E5M2 = f"{_E4M3} R_16BF>R_8F_E5M2 R_16F>R_8F_E5M2"
NARROW = {
    ("e4m3", "e4m3"): _E4M3,
    ("e4m3", "e5m2"): _E5M2,
    ("e5m2", "e4m3"): _E5M2,
    ("e2m1", "e2m1"): _WIDE,
}
"""By the types of A and B: those of C and D."""


def type_of(number: int, what: str) -> CudaType:
    """A type by its number.

    Raises:
        DriverError: NOT_SUPPORTED, no product has it.
    """
    if number not in TYPES:
        raise failure("NOT_SUPPORTED", f"{what}: no product takes cudaDataType {number}")
    return TYPES[number]


def compute_type(number: int) -> str:
    """A compute type by its number.

    Raises:
        DriverError: NOT_SUPPORTED, there is none.
    """
    if number not in COMPUTE_TYPES:
        raise failure("NOT_SUPPORTED", f"there is no cublasComputeType_t {number}")
    return COMPUTE_TYPES[number]


def scale_type(compute: str, c: CudaType) -> CudaType:
    """What alpha and beta are, where nothing else is said."""
    real = {"16F": "R_16F", "64F": "R_64F", "32I": "R_32I"}.get(compute, "R_32F")
    return NAMED[real.replace("R_", "C_") if c.is_complex else real]


def check_types(compute: str, a: CudaType, b: CudaType, c: CudaType) -> None:
    """Refuse what the table of cublasGemmEx does not have.

    Raises:
        DriverError: NOT_SUPPORTED.
    """
    if a != b or f"{a.name}>{c.name}" not in COMBINATIONS[compute].split():
        given = f"A {a.name}, B {b.name}, C {c.name} with COMPUTE_{compute}"
        raise failure("NOT_SUPPORTED", f"cuBLAS has no product of {given}")


def check_narrow_types(
    compute: str, scale: CudaType, a: CudaType, b: CudaType, c: CudaType, d: CudaType
) -> None:
    """Refuse what the tables of FP8 and FP4 kernels do not have.

    Raises:
        DriverError: NOT_SUPPORTED.
    """
    known = f"{c.name}>{d.name}" in NARROW.get((a.part, b.part), "").split()
    if compute != "32F" or scale.name != "R_32F" or not known:
        given = f"A {a.name}, B {b.name}, C {c.name}, D {d.name} with COMPUTE_{compute} and {scale.name}"
        raise failure("NOT_SUPPORTED", f"cuBLASLt has no product of {given}")
