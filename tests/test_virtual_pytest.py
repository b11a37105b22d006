"""`pytest --ptxkit`, and `virtual.install` in a process of Python's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from virtual import CLIENTS, needs_linux

pytestmark = [needs_linux, pytest.mark.long]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CLIENTS)}
    environment.pop("PYTEST_ADDOPTS", None)  # what the run around this one is given
    return subprocess.run(command, capture_output=True, text=True, cwd=CLIENTS, env=environment)


def test_a_finding_fails_the_test_in_which_it_occurred() -> None:
    done = run("--ptxkit", "somebody.py")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "FAILED somebody.py::test_beyond - Failed: ptxkit found 1 error" in done.stdout
    assert "error[P602]: out of bounds" in done.stdout
    assert "somebody.py:24 in test_beyond" in done.stdout
    assert "launches on a virtual GPU (sm_90a): 3; 1 error, 0 warnings" in done.stdout


def test_a_suite_whose_warnings_are_errors_starts(tmp_path: Path) -> None:
    """An installed plugin, of which pytest knows the files, that was imported ahead of pytest."""
    info = tmp_path / "ptxkit-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ptxkit\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nptxkit = ptxkit.virtual.pytest_plugin\n")
    (info / "RECORD").write_text("ptxkit/__init__.py,,\nptxkit/virtual/pytest_plugin.py,,\n")
    (tmp_path / "test_it.py").write_text("def test_it() -> None:\n    pass\n")
    script = "import sys, ptxkit, pytest; sys.exit(pytest.main(['-W', 'error', '-q', 'test_it.py']))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_bad_settings_are_usage_errors() -> None:
    done = run("--ptxkit", "--ptxkit-arch", "sm_1", "somebody.py")
    assert done.returncode == 4
    assert "there is no target `sm_1`" in done.stderr


def test_without_the_option_nothing_is_there() -> None:
    script = "import ptxkit.virtual.pytest_plugin, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_install_is_for_the_process_and_what_it_starts() -> None:
    script = (
        "import subprocess, sys\n"
        "from ptxkit import virtual\n"
        "gpu = virtual.install(devices=3, quiet=True)\n"
        "count = 'from cuda.bindings import driver as cuda; cuda.cuInit(0); '\n"
        "count += 'print(int(cuda.cuDeviceGetCount()[1]))'\n"
        "exec(count)\n"
        "sys.stdout.flush()\n"
        "subprocess.run([sys.executable, '-c', count], check=True)\n"
        "assert gpu.report.launches == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "3\n3\n"), done.stderr
