"""`ptxkit bench FILE...`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ptxkit.bench import Bench, Rule, Schedule, Settings, State, compare, document, plot
from ptxkit.bench.schedule import Call
from ptxkit.cli import Verb
from ptxkit.cli.bench_report import print_csv, print_markdown, print_report
from ptxkit.cli.launches import Subject, launch_options, options_of, plans_of, request_of, subject
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.output import print_failure, print_json
from ptxkit.cli.progress import Progress
from ptxkit.devices import fitting_gpu
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, error, exit_code
from ptxkit.driver.timing import FLUSHES
from ptxkit.exclusive import alone_on, gpus_of
from ptxkit.plan import LaunchPlan
from ptxkit.provenance import provenance
from ptxkit.runner import Options
from ptxkit.spread import spread
from ptxkit.worker import bench as bench_worker

_DEFAULTS = Settings()
_RULE = _DEFAULTS.rule
_PREFIX = "bench"
"""How the names of presets begin that are made for a bench."""


def _number(name: str, least: float, default: float, metavar: str, help: str) -> Callable[[Any], Any]:
    """An option that takes a number, an integer where the least one is."""
    kind = click.IntRange(min=least) if isinstance(least, int) else click.FloatRange(min=least)
    return click.option(name, type=kind, default=default, metavar=metavar, show_default=True, help=help)


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit bench gemv.ptx", "the presets that are made for it, beside the memory roof"),
        ("ptxkit bench a.ptx b.ptx --preset all --json > now.json", "two kernels of one problem, in turns"),
        ("ptxkit bench gemv.ptx -a M=1024:8192:1024 -p K=7168 -p L=1 --csv", "one size along an axis"),
        (
            "ptxkit bench gemv.ptx -a M=1024:8192:1024 -p K=7168 -p L=1 --device cuda:all",
            "on every GPU of the host",
        ),
        ("ptxkit bench gemv.ptx --baseline now.json --plot roofline.png", "against an earlier bench"),
    ),
)
@click.argument("file", nargs=-1, required=True)
@click.option("--entry", metavar="NAME", help="The `.entry` to launch, where a file has several.")
@click.option(
    "--preset", multiple=True, metavar="NAME", help="A preset of the card, or `all`; may be repeated."
)
@click.option(
    "-a", "axis", multiple=True, metavar="NAME=V,V..", help="A size with several values: 1,2 or 8:64:8."
)
@launch_options
@click.option(
    "--flush",
    type=click.Choice(FLUSHES),
    default=FLUSHES[0],
    help="How the L2 cache is flushed before each sample: `read` leaves it full of clean lines, `write` of "
    "modified ones, whose way to memory the kernel then pays.",
)
@click.option(
    "--rotate",
    type=click.IntRange(min=1),
    metavar="N",
    help="Sets of buffers that take turns; 2, without a flush 1.",
)
@_number("--trials", 3, _DEFAULTS.trials, "N", "Series of samples, each on fresh buffers.")
@_number("--min-samples", 2, _RULE.min_samples, "N", "Samples of a trial, at least.")
@_number("--min-time", 0.0, _RULE.min_time, "S", "Seconds that a trial's samples add up to, at least.")
@_number("--max-noise", 0.0, 100 * _RULE.max_noise, "PERCENT", "How well a trial's median must be known.")
@_number("--max-time", 0.001, _RULE.max_time, "S", "Seconds after which a trial ends all the same.")
@_number("--warmup", 0.0, _DEFAULTS.warmup, "S", "Seconds of launches before each trial.")
@_number(
    "--pause",
    0.0,
    _DEFAULTS.pause,
    "S",
    "Seconds of rest before each burst of samples; 0: always under load.",
)
@click.option("--no-roof", is_flag=True, help="Leave the memory roof out.")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE.json", help="An earlier bench.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.png", help="Draw a roofline.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
@click.option("-v", "--verbose", is_flag=True, help="Print each trial, and the roofs one by one.")
@MAX_SIZE
def command(**given: Any) -> int:
    """Time the kernels in FILEs on a GPU: verified, in trials, beside the memory roof.

    Kernels that solve the same problem take turns and are compared. Without --preset, -p and -a the presets
    whose names begin with `bench` are measured, else the card's first. The emulator does not model time:
    there a bench verifies and counts.
    """
    if sum((given["as_json"], given["as_csv"], given["as_markdown"])) > 1:
        raise error("P560", "expected one of `--json`, `--csv` and `--markdown`, found several")
    subjects = [subject(file, given) for file in given["file"]]
    plans = [plan for found in subjects for plan in _plans(found, given)]
    settings = _settings(given)
    earlier = compare.read(given["baseline"], settings) if given["baseline"] else None
    if given["plot"]:
        plot.check(given["plot"])
    options = options_of(given)
    states = _measure(subjects, plans, options, settings, given["timeout"])
    verdicts = compare.compare(states, earlier) if earlier else None
    if given["as_json"]:
        files = {
            found.program.name: hashlib.sha256(found.path.read_bytes()).hexdigest() for found in subjects
        }
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
    rule = Rule(
        min_samples=given["min_samples"],
        min_time=given["min_time"],
        max_noise=given["max_noise"] / 100,
        max_time=given["max_time"],
    )
    sets = given["rotate"] or (1 if given["flush"] == "none" else _DEFAULTS.sets)
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
    options: Options,
    settings: Settings,
    timeout: float | None,
) -> list[State]:
    """The states in the order of the plans; on a GPU, and under a time limit, measured in workers.

    On several GPUs each takes the next problem when it is free: kernels of one problem stay together.
    """
    gpus = gpus_of(options.device)
    if options.device == "auto":
        fitting = (fitting_gpu(found.module.target) for found in subjects)
        gpus = [gpu for gpu in fitting if gpu is not None][:1]
    if not gpus and timeout is None:
        with Bench(options, settings) as here:

            def call(method: str, *args: Any, plan: LaunchPlan | None = None) -> Any:
                return getattr(here, method)(*args)

            return states_of(plans, settings, [call])
    with ExitStack() as stack:
        places = [options.device]
        if gpus:
            places = [stack.enter_context(alone_on(f"cuda:{gpu}")) for gpu in gpus]
        calls = [
            stack.enter_context(bench_worker(replace(options, device=place), settings, timeout)).call
            for place in places
        ]
        return states_of(plans, settings, calls)


def states_of(plans: list[LaunchPlan], settings: Settings, calls: Sequence[Call]) -> list[State]:
    """The states that the calls measure, each a problem at a time."""
    schedules = [Schedule(plans, settings, call) for call in calls]

    def doing() -> str:
        return ", ".join(schedule.now for schedule in schedules if schedule.now)

    def done() -> float | None:
        return sum(schedule.progress() or 0.0 for schedule in schedules)

    found: dict[int, State] = {}
    with Progress(doing, done):
        for _, states in spread(schedules[0].problems(), [schedule.measure for schedule in schedules]):
            found |= states
    ordered = [found[place] for place in range(len(plans))]
    if len(ordered) == 1 and ordered[0].failure:
        raise PtxkitError(ordered[0].failure)
    return ordered
