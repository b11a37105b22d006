"""Boxes that tensor copies move: those outside of their tensor, and those beside their swizzle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ptxkit.emulator.matrix_reads import MatrixRead
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap
from ptxkit.layouts.swizzle import pattern

UNIT = 16
"""Bytes of a tensor that are counted as one."""
LARGEST = 1 << 28
LINE = 128


@dataclass(slots=True)
class Moved:
    """What boxes of a tensor are moved.

    Attributes:
        shape: of the tensor, outermost first.
        touched: its bytes that are moved, `UNIT` at a time.
        outside: the first copy whose box lies outside, with its coordinates.
        strides: of the tensor, bytes, without the innermost.
        taken: its bytes that products read.
        readers: the first product's matrix that is part of it, and its dimension that rows number.
        gathered: whether rows are gathered, of which a list may have any.
        boxes: of rows that are copied at once, the first and how many.
    """

    shape: tuple[int, ...]
    touched: np.ndarray
    outside: tuple[str, tuple[int, ...], bool] | None = None
    strides: tuple[int, ...] = ()
    taken: np.ndarray | None = None
    readers: tuple[str, str] | None = None
    gathered: bool = False
    boxes: set[tuple[int, int]] = field(default_factory=set)


class CopiedBoxes:
    """The boxes of a launch."""

    def __init__(self) -> None:
        self._moved: dict[tuple[int, bool], Moved] = {}
        self._off: str | None = None

    def add(
        self,
        where: str,
        tensor_map: TensorMap,
        at: Sequence[int],
        to: int,
        addresses: np.ndarray,
        inside: np.ndarray | None,
        out: bool,
    ) -> None:
        """A copy. `at`: the coordinates, innermost first; `to`: the shared address; `out`: to the tensor."""
        shape, strides = tuple(tensor_map.shape), tuple(tensor_map.strides)
        gathered = len(at) != len(shape)
        if not gathered:
            self._look_at_place(where, tensor_map, to, len(addresses))
        size = shape[0] * strides[0] if strides else 0
        if not 0 < size <= LARGEST:
            return
        moved = self._moved.get((tensor_map.address, out))
        if moved is None:
            moved = Moved(shape, np.zeros(size // UNIT + 1, bool), strides=strides)
            self._moved[tensor_map.address, out] = moved
        moved.gathered |= gathered
        if isinstance(tensor_map, TiledTensorMap) and len(at) > 1:
            moved.boxes.add((at[1], tensor_map.box[-2]))
        good = np.ones(len(addresses), bool) if inside is None else inside
        if not good.any():
            moved.outside = moved.outside or (None if gathered else (where, tuple(at), out))
            return
        offsets = addresses[good] - tensor_map.address
        moved.touched[offsets[(offsets >= 0) & (offsets < size)] // UNIT] = True

    def astray(self) -> str | None:
        """A box outside of its tensor, where part of that tensor or another is moved by no copy."""
        outside = [moved.outside for moved in self._moved.values() if moved.outside is not None]
        if not outside or all(moved.touched[:-1].all() for moved in self._moved.values()):
            return None
        where, at, out = outside[0]
        shape = next(moved.shape for moved in self._moved.values() if moved.outside == outside[0])
        first = "{" + ", ".join(map(str, at)) + "}"
        extents = " x ".join(map(str, reversed(shape)))
        way = "into" if out else "from"
        return (
            f"the copy at {where} moves a box {way} {first} of a tensor of {extents} elements, all of it "
            "outside, and part of a tensor is never copied"
        )

    def take(self, read: MatrixRead, came: np.ndarray) -> None:
        """A product reads a matrix. `came`: the global address of each element, negative where unknown."""
        came = came[came >= 0]
        if not len(came):
            return
        first = int(came.flat[0])
        for (address, out), moved in self._moved.items():
            if out or not address <= first < address + len(moved.touched) * UNIT:
                continue
            if moved.taken is None:
                moved.taken = np.zeros_like(moved.touched)
                moved.readers = read.name, read.along if read.major == "K" else "K"
            offsets = came - address
            moved.taken[offsets[(offsets >= 0) & (offsets < len(moved.taken) * UNIT)] // UNIT] = True

    def untaken(self) -> str | None:
        """Rows of a tensor that are copied, and that no product takes though it takes others of the box."""
        for moved in self._moved.values():
            if moved.taken is None or moved.readers is None or not moved.strides or moved.gathered:
                continue
            numbers = np.arange(len(moved.touched)) * UNIT // moved.strides[-1] % moved.shape[-2]
            copied, taken = (np.unique(numbers[which]) for which in (moved.touched, moved.taken))
            part = [row for first, count in moved.boxes for row in range(first, first + count)
                    if ((taken >= first) & (taken < first + count)).any()]  # fmt: skip
            left = np.intersect1d(np.setdiff1d(copied, taken), part)
            if len(left):
                breaks = np.flatnonzero(np.diff(left) != 1)
                last = left[breaks[0]] if len(breaks) else left[-1]
                name, along = moved.readers
                stretch = f"elements {left[0]} to {last} along {along}"
                return f"{stretch} of matrix {name} are copied, and no product takes them"
        return None

    def misaligned(self) -> str | None:
        """A box whose place in shared memory is no multiple of what its swizzle repeats after."""
        return self._off

    def _look_at_place(self, where: str, tensor_map: TensorMap, to: int, units: int) -> None:
        swizzle = str(tensor_map.swizzle)
        if self._off is not None or swizzle not in ("128B", "64B", "32B"):
            return
        repeat = LINE << pattern(swizzle).bits
        if to % repeat:
            self._off = (
                f"the copy at {where} has its box at {to:#x} of shared memory, {to % repeat} bytes into the "
                f"{repeat} that a {swizzle[:-1]}-byte swizzle repeats after"
            )
