"""Whether programs computed the same on a virtual GPU as on a real one: bench/results/numbers.GPU.json.

A number is what `program_numbers.py` notes: the bytes of a copy to the host, or of a tensor that a kernel
wrote. The rule by which those of two runs of a program are compared:

- A program is compared if it comes to its end on both, by exit code 0, even where its own check of what it
  prints fails; or takes too long: then as far as both came.
- Where both runs have the same kinds and sizes in the same order, the first with the first, and so on. Else,
  and where more of them are the same so, as sets in which a member may be several times: threads of the host
  take turns in another order, or the program polls.
- Of a launch of Triton's whose tensors were not the same before, what differs after says nothing of the
  kernel: `other_inputs`, beside `identical` and `different`.
- Of files of tests those numbers are compared whose tests pass on both.
- What a second run on the real GPU does not give again differs for that reason.
- What a run could not tell (a copy that a graph does later) counts as `unseen`, and is not compared.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .program_numbers import sample, table
from .record import short

UNEXPLAINED = "not explained yet"
"""Where no row of numbers.toml says why."""
UNSTEADY = "not the same from run to run on the real GPU"


def compare(ours: Path, theirs: Path, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """The record of two folders of numbers; a suite that one of them lacks is as `known` already."""
    found: dict[str, Any] = dict(known or {})
    for path in sorted(ours.glob("numbers.*.json")):
        if (theirs / path.name).exists():
            here, there = (json.loads((folder / path.name).read_text("utf-8")) for folder in (ours, theirs))
            found[here["suite"]] = _suite(here, there)
    return {"schema": 1, "kind": "same numbers", "suites": dict(sorted(found.items()))}


def _suite(here: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in here["programs"] if name in there["programs"]]
    return {
        "tests_of": here["tests_of"],
        "dates": [here["date"], there["date"]],
        "devices": [here["device"], there["device"]],
        "versions": [here["versions"], there["versions"]],
        "programs": {name: program(name, here["programs"][name], there["programs"][name]) for name in names},
    }


def program(name: str, here: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """The row of a program: how it ended on both, and how many of its numbers are the same."""
    row: dict[str, Any] = {"outcomes": [here["outcome"], there["outcome"]]}
    for run, whose in ((here, "ours"), (there, "theirs")):
        if run["outcome"] != "passed":
            row[f"why_{whose}"] = short(run["why"])
    if "open" in here:
        row["open"] = here["open"]
    if "tests" in here:
        both = {name for name, outcome in here["tests"].items() if outcome == "passed"}
        both &= {name for name, outcome in there["tests"].items() if outcome == "passed"}
        here, there = (_of_tests(run, both) for run in (here, there))
        row["tests"] = len({number["test"] for number in here["numbers"]})
    cut = [_cut(run) for run in (here, there)]
    if not all(_ended(run) or late for run, late in zip((here, there), cut, strict=True)):
        return row | {"numbers": 0}
    first, second = (_seen(run) for run in (here, there))
    unseen = max(len(run["numbers"]) - len(seen) for run, seen in ((here, first), (there, second)))
    if any(cut):
        first, second = (numbers[: min(len(first), len(second))] for numbers in (first, second))
    pairs = list(zip(first, second, strict=False)) if _shape(first) == _shape(second) else None
    in_turn = sum(a["hash"] == b["hash"] for a, b in pairs) if pairs is not None else -1
    as_sets = sum((_hashes(first) & _hashes(second)).values())
    total = max(len(first), len(second))
    row |= {"numbers": total, "identical": max(in_turn, as_sets), "unseen": unseen}
    if pairs is None or as_sets > in_turn:
        rest = (_hashes(first) - _hashes(second)) + (_hashes(second) - _hashes(first))
        kinds = Counter(kind for kind, _, _ in rest)
        unsteady = {number["kind"] for number in second if not number.get("steady", True)}
        row |= {"by": "sets", "other_inputs": 0, "counts": [len(first), len(second)]}
        row["different"] = [
            {"kind": kind, "count": count, **_reason(name, kind, kind not in unsteady)}
            for kind, count in kinds.items()
        ]
    else:
        pairs = [(a, b) for a, b in pairs if a["hash"] != b["hash"]]
        told = [(a, b) for a, b in pairs if a.get("inputs") == b.get("inputs")]
        row |= {"by": "turns", "other_inputs": len(pairs) - len(told)}
        row["different"] = _differences(name, told)
    return row


def _ended(run: dict[str, Any]) -> bool:
    return run["outcome"] == "passed" or run["why"].startswith("exit code 0:")


def _cut(run: dict[str, Any]) -> bool:
    return run["why"].startswith("took more than")


def _of_tests(run: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return run | {"numbers": [number for number in run["numbers"] if number["test"] in names]}


def _seen(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [number for number in run["numbers"] if "hash" in number]


def _shape(numbers: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(number["kind"], number["bytes"]) for number in numbers]


def _hashes(numbers: list[dict[str, Any]]) -> Counter[tuple[str, int, str]]:
    return Counter((number["kind"], number["bytes"], number["hash"]) for number in numbers)


def _differences(name: str, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Of each kind, how many pairs differ, why, and by how much those that have a sample."""
    found: dict[tuple[str, bool], dict[str, Any]] = {}
    for here, there in pairs:
        kind, steady = here["kind"], there.get("steady", True)
        row = found.setdefault((kind, steady), {"kind": kind, "count": 0, **_reason(name, kind, steady)})
        row["count"] += 1
        dtype = here.get("dtype", row.get("dtype"))
        if "sample" in here and "sample" in there:
            told = difference(sample(here), sample(there), dtype)
            row |= {key: max(value, row.get(key, value)) for key, value in told.items()}
    return list(found.values())


