"""Tensor copies, reductions and prefetches: `cp.async.bulk.tensor` and its kin. PTX ISA 9.7.9.27.1."""

from __future__ import annotations

from typing import Any

from ptxkit.asm import tree
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.tensor_copies.issue import Loads, Stores
from ptxkit.emulator.tensor_copies.maps import MapOperand
from ptxkit.isa.modifiers import LoadMode

effect = Effects("asynchronous_copy")


@effect("cp.async.bulk.tensor")
def copy(form: ScopedInstruction) -> Effect:
    """`cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion.. ..`: loads, and stores without reduction."""
    return _store(form, "store") if "srcMem" in form.operands else _load(form)


@effect("cp.reduce.async.bulk.tensor")
def reduce(form: ScopedInstruction) -> Effect:
    """`cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group.. ..`."""
    return _store(form, form["redOp"])


@effect("cp.async.bulk.prefetch.tensor")
def prefetch(form: ScopedInstruction) -> Effect:
    """`cp.async.bulk.prefetch.tensor.dim.L2.global.. ..`: a hint, but its tensor map must be one."""
    maps = _map(form)

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        if len(issuers):
            maps(lane_set, issuers)

    return Effect(step)


def _load(form: ScopedInstruction) -> Effect:
    to = form.space_of("dstMem")
    places = AddressResolver(form.address("dstMem"), to, 1, form.site, within="shared")
    targets = form.source("ctaMask") if "ctaMask" in form.operands else None
    _touched(form)
    loads = Loads(
        form.site,
        _map(form),
        _elements(form, "tensorCoords"),
        places,
        mbarrier_at(form, "mbar", to),
        _elements(form, "info"),
        targets,
        form["cta_group"] == 2,
        to,
    )
    return Effect(loads)


def _store(form: ScopedInstruction, operation: str) -> Effect:
    places = AddressResolver(form.address("srcMem"), "shared::cta", 1, form.site, within="shared")
    _touched(form)
    return Effect(Stores(form.site, _map(form), _elements(form, "tensorCoords"), places, operation))


def _touched(form: ScopedInstruction) -> None:
    program = form.scope.program
    program.asynchronous = True
    program.touches("shared", 16)
    program.touches("global", 4)


def _map(form: ScopedInstruction) -> MapOperand:
    mode = form["load_mode"] or LoadMode.TILE
    return MapOperand(form.address("tensorMap"), mode, form["dim"], form.site)


def _elements(form: ScopedInstruction, operand: str) -> tuple[SourceOperand, ...]:
    """Coordinates, innermost first, or offsets of an im2col copy; nothing where they are left out."""
    there = form.operands.get(operand)
    if there is None:
        return ()
    parts = there.elements if isinstance(there, tree.Vector) else (there,)
    return tuple(form.source(part, form.type_of(operand).name) for part in parts)
