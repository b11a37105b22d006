"""The tables of the instruction set's coverage say what the rows and the records say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ptxkit.isa import registry
from ptxkit.isa.notation import Form

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from pages import coverage

ROWS = re.compile(r"^\| (9\.7[\d.]*) \| `(.*?)`(?:, \*ptxas alone\*)? \|.*$", re.MULTILINE)
SUMMARY = re.compile(
    r"^\| \[(.*?)\]\(#.*?\) \| (\d+) \| \d+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE
)


GROUPS = [form for form in registry.forms("fabric") if form.name == "fabric.submit.commit_group"]
"""A form that is not emulated: no manual says what it does."""


def is_later(form: Form) -> bool:
    """Whether a form, or something in it, came after PTX ISA 9.0, of which not all is emulated."""
    asked = [form.since, *(availability for _, availability in form.needs)]
    return any(one.version > (9, 0) for one in asked)


@pytest.fixture(scope="module")
def found() -> list[coverage.Line]:
    """Every form, judged on a few statements."""
    return coverage.lines(8)


@pytest.fixture(scope="module")
def page(found: list[coverage.Line]) -> str:
    """The tables."""
    return coverage.page(found, [], None)


def test_the_page_has_a_line_for_each_form(page: str) -> None:
    listed = [(row[1], row[2].replace("\\|", "|")) for row in ROWS.finditer(page)]
    forms = [form for opcode in registry.opcodes() for form in registry.forms(opcode)]
    forms.sort(key=lambda form: registry.CHAPTERS.index(form.chapter))
    assert listed == [(form.section, form.syntax) for form in forms]


def lacking(found: list[coverage.Line]) -> dict[str, list[str]]:
    """The forms not all of which is emulated, by chapter."""
    forms: dict[str, list[str]] = {}
    for line in found:
        if line.extent not in ("all", "gone"):
            forms.setdefault(line.form.chapter, []).append(line.form.syntax)
    return forms


def test_the_summary_counts_the_forms_of_each_chapter(page: str, found: list[coverage.Line]) -> None:
    counted = {}
    for chapter, *numbers in SUMMARY.findall(page):
        forms, whole, partly, none, gone = map(int, numbers)
        assert forms == whole + partly + none + gone
        if partly or none:
            counted[chapter.replace(" ", "_")] = partly + none
    assert counted == {chapter: len(forms) for chapter, forms in lacking(found).items()}


def test_every_form_is_emulated_but_for_depths_and_samples(found: list[coverage.Line]) -> None:
    """Of the forms of the manual that PTX has on some supported target, and that PTX ISA 9.0 had, all but
    the operand of a depth and the multi-sampled geometries; of newer ones all of `packed`, `narrow`,
    `mbarrier_reports`, and of `bulk_copies` all but the allocation classes of tensor maps."""
    older = lacking([line for line in found if not is_later(line.form) and not line.undocumented])
    assert len(older.pop("texture")) == 11
    assert not older
    textures = [line for line in found if line.form.chapter == "texture" and line.extent == "some"]
    assert {message.rpartition(": ")[2] for line in textures for message in line.missing} == {
        "how a texel is compared with a depth is told nowhere",
        "only graphics interfaces make multi-sampled textures",
    }
    newer = ("packed", "narrow", "mbarrier_reports", "bulk_copies")
    left = lacking([line for line in found if line.form.chapter in newer])
    assert [{name.split(".")[0] for name in names} for names in left.values()] == [{"tensormap"}]
    (fabric,) = lacking([line for line in found if line.form.chapter == "fabric"]).values()
    assert {" ".join(name.split()) for name in fabric} == {
        "fabric.submit.commit_group",
        "fabric.wait.sync_restrict::read N",
        "fabric.wait.sync_restrict::reads N",
    }


def test_a_record_goes_to_its_form() -> None:
    found = coverage.lines(1, registry.forms("brev"))
    form = found[0].form
    entry = {"section": form.section, "form": form.syntax, "instances": 512, "mismatches": 3}
    gone = {**entry, "form": "brev.nothing d"}
    documents = [{"gpu": "A GPU", "forms": [entry, gone]}]
    assert coverage.add_hardware(found, documents) == [f"{form.section} brev.nothing d"]
    assert found[0].hardware == {"A GPU": entry}


def test_forms_of_one_syntax_share_a_record_by_their_spellings() -> None:
    found = coverage.lines(1, registry.forms("setp"))
    syntax = "setp.CmpOp{.BoolOp}.type  p{|q}, a, b{, {!}c}".replace("  ", " ")
    alike = [line for line in found if line.form.syntax == syntax]
    assert len(alike) == 3
    entry = {"section": alike[0].form.section, "form": syntax, "instances": 7, "mismatches": 1}
    entry["spellings"] = {"setp.eq.b16": [1, 1], "setp.lo.u32": [2, 0], "setp.lt.xor.s64": [0, 3]}
    entry["differs"] = {"setp.lo.u32": {"wrong": 1}}
    coverage.add_hardware(found, [{"gpu": "A GPU", "forms": [entry]}])
    held = [line.hardware["A GPU"] for line in alike]
    assert sorted((each["instances"], each["mismatches"]) for each in held) == [(2, 0), (2, 1), (3, 0)]


def test_what_ptxas_said_goes_to_its_form() -> None:
    found = coverage.lines(1, registry.forms("brev"))
    entry = {"section": found[0].form.section, "form": found[0].form.syntax, "statements": 30, "differ": 1}
    coverage.add_agreement(found, {"forms": [entry]})
    assert (found[0].asked, found[0].differ) == (30, 1)
    assert "| 30, 1 differ |" in coverage.page(found, [], None)


def test_what_the_execution_rests_on() -> None:
    """A GPU where one was compared, else what the table says, else the manual; each entry is of some form."""
    entries = coverage.semantics()
    forms = [form for opcode in registry.opcodes() for form in registry.forms(opcode)]
    for entry in entries:
        assert set(entry) <= {"chapters", "opcodes", "modifiers", "rests", "why"}
        assert set(entry["rests"]) <= set(coverage.BASES)
        assert any(coverage.concerns(entry, form) for form in forms), entry
    sums, brev = (coverage.lines(2, registry.forms(opcode)) for opcode in ("add", "brev"))
    groups = coverage.lines(2, GROUPS)
    narrow = next(line for line in sums if "e5m2x4" in line.form.modifiers)
    assert coverage.rests_on(narrow, entries).startswith("manual, other implementation: ")
    assert coverage.rests_on(brev[0], entries) == "manual"
    assert coverage.rests_on(groups[0], entries) == "-"
    brev[0].hardware = {"NVIDIA H200": {}}
    assert coverage.rests_on(brev[0], entries) == "H200"


def test_what_is_not_emulated_has_a_reason() -> None:
    """Of one form that is and one that is not; a line counts what its statements come to."""
    made = {line.form.syntax: line for line in coverage.lines(4, [*registry.forms("lop3"), *GROUPS])}
    lop3 = next(line for syntax, line in made.items() if syntax.startswith("lop3"))
    groups = next(line for syntax, line in made.items() if syntax.startswith("fabric"))
    assert lop3.extent == "all"
    assert lop3.emulated == lop3.checked == lop3.parsed == lop3.statements > 0
    assert groups.extent == "none"
    assert groups.missing.total() == groups.checked > groups.emulated == 0


@pytest.mark.slow
def test_every_statement_is_emulated_but_those_of_textures() -> None:
    """Of all statements that the page counts, but those that ptxas alone knows: the manual gives them no
    meaning. Every record is one of a form that there is."""
    found = coverage.lines()
    lacking = [line.form for line in found if line.extent not in ("all", "gone")]
    older = [form for form in lacking if not is_later(form)]
    assert {form.chapter for form in older if form.undocumented is None} == {"texture"}
    assert coverage.add_hardware(found, coverage.records()) == []
