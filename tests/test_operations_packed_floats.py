"""Packed floats of several formats against exact fractions, rounded once."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import ieee
import narrow_formats as narrow
import numpy as np
import pytest
from ieee import BF16, F16, F32, MODES
from narrow_formats import INFINITE, NAN, Number
from pure_operations import propagate, run

NARROW = ("e5m2x4", "e4m3x4", "e3m2x4", "e2m3x4", "e2m1x4", "e2m1p4x4", "ue8m0x4")
RESULTS = ("e5m2x4", "e4m3x4")


def name_of(kind: str) -> str:
    return kind.removesuffix("x4").removesuffix("p4")


def fields(kind: str) -> tuple[int, int]:
    """How far apart the codes lie, and how many bits each has."""
    return 4 if kind == "e2m1x4" else 8, narrow.TYPES[name_of(kind)][0]


def word(kind: str, codes: tuple[int, ...] | list[int]) -> int:
    """Four codes, the first the lowest, with rubbish in the bits that pad them."""
    step, size = fields(kind)
    rubbish = sum((0xA5 << size & (1 << step) - 1) << step * i for i in range(4))
    return rubbish | sum(code << step * i for i, code in enumerate(codes))


def result_code(name: str, exact: Number, satfinite: bool) -> int:
    """As the manual has it: NaN is NaN; what rounds beyond the largest number is an infinity, of e4m3 a NaN,
    or the largest number."""
    largest = len(narrow.grid(name)) - 1
    sign = 0x80 * exact.sign
    if exact.value == NAN:
        return 0x7F
    if exact.value == INFINITE:
        code = largest + 1
    else:
        assert isinstance(exact.value, Fraction)
        code = narrow.neighbour(name, abs(exact.value), "rn")
    if code > largest:
        code = largest if satfinite else {"e4m3": 0x7F, "e5m2": 0x7C}[name]
    return sign | code


def some_codes(kind: str, seed: int, count: int = 160) -> list[list[int]]:
    """Four codes a word: zeros, ends, NaN and infinities more often than others."""
    size = fields(kind)[1]
    source = random.Random(f"{kind} {seed}")
    ends = [0, 1, 1 << size - 1, (1 << size) - 1, (1 << size - 1) - 1, (1 << size - 1) - 2]
    if kind == "e5m2x4":
        ends += [0x7B, 0x7C, 0x7D, 0xFB, 0xFC]
    if kind == "ue8m0x4":
        # Scales that keep a product near the range of the result.
        ends += [127, 128, 126, 120, 134, 112, 142]
    return [
        [source.choice(ends) if source.random() < 0.4 else source.getrandbits(size) for _ in range(4)]
        for _ in range(count)
    ]


def check(opcode: str, result: str, kinds: list[str], reference: Callable[..., Number]) -> None:
    """An operation on random codes; the last source has the result's type where `kinds` is one short."""
    spelled = [result, *kinds]
    sources = kinds if opcode == "mul" else [*kinds, result]
    codes = [some_codes(kind, seed) for seed, kind in enumerate(sources)]
    words = [[word(kind, each) for each in of_kind] for kind, of_kind in zip(sources, codes, strict=True)]
    tables = [narrow.numbers(name_of(kind)) for kind in sources]
    exact = [
        [
            reference(*(table[code] for table, code in zip(tables, lane, strict=True)))
            for lane in zip(*each, strict=True)
        ]
        for each in zip(*codes, strict=True)
    ]
    for modifiers in (".rn", ".rn.satfinite"):
        text = f"{opcode}{modifiers}.{'.'.join(spelled)}"
        want = [
            sum(
                result_code(name_of(result), number, "satfinite" in modifiers) << 8 * i
                for i, number in enumerate(lane)
            )
            for lane in exact
        ]
        assert run(text, *words) == want, text


@pytest.mark.parametrize("result", RESULTS)
def test_sums_of_narrow_floats(result: str) -> None:
    for kind in NARROW:
        check("add", result, [kind], narrow.add)
        check("sub", result, [kind], lambda a, c: narrow.add(a, narrow.negative(c)))


