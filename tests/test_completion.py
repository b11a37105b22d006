"""What a shell completes, asked as a shell asks; and tables in a narrow terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ptxkit
from small_kernels import DOUBLE

pytestmark = pytest.mark.long


def completed(line: str, cwd: Path | None = None) -> list[str]:
    """The words that bash is offered for the last word of a line; `<file>` where files may stand."""
    words = line.split(" ")
    asked = {"_PTXKIT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = ptxkit(cwd=cwd, **asked)
    assert done.stderr == ""
    pairs = [each.split(",", 1) for each in done.stdout.splitlines() if each]
    return ["<file>" if kind == "file" else word for kind, word in pairs]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "double.ptx").write_text(DOUBLE)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ptxkit sw", ["sweep"]),
        ("ptxkit run gemm_w", ["gemm_wgmma.ptx", "<file>"]),
        ("ptxkit run double.ptx --preset ", ["smoke", "even", "all"]),
        ("ptxkit bench double.ptx --preset s", ["smoke"]),
        ("ptxkit trace -o t.svg double.ptx --preset e", ["even"]),
        ("ptxkit run double.ptx --entry ", ["double"]),
        ("ptxkit run missing.ptx --preset ", []),
        ("ptxkit check --ignore P203,P20", ["P203,P201", "P203,P202", "P203,P203", "P203,P204"]),
        ("ptxkit check --deny warn", ["warnings"]),
        ("ptxkit run x.ptx --allow MBAR-UN", ["MBAR-UNINIT", "MBAR-UNDER-ARRIVE"]),
        ("ptxkit explain P66", [f"P66{digit}" for digit in range(10)]),
        ("ptxkit explain idesc.mxf", ["idesc.mxf8f6f4", "idesc.mxf4", "idesc.mxf4nvf4"]),
        ("ptxkit explain tcgen05.comm", ["tcgen05.commit"]),
        ("ptxkit desc decode smem.", ["smem.wgmma", "smem.tcgen05"]),
        ("ptxkit run double.ptx --order e", ["eager"]),
    ],
)
def test_what_may_be_typed(folder: Path, line: str, expected: list[str]) -> None:
    found = completed(line, folder)
    if "P20" in line:
        assert set(expected) <= set(found)
    else:
        assert found == expected


def test_a_shell_gets_its_script() -> None:
    for shell in ("zsh", "fish"):
        assert "_PTXKIT_COMPLETE" in ptxkit(_PTXKIT_COMPLETE=f"{shell}_source").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is another thing there")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["kernels"], marks=pytest.mark.slow),
        ["explain", "smem.tcgen05"],
        ["explain", "idesc.f16", "0x8400490"],
    ],
)
@pytest.mark.parametrize("width", [60, 100])
def test_tables_fit_the_terminal(command: list[str], width: int) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxkit", *command], stdout=theirs, stderr=subprocess.PIPE, env=environment
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in said.decode().replace("\r", "").split("\n")]
    assert max(map(len, lines)) <= width
    assert sorted("".join("".join(lines).split())) == sorted("".join(ptxkit(*command).stdout.split()))
