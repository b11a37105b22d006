"""Tensor copies and reductions: `cp.async.bulk.tensor`, .. PTX ISA 9.7.9.27.1."""

from __future__ import annotations

from functools import partial

from ptxkit.asm import tree
from ptxkit.emulator.copy_sides import in_bulk_group, validity_of
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.tensor_copies.issue import Loads, Stores
from ptxkit.emulator.tensor_copies.maps import MapFences, MapOperand
from ptxkit.emulator.tensor_copies.overrides import Override
from ptxkit.isa.modifiers import LoadMode, StateSpace

effect, later = Effects("asynchronous_copy"), Effects("bulk_copies")


@effect("cp.async.bulk.tensor")
@later("cp.async.bulk.tensor")
def tensor(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion.. ..`: loads, and stores without reduction.

    A scope among the modifiers, which ptxas alone takes, means nothing: it makes the same machine code.
    """
    return _store(instruction, "store") if "srcMem" in instruction.operands else _load(instruction)


@effect("cp.reduce.async.bulk.tensor")
@later("cp.reduce.async.bulk.tensor")
def tensor_reduction(instruction: ScopedInstruction) -> Effect:
    """`cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group.. ..`."""
    return _store(instruction, instruction["redOp"])


def hint(instruction: ScopedInstruction, grouped: bool) -> Effect:
    """`cp.async.bulk.prefetch.tensor.dim.L2.global.. ..`, `applypriority.async.bulk.tensor.dim.. ..`: they
    move nothing, but their tensor map must be one. `grouped`: whether they belong to a bulk group."""
    maps = _map(instruction)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        _, addresses = maps(lane_set, issuers)
        if grouped:
            launch = lane_set.launch
            launch.own(MapFences).use(in_bulk_group(issuers, instruction.site), addresses)

    return Effect(by_thread(step))


for chapter in (effect, later):
    chapter("cp.async.bulk.prefetch.tensor")(partial(hint, grouped=False))


@later("applypriority.async.bulk.tensor")
def apply_priority(instruction: ScopedInstruction) -> Effect:
    """`applypriority.async.bulk.tensor.dim{.global}.bulk_group{.load_mode}.L2::evict_normal.. ..`."""
    instruction.scope.program.asynchronous = True
    return hint(instruction, grouped=True)


def _load(instruction: ScopedInstruction) -> Effect:
    to = instruction.space_of("dstMem")
    places = AddressResolver(instruction.address("dstMem"), to, 1, instruction.site, within="shared")
    targets = instruction.source("ctaMask") if "ctaMask" in instruction.operands else None
    paired = instruction["cta_group"] == 2
    touched(instruction)
    loads = Loads(
        instruction.site,
        _map(instruction),
        elements(instruction, "tensorCoords"),
        places,
        # Of a pair the mbarrier may be the peer's, even where the data is one's own.
        mbarrier_at(instruction, "mbar", StateSpace.SHARED_CLUSTER if paired else to),
        elements(instruction, "info"),
        targets,
        paired,
        to,
        validity_of(instruction),
    )
    return Effect(by_thread(loads.issue))


def _store(instruction: ScopedInstruction, operation: str) -> Effect:
    places = AddressResolver(
        instruction.address("srcMem"), "shared::cta", 1, instruction.site, within="shared"
    )
    touched(instruction)
    stores = Stores(
        instruction.site, _map(instruction), elements(instruction, "tensorCoords"), places, operation
    )
    return Effect(by_thread(stores.issue))


def touched(instruction: ScopedInstruction) -> None:
    """Take note that a program copies tensors."""
    program = instruction.scope.program
    program.asynchronous = True
    program.touches("shared", 16)
    program.touches("global", 4)


def _map(instruction: ScopedInstruction) -> MapOperand:
    mode, there = instruction["load_mode"] or LoadMode.TILE, instruction.operands
    override = None
    if "gAddr" in there:
        override = Override(
            instruction.site,
            instruction.source("gAddr"),
            elements(instruction, "sizes"),
            elements(instruction, "lowStrides"),
            instruction.source("upStrides") if "upStrides" in there else None,
        )
    return MapOperand(instruction.address("tensorMap"), mode, instruction["dim"], instruction.site, override)


def elements(instruction: ScopedInstruction, operand: str) -> tuple[SourceOperand, ...]:
    """Coordinates or sizes, innermost first, or offsets of an im2col copy; nothing where they are left
    out."""
    there = instruction.operands.get(operand)
    if there is None:
        return ()
    parts = there.elements if isinstance(there, tree.Vector) else (there,)
    return tuple(instruction.source(part, instruction.type_of(operand).name) for part in parts)
