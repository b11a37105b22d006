"""What `run` prints for people: one report in a few lines, several in a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ptxkit.cli.output import print_diagnostics, seconds, si, strong
from ptxkit.diagnostics import PtxkitError, counted
from ptxkit.plan import Launch, LaunchPlan
from ptxkit.running.report import Report

Outcome = Report | PtxkitError
"""A run's report, or what kept it from one."""


def print_report(report: Report, verbose: bool) -> None:
    """One run: what, where, each output, the work and the time; then the findings."""
    plan = report.plan
    title = "  ".join(part for part in (plan.program.name, plan.preset or "", _sizes(plan)) if part)
    print(f"{strong(title)}  on {place(report)}")
    rows = list(_rows(report, verbose))
    width = max((len(label) for label, _ in rows), default=0)
    for label, text in rows:
        print(f"  {label:<{width}}  {text}")
    if report.diagnostics:
        print()
        print_diagnostics(report.diagnostics, sys.stdout)


class Summary:
    """A table of several runs, printed a line at a time as they end; problems follow their line."""

    def __init__(self, plans: Sequence[LaunchPlan]) -> None:
        cells = [("preset", "sizes"), *((plan.preset or "", _sizes(plan)) for plan in plans)]
        self._widths = [max(len(row[column]) for row in cells) for column in (0, 1)]
        print(strong(self._line("preset", "sizes", "result", "largest error", "time")))

    def _line(self, *cells: str) -> str:
        widths = (*self._widths, 6, 13, 0)
        return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()

    def add(self, plan: LaunchPlan, outcome: Outcome) -> None:
        """Print one run's line."""
        if isinstance(outcome, Report):
            result = "wrong" if not outcome.ok else "ok" if outcome.outputs else "ran"
            worst = max(outcome.outputs, key=lambda output: output.max_share, default=None)
            cells = (result, worst.largest if worst else "", _time(outcome))
            problems = [diagnostic for diagnostic in outcome.diagnostics if diagnostic.is_error]
        else:
            cells, problems = ("failed", "", ""), list(outcome.diagnostics)
        print(self._line(plan.preset or "", _sizes(plan), *cells), flush=True)
        if problems:
            print()
            print_diagnostics(problems, sys.stdout)


def place(report: Report) -> str:
    """Where it ran: `emu as sm_90`, or the GPU's name."""
    return report.device + (f" as {report.arch}" if report.arch else "")


def _sizes(plan: LaunchPlan) -> str:
    return " ".join(f"{name}={value}" for name, value in plan.sizes.items())


def _rows(report: Report, verbose: bool) -> Iterator[tuple[str, str]]:
    if verbose:
        for launch in report.plan.launches:
            yield "launch", _launch_text(launch)
        for tensor in report.plan.tensors:
            stored = f"{tensor.dtype} {_shape(tensor.shape)}, {tensor.role}, {si(tensor.tensor.nbytes, 'B')}"
            yield "tensor", f"{tensor.name}: {stored}"
        if report.plan.inputs:
            yield "inputs", f"{report.plan.inputs}, seed {report.plan.seed}"
    for output in report.outputs:
        verdict = "ok" if output.ok else "wrong"
        text = f"{verdict}, {counted(output.elements, 'element')}, largest error {output.largest}"
        if output.infinite:
            text += f", {output.infinite} beyond the range of {output.dtype} as in the reference"
        yield output.tensor, text
    if report.cost:
        text = f"{si(report.cost.bytes_read, 'B')} read, {si(report.cost.bytes_written, 'B')} written"
        if report.cost.operations:
            text += f", {si(report.cost.operations, 'op')}"
        yield "work", text
    yield "time", _time(report)
    if verbose:
        for kernel in report.kernels:
            facts = ", ".join(f"{name} {value}" for name, value in kernel.items() if name != "name")
            yield "kernel", f"{kernel['name']}: {facts}"
        for name, value in report.counters.items():
            what, _, operation = name.partition(".")
            operation = operation.replace("_", " ") if what == "instructions" else operation
            yield f"{what.replace('_', ' ')} {operation}".rstrip(), f"{value:,}"


def _launch_text(launch: Launch) -> str:
    parts = [f"grid {_shape(launch.grid)}", f"block {_shape(launch.block)}"]
    if launch.cluster:
        parts.append(f"cluster {_shape(launch.cluster)}")
    parts.append(f"shared {launch.shared} B")
    return f"{launch.entry + ': ' if launch.entry else ''}{', '.join(parts)}"


def _shape(extents: tuple[int, ...]) -> str:
    return "x".join(map(str, extents))


def _time(report: Report) -> str:
    if report.timing is None or report.cost is None:
        return f"{seconds(report.wall_seconds)} {'emulated' if report.kind == 'emu' else 'on this host'}"
    rate = si(report.cost.bytes / report.timing.seconds, "B/s")
    text = f"{seconds(report.timing.seconds)} +- {seconds(report.timing.spread)}, {rate}"
    if report.roof_share is not None and report.timing.bandwidth:
        text += f", {report.roof_share:.0%} of the memory roof of {si(report.timing.bandwidth, 'B/s')}"
    return text
