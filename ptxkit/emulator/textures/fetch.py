"""Fetches of a lane set: what a texture gives for the lanes that ask, with undefined bits and what they race
with. The CUDA C++ Programming Guide, "Texture and surface memory": the caches are not coherent with what the
same launch writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.access import Access
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.faults import Site, fault, label_at
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.races import check_load
from ptxkit.emulator.texels import coordinates, filters, srgb, weights
from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.formats import ChannelKind, border_texel, fetched
from ptxkit.emulator.texels.objects import Texture
from ptxkit.emulator.texels.sampling import Tap
from ptxkit.emulator.values import WARP

COMPONENTS, COLORS = 4, 3
"""Of what a fetch gives, R, G, B, A; and those of them that are colours."""


@dataclass(slots=True)
class Fetched:
    """What lanes got.

    Attributes:
        values: uint32 (rows, 32), an array a component.
        undefined: bool (rows, 32), whose texels have undefined bits; None for none.
        origin: of those.
    """

    values: list[np.ndarray]
    undefined: np.ndarray | None = None
    origin: int = 0


class TexelReader:
    """Reads texels for the lanes of a set.

    Args:
        lane_set: the set.
        guard: bool, for which of its lanes; None for all.
        site: the instruction.
        array: what is read.
    """

    def __init__(self, lane_set: LaneSet, guard: Any, site: Site, array: TexelArray) -> None:
        self.lane_set, self.guard, self.site, self.array = lane_set, guard, site, array
        self.shape = (lane_set.n, WARP)
        self.undefined = np.zeros(self.shape, bool)
        self.origin = 0
        active = lanes_of(lane_set, guard, self.shape)
        self.active = np.ones(self.shape, bool) if active is None else np.broadcast_to(active, self.shape)

    def read(self, address: np.ndarray, used: Any) -> tuple[np.ndarray, ...]:
        """The channels at addresses, unsigned integers. `used`: bool, of which lanes they matter."""
        level, launch = self.array.base, self.lane_set.launch
        index = np.broadcast_to(address, self.shape).astype(np.int64) - BASE
        owner = self._owner(index, level.texel)
        guard = self.active & np.broadcast_to(used, self.shape)
        if not guard.any():
            return launch.memory.load(index, level.format.bytes, level.channels)
        index = np.where(guard, index, index[guard][0])
        access = Access(self.lane_set, self.site, "global", launch.memory, index, guard, owner)
        history = access.history
        if history is not None:
            self._check(access, history, level.texel)
        access.count_traffic(level.texel, "loaded")
        launch.counts.load("global", int(np.count_nonzero(guard)) * level.texel)
        values = launch.memory.load(index, level.format.bytes, level.channels)
        if access.suspect:
            masks = launch.memory.load_shadow(index, level.format.bytes, level.channels)
            some = np.logical_or.reduce([mask != 0 for mask in masks]) & guard
            if some.any():
                self.undefined |= some
                self.origin = self.origin or access.origin(level.texel)
        return values

    def _owner(self, index: np.ndarray, size: int) -> Allocation | None:
        """The allocation of the texels. Raises P604: it is gone."""
        memory = self.lane_set.launch.memory
        owner = self.array.owner or memory.find(self.array.base.address)
        low, high = int(index[self.active].min()) + BASE, int(index[self.active].max()) + BASE + size
        if owner is None or not owner.live or low < owner.address or high > owner.end:
            thread = self.lane_set.thread(*self.lane_set.first(self.active))
            gone = owner is not None and not owner.live
            what = "was freed" if gone else "does not belong to one allocation"
            notes = (str(thread), f"{owner} was freed: {owner.freed_by}" if gone and owner else "")
            raise fault(
                "P604" if gone else "P602",
                f"{'use after free' if gone else 'out of bounds'}: the memory of a {self.array} {what}",
                self.site,
                tuple(note for note in notes if note),
            )
        owner.touched = True
        return owner

    def _check(self, access: Access, history: AccessHistory, size: int) -> None:
        """Whether the launch has written what is fetched; enter the fetch. Writes never cover a granule in
        part, so whole granules are looked at."""
        granule = history.granule
        first = access.index // granule * granule
        whole = -(-max(size, granule) // granule) * granule
        around = Access(
            access.lane_set, access.site, access.space, access.bank, first, access.guard, access.owner
        )
        if history.has("write"):
            self._refuse_stale(around, history, whole)
        check_load(around, history, whole, False)

    def _refuse_stale(self, access: Access, history: AccessHistory, size: int) -> None:
        launch = self.lane_set.launch
        at = history.granules(access.index)
        for start, count in history.parts(size):
            record = history.read("write", at + start, count)
            written = (history.number(record) >= launch.events.first) & (record != 0)
            stale = written & access.guard[..., None]
            if stale.any():
                row, lane, piece = (int(found[0]) for found in np.nonzero(stale))
                writer = launch.events.site(int(history.number(record)[row, lane, piece]))
                raise stale_texel(self, self.lane_set.thread(row, lane), writer)


def stale_texel(reader: TexelReader, thread: Any, writer: Site | None) -> PtxkitError:
    """The finding that a fetch meets what its own launch has written."""
    where = f"written at {writer.where}" if writer is not None else "written by this launch"
    return fault(
        "P6141",
        "a texel is fetched that the same launch has written",
        reader.site,
        (str(thread), f"{reader.array}, {where}"),
        labels=label_at(writer, "written here", reader.site),
    )


def fetch(lane_set: LaneSet, guard: Any, site: Site, texture: Texture, taps: list[Tap]) -> Fetched:
    """What a fetch gives: one texel as it is, several as their weighted sum."""
    reader = TexelReader(lane_set, guard, site, texture.array)
    if len(taps) == 1 and taps[0].weight is None:
        return _answer(reader, _components(reader, texture, _texel(reader, texture, taps[0], np.True_)))
    weight = [np.broadcast_to(tap.weight, reader.shape) for tap in taps]
    texels = [_texel(reader, texture, tap, tap.taken) for tap in taps]
    taken, slices = [tap.taken for tap in taps], [tap.slice for tap in taps]
    sums = [
        _sum(texture, number, channel, weight, taken, slices)
        for number, channel in enumerate(zip(*texels, strict=True))
    ]
    return _answer(reader, _padded(reader, sums))


def _sum(
    texture: Texture,
    component: int,
    channel: Sequence[np.ndarray],
    weight: Sequence[Any],
    taken: Sequence[Any],
    slices: Sequence[int],
) -> np.ndarray:
    """The weighted sum of a channel of texels, uint32."""
    format = texture.array.base.format
    if _is_fraction(texture, component):
        return filters.fraction_sum([part.view(format.dtype) for part in channel], weight, format)
    numbers = [_component(texture, part, component).view(np.float32) for part in channel]
    how = filters.COLOR if _is_color(texture, component) else filters.BY_BYTES[format.bytes]
    tops = [srgb.tops(part) for part in channel] if how is filters.COLOR else None
    return filters.number_sum(numbers, weight, taken, slices, how, tops)


def gather(
    lane_set: LaneSet, guard: Any, site: Site, texture: Texture, taps: list[Tap], component: int
) -> Fetched:
    """A component of each of four texels. They come through the filter, each with the whole weight, whatever
    the filter of the sampler is: as its subnormal numbers, its NaN and its fractions."""
    reader = TexelReader(lane_set, guard, site, texture.array)
    format = texture.array.base.format
    texels = [_texel(reader, texture, tap, tap.taken) for tap in taps]
    numeric = format.kind is ChannelKind.FLOAT or (texture.fractions and format.fraction)
    found = []
    for number, (tap, texel) in enumerate(zip(taps, texels, strict=True)):
        bits = _components(reader, texture, texel)[component]
        if format.kind is ChannelKind.FLOAT:
            bits = filters.alone(bits, filters.BY_BYTES[format.bytes])
        elif _is_fraction(texture, component) and component < len(texel):
            bits = filters.fraction_sum([texel[component].view(format.dtype)], [coordinates.ONE], format)
        if numeric and component < len(texel) and not np.all(tap.taken):
            channel = [each[component] for each in texels]
            bits = np.where(tap.taken, bits, _of_corner(texture, component, channel, number))
        found.append(bits)
    return _answer(reader, found)


def _of_corner(texture: Texture, component: int, channel: list[np.ndarray], number: int) -> np.ndarray:
    """What a gather gives where there is no texel, beyond a corner of a cube: the mean of the others."""
    others = [(number + turn) % len(channel) for turn in (1, 2, 3)]
    beside = weights.third(coordinates.ONE)
    shares = (beside, coordinates.ONE - 2 * beside, beside)
    return _sum(texture, component, [channel[each] for each in others], shares, (np.True_,) * 3, (0, 0, 0))


def _answer(reader: TexelReader, values: list[np.ndarray]) -> Fetched:
    return Fetched(values, reader.undefined if reader.undefined.any() else None, reader.origin)


def _texel(reader: TexelReader, texture: Texture, tap: Tap, used: Any) -> list[np.ndarray]:
    """The channels of a texel, or of the border: unsigned integers (rows, 32) of the format's width."""
    level = texture.array.base
    inside = np.True_ if tap.inside is None else np.broadcast_to(tap.inside, reader.shape)
    raw = [np.broadcast_to(part, reader.shape) for part in reader.read(tap.address, used & inside)]
    if tap.inside is None:
        return raw
    border = np.zeros(COMPONENTS, raw[0].dtype)
    if tap.bordered:
        fractions = texture.fractions and level.format.fraction
        border = border_texel(texture.sampler.border, level.format, fractions)
        for component in range(COMPONENTS):
            if fractions and _is_srgb(texture, component):
                border[component] = srgb.encoded(texture.sampler.border[component])
    return [np.where(inside, part, bits) for part, bits in zip(raw, border, strict=False)]


