"""The tool that runs ZLUDA's tests: how it reads their declarations, what it says of right and wrong ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.zluda_tests import TESTS, array, cases, main

RECORD = Path(__file__).parents[1] / "bench" / "results" / "zluda.json"


@pytest.mark.parametrize(
    ("text", "dtype", "values"),
    [
        ("1u64, 0xFF, 0b1_0", "u8", [1, 255, 2]),
        ("-1i16", "i2", [-1]),
        ("1, 0x1b", "i4", [1, 27]),
        ("0x8e2da590u32, 16", "u4", [0x8E2DA590, 16]),
        ("u64::max_value(), 1", "u8", [2**64 - 1, 1]),
        ("i32::MIN, -1, i32::MAX", "i4", [-(2**31), -1, 2**31 - 1]),
        ("1.5, 2f32, f32::from_bits(0x33800000), f32::NEG_INFINITY", "f4", [1.5, 2, 2.0**-24, -np.inf]),
        ("std::f32::consts::PI / 2f32", "f4", [np.float32(np.pi) / 2]),
        ("half::f16::from_f64(123.0), half::f16::from_bits(0x3c00)", "f2", [123, 1]),
        ("0u16, half::f16::NAN.to_bits()", "u2", [0, 0x7E00]),
        ("0.25, 1.0", "f8", [0.25, 1]),
        ("0b0000_0011u8,", "u1", [3]),
    ],
)
def test_arrays(text: str, dtype: str, values: list[float]) -> None:
    found = array(text)
    assert found.dtype == np.dtype(dtype)
    assert found.tolist() == values


KERNEL = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry {name}({parameters})
{{
    .reg .u32 x, y;
    .reg .u64 to, from;
{body}
    ret;
}}
"""
DOUBLE = """
    ld.param.u64 from, [i];
    ld.param.u64 to, [o];
    ld.global.u32 x, [from];
    add.u32 x, x, x;
    st.global.u32 [to], x;
"""
NUMBER = """
    ld.param.u64 to, [o];
    mov.u32 x, %tid.x;
    mad.wide.u32 to, x, 4, to;
    st.global.u32 [to], x;
"""
DECLARED = """
test_ptx!(twice, [21u32], [42u32]);
// test_ptx!(never, [21u32], [42u32]);
test_ptx!(no_answer);
test_ptx!(
    thrice,
    [21u32],
    [63u32]
);
test_ptx!(nonsense, [1u32], [1u32]);
test_ptx_warp!(number, [
    0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
    28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
    54, 55, 56, 57, 58, 59, 60, 61, 62, 63
]);
test_ptx_warp!(beyond, [0u32, 1, 2]);
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / TESTS
    folder.mkdir(parents=True)
    (folder / "mod.rs").write_text(DECLARED)
    both, one = ".param .u64 i, .param .u64 o", ".param .u64 o"
    for name, parameters, body in (
        ("twice", both, DOUBLE),
        ("thrice", both, DOUBLE),
        ("nonsense", both, "    add.u33 x, x, x;\n"),
        ("number", one, NUMBER),
        ("beyond", one, NUMBER),
    ):
        (folder / f"{name}.ptx").write_text(KERNEL.format(name=name, parameters=parameters, body=body))
    return tmp_path


def test_what_it_finds(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert [case.name for case in cases(checkout)] == ["twice", "thrice", "nonsense", "number", "beyond"]
    out = checkout / "record.json"
    monkeypatch.setattr(sys, "argv", ["zluda_tests", str(checkout), "--out", str(out)])
    assert main() == 1
    record = json.loads(out.read_text())
    assert record["counts"] == {"right": 2, "wrong": 1, "refused": 1, "P602": 1}
    assert {each["test"]: each["outcome"] for each in record["not_right"]} == {
        "thrice": "wrong",
        "nonsense": "refused",
        "beyond": "P602",
    }
    assert "expected [63], found [42]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["zluda_tests", str(checkout), "--only", "twice|number"])
    assert main() == 0


def test_what_is_recorded() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert record["counts"]["right"] >= 177
    assert sum(record["counts"].values()) == 182
    assert all(each["outcome"] in ("refused", "P602") for each in record["not_right"])
    assert all(each["ptxas"] != "accepts" for each in record["not_right"] if each["outcome"] == "refused")
