"""Programs on virtual GPUs, for tests: each in a process of its own, by `ptxkit exec`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parent / "virtual_clients"
HEADERS = [
    folder
    for folder in (Path("/usr/local/cuda/include"), Path("/usr/include"))
    if (folder / "cuda.h").exists()
]

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="a virtual GPU needs Linux")
needs_c = pytest.mark.skipif(
    not (shutil.which("gcc") and HEADERS), reason="a C compiler and cuda.h are needed"
)


def execute(
    *command: str | Path, options: tuple[str, ...] = (), folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`ptxkit exec OPTIONS -- COMMAND` in a folder; a client of Python by its file's name."""
    first, *rest = (str(word) for word in command)
    words = [sys.executable, str(CLIENTS / first), *rest] if first.endswith(".py") else [first, *rest]
    return subprocess.run(
        [sys.executable, "-m", "ptxkit", "exec", *options, "--", *words],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CLIENTS)},
    )


def compiled(source: str, folder: Path) -> Path:
    """A C client, compiled."""
    program = folder / Path(source).stem
    include = [f"-I{folder}" for folder in HEADERS]
    subprocess.run(["gcc", "-O1", *include, CLIENTS / source, "-o", program, "-ldl"], check=True)
    return program
