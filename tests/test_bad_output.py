"""Where what is printed or written goes wrong: full disks, closed streams, readers that leave, odd files."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from command import here, ptxkit, refused
from small_kernels import DOUBLE

from ptxkit.support.atomic_file import write_atomically
from ptxkit.sweep import Results

pytestmark = pytest.mark.long

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="there is no /dev/full")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


def shell(command: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `command` in bash, where `ptxkit` is this one and $1.. are the arguments."""
    script = f'ptxkit() {{ "{sys.executable}" -m ptxkit "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", script, "bash", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# ---- standard streams


@needs_full
@pytest.mark.parametrize(
    "line",
    ["--help", "--version", 'check "$1"', 'check "$1" --json', "explain P203", 'run "$1" --device emu'],
)
def test_a_full_disk_is_said(kernel: Path, line: str) -> None:
    done = shell(f"ptxkit {line} >/dev/full", kernel)
    assert "no space left" in refused(done, 2, "P567")


@needs_full
@pytest.mark.parametrize("line", ["check nosuch.ptx", "nosuch", "explain"])
def test_nothing_can_be_said_at_all(line: str) -> None:
    done = shell(f"ptxkit {line} >/dev/full 2>&1")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize(
    "line",
    ["--help", pytest.param("kernels", marks=pytest.mark.slow), "explain", "check nosuch.ptx", "run --help"],
)
def test_a_reader_that_goes_away_ends_the_command(line: str) -> None:
    done = shell(f"ptxkit {line} | head -0; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("--version >&-", 0),
        ('check "$1" >&-', 0),
        ('run "$1" --device emu <&- >&- 2>&-', 0),
        ("fmt - <&-", 0),
        ("desc batch <&-", 0),
        ('debug "$1" <&-', 0),
        ("check nosuch.ptx 2>&-", 2),
    ],
)
def test_streams_that_the_caller_has_closed(kernel: Path, line: str, code: int) -> None:
    done = shell(f"ptxkit {line}", kernel)
    assert done.returncode == code, done.stderr
    assert "internal error" not in done.stderr


def test_names_that_are_no_unicode(kernel: Path) -> None:
    name = os.fsdecode(b"caf\xe9.ptx")
    for arguments in ([name], [name, "--json"]):
        done = ptxkit("check", *arguments)
        assert done.returncode == 2
        assert "caf\\xe9" in done.stdout or "caf\\udce9" in done.stdout
    os.rename(kernel, kernel.with_name(name))
    assert ptxkit("run", name, "--device", "emu", cwd=kernel.parent).returncode == 0


def test_a_terminal_that_knows_ascii_alone(kernel: Path) -> None:
    kernel.write_text("// caf\u00e9 \u03c0\n" + DOUBLE.replace("ld.global.f32", "ld.globl.f32"))
    done = ptxkit("check", kernel, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert "internal error" not in done.stdout + done.stderr
    assert ptxkit("expand", kernel, PYTHONIOENCODING="ascii", PYTHONUTF8="0").returncode == 0


# ---- standard input


@pytest.mark.parametrize(
    "line",
    [
        "check -",
        "expand -",
        "script -",
        "run - --device emu",
        "run - --device emu --timeout 60",
        "sweep - --device emu",
    ],
)
def test_a_file_from_standard_input(kernel: Path, line: str) -> None:
    done = shell(f'ptxkit {line} < "$1"', kernel)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_standard_input_may_not_be(kernel: Path) -> None:
    refused(shell('ptxkit check - --max-size 10 < "$1"', kernel), 1, "P111")
    refused(shell("printf '\\xff\\xfe.' | ptxkit check -"), 1, "P112")
    refused(shell('ptxkit debug - < "$1"', kernel), 2, "P560")
    assert refused(shell("printf '// nothing' | ptxkit check -"), 1, "P301")


# ---- files that are written


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"before")
    path.chmod(0o640)

    def fail(file: object) -> None:
        assert isinstance(file, io.BufferedWriter)
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, fail)
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    write_atomically(path, b"after")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"after", 0o640)


