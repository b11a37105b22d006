"""Wrong calls of the driver API: a virtual GPU's answers are those of a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from virtual import needs_linux

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare_wrong_calls import differences, emulated

pytestmark = [needs_linux, pytest.mark.long]

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "bench" / "results" / "wrong_calls.h200.json"
EXPECTED = ROOT / "tests" / "data" / "wrong_calls.json"
"""What the driver API's manual says under each function's "Returns", where no GPU was asked yet."""
ANSWERS = json.loads((MEASURED if MEASURED.exists() else EXPECTED).read_text("utf-8"))["chapters"]
ALONE = ("initialization", "devices", "no_context")
"""Chapters without a context before their first call."""
FAULTS = [chapter for chapter in ANSWERS if chapter.startswith("faults.")]
OTHERS = [chapter for chapter in ANSWERS if chapter not in (*ALONE, *FAULTS)]


@pytest.mark.parametrize("wanted", [*([one] for one in ALONE), OTHERS], ids=[*ALONE, "with_a_context"])
def test_answers(wanted: list[str]) -> None:
    found, code = emulated(wanted)
    assert code == 0, "there are findings"
    assert {chapter: differences(ANSWERS[chapter], found[chapter])[0] for chapter in wanted} == {
        chapter: [] for chapter in wanted
    }


@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=[pytest.mark.slow] if at else []) for at, one in enumerate(FAULTS)]
)
def test_answers_after_a_fault(fault: str) -> None:
    found, code = emulated([fault])
    assert code == 1, "the fault is a finding"
    assert differences(ANSWERS[fault], found[fault])[0] == []
