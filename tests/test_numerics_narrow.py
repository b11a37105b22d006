"""Conversions to and from narrow formats, scaled and not, against exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product

import ieee
import narrow_formats as narrow
import pytest
from ieee import BF16, F16, F32
from narrow_formats import INFINITE, NAN, Number
from pure_operations import propagate, run

SMALL = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
HALVES = {"f16": F16, "bf16": BF16}
FIELD = {name: 4 if name == "e2m1" else 8 for name in (*SMALL, "ue5m3")}
SCALES = [0, 1, 100, 127, 130, 254, 255]


def number(form: ieee.Form, code: int) -> Number:
    """What a code of 16 or 32 bits stands for."""
    sign = int(bool(code & form.sign))
    if ieee.is_nan(form, code):
        return Number(NAN, 0)
    return Number(INFINITE if ieee.is_infinite(form, code) else ieee.number(form, code), sign)


def scaled(x: Number, code: int, divide: bool) -> Number:
    """A number times a ue8m0 scale factor, or divided by it; 0xff is NaN."""
    scale = narrow.numbers("ue8m0")[code]
    if isinstance(scale.value, str) or x.value == NAN:
        return Number(NAN, 0)
    if x.value == INFINITE:
        return x
    assert isinstance(x.value, Fraction)
    return Number(x.value / scale.value if divide else x.value * scale.value, x.sign)


def small(name: str, x: Number, mode: str, modifiers: str = ".satfinite") -> int:
    """The code of a number in a narrow format, as the manual has it."""
    satfinite, relu, pzo = (each in modifiers for each in (".satfinite", ".relu", ".pzo"))
    signed = name != "ue5m3"
    largest = len(narrow.grid(name)) - 1
    nan = {"e4m3": 0x7F, "e5m2": 0x7F, "ue5m3": 0xFF}.get(name, largest)
    if x.value == NAN:
        return nan
    if relu and x.sign:
        return 0
    if x.value == INFINITE:
        code = largest if satfinite else nan
    else:
        assert isinstance(x.value, Fraction)
        code = narrow.neighbour(name, abs(x.value), mode)
        if code > largest:
            # Rounding toward zero never goes beyond the largest number.
            code = largest if satfinite or mode == "rz" else nan
    if signed and x.sign and not (pzo and code == 0):
        code |= 1 << narrow.TYPES[name][0] - 1
    return code


def packed(name: str, upper: int, lower: int) -> int:
    return upper << FIELD[name] | lower


def f32_near(name: str, scale: int = 127) -> list[int]:
    """The format's numbers and the middles between them, times a scale factor, and the f32 beside them."""
    grid = narrow.grid(name)
    beyond = 2 * grid[-1] - grid[-2]
    points = [*grid, *((x + y) / 2 for x, y in pairwise(grid)), beyond, 2 * beyond]
    points += [(beyond + grid[-1]) / 2, grid[1] / 4, grid[1] / 3]
    codes = [ieee.rounded(F32, point * Fraction(2) ** (scale - 127), "rn") for point in points]
    near = {max(code + step, 0) for code in codes for step in (-1, 0, 1)}
    special = [0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]
    result = [code | sign for code in (*near, *special) for sign in (0, F32.sign)]
    random.Random(name).shuffle(result)
    return result


@pytest.mark.parametrize("name", SMALL)
def test_f32_to_small_pairs(name: str) -> None:
    a = f32_near(name)
    b = a[5:] + a[:5]
    exact = [number(F32, code) for code in a]
    for mode, relu, pzo in product(("rn", "rz"), ("", ".relu"), ("", ".pzo")):
        modifiers = f".satfinite{relu}{pzo}"
        codes = [small(name, x, mode, modifiers) for x in exact]
        want = [packed(name, x, y) for x, y in zip(codes, codes[5:] + codes[:5], strict=True)]
        assert run(f"cvt.{mode}{modifiers}.{name}x2.f32", a, b) == want, modifiers


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_scaled_f32_to_small_pairs(name: str) -> None:
    """One factor for both numbers, whose subnormal inputs are zeros."""
    for scale in SCALES:
        a = f32_near(name, min(max(scale, 20), 230))
        b = a[3:] + a[:3]
        exact = [scaled(number(F32, ieee.flush(F32, code)), scale, divide=True) for code in a]
        for mode, relu, pzo in product(("rn", "rz"), ("", ".relu"), ("", ".pzo")):
            modifiers = f".satfinite{relu}{pzo}"
            codes = [small(name, x, mode, modifiers) for x in exact]
            want = [packed(name, x, y) for x, y in zip(codes, codes[3:] + codes[:3], strict=True)]
            text = f"cvt.{mode}{modifiers}.scaled::n1::ue8m0.{name}x2.f32"
            assert run(text, a, b, [scale] * len(a)) == want, (text, scale)


