"""The workflow of docs/exec-ci.md: its steps, executed as they stand there, with the files of the page.

Since that has installed them, PyTorch and Triton are then run on two virtual GPUs, and CuTe DSL beside them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.documents import DOCS, ROOT, blocks

PAGE = DOCS / "exec-ci.md"
CLIENTS = ROOT / "tests" / "virtual_clients"
MASKED = 'tl.load(x + row * stride + at, mask=inside, other=-float("inf"))'
BEYOND = 'tl.where(inside, tl.load(x + row * stride + at), -float("inf"))'


def steps() -> list[str]:
    """What the workflow runs."""
    (workflow,) = (block for block in blocks(PAGE) if block.language == "yaml")
    return re.findall(r"^ *- run: (.+)$", workflow.text, re.MULTILINE)


@pytest.fixture
def venv() -> Iterator[Path]:
    """A place for an environment, which takes gigabytes: nothing is kept of it."""
    with tempfile.TemporaryDirectory(prefix="ptxkit-workflow-") as folder:
        yield Path(folder) / "venv"


@pytest.mark.long
@pytest.mark.first
@pytest.mark.timeout(900)
def test_its_steps_run_as_they_stand(tmp_path: Path, venv: Path) -> None:
    project, wheels = tmp_path / "project", tmp_path / "wheels"
    project.mkdir()
    for block in blocks(PAGE):
        if name := block.given("file"):
            (project / name).write_text(block.text)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(wheels),
        str(ROOT),
    ]
    subprocess.run(pip, check=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    ours = ("PTXKIT", "PYTEST")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment["PATH"] = f"{venv / 'bin'}{os.pathsep}{environment['PATH']}"
    # The release that is tested is this one.
    environment["PIP_FIND_LINKS"] = f"{wheels} {environment.get('PIP_FIND_LINKS', '')}".strip()
    environment["TRITON_CACHE_DIR"] = str(tmp_path / "cache")
    install, test = steps()

    def run(step: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-e", "-c", step]
        return subprocess.run(
            command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    done = run(install)
    assert done.returncode == 0, done.stdout
    done = run(test)
    assert done.returncode == 0, done.stdout
    assert "launches on a virtual GPU (sm_90a): 3; 0 errors, 0 warnings" in done.stdout, done.stdout
    assert "3 passed" in done.stdout, done.stdout

    kernels = project / "softmax.py"
    assert MASKED in kernels.read_text()
    kernels.write_text(kernels.read_text().replace(MASKED, BEYOND))
    # pytest's own finder of modules then wants all of them, PyTorch too.
    done = run(f"{test} -o 'python_files=*.py'")
    assert done.returncode == 1, done.stdout
    assert "P602" in done.stdout, done.stdout
    assert "softmax.py:13:" in done.stdout, done.stdout
    assert "2 failed, 1 passed" in done.stdout, done.stdout

    done = run(f"ptxkit exec --devices 2 -- python {CLIENTS / 'torch_tensors.py'}")
    assert done.returncode == 0, done.stdout
    assert "pointers right\nmaps_of_the_device right\nlow_addresses right" in done.stdout, done.stdout
    assert "ptxkit exec: 0 errors, 0 warnings in 5 launches" in done.stdout, done.stdout

    done = run("pip install nvidia-cutlass-dsl")
    assert done.returncode == 0, done.stdout
    done = run(f"ptxkit exec -- python {CLIENTS / 'cute_dsl.py'}")
    assert done.returncode == 0, done.stdout
    assert "memory right\noccupancy right\ntensors right" in done.stdout, done.stdout
    assert "ptxkit exec: 0 errors, 0 warnings in 3 launches" in done.stdout, done.stdout
