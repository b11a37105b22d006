"""How matrices came into shared memory, and how products read them: why a result is wrong, or a run ended.

Where a right kernel reads a matrix, its elements come from global memory row by row at one distance: they
were copied so, and the descriptor says so. Where they do not, another descriptor is sought with which they
would. `LayoutWatch` is asked by copies and products of launches that have gone wrong once and are run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.ctas import Ctas
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap
from ptxkit.layouts import operand_bits
from ptxkit.layouts.swizzle import pattern

UNKNOWN, FILLED = -1, -2
"""Where a byte came from that no copy brought, and one from outside a tensor."""
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


class LayoutWatch:
    """What copies brought where in the shared memory of CTAs, and the first read that does not fit it.

    Attributes:
        cause: what is wrong with that read, in words without a full stop; None for none yet.
    """

    def __init__(self) -> None:
        self.cause: str | None = None
        self._sources: dict[int, np.ndarray] = {}
        self._batches: list[Ctas] = []
        self._maps: dict[tuple[int, int], TensorMap] = {}
        self._starts: set[int] = set()
        self._taken: Counter[int] = Counter()
        self._along = 0, 0
        self._all_known = True
        self._same: str | None = None

    def copied(
        self,
        batch: Ctas,
        places: np.ndarray,
        addresses: np.ndarray,
        unit: int,
        inside: np.ndarray | None = None,
        tensor_map: TensorMap | None = None,
    ) -> None:
        """Bytes come from global to shared memory.

        Args:
            batch: whose shared memory.
            places, addresses: of each unit, offsets in its bank and global addresses.
            unit: bytes of one.
            inside: which of them are part of the tensor; None for all.
            tensor_map: of the copy.
        """
        sources = self._of(batch)
        each = np.arange(unit)
        came = addresses[:, None] + each
        if inside is not None:
            came[~inside] = FILLED
        sources[places[:, None] + each] = came
        self._starts.add(int(places.min()) % batch.shared.stride + batch.launch.shared.start)
        if tensor_map is not None and len(addresses):
            self._maps[int(addresses.min()), int(addresses.max()) + unit] = tensor_map

    def product(self, batch: Ctas, ctas: tuple[int, ...], where: str, *matrices: MatrixRead | None) -> None:
        """A product reads its matrices. `ctas`: in whose shared memory of the batch. `where`: the line."""
        reads = [read for read in matrices if read is not None]
        if self.cause is not None:
            return
        for cta in ctas:
            places = [self._judge(batch, cta, where, read) for read in reads]
            known = [
                along
                for read, rows in zip(reads, places, strict=True)
                if rows is not None and (along := self._along_k(read, rows)) is not None
            ]
            if len(known) < 2 or self.cause is not None:
                self._all_known = False
                continue
            (a, extent), (b, other) = known
            step = reads[0].k * reads[0].step
            if extent != other and reads[0].major != reads[1].major:
                majors = " and ".join(f"{read.name} as {read.major}-major" for read in reads)
                self.cause = (
                    f"the product at {where} reads {majors}, and K, along which it sums, has {extent} "
                    f"elements in the tensor of A and {other} in that of B"
                )
            elif a != b:
                self.cause = (
                    f"the product at {where} multiplies elements {a} to {a + step - 1} of A along K with "
                    f"elements {b} to {b + step - 1} of B"
                )
            elif places[0] == places[1]:
                self._same = self._same or f"matrices A and B of the product at {where} are the same bytes"
            self._taken[a] += 1
            self._along = step, extent

    def found(self) -> str | None:
        """The cause, once everything has run."""
        if self.cause is not None or self._same is not None:
            return self.cause or self._same
        if not self._all_known or not self._taken:
            return None
        step, extent = self._along
        counts = {first: self._taken[first] for first in range(0, extent, step)}
        least, most = min(counts.values()), max(counts.values())
        if least == most:
            return None
        first = min(first for first in counts if counts[first] == least)
        how = "by no product" if least == 0 else f"by {least} products, others by {most}"
        return f"elements {first} to {first + step - 1} along K are taken {how}"

    def _of(self, batch: Ctas) -> np.ndarray:
        found = self._sources.get(id(batch))
        if found is None:
            self._batches.append(batch)  # so that its number stays its own
            found = np.full(batch.shared.stride * batch.shared.tiles, UNKNOWN, np.int64)
            self._sources[id(batch)] = found
        return found

    def _judge(self, batch: Ctas, cta: int, where: str, read: MatrixRead) -> Rows | None:
        """Where a matrix comes from, if it is read as it lies; else look for the cause."""

        def rows(descriptor: Descriptor, major: str) -> Rows | None:
            try:
                at = read.bytes(descriptor, major) - batch.launch.shared.start
            except PtxkitError:
                return None
            outside = (at < 0) | (at >= batch.launch.shared.total)
            came = self._of(batch)[np.where(outside, 0, at) + cta * batch.shared.stride]
            return self._rows(np.where(outside, UNKNOWN, came), read.bits, major)

        found = rows(read.descriptor, read.major)
        if found is not None or self.cause is not None:
            return found
        self.cause = self._in_part(batch, cta, where, read)
        if self.cause is not None:
            return None
        for other, major in _others(read):
            if other.address != read.descriptor.address and other.address not in self._starts:
                continue
            if rows(other, major) is not None:
                self.cause = f"{_difference(read, other, major)}, in the product at {where}"
                return None
        self.cause = self._doubtful(batch, cta, where, read)
        return None

    def _came(self, batch: Ctas, cta: int, read: MatrixRead) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where each element of a matrix lies in the CTA's shared memory, where in the bank, and where it
        came from."""
        at = read.bytes(read.descriptor, read.major) - batch.launch.shared.start
        outside = (at < 0) | (at >= batch.launch.shared.total)
        places = np.where(outside, -1, at + cta * batch.shared.stride)
        return at, places, np.where(outside, UNKNOWN, self._of(batch)[places])

    def _in_part(self, batch: Ctas, cta: int, where: str, read: MatrixRead) -> str | None:
        """What is wrong where the first rows of a matrix are read right, and the others have not been
        copied."""
        came = self._came(batch, cta, read)[2]
        whole = (came != UNKNOWN).all(axis=1)
        count = int(np.argmin(whole))
        if not count or whole[count:].any() or self._rows(came[:count], read.bits, read.major) is None:
            return None
        return (
            f"matrix {read.name} of the product at {where} has {read.mn} elements along {read.along}, "
            f"and {count} of them were copied"
        )

    def _doubtful(self, batch: Ctas, cta: int, where: str, read: MatrixRead) -> str | None:
        """What is wrong with a matrix that no other descriptor would read right."""
        start = batch.launch.shared.start
        at, places, came = self._came(batch, cta, read)
        brought = came[came >= 0]
        if not len(brought):
            return None
        taken = (
            f"matrix {read.name} of the product at {where} takes bytes {int(at.min()) + start:#x} to "
            f"{int(at.max()) + start:#x} of shared memory"
        )
        ends = brought.min(), brought.max(), brought[0], brought[-1]
        found = [tensor_map for one in ends if (tensor_map := self._map_of(int(one))) is not None]
        if len({tensor_map.address for tensor_map in found}) > 1:
            return f"{taken}, which were copied from several tensors"
        if found:
            was, now = str(found[0].swizzle), read.descriptor.swizzle
            if was != now and "atom" not in was:
                said = f"was written {_named(was)} and is read {_named(now)}"
                return f"matrix {read.name} {said}, in the product at {where}"
        history = batch.shared.history
        if history is None or (places < 0).any():
            return None
        unwritten = came == UNKNOWN
        if history.has("write"):
            unwritten &= history.records("write")[history.granules(places)] == 0
        if not unwritten.any():
            return None
        return f"{taken}, and nothing has written {int(at[unwritten].min()) + start:#x}"

    def _rows(self, came: np.ndarray, bits: int, major: str) -> Rows | None:
        """Where elements come from, (mn, k), if row by row; rows go along K, or along MN.

        Rows of a box lie at one distance in global memory; those that were copied one by one, anywhere.
        """
        if major != "K":
            came = came.T
        if (came == UNKNOWN).any():
            return None
        if came[0, 0] < 0:
            return Rows(FILLED, 0)
        starts = came - np.arange(came.shape[1]) * bits // 8
        known = came >= 0
        starts = np.where(known, starts, np.where(known[:, :1], starts[:, :1], FILLED))
        filled = ~known[:, 0]
        if (starts[~filled] != starts[~filled][:, :1]).any() or known[filled].any():
            return None
        firsts, numbers = starts[~filled, 0], np.flatnonzero(~filled)
        if len(firsts) < 2:
            return Rows(int(firsts[0]), 0)
        pitch = int(firsts[1] - firsts[0]) // int(numbers[1] - numbers[0])
        tensor_map = self._map_of(int(firsts[0]))
        boxes = isinstance(tensor_map, TiledTensorMap) and max(tensor_map.box[:-1], default=1) > 1
        if boxes and (pitch < came.shape[1] * bits // 8 or (firsts != firsts[0] + numbers * pitch).any()):
            return None
        return Rows(int(firsts[0]), pitch)

    def _map_of(self, address: int) -> TensorMap | None:
        """The map by which bytes of global memory were copied."""
        found = (each for (low, high), each in reversed(self._maps.items()) if low <= address < high)
        return next(found, None)

    def _along_k(self, read: MatrixRead, rows: Rows) -> tuple[int, int] | None:
        """The first element along K of its tensor that a product reads, and how many the tensor has; None
        where that is not known."""
        tensor_map = self._map_of(rows.first)
        if tensor_map is None:
            return None
        offset, strides, shape = rows.first - tensor_map.address, tensor_map.strides, tensor_map.shape
        if read.major == "K":
            inner = offset % min(strides) if strides else offset
            return inner * 8 // read.bits * read.step, shape[-1] * read.step
        if rows.pitch not in strides:
            return None
        larger = [stride for stride in strides if stride > rows.pitch]
        first = (offset % min(larger) if larger else offset) // rows.pitch
        return first * read.step, shape[list(strides).index(rows.pitch)] * read.step


def _others(read: MatrixRead) -> Iterator[tuple[Descriptor, str]]:
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
    if read.bits < 8:
        majors = majors[:1]
    changes: list[dict[str, Any]] = [{"swizzle": swizzle, "base_offset": 0} for swizzle in swizzles]
    changes += [{"stride_byte_offset": step} for step in offsets]
    changes += [{"leading_byte_offset": step} for step in offsets]
    changes += [{"base_offset": number} for number in range(8)]
    changes += [{"address": given.address // 16 // 16 * 16}] if given.address >= 256 else []
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


def _difference(read: MatrixRead, other: Descriptor, major: str) -> str:
    """How a matrix is read, and how it lies."""
    given, said = read.descriptor, []
    if major != read.major:
        said.append(f"is read as {read.major}-major and was written {major}-major")
    if other.swizzle != given.swizzle:
        was, now = _named(other.swizzle), _named(given.swizzle)
        said.append(f"was written {was} and is read {now}")
    elif other.base_offset != given.base_offset:
        said.append(
            f"has base offset {given.base_offset} in its descriptor and lies with {other.base_offset}"
        )
    if other.address != given.address:
        said.append(
            f"lies at {other.address:#x}, and its descriptor has that address itself, not shifted right by 4"
        )
    for name, words in (("stride_byte_offset", "stride"), ("leading_byte_offset", "leading")):
        mine, its = getattr(given, name), getattr(other, name)
        if mine != its:
            what = _apart(read, other, major, words)
            said.append(
                f"has a {words} byte offset of {mine} in its descriptor, and {what} lie {its} bytes apart"
            )
    return f"matrix {read.name} " + ", and ".join(said)


def _named(swizzle: str) -> str:
    return NAMES.get(swizzle, f"with a {swizzle.removesuffix('B')}-byte swizzle")


def _apart(read: MatrixRead, other: Descriptor, major: str, offset: str) -> str:
    """What an offset is the distance of: PTX ISA 9.7.16.3.1.1 and 9.7.16.3.2."""
    if major == "K":
        return "groups of 8 rows" if offset == "stride" else "columns of 16 bytes"
    if (other.swizzle != "none") == (offset == "stride"):
        return "groups of 8 along K"
    return f"pieces of {pattern(other.swizzle).row_bytes} bytes along {read.along}"
