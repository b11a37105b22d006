"""The tables of docs/agreement.md, from bench/results and the reasons of the disagreements."""

from __future__ import annotations

import json
from pathlib import Path

from agreement import inline, record

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def tables() -> str:
    """How often `check` and ptxas agree, by what was asked; each disagreement under its reason."""
    names = ("agreement", "compilers", "inline")
    kept, compilers, libraries = (json.loads((RESULTS / f"{n}.json").read_text("utf-8")) for n in names)
    return record.tables(kept, compilers, inline.page(libraries), inline.differing(libraries))
