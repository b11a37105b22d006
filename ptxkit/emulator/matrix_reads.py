"""Matrices as products read them from shared memory, and other ways in which they might lie there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap
from ptxkit.layouts import operand_bits
from ptxkit.layouts.swizzle import pattern

NAMES = {"none": "without a swizzle", "128B-32B-atom": "with a 128-byte swizzle of 32-byte atoms"}

Descriptor = SmemDescWgmma | SmemDescTcgen05


@dataclass(frozen=True, slots=True)
class MatrixRead:
    """One operand of a product.

    Attributes:
        name: `A` or `B`.
        descriptor: of the matrix.
        mn, k: elements along MN and along K, as stored.
        dtype: their type.
        major: `K` or `MN`.
        padded: see `ptxkit.layouts.operand_bits`.
        step: elements along K of the product to one that is stored: 2 where A is sparse.
    """

    name: str
    descriptor: Descriptor
    mn: int
    k: int
    dtype: str
    major: str
    padded: bool = False
    step: int = 1

    @classmethod
    def of(
        cls, name: str, kind: type[Descriptor], word: int, mn: int, k: int, dtype: str, major: str,
        padded: bool = False, step: int = 1,
    ) -> MatrixRead | None:  # fmt: skip
        """An operand by the word of its descriptor; None where that is none."""
        try:
            return cls(name, kind.decode(word), mn, k, dtype, major, padded, step)
        except PtxkitError:
            return None

    @property
    def bits(self) -> int:
        """Of an element."""
        return DTYPES[self.dtype].bits

    @property
    def turns(self) -> bool:
        """Whether its instruction has both orders of it: `wgmma` for types of 16 bits alone (PTX ISA
        9.7.15.5.2), `tcgen05.mma` for those that are not packed (9.7.16.4.2)."""
        return self.bits == 16 or (isinstance(self.descriptor, SmemDescTcgen05) and self.bits >= 8)

    @property
    def along(self) -> str:
        """The name of its other dimension: `M` or `N`."""
        return "M" if self.name == "A" else "N"

    def bytes(self, descriptor: Descriptor, major: str) -> np.ndarray:
        """The shared address of each element, (mn, k), with another descriptor and order."""
        found: np.ndarray = operand_bits(descriptor, self.mn, self.k, self.dtype, major, self.padded) // 8
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the elements of a matrix come from: the first of them, and the bytes from row to row."""

    first: int
    pitch: int


@dataclass(frozen=True, slots=True)
class KnownTensor:
    """A tensor of the launch, as a tensor map would describe it: strides in bytes but the innermost, and the
    type of its elements."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int
    dtype: str = ""


def along_k(read: MatrixRead, rows: Rows, tensor: TensorMap | KnownTensor) -> tuple[int, int] | None:
    """The first element along K of its tensor that a product reads, and how many the tensor has; None where
    rows are none of the tensor's."""
    offset, strides, shape = rows.first - tensor.address, tensor.strides, tensor.shape
    if read.major == "K":
        inner = offset % min(strides) if strides else offset
        return inner * 8 // read.bits * read.step, shape[-1] * read.step
    if rows.pitch not in strides:
        return None
    larger = [stride for stride in strides if stride > rows.pitch]
    first = (offset % min(larger) if larger else offset) // rows.pitch
    return first * read.step, shape[list(strides).index(rows.pitch)] * read.step


def row_of(rows: Rows, tensor: TensorMap | KnownTensor | None) -> int | None:
    """The number of the first of some rows of a tensor that a tensor map describes; None where rows are none
    of its."""
    if not isinstance(tensor, TiledTensorMap) or rows.first < 0 or rows.pitch not in tensor.strides:
        return None
    offset = rows.first - tensor.address
    larger = [stride for stride in tensor.strides if stride > rows.pitch]
    return (offset % min(larger) if larger else offset) // rows.pitch


def exchanged(
    reads: Sequence[MatrixRead],
    places: Sequence[Rows | None],
    map_of: Callable[[int], TensorMap | KnownTensor | None],
    firsts: tuple[int, int],
) -> str:
    """What to add where one matrix would fit if the two coordinates of its tile were exchanged."""
    for side, (read, rows) in enumerate(zip(reads, places, strict=True)):
        tensor = None if rows is None else map_of(rows.first)
        if rows is None or tensor is None or read.major != "K" or len(tensor.strides) != 1:
            continue
        row = (rows.first - tensor.address) // tensor.strides[0]
        if row and row == firsts[1 - side] != firsts[side]:
            return f", whose copy has its coordinates exchanged: matrix {read.name} begins at row {row}"
    return ""


