"""`ptxkit run FILE`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from ptxkit import card
from ptxkit.asm import Module
from ptxkit.cli import Verb, files
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.output import print_failure, print_json
from ptxkit.cli.progress import Progress
from ptxkit.cli.report import Outcome, Summary, place, print_report
from ptxkit.diagnostics import Diagnostic, PtxkitError, error, exit_code
from ptxkit.plan import LaunchPlan, Program, Request, flags, make
from ptxkit.provenance import provenance
from ptxkit.report import Report, describe
from ptxkit.runner import Options, check_save
from ptxkit.worker import session

SCHEMA = 1
"""Version of the `--json` document: the same for one run and for several."""

ALL = "all"


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit run gemv.ptx", "a shipped kernel, its first preset, verified against numpy"),
        ("ptxkit run gemv.ptx --preset all --json", "every preset, as one JSON document"),
        ("ptxkit run gemv.ptx -p M=4096 -p K=7168 -p L=2 --device cuda:0", "sizes of your own, on a GPU"),
        (
            "ptxkit run my.ptx --grid 4 --block 256 --arg x=f32[1024]:randn --arg y=f32[1024] --save y=y.npy",
            "a file without a card: arguments in the order of the `.entry`",
        ),
    ),
)
@click.argument("file")
@click.argument("entry", required=False)
@click.option(
    "--device",
    default="auto",
    metavar="auto|emu|cuda:N",
    help="Where to run; auto: a GPU that fits, else emu.",
)
@click.option(
    "-p", "sizes", multiple=True, metavar="NAME=N", help="One size of the problem; may be repeated."
)
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card; `all` runs every one.")
@click.option("--grid", metavar="X[,Y[,Z]]", help="CTAs, instead of the card's.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a CTA, instead of the card's.")
@click.option("--cluster", metavar="X[,Y[,Z]]", help="CTAs of a cluster, instead of the card's.")
@click.option("--shared", metavar="BYTES", help="Dynamic shared memory, instead of the card's.")
@click.option("--cooperative", is_flag=True, help="Launch with all CTAs resident at once.")
@click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="NAME=VALUE",
    help="x=f32[1024]:randn, x=f32[1024], x=@x.npy or n=3; without a card in the order of the entry.",
)
@click.option("--save", multiple=True, metavar="NAME=FILE.npy", help="Keep a tensor after the run.")
@click.option(
    "--workload", metavar="NAME|FILE.py:NAME", help="The problem to verify against; FILE.py is executed."
)
@click.option("--inputs", metavar="NAME", help="The workload's input generator.")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of the inputs and of --order random."
)
@click.option("--arch", metavar="SM", help="The target that the emulator plays, by default the file's.")
@click.option(
    "--order",
    type=click.Choice(["lazy", "eager", "random"]),
    default="lazy",
    help="When the emulator completes asynchronous work.",
)
@click.option("--sanitize/--no-sanitize", default=None, help="The emulator's sanitizer, on by default.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Kill a launch that takes longer; 10 on a GPU, none on emu by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Print launches, tensors and counters too.")
@MAX_SIZE
def command(**given: Any) -> int:
    """Launch the kernel in FILE and verify its result.

    FILE is a path, else a shipped kernel. Its launch card says how it is launched and which problem it
    solves; without -p or --preset the card's first preset runs.
    """
    path, module = files.read(given["file"], given["max_size"])
    problems = [d for d in (*module.diagnostics, *card.check(module)) if d.is_error]
    if problems:
        raise PtxkitError(problems)
    found = card.read(module.source) if module.source else None
    request = _request(given)
    name = module.source.name if module.source else given["file"]
    program = Program(name, str(path))
    options = Options(
        device=given["device"],
        order=given["order"],
        seed=given["seed"] or 0,
        sanitize=given["sanitize"],
        arch=given["arch"],
        save=flags.once((flags.split(text, "--save") for text in given["save"]), "--save"),
    )
    plans = list(_plans(program, module, found, request, options))
    for plan in plans:
        check_save(plan, options)
    outcomes = []
    for_people = not given["as_json"]
    summary = Summary(plans) if for_people and len(plans) > 1 and not given["verbose"] else None
    for plan, outcome in _outcomes(plans, module, options, given["timeout"]):
        outcomes.append((plan, outcome))
        if summary:
            summary.add(plan, outcome)
        elif for_people and isinstance(outcome, Report):
            print_report(outcome, given["verbose"])
        elif for_people:
            print_failure(outcome.diagnostics, as_json=False)
    if not for_people:
        print_json(_document(path.read_bytes(), outcomes))
    elif len(plans) > 1:
        good = sum(_code(outcome) == 0 for _, outcome in outcomes)
        where = {f" on {place(outcome)}" for _, outcome in outcomes if isinstance(outcome, Report)}
        print(f"{good} of {len(plans)} presets passed{', '.join(sorted(where))}")
    return next((code for _, outcome in outcomes if (code := _code(outcome))), 0)


def _request(given: dict[str, Any]) -> Request:
    def extents(option: str) -> Any:
        return flags.extents(given[option], f"--{option}") if given[option] is not None else None

    shared = extents("shared")
    return Request(
        entry=given["entry"],
        preset=given["preset"],
        sizes=flags.once((flags.size(text) for text in given["sizes"]), "-p"),
        workload=given["workload"],
        inputs=given["inputs"],
        seed=given["seed"],
        grid=extents("grid"),
        block=extents("block"),
        cluster=extents("cluster"),
        shared=shared[0] if shared else None,
        cooperative=given["cooperative"],
        arguments=flags.once((flags.argument(text) for text in given["arguments"]), "--arg"),
    )


def _plans(
    program: Program, module: Module, found: card.Card | None, request: Request, options: Options
) -> Iterator[LaunchPlan]:
    presets = [preset.name for preset in found.presets] if found else []
    if request.preset != ALL or ALL in presets:
        yield make(program, module, found, request)
        return
    alone = {"-p": request.sizes, "--save": options.save, "--arg": request.arguments}
    for option, value in alone.items():
        if value:
            raise error("P545", f"`{option}` goes with one run, `--preset all` makes {len(presets)}")
    if not presets:
        raise error("P544", "expected presets in the card for `--preset all`, found none")
    for preset in presets:
        yield make(program, module, found, replace(request, preset=preset))


def _outcomes(
    plans: list[LaunchPlan], module: Module, options: Options, timeout: float | None
) -> Iterator[tuple[LaunchPlan, Outcome]]:
    """Every plan with its report, or with what kept it from one; a single plan's problem is raised."""
    with session(module, options, timeout) as running:
        for plan in plans:
            title = f"{plan.program.name} {plan.preset or ''}".rstrip()
            try:
                with Progress(title, running.progress):
                    report = running.run(plan)
            except PtxkitError as problem:
                if len(plans) == 1:
                    raise
                yield plan, problem
            else:
                yield plan, report


def _code(outcome: Outcome) -> int:
    return exit_code(outcome.diagnostics)


def _document(text: bytes, outcomes: list[tuple[LaunchPlan, Outcome]]) -> dict[str, Any]:
    """The `--json` document: the file, when and where it ran, and one report a run."""
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
        "sha256": hashlib.sha256(text).hexdigest(),
        **provenance(),
        "device": reports[0].device if reports else None,
        "gpu": reports[0].gpu and dict(reports[0].gpu) if reports else None,
        "runs": runs,
    }


def _as_json(found: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    return [diagnostic.to_json() for diagnostic in found]
