"""Logic, shifts, permutation, moves, comparison and selection; and how they pass undefined bits on."""

from __future__ import annotations

import itertools
import random

import ieee
import numpy as np
import pytest
from ieee import BF16, F16, F32, F64
from pure_operations import array, decode, propagate, run, unsupported

from ptxkit.emulator.operations.logic import expressions

source = random.Random(12)
WORDS = {
    size: [0, 1, (1 << size) - 1, 1 << size - 1] + [source.getrandbits(size) for _ in range(300)]
    for size in (16, 32, 64)
}
OTHERS = {size: values[::-1] for size, values in WORDS.items()}
AMOUNTS = [0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 0x80000000, 0xFFFFFFFF]


@pytest.mark.parametrize("size", [16, 32, 64])
def test_bitwise(size: int) -> None:
    a, b = WORDS[size], OTHERS[size]
    full = (1 << size) - 1
    lanes = list(zip(a, b, strict=True))
    assert run(f"and.b{size}", a, b) == [x & y for x, y in lanes]
    assert run(f"or.b{size}", a, b) == [x | y for x, y in lanes]
    assert run(f"xor.b{size}", a, b) == [x ^ y for x, y in lanes]
    assert run(f"not.b{size}", a) == [x ^ full for x in a]
    assert run(f"cnot.b{size}", a) == [int(x == 0) for x in a]
    assert run("xor.pred", [0, 0, 1, 1], [0, 1, 0, 1]) == [False, True, True, False]
    assert run("not.pred", [0, 1]) == [True, False]


@pytest.mark.parametrize("size", [16, 32, 64])
def test_shifts(size: int) -> None:
    lanes = list(itertools.product(WORDS[size][:40], AMOUNTS))
    a, amounts = map(list, zip(*lanes, strict=True))
    full = (1 << size) - 1
    left = [x << min(n, size) & full for x, n in lanes]
    right = [x >> min(n, size) for x, n in lanes]
    signed = [(x - (x >> size - 1 << size) >> min(n, size)) & full for x, n in lanes]
    assert run(f"shl.b{size}", a, amounts) == left
    for kind in "bu":
        assert run(f"shr.{kind}{size}", a, amounts) == right
    assert run(f"shr.s{size}", a, amounts) == signed
    # One amount for all lanes, as a constant is.
    for n in AMOUNTS:
        alone = [(l, r, s) for (_, m), l, r, s in zip(lanes, left, right, signed, strict=True) if m == n]
        values = [x for x, m in lanes if m == n]
        assert run(f"shl.b{size}", values, n) == [l for l, _, _ in alone]
        assert run(f"shr.u{size}", values, n) == [r for _, r, _ in alone]
        assert run(f"shr.s{size}", values, n) == [s for _, _, s in alone]


def test_funnel_shifts() -> None:
    lanes = [(a, b, n) for a, b in zip(WORDS[32][:40], OTHERS[32][:40], strict=True) for n in AMOUNTS]
    columns = list(map(list, zip(*lanes, strict=True)))
    for mode in ("clamp", "wrap"):
        amounts = [min(n, 32) if mode == "clamp" else n & 31 for _, _, n in lanes]
        whole = [b << 32 | a for a, b, _ in lanes]
        want = [(x << n) >> 32 & 0xFFFFFFFF for x, n in zip(whole, amounts, strict=True)]
        assert run(f"shf.l.{mode}.b32", *columns) == want
        assert run(f"shf.r.{mode}.b32", *columns) == [
            x >> n & 0xFFFFFFFF for x, n in zip(whole, amounts, strict=True)
        ]


def look_up(table: int, a: int, b: int, c: int) -> int:
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))


