"""Say how long launches would take: what `ptxkit predict` does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ptxkit.cli.launching.plans import emulated, planned
from ptxkit.cli.launching.progress import Progress
from ptxkit.cli.output import print_json, strong, table
from ptxkit.diagnostics import counted, error
from ptxkit.plan import LaunchPlan
from ptxkit.running.predicted import predicted
from ptxkit.support.atomic_file import check_folder, write_atomically
from ptxkit.timing.gpu import Gpu, gpu
from ptxkit.timing.predict import Occupancy, Prediction, Predictor
from ptxkit.timing.timeline import events
from ptxkit.timing.validation import Validation, validation

SCHEMA = 1
MEGAHERTZ = 1e6
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
    found, plan = planned(given)
    title = "  ".join(part for part in (plan.program.name, plan.preset or "") if part)
    with Progress(title, lambda: None):
        made = predicted(found.module, plan, Predictor(where, given["warm"], out is not None), options)
    if given["as_json"]:
        print_json(_document(plan, where, made))
    else:
        _print(plan, where, made, given["top"])
    if out is not None:
        document = {"traceEvents": events(made), "displayTimeUnit": "ns"}
        write_atomically(out, (json.dumps(document, allow_nan=False) + "\n").encode())
    return 0


def _print(plan: LaunchPlan, where: Gpu, made: list[Prediction], top: int) -> None:
    sizes = " ".join(f"{name}={size}" for name, size in plan.sizes.items())
    title = "  ".join(part for part in (plan.program.name, plan.preset or "", sizes) if part)
    print(f"{strong(title)}  predicted for {where.name} at {where['clock'] / MEGAHERTZ:,.0f} MHz")
    for number, one in enumerate(made):
        if len(made) > 1:
            print(f"\nlaunch {number + 1}, {one.entry}")
        placed = one.occupancy
        rows = [
            ("time", f"{_time(one.cycles / one.clock)}, {one.cycles:,.0f} cycles{_clock(one, where)}"),
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
            ("model", _honest(where, validation(where.key, one.bound))),
        ]
        width = max(len(label) for label, _ in rows)
        for label, text in rows:
            print(f"  {label:<{width}}  {text}")
        waits = [wait for wait in one.waits if wait.share >= LEAST_SHARE][:top]
        if waits:
            cells = [(f"{w.share:.0%}", w.what, w.line or "", w.instruction or "") for w in waits]
            print()
            print(table(cells, ("of warps' time", "wait for", "at", "instruction")))


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


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.3f} ms"


def _honest(where: Gpu, shown: Validation | None) -> str:
    """How far the model was off where a GPU could be asked."""
    if shown is None:
        return f"no {where.name} has confirmed it"
    return (
        f"median error {shown.median:.0%}, at most {shown.largest:.0%}, of "
        f"{shown.launches} launches measured on an {where.name} ({shown.kind})"
    )


def _document(plan: LaunchPlan, where: Gpu, made: list[Prediction]) -> dict[str, Any]:
    """As `docs/schemas/predict.json` has it."""
    launches = []
    for one in made:
        shown = validation(where.key, one.bound)
        launches.append(
            {
                "entry": one.entry,
                "cycles": one.cycles,
                "seconds": one.cycles / one.clock,
                "clock": one.clock,
                "bound": one.bound,
                "busy": one.busy,
                "occupancy": {
                    "resident": one.occupancy.resident,
                    "places": one.occupancy.places,
                    "rounds": one.occupancy.rounds,
                    "limit": one.occupancy.limit,
                },
                "ctas": one.ctas,
                "threads": one.threads,
                "sampled": one.sampled,
                "memory_bytes": one.memory,
                "waits": [
                    {"for": w.what, "at": w.line, "instruction": w.instruction, "share": w.share}
                    for w in one.waits
                ],
                "validation": None if shown is None else shown.to_json(),
            }
        )
    return {
        "schema": SCHEMA,
        "ok": True,
        "file": plan.program.name,
        "preset": plan.preset,
        "sizes": dict(plan.sizes),
        "gpu": {"key": where.key, "name": where.name, "clock": where["clock"], "confirmed": where.confirmed},
        "launches": launches,
        "diagnostics": [],
    }
