"""What a bench is asked and what it finds, as data and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ptxkit.bench.settings import Settings
from ptxkit.bench.statistics import LATE, Figure
from ptxkit.diagnostics import Diagnostic, Severity, counted
from ptxkit.driver.clocks import THROTTLES
from ptxkit.plan import LaunchPlan
from ptxkit.running.report import Report, describe

SCHEMA = 1
"""Version of the `--json` document."""

CLOCK_DROP = 0.05
"""A trial whose SM clock is lower than another's by this part was measured on a slower machine."""


@dataclass(frozen=True, slots=True)
class Roof:
    """Memory traffic and nothing else, by `roofs/stream.ptx`.

    Attributes:
        name: `problem`: what the problem must read and write; `read`: as many bytes read; `copy`: half of
            them read, half written.
        ctas_per_sm: the number that was fastest.
    """

    name: str
    bytes_read: int
    bytes_written: int
    ctas_per_sm: int
    figure: Figure

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ArithmeticRoof:
    """Tensor-core products and nothing else, by `roofs/wgmma_TYPE.ptx` or `roofs/mma_TYPE.ptx`.

    Attributes:
        kernel: the file.
        dtype: the type of what is multiplied.
        operations: that were made; at least the problem's, and enough to fill the GPU for a while.
        ctas_per_sm: the number that was fastest.
    """

    kernel: str
    dtype: str
    operations: int
    ctas_per_sm: int
    figure: Figure

    def rate(self, floor: Figure) -> float | None:
        """Operations a second in the time above the floor."""
        above = self.figure.seconds - floor.seconds
        return self.operations / above if above > 0 else None