@pytest.mark.parametrize(("half", "name"), list(product(HALVES, SMALL)))
def test_halves_to_small_pairs(half: str, name: str) -> None:
    form = HALVES[half]
    codes = [*range(0, 65536, 7), *ieee.specials(form)]
    random.Random(name).shuffle(codes)
    words = [code << 16 | other for code, other in zip(codes, codes[1:] + codes[:1], strict=True)]
    plain = [number(form, code) for code in codes]
    known = [number(form, ieee.flush(form, code)) for code in codes]
    cases = [("rn", ".satfinite", 127), ("rn", ".satfinite.relu", 127)]
    cases += [("rz", ".satfinite.pzo", 127), ("rz", ".satfinite.relu", 127)]
    cases += [("rn", ".satfinite", 130), ("rz", ".satfinite.pzo", 100), ("rn", ".satfinite.relu", 255)]
    for place, (mode, modifiers, scale) in enumerate(cases):
        if place < 4:
            exact, text, more = plain, f"cvt.{mode}{modifiers}.{name}x2.{half}x2", []
        else:
            exact = [scaled(x, scale, divide=True) for x in known]
            text = f"cvt.{mode}{modifiers}.scaled::n1::ue8m0.{name}x2.{half}x2"
            more = [[scale] * len(words)]
        each = [small(name, x, mode, modifiers) for x in exact]
        want = [packed(name, x, y) for x, y in zip(each, each[1:] + each[:1], strict=True)]
        assert run(text, words, *more) == want, (text, scale)


@pytest.mark.long
def test_f32_to_pairs_of_ue5m3() -> None:
    """The sign is dropped; beyond 114688 lies NaN."""
    a = f32_near("ue5m3")
    b = a[5:] + a[:5]
    exact = [number(F32, code) for code in a]
    for mode, modifiers in product(("rn", "rz", "rp"), ("", ".satfinite")):
        codes = [small("ue5m3", x, mode, modifiers) for x in exact]
        want = [packed("ue5m3", x, y) for x, y in zip(codes, codes[5:] + codes[:5], strict=True)]
        assert run(f"cvt.{mode}{modifiers}.ue5m3x2.f32", a, b) == want, (mode, modifiers)
    for scale, mode, modifiers in product(SCALES, ("rn", "rz"), ("", ".satfinite")):
        exact = [scaled(number(F32, ieee.flush(F32, code)), scale, divide=True) for code in a]
        codes = [small("ue5m3", x, mode, modifiers) for x in exact]
        want = [packed("ue5m3", x, y) for x, y in zip(codes, codes[5:] + codes[:5], strict=True)]
        text = f"cvt.{mode}{modifiers}.scaled::n1::ue8m0.ue5m3x2.f32"
        assert run(text, a, b, [scale] * len(a)) == want, (text, scale)


@pytest.mark.long
@pytest.mark.parametrize("half", HALVES)
def test_halves_to_pairs_of_ue5m3(half: str) -> None:
    form = HALVES[half]
    codes = [*range(0, 65536, 5), *ieee.specials(form)]
    words = [code << 16 | other for code, other in zip(codes, codes[1:] + codes[:1], strict=True)]
    for mode, modifiers in product(("rn", "rz", "rp"), ("", ".satfinite")):
        each = [small("ue5m3", number(form, code), mode, modifiers) for code in codes]
        want = [packed("ue5m3", x, y) for x, y in zip(each, each[1:] + each[:1], strict=True)]
        assert run(f"cvt.{mode}{modifiers}.ue5m3x2.{half}x2", words) == want, (mode, modifiers)
    for scale, mode in ((120, "rn"), (134, "rz"), (255, "rn")):
        exact = [scaled(number(form, ieee.flush(form, code)), scale, divide=True) for code in codes]
        each = [small("ue5m3", x, mode, ".satfinite") for x in exact]
        want = [packed("ue5m3", x, y) for x, y in zip(each, each[1:] + each[:1], strict=True)]
        text = f"cvt.{mode}.satfinite.scaled::n1::ue8m0.ue5m3x2.{half}x2"
        assert run(text, words, [scale] * len(words)) == want, text


