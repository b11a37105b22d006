"""A Triton kernel that reads past its input shows its own lines: in finding, debugger and profile."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command import ptxkit
from debug_process import answers

from ptxkit.diagnostics.line_table import LineTable

pytestmark = pytest.mark.long

DATA = Path(__file__).parent / "data"
COMPILED = (DATA / "unmasked.ptx").read_text()
SOURCE = (DATA / "unmasked.py").read_text().split("\n")
LOAD, CALL, STORE, BODY = (
    next(number for number, line in enumerate(SOURCE, 1) if part in line)
    for part in ("tl.load(", "= grown(", "tl.store(", "return value")
)


def given(size: int) -> tuple[str, ...]:
    """Two CTAs of 128 threads, of which an array of fewer than 256 elements needs a mask."""
    values = (f"f32[{size}]:randn", f"f32[{size}]", size, 2.0, "u8[1]", "u8[1]")
    named = [f"unmasked_param_{at}={value}" for at, value in enumerate(values)]
    return ("--grid", "2", "--block", "128", *(part for each in named for part in ("--arg", each)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("unmasked.py", "unmasked.ptx"):
        shutil.copy(DATA / name, tmp_path)
    return tmp_path


def test_a_finding(folder: Path) -> None:
    found = ptxkit("run", "unmasked.ptx", *given(200), cwd=folder)
    assert found.returncode == 1
    text = found.stdout + found.stderr
    assert "error[P602]: out of bounds" in text
    shown = SOURCE[LOAD - 1]
    at = shown.index("tl.load")
    assert f"::: unmasked.py:{LOAD}:{at + 1}\n   |\n{LOAD} | {shown}\n   | {' ' * at}-" in text


def test_the_debugger(folder: Path) -> None:
    commands = f"b unmasked.py:{BODY}\nset lines source\nrun\nwhere\nnext\nnext\nc\n"
    out = answers(commands, folder / "unmasked.ptx", *given(256))
    assert re.fullmatch(rf"breakpoint 1 at unmasked\.ptx:\d+, unmasked\.py:{BODY}", out[0])
    body = (
        f"unmasked.py:{BODY}:{SOURCE[BODY - 1].index('value *') + 1} in unmasked: return value * factor + 1.0"
    )
    call = f"unmasked.py:{CALL}:{SOURCE[CALL - 1].index('grown(') + 1}: value = grown(value, factor)"
    for stop in out[2:4]:
        assert body in stop
        assert call in stop
    assert f"unmasked.py:{STORE}:" in out[4]
    faulty = answers(f"b unmasked.py:{LOAD}\nrun\nd 1\nc\nwhere\n", folder / "unmasked.ptx", *given(200))
    assert f"unmasked.py:{LOAD}:" in faulty[1]
    assert "error[P602]: out of bounds" in faulty[3]
    assert f"unmasked.py:{LOAD}:{SOURCE[LOAD - 1].index('tl.load') + 1}: value = tl.load(x + i)" in faulty[4]


def test_the_profile(folder: Path) -> None:
    found = ptxkit("profile", "unmasked.ptx", *given(256), "--no-sanitize", "--json", cwd=folder)
    assert found.returncode == 0
    document = json.loads(found.stdout)
    lines = {line["line"]: line for line in document["sources"]}
    assert {LOAD, BODY, STORE} <= set(lines)
    for number, line in lines.items():
        assert line["file"].endswith("unmasked.py")
        assert line["text"] == SOURCE[number - 1].strip()
    assert lines[LOAD]["bytes_loaded"]["global"] == lines[STORE]["bytes_stored"]["global"] == 256 * 4
    printed = ptxkit("profile", "unmasked.ptx", *given(256), "--no-sanitize", cwd=folder).stdout
    assert f"unmasked.py:{LOAD}" in printed
    assert "value = tl.load(x + i)" in printed


def test_lines_of_inline_assembly_have_the_place_of_their_statement() -> None:
    """Triton loads by two lines of assembly, and LLVM says of the second that it is of the line behind."""
    table = LineTable(COMPILED)
    number = next(at for at, line in enumerate(COMPILED.split("\n"), 1) if "ld.global" in line)
    before = COMPILED.split("\n")[number - 2]
    assert f".loc\t1 {CALL} " in before
    assert [place.line for place in table.places(number)] == [LOAD]
    fused = next(at for at, line in enumerate(COMPILED.split("\n"), 1) if "fma.rn" in line)
    assert [(place.line, place.function) for place in table.places(fused)] == [
        (BODY, "unmasked"),
        (CALL, None),
    ]
