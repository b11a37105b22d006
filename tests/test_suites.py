"""`tools.suites`: what comes of each test, of one that dies or hangs, too, and the share of what passes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tools.suites import record
from tools.suites.planted import places, planted
from tools.suites.programs import Program, command_of, programs, run_program, why_it_failed
from tools.suites.runner import FileRun, run_file
from tools.suites.suite import HERE, Checkout, Suite, requirements, suites

TESTS = """
import os, time, pytest

def test_right(): pass
def test_wrong(): assert 1 == 2
@pytest.mark.skip(reason="needs more")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
def test_dies(): os._exit(7)
@pytest.mark.parametrize("n", [1, 2])
def test_behind(n): pass
def test_hangs(): time.sleep(60)
def test_loses_the_context(): os.environ["LOST"] = "1"; raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")
def test_needs_a_context(): assert "LOST" not in os.environ
@pytest.fixture
def broken(): raise OSError("no such thing")
def test_fixture(broken): pass
"""


@pytest.mark.long
def test_a_file_whose_tests_die_and_hang(tmp_path: Path) -> None:
    (tmp_path / "test_them.py").write_text(TESTS)
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name\n")
    suite = Suite("own", "", "", [], "", ".", [], test_seconds=3)
    checkout = Checkout(suite, tmp_path, sys.executable)
    assert checkout.files() == ["test_broken.py", "test_them.py"]
    work = tmp_path / "work"
    work.mkdir()
    runs = {file: run_file(checkout, file, None, work) for file in checkout.files()}
    runs = {file: FileRun.from_json(run.to_json()) for file, run in runs.items()}
    found = record.rows("own", runs)
    row = found["test_them.py"]
    assert row["passed"] == ["test_behind[1]", "test_behind[2]", "test_needs_a_context", "test_right"]
    assert row["skipped"] == {"Skipped: needs more": ["test_skipped"]}
    assert row["xfailed"] == ["test_expected"]
    assert row["failed"] == {
        "test_dies": [record.NOT_YET, "the process died in it: exit code 7"],
        "test_fixture": [record.NOT_YET, "OSError: no such thing"],
        "test_hangs": ["time", "took more than 3 s"],
        "test_loses_the_context": [record.NOT_YET, "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS"],
        "test_wrong": [record.NOT_YET, "assert 1 == 2"],
    }
    (why,) = found["test_broken.py"]["failed"].values()
    assert "ModuleNotFoundError: No module named 'nothing_of_this_name'" in why[1]
    assert record.counts(found) == {"passed": 4, "failed": 6, "skipped": 1, "xfailed": 1}


PROGRAM = """
#include <cstdio>
#include <unistd.h>
const int SIZE = 1000, REPETITIONS = 100;
int main(int argc, char **) {
    if (REPETITIONS > 1) sleep(60);
    printf("%d elements, %d words\\n", SIZE, argc);
    return argc - 1;
}
"""
PART = """
#include <cstdio>
struct Part { Part() { puts("of two sources"); } } part;
"""
TABLE = """
[kinds.two]
right = "(?s)of two sources.*1000 elements"
beside = ["part.cpp"]
[programs.named]
kind = "two"
sources = ["a/right/main.cpp"]
arch = "sm_100a"
edits = [["main.cpp", "REPETITIONS = 100", "REPETITIONS = 1"]]
[programs.around]
kind = "two"
sources = ["a/right/main.cpp"]
folder = "a"
edits = [["right/main.cpp", "REPETITIONS = 100", "REPETITIONS = 1"]]
[programs.hosted]
kind = "two"
host = "{host}"
folder = "a/right"
[programs."a/right"]
right = "1000 elements"
edits = [["main.cpp", "REPETITIONS = 100", "REPETITIONS = 1"]]
[programs."a/smaller"]
right = "1000 elements"
edits = [["main.cpp", "REPETITIONS = 100", "REPETITIONS = 1"], ["main.cpp", "SIZE = 1000", "SIZE = 10"]]
[programs."a/fails"]
right = "1000 elements"
arguments = "more"
edits = [["main.cpp", "REPETITIONS = 100", "REPETITIONS = 1"]]
[programs."a/hangs"]
right = "1000 elements"
[programs."a/broken"]
right = "1000 elements"
edits = [["main.cpp", "const int SIZE", "nothing SIZE"]]
[programs."a/edited"]
right = "1000 elements"
edits = [["main.cpp", "what is not there", ""]]
"""


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is needed")
def test_programs_that_are_wrong_or_hang_or_do_not_build(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    host = tmp_path / "host.cpp"
    host.write_text(PROGRAM.replace("REPETITIONS = 100", "REPETITIONS = 1"))
    table.write_text(TABLE.replace("{host}", str(host)))
    for name in programs(str(table)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "main.cpp").write_text(PROGRAM)
        (tmp_path / name / "CMakeLists.txt").write_text("add_executable(program main.cpp)\n")
    (tmp_path / "part.cpp").write_text(PART)
    suite = Suite("own", "", "", [], "", ".", ["-cudart", "none"], test_seconds=3, programs=str(table))
    checkout = Checkout(suite, tmp_path, sys.executable)
    runs = {name: run_program(checkout, name, None, tmp_path / "work") for name in checkout.files()}
    found = record.rows("own", runs)
    assert [name for name, row in found.items() if row["passed"]] == ["a/right", "around", "hosted", "named"]
    failed = {name: row["failed"]["runs"] for name, row in found.items() if row["failed"]}
    assert failed["a/broken"][1].startswith("does not build: main.cpp(4): error:") or (
        failed["a/broken"][1].startswith("does not build: main.cpp:4:1: error:")
    )
    assert failed["a/edited"][1] == "does not build: main.cpp has no 'what is not there'"
    assert failed["a/fails"][1] == "exit code 1: 1000 elements, 2 words"
    assert failed["a/hangs"] == ["time", "took more than 3 s"]
    assert failed["a/smaller"][1] == "exit code 0: 10 elements, 1 words"


def test_a_build_that_takes_too_long_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr("tools.suites.builds.BUILD_SECONDS", 1)
    table, sources = tmp_path / "table.toml", tmp_path / "slow"
    table.write_text('[programs.slow]\nright = ""\nsources = ["slow/main.cpp"]\n')
    sources.mkdir()
    suite = Suite("own", "", "", [], "", ".", [], test_seconds=3, programs=str(table))
    run = run_program(Checkout(suite, tmp_path, sys.executable), "slow", None, tmp_path / "work")
    row = record.rows("own", {"slow": run})["slow"]
    assert row["failed"] == {"runs": ["time", "does not build: took more than 1 s"]}


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is needed")
def test_a_build_is_kept_until_something_that_it_is_made_of_changes(tmp_path: Path) -> None:
    table, sources, builds = tmp_path / "table.toml", tmp_path / "said", tmp_path / "builds"
    row = '[programs.said]\nright = "one"\nsources = ["said/main.cpp"]\n'
    table.write_text(row)
    for folder in (sources, tmp_path / "headers"):
        folder.mkdir()
    (sources / "main.cpp").write_text("#include <said.h>\nint main() { puts(WORD); }\n")
    header = tmp_path / "headers" / "said.h"
    header.write_text('#include <cstdio>\n#define WORD "one"\n')
    suite = Suite(
        "own",
        "",
        "",
        [],
        "",
        ".",
        ["-cudart", "none"],
        test_seconds=9,
        programs=str(table),
        includes=["headers"],
    )

    def built() -> tuple[str, str, int]:
        run = run_program(
            Checkout(suite, tmp_path, sys.executable), "said", None, tmp_path / "work", builds=builds
        )
        said = (tmp_path / "work" / "said" / "run.out").read_text()
        return run.tests["said::runs"].outcome, said, (builds / "said" / "said").stat().st_mtime_ns

    first = built()
    assert first[:2] == ("passed", "one\n")
    assert built() == first
    header.write_text('#include <cstdio>\n#define WORD "two"\n')
    second = built()
    assert second[:2] == ("failed", "two\n")
    (sources / "main.cpp").write_text("#include <said.h>\nint main() { puts(WORD); puts(WORD); }\n")
    third = built()
    assert third[1] == "two\ntwo\n"
    table.write_text(row + 'edits = [["main.cpp", "puts(WORD); puts(WORD)", "puts(\\"one\\")"]]\n')
    fourth = built()
    assert fourth[:2] == ("passed", "one\n")
    table.write_text(row + 'flags = ["-DMORE"]\n')
    assert built()[2] != fourth[2]
    broken = row + 'edits = [["main.cpp", "puts", "nothing"]]\n'
    table.write_text(broken)
    checkout = Checkout(suite, tmp_path, sys.executable)
    for _ in range(2):
        run = run_program(checkout, "said", None, tmp_path / "work", builds=builds)
        assert run.tests["said::runs"].why.startswith("does not build: main.cpp")


def test_the_virtual_device_is_the_one_that_a_program_is_built_for(tmp_path: Path) -> None:
    program = Program("folder/program", "", arch="sm_100a", arguments="--m=64 --n=8")
    own = ["./program", "--m=64", "--n=8"]
    assert command_of("python", program, None, tmp_path) == own
    virtual = command_of("python", program, ["--seed", "3"], tmp_path)
    options, program_with_arguments = virtual[: virtual.index("--")], virtual[virtual.index("--") + 1 :]
    assert options[options.index("--arch") + 1] == "sm_100a"
    assert (options[options.index("--seed") + 1], program_with_arguments) == ("3", own)


def test_why_a_program_fails_is_its_first_error_finding() -> None:
    said = (
        "Building.. error[P605]: undefined: the guard\n  --> k.ptx:1:1\nerror[P650]: a race\nwhat(): failed\n"
    )
    assert why_it_failed(said, 134) == "error[P605]: undefined: the guard"
    said = "Running\nNo result\n\nptxkit exec: 0 errors, 0 warnings\n"
    assert why_it_failed(said, 2) == "exit code 2: No result"


def test_the_environment_of_a_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/there")
    given = {"PYTHONPATH": ".", "OTHER": "."}
    suite = Suite("own", "", "", [], "", ".", [], test_seconds=3, environment=given)
    found = Checkout(suite, tmp_path, sys.executable).environment()
    assert (found["PYTHONPATH"], found["OTHER"]) == (f"{tmp_path}:/there", str(tmp_path))


def _record(**outcomes: object) -> dict[str, object]:
    return {"files": {"f.py": {"passed": [], "failed": {}, "skipped": {}, "xfailed": [], **outcomes}}}


def test_the_share_of_what_passes_on_a_gpu() -> None:
    """Neither what fails there nor what no virtual GPU can do counts."""
    virtual = _record(
        passed=["a", "b"],
        failed={"c": ["machine code", ""], "d": [record.NOT_YET, "x"], "e": [record.NOT_YET, ""]},
        skipped={"no sensor": ["g"]},
    )
    real = _record(passed=["a", "c", "d", "g"], failed={"e": ["", ""]})
    compared = record.beside(virtual, real)
    assert (compared["passed"], compared["counted"]) == (1, 3)
    assert compared["missing"] == {
        "f.py::c": ["machine code", ""],
        "f.py::d": [record.NOT_YET, "x"],
        "f.py::g": ["skipped", "no sensor"],
    }


def test_the_table_of_suites() -> None:
    for suite in suites().values():
        assert all("==" in package for package in suite.packages)
        assert set(suite.packages) < set(requirements(suite))
        for program in programs(suite.programs).values() if suite.programs else ():
            assert program.right, program.name
            assert not program.host or (HERE / "hosts" / program.host).exists()
    names = [row["is"] for row in record.reasons()]
    assert record.NOT_YET not in names
    for row in record.reasons():
        assert row["told"]
        assert set(row) <= {"is", "told", "suite", "test", "why", "out_of_reach"}


def test_where_a_planted_fault_was_found(tmp_path: Path) -> None:
    """Of the code that was meant alone, with the text of the line, and where it was inlined from."""
    (tmp_path / "main.cu").write_text("first\n  second\n")
    said = (
        "error[P651]: GMEM-RACE: other\n  --> <module 1>:3:1\n  ::: main.cu:1:2\n"
        "error[P6155]: STREAM-RACE: this\n  --> <module 1>:3:1\n  ::: main.cu:2:7\n"
        "   = note: inlined at main.cu:1:3 in some::function\n   = note: called from main.cu:1 in f\n"
    )
    assert places(said, "P6155", tmp_path) == [("main.cu:2", "second"), ("main.cu:1", "first")]
    assert places(said, "P602", tmp_path) == []


def test_the_table_of_planted_faults() -> None:
    kinds = {fault.kind: fault for fault in planted()}
    assert {*kinds} == {"barrier", "fence", "event", "size", "stream"}
    for fault in kinds.values():
        assert fault.program in programs(suites()[fault.suite].programs)
    assert len({fault.program for fault in kinds.values()}) == len(kinds)
