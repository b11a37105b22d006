"""The matrices of a product beside tiles in shared memory, and which types go together.

PTX ISA 9.7.16.2.1 (types), 9.7.16.10.7 (scales); 9.7.18.10.11 of 9.4 (look-up tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ptxkit.diagnostics import Diagnostic, error
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.encodings.targeted import TARGET
from ptxkit.layouts import SharedTile
from ptxkit.layouts.bitpacking import scatter
from ptxkit.targets import limits, parse

OPERANDS = "P480"
TYPES = "P481"
SIZE = "P482"
SWIZZLE = "P483"
SCALES = "P484"
PLACE = "P485"

KIND_OF_TYPE = {
    "tf32": "tf32",
    **dict.fromkeys(("f16", "bf16"), "f16"),
    **dict.fromkeys(("s8", "u8"), "i8"),
    **dict.fromkeys(("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), "f8f6f4"),
    "s1z4m11": "ti16",
}
"""The MMA kind of an element type without block scaling."""
ACCUMULATORS = {
    "tf32": ("f32",),
    "f16": ("f16", "f32"),
    "i8": ("s32",),
    "f8f6f4": ("f16", "f32"),
    "ti16": ("s32",),
}
"""Types of D by the kind without block scaling."""
_VECTORS: dict[str, dict[str, tuple[str, ...]]] = {
    "mxf8f6f4": {"ue8m0": ("1X",)},
    "mxf4": {"ue8m0": ("2X",)},
    "mxf4nvf4": {"ue8m0": ("2X", "4X"), "ue4m3": ("4X",)},
}
_LATER_VECTORS: dict[str, dict[str, tuple[str, ...]]] = {
    **_VECTORS,
    "mxf4nvf4": {"ue8m0": ("2X", "4X"), "ue4m3": ("4X", "2X"), "ue5m3": ("4X", "2X")},
}
TABLE_BYTES = 8
"""Of the table that eight columns of B share, two columns of a lane of tensor memory."""


def refusal(message: str, code: str, section: str) -> Diagnostic:
    """What the manual rules out, and where."""
    return Diagnostic(code, message, notes=(section,))


def vectors_of(kind: str, later: bool = False) -> dict[str, tuple[str, ...]]:
    """Scale vectors of a kind by scale type (9.7.16.10.7.1, table 57); the first is the default.

    `later`: those of sm_107 (table 68 of PTX ISA 9.4).
    """
    return (_LATER_VECTORS if later else _VECTORS)[kind]


def is_later(target: str | None) -> bool:
    """Whether a target is one of sm_107."""
    found = parse(target) if target else None
    return found is not None and found.capability == (10, 7)


def tensor_columns(target: str | None) -> int:
    """Columns of tensor memory of a target."""
    return limits(target if target and is_later(target) else "sm_100a").tensor_memory_columns


def target_problems(target: str | None, asked: Sequence[str]) -> Iterator[Diagnostic]:
    """What is wrong with a target, of which things are asked that sm_107 alone has."""
    known = parse(target) if target else None
    if target is not None and known is None:
        yield Diagnostic(OPERANDS, f"`target` must be an architecture, found `{target}`")
    elif not is_later(target):
        for what in asked:
            yield Diagnostic(TARGET, f"{what} needs `target` sm_107f or sm_107a, found {known or 'none'}")


@dataclass(frozen=True)
class TensorTile:
    """Matrix A in tensor memory: K-major, packed 32 / bits elements to a column.

    Attributes:
        mn: rows in this CTA.
        k: columns, elements along K as stored.
        dtype: element type by PTX name.
    """

    mn: int
    k: int
    dtype: str
    major: ClassVar[str] = "K"

    @property
    def container_bits(self) -> int:
        """Bits an element takes: 8 for 6-bit types and for e2m1 outside mxf4 (9.7.16.10.4.3)."""
        return max(8, DTYPES[self.dtype].bits)


@dataclass(frozen=True)
class LookedUpTile:
    """Matrix B as indexes of 3 bits into tables of eight e4m3 in tensor memory, of `sm_107f`.

    A row has 48 bytes for each 128 elements. The table of columns 8g to 8g + 7 of a CTA is the 8 bytes of two
    columns of tensor memory, the first an even one, in the lane of the address plus g.

    Attributes:
        mn: rows in this CTA, a multiple of 8.
        k: columns, a multiple of 64.
        dtype, major, swizzle, padded: what such a tile is.
    """

    mn: int
    k: int
    dtype: ClassVar[str] = "e4m3"
    major: ClassVar[str] = "K"
    swizzle: ClassVar[str] = "none"
    padded: ClassVar[bool] = False
    atom: ClassVar[tuple[int, int]] = (8, 128)

    def __post_init__(self) -> None:
        for name, step in (("mn", 8), ("k", 64)):
            found = getattr(self, name)
            if found <= 0 or found % step:
                raise error(
                    SIZE, f"`{name}` of looked-up elements must be a multiple of {step}, found {found}"
                )

    @property
    def stored(self) -> SharedTile:
        """The bytes."""
        return SharedTile(self.mn, -(-self.k // 128) * 48, "u8", swizzle="none")

    @property
    def nbytes(self) -> int:
        """Bytes of the tile."""
        return self.stored.nbytes

    def pack(self, indexes: np.ndarray) -> np.ndarray:
        """The bytes of the tile, uint8.

        Args:
            indexes: (mn, k), 0 to 7.
        """
        if indexes.shape != (self.mn, self.k):
            raise error(OPERANDS, f"`indexes` must have shape {(self.mn, self.k)}, found {indexes.shape}")
        tile = self.stored
        row, column = np.indices(indexes.shape)
        rows = scatter(indexes, row * tile.k * 8 + column * 3, 3, tile.mn * tile.k)
        return tile.pack(rows.reshape(tile.mn, tile.k))

    def part(self, mn: int, k: int) -> SmemDescTcgen05:
        """The descriptor, of a tile at address 0, of what begins at row `mn` and column `k`."""
        tile = self.stored
        start = tile.descriptor(tile.mn_advance(mn) + tile.k_advance(k // 128 * 48))
        assert isinstance(start, SmemDescTcgen05)
        return start.replace(lut_segment=24 if k % 128 else 0)