def half_code(form: ieee.Form, x: Number, modifiers: str) -> int:
    """The code of f16 or bf16 nearest to a number."""
    if x.value == NAN:
        return form.nan
    if ".relu" in modifiers and x.sign:
        return 0
    sign = form.sign * x.sign
    code = form.infinity if x.value == INFINITE else ieee.rounded(form, abs(x.value), "rn")  # type: ignore[arg-type]
    if ".satfinite" in modifiers and code == form.infinity:
        code = form.infinity - 1
    return sign | code


def values_of(name: str) -> list[Number]:
    """What each code in a field stands for; the bits that pad it count for nothing."""
    if name == "s2f6":
        return [Number(Fraction(code - 256 * (code > 127), 64), int(code > 127)) for code in range(256)]
    table = narrow.numbers(name)
    return [table[code % len(table)] for code in range(1 << FIELD[name])]


@pytest.mark.parametrize("name", [*SMALL, "ue5m3", "s2f6"])
def test_narrow_pairs_to_bf16x2(name: str) -> None:
    """Every code in both places, with its own scale factor in each."""
    table = values_of(name)
    field = FIELD.get(name, 8)
    upper = list(range(1 << field))
    lower = upper[3:] + upper[:3]
    words = [x << field | y for x, y in zip(upper, lower, strict=True)]
    for modifiers in product(("", ".satfinite"), ("",) if name == "ue5m3" else ("", ".relu")):
        text = f"cvt.rn{''.join(modifiers)}.bf16x2.{name}x2"
        want = [half_code(BF16, x, text) for x in table]
        assert run(text, words) == [want[x] << 16 | want[y] for x, y in zip(upper, lower, strict=True)]
        text = f"cvt.rn{''.join(modifiers)}.scaled::n2::ue8m0.bf16x2.{name}x2"
        for first, second in zip(SCALES, SCALES[2:] + SCALES[:2], strict=True):
            codes = [
                [half_code(BF16, scaled(x, scale, divide=False), text) for x in table]
                for scale in (first, second)
            ]
            got = run(text, words, [first << 8 | second] * len(words))
            assert got == [codes[0][x] << 16 | codes[1][y] for x, y in zip(upper, lower, strict=True)], text


def test_pairs_of_ue5m3_to_f16x2() -> None:
    """The largest numbers are beyond those of f16."""
    want = [half_code(F16, x, "") for x in narrow.numbers("ue5m3")]
    words = [code << 8 | 255 - code for code in range(256)]
    assert run("cvt.rn.f16x2.ue5m3x2", words) == [want[w >> 8] << 16 | want[w & 255] for w in words]
    assert want[0xF8] == 0x7C00
    assert want[0x01] == 0x0080


def fixed(x: Number, mode: str, relu: bool) -> int:
    """A number in 64ths, clamped to a signed byte; NaN is the largest."""
    if x.value == NAN:
        return 127
    if x.value == INFINITE:
        value = -128 if x.sign else 127
    else:
        assert isinstance(x.value, Fraction)
        parts = x.value * 64
        value = min(max(round(parts) if mode == "rn" else int(parts), -128), 127)
    return max(value, 0) if relu else value & 0xFF


