"""Launch a kernel and verify its result: what `ptxkit run` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxkit.asm import Module
from ptxkit.cli.launching.plans import ALL, Subject, options_of, plans_of, request_of, ruled, subject
from ptxkit.cli.launching.progress import Progress
from ptxkit.cli.launching.report import Outcome, Summary, place, print_report
from ptxkit.cli.output import print_failure, print_json
from ptxkit.diagnostics import Diagnostic, PtxkitError, counted, error, exit_code
from ptxkit.plan import LaunchPlan, Request, flags
from ptxkit.running.report import Report, describe
from ptxkit.running.session import RunOptions, Session, check_save
from ptxkit.running.stalled import Stalled
from ptxkit.workers.choose import session

if TYPE_CHECKING:
    from ptxkit.emulator.timing.gpu import Gpu
    from ptxkit.running.sanitized import Sanitized
    from ptxkit.workers.worker import Worker

WAITS = 3
"""Waits of a prediction that are printed behind a run."""
SCHEMA = 1
"""Version of the `--json` document: the same for one run and for several."""


def run(given: dict[str, Any]) -> int:
    """Plan, run and print; the exit code of the first run that is not good."""
    model = _predicted_for(given)
    found = subject(given["file"], given)
    request = request_of(given)
    save = flags.once((flags.split(text, "--save") for text in given["save"]), "--save")
    shown = given["as_json"] or given["verbose"]
    mend = given["mend"] if given["timeout"] is None else 0.0  # A time limit is for the launches.
    options = ruled(options_of(given, save=save, traffic=shown, mend=mend), given["file"], found)
    plans = list(_plans(found, request, given["preset"], options))
    for plan in plans:
        check_save(plan, options)
    outcomes = []
    for_people = not given["as_json"]
    summary = Summary(plans) if for_people and len(plans) > 1 and not given["verbose"] else None
    document = None if for_people else partial(_document, found.sha256)
    for plan, outcome in _outcomes(plans, found.module, options, given["timeout"], document):
        outcomes.append((plan, outcome))
        if summary:
            summary.add(plan, outcome)
        elif for_people and isinstance(outcome, Report):
            print_report(outcome, given["verbose"])
            if model is not None and outcome.ok:
                _predict(found.module, plan, model, options)
        elif for_people:
            print_failure(outcome.diagnostics, as_json=False)
    if document:
        print_json(document(outcomes))
    elif len(plans) > 1:
        good = sum(_code(outcome) == 0 for _, outcome in outcomes)
        where = {f" on {place(outcome)}" for _, outcome in outcomes if isinstance(outcome, Report)}
        print(f"{good} of {counted(len(plans), 'preset')} passed{', '.join(sorted(where))}")
    return next((code for _, outcome in outcomes if (code := _code(outcome))), 0)


def _predicted_for(given: dict[str, Any]) -> Gpu | None:
    """The GPU that `--predict` names; None for none.

    Raises:
        PtxkitError: P520, there is no such GPU; P560, with `--json`.
    """
    if given["predict"] is None:
        return None
    if given["as_json"]:
        help = "`ptxkit predict FILE --json` prints every figure"
        raise error("P560", "expected `--predict` without `--json`, found both", help=help)
    from ptxkit.emulator.timing.gpu import gpu

    return gpu(given["predict"], "--predict")


def _predict(module: Module, plan: LaunchPlan, where: Gpu, options: RunOptions) -> None:
    """Say how long a plan would take."""
    from ptxkit.cli.launching.predict import show
    from ptxkit.emulator.timing.predict import Predictor
    from ptxkit.running.predicted import predicted

    print()
    show(plan, where, predicted(module, plan, Predictor(where), options), WAITS)


def _plans(
    found: Subject, request: Request, presets: Sequence[str], options: RunOptions
) -> Iterator[LaunchPlan]:
    every = ALL in presets and ALL not in found.presets
    if every or len(presets) > 1:
        runs = len(found.presets if every else presets)
        alone = {"-p": request.sizes, "--save": options.save, "--arg": request.arguments}
        for option, value in alone.items():
            if value:
                named = f"`--preset {ALL}` makes" if every else "the presets that are named make"
                raise error("P545", f"`{option}` goes with one run, {named} {runs}")
    return plans_of(found, request, presets, ())


Document = Callable[[list[tuple[LaunchPlan, Outcome]]], dict[str, Any]]
"""Makes the `--json` document of outcomes."""


def _titled(title: str, running: Session | Worker | Sanitized) -> Callable[[], str]:
    """What runs, and what it does beside its launches."""
    return lambda: title + (running.stage if isinstance(running, Session) else "")


def _watched(
    running: Session | Worker | Sanitized, plan: LaunchPlan, document: Document | None
) -> AbstractContextManager[Any]:
    """Looks after an emulation in this process; a worker is looked after by its own time limit."""
    if not isinstance(running, Session):
        return nullcontext()

    def give_up(problem: PtxkitError) -> None:
        if document:
            print_json(document([(plan, problem)]))
        else:
            print_failure(problem.diagnostics, as_json=False)
        sys.stdout.flush()
        sys.stderr.flush()

    return Stalled(running.retired, plan, give_up)


def _outcomes(
    plans: list[LaunchPlan],
    module: Module,
    options: RunOptions,
    timeout: float | None,
    document: Document | None,
) -> Iterator[tuple[LaunchPlan, Outcome]]:
    """Every plan with its report, or with what kept it from one; a single plan's problem is raised for
    people."""
    with session(module, options, timeout) as running:
        for plan in plans:
            title = f"{plan.program.name} {plan.preset or ''}".rstrip()
            try:
                with Progress(_titled(title, running), running.progress), _watched(running, plan, document):
                    report = running.run(plan)
            except PtxkitError as problem:
                if len(plans) == 1 and document is None:
                    raise
                yield plan, problem
            else:
                yield plan, report


def _code(outcome: Outcome) -> int:
    return exit_code(outcome.diagnostics)


def _document(sha256: str, outcomes: list[tuple[LaunchPlan, Outcome]]) -> dict[str, Any]:
    """The `--json` document: the file, when and where it ran, and one report a run."""
    from ptxkit.machine.provenance import provenance

    reports = [outcome for _, outcome in outcomes if isinstance(outcome, Report)]
    runs = [
        outcome.to_json()
        if isinstance(outcome, Report)
        else {**describe(plan), "ok": False, "verified": False, "diagnostics": _as_json(outcome.diagnostics)}
        for plan, outcome in outcomes
    ]
    return {
        "schema": SCHEMA,
        "kind": "run",
        "ok": all(run["ok"] for run in runs),
        "file": outcomes[0][0].program.name,
        "sha256": sha256,
        **provenance(),
        "device": reports[0].device if reports else None,
        "gpu": reports[0].gpu and dict(reports[0].gpu) if reports else None,
        "runs": runs,
    }


def _as_json(found: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    return [diagnostic.to_json() for diagnostic in found]
