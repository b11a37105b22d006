"""How matrices came into shared memory, and how products read them: why a result is wrong, or a run ended.

Where a right kernel reads a matrix, its elements come from global memory row by row at one distance: they
were brought so, and the descriptor says so. Where they do not, another descriptor is sought with which they
would. `LayoutWatch` is asked by copies and products of launches that have gone wrong once and are run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.computed_factors import ComputedFactors
from ptxkit.emulator.contents import NOWHERE, PIECE, ZEROS, GlobalContents
from ptxkit.emulator.copied_boxes import CopiedBoxes
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.fragment_reads import RegisterMatrix, misplaced_in_registers, multiplied
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.lost_sums import LostSums
from ptxkit.emulator.matrix_reads import (
    Descriptor,
    KnownTensor,
    MatrixRead,
    Rows,
    along_k,
    difference,
    elsewhere,
    exchanged,
    named,
    others,
    row_of,
)
from ptxkit.emulator.misplaced_rows import SharedSources, misplaced, rows_apart
from ptxkit.emulator.placed_rows import in_part, placed_rows
from ptxkit.emulator.scale_layouts import ScaleWatch
from ptxkit.emulator.taken_elements import TakenElements, rows_twice
from ptxkit.encodings.tensor_maps import TensorMap

UNKNOWN, FILLED = NOWHERE, ZEROS
"""Where a byte came from that nobody knows of, and one from outside a tensor."""


class LayoutWatch:
    """What copies and stores brought where in the shared memory of CTAs, and the first read that is wrong.

    Args:
        tensors: of the launch.

    Attributes:
        cause: what is wrong with that read, in words without a full stop; None for none yet.
        sums: what became of sums.
    """

    def __init__(self, tensors: Sequence[KnownTensor] = ()) -> None:
        self.cause: str | None = None
        self._tensors = tensors
        self._pitches = {pitch for tensor in tensors for pitch in tensor.strides}
        self._sources: dict[int, np.ndarray] = {}
        self._batches: list[Ctas] = []
        self._maps: dict[tuple[int, int], TensorMap] = {}
        self._starts: set[int] = set()
        self._same: str | None = None
        self._puzzling: set[tuple[str, str]] = set()
        self._orders: set[tuple[str, str]] = set()
        self._contents: GlobalContents | None = None
        self._boxes = CopiedBoxes()
        self._scales = ScaleWatch(tensors)
        self._elements = TakenElements()
        self._computed = ComputedFactors()
        self.sums = LostSums()

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

    def box(
        self, where: str, tensor_map: TensorMap, at: Sequence[int], to: int, moves: Any, out: bool
    ) -> None:
        """A copy moves a box of a tensor. `at`: its coordinates; `to`: its shared address; `out`: into the
        tensor."""
        self._boxes.add(where, tensor_map, at, to, moves.addresses, moves.inside, out)
        if not out:
            self._elements.box(tensor_map, at)

    def scales(self, batch: Ctas, ctas: Sequence[int], where: str, word: int, column: int) -> None:
        """A copy brings an atom of scale factors into tensor memory, by a descriptor, from a column on."""
        for cta in ctas:
            if self.cause is None:
                sources = self._shared(batch, cta)
                self.cause = self._scales.copied((id(batch), cta), where, word, column, sources)

    def rows(self, batch: Ctas, where: str, places: np.ndarray) -> None:
        """An `ldmatrix` reads rows of matrices, (matrices, 8), at offsets in the bank of shared memory."""
        cta, start = int(places.min()) // batch.shared.stride, batch.launch.shared.start
        if self.cause is None:
            addresses = places % batch.shared.stride + start
            self.cause = rows_apart(self._shared(batch, cta), addresses, self._pitches, where)

    def product(
        self,
        batch: Ctas,
        ctas: tuple[int, ...],
        where: str,
        *matrices: MatrixRead | None,
        scales: tuple[int, int, str] | None = None,
        of: tuple[int, int, RegisterMatrix | None] | None = None,
    ) -> None:
        """A product reads its matrices. `ctas`: in whose shared memory of the batch. `where`: the line.
        `scales`: the columns of the scale factors of A and B, and their type. `of`: the warpgroup, its
        accumulator, and its matrix A in registers."""
        reads = [read for read in matrices if read is not None]
        if self.cause is not None:
            return
        for cta in ctas:
            places = [self._judge(batch, cta, where, read, reads) for read in reads]
            for read, rows in zip(reads, places, strict=True):
                self._take(batch, cta, where, read, rows)
            if of is not None and self.cause is None:
                self._compute(batch, where, reads[-1], places[-1], of)
            known = [
                along
                for read, rows in zip(reads, places, strict=True)
                if rows is not None and (along := self._along_k(read, rows)) is not None
            ]
            if scales is not None and len(places) == 2 and None not in places:
                firsts = [rows.first for rows in places if rows is not None]
                self._scales.used((id(batch), cta), where, firsts, scales[:2], scales[2])
            if len(known) < 2 or self.cause is not None:
                self._elements.unknown()
                continue
            (a, extent), (b, other) = known
            if known[0] == known[1]:
                self._orders.update((read.name, read.major) for read in reads)
            step = reads[0].k * reads[0].step
            mixed = reads[0].major != reads[1].major
            majors = " and ".join(f"{read.name} as {read.major}-major" for read in reads)
            if extent != other and mixed:
                self.cause = (
                    f"the product at {where} reads {majors}, and K, along which it sums, has {extent} "
                    f"elements in the tensor of A and {other} in that of B"
                )
            elif a != b:
                doing = f"reads {majors} and multiplies" if mixed else "multiplies"
                self.cause = (
                    f"the product at {where} {doing} elements {a} to {a + step - 1} of A along K with "
                    f"elements {b} to {b + step - 1} of B"
                ) + exchanged(reads, places, self._map_of, (a, b))
            elif places[0] == places[1]:
                self._same = self._same or f"matrices A and B of the product at {where} are the same bytes"
            self._elements.along_k(a, step, extent)

    def adds(self, batch: Ctas, to: tuple[Any, int], where: str, adds: bool, negated: bool) -> None:
        """A product adds to an accumulator, of a warpgroup or of CTAs, or begins anew."""
        self.sums.added((id(batch), *to), where, adds, negated)

    def loaded(self, batch: Ctas, ctas: np.ndarray) -> None:
        """Threads of CTAs load out of tensor memory."""
        self.sums.taken({(id(batch), cta) for cta in ctas.ravel().tolist()})

    def summed(
        self, batch: Ctas, which: np.ndarray, accumulator: int, where: str, values: np.ndarray
    ) -> None:
        """Registers of warpgroups get sums, raw (64, N, warpgroups)."""
        for at, warpgroup in enumerate(which.tolist()):
            whose = id(batch), warpgroup
            self.sums.taken({whose})
            if values.dtype == np.uint32:
                self._computed.summed(
                    whose, (*whose, accumulator), where, values[:, :, at].copy().view(np.float32)
                )

    def fragments(self, batch: Ctas, where: str, *matrices: RegisterMatrix) -> None:
        """An `mma` multiplies matrices out of registers, those of several warps at once."""
        self._contents = self._contents or GlobalContents(batch.launch.memory)
        if self.cause is None:
            self.cause = multiplied(where, matrices, self._contents, self._tensors, self._elements)

    @property
    def mistyped(self) -> str | None:
        """Which product takes elements, or scale factors, as another type than their tensor's."""
        return self._elements.mistyped or self._scales.mistyped

    def found(self, complete: bool = True) -> str | None:
        """The cause, once everything has run. `complete`: to its end, so that what nobody did is missing."""
        cause = self.cause or self._same or self.mistyped or self._scales.found()
        if complete:
            cause = cause or self._boxes.astray() or self._elements.untaken()
        cause = cause or self._elements.between or self._boxes.misaligned()
        return cause or (self._boxes.untaken() if complete else None)

    def _take(self, batch: Ctas, cta: int, where: str, read: MatrixRead, rows: Rows | None) -> None:
        """Take down which elements a product takes. `rows`: where they come from; None: nobody knows."""
        if rows is not None and rows.first >= 0:
            self._elements.begins(where, read, rows, self._map_of(rows.first))
            self._elements.typed(where, read, self._tensors, rows.first)
        self._boxes.take(read, self._shared(batch, cta)(read.bytes(read.descriptor, read.major)))

    def _compute(
        self, batch: Ctas, where: str, read: MatrixRead, rows: Rows | None,
        of: tuple[int, int, RegisterMatrix | None],
    ) -> None:  # fmt: skip
        """Take down what a product of a warpgroup adds up, and look at its matrix A in registers."""
        warpgroup, accumulator, held = of
        row = None if rows is None else row_of(rows, self._map_of(rows.first))
        self._computed.begins((id(batch), warpgroup, accumulator), row)
        if held is not None and held.bits == 16:
            along = row if read.major == "MN" else None
            self.cause = self._computed.multiplied((id(batch), warpgroup), where, held.numbers, along)
        if held is not None and rows is not None and self.cause is None:
            self._contents = self._contents or GlobalContents(batch.launch.memory)
            begin = self._along_k(read, rows)
            self.cause = misplaced_in_registers(where, held, self._contents, self._tensors, begin)

    def _of(self, batch: Ctas) -> np.ndarray:
        found = self._sources.get(id(batch))
        if found is None:
            self._batches.append(batch)  # so that its number stays its own
            found = np.full(batch.shared.stride * batch.shared.tiles, UNKNOWN, np.int64)
            self._sources[id(batch)] = found
        return found

    def _shared(self, batch: Ctas, cta: int) -> SharedSources:
        """Where bytes of a CTA's shared memory come from."""
        shared = batch.launch.shared

        def of(addresses: np.ndarray) -> np.ndarray:
            at = addresses - shared.start
            outside = (at < 0) | (at >= shared.total)
            places = np.where(outside, 0, at) + cta * batch.shared.stride
            self._learn(batch, np.unique(places // PIECE))
            return np.where(outside, UNKNOWN, self._of(batch)[places])

        return of

    def _learn(self, batch: Ctas, pieces: np.ndarray) -> None:
        """Look for pieces of shared memory that no copy brought, or that have been stored to since."""
        sources, data = self._of(batch).reshape(-1, PIECE), batch.shared.data.reshape(-1, PIECE)
        claimed, memory = sources[pieces], batch.launch.memory
        ask = (claimed == UNKNOWN).any(axis=1)
        known = claimed >= 0
        held = memory.data[np.where(known, claimed - BASE, 0)]
        ask |= (known & (held != data[pieces])).any(axis=1)
        if not ask.any():
            return
        if self._contents is None:
            self._contents = GlobalContents(memory)
        found = self._contents.find(data[pieces[ask]])
        if batch.shared.shadow is not None:  # Zeros that nobody wrote are none.
            found[batch.shared.shadow.reshape(-1, PIECE)[pieces[ask]].any(axis=1)] = UNKNOWN
        sources[pieces[ask]] = np.where(found >= 0, found, 0)[:, None] + np.arange(PIECE)
        sources[pieces[ask][found < 0]] = found[found < 0, None]

    def _judge(
        self, batch: Ctas, cta: int, where: str, read: MatrixRead, reads: Sequence[MatrixRead]
    ) -> Rows | None:
        """Where a matrix comes from, if it is read as it lies; else look for the cause. `reads`: all of the
        product."""
        came = self._shared(batch, cta)
        found = self._as(came, read, read.descriptor, read.major, even=False)
        if found is not None or self.cause is not None or (where, read.name) in self._puzzling:
            return found
        self._puzzling.add((where, read.name))
        said = self._misread(batch, came, read, reads)
        self.cause = f"{said}, in the product at {where}" if said else self._doubtful(batch, cta, where, read)
        return None

    def _misread(
        self, batch: Ctas, came: SharedSources, read: MatrixRead, reads: Sequence[MatrixRead]
    ) -> str | None:
        """How a matrix lies and how it is read instead."""
        shared = batch.launch.shared
        near = [shared.start, *(one.descriptor.address for one in reads)]
        moved = [each for each in elsewhere(read, near) if not self._starts or each.address in self._starts]
        moved = [each for each in moved if not self._unlike(came, replace(read, descriptor=each), reads)]
        addresses = read.bytes(read.descriptor, read.major)
        held, outside = came(addresses), int(addresses.max()) - shared.start >= shared.total
        for other in moved if outside else ():
            if self._as(came, read, other, read.major) is not None:
                return difference(read, other, read.major)
        if self._exchange(came, reads):
            return "matrices A and B are read by each other's descriptors"
        if (said := in_part(held, read, self._map_of)) is not None:
            return said
        ordered = (read.name, read.major) in self._orders  # From anywhere a tile can be read in the other.
        turned = replace(read, major="MN" if read.major == "K" else "K")
        mine, *its = self._along_both(came, turned, reads) if read.turns and not ordered else [None]
        if mine is not None and mine in its:  # Elements along K are those of the other matrix.
            return difference(read, read.descriptor, turned.major)
        for other, major in others(read):
            fits, lies = self._as(came, read, other, major), replace(read, descriptor=other, major=major)
            if fits and (major == read.major or not (ordered or self._unlike(came, lies, reads))):
                return difference(read, other, major)
        if (said := misplaced(came, read, self._pitches)) is not None:
            return said
        same = (other for other in moved if self._as(came, read, other, read.major) is not None)
        return next((difference(read, other, read.major) for other in same), None)

    def _as(
        self, came: SharedSources, read: MatrixRead, descriptor: Descriptor, major: str, even: bool = True
    ) -> Rows | None:
        """Where a matrix comes from if it is read by a descriptor, in an order."""
        try:
            return placed_rows(came(read.bytes(descriptor, major)), read.bits, major, self._map_of, even)
        except PtxkitError:
            return None

    def _unlike(self, came: SharedSources, lies: MatrixRead, reads: Sequence[MatrixRead]) -> bool:
        """Whether a matrix that lay so would have other elements along K than the other one."""
        mine, *its = self._along_both(came, lies, reads)
        return mine is not None and any(one not in (None, mine) for one in its)

    def _along_both(self, came: SharedSources, read: MatrixRead, reads: Sequence[MatrixRead]) -> list[Any]:
        """`along_k` of a matrix, and of the other one of its product."""
        both = read, *(each for each in reads if each.name != read.name)
        rows = [self._as(came, one, one.descriptor, one.major) for one in both]
        return [None if at is None else self._along_k(one, at) for one, at in zip(both, rows, strict=True)]

    def _exchange(self, came: SharedSources, reads: Sequence[MatrixRead]) -> bool:
        """Whether two matrices, each from where a copy begins, lie as the other's descriptor says."""
        if len(reads) < 2 or any(one.descriptor.address not in self._starts for one in reads):
            return False
        swapped = zip(reads, reversed(reads), strict=True)
        return all(self._as(came, one, other.descriptor, one.major) is not None for one, other in swapped)

    def _doubtful(self, batch: Ctas, cta: int, where: str, read: MatrixRead) -> str | None:
        """What is wrong with a matrix that no other descriptor would read right."""
        shared = batch.launch.shared
        addresses = read.bytes(read.descriptor, read.major)
        came = self._shared(batch, cta)(addresses)
        brought = came[came >= 0]
        if not len(brought):
            return None
        taken = (
            f"matrix {read.name} of the product at {where} takes bytes {int(addresses.min()):#x} to "
            f"{int(addresses.max()):#x} of shared memory"
        )
        if (said := rows_twice(came, read, self._map_of(int(came.max())))) is not None:
            return f"{said}, in the product at {where}"
        ends = brought.min(), brought.max(), brought[0], brought[-1]
        found = [tensor_map for one in ends if (tensor_map := self._map_of(int(one))) is not None]
        if len({tensor_map.address for tensor_map in found}) > 1:
            first, last = int(addresses.min()), int(addresses.max())
            others = [start for start in sorted(self._starts) if first < start <= last]
            also = "".join(f", to {start:#x} and on from another" for start in others[:1])
            return f"{taken}, which were copied from several tensors{also}"
        if found and not isinstance(found[0], KnownTensor):
            was, now = str(found[0].swizzle), read.descriptor.swizzle
            if was != now and "atom" not in was:
                said = f"was written {named(was)} and is read {named(now)}"
                return f"matrix {read.name} {said}, in the product at {where}"
        history, at = batch.shared.history, addresses - shared.start
        if history is None or (at < 0).any() or (at >= shared.total).any():
            return None
        unwritten = came == UNKNOWN
        if history.has("write"):
            places = at + cta * batch.shared.stride
            unwritten &= history.records("write")[history.granules(places)] == 0
        if not unwritten.any():
            return None
        return f"{taken}, and nothing has written {int(addresses[unwritten].min()):#x}"

    def _map_of(self, address: int) -> TensorMap | KnownTensor | None:
        """The map by which bytes of global memory were copied, or the tensor that they are part of."""
        found = (each for (low, high), each in reversed(self._maps.items()) if low <= address < high)
        known = (one for one in self._tensors if one.address <= address < one.address + one.size)
        return next(found, None) or next(known, None)

    def _along_k(self, read: MatrixRead, rows: Rows) -> tuple[int, int] | None:
        """See `along_k`; None where nobody knows which tensor it is."""
        tensor = self._map_of(rows.first)
        return None if tensor is None else along_k(read, rows, tensor)
