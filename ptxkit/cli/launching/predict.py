"""Say how long launches would take: what `ptxkit predict` does."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

from ptxkit.cli.launching.plans import emulated, planned
from ptxkit.cli.launching.progress import Progress
from ptxkit.cli.output import print_json, strong, table
from ptxkit.diagnostics import counted, error
from ptxkit.emulator.timing.gpu import Gpu, gpu
from ptxkit.emulator.timing.predict import Occupancy, Prediction, Predictor
from ptxkit.emulator.timing.timeline import events
from ptxkit.emulator.timing.validation import Validation, validation
from ptxkit.plan import LaunchPlan
from ptxkit.running.predicted import predicted
from ptxkit.support.atomic_file import check_folder, write_atomically

SCHEMA = 1
MEGAHERTZ = 1e6
MOST_REASONS = 3
"""What a slower variant waits longer for: so many are printed."""
LEAST_SHARE = 0.01
"""Resources that are busy for less, and waits that are shorter, are not printed."""


def predict(given: dict[str, Any]) -> int:
    """Predict, print, write the timeline; the exit code."""
    out = given["out"]
    if out is not None:
        if out.suffix != ".json":
            help = "`-o T.json` writes events for Perfetto"
            raise error("P560", f"expected a file that ends in `.json`, found `{out}`", help=help)
        check_folder(out)
    where = gpu(given["on"])
    if given["clock"] is not None:
        fixed = {"clock": given["clock"] * MEGAHERTZ, "clock_loss": 0.0}
        where = replace(where, figures={**where.figures, **fixed})
    options = emulated({**given, "threads": 1}, "predict")
    made = []
    for file in given["files"]:
        found, plan = planned({**given, "file": file})
        title = "  ".join(part for part in (plan.program.name, plan.preset or "") if part)
        predictor = Predictor(where, given["warm"], out is not None, given["what_if"], given["by_rule"])
        with Progress(title, lambda: None):
            made.append((plan, predicted(found.module, plan, predictor, options)))
        if not given["as_json"]:
            if len(made) > 1:
                print()
            show(plan, where, made[-1][1], given["top"])
    if given["as_json"]:
        print_json(_document(where, made))
    elif len(made) > 1:
        _compare(made)
    if out is not None:
        document = {"traceEvents": events([one for _, each in made for one in each]), "displayTimeUnit": "ns"}
        write_atomically(out, (json.dumps(document, allow_nan=False) + "\n").encode())
    return 0


def show(plan: LaunchPlan, where: Gpu, made: list[Prediction], top: int) -> None:
    """Print what a plan would take, and its longest waits."""
    sizes = " ".join(f"{name}={size}" for name, size in plan.sizes.items())
    title = "  ".join(part for part in (plan.program.name, plan.preset or "", sizes) if part)
    print(f"{strong(title)}  predicted for {where.name} at {where['clock'] / MEGAHERTZ:,.0f} MHz")
    for number, one in enumerate(made):
        if len(made) > 1:
            print(f"\nlaunch {number + 1}, {one.entry}")
        placed = one.occupancy
        rows = [
            ("time", f"{one.told}, {one.cycles:,.0f} cycles{_clock(one, where)}"),
            ("bound", one.bound),
            ("busy", ", ".join(f"{name} {share:.0%}" for name, share in _busy(one))),
            (
                "grid",
                f"{counted(one.ctas, 'CTA')} of {one.threads} threads, {placed.resident} at once and "
                f"{placed.rounds} in all on each of {_places(placed, where)}, limited by {placed.limit}",
            ),
            (
                "DRAM",
                f"{one.memory / 1e6:,.1f} MB, {one.memory / one.cycles * one.clock / 1e12:.2f} TB/s",
            ),
            ("code", one.code),
            ("model", _honest(where, validation(where.key, one.bound))),
        ]
        if one.levers:
            rows.insert(3, ("faster", _levers(one)))
        width = max(len(label) for label, _ in rows)
        for label, text in rows:
            print(f"  {label:<{width}}  {text}")
        waits = [wait for wait in one.waits if wait.share >= LEAST_SHARE][:top]
        if waits:
            cells = [(f"{w.share:.0%}", w.what, w.line or "", w.instruction or "") for w in waits]
            print()
            print(table(cells, ("of warps' time", "wait for", "at", "instruction")))


def _levers(one: Prediction) -> str:
    """What it would bring were a resource twice as fast."""
    brought = [f"{name} {left - 1:.0%}" for name, left in one.levers.items() if left < 1 - LEAST_SHARE]
    return f"twice as fast: {', '.join(brought)}" if brought else "no resource alone would make it faster"


def _compare(made: list[tuple[LaunchPlan, list[Prediction]]]) -> None:
    """The variants, the fastest first, and where the others spend more time."""
    totals = [(sum(one.cycles for one in each), plan.program.name, each) for plan, each in made]
    totals.sort(key=lambda one: one[0])
    best, _, fastest = totals[0]
    rows = []
    for cycles, name, each in totals:
        more = _longer(each, fastest)
        rows.append((name, f"{cycles:,.0f}", f"{cycles / best - 1:+.0%}" if cycles != best else "", more))
    print()
    print(table(rows, ("file", "cycles", "more", "waits longer for")))


def _longer(made: list[Prediction], fastest: list[Prediction]) -> str:
    """What a variant waits longer for than the fastest, in cycles of a warp, the most first."""
    waited = [_waited(each) for each in (made, fastest)]
    more = {what: cycles - waited[1].get(what, 0.0) for what, cycles in waited[0].items()}
    least = LEAST_SHARE * sum(one.cycles for one in fastest)
    longest = sorted((what for what in more if more[what] > least), key=lambda what: -more[what])
    return ", ".join(f"{what} {more[what]:,.0f}" for what in longest[:MOST_REASONS])


def _waited(made: list[Prediction]) -> dict[str, float]:
    """Cycles that the mean warp waits, by what for."""
    found: dict[str, float] = defaultdict(float)
    for one in made:
        for wait in one.waits:
            found[wait.what] += wait.share * one.cycles
    return found


def _clock(one: Prediction, where: Gpu) -> str:
    """At which clock, where power lowers it."""
    if one.clock == where["clock"]:
        return ""
    return f" at {one.clock / MEGAHERTZ:,.0f} MHz, which its power leaves"


def _places(placed: Occupancy, where: Gpu) -> str:
    """`132 multiprocessors`, `66 groups of 2 multiprocessors`."""
    size = int(where["sm_count"]) // placed.places
    return (
        f"{placed.places} multiprocessors"
        if size == 1
        else f"{placed.places} groups of {size} multiprocessors"
    )


def _busy(one: Prediction) -> list[tuple[str, float]]:
    return [(name, share) for name, share in one.busy.items() if share >= LEAST_SHARE]


def _honest(where: Gpu, shown: Validation | None) -> str:
    """How far the model was off where a GPU could be asked."""
    if shown is None:
        return f"no {where.name} has confirmed it"
    return (
        f"median error {shown.median:.0%}, at most {shown.largest:.0%}, of "
        f"{shown.launches} launches measured on an {where.name} ({shown.kind})"
    )


def _document(where: Gpu, made: list[tuple[LaunchPlan, list[Prediction]]]) -> dict[str, Any]:
    """As `docs/schemas/predict.json` has it."""
    return {
        "schema": SCHEMA,
        "ok": True,
        "gpu": {"key": where.key, "name": where.name, "clock": where["clock"], "confirmed": where.confirmed},
        "predictions": [
            {
                "file": plan.program.name,
                "preset": plan.preset,
                "sizes": dict(plan.sizes),
                "launches": [_launch(where, one) for one in each],
            }
            for plan, each in made
        ],
        "diagnostics": [],
    }


def _launch(where: Gpu, one: Prediction) -> dict[str, Any]:
    shown, placed = validation(where.key, one.bound), one.occupancy
    return {
        "entry": one.entry,
        "cycles": one.cycles,
        "seconds": one.seconds,
        "clock": one.clock,
        "bound": one.bound,
        "busy": one.busy,
        "occupancy": {
            "resident": placed.resident,
            "places": placed.places,
            "rounds": placed.rounds,
            "limit": placed.limit,
        },
        "ctas": one.ctas,
        "threads": one.threads,
        "sampled": one.sampled,
        "memory_bytes": one.memory,
        "machine_code": one.code,
        "twice_as_fast": one.levers,
        "waits": [
            {"for": w.what, "at": w.line, "instruction": w.instruction, "share": w.share} for w in one.waits
        ],
        "validation": None if shown is None else shown.to_json(),
    }
