"""Descriptors against CUTLASS's headers, JAX's builders and Triton's output, where pip can install them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools" / "compare_descriptors.py"


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("only", ["jax", "triton", "cutlass"])
def test_descriptors_equal_those_of_independent_packers(only):
    if only == "cutlass" and not any(map(shutil.which, ("g++", "clang++", "c++"))):
        pytest.skip("CUTLASS's headers need a C++ compiler, and none is on PATH")
    command = [
        sys.executable,
        str(TOOL),
        "--install",
        str(ROOT / "build" / "oracles"),
        "--json",
        "--only",
        only,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1400)
    if "subprocess.CalledProcessError" in done.stderr and "pip" in done.stderr:
        pytest.skip("the packages can't be installed here")
    assert done.stdout, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    if report["unavailable"]:
        pytest.skip(report["unavailable"])
    assert report["differences"] == []
    least = {"jax": (500, 500), "cutlass": (500, 130), "triton": (50, 100)}[only]
    assert report["idesc"] >= least[0]
    assert report["smem"] >= least[1]