def test_every_table_of_lop3() -> None:
    # These three words hold all eight rows of the table.
    a, b, c = 0xF0F05A5A, 0xCCCC3C3C, 0xAAAA6699
    for table in range(256):
        immediates = (None, None, None, None, table)
        want = look_up(table, a, b, c)
        assert run("lop3.b32", [a], [b], [c], immediates=immediates) in ([want], want)
        for boolean, q in itertools.product(("and", "or"), (False, True)):
            p = want != 0 and q if boolean == "and" else want != 0 or q
            d, predicate = run(f"lop3.{boolean}.b32", [a], [b], [c], [q], immediates=(*immediates, None))
            assert (d, predicate) in (([want], [p]), (want, [p]))
    (beyond,) = run("lop3.b32", [a], [b], [c], immediates=(None, None, None, None, 0x7E8))
    assert beyond == look_up(0xE8, a, b, c)  # As the assembler takes it: the lower 8 bits.
    assert len(expressions()) == 254


def byte_of(words: int, selector: int) -> int:
    byte = words >> 8 * (selector & 7) & 0xFF
    return (0xFF if byte & 0x80 else 0) if selector & 8 else byte


MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}
"""The manual's table of 9.7.9.7, read from the right: bytes d.b0 to d.b3."""


def test_permutation() -> None:
    a, b = WORDS[32], OTHERS[32]
    selectors = [source.getrandbits(32) for _ in a]

    def permuted(x: int, y: int, nibbles: list[int]) -> int:
        return sum(byte_of(y << 32 | x, selector) << 8 * i for i, selector in enumerate(nibbles))

    def nibbles(c: int) -> list[int]:
        return [c >> 4 * i & 15 for i in range(4)]

    want = [permuted(x, y, nibbles(c)) for x, y, c in zip(a, b, selectors, strict=True)]
    assert run("prmt.b32", a, b, selectors) == want
    # Two words for all lanes, as a table of bytes is.
    for x, y in ((0x03020100, 0x0C080604), (0x7D7E7F00, 0xF4788A7C)):
        assert run("prmt.b32", x, y, selectors) == [permuted(x, y, nibbles(c)) for c in selectors]
    constants = [0x5410, 0x7632, 0x3210, 0x7654, 0, 0x8888, 0xFEDC, 0x4040, 0x1032, 0xBA98, 0x1_5410]
    for constant in [*constants, *(source.getrandbits(16) for _ in range(100))]:
        got = run("prmt.b32", a, b, constant, immediates=(None, None, None, constant))
        assert got == [permuted(x, y, nibbles(constant)) for x, y in zip(a, b, strict=True)], hex(constant)
    for mode, rows in MODES.items():
        want = [permuted(x, y, list(rows[c & 3])) for x, y, c in zip(a, b, selectors, strict=True)]
        assert run(f"prmt.b32.{mode}", a, b, selectors) == want
        for c in range(4):
            got = run(f"prmt.b32.{mode}", a, b, c, immediates=(None, None, None, c))
            assert got == [permuted(x, y, list(rows[c])) for x, y in zip(a, b, strict=True)]


def test_moves() -> None:
    for kind in ("b16", "u32", "s64", "f32", "f64", "pred", "b128"):
        operation = decode(f"mov.{kind}")
        value = array(kind, [0, 1]) if kind != "b128" else np.zeros((3, 2), np.uint64)
        assert operation.function(value) is value
    a, b, c, d = ([value & 0xFFFF for value in WORDS[64][i:100] + WORDS[64][:i]] for i in range(4))
    packed = [x | y << 16 for x, y in zip(a, b, strict=True)]
    assert run("mov.b32", a, b, vectors=(0, 2)) == packed
    assert run("mov.b32", packed, vectors=(2, 0)) == (a, b)
    packed = [w | x << 16 | y << 32 | z << 48 for w, x, y, z in zip(a, b, c, d, strict=True)]
    assert run("mov.b64", a, b, c, d, vectors=(0, 4)) == packed
    assert run("mov.b64", packed, vectors=(4, 0)) == (a, b, c, d)
    assert run("mov.b64", packed, vectors=(2, 0)) == (
        [x & 0xFFFFFFFF for x in packed],
        [x >> 32 for x in packed],
    )
    assert run("mov.b16", [0x1234], vectors=(2, 0)) == ([0x34], [0x12])
    halves = [np.array(WORDS[64], np.uint64), np.array(OTHERS[64], np.uint64)]
    whole = decode("mov.b128", vectors=(0, 2)).function(*halves)
    assert whole.shape == (len(WORDS[64]), 2)
    assert [part.tolist() for part in decode("mov.b128", vectors=(2, 0)).function(whole)] == [
        x.tolist() for x in halves
    ]
    quarters = decode("mov.b128", vectors=(4, 0)).function(whole)
    assert [part.dtype for part in quarters] == [np.uint32] * 4
    assert quarters[3].tolist() == [x >> 32 for x in OTHERS[64]]
    np.testing.assert_array_equal(decode("mov.b128", vectors=(0, 4)).function(*quarters), whole)
    assert run("mov.v2.u32", [1], [2], vectors=(2, 2)) == ([1], [2])


