"""Textures: `tex`, `tld4`, `txq`, `istypep`. PTX ISA 9.7.10."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.dtypes import DType
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.numerics import half
from ptxkit.emulator.operands import put
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.texels.arrays import AXES, CUBES, LAYERED
from ptxkit.emulator.texels.objects import OPAQUE_KINDS, SamplerObject, Texture, resampled
from ptxkit.emulator.texels.queries import answer
from ptxkit.emulator.texels.sampling import Place, quad, taps
from ptxkit.emulator.textures.fetch import COMPONENTS, Fetched, fetch, gather
from ptxkit.emulator.textures.handles import HandleOperand
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import Geometry, OpaqueField

effect = Effects("texture")

MULTI_SAMPLED = frozenset({Geometry.MS_2D, Geometry.ARRAY_MS_2D})
SHIFT_BITS, GATHER_SHIFT_BITS = 4, 6
"""Of offsets of coordinates, and of those of gathers."""


def _signed(value: np.ndarray, bits: int) -> np.ndarray:
    """The lowest bits as a number with a sign."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


class _Lookup:
    """The operands of a fetch: where it looks, and what takes its result."""

    def __init__(self, instruction: ScopedInstruction, shift_bits: int = SHIFT_BITS) -> None:
        self._shift_bits = shift_bits
        if "f" in instruction.operands:
            raise Unsupported("how a texel is compared with a depth is told nowhere")
        self.geometry: Geometry = instruction["geom"]
        if self.geometry in MULTI_SAMPLED:
            raise Unsupported("only graphics interfaces make multi-sampled textures")
        self.site = instruction.site
        self.texture = HandleOperand(instruction, "a", Texture)
        self.sampler = HandleOperand(instruction, "b", SamplerObject) if "b" in instruction.operands else None
        read, kind = instruction.checked_source, instruction["ctype"].name
        self.whole = kind == "s32"
        parts = instruction.parts("c")
        first = int(self.geometry in LAYERED)
        count = 3 if self.geometry in CUBES else AXES[self.geometry]
        self.layer = read(parts[0], "u32") if first else None
        self.axes = [read(part, kind) for part in parts[first : first + count]]
        self.level = read("lod", kind) if "lod" in instruction.operands else None
        self.across, self.down, self.shifts = (
            [read(part, of) for part in instruction.parts(name)[:count]]
            if name in instruction.operands
            else []
            for name, of in (("dPdx", "f32"), ("dPdy", "f32"), ("e", "s32"))
        )
        self._results = _Results(instruction)

    def effect(self, look: Callable[[LaneSet, Any, Texture, Place], Fetched]) -> Effect:
        """The instruction, by what it does with a texture and a place."""

        def step(lane_set: LaneSet, guard: Any) -> bool:
            place, tainted = self._place(lane_set), False
            for texture, mine in self._textures(lane_set, guard):
                if place.across and texture.sampler.anisotropy > 1:
                    self._warn_anisotropic(lane_set, texture)
                found = look(lane_set, mine, texture, place)
                tainted |= self._results.write(lane_set, found, mine)
            return tainted

        return Effect(step)

    def _warn_anisotropic(self, lane_set: LaneSet, texture: Texture) -> None:
        message = "the filter is anisotropic, which no document defines: it is executed as an isotropic one"
        lane_set.launch.warn("P6142", message, self.site, (str(texture),))

    def _place(self, lane_set: LaneSet) -> Place:
        """Where the lanes of a set look, arrays (rows, 32)."""

        def full(readers: Sequence[Callable[[LaneSet], Any]]) -> list[np.ndarray]:
            return [np.broadcast_to(read(lane_set), (lane_set.n, WARP)) for read in readers]

        offsets = full(self.shifts)
        if self.geometry is Geometry.D1 and offsets and not self.whole:
            # On an H200 the bits behind those that count are the offset in y of the one row.
            offsets.append(offsets[0] >> SHIFT_BITS)
        return Place(
            full(self.axes),
            None if self.layer is None else full([self.layer])[0],
            None if self.level is None else full([self.level])[0],
            full(self.across),
            full(self.down),
            [_signed(offset.astype(np.int64), self._shift_bits) for offset in offsets],
        )

    def _textures(self, lane_set: LaneSet, guard: Any) -> Iterator[tuple[Texture, Any]]:
        """The textures that lanes name, each with the lanes that do. Raises P6140."""
        for found, mine in self.texture.objects(lane_set, guard):
            why = self._misfit(found)
            if why is not None:
                self.texture.refuse(lane_set, mine, why)
            if self.sampler is None:
                yield found, mine
                continue
            for sampler, ours in self.sampler.objects(lane_set, mine):
                yield resampled(found, sampler), ours

    def _misfit(self, texture: Texture) -> str | None:
        """Why the instruction can't fetch from a texture."""
        if texture.array.base.geometry is not self.geometry:
            return f"expected a `.{self.geometry}` texture, found a {texture}"
        if texture.array.linear and not self.whole:
            return f"expected integer coordinates for linear memory, found `.f32`: it is a {texture}"
        if self.whole and self.geometry is Geometry.D1 and not texture.array.linear:
            return (
                f"expected linear memory for integer coordinates of `.1d`, where a GPU gives zeros: {texture}"
            )
        return None


