"""A recorder of what launches do, as Chrome trace events, which Perfetto shows.

Time is not modelled. The axis counts steps: one for each instruction that a group of warps executes together,
and one for each asynchronous operation that is done. A batch asks its `Timeline` only where a launch has one.

The format: "Trace Event Format" of the Chromium project; `X` is a slice, `i` an instant, `M` a name.
"""

from __future__ import annotations

from typing import Any, Protocol

from ptxkit.emulator.lane_set import LaneSchedule
from ptxkit.emulator.timeline import Timeline, TraceRecord

SCHEMA = 1
"""Version of what the events and their arguments are called."""
AXIS = (
    "time is not modelled: a microsecond of the display is one step of the emulator, an instruction that a "
    "group of warps executes together or an asynchronous operation that is done"
)


class Traced(Protocol):
    """A launch that can be recorded; see `ptxkit.emulator.execution.Execution`."""

    recorder: Any

    @property
    def name(self) -> str: ...


class Recorder(TraceRecord):
    """The events of all launches of a device; set `Emulator.prepare` to its `begin`."""

    def __init__(self, ctas: int) -> None:
        super().__init__(ctas)
        self._open: list[Timeline] = []

    def begin(self, execution: Traced) -> None:
        """Record a launch that is about to run."""
        self.end()
        self.launches.append(execution.name)
        execution.recorder = self

    def timeline(self, schedule: LaneSchedule) -> Timeline | None:
        """What records a batch; None where none of its CTAs is shown."""
        if not (schedule.batch.ctas < self.ctas).any():
            return None
        made = Timeline(self, schedule)
        self._open.append(made)
        return made

    def end(self) -> None:
        """Close what is still open: a fault ended the launch. What began with its last step is seen, too."""
        self.now += any(not timeline.ended for timeline in self._open)
        for timeline in self._open:
            timeline.end()
        self._open.clear()

    def to_json(self) -> dict[str, Any]:
        """The trace, a JSON object in the object format of trace events."""
        self.end()
        return {
            "traceEvents": self.events,
            "displayTimeUnit": "ms",
            "metadata": {
                "schema": SCHEMA,
                "producer": "ptxkit trace",
                "axis": AXIS,
                "steps": self.now,
                "launches": self.launches,
                "ctas_shown": self.ctas,
            },
        }