def _reason(name: str, kind: str, steady: bool) -> dict[str, str]:
    """The first row of numbers.toml that fits; of what no run gives again, only one that is of such."""
    for row in table()["reasons"]:
        fits = re.search(row["program"], name) and re.search(row.get("kind", ""), kind)
        if fits and (steady or row.get("unsteady")):
            return {"why": row["is"]} | ({"dtype": row["dtype"]} if "dtype" in row else {})
    return {"why": UNEXPLAINED if steady else UNSTEADY}


def difference(here: bytes, there: bytes, dtype: str | None) -> dict[str, float]:
    """By how much samples differ: the share of elements; where these have a type, the largest difference.

    That is absolute, and once more as a part of the largest element; elements that are not finite on both
    sides count in the share alone.
    """
    kind = _dtype(dtype)
    first, second = (np.frombuffer(held, kind or np.uint8) for held in (here, there))
    raw = [held.view(np.uint8).reshape(len(held), -1) for held in (first, second)]
    found = {"share": float((raw[0] != raw[1]).any(axis=1).mean())}
    if kind is None:
        return found
    a, b = (held.astype(np.float64) for held in (first, second))
    finite = np.isfinite(a) & np.isfinite(b)
    apart = np.abs(a - b, where=finite, out=np.zeros_like(a))
    largest = np.abs(b, where=finite, out=np.zeros_like(b)).max(initial=0)
    found["largest"] = float(apart.max(initial=0))
    found["relative"] = found["largest"] / float(largest) if largest else 0.0
    return found


def _dtype(name: str | None) -> np.dtype | None:
    """numpy's, or one of `ml_dtypes`, by PyTorch's name."""
    if name is None:
        return None
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def totals(found: dict[str, Any]) -> dict[str, int]:
    """Programs and numbers of a record: all, and those that are the same."""
    rows = [row for suite in found["suites"].values() for row in suite["programs"].values() if row["numbers"]]
    return {
        "programs": len(rows),
        "the same": sum(row["identical"] == row["numbers"] for row in rows),
        "numbers": sum(row["numbers"] for row in rows),
        "identical": sum(row["identical"] for row in rows),
        "other inputs": sum(row["other_inputs"] for row in rows),
    }
