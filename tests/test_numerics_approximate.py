"""The `.approx` instructions: special values by the manual's tables, errors within the documented bounds."""

from __future__ import annotations

import math
import random

import ieee
import numpy as np
import pytest
from ieee import F32, F64
from pure_operations import run

INFINITY, NAN, ONE, MINUS = 0x7F800000, 0x7FFFFFFF, 0x3F800000, 0x80000000

SPECIAL = {
    # Results for -inf, -normal, -subnormal, -0, +0, +subnormal, +inf, NaN; None: no special value.
    "rcp.approx.f32": (MINUS, None, None, MINUS | INFINITY, INFINITY, None, 0, NAN),
    "rcp.approx.ftz.f32": (MINUS, None, MINUS | INFINITY, MINUS | INFINITY, INFINITY, INFINITY, 0, NAN),
    "sqrt.approx.f32": (NAN, NAN, NAN, MINUS, 0, None, INFINITY, NAN),
    "sqrt.approx.ftz.f32": (NAN, NAN, MINUS, MINUS, 0, 0, INFINITY, NAN),
    "rsqrt.approx.f32": (NAN, NAN, NAN, MINUS | INFINITY, INFINITY, None, 0, NAN),
    "rsqrt.approx.ftz.f32": (NAN, NAN, MINUS | INFINITY, MINUS | INFINITY, INFINITY, INFINITY, 0, NAN),
    "sin.approx.f32": (NAN, None, None, MINUS, 0, None, NAN, NAN),
    "cos.approx.ftz.f32": (NAN, None, ONE, ONE, ONE, ONE, NAN, NAN),
    "lg2.approx.f32": (NAN, NAN, NAN, MINUS | INFINITY, MINUS | INFINITY, None, INFINITY, NAN),
    "lg2.approx.ftz.f32": (NAN, NAN, MINUS | INFINITY, MINUS | INFINITY, MINUS | INFINITY, MINUS | INFINITY,
    INFINITY, NAN), "ex2.approx.f32": (0, None, ONE, ONE, ONE, ONE, INFINITY, NAN), "ex2.approx.ftz.f32":
    (0, None, ONE, ONE, ONE, ONE, INFINITY, NAN), "tanh.approx.f32": (MINUS | ONE, None, None, MINUS, 0,
    None, ONE, NAN),
}  # fmt: skip
OPERANDS = [
    MINUS | INFINITY,
    MINUS | 0x40490FDB,
    MINUS | 0x00012345,
    MINUS,
    0,
    0x00012345,
    INFINITY,
    0x7FC01234,
]


@pytest.mark.parametrize("text", SPECIAL)
def test_special_values(text: str) -> None:
    for got, want in zip(run(text, OPERANDS), SPECIAL[text], strict=True):
        assert want is None or got == want, f"{got:08x}"


def ulp(x: float) -> float:
    return 2.0 ** (max(math.frexp(x)[1] - 1, -126) - 23)


CASES = {
    # The function, the operands' range, and the error allowed at (operand, exact result).
    "rcp.approx.f32": (lambda x: 1 / x, (2.0**-126, 2.0**126), lambda x, y: ulp(y)),
    "sqrt.approx.f32": (math.sqrt, (2.0**-149, 2.0**127), lambda x, y: 2**-23 * y),
    "rsqrt.approx.f32": (lambda x: 1 / math.sqrt(x), (2.0**-149, 2.0**127), lambda x, y: 2**-22.9 * y),
    "ex2.approx.f32": (lambda x: 2.0**x, (2.0**-20, 127.0), lambda x, y: 2 * ulp(y)),
    "lg2.approx.f32": (
        math.log2,
        (2.0**-149, 2.0**127),
        lambda x, y: 2**-22 * (1 if 0.5 < x < 2 else abs(y)),
    ),
    "sin.approx.f32": (math.sin, (2.0**-100, 2 * math.pi), lambda x, y: 2**-20.5),
    "cos.approx.f32": (math.cos, (2.0**-100, 2 * math.pi), lambda x, y: 2**-20.5),
    "tanh.approx.f32": (math.tanh, (2.0**-149, 100.0), lambda x, y: 2**-11 * abs(y)),
}


