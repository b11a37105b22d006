"""Messages: what all of them look like, on the page that a run of the tests makes, and those that no other
test provokes within its own process."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from command import here, refused
from small_kernels import SPIN

from ptxkit import card
from ptxkit.bench import plot
from ptxkit.cli import files
from ptxkit.diagnostics import Diagnostic, PtxkitError, Span, code_table, counted, render_text
from ptxkit.driver import errors
from ptxkit.driver.timing import Stopwatch
from ptxkit.plan import Program, Request, make
from ptxkit.running.loaded_plan import Case
from tools.collect_messages import ON_A_GPU, PAGE, ROOT, Collector, Example, page, read_page, wording

EXAMPLES = read_page()
BEGINS = re.compile(r"[a-z`.#0-9\[\"(]|[A-Z][A-Z0-9-]*(:| |$)|PTX|SM |TOML|Tensor |A |B |D |K |N ")
"""How messages begin: lower case, code, a number, or a name in capitals: a rule's, a matrix's."""
ONE_OF_MANY = re.compile(
    r"(?<![\w.,:*/+-])1 (?:more )?(?:byte|CTA|warp|group|element|value|thread|column)s\b"
)
FOREIGN = ("P706", "P707", "P708", "P709", "P734")
"""Codes whose messages other tools word."""


def refuse(code: str, call: Any) -> Diagnostic:
    with pytest.raises(PtxkitError) as caught:
        call()
    found = caught.value.diagnostics[0]
    assert found.code == code
    return found


# ---- the page


def test_every_code_is_provoked_by_a_test() -> None:
    """It is on the page, or a newer test names it; `.ci/run` holds the codes against its run."""
    shown = {example.code for example in EXAMPLES}
    files = [path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".ptx", ".toml")]
    named = {code for path in files for code in re.findall(r"\bP\d{3,4}\b", path.read_text())}
    assert sorted(code_table().keys() - shown - named) == []
    assert sorted(shown - code_table().keys()) == []
    assert named >= ON_A_GPU


def test_the_page_is_its_examples() -> None:
    assert page(EXAMPLES) == PAGE.read_text()


def test_the_tests_that_the_page_names_are_there() -> None:
    texts: dict[str, str] = {}
    for example in EXAMPLES:
        file, _, name = example.test.partition("::")
        text = texts.setdefault(file, (ROOT / file).read_text())
        assert f"def {name.rpartition('::')[2]}(" in text, example.test


@pytest.mark.parametrize("family", sorted({example.code[:2] for example in EXAMPLES}))
def test_the_style_of_messages(family: str) -> None:
    """Lower case, backticks in pairs, no full stop, no folder of a machine."""
    for example in EXAMPLES:
        if not example.code.startswith(family) or example.code in FOREIGN:
            continue
        message = example.text.partition("]: ")[2].partition("\n")[0]
        assert BEGINS.match(message), example.text
        assert not re.search(r"(?<![.. ])\.$", message), example.text
        assert message.count("`") % 2 == 0 or len(message) > 150, example.text
        assert " a a" not in message, example.text
        assert "or higher or" not in message, example.text
        assert "Errno" not in message, example.text
        assert "/tmp/" not in example.text, example.text
        assert not ONE_OF_MANY.search(example.text), example.text


def test_a_finding_without_help_has_that_of_its_code() -> None:
    """Where it fits all findings of the code: all of the emulator's, and what the table says."""
    assert Diagnostic("P632", "").remedy == "use barriers 0 to 15"
    assert Diagnostic("P662", "").remedy == "copy multiples of 16 bytes; let `src-size` be at most `cp-size`"
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


def test_what_is_recorded_is_what_ptxkit_makes(tmp_path: Path) -> None:
    """A test's own diagnostics are none of ours; of one wording the example with a frame stays."""
    before = Diagnostic.__init__
    collector = Collector(tmp_path / "messages.json")
    collector.test = "tests/test_x.py::test_y"
    try:
        collector.watch()
        Diagnostic("P101", "made by a test")
        checked = here("check", tmp_path / "none.ptx")
    finally:
        Diagnostic.__init__ = before  # type: ignore[method-assign]
    assert checked.returncode == 2
    assert [example.code for example in collector.examples()] == ["P559"]
    assert collector.examples()[0].test == "tests/test_x.py::test_y"
    bare = Diagnostic("P201", "`a` is not declared")
    collector.keep(bare)
    collector.keep(bare.at(Span(1, 1, 1, 2)))
    assert sum(example.code == "P201" for example in collector.examples()) == 1


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


def test_examples_are_read_as_they_are_written() -> None:
    found = Example("tests/test_x.py::test_y", "error[P101]: expected `;`\n --> a.ptx:1:1\n  |\n1 | x\n  | ^")
    assert "### P101 syntax" in page([found])
    assert f"*{found.test}*\n\n```text\n{found.text}\n```\n" in page([found])


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
