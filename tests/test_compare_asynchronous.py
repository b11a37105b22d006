"""The comparison of the asynchronous machine with a GPU, run without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

TOOL = Path(__file__).resolve().parents[1] / "tools" / "compare_asynchronous.py"


def test_a_dry_run_agrees_and_is_recorded(tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    arguments = ["--only", "emu", "--runs", "1", "--programs", "1", "--copies", "9", "--tiles", "50"]
    arguments += ["--processes", "1", "--output", str(out)]
    done = subprocess.run(
        [sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["copies"]["compared"] == sum(found["copies"]["by type"].values()) == 9
    assert found["tiles"]["compared"] == sum(found["tiles"]["by types"].values()) == 50
    assert found["gpu"] == "formulas"
    machine = found["kernels"]
    assert "cores" in found["machine"]
    assert machine["compared"] == sum(entry["launches"] for entry in machine["kernels"].values())
    assert len(machine["kernels"]) >= 26
    forms = {form["form"].split()[0]: form["instances"] for form in found["forms"]}
    assert sum(count for name, count in forms.items() if name.startswith("wgmma.mma_async")) >= 50
    assert sum(count for name, count in forms.items() if ".tensor." in name) == 9
    assert not any(form["mismatches"] for form in found["forms"])