@pytest.mark.parametrize("text", CASES)
def test_errors_stay_within_the_bounds(text: str) -> None:
    function, (low, high), allowed = CASES[text]
    source = random.Random(2)
    operands = [math.exp(source.uniform(math.log(low), math.log(high))) for _ in range(2000)]
    operands += [source.uniform(0.5, 2.0) for _ in range(500)]
    values = np.array(operands, np.float32)
    if not text.startswith(("rcp", "sqrt", "rsqrt", "lg2")):
        values = np.concatenate([values, -values])
    values = values[values != 0]
    got = np.array(run(text, values.view(np.uint32).tolist()), np.uint32).view(np.float32)
    for x, y in zip(values.tolist(), got.tolist(), strict=True):
        exact = function(x)
        assert abs(y - exact) <= allowed(x, exact), (x, y, exact)


def test_subnormals_pass_through_tanh() -> None:
    codes = [1, 0x80000001, 0x007FFFFF, 0x00345678]
    assert run("tanh.approx.f32", codes) == codes


def test_large_angles_are_still_angles() -> None:
    values = np.array([1e3, -1e5, 1e30, 3.4e38], np.float32)
    for text, function in (("sin.approx.f32", math.sin), ("cos.approx.f32", math.cos)):
        got = np.array(run(text, values.view(np.uint32).tolist()), np.uint32).view(np.float32)
        np.testing.assert_allclose(got, [function(x) for x in values.tolist()], atol=1e-6)


def test_division() -> None:
    codes = ieee.specials(F32)
    lanes = [(a, b) for a in codes for b in codes] + list(
        zip(ieee.numbers(F32, 2000, 1), ieee.numbers(F32, 2000, 2), strict=True)
    )
    columns = list(zip(*lanes, strict=True))
    exact = [ieee.divide(F32, a, b, "rn") for a, b in lanes]
    assert run("div.full.f32", *columns) == exact
    for (a, b), got, want in zip(lanes, run("div.approx.f32", *columns), exact, strict=True):
        magnitude = b & 0x7FFFFFFF
        if 0x7E800000 < magnitude < INFINITY and not ieee.is_nan(F32, a):
            # A divisor beyond 2^126: a signed zero, or NaN for an infinity.
            want = NAN if ieee.is_infinite(F32, a) else (a ^ b) & MINUS
        assert got == want, (hex(a), hex(b), hex(got), hex(want))


F64_SPECIAL = {
    "rcp.approx.ftz.f64": (0x80000000, None, 0xFFF00000, 0xFFF00000, 0x7FF00000, 0x7FF00000, 0, 0x7FFFFFFF),
    "rsqrt.approx.ftz.f64": (
        0x7FFFFFFF,
        0x7FFFFFFF,
        0xFFF00000,
        0xFFF00000,
        0x7FF00000,
        0x7FF00000,
        0,
        0x7FFFFFFF,
    ),
}
F64_OPERANDS = [0xFFF00000, 0xC0090000, 0x80012345, 0x80000000, 0, 0x00012345, 0x7FF00000, 0x7FF81234]


@pytest.mark.parametrize("text", F64_SPECIAL)
def test_f64_approximations_use_high_words(text: str) -> None:
    got = run(text, [high << 32 | 0x89ABCDEF for high in F64_OPERANDS])
    # With its low word the first would be a NaN, and is an infinity: that word doesn't count.
    for word, high in zip(got, F64_SPECIAL[text], strict=True):
        assert word & 0xFFFFFFFF == 0
        assert high is None or word >> 32 == high, f"{word:016x}"
    codes = [code for code in ieee.numbers(F64, 2000, 3) if 0x00200000 <= code >> 32 < 0x7FC00000]
    results = np.array(run(text, codes), np.uint64).view(np.float64)
    operands = np.array([code >> 32 << 32 for code in codes], np.uint64).view(np.float64)
    with np.errstate(all="ignore"):
        exact = 1 / operands if text.startswith("rcp") else 1 / np.sqrt(operands)
    kept = np.abs(exact) >= 2.0**-1022
    np.testing.assert_allclose(results[kept], exact[kept], rtol=2.0**-19)
    assert (results[~kept] == 0).all()


def test_f64_reciprocal_square_root() -> None:
    values = np.array([1.0, 2.0, 4.0, 1e-310, 1e300, 0.0, -0.0, np.inf])
    got = np.array(run("rsqrt.approx.f64", values.view(np.uint64).tolist()), np.uint64).view(np.float64)
    np.testing.assert_allclose(got[:5], 1 / np.sqrt(values[:5]), rtol=1e-15)
    assert got[5:].tolist() == [math.inf, -math.inf, 0.0]
    assert all(
        ieee.is_nan(F64, code) for code in run("rsqrt.approx.f64", [0xBFF0000000000000, 0x7FF8000000000001])
    )