def _is_srgb(texture: Texture, component: int) -> bool:
    """Whether a component is in the sRGB colour space: a colour of 8 bits."""
    level = texture.array.base
    # Of two channels an H200 takes the second for no colour.
    colors = 1 if level.channels == 2 else COLORS
    return texture.sampler.srgb and level.format.name == "u8" and component < colors


def _is_color(texture: Texture, component: int) -> bool:
    """Whether a component is read as a number of the sRGB colour space."""
    return texture.fractions and _is_srgb(texture, component)


def _is_fraction(texture: Texture, component: int) -> bool:
    """Whether a component is read as a fraction of the greatest integer."""
    return texture.fractions and texture.array.base.format.fraction and not _is_srgb(texture, component)


def _component(texture: Texture, raw: np.ndarray, component: int) -> np.ndarray:
    """What a fetch gives for a channel, uint32."""
    fractions = texture.fractions and texture.array.base.format.fraction
    if fractions and _is_srgb(texture, component):
        return srgb.LINEAR.view(np.uint32)[raw]
    return fetched(np.ascontiguousarray(raw), texture.array.base.format, fractions)


def _components(reader: TexelReader, texture: Texture, channels: list[np.ndarray]) -> list[np.ndarray]:
    """What a fetch gives for a texel, four of uint32."""
    found = [_component(texture, part, component) for component, part in enumerate(channels)]
    return _padded(reader, found)


def _padded(reader: TexelReader, found: list[np.ndarray]) -> list[np.ndarray]:
    """With zeros for the components that there are not."""
    return found + [np.zeros(reader.shape, np.uint32)] * (COMPONENTS - len(found))
