"""The table of docs/predict.md, from bench/results/predictions.json."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def tables() -> str:
    """Each launch: what was measured, predicted, and how far a naive roofline is off."""
    rows = json.loads((RESULTS / "predictions.json").read_text("utf-8"))["rows"]
    lines = ["| launch | measured | predicted | error | of a roofline | bound |", "|---|---|---|---|---|---|"]
    for one in rows:
        cells = (
            f"{one['file'].removesuffix('.ptx')} {one['name']}",
            f"{one['measured']:,}",
            f"{one['predicted']:,}",
            f"{one['error']:+.1%}",
            "" if one["roofline_error"] is None else f"{one['roofline_error']:+.0%}",
            one["bound"],
        )
        lines.append(f"| {' | '.join(cells)} |")
    errors = sorted(abs(one["error"]) for one in rows)
    middle = errors[len(errors) // 2]
    return (
        "\n".join(lines)
        + f"\n\nCycles. Half of the errors are below {middle:.1%}, all below {errors[-1]:.1%}.\n"
    )


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
