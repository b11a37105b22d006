"""f32, f64, f32x2 and mixed arithmetic against exact fractions, in every rounding mode."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import ieee
import numpy as np
import pytest
from ieee import F32, F64, MODES
from pure_operations import decode, run, unsupported

FORMS = {"f32": F32, "f64": F64}


def mismatches(form: ieee.Form, lanes: list[tuple[int, ...]], got: list[int], want: list[int]) -> list[str]:
    digits = form.width // 4
    return [
        f"{[f'{x:0{digits}x}' for x in lane]}: {g:0{digits}x}, not {w:0{digits}x}"
        for lane, g, w in zip(lanes, got, want, strict=True)
        if g != w
    ][:5]


def binary_lanes(form: ieee.Form) -> list[tuple[int, ...]]:
    special = ieee.specials(form)
    lanes = list(itertools.product(special, special))
    for seed in range(8):
        lanes += zip(ieee.numbers(form, 300, seed), ieee.numbers(form, 300, seed + 1000), strict=True)
        near = ieee.numbers(form, 150, seed)
        lanes += zip(near, reversed(near), strict=True)
    return lanes


def ternary_lanes(form: ieee.Form) -> list[tuple[int, ...]]:
    """Sums in which the addend sits near a tie of the product, or cancels it, or is far below."""
    source = random.Random(7)
    special = ieee.specials(form)
    lanes: list[tuple[int, ...]] = [tuple(source.choices(special, k=3)) for _ in range(3000)]
    for seed in range(12):
        a, b, c = (ieee.numbers(form, 150, seed * 3 + i) for i in range(3))
        lanes += zip(a, b, c, strict=True)
        for x, y in zip(a, b, strict=True):
            product = ieee.multiply(form, x, y, "rn")
            if ieee.is_nan(form, product) or ieee.is_infinite(form, product):
                continue
            lanes.append((x, y, product ^ form.sign))
            lanes.append((x, y, (product ^ form.sign) + source.randrange(-1, 2) & (2 * form.sign - 1)))
            exponent = (product >> form.fraction_bits & (1 << form.exponent_bits) - 1) + source.randrange(
                -60, 60
            )
            if 0 < exponent < (1 << form.exponent_bits) - 1:
                lanes.append((x, y, source.choice((0, form.sign)) | exponent << form.fraction_bits))
    return lanes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FORMS)
def test_sums_and_products(kind: str, mode: str) -> None:
    form = FORMS[kind]
    lanes = binary_lanes(form)
    columns = list(zip(*lanes, strict=True))
    for opcode, reference in (("add", ieee.add), ("mul", ieee.multiply)):
        got = run(f"{opcode}.{mode}.{kind}", *columns)
        assert not mismatches(form, lanes, got, [reference(form, a, b, mode) for a, b in lanes])
    got = run(f"sub.{mode}.{kind}", *columns)
    assert not mismatches(form, lanes, got, [ieee.subtract(form, a, b, mode) for a, b in lanes])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FORMS)
def test_fma(kind: str, mode: str) -> None:
    form = FORMS[kind]
    lanes = ternary_lanes(form)
    got = run(f"fma.{mode}.{kind}", *zip(*lanes, strict=True))
    want = [ieee.fma(form, *lane, mode) for lane in lanes]
    assert not mismatches(form, lanes, got, want)
    assert run(f"mad.{mode}.{kind}", *zip(*lanes, strict=True)) == got


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kind", "name"), [("f32", "fmaf"), ("f64", "fma")])
def test_fma_against_the_c_library(kind: str, name: str, count: int) -> None:
    library = ctypes.util.find_library("m")
    if library is None:
        pytest.skip("there is no C mathematics library here")
    real = ctypes.c_float if kind == "f32" else ctypes.c_double
    function = getattr(ctypes.CDLL(library), name)
    function.restype, function.argtypes = real, [real] * 3
    form = FORMS[kind]
    dtype = np.dtype(f"float{form.width}")
    codes = [np.array(ieee.numbers(form, count, seed), f"uint{form.width}") for seed in (5, 6, 7)]
    # Addends beside the products, where what is rounded away decides.
    with np.errstate(all="ignore"):
        products = codes[0].view(dtype) * codes[1].view(dtype)
    codes[2][::2] = products[::2].view(codes[2].dtype) ^ codes[2][::2] & np.array(
        form.sign | 7, codes[2].dtype
    )
    numbers = [code.view(dtype).tolist() for code in codes]
    want = np.array([function(*lane) for lane in zip(*numbers, strict=True)], dtype)
    with np.errstate(all="ignore"):
        got = decode(f"fma.rn.{kind}").function(*(code.view(dtype) for code in codes))
    same = (got.view(codes[0].dtype) == want.view(codes[0].dtype)) | (np.isnan(got) & np.isnan(want))
    assert not [[hex(code[i]) for code in codes] for i in np.flatnonzero(~same)[:5]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FORMS)
def test_quotients_and_roots(kind: str, mode: str) -> None:
    form = FORMS[kind]
    lanes = binary_lanes(form)
    got = run(f"div.{mode}.{kind}", *zip(*lanes, strict=True))
    assert not mismatches(form, lanes, got, [ieee.divide(form, a, b, mode) for a, b in lanes])
    singles = [(a,) for a in ieee.specials(form) + ieee.numbers(form, 2000, 5)]
    values = [a for (a,) in singles]
    one = form.bias << form.fraction_bits
    got = run(f"rcp.{mode}.{kind}", values)
    assert not mismatches(form, singles, got, [ieee.divide(form, one, a, mode) for a in values])
    # Squares and their neighbours are where a root is exact or barely inexact.
    for a in ieee.numbers(form, 300, 6):
        square = ieee.multiply(form, a, a, "rz")
        singles += [(square,), (square + 1,), (max(square - 1, 0),)]
    values = [a for (a,) in singles]
    got = run(f"sqrt.{mode}.{kind}", values)
    assert not mismatches(form, singles, got, [ieee.square_root(form, a, mode) for a in values])


LEAST, ONE = 0x00800000, 0x3F800000


def lanes_around_the_least_normal() -> list[tuple[int, ...]]:
    """Products, quotients and sums that fall just below 2^-126, and addends that bring them there."""
    source = random.Random(8)
    lanes = []
    for _ in range(2000):
        a = source.randrange(1, 0xFE) << 23 | source.choice((0, 1, 0x7FFFFF, source.getrandbits(23)))
        for other in (ieee.divide(F32, LEAST, a, "rn"), ieee.multiply(F32, LEAST, a, "rn")):
            b = max(0, min(other + source.randrange(-3, 4), F32.infinity - 1))
            sign = source.choice((0, F32.sign))
            addend = source.choice((0, F32.sign, LEAST, LEAST + 1, 2 * LEAST)) ^ source.choice((0, F32.sign))
            lanes += [(a, b | sign, addend), (b, a | sign, addend)]
    lanes += [(0x7E800000 + i, ONE, 0) for i in range(-4, 5)]
    return lanes


@pytest.mark.parametrize("mode", MODES)
def test_flush_to_zero_takes_operands_and_results(mode: str) -> None:
    lanes = ternary_lanes(F32)[::3] + lanes_around_the_least_normal()
    flushed = [tuple(ieee.flush(F32, x) for x in lane) for lane in lanes]
    columns = list(zip(*lanes, strict=True))

    def expected(code: int, exact: Callable[[], Fraction]) -> int:
        return ieee.flushed(F32, code, exact() if code & ~F32.sign == LEAST else None, mode)

    def value(code: int) -> Fraction:
        return ieee.number(F32, code)

    want = [
        expected(ieee.fma(F32, a, b, c, mode), lambda a=a, b=b, c=c: value(a) * value(b) + value(c))
        for a, b, c in flushed
    ]
    assert not mismatches(F32, lanes, run(f"fma.{mode}.ftz.f32", *columns), want)
    want = [ieee.flush(F32, ieee.add(F32, a, b, mode)) for a, b, _ in flushed]
    assert not mismatches(F32, lanes, run(f"add.{mode}.ftz.f32", *columns[:2]), want)
    want = [
        expected(ieee.multiply(F32, a, b, mode), lambda a=a, b=b: value(a) * value(b)) for a, b, _ in flushed
    ]
    assert not mismatches(F32, lanes, run(f"mul.{mode}.ftz.f32", *columns[:2]), want)
    want = [
        expected(ieee.divide(F32, a, b, mode), lambda a=a, b=b: value(a) / value(b)) for a, b, _ in flushed
    ]
    assert not mismatches(F32, lanes, run(f"div.{mode}.ftz.f32", *columns[:2]), want)
    want = [expected(ieee.divide(F32, ONE, a, mode), lambda a=a: 1 / value(a)) for a, _, _ in flushed]
    assert not mismatches(F32, lanes, run(f"rcp.{mode}.ftz.f32", columns[0]), want)


def test_what_rounds_up_to_the_least_normal_number_is_flushed() -> None:
    """As measured on an H200."""
    assert run("mul.rn.ftz.f32", [0x3F7FFFFF, 0xBF7FFFFF], [0x00800000] * 2) == [0, 0x80000000]
    assert run("mul.rn.f32", [0x3F7FFFFF], [0x00800000]) == [0x00800000]
    assert run("cvt.rn.ftz.f32.f64", [0x380FFFFFE0000000, 0x380FFFFFF0000000]) == [0, 0x00800000]
    assert run("cvt.rn.f32.f64", [0x380FFFFFE0000000]) == [0x00800000]


def clamped(code: int) -> int:
    if ieee.is_nan(F32, code) or code & F32.sign:
        return 0
    return min(code, 0x3F800000)


def test_saturation() -> None:
    lanes = ternary_lanes(F32)
    columns = list(zip(*lanes, strict=True))
    want = [clamped(ieee.fma(F32, *lane, "rn")) for lane in lanes]
    assert not mismatches(F32, lanes, run("fma.rn.sat.f32", *columns), want)
    want = [clamped(ieee.add(F32, a, b, "rz")) for a, b, _ in lanes]
    assert not mismatches(F32, lanes, run("add.rz.sat.f32", *columns[:2]), want)


def test_f32x2_is_two_f32() -> None:
    lanes = ternary_lanes(F32)
    lanes = lanes[: len(lanes) // 2 * 2]
    pairs = [
        tuple(low | high << 32 for low, high in zip(first, second, strict=True))
        for first, second in zip(lanes[::2], lanes[1::2], strict=True)
    ]
    got = run("fma.rp.ftz.f32x2", *zip(*pairs, strict=True))
    alone = run("fma.rp.ftz.f32", *zip(*lanes, strict=True))
    assert got == [low | high << 32 for low, high in zip(alone[::2], alone[1::2], strict=True)]
    for opcode in ("add", "sub", "mul"):
        got = run(f"{opcode}.f32x2", *list(zip(*pairs, strict=True))[:2])
        alone = run(f"{opcode}.f32", *list(zip(*lanes, strict=True))[:2])
        assert got == [low | high << 32 for low, high in zip(alone[::2], alone[1::2], strict=True)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("kind", "form"), [("f16", ieee.F16), ("bf16", ieee.BF16)])
def test_mixed_precision_widens_exactly(kind: str, form: ieee.Form, mode: str) -> None:
    narrow = ieee.specials(form) + ieee.numbers(form, 1500, 3)
    others = narrow[::-1]
    wide = (ieee.specials(F32) * len(narrow))[: len(narrow) // 2]
    wide += ieee.numbers(F32, len(narrow) - len(wide), 4)

    def widened(code: int) -> int:
        if ieee.is_nan(form, code):
            return F32.nan
        if ieee.is_infinite(form, code):
            return F32.infinity | (F32.sign if code & form.sign else 0)
        return ieee.rounded(F32, ieee.number(form, code), "rn", int(bool(code & form.sign)))

    lanes = list(zip(map(widened, narrow), map(widened, others), wide, strict=True))
    got = run(f"fma.{mode}.f32.{kind}", narrow, others, wide)
    assert not mismatches(F32, lanes, got, [ieee.fma(F32, *lane, mode) for lane in lanes])
    got = run(f"add.{mode}.f32.{kind}", narrow, wide)
    assert not mismatches(F32, lanes, got, [ieee.add(F32, a, c, mode) for a, _, c in lanes])
    got = run(f"sub.{mode}.sat.f32.{kind}", narrow, wide)
    assert not mismatches(
        F32, lanes, got, [clamped(ieee.add(F32, a, c ^ F32.sign, mode)) for a, _, c in lanes]
    )


def extreme(form: ieee.Form, a: int, b: int, largest: bool, propagate: bool) -> int:
    a_nan, b_nan = ieee.is_nan(form, a), ieee.is_nan(form, b)
    if (a_nan and b_nan) or (propagate and (a_nan or b_nan)):
        return ieee.nan_of(form, b, a)
    if a_nan or b_nan:
        return b if a_nan else a
    return (max if largest else min)(a, b, key=lambda code: ieee.ordered(form, code))


@pytest.mark.parametrize("opcode", ["min", "max"])
def test_extremes(opcode: str) -> None:
    largest = opcode == "max"
    for kind, form in FORMS.items():
        lanes = binary_lanes(form)
        got = run(f"{opcode}.{kind}", *zip(*lanes, strict=True))
        assert not mismatches(form, lanes, got, [extreme(form, a, b, largest, False) for a, b in lanes])
    lanes = binary_lanes(F32)
    columns = list(zip(*lanes, strict=True))
    got = run(f"{opcode}.NaN.f32", *columns)
    assert not mismatches(F32, lanes, got, [extreme(F32, a, b, largest, True) for a, b in lanes])

    def signed_xor(a: int, b: int) -> int:
        result = extreme(F32, a & ~F32.sign, b & ~F32.sign, largest, False)
        return result if ieee.is_nan(F32, result) else result | (a ^ b) & F32.sign

    got = run(f"{opcode}.xorsign.abs.f32", *columns)
    assert not mismatches(F32, lanes, got, [signed_xor(a, b) for a, b in lanes])
    third = [b for _, b in reversed(lanes)]
    got = run(f"{opcode}.NaN.abs.f32", *columns, third, immediates=[None] * 4)
    want = [
        extreme(F32, extreme(F32, a & ~F32.sign, b & ~F32.sign, largest, True), c & ~F32.sign, largest, True)
        for (a, b), c in zip(lanes, third, strict=True)
    ]
    assert not mismatches(F32, lanes, got, want)


def test_sign_operations_and_properties() -> None:
    for kind, form in FORMS.items():
        codes = ieee.specials(form) + ieee.numbers(form, 500, 9)
        numbers = [code for code in codes if not ieee.is_nan(form, code)]
        assert run(f"neg.{kind}", numbers) == [code ^ form.sign for code in numbers]
        assert run(f"abs.{kind}", numbers) == [code & form.sign - 1 for code in numbers]
        others = codes[::-1]
        want = [a & form.sign | b & form.sign - 1 for a, b in zip(codes, others, strict=True)]
        assert run(f"copysign.{kind}", codes, others) == want
        nan = [ieee.is_nan(form, code) for code in codes]
        infinite = [ieee.is_infinite(form, code) for code in codes]
        tiny = [ieee.flush(form, code) != code for code in codes]
        assert run(f"testp.notanumber.{kind}", codes) == nan
        assert run(f"testp.number.{kind}", codes) == [not x for x in nan]
        assert run(f"testp.infinite.{kind}", codes) == infinite
        assert run(f"testp.finite.{kind}", codes) == [
            not (x or y) for x, y in zip(nan, infinite, strict=True)
        ]
        assert run(f"testp.subnormal.{kind}", codes) == tiny
        normal = [not (x or y or z) for x, y, z in zip(nan, infinite, tiny, strict=True)]
        assert run(f"testp.normal.{kind}", codes) == normal
    codes = [0x80000001, 0x00400000, 0x3F800000]
    assert run("neg.ftz.f32", codes) == [0, 0x80000000, 0xBF800000]


def test_forms_that_do_not_exist_are_refused() -> None:
    for text in (
        "add.sat.f64", "add.ftz.f64", "fma.f32", "fma.sat.rn.f32x2", "min.xorsign.f32",
        "max.NaN.f64", "div.rn.sat.f32", "sqrt.rn.sat.f32", "div.f32", "div.approx.f64", "rcp.approx.f64",
        "sqrt.approx.f64", "rsqrt.f32", "sin.f32", "tanh.approx.ftz.f32", "ex2.approx.f64", "add.ftz.f32.f16",
        "fma.f32.f16", "testp.f32", "add.f8", "add.rn.rz.f32", "copysign.f16",
    ):  # fmt: skip
        assert unsupported(text), text
    assert unsupported("min.abs.f32", reads=2)