@pytest.mark.long
def test_to_fixed_point() -> None:
    halves = [Fraction(i, 128) for i in range(-270, 270)]
    a = [ieee.rounded(F32, x, "rn") for x in halves]
    a += [code + step for code in a for step in (-1, 1) if code & 0x7FFFFFFF]
    a += ieee.specials(F32)
    b = a[11:] + a[:11]
    for mode, relu in product(("rn", "rz"), ("", ".relu")):
        codes = [fixed(number(F32, code), mode, bool(relu)) for code in a]
        want = [x << 8 | y for x, y in zip(codes, codes[11:] + codes[:11], strict=True)]
        assert run(f"cvt.{mode}.satfinite{relu}.s2f6x2.f32", a, b) == want
        for first, second in zip(SCALES, SCALES[2:] + SCALES[:2], strict=True):
            upper, lower = (
                [fixed(scaled(number(F32, code), scale, divide=True), mode, bool(relu)) for code in each]
                for each, scale in ((a, first), (b, second))
            )
            got = run(
                f"cvt.{mode}.satfinite{relu}.scaled::n2::ue8m0.s2f6x2.f32",
                a,
                b,
                [first << 8 | second] * len(a),
            )
            assert got == [x << 8 | y for x, y in zip(upper, lower, strict=True)]


@pytest.mark.long
def test_bf16x2_to_fixed_point() -> None:
    codes = list(range(65536))
    words = [code << 16 | (code * 7 & 0xFFFF) for code in codes]
    for mode, relu in (("rn", ""), ("rz", ".relu")):
        each = [fixed(number(BF16, code), mode, bool(relu)) for code in codes]
        got = run(f"cvt.{mode}.satfinite{relu}.s2f6x2.bf16x2", words)
        assert got == [each[word >> 16] << 8 | each[word & 0xFFFF] for word in words]
    scale = [0x7B81] * len(words)
    upper, lower = (
        [fixed(scaled(number(BF16, code), each, divide=True), "rn", relu=False) for code in codes]
        for each in (0x7B, 0x81)
    )
    got = run("cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.bf16x2", words, scale)
    assert got == [upper[word >> 16] << 8 | lower[word & 0xFFFF] for word in words]


@pytest.mark.parametrize(("name", "form", "shift"), [("f16", F16, 0), ("bf16", BF16, 0), ("tf32", None, 13)])
def test_positive_zeros(name: str, form: ieee.Form | None, shift: int) -> None:
    """`.pzo` changes -0, of whichever input, and nothing else."""
    form = form or ieee.Form(8, 10, 0x3FFFF)
    codes = ieee.specials(F32) + ieee.numbers(F32, 3000, 5)
    codes += [ieee.rounded(F32, ieee.number(form, 1) * Fraction(k, 4), "rn") | F32.sign for k in range(8)]
    for mode, relu, satfinite in product(("rn", "rz"), ("", ".relu"), ("", ".satfinite")):
        want = []
        for code in codes:
            x = number(F32, code)
            if x.value == NAN:
                result = form.nan
            elif relu and x.sign:
                result = 0
            elif x.value == INFINITE:
                result = form.infinity - bool(satfinite) | form.sign * x.sign
            else:
                result = ieee.rounded(form, x.value, mode, x.sign)  # type: ignore[arg-type]
                if satfinite and result & form.sign - 1 == form.infinity:
                    result -= 1
            want.append(0 if result == form.sign else result << shift)
        assert run(f"cvt.{mode}{relu}{satfinite}.pzo.{name}.f32", codes) == want
        if name != "tf32":
            got = run(f"cvt.{mode}{relu}{satfinite}.pzo.{name}x2.f32", codes, codes[::-1])
            assert got == [x << 16 | y for x, y in zip(want, want[::-1], strict=True)]


def test_undefined_bits_spoil_their_number() -> None:
    word = [0]
    assert propagate("cvt.rn.satfinite.e2m1x2.bf16x2", (word,), ([0x10000],)) == [0xF0]
    assert propagate("cvt.rz.satfinite.e4m3x2.f32", (word, word), (None, [1])) == [0x00FF]
    scaled_one = "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32"
    assert propagate(scaled_one, (word,) * 3, ([1], None, None)) == [0xFF00]
    assert propagate(scaled_one, (word,) * 3, (None, None, [1])) == [0xFFFF]
    scaled_two = "cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2"
    assert propagate(scaled_two, (word, word), (None, [0x0100])) == [0xFFFF0000]
    assert propagate(scaled_two, (word, word), ([0x01], None)) == [0x0000FFFF]
