"""From probes to the figures of a GPU, beside those of the nearest known one, and the file of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from ptxkit.calibration.measure import ProbedDevice, ProbeRunner
from ptxkit.calibration.probe import GIVEN, figures
from ptxkit.emulator.timing.gpu import Gpu, nearest

EXACT = ("sm_count", "clock", "l2_size")
"""Figures that nobody measures: the driver says them."""
DIGITS = 4
"""Of a measured figure."""


@dataclass(frozen=True, slots=True)
class MeasuredFigure:
    """A figure of the GPU that was measured.

    Attributes:
        name: as in `gpus/*.toml`.
        value: in the unit that it has there.
        known: that of the nearest known GPU; None where it has none.
    """

    name: str
    value: float
    known: float | None

    @property
    def ratio(self) -> float | None:
        """What was measured, by what is known."""
        return self.value / self.known if self.known else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {**asdict(self), "ratio": self.ratio}


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured.

    Attributes:
        subject: the GPU.
        like: the nearest known GPU, from which everything else is taken.
        date: of the measurement.
        probes: what each probe's stretch takes, in cycles or seconds.
        figures: in the table's order.
        refused: figures that came out as no positive number, and what as.
        left: those of `like` that no probe measures, or none that runs here.
    """

    subject: ProbedDevice
    like: Gpu
    date: str
    probes: dict[str, float]
    figures: tuple[MeasuredFigure, ...]
    refused: dict[str, float]
    left: tuple[str, ...]

    @property
    def source(self) -> str:
        """What the file says of a figure."""
        if self.subject.device.kind == "emu":
            return f"meaningless: ptxkit calibrate, {self.date}, on the emulator"
        of = f"{self.subject.name}, driver {self.subject.driver}"
        return f"measured: ptxkit calibrate, {self.date}, {of}"

    def toml(self) -> str:
        """The file that `ptxkit predict --on` takes."""
        lines = [
            "# Figures by `ptxkit calibrate`. What is not here is that of the GPU that this one is like.",
            f'name = "{self.subject.name}"',
            f'target = "{self.subject.target}"',
            "confirmed = false",
            f'like = "{self.like.key}"',
            "",
        ]
        for one in self.figures:
            value = int(one.value) if one.value == int(one.value) and one.value < 1e15 else one.value
            lines += [f"[figures.{one.name}]", f"value = {value}", f'source = "{self.source}"']
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        subject = self.subject
        return {
            "gpu": {"name": subject.name, "target": subject.target, "driver": subject.driver},
            "like": self.like.key,
            "date": self.date,
            "figures": [one.to_json() for one in self.figures],
            "refused": self.refused,
            "left": list(self.left),
            "probes": self.probes,
        }


def calibrate(
    subject: ProbedDevice,
    only: Iterable[str] = (),
    told: Callable[[str, float], None] = lambda name, done: None,
) -> Calibration:
    """Run the probes that some figures need.

    Args:
        subject: on what.
        only: names of figures; all where none is given.
        told: is told of each probe before it runs, and which part of them is done.

    Raises:
        PtxkitError: P560, there is no such figure; what a launch met.
    """
    table = figures()
    chosen = table.chosen(only)
    probes = [probe for probe in table.needed(chosen) if subject.runs(probe)]
    bench = ProbeRunner(subject)
    known = {**subject.given, "floor": bench.floor()}
    for number, probe in enumerate(probes):
        told(probe.name, number / len(probes))
        known.update(bench.measured(probe))
    values = table.values(chosen, known)
    like = nearest(subject.name, subject.target)
    sound = {
        name: value if name in EXACT else float(f"{value:.{DIGITS}g}")
        for name, value in values.items()
        if isfinite(value) and value > 0
    }
    return Calibration(
        subject,
        like,
        datetime.datetime.now(datetime.UTC).date().isoformat(),
        {name: value for name, value in known.items() if name not in GIVEN or name == "floor"},
        tuple(MeasuredFigure(name, value, like.figures.get(name)) for name, value in sound.items()),
        {name: value for name, value in values.items() if name not in sound and isfinite(value)},
        tuple(name for name in like.figures if name not in sound),
    )