@pytest.mark.long
@pytest.mark.parametrize("result", RESULTS)
def test_products_of_narrow_floats(result: str) -> None:
    for kind in NARROW:
        for other in NARROW:
            check("mul", result, [kind, other], narrow.multiply)
            check("fma", result, [kind, other], lambda a, b, c: narrow.add(narrow.multiply(a, b), c))


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_pair_of_bytes(name: str) -> None:
    """Sums and products of two 8-bit floats are exact in double precision, which `ml_dtypes` rounds."""
    kind = narrow.TYPES[name][1]
    codes = np.arange(65536, dtype=np.uint32)
    a, c = codes >> 8, codes & 0xFF
    x, y = (each.astype(np.uint8).view(kind).astype(np.float64) for each in (a, c))
    for opcode in ("add", "mul"):
        with np.errstate(all="ignore"):
            exact = x + y if opcode == "add" else x * y
            want = exact.astype(kind).view(np.uint8).astype(np.uint32)
        want[np.isnan(exact)] = 0x7F
        spread = np.uint32(0x01010101)
        types = f"{name}x4.{name}x4" + (f".{name}x4" if opcode == "mul" else "")
        got = run(f"{opcode}.rn.{types}", a * spread, c * spread)
        np.testing.assert_array_equal(got, want * spread)


def test_overflow_of_narrow_floats_follows_rounding() -> None:
    """448 + 16 lies halfway between 448 and 480, which e4m3 has no more: it rounds to even."""
    a, c = [0xFEFE7E7E], [0xD9D85958]
    assert run("add.e4m3x4.e4m3x4", a, c) == [0xFFFE7F7E]
    assert run("add.satfinite.e4m3x4.e4m3x4", a, c) == [0xFEFE7E7E]


FORMS = {"f16x2": F16, "bf16x2": BF16, "f32x2": F32}


def mixed_codes(kind: str, seed: int, near: str | None = None) -> list[int]:
    """Codes of one number: special ones, random ones, those near another format's."""
    form = FORMS[kind]
    codes = ieee.specials(form) + ieee.numbers(form, 1200, seed)
    if near is not None:
        for code in ieee.specials(FORMS[near]) + ieee.numbers(FORMS[near], 600, seed + 1):
            exact = converted(FORMS[near], code, form, "rn")
            codes += [exact, exact ^ 1, form.sign ^ exact]
    random.Random(seed).shuffle(codes)
    return codes


def converted(source: ieee.Form, code: int, to: ieee.Form, mode: str) -> int:
    """A code in another format."""
    if ieee.is_nan(source, code):
        return to.nan
    sign = to.sign if code & source.sign else 0
    if ieee.is_infinite(source, code):
        return sign | to.infinity
    return ieee.rounded(to, ieee.number(source, code), mode, int(bool(sign)))


def in_pairs(kind: str, codes: list[int]) -> list[int]:
    """Words with a code in the low place and the next one in the high place."""
    width = FORMS[kind].width
    return [low | high << width for low, high in zip(codes, codes[1:] + codes[:1], strict=True)]


def check_mixed(
    text: str, result: str, kinds: list[str], codes: list[list[int]], reference: Callable[..., int]
) -> None:
    count = min(map(len, codes))
    codes = [each[:count] for each in codes]
    want = [reference(*lane) for lane in zip(*codes, strict=True)]
    words = [in_pairs(kind, each) for kind, each in zip(kinds, codes, strict=True)]
    assert run(text, *words) == in_pairs(result, want), text


@pytest.mark.parametrize("half", ["f16x2", "bf16x2"])
def test_sums_of_f32_pairs_and_halves(half: str) -> None:
    a, c = mixed_codes(half, 1), mixed_codes("f32x2", 2, half)
    for mode in MODES:
        for opcode, of_f32 in (("add", ieee.add), ("sub", ieee.subtract)):

            def reference(x: int, y: int, mode: str = mode, of_f32: Callable[..., int] = of_f32) -> int:
                return of_f32(F32, converted(FORMS[half], x, F32, "rn"), y, mode)

            check_mixed(f"{opcode}.{mode}.f32x2.{half}.f32x2", "f32x2", [half, "f32x2"], [a, c], reference)
    assert run(f"add.f32x2.{half}.f32x2", [0], [1 << 63]) == run(f"add.rn.f32x2.{half}.f32x2", [0], [1 << 63])


