"""The table of docs/predict.md, from bench/results/predictions.json."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


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


def _short(name: str) -> str:
    """The options of a launch without those that hang on others."""
    words = name.split()
    if "--grid" in words:
        return f"grid {words[words.index('--grid') + 1]}"
    return " ".join(word for word in words if word not in ("-p", "--preset"))


def public() -> str:
    """Kernels of others with their public times on a B200."""
    record = json.loads((RESULTS / "predictions.b200.json").read_text("utf-8"))
    lines = ["| kernel | size | measured | predicted | error | bound |", "|---|---|---|---|---|---|"]
    for one in record["rows"]:
        cells = (
            one["kernel"],
            str(one["size"]),
            f"{one['measured_microseconds']:,.1f} us",
            f"{one['predicted_microseconds']:,.1f} us",
            f"{one['error']:+.1%}",
            one["bound"],
        )
        lines.append(f"| {' | '.join(cells)} |")
    summed = f"The median error is {record['median']:.1%}, the largest {record['largest']:.1%}."
    return "\n".join(lines) + f"\n\n{record['source']}. {summed} {record['known_beforehand']}\n"
