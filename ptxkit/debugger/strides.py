"""Where a step ends: in lines of the PTX, or of what it was compiled from."""

from __future__ import annotations

from collections.abc import Callable, Set

from ptxkit.debugger.locations import Locations
from ptxkit.debugger.refusals import RefusedError
from ptxkit.emulator.code_places import CodePlace, WarpNumber, lanes_in, row_of

Arrival = Callable[[CodePlace], bool]
"""Whether a step ends where a lane set stands."""
Chain = tuple[tuple[str, int], ...]
"""The lines that an instruction was compiled from, the innermost function first."""


def is_at(place: CodePlace, warp: WarpNumber) -> bool:
    """Whether a warp is among those that stand at a place."""
    row = row_of(place.lane_set.batch, warp)
    return row is not None and lanes_in(place.lane_set, row) is not None


class Strides:
    """The ends of a warp's steps from a place, onward and back.

    Args:
        locations: of the module's instructions.
        warp: the warp.
        place: where it is; None where it has not begun or has ended.
        lines: of what a step is a line: `ptx` or `source`.
    """

    def __init__(self, locations: Locations, warp: WarpNumber, place: CodePlace | None, lines: str) -> None:
        self._locations = locations
        self._warp = warp
        self._source = lines == "source"
        self._code = place.lane_set.code if place is not None else None
        self._at = (place.block.number, place.index) if place is not None else (0, 0)
        self._depth = len(place.lane_set.frames) if place is not None else 0
        self._chain = self._compiled_from(place) if place is not None else ()

    def _compiled_from(self, place: CodePlace) -> Chain:
        site = place.site
        if site is None or not self._source:
            return ()
        return tuple((each.file, each.line) for each in self._locations.chain(site.instruction))

    def _inside(self, frames: int, chain: Chain) -> bool:
        """Whether a place is in a function that the one of the start has called, or that is inlined in it."""
        return frames > self._depth or (frames == self._depth and len(chain) > len(self._chain) > 0)

    def onward(self, over: bool) -> Arrival:
        """At the next line; `over`: of this function or a caller."""
        depth, chain = self._depth, self._chain

        def ends(there: CodePlace) -> bool:
            nonlocal depth, chain
            frames, now = len(there.lane_set.frames), self._compiled_from(there)
            if over and self._inside(frames, now):
                return False
            if not self._source:
                return True
            if not now or (frames, now) == (depth, chain):
                return False
            depth, chain = frames, now
            return True

        return ends

    def before(self, over: bool) -> Arrival:
        """At the beginning of each line before: the last one is where a step back ends."""
        last: tuple[int, Chain] | None = None

        def begins(there: CodePlace) -> bool:
            nonlocal last
            if not is_at(there, self._warp):
                return False
            frames, now = len(there.lane_set.frames), self._compiled_from(there)
            if over and self._inside(frames, now):
                return False
            if not self._source:
                return True
            if not now:
                return False
            before, last = last, (frames, now)
            return last != before

        return begins

    def above(self) -> Arrival:
        """In a caller. Raises RefusedError: there is none."""
        if not self._depth and len(self._chain) < 2:
            raise RefusedError("nobody called this function")

        def outside(there: CodePlace) -> bool:
            frames = len(there.lane_set.frames)
            inlined = frames == self._depth and 0 < len(self._compiled_from(there)) < len(self._chain)
            return is_at(there, self._warp) and (frames < self._depth or inlined)

        return outside

    def past(self, wanted: Set[int]) -> Arrival:
        """At one of some instructions, by `id`; where there are none, further on in the text, or in a
        caller."""

        def arrived(there: CodePlace) -> bool:
            if wanted:
                return there.site is not None and id(there.site.instruction) in wanted
            frames = len(there.lane_set.frames)
            further = there.lane_set.code is self._code and (there.block.number, there.index) > self._at
            return frames < self._depth or (frames == self._depth and further)

        return arrived
