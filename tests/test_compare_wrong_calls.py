"""`tools/compare_wrong_calls.py`: what it makes of processes that crash and hang, what it calls different."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare_wrong_calls import CLIENTS, accepted, answers, chapters, differences, wrong

RECORD = Path(__file__).resolve().parents[1] / "bench" / "results" / "wrong_calls.h200.json"
PROGRAM = """
import json, os, sys, time
calls = {"right": 0, "aborts": os.abort, "wrong": 1}
calls |= {"leaves": lambda: os._exit(7), "sleeps": lambda: time.sleep(99)}
print("a driver has something to say")
for what, call in list(calls.items())[int(sys.argv[1]):]:
    print(json.dumps({"chapter": "", "call": what}), flush=True)
    if callable(call):
        call()
    print(json.dumps({"chapter": "", "call": what, "code": call}), flush=True)
    if what == "right":
        break
"""
CALLS = ["right", "aborts", "wrong", "leaves", "sleeps"]


def test_a_call_that_ends_its_process_is_noted_and_the_next_ones_are_made() -> None:
    found = answers(CALLS, [sys.executable, "-c", PROGRAM], patience=2)
    assert found == {"right": 0, "aborts": "SIGABRT", "wrong": 1, "leaves": "exit 7", "sleeps": "hang"}


def test_without_a_driver_no_call_is_answered() -> None:
    found = answers(CALLS, [sys.executable, "-c", "raise SystemExit('there is no driver')"])
    assert found == dict.fromkeys(CALLS, "no process: there is no driver")


def test_what_the_gpu_did_not_answer_is_no_difference() -> None:
    recorded: dict[str, int | str] = {"one": 1, "two": 400, "three": "SIGSEGV"}
    found, unanswered = differences(recorded, {"one": 1, "two": 1, "three": 1})
    assert found == {"two": "the GPU's INVALID_HANDLE, ours INVALID_VALUE"}
    assert unanswered == 1


def test_a_difference_has_a_reason_and_a_reason_a_difference() -> None:
    known = {"one: that", "two", "three: this"}
    assert wrong("one", {"that": "x", "this": "y"}, known) == ["one: this: y"]
    assert wrong("two", {"that": "x", "this": "y"}, known) == []
    assert wrong("two", {}, known) == ["two: there is no difference any more"]
    assert wrong("three", {}, known) == ["three: this: there is no difference any more"]


def test_every_reason_is_of_a_call_that_the_gpu_answered() -> None:
    recorded = json.loads(RECORD.read_text("utf-8"))["chapters"]
    calls = {f"{chapter}: {what}" for chapter, of in recorded.items() for what in of}
    assert accepted() <= calls | set(recorded)


@pytest.mark.skipif(sys.platform == "darwin", reason="there is no cuda.bindings")
def test_every_module_with_calls_is_a_chapter() -> None:
    found = chapters()
    modules = {
        path.stem for path in CLIENTS.glob("wrong_calls/*.py") if "\nCALLS: " in path.read_text("utf-8")
    }
    assert {chapter.partition(".")[0] for chapter in found} == modules
    assert sum(len(calls) for calls in found.values()) > 1000