def elsewhere(read: MatrixRead, near: Iterable[int]) -> Iterator[Descriptor]:
    """Descriptors with other addresses: a sixteenth of the given one, or of its way from those `near`."""
    given = read.descriptor
    wanted = [given.address // 256 * 16] if given.address >= 256 else []
    wanted += [base + (given.address - base) // 256 * 16 for base in near if given.address - base >= 256]
    for address in dict.fromkeys(wanted):
        with suppress(PtxkitError):
            yield given.replace(address=address)


def others(read: MatrixRead) -> Iterator[tuple[Descriptor, str]]:
    """Other descriptors and orders, those first that differ least."""
    given = read.descriptor
    swizzles = ["128B", "64B", "32B", "none"]
    if isinstance(given, SmemDescTcgen05):
        swizzles.append("128B-32B-atom")
    widths = [pattern(swizzle).row_bytes for swizzle in swizzles[:3]]
    steps = {16 << power for power in range(12)} | {16 * read.mn, 16 * read.k}
    steps |= {width * extent for width in widths for extent in (8, read.mn, read.k)}
    offsets = sorted(step for step in steps if step < 1 << 18)
    majors: tuple[str, ...] = (read.major, "MN" if read.major == "K" else "K")
    if not read.turns:
        majors = majors[:1]
    changes: list[dict[str, Any]] = [{"swizzle": swizzle, "base_offset": 0} for swizzle in swizzles]
    changes += [{"stride_byte_offset": step} for step in offsets]
    changes += [{"leading_byte_offset": step} for step in offsets]
    changes += [{"base_offset": number} for number in range(8)]
    both = [{"stride_byte_offset": s, "leading_byte_offset": t} for s in offsets for t in offsets]
    single = changes[len(swizzles) :][: 2 * len(offsets)]
    changes += both + [{**swizzle, **step} for swizzle in changes[: len(swizzles)] for step in single]
    for major in majors:
        for change in [{}, *changes] if major == read.major else [{}]:
            try:
                other = given.replace(**change)
            except PtxkitError:
                continue
            if other != given or major != read.major:
                yield other, major


def difference(read: MatrixRead, other: Descriptor, major: str) -> str:
    """How a matrix is read, and how it lies."""
    given, said = read.descriptor, []
    if major != read.major:
        said.append(f"is read as {read.major}-major and was written {major}-major")
    if other.swizzle != given.swizzle:
        was, now = named(other.swizzle), named(given.swizzle)
        said.append(f"was written {was} and is read {now}")
    elif other.base_offset != given.base_offset:
        said.append(
            f"has base offset {given.base_offset} in its descriptor and lies with {other.base_offset}"
        )
    if other.address != given.address:
        how = "that address itself, not shifted right by 4"
        if other.address != given.address // 16:
            how = f"{given.address:#x}: bytes were added to it that were not shifted right by 4"
        said.append(f"lies at {other.address:#x}, and its descriptor has {how}")
    for name, words in (("stride_byte_offset", "stride"), ("leading_byte_offset", "leading")):
        mine, its = getattr(given, name), getattr(other, name)
        if mine != its:
            what = _apart(read, other, major, words)
            said.append(
                f"has a {words} byte offset of {mine} in its descriptor, and {what} lie {its} bytes apart"
            )
    return f"matrix {read.name} " + ", and ".join(said)


def named(swizzle: str) -> str:
    """How a matrix is written that has a swizzle, or none."""
    return NAMES.get(swizzle, f"with a {swizzle.removesuffix('B')}-byte swizzle")


def _apart(read: MatrixRead, other: Descriptor, major: str, offset: str) -> str:
    """What an offset is the distance of: PTX ISA 9.7.16.3.1.1 and 9.7.16.3.2."""
    if major == "K":
        return "groups of 8 rows" if offset == "stride" else "columns of 16 bytes"
    if (other.swizzle != "none") == (offset == "stride"):
        return "groups of 8 along K"
    return f"pieces of {pattern(other.swizzle).row_bytes} bytes along {read.along}"
