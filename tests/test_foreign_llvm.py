"""Random functions by LLVM's NVPTX back end on the emulator, against the same compiled for this machine."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")
if sys.platform != "linux":
    pytest.skip("LLVM's code for this machine is asked on Linux alone", allow_module_level=True)

from tools.foreign import llvm as foreign
from tools.foreign.functions import INPUTS, SLOT, function


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "jit"])
@pytest.mark.parametrize("seed", range(6))
def test_they_compute_the_same(seed: int, compiled: bool) -> None:
    """At another target and level each."""
    targets = tuple(foreign.TARGETS)
    target, level = targets[seed % len(targets)], foreign.LEVELS[(seed // 3 + seed) % len(foreign.LEVELS)]
    outcome = foreign.examine(seed, target, level, 40, jit=compiled)
    assert outcome.what == "same", outcome
    assert outcome.instructions > 100


def test_random_order_computes_the_same() -> None:
    outcome = foreign.examine(11, "sm_90", 2, 40, order="random")
    assert outcome.what == "same", outcome


def test_a_function_is_what_its_seed_says() -> None:
    assert function(5) == function(5)
    assert function(5) != function(6)


def test_all_sorts_of_statements_occur() -> None:
    text = "".join(function(seed)[0] for seed in range(30))
    for word in (
        "phi",
        "switch",
        "udiv i128",
        "fshl",
        "fma",
        "sat.i64",
        "shufflevector",
        "@recursive",
        "ptr @second",
    ):
        assert word in text, word


@pytest.mark.parametrize(
    ("pattern", "changed"),
    [
        (r"sub\.s32", "add.s32"),
        (r"mad\.lo\.s(32|64)", r"mad.hi.s\1"),
        (r"shr\.u32", "shr.s32"),
        (r"fma\.rn", "fma.rz"),
    ],
)
def test_a_changed_instruction_is_noticed(
    monkeypatch: pytest.MonkeyPatch, pattern: str, changed: str
) -> None:
    """One of the first dozen functions is no longer the same."""
    plain = foreign.ptx

    def other(*arguments: object) -> str:
        return re.sub(pattern, changed, plain(*arguments))

    monkeypatch.setattr(foreign, "ptx", other)
    outcomes = (foreign.examine(seed, "sm_90", 2, 60) for seed in range(12))
    assert any(outcome.what == "differs" for outcome in outcomes)


def test_nan_is_nan_and_all_else_is_compared() -> None:
    values = np.zeros((foreign.LANES, 2, SLOT), np.uint8)
    other = values.copy()
    values[0, 0, :4] = np.frombuffer(np.float32("nan").tobytes(), np.uint8)
    other[0, 0, :4] = np.frombuffer(np.uint32(0xFFC12345).tobytes(), np.uint8)
    both = [foreign.canonical(side, ("float", "i32")) for side in (values, other)]
    assert np.array_equal(*both)
    both = [foreign.canonical(side, ("i32", "float")) for side in (values, other)]
    assert not np.array_equal(*both)
    assert len(foreign.inputs_of(1)[0]) == len(INPUTS)
