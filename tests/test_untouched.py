"""P809: tensors of a run that no thread has touched; those that an instruction touched are not told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
BODY = "    .reg .b32 %r<8>;\n    .reg .b64 %d<8>;\n    .reg .pred %p<2>;\n    .shared .align 16 .b8 s[16];\n"
ACCESSES = {
    "a load": "ld.global.u32 %r1, [%d1];",
    "a generic store": "cvta.global.u64 %d2, %d1; st.u32 [%d2], 1;",
    "an atomic": "atom.global.add.u32 %r1, [%d1], 1;",
    "a reduction": "red.global.add.u32 [%d1], 1;",
    "cp.async": "cp.async.ca.shared.global [s], [%d1], 16; cp.async.wait_all;",
    "a loop that is compiled": (
        "mov.u32 %r2, 0; again: ld.global.u32 %r1, [%d1]; add.u32 %r2, %r2, 1;"
        " setp.lt.u32 %p1, %r2, 4000; @%p1 bra again;"
    ),
    "lanes in two tensors": (
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; selp.b64 %d1, %d0, %d1, %p1; ld.global.u32 %r1, [%d1];"
    ),
}


def untouched(path: Path, *options: str) -> list[str]:
    """The messages of P809 that a run prints."""
    command = [sys.executable, "-m", "ptxkit", "run", str(path), "--device", "emu", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    (run,) = json.loads(done.stdout)["runs"]
    found = run["diagnostics"]
    return [each["message"] for each in found if each["code"] == "P809"]


def kernel(tmp_path: Path, statements: str) -> tuple[Path, list[str]]:
    """A kernel of two tensors, `%d0` and `%d1`, and the options that launch it."""
    path = tmp_path / "k.ptx"
    begin = "    ld.param.u64 %d0, [x];\n    ld.param.u64 %d1, [y];\n"
    entry = f".visible .entry k(.param .u64 x, .param .u64 y)\n{{\n{BODY}{begin}"
    path.write_text(f"{HEAD}{entry}    {statements}\n    ret;\n}}\n")
    return path, ["--grid", "1", "--block", "32", "--arg", "x=u32[64]:ones", "--arg", "y=u32[64]:ones"]


@pytest.mark.parametrize("statements", ACCESSES.values(), ids=ACCESSES)
@pytest.mark.parametrize("sanitize", [True, False])
def test_a_tensor_that_was_touched_is_not_told(tmp_path: Path, statements: str, sanitize: bool) -> None:
    path, options = kernel(tmp_path, statements)
    other = [] if "%d0" in statements else ["no thread read or wrote `x`"]
    assert untouched(path, *options, *([] if sanitize else ["--no-sanitize"])) == other


def test_a_tensor_whose_accesses_are_all_passed_by_is_told(tmp_path: Path) -> None:
    path, options = kernel(tmp_path, "st.global.u32 [%d0], 1; bra over; st.global.u32 [%d1], 1;\nover:")
    assert untouched(path, *options) == ["no thread read or wrote `y`"]


def test_tensor_copies_touch_what_they_read_and_write() -> None:
    path = ROOT / "docs" / "tutorial" / "06-wgmma" / "wgmma.ptx"
    assert "cp.async.bulk.tensor" in path.read_text()
    assert untouched(path, "--preset", "smoke") == []


def test_a_tensor_that_only_a_map_leads_to_and_no_copy_reaches(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial" / "05-tma-mbarrier" / "tma.ptx").read_text()
    (store,) = [line for line in text.splitlines() if "cp.async.bulk.tensor.2d.global.shared::cta" in line]
    path = tmp_path / "k.ptx"
    path.write_text(text.replace(store, ""))
    assert untouched(path, "--preset", "smoke") == ["no thread read or wrote `y`"]


def test_right_results_need_no_such_hint(tmp_path: Path) -> None:
    """A card may name a tensor that some sizes have no use for."""
    card = (
        '// /// ptxkit\n// [launch]\n// grid = 1\n// block = 32\n// params = ["x", "y"]\n'
        "// [presets]\n// one = { n = 1 }\n"
        '// [tensors.x]\n// dtype = "u32"\n// shape = "n"\n// expect = "full(n, 1)"\n'
        '// [tensors.y]\n// dtype = "u32"\n// shape = "n"\n// init = "ones"\n// ///\n'
    )
    for stored, told in ((1, []), (2, ["no thread read or wrote `y`"])):
        path, _ = kernel(tmp_path, f"st.global.u32 [%d0], {stored};")
        path.write_text(card + path.read_text())
        assert untouched(path) == told