ORDERS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
TRUTH = {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}


@pytest.mark.parametrize("size", [16, 32, 64])
def test_integer_comparison(size: int) -> None:
    a = WORDS[size][:60] + WORDS[size][:10]
    b = OTHERS[size][:60] + WORDS[size][:10]
    c = [bool(x >> 3 & 1) for x in a]
    for kind in "bus":
        numbers = [x - (x >> size - 1 << size) if kind == "s" else x for x in a]
        others = [x - (x >> size - 1 << size) if kind == "s" else x for x in b]
        operators = {"eq": "eq", "ne": "ne"} if kind == "b" else {name: name for name in ORDERS}
        if kind == "u":
            operators |= UNSIGNED
        for operator, order in operators.items():
            t = [ORDERS[order](x, y) for x, y in zip(numbers, others, strict=True)]
            assert run(f"setp.{operator}.{kind}{size}", a, b) == (t, [not x for x in t])
            full = [0xFFFFFFFF if x else 0 for x in t]
            assert run(f"set.{operator}.u32.{kind}{size}", a, b) == full
            assert run(f"set.{operator}.f32.{kind}{size}", a, b) == [0x3F800000 if x else 0 for x in t]
            assert run(f"set.{operator}.bf16.{kind}{size}", a, b) == [0x3F80 if x else 0 for x in t]
            for boolean, truth in TRUTH.items():
                p = [truth(x, y) for x, y in zip(t, c, strict=True)]
                q = [truth(not x, y) for x, y in zip(t, c, strict=True)]
                assert run(f"setp.{operator}.{boolean}.{kind}{size}", a, b, c) == (p, q)
                assert run(f"set.{operator}.{boolean}.s32.{kind}{size}", a, b, c) == [
                    0xFFFFFFFF if x else 0 for x in p
                ]


def compare(form: ieee.Form, operator: str, a: int, b: int) -> bool:
    nan = ieee.is_nan(form, a) or ieee.is_nan(form, b)
    if operator in ("num", "nan"):
        return nan == (operator == "nan")
    if nan:
        return operator.endswith("u")
    x, y = (
        (-1 if code & form.sign else 1) * 10**400 if ieee.is_infinite(form, code) else ieee.number(form, code)
        for code in (a, b)
    )
    return ORDERS[operator.removesuffix("u")](x, y)


