"""A bench printed: a table for people, CSV for spreadsheets, Markdown for pages. Columns after nvbench's."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.bench.compare import NEW, Verdict
from ptxkit.bench.measurement import ArithmeticRoof, BenchState, Roof, problem_key
from ptxkit.bench.statistics import Figure
from ptxkit.cli.launching.report import place
from ptxkit.cli.output import print_diagnostics, seconds, si, strong, table
from ptxkit.diagnostics import Diagnostic, counted

Verdicts = Sequence[Verdict] | None


@dataclass(frozen=True, slots=True)
class _StateRow:
    """One state with what stands beside it."""

    state: BenchState
    verdict: Verdict | None
    times_fastest: float | None


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its title for people, its CSV title with the unit, its value and that value for people."""

    title: str
    unit_title: str
    value: Callable[[_StateRow], Any]
    shown: Callable[[Any], str]


def _figure(row: _StateRow) -> Figure | None:
    return row.state.figure


def _of(name: str) -> Callable[[_StateRow], Any]:
    return lambda row: getattr(_figure(row), name, None)


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _times(value: float) -> str:
    return f"{value:.3f}x"


def _clock(row: _StateRow) -> float | None:
    clocks = row.state.figure.sm_clocks if row.state.figure else None
    return clocks[0] if clocks else None


def _roof(row: _StateRow) -> float | None:
    return row.state.roofs[0].figure.seconds if row.state.roofs else None


def _counter(name: str) -> Callable[[_StateRow], Any]:
    return lambda row: row.state.report.counters.get(name) if row.state.report else None


def _count(value: int) -> str:
    return f"{value:,}"


_WHO = (
    _Column("Kernel", "Kernel", lambda row: row.state.plan.program.name, str),
    _Column("Preset", "Preset", lambda row: row.state.plan.preset, str),
    _Column(
        "Sizes",
        "Sizes",
        lambda row: " ".join(f"{name}={value}" for name, value in row.state.plan.sizes.items()),
        str,
    ),
    _Column("Result", "Result", lambda row: _result(row.state), str),
)
_TIMES = (
    _Column("Samples", "Samples", _of("samples"), _count),
    _Column("GPU Time", "GPU Time (sec)", _of("seconds"), seconds),
    _Column("Spread", "Spread (sec)", _of("spread"), seconds),
    _Column("Noise", "Noise", _of("noise"), _percent),
    _Column("Net", "Net (sec)", lambda row: row.state.net, seconds),
    _Column(
        "GlobalMem BW", "GlobalMem BW (bytes/sec)", lambda row: row.state.bandwidth, lambda v: si(v, "B/s")
    ),
    _Column("Rate", "Rate (ops/sec)", lambda row: row.state.rate, lambda v: si(v, "op/s")),
    _Column("Roof", "Roof (sec)", _roof, seconds),
    _Column("BWUtil", "BWUtil", lambda row: row.state.roof_share, _percent),
    _Column("OpsUtil", "OpsUtil", lambda row: row.state.arithmetic_share, _percent),
    _Column("SM Clock", "SM Clock (Hz)", _clock, lambda v: f"{v / 1e6:.0f} MHz"),
)
_EXTRA = (
    _Column("Floor", "Floor (sec)", lambda r: r.state.floor.seconds if r.state.floor else None, seconds),
    _Column("Min", "Min (sec)", _of("minimum"), seconds),
)
_BESIDE = (
    _Column("vs Fastest", "Time over fastest", lambda row: row.times_fastest, _times),
    _Column("Before", "Before (sec)", lambda row: row.verdict and row.verdict.before, seconds),
    _Column("vs Before", "Time over before", lambda row: row.verdict and row.verdict.ratio, _times),
    _Column("Verdict", "Verdict", lambda row: row.verdict and _verdict(row.verdict), str),
)
_COUNTS = tuple(
    _Column(title, title, _counter(name), _count)
    for title, name in (
        ("Thread Instructions", "thread_instructions"),
        ("Global Bytes Loaded", "bytes_loaded_global"),
        ("Global Bytes Stored", "bytes_stored_global"),
        ("Barriers", "barriers"),
        ("CTAs", "ctas"),
    )
)


def print_csv(states: Sequence[BenchState], verdicts: Verdicts) -> None:
    """One line a state, numbers in SI units."""
    columns = (*_WHO, *_TIMES, *_EXTRA, *_BESIDE, *_COUNTS)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.unit_title for column in columns])
    for row in _rows(states, verdicts):
        values = [column.value(row) for column in columns]
        writer.writerow(["" if value is None else value for value in values])


def print_markdown(states: Sequence[BenchState], verdicts: Verdicts) -> None:
    """One line a state, and a line beneath for each floor and roof."""
    header, rows = _cells(states, verdicts)
    for cells in (header, tuple("---" for _ in header), *rows):
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    print()
    for line in _surroundings(states):
        print(f"- {line}")