def test_a_link_leads_where_it_led(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/file")
    for content in (b"new", b"newer"):
        write_atomically(link, content)
        assert link.is_symlink()
        assert (tmp_path / "folder/file").read_bytes() == content


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"through")
    reader.join(10)
    assert found == [b"through"]
    assert pipe.is_fifo()


@needs_full
@pytest.mark.parametrize("line", ['run "$1" --device emu --save y=/dev/full', 'expand "$1" -o /dev/full'])
def test_a_device_stays_a_device(kernel: Path, line: str) -> None:
    # What a command of root's did to /dev/null once: it was a file of floats from then on.
    copy = kernel.with_name("full")
    try:
        os.mknod(copy, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        copy.open("wb").close()
    except OSError:
        pytest.skip("nobody but root makes devices")
    refused(shell(f"ptxkit {line.replace('/dev/full', str(copy))}", kernel), 2, "P567")
    assert copy.is_char_device()


def test_many_processes_write_one_file(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "y.npy"
    command = [sys.executable, "-m", "ptxkit", "run", kernel, "--device", "emu", "--save", f"y={out}"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(4)]
    for process in running:
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 0, printed
    assert np.load(out).shape == (300,)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["double.ptx", "y.npy"]


@pytest.mark.parametrize("name", [".", "..", "x" * 300, "folder"])
def test_a_name_that_no_file_can_have(
    kernel: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    refused(here("run", kernel, "--device", "emu", "--save", f"y={name}"), 2, "P567")
    done = here("expand", kernel, "-o", name)
    assert done.returncode == 2
    assert "internal error" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["double.ptx", "folder"]


def test_two_sweeps_write_one_file(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with Results(out) as first:
        first.keep({"schema": 1, "kind": "sweep", "key": "k", "exit": 0})
        assert "another sweep" in refused(ptxkit("sweep", kernel, "--device", "emu", "-o", out), 2, "P567")
    assert here("sweep", kernel, "--device", "emu", "-o", out).returncode == 0
    assert len(out.read_text().splitlines()) == 2


@needs_full
def test_results_on_a_full_disk(kernel: Path) -> None:
    printed = refused(ptxkit("sweep", kernel, "--device", "emu", "-o", FULL), 2, "P567")
    assert f"cannot write `{FULL}`" in printed
    assert FULL.is_char_device()


@pytest.mark.parametrize("verb", ["trace", "asm", "profile"])
def test_a_folder_that_is_not_there_is_said_at_once(kernel: Path, tmp_path: Path, verb: str) -> None:
    done = here(verb, kernel, "-o", tmp_path / "no" / "out.json")
    assert "there is no folder" in refused(done, 2, "P567")


def test_bytes_on_standard_input_that_are_no_text(kernel: Path) -> None:
    done = shell("printf '\xff{}\n{}\n' | ptxkit desc batch")
    assert done.returncode == 0
    assert [json.loads(line)["error"]["code"] for line in done.stdout.splitlines()] == ["P407", "P407"]
    done = shell("printf '\xff\nquit\n' | ptxkit debug \"$1\"", kernel)
    assert done.returncode == 0
    assert "expected a command" in done.stdout


def test_deep_requests_have_an_answer_too() -> None:
    lines = "[" * 100_000 + "\n" + "9" * 5_000 + "\n{}\n"
    done = subprocess.run(
        [sys.executable, "-m", "ptxkit", "desc", "batch"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line)["error"]["code"] for line in done.stdout.splitlines()] == ["P407"] * 3


def test_two_tensors_for_one_file(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "z.npy"
    done = here("run", kernel, "--device", "emu", "--save", f"x={out}", "--save", f"y={out}")
    assert f"found `{out}` for `x` and for `y`" in refused(done, 2, "P562")
    assert not out.exists()
