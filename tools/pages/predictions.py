"""The table of docs/predict.md, from bench/results/predictions.json."""

from __future__ import annotations

import json
from pathlib import Path

RECORD = Path(__file__).resolve().parents[2] / "bench" / "results" / "predictions.json"


def tables() -> str:
    """Each launch: what was measured, predicted, and how far a naive roofline is off."""
    rows = json.loads(RECORD.read_text("utf-8"))["rows"]
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
