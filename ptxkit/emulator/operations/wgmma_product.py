"""Products of `wgmma.mma_async` on the accumulators of warpgroups, by numpy or by compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices import Mask, Unknown
from ptxkit.emulator.operations.matrix.arithmetic import Compute, significant
from ptxkit.emulator.tensor_cores import Model, tiles
from ptxkit.emulator.tensor_cores.elements import expand
from ptxkit.emulator.warpgroup.accumulators import Accumulator
from ptxkit.emulator.warpgroup.operands import CHUNK, WgmmaSharedOperand

M = 64


@dataclass(slots=True)
class WgmmaPlan:
    """A form of `wgmma.mma_async`.

    Attributes:
        types: of D, A and B.
        n, k: of the shape, dense.
        sparse: `.sp`.
        compute: the arithmetic.
        model: of the sums, where compiled code may make them; else None.
        negated: signs to flip, of A and B.
        majors: of A and B in shared memory.
    """

    types: tuple[str, str, str]
    n: int
    k: int
    sparse: bool
    compute: Compute
    model: Model | None
    negated: tuple[bool, bool] = (False, False)
    majors: tuple[str, str] = ("K", "K")

    @property
    def bits(self) -> int:
        """Of an element of A and B."""
        return DTYPES[self.types[1]].bits

    @property
    def stored(self) -> int:
        """Elements of a row of A."""
        return self.k // 2 if self.sparse else self.k

    def product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, nibbles: np.ndarray | None) -> np.ndarray:
        """D of A (K, M, warpgroups), B (K, N, ..), C (M, N, ..) and metadata (chunks, M, ..), raw."""
        present = None
        if nibbles is not None:
            a, kept = expand(a, nibbles, self.bits)
            present = kept[:, :, None]
        a, b = (
            codes ^ codes.dtype.type(1 << self.bits - 1) if negated else codes
            for codes, negated in zip((a, b), self.negated, strict=True)
        )
        return self.compute(a[:, :, None], b[:, None], c, present, None)


@dataclass(slots=True, eq=False)
class WgmmaProduct:
    """What one instruction adds to an accumulator.

    Attributes:
        plan: of its form.
        which: the warpgroups.
        kept: bool (warpgroups,), those whose sum goes on; it starts from zero in the others.
        shared_b, shared_a: the matrices in shared memory.
        registers_a: A out of registers, raw (K, M, warpgroups), and its undefined bits, where it is there.
        nibbles: metadata of structured sparsity.
        doubtful: the rows of A of which that is undefined.
    """

    lane_set: LaneSet
    site: Site
    plan: WgmmaPlan
    accumulator: Accumulator
    which: np.ndarray
    kept: np.ndarray
    shared_b: WgmmaSharedOperand
    shared_a: WgmmaSharedOperand | None
    registers_a: Any
    nibbles: np.ndarray | None
    doubtful: Mask

    def fetch(self) -> Any:
        """The factors with their undefined bits."""
        bank = self.lane_set.batch.shared
        left = self.registers_a if self.shared_a is None else self.shared_a.read(bank)
        return left, self.shared_b.read(bank)

    def deliver(self, data: Any) -> None:
        """Add the product of these factors."""
        (left, unknown_a), (right, unknown_b) = data
        self._add(left, right, slice(None))
        self._mark((unknown_a, unknown_b, self.doubtful))

    def whole(self) -> None:
        """Add the product of the factors that are there now."""
        bank = self.lane_set.batch.shared
        shared = [operand for operand in (self.shared_a, self.shared_b) if operand is not None]
        factors = self._factors()
        if factors is None or any(operand.undefined(bank) is not None for operand in shared):
            self.deliver(self.fetch())
            return
        assert self.plan.model is not None
        values = self.accumulator.values
        size = values[0].size
        sums = tiles.TiledSums(
            values.reshape(-1), self.which * size, values.shape[2], ~self.kept.astype(bool, copy=False)
        )
        done = tiles.add(self.plan.model, *factors, sums)
        if done < len(self.which):
            (left, _), (right, _) = self.fetch()
            self._add(left[:, :, done:], right[:, :, done:], slice(done, None))

    def _add(self, left: np.ndarray, right: np.ndarray, part: slice) -> None:
        """Add the products of some of the warpgroups by numpy."""
        which, kept = self.which[part], self.kept[part]
        start = self.accumulator.matrices(which)
        if not kept.all():
            start = np.where(kept, start, start.dtype.type(0))
        nibbles = None if self.nibbles is None else self.nibbles[..., part]
        self.accumulator.put(which, self.plan.product(left, right, start, nibbles))

    def _factors(self) -> tuple[tiles.TiledFactor, tiles.TiledFactor] | None:
        """Both factors for compiled code; None where that can't add them."""
        plan = self.plan
        if plan.model is None or plan.sparse or self.accumulator.unknown is not None:
            return None
        bank = self.lane_set.batch.shared.data
        if self.shared_a is not None:
            a = self._shared_factor(bank, self.shared_a, 0)
        else:
            codes, unknown = self.registers_a
            a = None if unknown is not None else self._register_factor(codes)
        b = self._shared_factor(bank, self.shared_b, 1)
        return (a, b) if a is not None and b is not None and tiles.fits(plan.model, a, b) else None

    def _shared_factor(
        self, bank: np.ndarray, operand: WgmmaSharedOperand, side: int
    ) -> tiles.TiledFactor | None:
        if len(operand.maps) != 1:
            return None
        (found,), plan = operand.maps, self.plan
        dtype, negated = plan.types[1 + side], plan.negated[side]
        origins = operand.origins[:, None]
        return tiles.TiledFactor(bank, found.places, origins, found.major, dtype, negated)

    def _register_factor(self, codes: np.ndarray) -> tiles.TiledFactor:
        data = np.ascontiguousarray(codes.transpose(2, 1, 0))
        count, rows, _ = data.shape
        nbytes = data[0].nbytes
        places = np.arange(0, nbytes, CHUNK).reshape(rows, -1)
        origins = np.arange(0, count * nbytes, nbytes)[:, None]
        flat = data.view(np.uint8).reshape(-1)
        return tiles.TiledFactor(flat, places, origins, "K", self.plan.types[1], self.plan.negated[0])

    def _mark(self, masks: tuple[Any, ...]) -> None:
        """Which elements of D are undefined: whole rows and columns of what A and B have undefined."""
        lane_set, accumulator, which = self.lane_set, self.accumulator, self.which
        unknown_a, unknown_b, doubtful = masks
        if unknown_a is None and unknown_b is None and doubtful is None and accumulator.unknown is None:
            return
        launch = lane_set.launch
        origin = accumulator.origin
        if unknown_a is not None or unknown_b is not None:
            origin = launch.origins.of_copy(self.site)
        unknown = Unknown()
        if accumulator.unknown is not None:
            unknown.add(((accumulator.unknown[:, :, which] & self.kept).astype(np.uint8), accumulator.origin))
        plan = self.plan
        if unknown_a is not None:
            unknown.add_rows(significant((unknown_a, origin), plan.types[1], None))
        if unknown_b is not None:
            unknown.add_columns(significant((unknown_b, origin), plan.types[2], None))
        unknown.add_rows(doubtful)
        found = unknown.found(lane_set, self.site)
        if found is None:
            accumulator.mark(which, None, 0)
        else:
            shape = (*accumulator.shape_of_d, len(which))
            accumulator.mark(which, np.broadcast_to(found[0], shape), found[1])