@pytest.mark.parametrize(("kind", "form"), [("f16", F16), ("bf16", BF16), ("f32", F32), ("f64", F64)])
def test_float_comparison(kind: str, form: ieee.Form) -> None:
    special = ieee.specials(form)
    lanes = list(itertools.product(special[::2], special[1::3]))
    lanes += zip(ieee.numbers(form, 100, 31), ieee.numbers(form, 100, 32), strict=True)
    a, b = map(list, zip(*lanes, strict=True))
    c = [index % 3 == 0 for index in range(len(lanes))]
    for operator in [*ORDERS, *(f"{name}u" for name in ORDERS), "num", "nan"]:
        t = [compare(form, operator, x, y) for x, y in lanes]
        # `setp.f16` and `.bf16` have no second destination.
        both = form.width > 16
        assert run(f"setp.{operator}.{kind}", a, b) == ((t, [not x for x in t]) if both else t), operator
        p = [x != y for x, y in zip(t, c, strict=True)]
        found = run(f"setp.{operator}.xor.{kind}", a, b, c)
        assert (found[0] if both else found) == p
        assert run(f"set.{operator}.s32.{kind}", a, b) == [0xFFFFFFFF if x else 0 for x in t]
        if kind != "bf16":
            assert run(f"set.{operator}.f16.{kind}", a, b) == [0x3C00 if x else 0 for x in t]
        assert run(f"set.{operator}.bf16.{kind}", a, b) == [0x3F80 if x else 0 for x in t]
        if kind in ("f16", "f32"):
            t = [compare(form, operator, ieee.flush(form, x), ieee.flush(form, y)) for x, y in lanes]
            found = run(f"setp.{operator}.ftz.{kind}", a, b)
            assert (found[0] if both else found) == t
        if form.width == 16:
            t = [compare(form, operator, x, y) for x, y in lanes]
            high = t[::-1]
            packed = [[x | y << 16 for x, y in zip(column, column[::-1], strict=True)] for column in (a, b)]
            assert run(f"setp.{operator}.{kind}x2", *packed) == (t, high)
            p, q = ([x or y for x, y in zip(side, c, strict=True)] for side in (t, high))
            assert run(f"setp.{operator}.or.{kind}x2", *packed, c) == (p, q)
            one = 0x3C00 if kind == "f16" else 0x3F80
            assert run(f"set.{operator}.or.{kind}x2.{kind}x2", *packed, c) == [
                one * x | one * y << 16 for x, y in zip(p, q, strict=True)
            ]
            assert run(f"set.{operator}.u32.{kind}x2", *packed) == [
                0xFFFF * x | 0xFFFF * y << 16 for x, y in zip(t, high, strict=True)
            ]
            assert run(f"set.{operator}.u16.{kind}", a, b) == [0xFFFF if x else 0 for x in t]


def test_selection() -> None:
    for size in (16, 32, 64):
        a, b = WORDS[size], OTHERS[size]
        c = [bool(x & 1) for x in a]
        want = [x if z else y for x, y, z in zip(a, b, c, strict=True)]
        assert run(f"selp.b{size}", a, b, c) == want
        assert run(f"selp.b{size}", a, b, True) == a
        signs = [x * 0x01010101 & 0xFFFFFFFF for x in WORDS[16]]
        want = [y if z >> 31 else x for x, y, z in zip(a, b, signs, strict=True)]
        assert run(f"slct.u{size}.s32", a, b, signs) == want
    special = ieee.specials(F32)
    a, b = WORDS[32][: len(special)], OTHERS[32][: len(special)]
    at_least_zero = [not ieee.is_nan(F32, z) and (z >> 31 == 0 or z == 0x80000000) for z in special]
    assert run("slct.f32.f32", a, b, special) == [
        x if z else y for x, y, z in zip(a, b, at_least_zero, strict=True)
    ]
    flushed = [
        not ieee.is_nan(F32, z) and (z >> 31 == 0 or ieee.flush(F32, z) == 0x80000000) for z in special
    ]
    assert run("slct.ftz.b32.f32", a, b, special) == [
        x if z else y for x, y, z in zip(a, b, flushed, strict=True)
    ]