class _Results:
    """What takes the result of a fetch, `d` and the predicate that all of it is resident."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        parts = instruction.parts("d")
        self._packed = len(parts) * 2 == COMPONENTS
        self._half = self._packed or instruction.the(DType).bits == 16
        kind = "b32" if self._packed or not self._half else "b16"
        self._targets = [instruction.target(part, kind) for part in parts]
        self._resident = instruction.target("p") if "p" in instruction.operands else None

    def write(self, lane_set: LaneSet, found: Fetched, mine: np.ndarray) -> bool:
        """Write a result for some lanes. Returns whether undefined bits came into a register."""
        values: list[np.ndarray] = found.values
        if self._half:
            with np.errstate(all="ignore"):
                values = [half.narrow(value.view(np.float32), "f16") for value in values]
        if self._packed:
            wide = [value.astype(np.uint32) for value in values]
            values = [wide[0] | wide[1] << np.uint32(16), wide[2] | wide[3] << np.uint32(16)]
        for target, value in zip(self._targets, values, strict=True):
            mask = None
            if found.undefined is not None:
                every = np.array(-1).astype(value.dtype)
                mask = (np.where(found.undefined, every, value.dtype.type(0)), found.origin)
            put(target, lane_set, value, mask, mine)
        if self._resident is not None:
            self._resident.write(lane_set, np.True_, None, mine)
        return found.undefined is not None


@effect("tex", "tex.base", "tex.level", "tex.grad")
def tex(instruction: ScopedInstruction) -> Effect:
    """`tex{.base}.geom.v4.dtype.ctype d{|p}, [a, {b,} c]{, e}`, and with a level or with gradients."""
    lookup = _Lookup(instruction)
    return lookup.effect(
        lambda lane_set, guard, texture, place: fetch(
            lane_set, guard, lookup.site, texture, taps(texture, lookup.geometry, place)
        )
    )


@effect("tld4")
def tld4(instruction: ScopedInstruction) -> Effect:
    """`tld4.comp.geom.v4.dtype.f32 d{|p}, [a, {b,} c]{, e}`: a component of each texel of the footprint."""
    lookup, component = _Lookup(instruction, GATHER_SHIFT_BITS), instruction["comp"]
    return lookup.effect(
        lambda lane_set, guard, texture, place: gather(
            lane_set, guard, lookup.site, texture, quad(texture, lookup.geometry, place), component
        )
    )


@effect("txq", "txq.level")
def txq(instruction: ScopedInstruction) -> Effect:
    """`txq.query.b32 d, [a]` of a texture or, in independent mode, of a sampler; `txq.level`, of a level."""
    field: OpaqueField = instruction["query"]
    handles = HandleOperand(instruction, "a", _asked_of(instruction, field))
    level = instruction.checked_source("lod", "u32") if "lod" in instruction.operands else None
    target = instruction.target("d", "b32")

    def step(lane_set: LaneSet, guard: Any) -> None:
        for found, mine in handles.objects(lane_set, guard):
            if level is None:
                value: Any = np.uint32(answer(field, found))
            else:
                asked = np.broadcast_to(level(lane_set), mine.shape)
                value = np.zeros(mine.shape, np.uint32)
                for number in np.unique(asked[mine]):
                    value[asked == number] = answer(field, found, int(number))
            put(target, lane_set, value, None, mine)

    return Effect(step)


def _asked_of(instruction: ScopedInstruction, field: OpaqueField) -> Any:
    """Whether a texture or a sampler is asked: in independent mode samplers have what is theirs."""
    base = instruction.operands["a"]
    assert isinstance(base, tree.Address)
    name = base.base
    symbol = instruction.scope.meaning(name) if isinstance(name, tree.Name) else None
    if field is OpaqueField.FORCE_UNNORMALIZED_COORDS or (symbol is not None and symbol.type == "samplerref"):
        return SamplerObject
    return Texture


@effect("istypep")
def istypep(instruction: ScopedInstruction) -> Effect:
    """`istypep.type p, a`: whether `a` is the handle of a texture, a sampler or a surface."""
    kind = OPAQUE_KINDS[instruction.the(DType).name]
    source, target, site = instruction.source("a", "u64"), instruction.target("p"), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        handles = np.asarray(source.reader(lane_set))
        textures = lane_set.launch.textures
        known = {handle: textures.is_a(kind, int(handle)) for handle in np.unique(handles)}
        value = np.array([known[handle] for handle in handles.reshape(-1)]).reshape(handles.shape)
        entry, mask = source.undefined(lane_set), None
        if entry is not None:
            mask = (entry[0] != 0, lane_set.launch.origin(entry[1], site))
        put(target, lane_set, value[()] if not value.ndim else value, mask, guard)
        return mask is not None

    return Effect(step)
