"""Findings show the line that the person wrote, as compilers note it by `.loc`. PTX ISA 11.5.3, 11.5.4."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import here

from ptxkit.cli.formats import render_github, to_sarif
from ptxkit.diagnostics import Diagnostic, Source, Span, SpanLabel
from ptxkit.diagnostics.line_table import LineTable, line_table

DATA = Path(__file__).parent / "data"
COMPILED = (DATA / "inlined.ptx").read_text()
"""What nvcc 13.0 makes of inlined.cu with -lineinfo: three functions, one in the other."""

TWO_FUNCTIONS = """.version 8.0
.target sm_90
.visible .entry first()
{
    .loc 1 7 3
    ret;
}
.visible .entry second()
{
    bar.sync 0;
    .loc 2 30 1, function_name names + 6, inlined_at 1 9 2
    bar.sync 0;
    .loc 1 0 0
    ret;
    .loc 3 1 1
    ret;
}
.file 1 "kernels/tile.py"
.file 2 "inner.cu"
.section .debug_str
{
names:
    .b8 0x6f, 0x75, 0x74, 0x65, 0x72, 0, 0x69, 110
    .b8 110, 101, 114, 0
}
"""


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (6, ["kernels/tile.py:7:3"]),
        (10, []),
        (12, ["inner.cu:30:1 in inner", "kernels/tile.py:9:2"]),
        (14, []),
        (16, []),
    ],
    ids=["a plain one", "of another function", "inlined", "line 0", "no such file"],
)
def test_the_last_loc_of_the_function_says_it(line: int, expected: list[str]) -> None:
    """Line 0 is how compilers say that they don't know."""
    assert list(map(str, LineTable(TWO_FUNCTIONS).places(line))) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("st.shared.f32", ["inlined.cu:13:3"]),
        ("%f3, [%rd1]", ["inlined.cu:2:3 in twice", "inlined.cu:6:3 in pair", "inlined.cu:16:5"]),
        ("[%rd1+16384]", ["inlined.cu:2:3 in twice", "inlined.cu:7:3 in pair", "inlined.cu:16:5"]),
        ("fma.rn.f32", ["inlined.cu:7:3 in pair", "inlined.cu:16:5"]),
        ("[%rd2], %f6", ["inlined.cu:16:5"]),
    ],
)
def test_calls_are_followed_outwards(part: str, expected: list[str]) -> None:
    assert list(map(str, line_table(COMPILED).places(line_of(COMPILED, part)))) == expected


@pytest.mark.parametrize(
    ("name", "shown"),
    [("_Z4pairPKfi", "pair"), ("_ZN4tile4loadIfEEvPT_", "tile::load"), ("matmul_kernel", "matmul_kernel")],
)
def test_names_of_functions(name: str, shown: str) -> None:
    text = TWO_FUNCTIONS.replace("0x6f", ", ".join(str(byte) for byte in name.encode()) + ", 0, 1")
    text = text.replace("names + 6", "names")
    assert LineTable(text).places(12)[0].function == shown


def run(folder: Path, *options: object) -> tuple[int, str]:
    for name in ("inlined.cu", "inlined.ptx"):
        if not (folder / name).exists():
            shutil.copy(DATA / name, folder)
    arguments = ["q=f32[64]", "p=f32[64]", *options]
    given = [part for each in arguments if "=" in str(each) for part in ("--arg", each)]
    rest = [each for each in arguments if "=" not in str(each)]
    found = here("run", folder / "inlined.ptx", "--device", "emu", "--grid", 1, "--block", 64, *given, *rest)
    return found.returncode, found.stdout + found.stderr


def test_a_race_shows_both_lines_of_the_source(tmp_path: Path) -> None:
    returned, text = run(tmp_path, "n=2")
    assert returned == 1
    assert "error[P650]: SMEM-RACE" in text
    assert "::: inlined.cu:14:3\n   |\n14 |   q[i] = s[i ^ 33];\n   |   -\n" in text
    assert "= note: the other thread's write: inlined.cu:13:3: `s[i] = p[i];`" in text


def test_a_finding_in_a_function_that_was_inlined(tmp_path: Path) -> None:
    returned, text = run(tmp_path, "n=7", "--no-sanitize")
    assert returned == 1
    assert "::: inlined.cu:2:3 in twice" in text
    assert " 2 |   return p[i] * 2.0f;" in text
    assert "note: inlined at inlined.cu:7:3 in pair\n" in text
    assert "note: inlined at inlined.cu:16:5\n" in text


def test_without_the_source_the_place_alone_is_shown(tmp_path: Path) -> None:
    (tmp_path / "inlined.cu").mkdir()
    _, text = run(tmp_path, "n=7", "--no-sanitize")
    assert "::: inlined.cu:2:3 in twice\n" in text
    assert "return p[i]" not in text


def test_a_shorter_source_than_the_compiler_read(tmp_path: Path) -> None:
    (tmp_path / "inlined.cu").write_text("// another file\n")
    _, text = run(tmp_path, "n=7", "--no-sanitize")
    assert "::: inlined.cu:2:3 in twice\n" in text


def test_programs_get_the_places(tmp_path: Path) -> None:
    _, text = run(tmp_path, "n=7", "--no-sanitize", "--json")
    found = json.loads(text)["runs"][0]["diagnostics"][0]
    assert found["compiled_from"] == [
        {"file": "inlined.cu", "line": 2, "column": 3, "function": "twice"},
        {"file": "inlined.cu", "line": 7, "column": 3, "function": "pair"},
        {"file": "inlined.cu", "line": 16, "column": 5, "function": None},
    ]
    line = line_of(COMPILED, "[%rd1+16384]")
    at = Diagnostic("P602", "out of bounds", Span(line, 2, line, 9), source=Source("out/k.ptx", COMPILED))
    assert render_github([at]).startswith("::error file=inlined.cu,line=2,col=3,title=P602::out of bounds%0A")
    assert f"compiled to out/k.ptx:{line}" in render_github([at])
    related = to_sarif([at], "0")["runs"][0]["results"][0]["relatedLocations"]
    places = [place["physicalLocation"]["region"]["startLine"] for place in related]
    assert places == [2, 7, 16]


def test_text_that_no_compiler_wrote_has_no_such_place() -> None:
    at = Diagnostic("P602", "out", Span(1, 1, 1, 4), labels=(SpanLabel(Span(1, 1, 1, 2), "x"),))
    assert "compiled" not in str(at)
    assert Diagnostic("P602", "out", Span(1, 1, 1, 4), source=Source("k.ptx", "ret;")).compiled_from == ()
