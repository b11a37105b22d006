"""Messages: the examples that stand beside the codes, and those that no other test provokes within its own
process."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import pytest
from command import here, refused
from pages import examples
from small_kernels import SPIN

from ptxkit import card
from ptxkit.bench import plot
from ptxkit.cli import files
from ptxkit.diagnostics import Diagnostic, PtxkitError, code_table, counted, render_text
from ptxkit.driver import errors
from ptxkit.driver.timing import Stopwatch
from ptxkit.plan import Program, Request, make
from ptxkit.running.loaded_plan import Case
from tools.collect_messages import Collector, Message, problems, wording

SLOW = frozenset({"P565"})
"""Codes whose example takes seconds."""


def refuse(code: str, call: Any) -> Diagnostic:
    with pytest.raises(PtxkitError) as caught:
        call()
    found = caught.value.diagnostics[0]
    assert found.code == code
    return found


# ---- the codes


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, marks=[pytest.mark.long] if code in SLOW else [])
        for code, entry in examples.entries().items()
        if "needs" not in entry
    ],
)
def test_an_example_provokes_its_code(code: str) -> None:
    """The printed finding is the code's, as the site shows it."""
    for shown in (shown for shown in examples.shown(code) if shown.text):
        said = re.match(r"(?:error|warning|note)\[(P\d+)\]: |\{\"error\": \{\"code\": \"(P\d+)\"", shown.text)
        assert said is not None
        assert code in said.groups()


@pytest.mark.parametrize("code", ["P613", "P6131", "P616", "P666", "P683"])
def test_a_rule_without_a_kernel_of_its_own_names_its_test(code: str) -> None:
    (shown,) = examples.shown(code)
    assert shown.text == ""
    assert code in (Path(__file__).parents[1] / shown.by).read_text()


def test_an_example_that_provokes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(examples.entries(), "P101", {"example": "add.s32 %r1, %r2, %r3;"})
    with pytest.raises(examples.Silent, match="P101"):
        examples.shown("P101")


def test_a_finding_without_help_has_that_of_its_code() -> None:
    """Where it fits all findings of the code: all of the emulator's, and what the table says."""
    assert Diagnostic("P632", "").remedy == "use barriers 0 to 15"
    assert (
        Diagnostic("P662", "").remedy
        == "make the size a multiple of 16; of a `cp.async`, let `src-size` be at most `cp-size`"
    )
    assert Diagnostic("P705", "", help="do this").remedy == "do this"
    assert Diagnostic("P218", "").remedy is None
    assert Diagnostic("P705", "").to_json()["help"] == Diagnostic("P705", "").remedy
    assert "= help: ask for less" in render_text([Diagnostic("P705", "")])


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "byte", "0 bytes"), (1, "entry", "1 entry"), (2, "entry", "2 entries"), (3, "array", "3 arrays")],
)
def test_things_are_counted(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


# ---- the tool


def test_what_is_recorded_is_what_ptxkit_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's own diagnostics are none of ours."""
    monkeypatch.chdir(tmp_path)  # of a long path the message has the beginning
    before = Diagnostic.__init__
    collector = Collector(tmp_path / "messages.json")
    collector.test = "tests/test_x.py::test_y"
    try:
        collector.watch()
        Diagnostic("P101", "made by a test")
        checked = here("check", "none\udc80.ptx")
    finally:
        Diagnostic.__init__ = before  # type: ignore[method-assign]
    assert checked.returncode == 2
    (message,) = collector.found.values()
    assert (message.code, message.test) == ("P559", "tests/test_x.py::test_y")
    assert "none\\udc80.ptx" in message.text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Expected a register", "capital"),
        ("expected a register.", "full stop"),
        ("expected `%r1, found none", "backtick"),
        ("expected 1 bytes", "plural"),
        ("expected a a register", "a a"),
        ("SMEM-RACE: a read races", None),
        ("expected 1 byte, found 2 bytes", None),
    ],
)
def test_messages_that_are_not_in_the_style_are_found(text: str, fault: str | None) -> None:
    found = list(Message("tests/test_x.py::test_y", "P101", text).faults())
    assert bool(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_a_code_that_no_test_provokes_is_found() -> None:
    every = [Message("t", code, "x") for code in code_table()]
    assert problems(every) == []
    assert problems(every[1:]) == [f"{every[0].code} {code_table()[every[0].code].name}: no test provoked it"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("`add` has no modifier `.b8`", "`sub` has no modifier `.f8`", True),
        ("expected 3 operands, found 2", "expected 2 operands, found none", True),
        ("register `a` is never used", "label `a` is never used", False),
        ("a block has at most 1024 threads, found 2", "a block has at most 64 CTAs, found 2", False),
    ],
)
def test_a_wording(one: str, other: str, same: bool) -> None:
    assert (wording(one) == wording(other)) == same


# ---- messages that no other test sees, or a GPU only


@pytest.mark.long
def test_a_time_limit_ends_an_emulation(tmp_path: Path) -> None:
    kernel = tmp_path / "spin.ptx"
    kernel.write_text(SPIN)
    refused(here("run", kernel, "--device", "emu", "--timeout", 1), 6, "P565")


def test_tensors_that_the_host_cannot_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = files.read("gemv.ptx", 1 << 20)
    assert module.source
    plan = make(Program("gemv.ptx", text=module.source.text), module, card.read(module.source), Request())
    monkeypatch.setattr(os, "sysconf", lambda name: 1)
    assert "found 1 free" in refuse("P564", lambda: Case(plan).inputs).message


def test_a_picture_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refuse("P524", lambda: plot.check(tmp_path / "roofline.png"))


def test_a_flush_is_one_of_three() -> None:
    """Refused before the device is looked at."""
    nothing: Any = None
    refuse("P521", lambda: Stopwatch(nothing, "clear"))


def test_what_the_driver_answers_is_explained() -> None:
    """Most of these no healthy GPU can be made to say."""
    driver = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")
    told = set()
    for name in errors._MEANINGS:
        status = getattr(driver.CUresult, f"CUDA_ERROR_{name}", None)
        if status is None:
            continue  # bindings of another CUDA
        found = errors._diagnostic(driver, status, "launch `k`", ())
        assert found.code == errors.code_of(status)
        assert name in found.message
        assert code_table()[found.code].exit == 5 or found.code not in errors.STICKY
        assert render_text([found])
        told.add(found.code)
    assert told >= {"P702", "P713", "P715", *errors.STICKY} - {"P729"}
