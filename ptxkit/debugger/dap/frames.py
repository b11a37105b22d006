"""Threads and stack frames: warps, and each function's line, of PTX and of what that was compiled from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxkit.debugger.dap.sources import SourceFiles
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.session import DebugSession
from ptxkit.emulator.code_places import CodePlace, WarpNumber, lanes_in, row_of
from ptxkit.emulator.faults import Site, ranges, show
from ptxkit.emulator.launch_state import LaunchState


class Frames:
    """The stacks of a session; numbers of frames are good until the launch goes on.

    Args:
        session: the launch.
        files: of its module.
    """

    def __init__(self, session: DebugSession, files: SourceFiles) -> None:
        self._session = session
        self._files = files
        self._warps: list[WarpNumber] = []

    def forget(self) -> None:
        """The launch goes on."""
        self._warps.clear()

    # ---- warps as threads

    def number_of(self, warp: WarpNumber) -> int:
        """A warp as a thread, from 1."""
        execution = self._session.debugger.execution
        return (warp.cta * execution.launch.warps_per_cta if execution else 0) + warp.number + 1

    def warp_of(self, thread: int) -> WarpNumber:
        """A thread as a warp."""
        execution = self._session.debugger.execution
        cta, number = divmod(max(thread, 1) - 1, execution.launch.warps_per_cta if execution else 1)
        return WarpNumber(cta, number)

    def threads(self) -> list[dict[str, Any]]:
        """The warps that have begun and not ended, and the current one."""
        debugger = self._session.debugger
        found = {self.number_of(debugger.warp): debugger.warp}
        for schedule in debugger.schedules:
            batch = schedule.batch
            for row in np.flatnonzero(batch.alive.any(axis=1)).tolist():
                cta, number = divmod(row, batch.warps_per_cta)
                warp = WarpNumber(int(batch.ctas[cta]), number)
                found[self.number_of(warp)] = warp
        return [{"id": number, "name": self._name(warp)} for number, warp in sorted(found.items())]

    def _name(self, warp: WarpNumber) -> str:
        execution = self._session.debugger.execution
        if execution is None:
            return f"warp {warp.number} of CTA {warp.cta}"
        return f"CTA {_coordinates(execution.launch, warp.cta)} warp {warp.number}"

    # ---- frames

    def warp_of_frame(self, frame: int | None) -> WarpNumber:
        """The warp of a frame; without one, the current one. Raises RefusedError: the frame is old."""
        if frame is None:
            return self._session.debugger.warp
        if not 0 < frame <= len(self._warps):
            raise RefusedError("the launch has gone on since")
        return self._warps[frame - 1]

    def stack(self, thread: int, first: int) -> list[dict[str, Any]]:
        """The frames of a thread, the innermost first. `first`: the number of a file's first line."""
        warp, debugger = self.warp_of(thread), self._session.debugger
        before, debugger.warp = debugger.warp, warp
        try:
            place, batch = debugger.current()
        finally:
            debugger.warp = before
        row = row_of(batch, warp) if batch is not None else None
        if place is None or row is None:
            return []
        found = []
        for depth, site in enumerate([place.site, *place.callers]):
            part = _part(place, row) if not depth else ""
            for frame in self._of_site(site, part):
                self._warps.append(warp)
                frame["line"], frame["column"] = frame["line"] - 1 + first, frame["column"] - 1 + first
                found.append({"id": len(self._warps), **frame})
        return found

    def _of_site(self, site: Site | None, part: str) -> Iterator[dict[str, Any]]:
        """The frames of a function that is in the PTX: its PTX line, and those that it was compiled from."""
        if site is None:
            yield {
                "name": f"the end of the function{part}",
                "line": 1,
                "column": 1,
                "presentationHint": "label",
            }
            return
        source, line = self._session.locations.of(site)
        column = site.source.origin(site.span)[1].column if site.source and site.span else 1
        ptx = {
            "name": f"{site.function}{part}",
            "source": self._files.of_text(source),
            "line": line,
            "column": column,
        }
        compiled = [
            {
                "name": f"{place.function or site.function}{part}",
                "source": self._files.of_compiled(place),
                "line": place.line,
                "column": max(place.column, 1),
            }
            for place in self._session.locations.chain(site.instruction)
        ]
        if self._session.lines == "source" and compiled:
            yield from compiled
            yield {**ptx, "name": f"PTX of {ptx['name']}", "presentationHint": "subtle"}
        else:
            yield ptx
            yield from ({**frame, "presentationHint": "subtle"} for frame in compiled)


def _part(place: CodePlace, row: int) -> str:
    """Which lanes are here, where some are elsewhere."""
    lanes = lanes_in(place.lane_set, row)
    if lanes is None or (lanes == place.lane_set.batch.alive[row]).all():
        return ""
    return f", lanes {ranges(lanes.nonzero()[0].tolist())}"


def _coordinates(launch: LaunchState, cta: int) -> str:
    x, y, _ = launch.shape.grid
    return show((cta % x, cta // x % y, cta // (x * y)))
