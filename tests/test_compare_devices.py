"""The comparison of devices: its statements are sound, and it finds what differs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from assembler import log_of

from ptxkit import targets
from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import capabilities, driver_version
from ptxkit.running.devices import open_device

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare import judge
from compare.approximate import is_approximate
from compare.atomics import atomics
from compare.cases import cases
from compare.execute import Bench, Setting
from compare.kernels import program
from compare.pool import Job, run

TARGET = targets.TARGETS["sm_90a"]
VERSION = (8, 7)
SETTING = Setting(TARGET, VERSION, gpu=False)
A_HANDFUL = (
    r"^(add\.rn\.ftz\.f32|addc\.cc\.u64|mul\.hi\.s64|prmt\.b32\.b4e|lop3\.or\.b32|cvt\.rna\.tf32\.f32|"
    r"cvt\.rn\.satfinite\.e4m3x2\.f32|cvt\.rzi\.s8\.bf16|cvt\.rn\.bf16\.u8|"
    r"setp\.leu\.xor\.f16x2|fma\.rn\.oob\.bf16x2|vadd4\.s32\.u32\.s32\.sat|"
    r"shfl\.sync\.idx\.b32|match\.all\.sync\.b64|redux\.sync\.min\.s32|sin\.approx\.f32|mov\.b128|"
    r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f16\.f16\.f16\.f16|mma\.sp\.sync\.aligned\.m16n8k32.*u8\.s8\.s32)$"
)


def some(pattern: str = A_HANDFUL):
    return cases(TARGET, VERSION, pattern)


@pytest.mark.long
def test_every_row_of_the_target_has_statements() -> None:
    rows = {case.row for case in cases(TARGET, VERSION)}
    assert len(rows) > 280
    for opcode in ("add", "fma", "cvt", "setp", "prmt", "shfl", "redux", "mma", "movmatrix", "vset4", "dp4a"):
        assert any(row.startswith(opcode) for row in rows), opcode


def test_statements_assemble_and_are_emulated() -> None:
    chosen = some()
    assert len({case.spelling for case in chosen}) == 20
    text = program(chosen, 128, TARGET, VERSION, 0).text
    errors, _ = log_of(text)
    assert errors == "", errors
    for case, outcome in zip(chosen, Bench(SETTING).run(chosen, 128), strict=True):
        assert outcome.state == "compared", (case.text, outcome.reason)
        assert not outcome.wrong, (case.text, outcome.examples)
        assert is_approximate(case) or outcome.instances == (4 if case.of_warp else 128)


ATOMICS = r"^(atom|red)[a-z_.]*\.(add\.f32|inc\.u32|cas\.b64|max\.s64|add\.noftz\.bf16x2|add\.v2\.f32)$"


def test_atomics_assemble_and_are_emulated() -> None:
    """The place of each thread holds the operand's sum, or what else comes out."""
    chosen = atomics(TARGET, (8, 7), ATOMICS)
    assert {case.opcode for case in chosen} == {"atom", "red"}
    assert any(".shared." in case.text for case in chosen)
    errors, _ = log_of(program(chosen, 128, TARGET, VERSION, 0).text)
    assert errors == "", errors
    bench = Bench(SETTING)
    for case, outcome in zip(chosen, bench.run(chosen, 128), strict=True):
        assert (outcome.state, outcome.wrong, outcome.instances) == ("compared", 0, 128), (case, outcome)
    (case,) = (
        case
        for case in chosen
        if case.spelling.startswith("red") and case.spelling.endswith("global.inc.u32")
    )
    made = program([case], 256, TARGET, VERSION, 1)
    (results,) = bench.execute(made)
    old, most = (made.kernels[0].values[row].astype(np.uint64) for row in (0, 1))
    assert np.array_equal(results["k0"][0], np.where(old >= most, 0, old + 1))


def as_type(bits: np.ndarray, type_: object) -> np.ndarray:
    made = np.dtype(type_)
    return bits.astype(f"u{made.itemsize}").view(made)


REFERENCES = {
    "add.rn.f32": (np.float32, np.float32, np.add),
    "mul.rn.f64": (np.float64, np.float64, np.multiply),
    "sqrt.rn.f32": (np.float32, np.float32, np.sqrt),
    "mul.lo.u64": (np.uint64, np.uint64, np.multiply),
    "min.s16": (np.int16, np.int16, np.minimum),
    "cvt.rn.f16.f32": (np.float32, np.float16, lambda a: a.astype(np.float16)),
    "cvt.rn.bf16.f32": (np.float32, ml_dtypes.bfloat16, lambda a: a.astype(ml_dtypes.bfloat16)),
    "cvt.rn.f64.s64": (np.int64, np.float64, lambda a: a.astype(np.float64)),
}


