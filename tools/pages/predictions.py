"""The tables of docs/predict.md, from bench/results/predictions*.json."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import counted
from tools.measure_predictions import kind_of_bound, ordered

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
FARTHEST = 12
"""Launches that are shown."""


def tables() -> str:
    """Each launch: what was measured, predicted, how far a naive roofline is off, and what bounds it."""
    rows = json.loads((RESULTS / "predictions.json").read_text("utf-8"))["rows"]
    heads = ("launch", "measured", "predicted", "error", "of a roofline", "bound", "the profiler's")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in rows:
        cells = (
            f"{one['file'].removesuffix('.ptx')} {_short(one['name'])}",
            f"{one['measured']:,}",
            f"{one['predicted']:,}",
            f"{one['error']:+.1%}",
            "" if one["roofline_error"] is None else f"{one['roofline_error']:+.0%}",
            one["bound"],
            one["profiled_bound"] or "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    errors = sorted(abs(one["error"]) for one in rows)
    middle, most = (errors[round(part * (len(errors) - 1))] for part in (0.5, 0.9))
    summed = f"Half of the errors are below {middle:.1%}, 90 % below {most:.1%}, all below {errors[-1]:.1%}."
    return "\n".join(lines) + f"\n\nCycles of {len(errors)} launches. {summed}\n"


def strangers(name: str) -> str:
    """Launches of a list that the model did not know, by where they are from, and those farthest off."""
    record = json.loads((RESULTS / f"predictions.{name}.blind.json").read_text("utf-8"))
    rows = record["rows"]
    listed = tomllib.loads((RESULTS.parent / f"{name}.toml").read_text("utf-8"))["launch"]
    sources = {
        (Path(one["file"]).name, " ".join(one["arguments"])): one["file"].partition("/")[0] for one in listed
    }
    by: dict[str, list[float]] = {}
    for one in rows:
        by.setdefault(sources[one["file"], one["name"]], []).append(abs(one["error"]))
    lines = ["| from | launches | median error | 90 % below |", "|---|---|---|---|"]
    for source, errors in (*by.items(), ("all", [abs(one["error"]) for one in rows])):
        lines.append(f"| {source} | {len(errors)} | {_part(errors, 0.5):.1%} | {_part(errors, 0.9):.1%} |")
    right, total = ordered(rows)
    same = sum(kind_of_bound(one["bound"]) == one["profiled_bound"] for one in rows)
    left = len(listed) - len(rows)
    why = "; ".join(sorted({one["why"] for one in record.get("failed", ())})) or "the model waited for ever"
    more = f"{counted(left, 'more launch')} could not be predicted: {why}. " if left else ""
    lines += [
        "",
        f"{more}Of {total} pairs of variants of one problem {right} were predicted in the right order, of "
        f"{len(rows)} bounds {same} as the profiler has them. Farthest off were",
        "",
        "| launch | measured | predicted | error | of a roofline | bound | the profiler's |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in sorted(rows, key=lambda one: -abs(one["error"]))[:FARTHEST]:
        cells = (
            f"{one['file'].removesuffix('.ptx')} {_short(one['name'])}",
            f"{one['measured']:,}",
            f"{one['predicted']:,}",
            f"{one['error']:+.1%}",
            "" if one["roofline_error"] is None else f"{one['roofline_error']:+.0%}",
            one["bound"],
            one["profiled_bound"] or "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _part(errors: list[float], part: float) -> float:
    """What some part of errors lies below."""
    return sorted(errors)[round(part * (len(errors) - 1))]


def _short(name: str) -> str:
    """The options of a launch without those that hang on others."""
    words = name.split()
    if "--entry" in words:
        return words[words.index("--entry") + 1]
    if "--grid" in words:
        return f"grid {words[words.index('--grid') + 1]}"
    return " ".join(word for word in words if word not in ("-p", "--preset"))


def public(gpu: str) -> str:
    """Kernels of others beside their public times on a GPU, those apart that were known before."""
    record = json.loads((RESULTS / f"predictions.{gpu}.json").read_text("utf-8"))
    kinds = (("fresh", False, "Not looked at before"), ("known_beforehand", True, "Known before"))
    parts = []
    for name, known, title in kinds:
        rows = [row for row in record["rows"] if row["known_beforehand"] is known]
        if rows:
            parts += [f"{title}: {_summary(record[name])}", _public(rows)]
    if record["not_predicted"]:
        parts.append(f"Not predicted yet, as it takes too long: {', '.join(record['not_predicted'])}.")
    return "\n\n".join((*parts, *(_source(one) for one in record["sources"]))) + "\n"


def _summary(summed: dict[str, Any]) -> str:
    """How far off some launches are."""
    return (
        f"of {summed['launches']} launches the median error is {summed['median']:.1%}, "
        f"the largest {summed['largest']:.1%}."
    )


def _public(rows: list[dict[str, Any]]) -> str:
    """A table of launches with public times."""
    lines = ["| kernel | size | public | predicted | error | bound |", "|---|---|---|---|---|---|"]
    for row in rows:
        sizes = row["sizes"]
        same = set(sizes) == set("MNK") and len(set(sizes.values())) == 1
        cells = (
            f"{row['source']} {row['kernel']}",
            str(sizes["M"]) if same else " ".join(f"{k}={v}" for k, v in sizes.items()),
            f"{row['measured_microseconds']:,.1f} us",
            f"{row['predicted_microseconds']:,.1f} us",
            f"{row['error']:+.1%}",
            row["bound"],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _source(source: dict[str, Any]) -> str:
    """Where kernels and times are from."""
    known = f" {source['known']}." if source["known"] else ""
    return (
        f"`{source['name']}` is {source['repository']}, {source['commit'][:7]}; the times stand in "
        f"{source['where']}: {source['setting']}.{known}"
    )
