"""`ptxkit dap` driven by `@vscode/debugadapter-testsupport`, a client for tests of adapters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
SCENARIOS = HERE / "data" / "dap_client.js"
PACKAGE = "@vscode/debugadapter-testsupport"
VERSION = "1.68.0"
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ptxkit" / "node" / f"dap-{VERSION}"
"""Where npm puts the package, once."""


@pytest.fixture(scope="module")
def modules() -> Path:
    """The folder with the package; skips where it or node can't be had."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = KEPT / "node_modules"
    if not (found / PACKAGE).is_dir():
        if shutil.which("npm") is None:
            pytest.skip(f"npm, which would fetch {PACKAGE}, is not installed")
        KEPT.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"]
        try:
            fetched = subprocess.run(command, cwd=KEPT, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm does not fetch {PACKAGE} within a minute")
        if fetched.returncode:
            pytest.skip(f"npm can't fetch {PACKAGE}: {fetched.stderr.strip().splitlines()[-1:]}")
    return found


def test_every_scenario_passes(modules: Path, tmp_path: Path) -> None:
    program = tmp_path / "ptxkit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptxkit "$@"\n')
    program.chmod(0o755)
    files = [str(HERE / "data" / name) for name in ("debug_tile.ptx", "inlined.ptx")]
    done = subprocess.run(
        ["node", str(SCENARIOS), str(program), *files],
        env={**os.environ, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    names = re.findall(r'^  async "(.*)"\(', SCENARIOS.read_text("utf-8"), re.M)
    assert len(names) >= 7
    assert done.stdout.splitlines() == names
