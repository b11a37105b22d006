"""Tensor copies as threads issue them: what each moves, whether it may, and the operation that is queued."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.issuers import AddressResolver, Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand, undefined_decides
from ptxkit.emulator.sync_points import check_defined
from ptxkit.emulator.tensor_copies.maps import INVALID, MapFences, MapOperand
from ptxkit.emulator.tensor_copies.transfer import REDUCTIONS, Held, Intervals, TensorTransfer
from ptxkit.emulator.values import first_true
from ptxkit.isa.modifiers import LoadMode, Validity
from ptxkit.layouts.tensor_copy import Im2colCopy, TensorCopy

SHARED_ALIGNED = 128
"""What the shared address of a box must be a multiple of."""
PADDED_COORDINATE = 128
"""What the first coordinate of a padded type must be a multiple of (PTX ISA 9.7.9.27.1.1)."""
ALIGNMENT, COORDINATE = "P628", "P624"


@dataclass(slots=True, eq=False)
class Copies:
    """What loads and stores share."""

    site: Site
    maps: MapOperand
    coordinates: tuple[SourceOperand, ...]
    places: AddressResolver
    storing: bool = field(default=False, init=False)

    def begin(self, lane_set: LaneSet, issuers: Issuers) -> tuple[list[TensorCopy], np.ndarray, np.ndarray]:
        """The copies of each thread, the addresses of their maps in global memory (-1 elsewhere), and their
        coordinates. Raises what `MapOperand` does; P605; P624, coordinates that are not 0 in a tensor whose
        sizes the instruction gives."""
        copies, addresses = self.maps(lane_set, issuers)
        coordinates = self._values(lane_set, issuers, self.coordinates)
        override = self.maps.override
        moved = (coordinates != 0).any(axis=1)
        if override is not None and override.sizes and (item := first_true(moved)) is not None:
            at = tuple(coordinates[item].tolist())
            expected = "coordinates of 0, as the instruction gives the tensor's sizes"
            raise self._wrong_start(issuers, item, at, expected, "9.4, 9.7.10.28.5.2.2", "")
        return copies, addresses, coordinates

    def _values(self, lane_set: LaneSet, issuers: Issuers, sources: tuple[SourceOperand, ...]) -> np.ndarray:
        """Operands of each thread: int64 (threads, operands). Raises P605, one has undefined bits."""
        found = np.zeros((len(issuers), len(sources)), np.int64)
        for i, source in enumerate(sources):
            entry = source.undefined(lane_set) if lane_set.undefined else None
            if entry is not None and issuers.take(entry[0]).any():
                name = f"the coordinate `{source.name}`"
                undefined_decides(lane_set, entry[0], entry[1], self.site, name)
            found[:, i] = issuers.take(source.reader(lane_set))
        return found

    def transfers(
        self,
        issuers: Issuers,
        copies: list[TensorCopy],
        coordinates: np.ndarray,
        offsets: np.ndarray,
        to: np.ndarray,
    ) -> list[TensorTransfer]:
        """The boxes of some threads, `to` offsets in the bank of shared memory. Raises P628, a box is
        misaligned; P602, it leaves shared memory, or the tensor memory."""
        batch = issuers.lane_set.batch
        launch, stride = batch.launch, batch.shared.stride
        made = []
        for item, copy in enumerate(copies):
            tile, offset = divmod(int(to[item]), stride)
            address = offset + launch.shared.start
            if address % SHARED_ALIGNED:
                raise fault(
                    ALIGNMENT,
                    f"expected a multiple of {SHARED_ALIGNED} bytes, found {address:#x}",
                    self.site,
                    (issuers.name(item),),
                    "declare the buffer `.align 128`, or 1024 where a matrix descriptor reads it",
                )
            at, given = tuple(coordinates[item].tolist()), tuple(offsets[item].tolist())
            self._check_start(issuers, item, copy, at)
            moves = copy.moves(at, address, given, self.storing)
            if offset + moves.extent > launch.shared.total:
                end = launch.shared.start + launch.shared.total
                raise fault(
                    "P602",
                    f"out of bounds: a box of {moves.extent} bytes at {address:#x} of shared memory",
                    self.site,
                    (issuers.name(item), f"the CTA's shared memory ends at {end:#x}"),
                    launch.forgotten("shared"),
                )
            transfer = TensorTransfer(copy.map, moves, tile * stride, self.site, launch)
            if launch.layouts is not None:
                launch.layouts.box(self.site.where, copy.map, at, address, moves, self.storing)
            self._check_tensor(issuers, item, transfer)
            made.append(transfer)
        return made

    def _check_start(self, issuers: Issuers, item: int, copy: TensorCopy, at: tuple[int, ...]) -> None:
        """A copy begins at whole 16 bytes (PTX ISA 5.5.3.1), a walk through pixels in its box (5.5.4.1).
        Raises P624."""
        unit = PADDED_COORDINATE if copy.padded else 128 // copy.element
        if not copy.slice and at[0] % unit:
            expected = f"a first coordinate that is a multiple of {unit}, 16 bytes of `{copy.map.dtype}`"
            raise self._wrong_start(issuers, item, at, expected, "5.5.3.1")
        if not isinstance(copy, Im2colCopy) or (copy.wide and not self.storing):
            return
        start = at[copy.first : copy.first + (1 if copy.wide else copy.spatial)]
        bounds = list(zip(start, [0] if copy.wide else copy.lower, copy.end, strict=False))
        if all(low <= x < end for x, low, end in bounds):
            return
        box = ", ".join(f"{low} to {end - 1}" for _, low, end in bounds)
        raise self._wrong_start(issuers, item, at, f"pixels {box}, the bounding box", "5.5.4.1")

    def _wrong_start(
        self,
        issuers: Issuers,
        item: int,
        at: tuple[int, ...],
        expected: str,
        section: str,
        seen: str = "; an H200 stops with an illegal instruction",
    ) -> PtxkitError:
        found = "{" + ", ".join(str(x) for x in at) + "}"
        return fault(
            COORDINATE,
            f"expected {expected}, found {found}",
            self.site,
            (issuers.name(item), f"PTX ISA {section}{seen}"),
        )

    def _check_tensor(self, issuers: Issuers, item: int, transfer: TensorTransfer) -> None:
        """The part of the tensor that is copied must be allocated."""
        memory = transfer.launch.memory
        start, size = transfer.global_intervals
        if not len(start):
            return
        low, high = int(start.min()) + BASE, int((start + size).max()) + BASE
        owner = memory.find(low)
        if memory.device_count > 1 and owner is not None and memory.bars(owner, transfer.launch.device):
            from ptxkit.emulator.peers import no_peer

            raise no_peer(transfer.launch, owner, self.site, issuers.name(item), low, high - low)
        if owner is not None and owner.live and high <= owner.end:
            owner.touched = True
            return
        moves = transfer.moves
        inside = np.ones(len(moves.addresses), bool) if moves.inside is None else moves.inside
        good = memory.inside(moves.addresses.astype(np.uint64), moves.unit) | ~inside
        if good.all():
            return
        where = int(moves.addresses[np.argmin(good)])
        before = memory.find(where)
        freed = before is not None and not before.live and where < before.end
        near = (
            f"the nearest allocation before is {before}"
            if before is not None
            else "nothing is allocated before"
        )
        raise fault(
            "P604" if freed else "P602",
            f"{'use after free' if freed else 'out of bounds'}: a box reaches {where:#x} of global memory",
            self.site,
            (issuers.name(item), f"the tensor begins at {transfer.map.address:#x}", near),
            "the tensor map must describe what is allocated: compare its address, sizes and strides",
        )


@dataclass(slots=True, eq=False)
class Loads(Copies):
    """The step of a load."""

    mbarrier: AddressResolver
    offsets: tuple[SourceOperand, ...]
    targets: SourceOperand | None
    pair: bool
    to: str
    validity: Validity | None

    def issue(self, lane_set: LaneSet, issuers: Issuers) -> None:
        """Queue the copies of some threads."""
        batch, site = lane_set.batch, self.site
        copies, addresses, coordinates = self.begin(lane_set, issuers)
        offsets = self._values(lane_set, issuers, self.offsets)
        to, signals = self.places(lane_set, issuers), self.mbarrier(lane_set, issuers)
        stride = batch.shared.stride
        if self.to == "shared::cta":
            remote = issuers.remote(to)
            issuers.refuse(remote, "P664", site, "a `.shared::cta` address must be of the executing CTA")
        if self.targets is not None:
            check_defined(lane_set, issuers.mask, self.targets, site)
            item, rank = issuers.destinations(issuers.take(self.targets.reader(lane_set)), site)
            if not len(item):
                return
            first = batch.peer(issuers.rows[item], 0)
            home = signals[item] // stride - first
            signal_rank = rank & ~1 | home & 1 if self.pair else rank
            issuers = issuers.some(item)
            copies = [copies[i] for i in item.tolist()]
            coordinates, offsets, addresses = coordinates[item], offsets[item], addresses[item]
            to = (first + rank) * stride + to[item] % stride
            signals = (first + signal_rank) * stride + signals[item] % stride
        slots = batch.mbarriers.find_beside(issuers, signals, to, site, self.pair)
        if self.validity is not None:
            batch.mbarriers.check_reports(issuers, slots, site)
        transfers = self.transfers(issuers, copies, coordinates, offsets, to)
        sizes = np.array([transfer.moves.nbytes for transfer in transfers], np.int64)
        launch = batch.launch
        memory, bank = launch.memory, batch.shared
        if launch.layouts is not None:
            for transfer in transfers:
                moves, places = transfer.moves, transfer.places * transfer.moves.unit
                launch.layouts.copied(batch, places, moves.addresses, moves.unit, moves.inside, transfer.map)
        launch.counts.load("global", int(sizes.sum()))
        launch.counts.store("shared", int(sizes.sum()))

        def deliver(data: list[Held]) -> None:
            for transfer, held in zip(transfers, data, strict=True):
                transfer.deliver_shared(held, bank)

        operation = AsyncOperation(
            site,
            *issuers.who,
            reads=(region_of(memory, [transfer.global_intervals for transfer in transfers]),),
            writes=(region_of(bank, [transfer.shared_intervals() for transfer in transfers]),),
            fetch=lambda: [transfer.fetch_global(memory) for transfer in transfers],
            deliver=deliver,
            signal=Transaction(slots, sizes),
            validity=self.validity,
        )
        launch.own(MapFences).use(operation, addresses)
        batch.queue.issue(operation)


@dataclass(slots=True, eq=False)
class Stores(Copies):
    """The step of a store or a reduction."""

    operation: str

    def __post_init__(self) -> None:
        self.storing = True

    def issue(self, lane_set: LaneSet, issuers: Issuers) -> None:
        """Queue the copies of some threads."""
        batch, site, what = lane_set.batch, self.site, self.operation
        transfers, addresses = self.boxes(lane_set, issuers)
        launch = batch.launch
        memory, bank = launch.memory, batch.shared
        nbytes = sum(transfer.moves.nbytes for transfer in transfers)
        launch.counts.load("shared", nbytes)
        launch.counts.store("global", nbytes)

        def deliver(data: list[Held]) -> None:
            for transfer, held in zip(transfers, data, strict=True):
                transfer.deliver_global(held, memory, what)

        operation = AsyncOperation(
            site,
            *issuers.who,
            reads=(region_of(bank, [transfer.shared_intervals() for transfer in transfers]),),
            writes=(region_of(memory, [transfer.global_intervals for transfer in transfers]),),
            fetch=lambda: [transfer.fetch_shared(bank) for transfer in transfers],
            deliver=deliver,
            signal=batch.queue.groups["bulk"].join(issuers.rows, issuers.lanes),
        )
        launch.own(MapFences).use(operation, addresses)
        batch.queue.issue(operation)

    def boxes(self, lane_set: LaneSet, issuers: Issuers) -> tuple[list[TensorTransfer], np.ndarray]:
        """What some threads store, and the addresses of their maps, as `begin` has them. Raises what is wrong
        with it."""
        copies, addresses, coordinates = self.begin(lane_set, issuers)
        self._check_types(issuers, copies)
        before: np.ndarray = np.any(coordinates < 0, axis=1)
        if not self._anywhere(lane_set) and (item := first_true(before)) is not None:
            at = tuple(coordinates[item].tolist())
            raise self._wrong_start(issuers, item, at, "coordinates of 0 and more in a store", "9.7.9.27.1.1")
        offsets, source = np.zeros((len(issuers), 0), np.int64), self.places(lane_set, issuers)
        return self.transfers(issuers, copies, coordinates, offsets, source), addresses

    def _anywhere(self, lane_set: LaneSet) -> bool:
        """Whether a store may begin before the tensor: rows on sm_107 (PTX ISA 9.4, 9.7.10.28.5.1)."""
        rows = self.maps.mode == LoadMode.TILE_SCATTER4
        return rows and lane_set.launch.program.capability == (10, 7)

    def _check_types(self, issuers: Issuers, copies: list[TensorCopy]) -> None:
        """PTX ISA 9.7.9.27.1.1: `b4x16_p64` can't be stored; 9.7.9.27.1.3: what can be reduced."""
        for item, copy in enumerate(copies):
            dtype = copy.map.dtype
            if self.operation == "store":
                fits = dtype != "b4x16_p64"
            else:
                fits = dtype in REDUCTIONS[self.operation]
            if not fits:
                raise fault(
                    INVALID,
                    f"no `.{self.operation}` of a tensor of `{dtype}`",
                    self.site,
                    (issuers.name(item),),
                    "PTX ISA 9.7.9.27.1 lists the types that each operation has",
                )


def region_of(bank: Any, parts: list[Intervals]) -> Region:
    """The intervals of some items as a region."""
    start = np.concatenate([part[0] for part in parts])
    size = np.concatenate([part[1] for part in parts])
    return Region(bank, start, size, np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]))