@dataclass(frozen=True, slots=True)
class BenchState:
    """One kernel at one set of sizes.

    Attributes:
        plan: what was launched.
        report: of the verified launch; None where it failed.
        figure: its times, None on the emulator and where it failed.
        floor: what the measuring adds to a kernel (`Bench.floor`), in the same rounds.
        roofs: measured in the same rounds on the same bytes, the problem's own first.
        failure: what kept it from a figure.
        roofless: what kept roofs from being measured.
        arithmetic: the arithmetic roof, where the problem has one, measured in the same rounds.
    """

    plan: LaunchPlan
    report: Report | None = None
    figure: Figure | None = None
    floor: Figure | None = None
    roofs: tuple[Roof, ...] = ()
    failure: tuple[Diagnostic, ...] = ()
    roofless: tuple[Diagnostic, ...] = ()
    arithmetic: ArithmeticRoof | None = None

    @property
    def net(self) -> float | None:
        """Seconds above the floor; None where they are none that the clock can tell."""
        if self.figure is None or self.floor is None:
            return None
        above = self.figure.seconds - self.floor.seconds
        return above if above > max(self.figure.spread, self.floor.spread) else None

    @property
    def bandwidth(self) -> float | None:
        """The problem's bytes a second, in the time above the floor."""
        cost = self.report.cost if self.report else None
        return cost.bytes / self.net if cost and self.net else None

    @property
    def rate(self) -> float | None:
        """The problem's operations a second, in the time above the floor."""
        cost = self.report.cost if self.report else None
        return cost.operations / self.net if cost and cost.operations and self.net else None

    @property
    def roof_share(self) -> float | None:
        """The roof's time over the kernel's, both above the floor."""
        if not self.roofs or not self.net or self.floor is None:
            return None
        roof = self.roofs[0].figure.seconds - self.floor.seconds
        return roof / self.net if roof > 0 else None

    @property
    def arithmetic_share(self) -> float | None:
        """The kernel's operations a second over the arithmetic roof's, both above the floor."""
        if self.arithmetic is None or self.rate is None or self.floor is None:
            return None
        roof = self.arithmetic.rate(self.floor)
        return self.rate / roof if roof else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the kernel, then what is to be known about the figure."""
        if self.failure or self.report is None:
            return self.failure
        return (*self.report.diagnostics, *self._cautions())

    @property
    def ok(self) -> bool:
        """Whether there is nothing wrong with it."""
        return not any(diagnostic.is_error for diagnostic in self.diagnostics)

    def _cautions(self) -> list[Diagnostic]:
        if self.figure is None and self.report is not None and self.report.kind != "emu":
            return []
        if self.figure is None:
            help = "run it on a GPU, `--device cuda`; `ptxkit run -v` prints the counters too"
            message = "the emulator does not model time: expected a GPU, found `emu`"
            return [Diagnostic("P804", message, severity=Severity.WARNING, help=help)]
        found = []
        reasons = {reason for trial in self.figure.trials for reason in trial.reasons or ()} & THROTTLES
        low, high = self.figure.sm_clocks or (0.0, 0.0)
        if reasons or low < high * (1 - CLOCK_DROP):
            why = f" ({', '.join(sorted(reasons))})" if reasons else ""
            message = f"the SM clock was held down{why}: between {low / 1e6:.0f} and {high / 1e6:.0f} MHz"
            help = "compare shares of the roof, not times; `--pause 0.2` lets the GPU rest between samples"
            found.append(Diagnostic("P805", message, severity=Severity.WARNING, help=help))
        late = sum(trial.stopped == LATE for trial in self.figure.trials)
        if late:
            trials = len(self.figure.trials)
            message = (
                f"{late} of {counted(trials, 'trial')} ended by `--max-time` before their median was steady"
            )
            help = "allow more with `--max-time`, or accept more with `--max-noise`"
            found.append(Diagnostic("P806", message, severity=Severity.WARNING, help=help))
        for problem in self.roofless:
            message = f"a roof was not measured: {problem.message}"
            found.append(Diagnostic("P807", message, notes=problem.notes, severity=Severity.WARNING))
        return found

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {
            **describe(self.plan),
            "ok": self.ok,
            "verified": bool(self.report and self.report.outputs),
            "device": self.report.device if self.report else None,
            "ordinal": self.report.gpu["ordinal"] if self.report and self.report.gpu else None,
            "outputs": [output.to_json() for output in self.report.outputs] if self.report else [],
            "cost": asdict(self.report.cost) if self.report and self.report.cost else None,
            "timing": self._timing(),
            "counters": dict(self.report.counters) if self.report else {},
            "kernels": [dict(kernel) for kernel in self.report.kernels] if self.report else [],
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
        }

    def _timing(self) -> dict[str, Any] | None:
        if self.figure is None:
            return None
        return {
            **self.figure.to_json(),
            "floor": self.floor.to_json() if self.floor else None,
            "net": self.net,
            "bandwidth": self.bandwidth,
            "rate": self.rate,
            "roof_share": self.roof_share,
            "roofs": [roof.to_json() for roof in self.roofs],
            "arithmetic_share": self.arithmetic_share,
            "arithmetic_roof": asdict(self.arithmetic) if self.arithmetic else None,
        }


def document(
    states: list[BenchState], files: Mapping[str, str], settings: Settings, made: Mapping[str, Any]
) -> dict[str, Any]:
    """The document of a bench.

    Args:
        states: what was measured.
        files: each file's sha256 by its name.
        settings: how it was measured.
        made: where and when (`ptxkit.machine.provenance`).
    """
    reports = [state.report for state in states if state.report]
    return {
        "schema": SCHEMA,
        "kind": "bench",
        "ok": all(state.ok for state in states),
        **made,
        "device": reports[0].device if reports else None,
        "gpu": reports[0].gpu and dict(reports[0].gpu) if reports else None,
        "settings": asdict(settings),
        "files": [{"file": name, "sha256": digest} for name, digest in files.items()],
        "states": [state.to_json() for state in states],
    }


def problem_key(plan: LaunchPlan) -> Any:
    """What plans share that solve one problem; plans without a workload share it only with their file's."""
    owner = plan.workload or plan.program.path
    return owner, tuple(sorted(plan.sizes.items())), plan.inputs, plan.seed
