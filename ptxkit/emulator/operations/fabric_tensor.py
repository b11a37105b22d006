"""Fabric operations on tensors: the map's address is replaced by a handle. PTX ISA 9.7.11.5.7 to 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.copy_sides import UNIT, Sizes
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.endpoints import LogicalEndpoint
from ptxkit.emulator.fabric_handle import FabricHandle
from ptxkit.emulator.faults import fault
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operations.fabric import FabricBarrier, count_bytes, queue, single
from ptxkit.emulator.operations.tensor_copy import elements, touched
from ptxkit.emulator.tensor_copies.issue import Copies, Stores, region_of
from ptxkit.emulator.tensor_copies.maps import MapOperand
from ptxkit.emulator.tensor_copies.overrides import Override
from ptxkit.emulator.tensor_copies.transfer import TensorTransfer
from ptxkit.isa.modifiers import LoadMode

effect = Effects("fabric")


@dataclass(slots=True, eq=False)
class HandleOverride(Override):
    """A tensor's address that comes from a handle. `place`: it, of the thread and device at hand."""

    place: int = 0

    def addresses(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        return np.array([self.place], np.int64)


@dataclass(slots=True, eq=False)
class _Gets(Copies):
    def _check_tensor(self, issuers: Issuers, item: int, transfer: TensorTransfer) -> None:
        """What is bound decides; see `_BehindHandle.check_bound`."""


@dataclass(slots=True, eq=False)
class _Puts(Stores):
    def _check_tensor(self, issuers: Issuers, item: int, transfer: TensorTransfer) -> None:
        """What is bound decides; see `_BehindHandle.check_bound`."""


class _BehindHandle:
    """What the operations on tensors share."""

    def __init__(self, instruction: ScopedInstruction, local: str) -> None:
        there, self.site = instruction.operands, instruction.site
        self.handle, self.barrier = FabricHandle(instruction), FabricBarrier(instruction)
        self.override = HandleOverride(
            instruction.site,
            instruction.source("offset"),
            elements(instruction, "sizes"),
            elements(instruction, "lowStrides"),
            instruction.source("upStrides") if "upStrides" in there else None,
        )
        address, dim = instruction.address("tensorMap"), instruction["dim"]
        self.maps = MapOperand(address, LoadMode.TILE, dim, instruction.site, self.override)
        self.coordinates = elements(instruction, "tensorCoords")
        address = instruction.address(local)
        self.places = AddressResolver(address, "shared::cta", 1, instruction.site, within="shared")
        touched(instruction)

    def check_bound(
        self, issuers: Issuers, found: LogicalEndpoint, device: int, offset: int, transfer: TensorTransfer
    ) -> None:
        """The part of the tensor that is copied must be bound by a device. Raises P6153."""
        start, size = transfer.global_intervals
        if not len(start):
            return
        low, high = int(start.min()) + BASE, int((start + size).max()) + BASE
        first = offset + low - self.override.place
        if first < 0 or int(found.bound.places(device, np.int64(first), high - low)) != low:
            message = f"{counted(high - low, 'byte')} of a box are not all bound by device {device}"
            help = "let the tensor lie in what is bound to the endpoint"
            raise self.handle.refused(issuers, message, help)


@effect("fabric.try_get.async.tensor")
def try_get(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_get.async.tensor.dim.. [dst], [tensorMap, leId, offset{, sizes, ..}, coords], [mbar]`."""
    tensor = _BehindHandle(instruction, "dst")
    copies = _Gets(tensor.site, tensor.maps, tensor.coordinates, tensor.places)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        found, offset = (
            tensor.handle.endpoint_of(lane_set, issuers),
            tensor.handle.offset_of(lane_set, issuers),
        )
        (place,) = tensor.handle.places(issuers, found, offset, UNIT)
        tensor.override.place = place + BASE
        made, maps, coordinates = copies.begin(lane_set, issuers)
        to = tensor.places(lane_set, issuers)
        (transfer,) = copies.transfers(issuers, made, coordinates, np.zeros((1, 0), np.int64), to)
        tensor.check_bound(issuers, found, found.bound.team[0], offset, transfer)
        size, memory, bank = int(transfer.moves.nbytes), launch.memory, batch.shared
        launch.counts.load("global", size)
        launch.counts.store("shared", size)
        reads = [region_of(memory, [transfer.global_intervals])]
        writes = [region_of(bank, [transfer.shared_intervals()])]
        slots = tensor.barrier(lane_set, issuers)

        def fetch() -> Any:
            return transfer.fetch_global(memory)

        def deliver(held: Any) -> None:
            transfer.deliver_shared(held, bank)

        queue(lane_set, issuers, instruction, found, slots, size, reads, writes, fetch, deliver, maps=maps)

    return Effect(single(step))


@effect("fabric.try_put.async.tensor", "fabric.try_red.async.tensor")
def try_put(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_put.async.tensor{.multimem}.dim.. [tensorMap, leId, offset{, counter}{, sizes, ..},
    tensorCoords], [src], size, [mbar]`, and `fabric.try_red.async.tensor` with an operation."""
    reduces = instruction.row.name == "fabric.try_red.async.tensor"
    what = instruction["redOp"] if reduces else "store"
    tensor, sizes = _BehindHandle(instruction, "src"), Sizes(instruction)
    stores = _Puts(tensor.site, tensor.maps, tensor.coordinates, tensor.places, what)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        memory, bank = launch.memory, batch.shared
        found, offset = (
            tensor.handle.endpoint_of(lane_set, issuers),
            tensor.handle.offset_of(lane_set, issuers),
        )
        size, _ = sizes(lane_set, issuers)
        transfers: list[TensorTransfer] = []
        for device, place in zip(
            found.bound.team, tensor.handle.places(issuers, found, offset, UNIT), strict=True
        ):
            tensor.override.place = place + BASE
            (transfer,), maps = stores.boxes(lane_set, issuers)
            tensor.check_bound(issuers, found, device, offset, transfer)
            transfers.append(transfer)
        length, box = int(size[0]), int(transfers[0].moves.nbytes)
        if length != box:
            message = f"expected {counted(box, 'byte')}, the box of the tensor map, found {length}"
            raise fault("P662", message, tensor.site, (issuers.name(0),))
        counters = tensor.handle.counters(lane_set, issuers, found, offset, 0)
        launch.counts.load("shared", length)
        launch.counts.store("global", length * len(transfers))
        reads = [region_of(bank, [transfers[0].shared_intervals()])]
        writes: list[Region] = [region_of(memory, [one.global_intervals]) for one in transfers]
        slots = tensor.barrier(lane_set, issuers)

        def fetch() -> Any:
            return transfers[0].fetch_shared(bank)

        def deliver(held: Any) -> None:
            for one in transfers:
                one.deliver_global(held, memory, what)

        def after() -> None:
            for counter in counters:
                count_bytes(batch, counter, length)

        tx = length // UNIT
        queue(
            lane_set,
            issuers,
            instruction,
            found,
            slots,
            tx,
            reads,
            writes,
            fetch,
            deliver,
            reduces,
            after,
            maps,
        )

    return Effect(single(step))
