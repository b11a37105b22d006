"""`ptxkit check` as a verb: which findings count, folders, fixes, watching; and `fmt` over folders."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import codes, here, ptxkit, refused

import ptxkit as package
from ptxkit.asm.fix import apply, fixes
from ptxkit.diagnostics import PtxkitError, Source

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
CLEAN = HEAD + "\n.visible .entry k()\n{\n    ret;\n}\n"
UNUSED = CLEAN.replace("    ret;", "    .reg .b32 %left, %over;\n    .reg .f32 %alone;\n    ret;")
"""Three warnings, P203."""
TYPOS = CLEAN.replace("    ret;", "    .reg .b32 %value;\n    mov.b32 %valeu, 3;\n    rett;\n    ret;")
"""Two errors, P201 and P212, and a warning, P203."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "clean.ptx": CLEAN,
        "deep/down/unused.ptx": UNUSED,
        "deep/typos.ptx": TYPOS,
        ".cache/hidden.ptx": "nonsense",
        "notes.txt": "no PTX",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def found(*arguments: object) -> tuple[int, list[str]]:
    """The exit code of `check`, and the codes that it tells."""
    done = here("check", *arguments)
    return done.returncode, codes(done.stdout)


# ---- folders


def test_a_folder_stands_for_the_files_in_it(folder: Path) -> None:
    done = ptxkit("check", ".", cwd=folder)
    assert done.returncode == 1
    assert "3 files checked: 2 errors, 4 warnings" in done.stdout
    assert "hidden" not in done.stdout
    assert "deep/typos.ptx:" in done.stdout
    assert ptxkit("check", ".", "clean.ptx", cwd=folder).stdout.count("files checked") == 1
    (folder / "empty").mkdir()
    assert "expected `.ptx` files" in refused(here("check", folder / "empty"), 2, "P559")


def test_a_folder_is_formatted(folder: Path) -> None:
    (folder / "deep/typos.ptx").write_text(UNUSED.replace("    ret", "ret"))
    done = ptxkit("fmt", "--check", "--json", ".", cwd=folder)
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"], document["written"]) == (1, False, False)
    assert [each["file"] for each in document["files"] if each["changed"]] == ["deep/typos.ptx"]
    done = ptxkit("fmt", ".", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "1 file reformatted, 2 files left unchanged\n")
    assert (folder / "deep/typos.ptx").read_text() == UNUSED
    (folder / "clean.ptx").write_text("nonsense")
    done = here("fmt", "--json", folder)
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"], document["written"]) == (1, False, True)
    (clean,) = (each for each in document["files"] if each["file"].endswith("clean.ptx"))
    assert {d["code"][:2] for d in clean["diagnostics"]} == {"P1"}
    assert here("fmt", "--json", "--diff", folder).returncode == 2


# ---- which findings count


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), (1, ["P203", "P201", "P212"])),
        (("--select", "P201"), (1, ["P201"])),
        (("--select", "P2", "--select", "P3"), (1, ["P203", "P201", "P212"])),
        (("--select", "warnings"), (0, ["P203"])),
        (("--select", "P1,P3"), (0, [])),
        (("--ignore", "P201,P212"), (0, ["P203"])),
        (("--allow", "unused-register", "--warn", "P2"), (0, ["P201", "P212"])),
        (("--deny", "warnings"), (1, ["P203", "P201", "P212"])),
        (("--warn", "P2"), (0, ["P203", "P201", "P212"])),
        (("--ignore", "P2", "--deny", "P203"), (1, ["P203"])),
        (("--select", "P203", "--deny", "warnings"), (1, ["P203"])),
    ],
)
def test_options_choose_findings(
    folder: Path, options: tuple[str, ...], expected: tuple[int, list[str]]
) -> None:
    assert found(folder / "deep/typos.ptx", *options) == expected


def test_warnings_are_errors_where_that_is_wanted(folder: Path) -> None:
    unused = folder / "deep/down/unused.ptx"
    assert found(unused) == (0, ["P203"] * 3)
    done = here("check", "--deny", "warnings", unused)
    assert done.returncode == 1
    assert "error[P203]" in done.stdout
    assert "3 errors" in done.stdout


@pytest.mark.parametrize("option", ["--select", "--ignore", "--allow", "--warn", "--deny"])
@pytest.mark.parametrize("name", ["P2034", "unused", "P9", "P607", "SMEM-RACE", "errors"])
def test_what_selects_nothing_is_an_error(folder: Path, option: str, name: str) -> None:
    refused(here("check", folder / "clean.ptx", option, name), 2, "P518")


def test_a_project_chooses_findings(folder: Path) -> None:
    unused, typos = folder / "deep/down/unused.ptx", folder / "deep/typos.ptx"
    (folder / "pyproject.toml").write_text("[tool.ptxkit.check]\ndeny = ['warnings']\nallow = ['P212']\n")
    assert found(unused) == (1, ["P203"] * 3)
    assert found(typos) == (1, ["P203", "P201"])
    assert found(unused, "--warn", "P203") == (0, ["P203"] * 3)
    (folder / "deep/ptxkit.toml").write_text("[check]\nselect = ['P201']\n")
    assert found(unused, typos) == (1, ["P201"])
    assert found(typos, "--select", "P212") == (1, ["P212"])
    (folder / "deep/ptxkit.toml").write_text("[checks]\n")
    refused(here("check", unused), 2, "P519")
    (folder / "deep/ptxkit.toml").write_text("[check]\nselect = 'P201'\n")
    refused(here("check", unused), 2, "P518")