@pytest.mark.parametrize("half", ["f16x2", "bf16x2"])
def test_fused_sums_of_f32_pairs_and_halves(half: str) -> None:
    """The second factor is f32x2, as the syntax says, and is not converted."""
    kinds = [half, "f32x2", "f32x2"]
    codes = [mixed_codes(half, 3), mixed_codes("f32x2", 4), mixed_codes("f32x2", 5, half)]
    for mode in MODES:

        def reference(x: int, y: int, z: int, mode: str = mode) -> int:
            return ieee.fma(F32, converted(FORMS[half], x, F32, "rn"), y, z, mode)

        check_mixed(f"fma.{mode}.f32x2.{half}.f32x2.f32x2", "f32x2", kinds, codes, reference)


def towards_zero(opcode: str, to: ieee.Form, x: int, y: int, ftz: bool) -> int:
    """A sum or product of two f32, exactly, rounded toward zero to another format."""
    if ftz:
        x, y = ieee.flush(F32, x), ieee.flush(F32, y)
    if opcode == "sub":
        y ^= F32.sign
    # Fused, a product by one is a sum, and a sum with a zero of the product's sign is a product.
    one, sign = F32.bias << F32.fraction_bits, (x ^ y) & F32.sign
    operands = (x, y, sign) if opcode == "mul" else (x, one, y)
    rough = ieee.fma(F32, *operands, "rz")
    if any(ieee.is_nan(F32, each) or ieee.is_infinite(F32, each) for each in (x, y)):
        code = converted(F32, rough, to, "rz")
    else:
        a, b, c = (ieee.number(F32, each) for each in operands)
        code = ieee.rounded(to, a * b + c, "rz", rough >> 31)
    return ieee.flush(to, code) if ftz else code


@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
@pytest.mark.parametrize(("result", "ftz"), [("f16x2", True), ("bf16x2", False)])
def test_f32_pairs_into_halves(opcode: str, result: str, ftz: bool) -> None:
    codes = [mixed_codes("f32x2", 6, result), mixed_codes("f32x2", 7, result)]

    def reference(x: int, y: int) -> int:
        return towards_zero(opcode, FORMS[result], x, y, ftz)

    text = f"{opcode}.rz{'.ftz' if ftz else ''}.{result}.f32x2.f32x2"
    check_mixed(text, result, ["f32x2", "f32x2"], codes, reference)


@pytest.mark.parametrize(("kind", "other"), [("f16x2", "bf16x2"), ("bf16x2", "f16x2")])
def test_products_of_different_halves(kind: str, other: str) -> None:
    """The second factor is brought into the result's type, rounded to nearest, and then multiplied."""

    def reference(x: int, y: int) -> int:
        form = FORMS[kind]
        return ieee.multiply(form, x, converted(FORMS[other], y, form, "rn"), "rn")

    codes = [mixed_codes(kind, 8), mixed_codes(other, 9, kind)]
    check_mixed(f"mul.{kind}.{kind}.{other}", kind, [kind, other], codes, reference)


def test_undefined_bits_spoil_their_number() -> None:
    word = [0]
    assert propagate("add.e4m3x4.e2m1x4", (word, word), ([0x0100], None)) == [0x00FF0000]
    assert propagate("fma.e5m2x4.e2m1x4.ue8m0x4", (word,) * 3, ([1], [1 << 31], None)) == [0xFF0000FF]
    assert propagate("add.f32x2.f16x2.f32x2", (word, word), ([0x10000], None)) == [0xFFFFFFFF00000000]
    assert propagate("mul.rz.bf16x2.f32x2.f32x2", (word, word), ([1], None)) == [0x0000FFFF]
    assert propagate("mul.f16x2.f16x2.bf16x2", (word, word), (None, [1 << 16])) == [0xFFFF0000]
