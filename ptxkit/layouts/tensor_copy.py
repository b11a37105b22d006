"""Tensor copies: where every byte of a box lies in global and in shared memory. PTX ISA 5.5, 9.7.9.27.1.

    copy = tensor_copy(bytes(tensor_map), "tile")
    moved = copy.moves((c0, c1), address=0x400)     # innermost coordinate first, as the instruction has them
    shared[moved.places] = memory[moved.addresses]  # where moved.inside; in units of moved.unit bytes

A copy moves units of 1 to 16 bytes that never part, as large as the map, the coordinates and the edges of
the tensor allow. Index maps are kept for each map, so that another box of it costs an addition.

What the manual shows in pictures, or not at all, is as an H200 does it: with a swizzle each run of a box
takes the swizzle's whole width of shared memory, bytes beyond the box stay untouched and complete-tx does not
count them; the traversal stride of dimension 0 counts for interleaved layouts alone; their dimension 0 goes
through the slices of a row, 16 or 32 bytes each, and a copy takes one slice of channels, whatever the box or
the channels per pixel say. Stores end at whole 16 bytes of a row: where the tensor ends inside of them, the
elements after it are written too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod
from typing import cast

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.encodings.tensor_maps import Im2colTensorMap, TensorMap, TiledTensorMap
from ptxkit.encodings.tensor_maps.codes import PADDED, global_bits, shared_bits
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT, pattern, swizzle_address

WIDE_STORE = "im2col_no_offs::w"
WIDE_MODES = ("im2col::w", "im2col::w::128", WIDE_STORE)
"""Modes that walk along W alone (PTX ISA 5.5.5)."""
IM2COL_MODES = ("im2col", "im2col_no_offs", *WIDE_MODES)
WIDE_PIXELS = 128
"""Pixels of every `.im2col::w::128` copy, whatever the map says (PTX ISA 5.5.5.1)."""
HALO_EVERY = 32
"""Pixels after which `.im2col::w::128` copies a halo (PTX ISA 5.5.5.3)."""
CHUNK = 16
"""Bytes of shared memory that sixteen padded elements take, and the largest unit."""
LINE = 128
"""Bytes within which swizzles move pieces."""
SLICE_BYTES = {"16B": 16, "32B": 32}
"""Bytes of a slice of channels, by the interleaved layout (PTX ISA 5.5.6)."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What one copy moves.

    Attributes:
        unit: bytes of a unit.
        addresses: int64, the global address of each unit.
        inside: bool, whether the unit is part of the tensor; None where all are.
        places: int64, its address in shared memory.
        gaps: addresses in shared memory of the bytes that padded types leave undefined; None for others.
        nbytes: bytes of the box, edges included, which complete-tx counts.
        extent: bytes from the box's address to the end of what it may take in shared memory.
    """

    unit: int
    addresses: np.ndarray
    inside: np.ndarray | None
    places: np.ndarray
    gaps: np.ndarray | None
    nbytes: int
    extent: int


@lru_cache(maxsize=256)
def tensor_copy(data: bytes, mode: str = "tile") -> TensorCopy:
    """The copies that an instruction of that `.load_mode` makes by the 128 bytes of a map.

    Raises:
        PtxkitError: P470, the map has another mode or rank; or what `TensorMap.read_by_copies` refuses.
    """
    tensor_map = TensorMap.read_by_copies(int.from_bytes(data, "little"))
    expected = "im2col" if mode in IM2COL_MODES else "tile"
    if tensor_map.mode != expected:
        message = f"`.{mode}` needs a tensor map of mode {expected}, found one of mode {tensor_map.mode}"
        raise error(LAYOUT_ARGUMENT, message)
    if mode in ("tile::gather4", "tile::scatter4"):
        if tensor_map.rank != 2 or cast(TiledTensorMap, tensor_map).box[0] != 1:
            message = f"`.{mode}` needs a map of 2 dimensions with boxes of 1 row"
            raise error(LAYOUT_ARGUMENT, f"{message}, found rank {tensor_map.rank}")
        return RowsCopy(tensor_map, mode)
    if mode == WIDE_STORE:
        _check_wide_store(cast(Im2colTensorMap, tensor_map))
    return TileCopy(tensor_map, mode) if expected == "tile" else Im2colCopy(tensor_map, mode)


def _check_wide_store(tensor_map: Im2colTensorMap) -> None:
    """What PTX ISA 9.4 asks of the map of a `.im2col_no_offs::w` copy, 5.5.5 and 5.5.5.1. Raises P470."""
    lower, upper = tensor_map.pixel_box_lower_corner[-1], tensor_map.pixel_box_upper_corner[-1]
    if lower < 0 or upper > 0:
        message = f"`.{WIDE_STORE}` needs a bounding box inside of the tensor, found corners {lower}, {upper}"
        raise error(LAYOUT_ARGUMENT, message)
    if tensor_map.swizzle == "none" or tensor_map.swizzle.endswith("8B-flip"):
        message = f"`.{WIDE_STORE}` needs another swizzle than `{tensor_map.swizzle}`"
        raise error(LAYOUT_ARGUMENT, message)


class TensorCopy:
    """The copies of one map. What differs between modes is which points of the tensor a copy visits.

    A *point* is a place along the outer dimensions, at which a run of elements along dimension 0 is copied;
    in interleaved layouts a place along all dimensions, at which a slice is.
    """

    def __init__(self, tensor_map: TensorMap, mode: str) -> None:
        self.map = tensor_map
        self.mode = mode
        self.rank = tensor_map.rank
        self.slice = SLICE_BYTES.get(tensor_map.interleave, 0)
        self.first = 0 if self.slice else 1
        self.inner_size = tensor_map.shape[-1]
        self.sizes = tensor_map.shape[::-1][self.first :]
        self.steps = tensor_map.element_strides[::-1][self.first :]
        self.strides = [*([self.slice] if self.slice else []), *tensor_map.strides[::-1]]
        self.element = global_bits(tensor_map.dtype)
        self.padded = tensor_map.dtype in PADDED
        self.inner = tensor_map.inner
        self.row_bytes = self.slice or self.inner * shared_bits(tensor_map.dtype) // 8
        width = 0 if self.slice or tensor_map.swizzle == "none" else pattern(tensor_map.swizzle).row_bytes
        self.pitch = max(self.row_bytes, width)
        self._places: dict[tuple[int, int, int], np.ndarray] = {}

    # ---- what each mode says

    def points(
        self, coordinates: Sequence[int], offsets: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Bytes from the tensor's address to each point (int64), and which of them are inside (None: all)."""
        raise NotImplementedError

    def count(self, offsets: Sequence[int]) -> int:
        """How many points a copy visits."""
        raise NotImplementedError

    # ---- moves

    def nbytes(self, offsets: Sequence[int] = ()) -> int:
        """Bytes that a copy takes in shared memory; complete-tx counts them, edges included."""
        return self.count(offsets) * self.row_bytes

    def moves(
        self, coordinates: Sequence[int], address: int, offsets: Sequence[int] = (), storing: bool = False
    ) -> Moves:
        """Where the units of one copy lie.

        Args:
            coordinates: `tensorCoords`, innermost first.
            address: of the box in shared memory.
            offsets: `im2colInfo`: W, H, D offsets, or wHalo and wOffset.
            storing: whether the copy goes to global memory.
        """
        points, inside = self.points(coordinates[self.first :], offsets)
        first = 0 if self.slice else coordinates[0]
        end = self.inner_size * self.element // 8
        if storing:
            end = -(-end // CHUNK) * CHUNK
        whole = bool(self.slice) or (first >= 0 and (first + self.inner) * self.element // 8 <= end)
        unit = self._unit(first, None if whole else end)
        if self.padded:
            along, within = self._padded(unit)
            along = along + first * self.element // 8
        else:
            within = np.arange(0, self.row_bytes, unit)
            along = within + first * self.element // 8
        addresses = (points[:, None] + along + self.map.address).reshape(-1)
        if not whole:
            in_row = (along >= 0) & (along < end)
            inside = in_row[None, :] & (True if inside is None else inside[:, None])
            inside = np.broadcast_to(inside, (len(points), len(along))).reshape(-1)
        elif inside is not None:
            inside = np.repeat(inside, len(along))
        places = self._placed(address, len(points), within, unit)
        gaps = None
        if self.padded:
            rest = np.setdiff1d(np.arange(self.row_bytes), (within[:, None] + np.arange(unit)).reshape(-1))
            gaps = self._placed(address, len(points), rest, 0)
        size = len(points) * self.row_bytes
        extent = -(-(address + len(points) * self.pitch) // LINE) * LINE - address
        return Moves(
            unit, addresses, inside, places, gaps, size, extent if self.pitch > self.row_bytes else size
        )

    def _unit(self, first: int, edge: int | None) -> int:
        """Bytes that stay together along dimension 0, from an element on, up to byte `edge` if it is met."""
        if self.padded:
            return 8 if self.element == 4 else 4
        unit = gcd(CHUNK, first * self.element // 8, self.map.address)
        if edge is not None:
            unit = gcd(unit, edge)
        if self.map.swizzle.endswith("8B-flip"):
            unit = gcd(unit, 8)
        return max(unit, 1)

    def _padded(self, unit: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes of a run in global memory and in shared memory, unit by unit."""
        held = 16 * self.element // 8
        chunk, part = np.divmod(np.arange(0, self.inner // 16 * held, unit), held)
        return chunk * held + part, chunk * CHUNK + part

    def _placed(self, address: int, count: int, within: np.ndarray, unit: int) -> np.ndarray:
        """Addresses in shared memory of the parts `within` each of `count` runs."""
        period = 128 << pattern(self.map.swizzle).bits
        base, phase = address // period * period, address % period
        key = phase, count, unit
        known = self._places.get(key)
        if known is None:
            linear = phase + (np.arange(count)[:, None] * self.pitch + within).reshape(-1)
            swizzle = self.map.swizzle
            known = linear if swizzle == "none" else swizzle_address(linear, swizzle)
            self._places[key] = known
        return known + base


class TileCopy(TensorCopy):
    """`.tile`: a box, which the traversal strides thin out."""

    def __init__(self, tensor_map: TensorMap, mode: str) -> None:
        super().__init__(tensor_map, mode)
        box = cast(TiledTensorMap, tensor_map).box[::-1][self.first :]
        self.counts = [-(-size // step) for size, step in zip(box, self.steps, strict=True)]
        if self.slice:
            self.counts[-2] = 1
        shape = self.counts[::-1]
        offsets = np.zeros(shape, np.int64)
        for axis, (n, step, stride) in enumerate(zip(self.counts, self.steps, self.strides, strict=True)):
            offsets += _along(np.arange(n) * step * stride, axis, len(shape))
        self.offsets = offsets.reshape(-1)

    def count(self, offsets: Sequence[int]) -> int:
        return prod(self.counts)

    def points(
        self, coordinates: Sequence[int], offsets: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        start = sum(c * stride for c, stride in zip(coordinates, self.strides, strict=True))
        inside: np.ndarray | None = None
        axes = len(self.counts)
        for axis, (c, n, step, size) in enumerate(
            zip(coordinates, self.counts, self.steps, self.sizes, strict=True)
        ):
            if c >= 0 and c + (n - 1) * step < size:
                continue
            at = c + np.arange(n) * step
            good = _along((at >= 0) & (at < size), axis, axes)
            inside = good if inside is None else inside & good
        if inside is not None:
            inside = np.broadcast_to(inside, self.counts[::-1]).reshape(-1)
        return self.offsets + start, inside


class RowsCopy(TensorCopy):
    """`.tile::gather4` and `.tile::scatter4`: four rows, each at its own coordinate (PTX ISA 5.5.3.4)."""

    def count(self, offsets: Sequence[int]) -> int:
        return 4

    def points(
        self, coordinates: Sequence[int], offsets: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        rows = np.array(coordinates[:4], np.int64)
        inside = (rows >= 0) & (rows < self.sizes[0])
        return rows * self.strides[0], None if inside.all() else inside


class Im2colCopy(TensorCopy):
    """`.im2col` and its kin: pixels of a batch of images, row after row through the bounding box.

    The walk starts at the coordinates, goes on by the traversal strides, from image to image too, and begins
    again at the lower corner where it has left the box along a dimension. Offsets shift every pixel, not the
    box (PTX ISA 5.5.4.1).
    """

    def __init__(self, tensor_map: TensorMap, mode: str) -> None:
        super().__init__(tensor_map, mode)
        form = cast(Im2colTensorMap, tensor_map)
        self.pixels = WIDE_PIXELS if mode == "im2col::w::128" else form.pixels_per_column
        self.lower = form.pixel_box_lower_corner[::-1]
        upper = form.pixel_box_upper_corner[::-1]
        self.spatial = len(self.lower)
        sizes = self.sizes[: self.spatial]
        self.end = [size + corner for size, corner in zip(sizes, upper, strict=True)]
        if self.wide:
            self.lower[1:] = [0] * (self.spatial - 1)
            self.end[1:] = sizes[1:]

    @property
    def wide(self) -> bool:
        """Whether it walks along W alone, and the two offsets are wHalo and wOffset."""
        return self.mode in WIDE_MODES

    def count(self, offsets: Sequence[int]) -> int:
        if not self.wide or not offsets:
            return self.pixels
        return self.pixels + offsets[0] * (self.pixels // HALO_EVERY if self.mode.endswith("128") else 1)

    def points(
        self, coordinates: Sequence[int], offsets: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        steps = [*self.steps[: self.spatial]]
        halo, shift = (*offsets, 0, 0)[:2] if self.wide else (0, 0)
        if self.wide:
            steps[1:] = [1] * (len(steps) - 1)
        turn = np.arange(self.pixels)
        at: list[np.ndarray] = []
        for start, lower, end, step in zip(coordinates, self.lower, self.end, steps, strict=False):
            here, turn = _walk(turn, start, lower, end, step)
            at.append(here)
        image = coordinates[-1] + turn * (1 if self.wide else self.steps[-1])
        if self.wide:
            at[0] = at[0] + shift
            at, image = _with_halo([*at, image], halo, steps[0], self.mode.endswith("128"))
        else:
            at = [here + offset for here, offset in zip(at, (*offsets, 0, 0, 0), strict=False)]
        if self.slice:
            at.append(np.full(len(image), coordinates[-2]))
        points = np.zeros(len(image), np.int64)
        inside = np.ones(len(image), bool)
        for where, stride, size in zip([*at, image], self.strides, self.sizes, strict=True):
            points += where * stride
            inside &= (where >= 0) & (where < size)
        return points, None if inside.all() else inside


def _along(values: np.ndarray, axis: int, axes: int) -> np.ndarray:
    """A vector along the axis of a dimension, innermost dimensions last."""
    shape = [1] * axes
    shape[axes - 1 - axis] = len(values)
    return values.reshape(shape)


def _walk(turn: np.ndarray, start: int, lower: int, end: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """The coordinate at each turn of a walk along one dimension, and how often it began again before."""
    first = max(-(-(end - start) // step), 1)
    each = max(-(-(end - lower) // step), 1)
    again, place = np.divmod(turn - first, each)
    begun = turn >= first
    return np.where(begun, lower + place * step, start + turn * step), np.where(begun, again + 1, 0)


def _with_halo(
    at: list[np.ndarray], halo: int, step: int, every: bool
) -> tuple[list[np.ndarray], np.ndarray]:
    """The pixels with those of the halo after the last one, or after every 32."""
    size = HALO_EVERY if every else len(at[0])
    parts = []
    for axis, values in enumerate(at):
        blocks = values.reshape(-1, size)
        more = blocks[:, -1:] + (np.arange(1, halo + 1) * step if axis == 0 else np.zeros(halo, np.int64))
        parts.append(np.concatenate([blocks, more], axis=1).reshape(-1))
    return parts[:-1], parts[-1]
