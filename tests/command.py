"""The command line, as a process or within this one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ptxkit.__main__ import main

CODE = re.compile(r"^(?:error|warning|note)\[(P\d{3,4})\]", re.MULTILINE)


def ptxkit(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `ptxkit` with these arguments; neither colours nor a terminal nor input."""
    return subprocess.run(
        [sys.executable, "-m", "ptxkit", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def here(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the same command within this process, which is faster."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = main(list(map(str, arguments)))
    return subprocess.CompletedProcess(arguments, code, stdout.getvalue(), stderr.getvalue())


def codes(output: str) -> list[str]:
    """The diagnostic codes in printed text, in order."""
    return CODE.findall(output)


def refused(done: subprocess.CompletedProcess[str], exit_code: int, *expected: str) -> str:
    """Assert that a command ended with these diagnostics alone and no traceback; gives what it printed."""
    printed = done.stdout + done.stderr
    assert done.returncode == exit_code, printed
    assert tuple(codes(printed)) == expected, printed
    assert "Traceback" not in printed
    return printed


def verified(kernel: str, sizes: dict[str, int], *options: object, device: str = "emu") -> dict[str, Any]:
    """Run a kernel and assert that its result is right and nothing was found; gives what the run reports."""
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    done = here("run", kernel, "--device", device, *given, *options, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert codes(done.stderr) == []
    (report,) = json.loads(done.stdout)["runs"]
    assert report["verified"]
    return report