def test_programs_choose_findings() -> None:
    module = package.parse(UNUSED)
    assert [d.severity for d in package.check(module)] == ["warning"] * 3
    assert package.check(module, rules={"P203": "allow"}) == []
    assert [d.severity for d in package.check(module, rules={"warnings": "deny"})] == ["error"] * 3
    assert package.check(module, select=["P1"]) == []
    for wrong in ({"P203": "forbid"}, {"P999": "allow"}):
        with pytest.raises(PtxkitError, match="P518"):
            package.check(module, rules=wrong)


# ---- expectations of the card


def test_an_expectation_is_checked_before_anything_runs(tmp_path: Path) -> None:
    card = "\n".join(
        ("// /// ptxkit", "// [launch]", "// grid = 1", "// block = 1", '// params = ["y"]')
        + ("// [presets]", "// one = { n = 4 }", "// [tensors.y]", '// dtype = "f32"')
        + ('// shape = "n"', '// expect = "EXPECT"', "// ///", "")
    )
    kernel = tmp_path / "k.ptx"
    for expect, said in {
        "maximun(n, 0)": "did you mean `maximum`?",
        "x + n": "found `x`",
        "n.real": "expected an expression over tensors",
        "n +": "expected an expression",
    }.items():
        kernel.write_text(card.replace("EXPECT", expect) + CLEAN.replace("k()", "k(.param .u64 y)"))
        printed = refused(here("check", kernel, "--select", "P5"), 1, "P557")
        assert said in printed
        assert "k.ptx:11:" in printed
    kernel.write_text(card.replace("EXPECT", "full(n, pi)") + CLEAN.replace("k()", "k(.param .u64 y)"))
    assert found(kernel) == (0, [])


# ---- fixes


MENDED = """
.visible .entry k(.param .u64 x)
{
    .reg .b32 %a, %b, %c;
    .reg .b32 %d;
    .reg .f32 %f;
    mov.u32 %b, 3u;;
    mov.f32 %f, 1.5f;
    add.rn.f32.ftz %f, %f, %f;
    add.u32 %b, %b, 1
    rett;
}
"""


def test_sure_fixes_are_made(tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(HEAD + MENDED)
    done = ptxkit("check", "--fix", kernel)
    assert done.returncode == 1
    assert codes(done.stdout) == ["P212"]  # what was meant by it is a guess
    assert done.stdout.endswith("1 file checked: 1 error, 8 fixed\n")
    expected = MENDED.replace("%a, %b, %c;", "%b;").replace("    .reg .b32 %d;\n", "").replace("3u;;", "3U;")
    expected = (
        expected.replace("1.5f", "1.5").replace("rn.f32.ftz", "rn.ftz.f32").replace("%b, 1\n", "%b, 1;\n")
    )
    assert kernel.read_text() == HEAD + expected
    again = json.loads(ptxkit("check", "--fix", "--json", kernel).stdout)
    assert (again["fixed"], again["errors"]) == (0, 1)


def test_what_is_ignored_is_not_fixed(tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(UNUSED)
    assert found("--fix", "--ignore", "P203", kernel) == (0, [])
    assert kernel.read_text() == UNUSED
    assert found("--fix", kernel) == (0, [])
    assert kernel.read_text() == CLEAN


def test_standard_input_is_neither_fixed_nor_watched() -> None:
    refused(here("check", "--fix", "-"), 2, "P560")
    refused(here("check", "--watch", "-"), 2, "P560")


def test_guesses_are_for_people_to_choose() -> None:
    text = TYPOS.replace("%valeu", "%count")
    source = Source("k.ptx", text)
    proposed = {d.code: fixes(d, source) for d in package.check(package.parse(text, name="k.ptx"))}
    (declared,) = proposed["P201"]
    assert (declared.title, declared.sure) == ("declare `.reg .b32 %count;`", False)
    assert "    .reg .b32 %value;\n    .reg .b32 %count;\n" in apply(source, [declared])
    assert [fix.title for fix in proposed["P212"]][:1] == ["change to `ret`"]


@pytest.mark.parametrize(
    ("statement", "declared"),
    [
        ("mov.u64 %new, 1;", "b64"),
        ("@%new ret;", "pred"),
        ("setp.eq.f32 %new, 0f00000000, 0f00000000;", "pred"),
        ("ld.global.f32 %new, [16];", "f32"),
        ("st.global.u32 [%new], 1;", "b64"),
        ("mad.wide.u32 %new, 1, 2, 3;", "b64"),
        ("cvt.rn.f16.f32 %new, 0f00000000;", "b16"),
    ],
)
def test_a_declaration_is_proposed_with_the_type_that_is_needed(statement: str, declared: str) -> None:
    text = CLEAN.replace("    ret;", f"    {statement}\n    ret;")
    found = [d for d in package.check(package.parse(text)) if d.code == "P201"]
    assert [d.help for d in found] == [f"declare it before its first use: `.reg .{declared} %new;`"]


# ---- watching


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_files_are_checked_again_when_they_change(folder: Path) -> None:
    command = [sys.executable, "-m", "ptxkit", "check", "--watch", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None

        def until(said: str) -> str:
            seen = ""
            for line in iter(running.stdout.readline, ""):
                seen += line
                if said in line:
                    break
            return seen

        assert "P212" in until("3 files checked")
        time.sleep(0.05)
        (folder / "deep/typos.ptx").write_text(CLEAN)
        assert "P212" not in until("3 files checked: 3 warnings")
        (folder / "deep/down/unused.ptx").unlink()
        until("2 files checked: no findings")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in said
