"""The GitHub Action: its steps executed as a runner does, but for the installation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GOOD = ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry k()\n{\n    ret;\n}\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its steps are for bash")


def act(folder: Path, **given: str) -> tuple[int, str]:
    """The exit code of the first step that fails, else 0, and what all printed."""
    inputs = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | given
    bin = folder / "temp/ptxkit/bin"
    bin.mkdir(parents=True, exist_ok=True)
    (bin / "ptxkit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptxkit "$@"\n')
    (bin / "ptxkit").chmod(0o755)
    said = ""
    for step in ACTION["runs"]["steps"][1:]:
        if "if" in step and inputs["format"] != "true":
            continue
        values = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], text)
            for name, text in step["env"].items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, "RUNNER_TEMP": str(folder / "temp"), **values},
            capture_output=True,
            text=True,
            timeout=100,
        )
        said += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, said
    return 0, said


def test_findings_become_annotations(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "good.ptx").write_text(GOOD)
    assert act(tmp_path) == (0, "")
    (kernels / "bad.ptx").write_text(GOOD.replace("ret;", "rett;"))
    code, said = act(tmp_path)
    assert code == 1
    assert said.startswith("::error file=kernels/bad.ptx,line=7,col=5,endLine=7,endColumn=9,title=P212::")
    assert act(tmp_path, files="kernels/good.ptx") == (0, "")
    (kernels / "bad.ptx").write_text(GOOD.replace("ret;", ".reg .b32 %r;\n    ret;"))
    code, said = act(tmp_path, files="kernels/good.ptx kernels/bad.ptx")
    assert (code, said.startswith("::warning file=kernels/bad.ptx,line=7")) == (0, True)
    assert act(tmp_path, options="--deny warnings --select P2")[0] == 1
    assert act(tmp_path, options="--ignore P203") == (0, "")


def test_the_style_is_checked_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(GOOD.replace("    ret;", "ret;"))
    assert act(tmp_path)[0] == 0
    code, said = act(tmp_path, format="true")
    assert code == 1
    assert "+    ret;" in said


def test_it_is_installed_from_its_own_files_alone() -> None:
    """A runner gives the folder of the action: nothing else is fetched than what pip needs."""
    install = ACTION["runs"]["steps"][0]["run"]
    assert '"$GITHUB_ACTION_PATH"' in install
    assert not re.search(r"curl|wget|git |https?:", (ROOT / "action.yml").read_text())
    assert all("uses" not in step for step in ACTION["runs"]["steps"])
