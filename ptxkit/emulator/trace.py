"""A recorder of what launches do, as Chrome trace events, which Perfetto shows.

Time is not modelled. The axis counts steps: one for each instruction that a group of warps executes together,
and one for each asynchronous operation that is done. A batch asks its `Timeline` only where a launch has one.

The format: "Trace Event Format" of the Chromium project; `X` is a slice, `i` an instant, `M` a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.emulator.timeline import Event, Timeline

if TYPE_CHECKING:
    from ptxkit.emulator.cta_batch import CtaBatch
    from ptxkit.emulator.execution import Execution

SCHEMA = 1
"""Version of what the events and their arguments are called."""
AXIS = (
    "time is not modelled: a microsecond of the display is one step of the emulator, an instruction that a "
    "group of warps executes together or an asynchronous operation that is done"
)


class Recorder:
    """The events of all launches of a device; set `Emulator.prepare` to its `begin`.

    Args:
        ctas: how many CTAs of each grid are shown, those with the lowest numbers.

    Attributes:
        events: what has ended so far.
        now: the step that is being executed.
        launches: the entry of each launch.
    """

    def __init__(self, ctas: int) -> None:
        self.ctas = ctas
        self.events: list[Event] = []
        self.now = 0
        self.launches: list[str] = []
        self._open: list[Timeline] = []
        self._processes = 0

    def begin(self, execution: Execution) -> None:
        """Record a launch that is about to run."""
        self.end()
        self.launches.append(execution.program.entry.name)
        execution.launch.recorder = self

    def timeline(self, batch: CtaBatch) -> Timeline | None:
        """What records a batch; None where none of its CTAs is shown."""
        if not (batch.ctas < self.ctas).any():
            return None
        made = Timeline(self, batch)
        self._open.append(made)
        return made

    def process(self) -> int:
        """A new process number: a CTA of a launch."""
        self._processes += 1
        return self._processes

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
