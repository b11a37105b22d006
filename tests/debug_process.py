"""`ptxkit debug` as a process that takes commands from standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TILE = HERE / "data" / "debug_tile.ptx"
PRINTS = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 valist);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};

.visible .entry k()
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    mov.u32 %r2, 0;
    cvta.global.u64 %rd1, text;
    {
        .param .b64 format;
        .param .b64 valist;
        .param .b32 status;
        st.param.b64 [format], %rd1;
        st.param.b64 [valist], 0;
        call.uni (status), vprintf, (format, valist);
        ld.param.b32 %r1, [status];
    }
    mov.u32 %r2, 1;
    ret;
}
"""


def debug(commands: str, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Give commands to `ptxkit debug FILE` in the file's folder."""
    done = subprocess.run(
        [sys.executable, "-m", "ptxkit", "debug", file.name, *options],
        cwd=file.parent,
        env={**os.environ, "NO_COLOR": "1"},
        input=commands,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def answers(commands: str, file: Path = TILE, *options: str) -> list[str]:
    """What each command prints."""
    printed = debug(commands, file, *options).stdout
    return [part.partition("\n")[2].rstrip("\n") for part in printed.split("(debug) ")[1:]]


def line_of(text: str, file: Path = TILE) -> int:
    """The first line of the file that holds a text."""
    return next(at for at, line in enumerate(file.read_text().splitlines(), 1) if text in line)
