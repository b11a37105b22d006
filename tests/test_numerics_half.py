"""f16 and bf16 arithmetic, alone and in pairs, against exact fractions; unary operations on every code."""

from __future__ import annotations

import itertools
import math
import random

import ieee
import numpy as np
import pytest
from ieee import BF16, F16
from pure_operations import decode, run, unsupported

FORMS = {"f16": F16, "bf16": BF16}
EVERY_CODE = list(range(65536))


def differing(lanes: list[tuple[int, ...]], got: list[int], want: list[int]) -> list[str]:
    return [
        f"{[f'{x:04x}' for x in lane]}: {g:04x}, not {w:04x}"
        for lane, g, w in zip(lanes, got, want, strict=True)
        if g != w
    ][:5]


def lanes_of(form: ieee.Form, count: int, seed: int) -> list[tuple[int, ...]]:
    """Special values together; products whose sum with the addend lies at a tie, cancels, or overflows."""
    source = random.Random(seed)
    special = ieee.specials(form)
    lanes: list[tuple[int, ...]] = [tuple(source.choices(special, k=3)) for _ in range(count)]
    for turn in range(count // 100):
        a, b, c = (ieee.numbers(form, 50, seed + 3 * turn + i) for i in range(3))
        lanes += zip(a, b, c, strict=True)
        for x, y in zip(a, b, strict=True):
            product = ieee.multiply(form, x, y, source.choice(ieee.MODES))
            lanes.append((x, y, product ^ form.sign))
            half_unit = max((product & form.sign - 1) - ((form.fraction_bits + 1) << form.fraction_bits), 1)
            lanes.append((x, y, half_unit | source.choice((0, form.sign))))
            lanes.append((x, y, source.choice((0, form.sign)) | source.randrange(1 << form.fraction_bits)))
    return [tuple(x & 0xFFFF for x in lane) for lane in lanes]


@pytest.mark.parametrize("kind", FORMS)
def test_arithmetic(kind: str) -> None:
    form = FORMS[kind]
    lanes = lanes_of(form, 3000, 1)
    columns = list(zip(*lanes, strict=True))
    want = [ieee.fma(form, *lane, "rn") for lane in lanes]
    assert not differing(lanes, run(f"fma.rn.{kind}", *columns), want)
    want = [ieee.add(form, a, b, "rn") for a, b, _ in lanes]
    assert not differing(lanes, run(f"add.{kind}", *columns[:2]), want)
    want = [ieee.add(form, a, b ^ form.sign, "rn") for a, b, _ in lanes]
    assert not differing(lanes, run(f"sub.rn.{kind}", *columns[:2]), want)
    want = [ieee.multiply(form, a, b, "rn") for a, b, _ in lanes]
    assert not differing(lanes, run(f"mul.{kind}", *columns[:2]), want)


@pytest.mark.parametrize("kind", FORMS)
def test_pairs_are_two_lanes(kind: str) -> None:
    form = FORMS[kind]
    lanes = lanes_of(form, 2000, 2)
    mirrored = lanes[::-1]
    pairs = [
        tuple(low | high << 16 for low, high in zip(x, y, strict=True))
        for x, y in zip(lanes, mirrored, strict=True)
    ]
    columns, packed = list(zip(*lanes, strict=True)), list(zip(*pairs, strict=True))
    arities = {"add": 2, "sub": 2, "mul": 2, "fma.rn": 3, "fma.rn.relu": 3, "fma.rn.oob": 3}
    for text, count in arities.items():
        alone = run(f"{text}.{kind}", *columns[:count])
        want = [low | high << 16 for low, high in zip(alone, alone[::-1], strict=True)]
        assert run(f"{text}.{kind}x2", *packed[:count]) == want, text


def test_products_of_a_few_codes_with_many() -> None:
    for kind, form in FORMS.items():
        for constant in (1, form.bias << form.fraction_bits, 0x5555, 0xBC01 if kind == "f16" else 0xBF81):
            lanes = [(code, constant, 0x8000) for code in EVERY_CODE[::29]]
            columns = list(zip(*lanes, strict=True))
            want = [ieee.multiply(form, a, b, "rn") for a, b, _ in lanes]
            assert not differing(lanes, run(f"mul.{kind}", *columns[:2]), want)


def test_no_special_lane_takes_the_fast_path_alone() -> None:
    # Numbers only, so that neither an infinity nor an overflow sends the array down the careful path.
    source = random.Random(3)
    codes = [
        [source.randrange(0x2000, 0x3E00) | source.choice((0, 0x8000)) for _ in range(4000)] for _ in range(3)
    ]
    lanes = list(zip(*codes, strict=True))
    want = [ieee.fma(F16, *lane, "rn") for lane in lanes]
    assert not differing(lanes, run("fma.rn.f16", *codes), want)
    # Subnormal factors and sums.
    codes = [[source.randrange(0x0800) | source.choice((0, 0x8000)) for _ in range(4000)] for _ in range(2)]
    codes.append([source.randrange(4) | source.choice((0, 0x8000)) for _ in range(4000)])
    codes[0] = [code + 0x3000 for code in codes[0]]
    lanes = list(zip(*codes, strict=True))
    want = [ieee.fma(F16, *lane, "rn") for lane in lanes]
    assert not differing(lanes, run("fma.rn.f16", *codes), want)


@pytest.mark.parametrize("count", [1 << 18, pytest.param(1 << 24, marks=pytest.mark.slow)])
def test_f16_against_double_precision(count: int) -> None:
    """f64 holds sums and products of f16 so well that rounding them once more goes right."""
    source = np.random.default_rng(count)

    def check(codes: list[np.ndarray]) -> None:
        a, b, c = (code.view(np.float16).astype(np.float64) for code in codes)
        with np.errstate(all="ignore"):
            for text, exact in (("fma.rn.f16", a * b + c), ("add.f16", a + b), ("mul.f16", a * b)):
                operation = decode(text)
                got = operation.function(*codes[: len(operation.sources)])
                want = np.where(np.isnan(exact), 0x7FFF, exact.astype(np.float16).view(np.uint16))
                wrong = np.flatnonzero(got != want)
                assert not wrong.size, (text, [[hex(code[i]) for code in codes] for i in wrong[:5]])

    def some(low: int, high: int) -> np.ndarray:
        signs = source.integers(0, 2, count // 4, np.uint16) << np.uint16(15)
        return source.integers(low, high, count // 4, np.uint16) | signs

    check([some(0, 0x8000) for _ in range(3)])
    check([some(0x2000, 0x4000) for _ in range(3)])
    check([some(0, 0x0800), some(0x2000, 0x4400), some(0, 0x0800)])
    check([some(0, 0x1400), some(0, 0x1400), some(0, 8)])


def clamped(code: int) -> int:
    return 0 if ieee.is_nan(F16, code) or code & 0x8000 else min(code, 0x3C00)


def rectified(form: ieee.Form, code: int) -> int:
    return 0x7FFF if ieee.is_nan(form, code) else 0 if code & 0x8000 else code


def flushed_fma(a: int, b: int, c: int) -> int:
    """`fma.rn.ftz.f16`: small are, as measured on an H200, results below 2^-14 - 2^-26 before rounding."""
    code = ieee.fma(F16, a, b, c, "rn")
    if code & 0x7FFF == 0x0400:
        exact = ieee.number(F16, a) * ieee.number(F16, b) + ieee.number(F16, c)
        return code & 0x8000 if abs(exact) * 2**26 < 2**12 - 1 else code
    return ieee.flush(F16, code)


def test_modifiers() -> None:
    lanes = lanes_of(F16, 2000, 4)
    columns = list(zip(*lanes, strict=True))
    flushed = [tuple(ieee.flush(F16, x) for x in lane) for lane in lanes]
    want = [flushed_fma(*lane) for lane in flushed]
    assert not differing(lanes, run("fma.rn.ftz.f16", *columns), want)
    # As measured on an H200: flushed unless rounding to 11 bits makes it normal.
    tiny = [0x3800, 0x3BFF, 0x39A8, 0xB9A8], [0x07FF, 0x0400, 0x05A8, 0x05A8]
    assert run("mul.rn.ftz.f16", *tiny) == run("fma.rn.ftz.f16", *tiny, [0] * 4) == [0, 0, 0x400, 0x8400]
    assert run("fma.rn.ftz.sat.f16", *columns) == [clamped(code) for code in want]
    assert run("fma.rn.ftz.relu.f16", *columns) == [rectified(F16, code) for code in want]
    for kind, form in FORMS.items():
        lanes = lanes_of(form, 1000, 5) + [
            (0x7FF7, 0x3C00, 0),
            (0x3C00, 0x7FF7, 0xFFFF),
            (0x3C00, 0xFFF7, 0),
            (0, 0, 0x7FF7),
            (0x7EFF, 0x3C00, 0),
        ]
        want = [rectified(form, ieee.fma(form, *lane, "rn")) for lane in lanes]
        assert not differing(lanes, run(f"fma.rn.relu.{kind}", *zip(*lanes, strict=True)), want)
        # As measured on an H200: the OOB NaN is 0x7ff7 with either sign, and counts in a and b alone.
        want = [0 if {0x7FF7, 0xFFF7} & {*lane[:2]} else ieee.fma(form, *lane, "rn") for lane in lanes]
        assert not differing(lanes, run(f"fma.rn.oob.{kind}", *zip(*lanes, strict=True)), want)


@pytest.mark.parametrize("opcode", ["min", "max"])
@pytest.mark.parametrize("kind", FORMS)
def test_extremes(kind: str, opcode: str) -> None:
    form, largest = FORMS[kind], opcode == "max"
    special = ieee.specials(form)
    lanes = list(itertools.product(special, special))
    lanes += zip(ieee.numbers(form, 500, 1), ieee.numbers(form, 500, 2), strict=True)

    def extreme(a: int, b: int, propagate: bool) -> int:
        nan = [ieee.is_nan(form, a), ieee.is_nan(form, b)]
        if all(nan) or (propagate and any(nan)):
            return 0x7FFF
        if any(nan):
            return b if nan[0] else a
        return (max if largest else min)(a, b, key=lambda c: -(c & 0x7FFF) - 1 if c & 0x8000 else c)

    columns = list(zip(*lanes, strict=True))
    assert not differing(lanes, run(f"{opcode}.{kind}", *columns), [extreme(a, b, False) for a, b in lanes])
    assert not differing(
        lanes, run(f"{opcode}.NaN.{kind}", *columns), [extreme(a, b, True) for a, b in lanes]
    )
    want = []
    for a, b in lanes:
        result = extreme(a & 0x7FFF, b & 0x7FFF, False)
        want.append(result if ieee.is_nan(form, result) else result | (a ^ b) & 0x8000)
    assert not differing(lanes, run(f"{opcode}.xorsign.abs.{kind}", *columns), want)
    packed = [[x | y << 16 for x, y in zip(column, column[::-1], strict=True)] for column in columns]
    alone = run(f"{opcode}.{kind}", *columns)
    assert run(f"{opcode}.{kind}x2", *packed) == [
        x | y << 16 for x, y in zip(alone, alone[::-1], strict=True)
    ]


def test_sign_operations_on_every_code() -> None:
    for kind, form in FORMS.items():
        negative = [0x7FFF if ieee.is_nan(form, code) else code ^ 0x8000 for code in EVERY_CODE]
        positive = [0x7FFF if ieee.is_nan(form, code) else code & 0x7FFF for code in EVERY_CODE]
        assert run(f"neg.{kind}", EVERY_CODE) == negative
        assert run(f"abs.{kind}", EVERY_CODE) == positive
        pairs = [code | (code ^ 0xFFFF) << 16 for code in EVERY_CODE]
        want = [negative[pair & 0xFFFF] | negative[pair >> 16] << 16 for pair in pairs]
        assert run(f"neg.{kind}x2", pairs) == want
        if kind == "f16":
            flushed = [ieee.flush(F16, code) for code in EVERY_CODE]
            assert run("neg.ftz.f16", EVERY_CODE) == [negative[code] for code in flushed]
            want = [positive[flushed[pair & 0xFFFF]] | positive[flushed[pair >> 16]] << 16 for pair in pairs]
            assert run("abs.ftz.f16x2", pairs) == want


BOUNDS = {
    ("ex2", "f16"): ("relative", 2**-9.9),
    ("ex2", "bf16"): ("relative", 2**-7),
    ("tanh", "f16"): ("absolute", 2**-10.987),
    ("tanh", "bf16"): ("absolute", 2**-8),
}


@pytest.mark.parametrize(("opcode", "kind"), BOUNDS)
def test_approximations_of_every_code(opcode: str, kind: str) -> None:
    form = FORMS[kind]
    text = f"{opcode}.approx.{'ftz.' if (opcode, kind) == ('ex2', 'bf16') else ''}{kind}"
    got = run(text, EVERY_CODE)
    measure, bound = BOUNDS[opcode, kind]
    one = form.bias << form.fraction_bits
    for code, result in zip(EVERY_CODE, got, strict=True):
        sign = code & 0x8000
        if ieee.is_nan(form, code):
            want = 0x7FFF
        elif ieee.is_infinite(form, code):
            want = (0 if sign else form.infinity) if opcode == "ex2" else one | sign
        elif code & 0x7FFF == 0 or (text.startswith("ex2.approx.ftz") and not code & 0x7F80):
            want = one if opcode == "ex2" else code
        else:
            x = float(ieee.number(form, code))
            exact = (2.0**x if x < 1000 else math.inf) if opcode == "ex2" else math.tanh(x)
            if result & 0x7FFF >= form.infinity:
                # Only what is past the largest number may come out infinite.
                assert exact > float(ieee.number(form, form.infinity - 1)), hex(code)
                continue
            error = abs(float(ieee.number(form, result)) - exact)
            smallest = float(ieee.number(form, 1 << form.fraction_bits))
            if measure == "relative":
                # Below the normal numbers no relative error can be kept.
                assert error <= max(bound * exact, smallest), hex(code)
            else:
                assert error <= bound, hex(code)
            continue
        assert result == want, hex(code)
    pairs = [code | (65535 - code) << 16 for code in EVERY_CODE]
    parts = text.rsplit(".", 1)
    assert run(f"{parts[0]}.{kind}x2", pairs) == [a | b << 16 for a, b in zip(got, got[::-1], strict=True)]


def test_shapes_broadcast() -> None:
    a = np.full((4, 1), 0x3C003C00, np.uint32)
    b = np.full((1, 32), 0x40004000, np.uint32)
    with np.errstate(all="ignore"):
        assert (decode("fma.rn.f16x2").function(a, b, np.uint32(0x7C003C00)) == 0x7C004200).all()
        assert decode("mul.bf16x2").function(np.uint32(0x3F803F80), np.uint32(0x40004000)) == 0x40004000


def test_forms_that_do_not_exist_are_refused() -> None:
    for text in (
        "add.rz.f16", "add.ftz.bf16", "add.sat.bf16x2", "fma.f16", "fma.rn.sat.relu.f16", "fma.rn.sat.bf16",
        "add.relu.f16", "neg.ftz.bf16", "min.xorsign.f16", "max.abs.f16", "min.ftz.bf16", "ex2.approx.bf16",
        "ex2.approx.ftz.f16", "tanh.f16", "mul.oob.f16", "div.f16", "sqrt.approx.f16",
        "fma.rz.bf16", "fma.rm.relu.bf16", "fma.rp.bf16x2",
    ):  # fmt: skip
        assert unsupported(text), text
