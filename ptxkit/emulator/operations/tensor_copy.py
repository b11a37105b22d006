"""Tensor copies, reductions and prefetches: `cp.async.bulk.tensor` and its kin. PTX ISA 9.7.9.27.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.asm import tree
from ptxkit.diagnostics import counted
from ptxkit.emulator.asynchronous import Issuers
from ptxkit.emulator.asynchronous.places import Places
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.operands import Source
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations.bulk_copy import COMPLETES, OPERATORS
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.tensor_copies.issue import Loads, Stores
from ptxkit.emulator.tensor_copies.maps import MapOperand

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

LOAD_MODES = ("tile", "tile::gather4", "im2col", "im2col::w", "im2col::w::128")
STORE_MODES = ("tile", "tile::scatter4", "im2col_no_offs")
DIMENSIONS = ("1d", "2d", "3d", "4d", "5d")
ROWS_COORDINATES = 5
"""Coordinates of `.tile::gather4` and `.tile::scatter4`: a column and four rows."""


@effect("cp.async.bulk.tensor")
def copy(form: Form) -> Effect:
    """`cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion.. ..`: loads, and stores without reduction."""
    m = form.modifiers
    rank = int(m.need(*DIMENSIONS)[0])
    to = next(
        (name for name in form.instruction.modifiers if name in ("shared::cta", "shared::cluster", "global")),
        "",
    )
    m.need("shared::cta", "shared::cluster", "global")
    m.need("shared::cta", "global")
    if to == "global":
        return _store(form, rank, "store")
    return _load(form, rank, to)


@effect("cp.reduce.async.bulk.tensor")
def reduce(form: Form) -> Effect:
    """`cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group.. ..`."""
    m = form.modifiers
    rank = int(m.need(*DIMENSIONS)[0])
    m.need("global")
    m.need("shared::cta")
    return _store(form, rank, m.need(*OPERATORS))


@effect("cp.async.bulk.prefetch.tensor")
def prefetch(form: Form) -> Effect:
    """`cp.async.bulk.prefetch.tensor.dim.L2.global.. ..`: a hint, but its tensor map must be one."""
    m = form.modifiers
    rank = int(m.need(*DIMENSIONS)[0])
    m.need("L2")
    m.need("global")
    mode = m.choose(*LOAD_MODES, default="tile") or "tile"
    m.flag("L2::cache_hint")
    maps, _ = _map_operand(form, form.source_operands[0], mode, rank)

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if len(issuers):
            maps(group, issuers)

    return Effect(step)


def _load(form: Form, rank: int, to: str) -> Effect:
    m = form.modifiers
    mode = m.choose(*LOAD_MODES, default="tile") or "tile"
    m.need(COMPLETES)
    multicast = m.flag("multicast::cluster")
    pair = m.choose("cta_group::1", "cta_group::2", default="cta_group::1") == "cta_group::2"
    m.flag("L2::cache_hint")
    operands = list(form.source_operands)
    places = Places(form.address(operands[0]), to, 1, form.site, within="shared")
    maps, coordinates = _map_operand(form, operands[1], mode, rank)
    mbarrier = mbarrier_at(form, operands[2], to)
    rest = operands[3:]
    offsets: tuple[Source, ...] = ()
    if mode.startswith("im2col"):
        info = rest.pop(0) if rest else None
        if not isinstance(info, tree.Vector):
            raise Unsupported("an im2col copy without offsets")
        offsets = tuple(form.source(part, "u16") for part in info.elements)
    targets = form.source(rest.pop(0), "u16") if multicast else None
    _touched(form)
    loads = Loads(form.site, maps, coordinates, places, mbarrier, offsets, targets, pair, to)
    return Effect(loads)


def _store(form: Form, rank: int, operation: str) -> Effect:
    m = form.modifiers
    mode = m.choose(*STORE_MODES, default="tile") or "tile"
    m.need("bulk_group")
    m.flag("L2::cache_hint")
    operands = list(form.source_operands)
    maps, coordinates = _map_operand(form, operands[0], mode, rank)
    places = Places(form.address(operands[1]), "shared::cta", 1, form.site, within="shared")
    _touched(form)
    return Effect(Stores(form.site, maps, coordinates, places, operation))


def _touched(form: Form) -> None:
    program = form.builder.program
    program.asynchronous = True
    program.touches("shared", 16)
    program.touches("global", 4)


def _map_operand(
    form: Form, operand: tree.Operand, mode: str, rank: int
) -> tuple[MapOperand, tuple[Source, ...]]:
    """`[tensorMap, tensorCoords]`: the map, and the coordinates, innermost first."""
    if not isinstance(operand, tree.Address) or len(operand.rest) != 1:
        raise Unsupported("a tensor map without coordinates")
    vector = operand.rest[0]
    parts = vector.elements if isinstance(vector, tree.Vector) else (vector,)
    expected = ROWS_COORDINATES if mode in ("tile::gather4", "tile::scatter4") else rank
    if len(parts) != expected:
        raise Unsupported(f"{counted(len(parts), 'coordinate')} where it has {expected}")
    sources = tuple(form.source(part, "s32") for part in parts)
    return MapOperand(form.address(operand), mode, rank, form.site), sources