@pytest.mark.parametrize("spelling", REFERENCES)
def test_results_agree_with_numpy(spelling: str) -> None:
    """The tool hands values in and results out as they are."""
    case = some(f"^{re.escape(spelling)}$")[0]
    made = program([case], 1024, TARGET, VERSION, 5)
    (results,) = Bench(SETTING).execute(made)
    taken, given, function = REFERENCES[spelling]
    with np.errstate(all="ignore"):
        expected = function(*(as_type(row, taken) for row in made.kernels[0].values))
    got = as_type(results["k0"][0], given)
    if np.dtype(given).kind != "u":
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(got, expected)
    assert len(np.unique(made.kernels[0].values[0])) > 200


class Spoilt:
    """A device on which one statement of a kernel goes wrong."""

    kind = "cuda"

    def __init__(self, text: str, instead: str) -> None:
        self.device = open_device("emu", arch=str(TARGET))
        self.text, self.instead = text, instead
        self.array = self.device.array

    def load(self, module):
        assert self.text in module.source.text
        return self.device.load(module.source.text.replace(self.text, self.instead))


def test_what_differs_is_found_where_it_is() -> None:
    chosen = some(r"^(add|sub)\.(s32|u16|rn\.f64)$")
    bench = Bench(SETTING)
    bench.gpu = Spoilt("sub.s32 %o0", "add.s32 %o0")
    for case, outcome in zip(chosen, bench.run(chosen, 128), strict=True):
        assert outcome.state == "compared"
        assert bool(outcome.wrong) == (case.spelling == "sub.s32"), case.text
        assert all(example["emulator"] != example["gpu"] for example in outcome.examples)


def test_of_two_nans_the_other_operands_is_counted_apart() -> None:
    """ptxas swaps operands of f64; any other difference in a NaN is one."""
    (sum_, *_), (single, *_) = some(r"^add\.rn\.f64$"), some(r"^add\.rn\.f32$")
    a, b = np.array([0x7FF0000000000123], np.uint64), np.array([0xFFF8000000000456], np.uint64)
    found = judge.compare(sum_, [a, b], [b], [a | judge.QUIET])
    assert not found.wrong.any()
    assert found.swapped == 1
    assert judge.compare(sum_, [a, b], [b], [a]).wrong.all()
    assert judge.compare(sum_, [a, b], [b], [np.array([0x7FF8000000000000], np.uint64)]).wrong.all()
    assert judge.compare(sum_, [a, b], [b], [np.array([0x3FF0000000000000], np.uint64)]).wrong.all()
    one, other = np.array([0x7FC00000], np.uint64), np.array([0x7FFFFFFF], np.uint64)
    assert judge.compare(single, [one, other], [one], [other]).wrong.all()


@pytest.mark.parametrize(
    ("spelling", "argument", "result", "good"),
    [
        ("ex2.approx.f32", 0x3F800000, 0x40000002, True),
        ("ex2.approx.f32", 0x3F800000, 0x40000003, False),
        ("lg2.approx.f32", 0x3F800000, 0x34000000, True),
        ("lg2.approx.f32", 0x3F800000, 0x34900000, False),
        ("rcp.approx.f32", 0x80000000, 0xFF800000, True),
        ("rcp.approx.f32", 0x80000000, 0x7F800000, False),
        ("rsqrt.approx.ftz.f32", 0x00000001, 0x7F800000, True),
        ("sin.approx.f32", 0x7F800000, 0x00000000, False),
    ],
)
def test_documented_errors(spelling: str, argument: int, result: int, good: bool) -> None:
    case = some(f"^{re.escape(spelling)}$")[0]
    found = judge.compare(case, [np.array([argument], np.uint64)], [np.array([result], np.uint64)], None)
    assert found.compared == 1
    assert bool(found.wrong[0]) != good


def test_a_job_that_takes_too_long_is_done_again_in_halves() -> None:
    chosen = some(r"^popc\.b")
    outcomes = []
    run(SETTING, [Job(chosen, 128)], 2, 0.0, lambda job, made: outcomes.extend(made))
    assert [outcome.state for outcome in outcomes] == ["fault", "fault"]
    assert "longer than 0 s" in outcomes[0].reason


def test_without_the_gpu_nothing_is_tried() -> None:
    impossible = Setting(TARGET, VERSION, gpu=True, ordinal=99)
    with pytest.raises(PtxkitError, match=r"P70[12]"):
        run(impossible, [Job(some(r"^popc\.b"), 128)], 2, 60.0, lambda job, made: None)


@pytest.mark.gpu
def test_a_gpu_gives_the_same_bits() -> None:
    """Of a handful; `tools/compare_devices.py` does all of them."""
    capability = capabilities()[0]
    target = targets.for_capability(capability, "a") or targets.for_capability(capability)
    assert target is not None
    version = min(targets.newest_version_for_cuda(driver_version()), targets.NEWEST_VERSION)
    chosen = cases(target, version, A_HANDFUL) + atomics(target, version, ATOMICS)
    bench = Bench(Setting(target, version, gpu=True))
    outcomes = bench.run(chosen, 256)
    assert len(outcomes) > 100
    for outcome in outcomes:
        assert (outcome.state, outcome.wrong) == ("compared", 0), (outcome.reason, outcome.examples)
