"""CUDA C++ of our own as nvcc compiled it, on the emulator: what tests/battery/packed has of the battery.

The sources lie beside it. `python -m tools.battery` compiles them afresh for every target and level and
executes those.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxkit
from tools.battery import build
from tools.battery.examine import examine, in_random_order
from tools.battery.execute import Machine, Verdict, _different, distance, inputs_of, judge
from tools.battery.inputs import content, words
from tools.battery.pack import PACKED, packed
from tools.battery.source import SOURCES, Array, Source, read, sources

pytestmark = pytest.mark.long

PACKED_SOURCES = [source for source in sources() if source.packed]
ORDERED = ("atomics", "barriers", "groups", "memory", "warp")
"""Sources whose threads meet."""


def each(chosen: list[Source]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("source", chosen, ids=lambda source: source.name)


def wrong(source: Source, seeds: range) -> list[str]:
    """What is not right in lazy order, and in random order with some seeds."""
    module = ptxkit.parse(PACKED / f"{source.name}.ptx")
    wanted = packed(source)
    found = []
    machine, others = Machine(module), {seed: Machine(module, "random", seed) for seed in seeds}
    for kernel in source.kernels.values():
        right = wanted.get(kernel.name, [])
        lazily = judge(machine.launch(source, kernel), source, kernel, right)
        if lazily.verdict is not Verdict.RIGHT:
            found.append(f"{kernel.name}: {lazily.verdict.value}: {lazily.detail}")
        for seed, another in others.items():
            other = in_random_order(another, source, kernel, right, lazily)
            if other.verdict is not Verdict.RIGHT:
                found.append(f"{kernel.name}, seed {seed}: {other.verdict.value}: {other.detail}")
    return found


@each(PACKED_SOURCES)
def test_results_are_those_of_the_host(source: Source) -> None:
    assert wrong(source, range(0)) == []


@pytest.mark.slow
@each([source for source in PACKED_SOURCES if source.name in ORDERED])
def test_random_order_gives_the_same(source: Source) -> None:
    assert wrong(source, range(1, 3)) == []


@pytest.mark.slow
@each(PACKED_SOURCES)
def test_many_random_orders_give_the_same(source: Source) -> None:
    assert wrong(source, range(1, 21)) == []


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_a_source_compiled_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    (source,) = sources(("control",))
    ((_, entry),) = examine([source], ["75", "90a"], ["O3"], 2, workers=2)
    kernels = len(source.kernels)
    assert entry["wrong"] == []
    assert (entry["lazy order"], entry["random order"]) == ({"right": 2 * kernels}, {"right": 2 * kernels})


# ---- the tool's own parts


def test_inputs_are_the_same_everywhere() -> None:
    assert [hex(word) for word in words("a", 2)] == ["0x2c3debbc7335b4ee", "0xbe94118490833412"]
    edges = content(Array.read("4 f32 edges"), "a", 64)
    assert (edges.dtype, edges.shape) == (np.float32, (256,))
    assert {0.0, np.inf, -np.inf} <= set(edges.tolist())
    assert np.isnan(edges).any()
    spread = content(Array.read("2 f64 log 1e-3 6"), "a", 64)
    assert [value.hex() for value in spread[:2].tolist()] == ["0x1.2e1b0d6d9111cp-8", "0x1.4fccce43b2df8p-1"]
    assert 1e-3 <= np.abs(spread).min() <= np.abs(spread).max() <= 6
    below = content(Array.read("total 90 u8 range 0 7"), "a", 64)
    assert set(below.tolist()) == set(range(7))


def test_distances_are_counted_in_numbers_of_the_type() -> None:
    one = np.array([1, 1, 0, np.inf, np.nan, np.nan], np.float32)
    exact = np.array([1 + 2.0**-23, 1 - 2.0**-24, -0.0, 3.4028234663852886e38, np.nan, 1])
    assert distance(one, exact).tolist() == [1, 1, 0, 1, 0, np.inf]


def test_bits_must_be_equal_but_for_nan() -> None:
    words_ = np.array([0x7FC00000, 0x7F800001, 0, 0x80000000], np.uint32).view(np.float32)
    other = np.array([0x7FFFFFFF, 0x7F800000, 0x80000000, 0x80000000], np.uint32).view(np.float32)
    assert _different(words_, other, nan=True).tolist() == [False, True, True, False]
    assert _different(words_, other, nan=False).tolist() == [True, True, True, False]


def test_a_result_that_is_off_is_noticed() -> None:
    (source,) = sources(("integers",))
    kernel = source.kernels["divide_64"]
    outcome = Machine(ptxkit.parse(PACKED / "integers.ptx")).launch(source, kernel)
    right = packed(source)[kernel.name]
    assert judge(outcome, source, kernel, right).verdict is Verdict.RIGHT
    right[0] = right[0].copy()
    right[0][11] ^= np.uint64(1)
    found = judge(outcome, source, kernel, right)
    assert found.verdict is Verdict.WRONG
    assert "element 3 of thread 1" in found.detail


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("", "expected a frame"),
        ('// /// battery\n// about = ""\n// [kernels]\n// k = { in = ["f32"] }\n// ///\n', "expected `"),
        ('// /// battery\n// about = ""\n// [kernels]\n// k = { gird = 2 }\n// ///\n', "kernel `k`"),
    ],
)
def test_frames_that_are_wrong(tmp_path: Path, frame: str, message: str) -> None:
    path = tmp_path / "some.cu"
    path.write_text(frame)
    with pytest.raises(ValueError, match=message):
        read(path)


def test_an_internal_error_counts_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise IndexError("inside")

    (source,) = sources(("control",))
    kernel = source.kernels["collatz"]
    monkeypatch.setattr("ptxkit.emulator.execution.Execution.run", fail)
    found = judge(Machine(PACKED / "control.ptx").launch(source, kernel), source, kernel, [])
    assert found.verdict is Verdict.INTERNAL
    assert "IndexError: inside" in found.detail


def test_every_kernel_has_a_reference() -> None:
    for source in sources():
        text = "".join(path.read_text() for path in (source.path, *SOURCES.glob("*.cuh")))
        for kernel in source.kernels.values():
            assert kernel.name in text
            assert inputs_of(source, kernel)
