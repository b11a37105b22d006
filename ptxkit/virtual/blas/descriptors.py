"""Descriptors of cuBLASLt: of a product, a matrix, a preference, an algorithm. They are the structures of the
header, so a program may keep them where it likes and copy them. cuBLAS's manual, "cuBLASLt datatypes
reference"."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import LETTERS, Pointer, Size, put
from ptxkit.virtual.blas import blas
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure


class DescriptorKind:
    """A kind of descriptor.

    Attributes:
        noun: what findings call it.
        size: bytes that the header's structure has.
        attributes: the field of each attribute, by its number.
    """

    def __init__(self, noun: str, size: int, table: str) -> None:
        """Args: table: a line an attribute: number, name, letter of its type, what it is at first."""
        self.noun = noun
        self.size = size
        rows = [line.split() for line in table.strip().splitlines()]
        self.attributes = {int(number): name for number, name, *_ in rows}
        self._first = {name: float(first) if letter == "f" else int(first) for _, name, letter, first in rows}
        fields = [("mark", ctypes.c_uint64), *((name, LETTERS[letter]) for _, name, letter, _ in rows)]
        self._structure: Any = type(noun.title().replace(" ", ""), (ctypes.Structure,), {"_fields_": fields})
        self._mark = int.from_bytes(noun.encode()[-8:], "little")
        self._made: dict[int, Any] = {}
        assert ctypes.sizeof(self._structure) <= size

    def fill(self, address: int, size: int, **values: Any) -> None:
        """Begin a descriptor in a program's memory.

        Raises:
            DriverError: INVALID_VALUE; OUT_OF_MEMORY, it does not fit.
        """
        if not address:
            raise failure("INVALID_VALUE", f"a {self.noun} is null")
        if size < self.size:
            raise failure("OUT_OF_MEMORY", f"a {self.noun} has {self.size} bytes, found {size}")
        ctypes.memset(address, 0, self.size)
        made = self._structure.from_address(address)
        for name, value in {"mark": self._mark, **self._first, **values}.items():
            setattr(made, name, value)

    def make(self, place: int, **values: Any) -> None:
        """Begin one in memory of its own; its address goes to `place`."""
        kept = (ctypes.c_uint64 * (self.size // 8))()
        address = ctypes.addressof(kept)
        self.fill(address, self.size, **values)
        put(place, Pointer, address)
        self._made[address] = kept

    def destroy(self, address: int) -> None:
        """One goes that was made."""
        self.at(address).mark = 0
        self._made.pop(address, None)

    def at(self, address: int) -> Any:
        """The descriptor at an address.

        Raises:
            DriverError: INVALID_VALUE, there is none.
        """
        found = self._structure.from_address(address) if address else None
        if found is None or found.mark != self._mark:
            raise failure("INVALID_VALUE", f"{address:#x} is no {self.noun}")
        return found

    def field(self, address: int, number: int) -> tuple[int, int]:
        """The address and bytes of an attribute.

        Raises:
            DriverError: INVALID_VALUE, there is none.
        """
        self.at(address)
        if number not in self.attributes:
            raise failure("INVALID_VALUE", f"a {self.noun} has no attribute {number}")
        found = getattr(self._structure, self.attributes[number])
        return address + found.offset, found.size


LAYOUT = DescriptorKind(
    "matrix layout",
    64,
    """
    0 type u 0
    1 order i 0
    2 rows q 0
    3 columns q 0
    4 ld l 0
    5 batches i 1
    8 batch_mode u 0
    6 stride l 0
    7 plane l 0
    """,
)
MATMUL = DescriptorKind(
    "matmul descriptor",
    256,
    """
    0 compute i 0
    1 scale_type i 0
    2 pointer_mode i 0
    3 transa i 0
    4 transb i 0
    5 transc i 0
    6 fill i 2
    7 epilogue u 1
    8 bias p 0
    10 bias_stride l 0
    11 aux p 0
    12 aux_ld l 0
    13 aux_stride l 0
    14 alpha_stride l 0
    15 multiprocessors i 0
    22 aux_type i -1
    17 a_scale p 0
    18 b_scale p 0
    19 c_scale p 0
    20 d_scale p 0
    21 largest p 0
    23 aux_scale p 0
    24 aux_largest p 0
    26 bias_type i -1
    31 a_mode i 0
    32 b_mode i 0
    33 c_mode i 0
    34 d_mode i 0
    35 aux_mode i 0
    36 d_out_scale p 0
    37 d_out_mode i 0
    25 fast b 0
    38 emulation p 0
    """,
)
PREFERENCE = DescriptorKind(
    "matmul preference",
    64,
    """
    0 search u 0
    3 reductions u 7
    1 workspace q 0
    5 align_a u 256
    6 align_b u 256
    7 align_c u 256
    8 align_d u 256
    9 waves f 0
    12 kinds q 18446744073709551615
    """,
)
ALGORITHM = DescriptorKind(
    "matmul algorithm",
    64,
    """
    0 id i 0
    1 tile u 0
    2 splits i 1
    3 reduction u 0
    4 swizzling u 0
    5 option u 0
    6 stages u 0
    7 inner h 0
    8 cluster h 0
    """,
)


def _register(prefix: str, kind: DescriptorKind, *given: str, owned: bool = True) -> None:
    """The functions of a kind: those that begin one take what is `given`."""

    def create(machine: Machine, place: int, *values: int) -> None:
        kind.make(place, **dict(zip(given, values, strict=True)))

    def begin(machine: Machine, address: int, size: int, *values: int) -> None:
        kind.fill(address, size, **dict(zip(given, values, strict=True)))

    def destroy(machine: Machine, address: int) -> None:
        kind.destroy(address)

    def write(machine: Machine, address: int, number: int, source: int, size: int) -> None:
        place, wanted = kind.field(address, number)
        if not source or size != wanted:
            raise failure(
                "INVALID_VALUE", f"attribute {number} of a {kind.noun} has {wanted} bytes, found {size}"
            )
        ctypes.memmove(place, source, size)

    def read(machine: Machine, address: int, number: int, to: int, size: int, written: int) -> None:
        place, wanted = kind.field(address, number)
        if size and (not to or size != wanted):
            raise failure(
                "INVALID_VALUE", f"attribute {number} of a {kind.noun} has {wanted} bytes, found {size}"
            )
        if size:
            ctypes.memmove(to, place, size)
        if written or not size:
            put(written, Size, wanted)

    blas(f"{prefix}SetAttribute")(write)
    blas(f"{prefix}GetAttribute")(read)
    if owned:
        blas(f"{prefix}Create")(create)
        blas(f"{prefix}Init_internal")(begin)
        blas(f"{prefix}Destroy")(destroy)


_register("cublasLtMatrixLayout", LAYOUT, "type", "rows", "columns", "ld")
_register("cublasLtMatmulDesc", MATMUL, "compute", "scale_type")
_register("cublasLtMatmulPreference", PREFERENCE)
_register("cublasLtMatmulAlgoConfig", ALGORITHM, owned=False)
