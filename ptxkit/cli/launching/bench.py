"""Time kernels: what `ptxkit bench` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from ptxkit.bench import Bench, BenchState, Schedule, Settings, StoppingRule, compare, document, plot
from ptxkit.bench.schedule import Call
from ptxkit.cli.launching.bench_report import print_csv, print_markdown, print_report
from ptxkit.cli.launching.plans import Subject, options_of, plans_of, request_of, ruled, subject
from ptxkit.cli.launching.progress import Progress
from ptxkit.cli.output import print_failure, print_json
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, error, exit_code
from ptxkit.machine.provenance import provenance
from ptxkit.plan import LaunchPlan
from ptxkit.running.devices import fitting_gpu
from ptxkit.running.session import RunOptions
from ptxkit.workers.choose import bench as bench_worker
from ptxkit.workers.exclusive import alone_on, gpus_of
from ptxkit.workers.pool import run_tasks

_PREFIX = "bench"
"""How the names of presets begin that are made for a bench."""


def bench(given: dict[str, Any]) -> int:
    """Plan, measure and print; the exit code of the first state that is not good."""
    if sum((given["as_json"], given["as_csv"], given["as_markdown"])) > 1:
        raise error("P560", "expected one of `--json`, `--csv` and `--markdown`, found several")
    subjects = [subject(file, given) for file in given["file"]]
    plans = [plan for found in subjects for plan in _plans(found, given)]
    settings = _settings(given)
    earlier = compare.read(given["baseline"], settings) if given["baseline"] else None
    if given["plot"]:
        plot.check(given["plot"])
    options = options_of(given)
    states = _measure(subjects, plans, options, settings, given)
    verdicts = compare.compare(states, earlier) if earlier else None
    if given["as_json"]:
        files = {found.program.name: found.sha256 for found in subjects}
        found = document(states, files, settings, provenance())
        if verdicts:
            for state, verdict in zip(found["states"], verdicts, strict=True):
                state["verdict"] = verdict.to_json()
        print_json(found)
    elif given["as_csv"]:
        print_csv(states, verdicts)
    elif given["as_markdown"]:
        print_markdown(states, verdicts)
    else:
        print_report(states, verdicts, given["verbose"])
    if given["plot"] and not plot.roofline(states, given["plot"]):
        message = "no picture: expected a kernel with operations and a time above the floor, found none"
        print_failure([Diagnostic("P524", message, severity=Severity.WARNING)], as_json=False)
    return next((code for state in states if (code := exit_code(state.diagnostics))), 0)


def _plans(found: Subject, given: dict[str, Any]) -> Iterator[LaunchPlan]:
    """Every chosen preset at every combination of the axes."""
    request = request_of(given)
    presets: Sequence[str | None] = given["preset"]
    if not presets and not request.sizes and not given["axis"]:
        presets = [name for name in found.presets if name.startswith(_PREFIX)]
    return plans_of(found, request, presets, given["axis"])


def _settings(given: dict[str, Any]) -> Settings:
    rule = StoppingRule(
        min_samples=given["min_samples"],
        min_time=given["min_time"],
        max_noise=given["max_noise"] / 100,
        max_time=given["max_time"],
    )
    sets = given["rotate"] or (1 if given["flush"] == "none" else Settings().sets)
    return Settings(
        flush=given["flush"],
        trials=given["trials"],
        sets=sets,
        warmup=given["warmup"],
        pause=given["pause"],
        rule=rule,
        roofs=not given["no_roof"],
    )


def _measure(
    subjects: Sequence[Subject],
    plans: list[LaunchPlan],
    options: RunOptions,
    settings: Settings,
    given: dict[str, Any],
) -> list[BenchState]:
    """The states in the order of the plans; on a GPU, and under a time limit, measured in workers.

    On several GPUs each takes the next problem when it is free: kernels of one problem stay together.
    """
    timeout = given["timeout"]
    rules = {
        found.program: ruled(options, file, found).rules
        for file, found in zip(given["file"], subjects, strict=True)
    }
    gpus = gpus_of(options.device)
    if options.device == "auto":
        fitting = (fitting_gpu(found.module.target) for found in subjects)
        gpus = [gpu for gpu in fitting if gpu is not None][:1]
    if not gpus:
        reason = "" if options.device == "emu" else "no GPU fits, so "
        said = f"{reason}kernels are emulated: verified and counted, not timed; `--device cuda` needs a GPU"
        print(said, file=sys.stderr, flush=True)
    if not gpus and timeout is None:
        with Bench(options, settings, rules=rules) as here:

            def call(method: str, *args: Any, plan: LaunchPlan | None = None) -> Any:
                return getattr(here, method)(*args)

            return states_of(plans, settings, [call])
    with ExitStack() as stack:
        places = [options.device]
        if gpus:
            places = [stack.enter_context(alone_on(f"cuda:{gpu}")) for gpu in gpus]
        calls = [
            stack.enter_context(bench_worker(replace(options, device=place), settings, timeout, rules)).call
            for place in places
        ]
        return states_of(plans, settings, calls)


def states_of(plans: list[LaunchPlan], settings: Settings, calls: Sequence[Call]) -> list[BenchState]:
    """The states that the calls measure, each a problem at a time."""
    schedules = [Schedule(plans, settings, call) for call in calls]

    def doing() -> str:
        return ", ".join(schedule.now for schedule in schedules if schedule.now)

    def done() -> float | None:
        return sum(schedule.progress() or 0.0 for schedule in schedules)

    found: dict[int, BenchState] = {}
    with Progress(doing, done):
        for _, states in run_tasks(schedules[0].problems(), [schedule.measure for schedule in schedules]):
            found |= states
    ordered = [found[place] for place in range(len(plans))]
    if len(ordered) == 1 and ordered[0].failure:
        raise PtxkitError(ordered[0].failure)
    return ordered
