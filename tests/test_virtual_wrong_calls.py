"""Wrong calls of the driver API: a virtual GPU's answers are those of a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from virtual import needs_linux

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare_wrong_calls import Answer, accepted, differences, emulated, wrong

pytestmark = [needs_linux, pytest.mark.long]

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "bench" / "results" / "wrong_calls.h200.json"
ANSWERS = json.loads(MEASURED.read_text("utf-8"))["chapters"]
ALONE = ("initialization", "devices", "no_context")
"""Chapters without a context before their first call."""
FAULTS = [chapter for chapter in ANSWERS if chapter.startswith("faults.")]
OTHERS = [chapter for chapter in ANSWERS if chapter not in (*ALONE, *FAULTS)]


def lines(chapter: str, ours: dict[str, Answer]) -> list[str]:
    """What is wrong with the answers to a chapter."""
    return wrong(chapter, differences(ANSWERS[chapter], ours)[0], accepted())


@pytest.mark.parametrize("wanted", [*([one] for one in ALONE), OTHERS], ids=[*ALONE, "with_a_context"])
def test_answers(wanted: list[str]) -> None:
    found, code = emulated(wanted)
    assert code == 0, "there are findings"
    assert [line for chapter in wanted for line in lines(chapter, found[chapter])] == []


@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=[pytest.mark.slow] if at else []) for at, one in enumerate(FAULTS)]
)
def test_answers_after_a_fault(fault: str) -> None:
    found, code = emulated([fault])
    assert code == 1, "the fault is a finding"
    assert lines(fault, found[fault]) == []
