"""Tensor maps against the CUDA driver's own encoder, on a GPU; without one, what compares them."""

import importlib.util
import json
import random
from pathlib import Path

import pytest
import tensor_map_cases as cases

ROOT = Path(__file__).parents[1]
MODES = ("tile", "im2col")


@pytest.fixture(scope="module")
def probe():
    spec = importlib.util.spec_from_file_location(
        "probe_tensor_maps", ROOT / "tools" / "probe_tensor_maps.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_the_driver_encodes_the_same_bytes_and_refuses_the_same_maps(probe, mode):
    report = probe.compare(probe.Driver(), mode, legal=2000, illegal=1000, seed=11)
    assert report["disagreements"] == []
    assert report["legal"] == {"equal": 2000}
    assert report["illegal"] == {"both refuse": 1000}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [90, 100])
def test_the_generators_make_what_they_say(probe, mode, number):
    """Every legal map is taken and every broken one refused, by ptxkit's rules."""
    draw = random.Random(number)
    for _ in range(300):
        assert probe.ours(cases.LEGAL[mode](draw, number), f"sm_{number}a")[1] == ""
        what, fields = cases.broken_map(draw, number, mode)
        assert probe.ours(fields, f"sm_{number}a")[0] is None, what


class ContraryDriver:
    """Refuses a swizzle, makes what ptxkit refuses, and turns a bit of every map with NaN fill."""

    number = 90

    def __init__(self, ours):
        self.ours = ours

    def encode(self, mode, fields):
        made, _ = self.ours(fields, "sm_90a")
        if made is None:
            return bytes(128)
        if fields["swizzle"] == "64B":
            return None
        return bytes([made[0] ^ 1, *made[1:]]) if fields["oob_fill"] == "nan" else made


@pytest.mark.parametrize("mode", MODES)
def test_every_disagreement_is_reported(probe, mode):
    report = probe.compare(ContraryDriver(probe.ours), mode, legal=200, illegal=50, seed=1)
    assert set(report["legal"]) == {"equal", "the driver refuses", "other bytes"}
    assert report["illegal"] == {"ptxkit refuses": 50}
    counted = [report["legal"], report["illegal"], *report["edges"].values()]
    differing = sum(n for counts in counted for answer, n in counts.items() if answer not in ("equal",))
    sections = [entry["section"] for entry in report["disagreements"] if entry["what"] != "largest box"]
    assert len(sections) == differing
    assert json.dumps(report)


def test_boxes_near_the_limit_have_the_size_that_they_say():
    from tensor_map_cases import SHARED_LIMIT

    from ptxkit.descriptors import TensorMap

    for mode in MODES:
        sizes = dict(cases.boxes_near_the_limit(mode))
        assert SHARED_LIMIT in sizes
        assert max(sizes) > SHARED_LIMIT
        for size, fields in sizes.items():
            if size <= SHARED_LIMIT:
                assert TensorMap(**fields).counted_bytes == size