def print_report(states: Sequence[BenchState], verdicts: Verdicts, verbose: bool) -> None:
    """The table, the floors and roofs, then what is wrong or to be known."""
    reports = [state.report for state in states if state.report]
    if reports:
        print(strong(place(reports[0])))
    header, rows = _cells(states, verdicts)
    print(table(rows, header))
    lines = _surroundings(states)
    if lines:
        print()
    for line in lines:
        print(line)
    if verbose:
        _print_trials(states)
    found: list[Diagnostic] = []
    for state in states:
        found += [diagnostic for diagnostic in state.diagnostics if diagnostic not in found]
    if found:
        print()
        print_diagnostics(found, sys.stdout)


def _rows(states: Sequence[BenchState], verdicts: Verdicts) -> list[_StateRow]:
    fastest: dict[Any, list[float]] = {}
    for state in states:
        if state.figure:
            fastest.setdefault(problem_key(state.plan), []).append(state.figure.seconds)
    rows = []
    for at, state in enumerate(states):
        rivals = fastest.get(problem_key(state.plan), [])
        ratio = state.figure.seconds / min(rivals) if state.figure and len(rivals) > 1 else None
        rows.append(_StateRow(state, verdicts[at] if verdicts else None, ratio))
    return rows


def _cells(states: Sequence[BenchState], verdicts: Verdicts) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the columns in which anything stands."""
    rows = _rows(states, verdicts)
    used = [
        column
        for column in (*_WHO, *_TIMES, *_BESIDE, *_COUNTS)
        if any(column.value(row) is not None for row in rows)
        and (column not in _COUNTS or not any(state.figure for state in states))
    ]
    cells = [
        tuple("" if (value := column.value(row)) is None else column.shown(value) for column in used)
        for row in rows
    ]
    return tuple(column.title for column in used), cells


def _result(state: BenchState) -> str:
    if state.failure or state.report is None:
        return "failed"
    if not state.report.ok:
        return "wrong"
    return "ok" if state.report.outputs else "ran"


def _verdict(verdict: Verdict) -> str:
    if verdict.word == NEW:
        return "no earlier figure"
    return verdict.word + (" (another SM clock)" if verdict.clock_differs else "")


def _surroundings(states: Sequence[BenchState]) -> list[str]:
    """A line for each problem's floor and roofs."""
    lines: list[str] = []
    for state in states:
        if state.floor is None:
            continue
        sizes = " ".join(f"{name}={value}" for name, value in state.plan.sizes.items())
        parts = [f"floor, by empty kernels, {_with_spread(state.floor)}"]
        parts += [_roof_text(roof, state.floor) for roof in state.roofs]
        if state.arithmetic:
            parts.append(_arithmetic_text(state.arithmetic, state.floor))
        line = f"{state.plan.workload or state.plan.program.name} {sizes}: {'; '.join(parts)}"
        if line not in lines:
            lines.append(line)
    return lines


def _roof_text(roof: Roof, floor: Figure) -> str:
    what = {
        "problem": f"roof, {si(roof.bytes_read, 'B')} read and {si(roof.bytes_written, 'B')} written",
        "read": "as many bytes read",
        "copy": "copied",
    }[roof.name]
    above = roof.figure.seconds - floor.seconds
    rate = f", {si((roof.bytes_read + roof.bytes_written) / above, 'B/s')}" if above > 0 else ""
    return f"{what} {_with_spread(roof.figure)}{rate}"


def _arithmetic_text(roof: ArithmeticRoof, floor: Figure) -> str:
    rate = roof.rate(floor)
    shown = f", {si(rate, 'op/s')}" if rate else ""
    return f"{si(roof.operations, 'op')} of {roof.dtype} by {roof.kernel} {_with_spread(roof.figure)}{shown}"


def _with_spread(figure: Figure) -> str:
    return f"{seconds(figure.seconds)} (spread {seconds(figure.spread)})"


def _print_trials(states: Sequence[BenchState]) -> None:
    for state in states:
        if state.figure is None:
            continue
        print(f"\n{state.plan.program.name} {state.plan.preset or ''}".rstrip())
        for number, trial in enumerate(state.figure.trials, 1):
            clock = f", {trial.sm_clock / 1e6:.0f} MHz" if trial.sm_clock else ""
            print(
                f"  trial {number}: {seconds(trial.median)} ({seconds(trial.low)} to {seconds(trial.high)}), "
                f"{counted(trial.samples, 'sample')} from {seconds(trial.minimum)} "
                f"to {seconds(trial.maximum)}, {trial.stopped}, {trial.sets} sets of buffers{clock}"
            )