def random_masks(size: int, count: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [
        draw.choice((0, 0, draw.getrandbits(size) & draw.getrandbits(size) & draw.getrandbits(size)))
        for _ in range(count)
    ]


def spoiled(function: object, values: tuple[int, ...], masks: tuple[int, ...]) -> int:
    """The result's bits that differ among all fillings of the undefined source bits."""
    fillings = []
    for value, mask in zip(values, masks, strict=True):
        bits = [i for i in range(16) if mask >> i & 1]
        fillings.append([
            value & ~mask | sum((choice >> k & 1) << bit for k, bit in enumerate(bits)) for choice in
            range(1 << len(bits))
        ])  # fmt: skip
    results = [function(*lane) for lane in itertools.product(*fillings)]  # type: ignore[operator]
    ones, zeros = 0, 0
    for result in results:
        ones, zeros = ones | result, zeros | ~result
    return ones & zeros & 0xFFFF


def test_undefined_bits_of_logic_exactly() -> None:
    a, b = ([x & 0xFFFF for x in WORDS[16][:60]] for _ in range(2))
    x, y = random_masks(16, 60, 1), random_masks(16, 60, 2)
    few = [(m & 0x1248, n & 0x2481) for m, n in zip(x, y, strict=True)]
    x, y = [m for m, _ in few], [n for _, n in few]
    for text, function in (
        ("and.b16", lambda p, q: p & q),
        ("or.b16", lambda p, q: p | q),
        ("xor.b16", lambda p, q: p ^ q),
    ):
        want = [spoiled(function, (p, q), (m, n)) for p, q, m, n in zip(a, b[::-1], x, y, strict=True)]
        assert propagate(text, (a, b[::-1]), (x, y)) == want, text
        want = [spoiled(function, (p, q), (m, 0)) for p, q, m in zip(a, b[::-1], x, strict=True)]
        assert propagate(text, (a, b[::-1]), (x, None)) == want, text
    one_sided = propagate("and.pred", ([0, 1, 0, 1], [1, 1, 0, 0]), (None, [1, 1, 1, 1]))
    assert one_sided == [False, True, False, True]


def test_undefined_bits_of_lop3_exactly() -> None:
    draw = random.Random(3)
    for table in draw.sample(range(256), 40):
        lanes = [[draw.getrandbits(16) for _ in range(12)] for _ in range(3)]
        masks = [[draw.getrandbits(4) << draw.randrange(3) for _ in range(12)] for _ in range(3)]
        got = propagate("lop3.b32", lanes, masks, immediates=(None, None, None, None, table))
        values, undefined = zip(*lanes, strict=True), zip(*masks, strict=True)
        for result, value, mask in zip(np.broadcast_to(got, 12), values, undefined, strict=True):
            want = spoiled(lambda a, b, c, t=table: look_up(t, a, b, c) & 0xFFFF, value, mask)
            assert int(result) & 0xFFFF == want


def test_undefined_bits_move_with_their_words() -> None:
    mask, value = [0x00F00001], [0x12345678]
    assert propagate("shl.b32", (value, 4), (mask, None)) == [0x0F000010]
    assert propagate("shr.u32", (value, [4]), (mask, None)) == [0x000F0000]
    assert propagate("shr.s32", (value, 4), ([0x80000000], None)) == [0xF8000000]
    assert propagate("shl.b32", (value, [4]), (None, [1])) == [0xFFFFFFFF]
    assert propagate("shf.l.wrap.b32", (value, value, 8), (mask, None, None)) == [0x00000000]
    assert propagate("shf.r.wrap.b32", (value, value, 8), (None, mask, None)) == [0x01000000]
    assert propagate(
        "prmt.b32", (value, value, 0x9140), (mask, None, None), immediates=(None,) * 3 + (0x9140,)
    ) == [0x00000001]
    assert propagate(
        "prmt.b32", (value, value, 0x8000), ([0x80], None, None), immediates=(None,) * 3 + (0x8000,)
    ) == [0xFF808080]
    assert propagate("bfe.u32", (value, 20, 8), (mask, None, None)) == [0x0000000F]
    assert propagate("bfe.s32", (value, 16, 8), (mask, None, None)) == [0xFFFFFFF0]
    assert propagate("bfe.u32", (value, [20], 8), (None, [4], None)) == [0xFFFFFFFF]
    assert propagate("bfi.b32", (value, value, 4, 8), ([0x81], [0xFFFF0000], None, None)) == [0xFFFF0810]
    assert propagate("brev.b32", (value,), ([1],)) == [0x80000000]
    assert propagate("szext.wrap.s32", (value, 8), ([0x80], None)) == [0xFFFFFF80]
    assert propagate("not.b32", (value,), (mask,)) == mask
    assert propagate("mov.b32", (value,), (mask,)) == mask
    assert propagate("mov.b32", ([1], [2]), ([0x10], None), vectors=(0, 2)) == [0x10]
    assert propagate("mov.b32", (value,), ([0x00018000],), vectors=(2, 0)) == ([0x8000], [1])
    assert propagate("mov.v2.u32", ([1], [2]), (None, [4]), vectors=(2, 2)) == (None, [4])
    assert propagate("cvt.u64.u32", (value,), (mask,)) == mask
    assert propagate("cvt.s64.s32", (value,), ([0x80000000],)) == [0xFFFFFFFF80000000]
    assert propagate("cvt.u8.u32", (value,), ([0x1FF],)) == [0xFF]
    assert propagate("add.u32", (value, value), ([0x10], None)) == [0xFFFFFFF0]
    assert propagate("mul.lo.u32", (value, value), (None, [0x100])) == [0xFFFFFF00]
    assert propagate("mad.lo.u32", (value, value, value), (None, [0x100], [0x10])) == [0xFFFFFFF0]


def test_undefined_bits_spoil_their_part_of_a_pair() -> None:
    word = [0x3C003C00]
    assert propagate("fma.rn.f16x2", (word,) * 3, (None, [0x00010000], None)) == [0xFFFF0000]
    assert propagate("add.bf16x2", (word,) * 2, ([1], [0x80000000])) == [0xFFFFFFFF]
    assert propagate("max.s16x2", (word,) * 2, ([1], None)) == [0x0000FFFF]
    assert propagate("mul.f32x2", ([1 << 40],) * 2, ([1 << 40], None)) == [0xFFFFFFFF00000000]
    assert propagate("cvt.rn.f16x2.f32", ([1], [2]), ([4], None)) == [0xFFFF0000]
    assert propagate("cvt.rs.bf16x2.f32", ([1], [2], [3]), (None, None, [1])) == [0xFFFFFFFF]
    assert propagate("cvt.rn.f16x2.e4m3x2", ([1],), ([0x80],)) == [0x0000FFFF]
    assert propagate("cvt.rn.satfinite.e2m1x2.f32", ([1], [2]), ([1], None)) == [0xF0]
    assert propagate("cvt.rn.satfinite.e4m3x2.f16x2", (word,), ([0x00010000],)) == [0xFF00]
    masks = (None, [1], None, [1], None)
    assert propagate("cvt.rs.satfinite.e4m3x4.f32", ([1],) * 5, masks) == [0x00FF00FF]
    assert propagate("setp.eq.f16x2", (word, word), ([1], None)) == ([True], [False])
    assert propagate("setp.eq.or.f16x2", (word, word, [1]), (None, [1 << 31], [0])) == ([False], [True])
    assert propagate("set.eq.u32.f16x2", (word, word), ([1], None)) == [0x0000FFFF]


def test_undefined_bits_of_selection_and_equality() -> None:
    a, b = [0xF0, 0xF0, 0xF0], [0xFF, 0xFF, 0xF0]
    assert propagate("selp.b32", (a, b, [1, 0, 1]), ([1, 1, 1], [2, 2, 2], None)) == [1, 2, 1]
    assert propagate("selp.b32", (a, b, [1, 0, 1]), (None, None, [1, 1, 1])) == [0x0F, 0x0F, 0]
    assert propagate("selp.b32", (a, b, [1, 0, 1]), (None, [0x100] * 3, [0, 0, 1])) == [0, 0x100, 0x100]
    # A differing defined bit settles the matter; otherwise an undefined one leaves it open.
    p, q = propagate("setp.eq.u32", (a, b), ([1, 0x0F, 1], None))
    assert p == q == [False, True, True]
    p, q = propagate("setp.ne.and.u32", (a, b, [1, 1, 1]), (None, None, [0, 1, 0]))
    assert p == q == [False, True, False]


def test_forms_that_do_not_exist_are_refused() -> None:
    for text in (
        "and.u32", "not.s32", "cnot.pred", "shl.u32", "shf.l.b32", "shf.l.wrap.b64", "prmt.b64",
        "setp.lt.b32", "setp.lo.s32", "setp.equ.u32", "setp.lo.f32", "setp.ftz.eq.f64", "setp.eq.ftz.bf16",
        "set.eq.u64.u32", "set.eq.f16x2.bf16x2", "set.eq.u16.f32", "selp.pred", "selp.f16", "slct.u32.u32",
        "slct.ftz.u32.s32", "setp.eq", "prmt.b32.f4e.rc8",
    ):  # fmt: skip
        assert unsupported(text), text
    assert unsupported("mov.u32", vectors=(0, 2))
    assert unsupported("mov.b32", vectors=(0, 3))
    assert unsupported("mov.b64", vectors=(2, 4))
