"""Tensor maps against the CUDA driver's own encoder, on a GPU."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "probe_tensor_maps.py"


@pytest.fixture(scope="module")
def probe():
    spec = importlib.util.spec_from_file_location("probe_tensor_maps", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.gpu
def test_the_driver_encodes_the_same_bytes_and_refuses_the_same_maps(probe):
    driver = probe.Driver()
    report = probe.compare(driver, legal=2000, illegal=1000, seed=11)
    wrong = [entry for entry in report["disagreements"] if entry["section"] != "edge"]
    assert wrong == []
    assert report["legal"] == {"equal": 2000}
    assert report["illegal"] == {"both refuse": 1000}


@pytest.mark.parametrize("major", [90, 100])
def test_the_generators_make_what_they_say(probe, major):
    """Without a GPU: every legal map is taken and every broken one refused, by ptxkit's rules."""
    import random

    draw = random.Random(major)
    for _ in range(300):
        assert probe.ours(probe.legal_map(draw, major), f"sm_{major}a")[1] == ""
        what, fields = probe.broken_map(draw, major)
        assert probe.ours(fields, f"sm_{major}a")[0] is None, what
