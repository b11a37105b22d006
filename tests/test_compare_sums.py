"""The comparison of sums that seldom occur, run without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit import open_device, parse, targets
from ptxkit.emulator.tensor_cores import MODELS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare import sums
from compare.aims import AIMS, LAYOUTS, Types, codes, matrices
from compare.execute import run_on
from compare.kernels import program

TOOL = Path(__file__).resolve().parents[1] / "tools" / "compare_sums.py"
TARGET, VERSION = targets.TARGETS["sm_90a"], (8, 7)
NARROW = r"m16n8k8\.row\.col\.f16\."


class Here:
    """A pool of one process, this one."""

    def apply_async(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        made = function(*arguments)
        return type("Job", (), {"get": lambda self: made})()


class Spoilt:
    """A device that takes the accumulators of one statement in another order."""

    kind = "cuda"

    def __init__(self) -> None:
        self.device = open_device("emu", arch=str(TARGET))
        self.array = self.device.array

    def load(self, module: Any) -> Any:
        assert "{%i3, %i4};" in module.source.text
        return self.device.load(module.source.text.replace("{%i3, %i4};", "{%i4, %i3};"))


def compared(device: Any) -> sums.Tally:
    chosen = sums.products(TARGET, VERSION, NARROW)
    ((_, found),) = sums.compare_products(device, Here(), chosen, 24, TARGET, VERSION, 1)
    return found


def test_what_differs_is_found() -> None:
    good, bad = compared(open_device("emu", arch=str(TARGET))), compared(Spoilt())
    assert good.sums == bad.sums == 24 * 16 * 8
    assert good.different == 0
    assert bad.different == sum(bad.by_aim.values()) > 100
    assert set(bad.by_aim) <= {aim.name for aim in AIMS}
    assert bad.examples[0]["emulator"] != bad.examples[0]["gpu"]


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize(
    ("form", "element", "parameter"),
    [
        (NARROW, "f16", "zero_f16"),
        (NARROW, "f16", "fraction"),
        (r"m16n8k16\..*bf16", "bf16", "zero"),
        (r"m16n8k16\..*bf16", "bf16", "fraction"),
    ],
)
def test_a_model_that_is_off_by_one_is_noticed(
    monkeypatch: pytest.MonkeyPatch, form: str, element: str, parameter: str, change: int
) -> None:
    (case, *_) = sums.products(TARGET, VERSION, form)
    made = program([case], 32 * 800, TARGET, VERSION, 1, sums.inputs)
    device = open_device("emu", arch=str(TARGET))
    found = run_on(device, parse(made.text), made)["k0"]
    model = MODELS["hopper", "mma", element]
    other = replace(model, **{parameter: getattr(model, parameter) + change})
    monkeypatch.setitem(MODELS, ("hopper", "mma", element), other)
    device = open_device("emu", arch=str(TARGET))
    assert (run_on(device, parse(made.text), made)["k0"] != found).any()


def test_every_spelling_takes_part() -> None:
    spellings = {case.spelling for case in sums.products(TARGET, VERSION)}
    assert len(spellings) > 70
    assert {spelling.rsplit(".", 1)[1] for spelling in spellings} == {"f16", "f32", "f64"}
    assert any(".sp::ordered_metadata." in spelling for spelling in spellings)


def test_the_aims_are_met() -> None:
    """What an aim names occurs often."""
    (case,) = sums.products(TARGET, VERSION, NARROW)
    made = program([case], 32 * len(AIMS) * 4, TARGET, VERSION, 1, sums.inputs)
    words = run_on(open_device("emu", arch=str(TARGET)), made.text, made)["k0"]
    results = np.ascontiguousarray(words.T.astype(np.uint32)).view(np.uint16).reshape(4, len(AIMS), -1)
    share = {
        aim.name: {
            kind: count / results[:, number].size
            for kind, count in sums.outcomes(results[:, number], "f16").items()
        }
        for number, aim in enumerate(AIMS)
    }
    assert share["zeros"]["+0"] > 0.8
    assert share["a lone product about the least number"]["+0"] > 0.3
    assert share["powers of two about the least"]["subnormal"] > 0.3
    assert share["sums about the least number"]["subnormal"] > 0.5
    assert share["cancellation"]["+0"] > 0.004
    assert share["sums about the greatest number"]["infinity"] > 0.1
    assert share["infinities and NaN"]["NaN"] > 0.05
    assert share["any bits"]["NaN"] > 0.3
    assert share["halves and crumbs"]["+0"] > 0.1
    assert all(each["-0"] == 0 for each in share.values())


@pytest.mark.parametrize("name", LAYOUTS)
def test_codes_have_what_their_draw_says(name: str) -> None:
    random = np.random.default_rng(1)
    exponent_bits, fraction_bits = LAYOUTS[name]
    result = name if name in ("f16", "f32", "f64") else "f32"
    for aim in AIMS:
        drawn = codes(name, "a", result, aim.a, (2000,), random)
        assert drawn.max() < 2 << exponent_bits + fraction_bits
        magnitude = drawn & np.uint64((1 << exponent_bits + fraction_bits) - 1)
        zeros = (magnitude == 0).mean()
        assert aim.a.zeros - 0.05 < zeros, aim.name
        assert 0.4 < (drawn == magnitude).mean() < 0.6
        if aim.a.about == "one" and not aim.a.odd and aim.a.zeros < 1:
            field = magnitude[magnitude != 0] >> np.uint64(fraction_bits)
            bias = (1 << exponent_bits - 1) - 1
            assert max(bias + aim.a.low, 0) <= field.min() <= field.max() <= bias + aim.a.high, aim.name


@pytest.mark.parametrize("stored", [16, 8])
def test_halves_and_crumbs(stored: int) -> None:
    """Every sum of such a tile has a product of half a unit, and others that are far less."""
    (aim,) = (number for number, each in enumerate(AIMS) if each.crumbs)
    types = Types("f16", "f16", "f16", "f16")
    made = matrices(types, (16, 8, 16), stored, np.full(50, aim), np.random.default_rng(3))
    a, b, c = (m.astype(np.uint16).view(np.float16).astype(np.float64) for m in (made.a, made.b, made.c))
    if stored == 8:
        # Of four elements of B the first is taken; the others are the same.
        assert (b.reshape(50, 4, 4, 8) == b.reshape(50, 4, 4, 8)[:, :, :1]).all()
        a, b = a[:, :, ::2], b[:, ::4]
    products = np.abs(a[:, :, :, None] * b[:, None])
    largest = products.max(axis=2)
    assert (np.frexp(largest)[0] == 0.5).all()
    assert np.isin((products > 0).sum(axis=2), (2, 3)).all()
    unit = 2.0 ** (np.where(c == 0, -14, np.maximum(np.frexp(c)[1] - 1, -14)) - 10)
    assert (largest == unit / 2).all()
    least = np.where(products > 0, products, np.inf).min(axis=2) / unit
    assert least.min() < 2.0**-24 < 2.0**-10 < least.max()


def test_outcomes() -> None:
    bits = np.array([0, 0x8000, 1, 0x83FF, 0x0400, 0xFBFF, 0x7C00, 0xFC01], np.uint16)
    found = {"+0": 1, "-0": 1, "subnormal": 2, "number": 2, "infinity": 1, "NaN": 1}
    assert sums.outcomes(bits, "f16") == found


@pytest.mark.long
def test_a_dry_run_is_written(tmp_path: Path) -> None:
    out = tmp_path / "sums.json"
    arguments = ["--only", "emu", "--warps", "12", "--tiles", "12", "--processes", "1", "--output", str(out)]
    arguments += ["--forms", r"(m16n8k8|m64n8k16)\..*f16\.f16"]
    done = subprocess.run(
        [sys.executable, str(TOOL), *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["gpu"] is None
    assert found["sums"] == sum(form["sums"] for form in found["forms"]) == sum(found["outcomes"].values())
    assert {form["spelling"].partition(".")[0] for form in found["forms"]} == {"mma", "wgmma"}
