"""`ptxkit fmt`: one style, idempotent, and what a file says stays the same."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from asm_corpus import each_small_file, read
from command import here, refused

import ptxkit
from ptxkit.asm.format import format_file
from ptxkit.asm.lexer import PREPROCESSOR_LINE
from ptxkit.asm.lines import WIDTH

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = sorted(
    path
    for folder in ("kernels_ptx", "bench/kernels", "docs/tutorial")
    for path in (ROOT / folder).rglob("*.ptx")
    if not PREPROCESSOR_LINE.search(path.read_text())
)
UNTIDY = ".version 9.0 .target sm_90a // which\n.entry k() { add .s32 %r1,%r1,\n 1;\n\n\n/* end */ ret; }\n"
TIDY = """\
.version 9.0
.target sm_90a  // which

.entry k()
{
    add.s32 %r1, %r1, 1;

    /* end */
    ret;
}
"""


@pytest.fixture
def untidy(tmp_path: Path) -> Path:
    path = tmp_path / "untidy.ptx"
    path.write_text(UNTIDY)
    return path


def test_a_file_is_laid_out(untidy: Path) -> None:
    done = here("fmt", untidy)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 file reformatted\n")
    assert untidy.read_text() == TIDY
    done = here("fmt", untidy)
    assert (done.returncode, done.stderr) == (0, "1 file left unchanged\n")
    assert untidy.read_text() == TIDY


def test_check_writes_nothing(untidy: Path) -> None:
    tidy = untidy.with_name("tidy.ptx")
    tidy.write_text(TIDY)
    done = here("fmt", "--check", untidy, tidy)
    assert (done.returncode, done.stdout) == (1, f"would reformat {untidy}\n")
    assert done.stderr == "1 file would be reformatted, 1 file left unchanged\n"
    assert untidy.read_text() == UNTIDY
    assert here("fmt", "--check", tidy).returncode == 0


def test_diff_shows_what_would_change(untidy: Path, tmp_path: Path) -> None:
    done = here("fmt", "--diff", untidy)
    assert done.returncode == 1
    assert untidy.read_text() == UNTIDY
    patch = subprocess.run(
        ["patch", "-p0", "-o", "-", str(untidy)], input=done.stdout, capture_output=True, text=True
    )
    assert patch.stdout == TIDY
    unended = tmp_path / "unended.ptx"
    unended.write_text(".version 9.0\n.target sm_90a")
    assert "\\ No newline at end of file" in here("fmt", "--diff", unended).stdout
    unended.write_text(".version 9.0\n.target sm_90a\n")
    done = here("fmt", "--diff", unended)
    assert (done.returncode, done.stdout) == (0, "")


def test_syntax_errors_leave_a_file_alone(untidy: Path) -> None:
    broken = untidy.with_name("broken.ptx")
    broken.write_text(f"{UNTIDY}.entry j() {{ add.s32 %r1 %r2; }}\n")
    text = broken.read_text()
    refused(here("fmt", broken, untidy), 1, "P101")
    assert broken.read_text() == text
    assert untidy.read_text() == TIDY


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    refused(here("fmt", tmp_path / "absent.ptx"), 2, "P110")
    binary = tmp_path / "k.cubin"
    binary.write_bytes(b"\x7fELF\0\xff")
    refused(here("fmt", binary), 1, "P112")
    assert binary.read_bytes() == b"\x7fELF\0\xff"
    large = tmp_path / "large.ptx"
    large.write_text(UNTIDY)
    refused(here("fmt", "--max-size", "10", large), 1, "P111")


def test_the_count_comes_behind_the_text_in_one_pipe() -> None:
    command = [sys.executable, "-m", "ptxkit", "fmt", "-"]
    module = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(){ret;}\n"
    both = subprocess.run(
        command, input=module, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    assert both.stdout.endswith("    ret;\n}\n1 file reformatted\n")


def test_standard_input() -> None:
    command = [sys.executable, "-m", "ptxkit", "fmt", "-"]
    for given, wanted in ((UNTIDY, TIDY), (TIDY, TIDY), ("// alone", "// alone\n"), ("", "")):
        done = subprocess.run(command, input=given, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, wanted)
    done = subprocess.run([*command, "--check"], input=UNTIDY, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "would reformat -\n")
    done = subprocess.run(command, input=b"\xff\n", capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"P112" in done.stderr


def test_permissions_links_and_line_ends_stay(untidy: Path) -> None:
    untidy.chmod(0o755)
    link = untidy.with_name("link.ptx")
    link.symlink_to(untidy)
    untidy.write_bytes(UNTIDY.replace("\n", "\r\n").encode())
    assert here("fmt", link).returncode == 0
    assert link.is_symlink()
    assert stat.S_IMODE(untidy.stat().st_mode) == 0o755
    assert untidy.read_bytes() == TIDY.replace("\n", "\r\n").encode()
    assert here("fmt", "--check", untidy).returncode == 0


@each_small_file
def test_the_tree_stays_with_dos_line_ends_too(path: Path) -> None:
    text = read(path).replace("\n", "\r\n")
    module = ptxkit.parse(text)
    first = format_file(module)
    again = ptxkit.parse(first)
    assert again == module
    assert format_file(again) == first
    assert first.count("\n") == first.count("\r\n")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_shipped_kernel_is_laid_out(path: Path) -> None:
    text = path.read_text()
    assert ptxkit.write(ptxkit.parse(text), canonical=True) == text
    assert [line for line in text.split("\n") if len(line) > WIDTH] == []
