"""Integer, extended-precision and bit operations against Python's integers."""

from __future__ import annotations

import random
from functools import reduce
from operator import xor
from typing import Any

import numpy as np
import pytest
from pure_operations import decode, run, unsupported

KINDS = ["u16", "u32", "u64", "s16", "s32", "s64"]


def size_of(kind: str) -> int:
    return int(kind.removesuffix("x2")[1:])


def number(kind: str, word: int) -> int:
    size = size_of(kind)
    word &= (1 << size) - 1
    return word - (1 << size) if kind[0] == "s" and word >> size - 1 else word


def word(kind: str, value: int) -> int:
    return value & (1 << size_of(kind)) - 1


def words(size: int, seed: int, count: int = 400) -> list[int]:
    source = random.Random(seed * 64 + size)
    top = 1 << size - 1
    special = [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 0x5555555555555555, 0xFF]
    result = [value & 2 * top - 1 for value in special]
    while len(result) < count:
        value = source.getrandbits(source.randrange(1, size + 1))
        result.append(source.choice((value, ~value & 2 * top - 1, value & -1 << source.randrange(size))))
    source.shuffle(result)
    return result


def columns(kind: str, count: int) -> list[list[int]]:
    return [words(size_of(kind), seed) for seed in range(1, count + 1)]


def check(text: str, kinds: list[str], reference: Any, result: str, **operands: Any) -> None:
    """A function of numbers against the operation, on `kinds` of sources."""
    sources = [words(size_of(kind), seed) for seed, kind in enumerate(kinds, 1)]
    got = run(text, *sources, **operands)
    lanes = list(zip(*sources, strict=True))
    numbers = [tuple(number(kind, x) for kind, x in zip(kinds, lane, strict=True)) for lane in lanes]
    want = [word(result, reference(*lane)) for lane in numbers]
    results = zip(lanes, got, want, strict=True)
    assert not [(list(map(hex, lane)), hex(g), hex(w)) for lane, g, w in results if g != w][:5], text


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic(kind: str) -> None:
    size = size_of(kind)
    check(f"add.{kind}", [kind] * 2, lambda a, b: a + b, kind)
    check(f"sub.{kind}", [kind] * 2, lambda a, b: a - b, kind)
    check(f"mul.lo.{kind}", [kind] * 2, lambda a, b: a * b, kind)
    check(f"mul.hi.{kind}", [kind] * 2, lambda a, b: a * b >> size, kind)
    check(f"mad.lo.{kind}", [kind] * 3, lambda a, b, c: a * b + c, kind)
    check(f"mad.hi.{kind}", [kind] * 3, lambda a, b, c: (a * b >> size) + c, kind)
    check(f"sad.{kind}", [kind] * 3, lambda a, b, c: c + abs(a - b), kind)
    check(f"min.{kind}", [kind] * 2, min, kind)
    check(f"max.{kind}", [kind] * 2, max, kind)
    check(f"div.{kind}", [kind] * 2, lambda a, b: truncated(a, b) if b else -1, kind)
    check(f"rem.{kind}", [kind] * 2, lambda a, b: a - b * truncated(a, b) if b else -1, kind)
    if size < 64:
        wide = f"{kind[0]}{2 * size}"
        check(f"mul.wide.{kind}", [kind] * 2, lambda a, b: a * b, wide)
        check(f"mad.wide.{kind}", [kind, kind, wide], lambda a, b, c: a * b + c, wide)
    if kind[0] == "s":
        check(f"abs.{kind}", [kind], abs, kind)
        check(f"neg.{kind}", [kind], lambda a: -a, kind)


def clamp(value: int) -> int:
    return max(-1 << 31, min((1 << 31) - 1, value))


def test_saturation() -> None:
    check("add.sat.s32", ["s32"] * 2, lambda a, b: clamp(a + b), "s32")
    check("sub.sat.s32", ["s32"] * 2, lambda a, b: clamp(a - b), "s32")
    check("mad.hi.sat.s32", ["s32"] * 3, lambda a, b, c: clamp((a * b >> 32) + c), "s32")
    check("min.relu.s32", ["s32"] * 2, lambda a, b: max(min(a, b), 0), "s32")
    check("max.relu.s32", ["s32"] * 2, lambda a, b: max(a, b, 0), "s32")


def test_24_bits() -> None:
    for kind in ("u32", "s32"):

        def low(a: int, kind: str = kind) -> int:
            a &= 0xFFFFFF
            return a - (1 << 24) if kind == "s32" and a >> 23 else a

        check(f"mul24.lo.{kind}", [kind] * 2, lambda a, b, low=low: low(a) * low(b), kind)
        check(f"mul24.hi.{kind}", [kind] * 2, lambda a, b, low=low: low(a) * low(b) >> 16, kind)
        check(f"mad24.lo.{kind}", [kind] * 3, lambda a, b, c, low=low: low(a) * low(b) + c, kind)
        check(f"mad24.hi.{kind}", [kind] * 3, lambda a, b, c, low=low: (low(a) * low(b) >> 16) + c, kind)
    check("mad24.hi.sat.s32", ["s32"] * 3, lambda a, b, c: clamp((low(a) * low(b) >> 16) + c), "s32")


@pytest.mark.parametrize("kind", ["u16x2", "s16x2"])
def test_pairs(kind: str) -> None:
    scalar = kind.removesuffix("x2")

    def each(function: object) -> object:
        def on_words(a: int, b: int) -> int:
            halves = [(number(scalar, a >> shift), number(scalar, b >> shift)) for shift in (0, 16)]
            low, high = (word(scalar, function(*half)) for half in halves)  # type: ignore[operator]
            return low | high << 16

        return on_words

    check(f"add.{kind}", ["u32"] * 2, each(lambda a, b: a + b), "u32")
    check(f"min.{kind}", ["u32"] * 2, each(min), "u32")
    check(f"max.{kind}", ["u32"] * 2, each(max), "u32")
    if scalar == "s16":
        check("min.relu.s16x2", ["u32"] * 2, each(lambda a, b: max(min(a, b), 0)), "u32")
        check("max.relu.s16x2", ["u32"] * 2, each(lambda a, b: max(a, b, 0)), "u32")


def test_counting() -> None:
    for size in (32, 64):
        kind = f"u{size}"
        check(f"popc.b{size}", [kind], lambda a: a.bit_count(), "u32")
        check(f"clz.b{size}", [kind], lambda a, size=size: size - a.bit_length(), "u32")
        check(f"brev.b{size}", [kind], lambda a, size=size: int(f"{a:0{size}b}"[::-1], 2), kind)
        for signed in (False, True):

            def find(a: int) -> int:
                return (~a if a < 0 else a).bit_length() - 1

            def amount(a: int, size: int = size) -> int:
                return -1 if find(a) < 0 else size - 1 - find(a)

            source = f"{'s' if signed else 'u'}{size}"
            check(f"bfind.{source}", [source], find, "u32")
            check(f"bfind.shiftamt.{source}", [source], amount, "u32")


def polynomial_product(a: int, b: int) -> int:
    """Over GF(2): the sum of the shifted `a`, without carries."""
    return reduce(xor, (a << i for i in range(64) if b >> i & 1), 0)


@pytest.mark.parametrize("kind", ["u64", "s64"])
def test_carryless_products(kind: str) -> None:
    """Every pair of bits, all ones by all ones, and random words."""
    ones = 2**64 - 1
    check(f"clmad.lo.{kind}", ["u64"] * 3, lambda a, b, c: polynomial_product(a, b) & ones ^ c, "u64")
    check(f"clmad.hi.{kind}", ["u64"] * 3, lambda a, b, c: polynomial_product(a, b) >> 64 ^ c, "u64")
    bits = [(1 << i, 1 << j) for i in range(64) for j in range(64)]
    for half, shift in (("lo", 0), ("hi", 64)):
        lanes = [*bits, (ones, ones), (ones, 1 << 63)]
        got = run(f"clmad.{half}.{kind}", *zip(*lanes, strict=True), [0] * len(lanes))
        assert list(got) == [polynomial_product(a, b) >> shift & ones for a, b in lanes]


def nth_set(mask: int, base: int, offset: int) -> int:
    """The manual's loop."""
    if offset == -(1 << 31):
        return 0  # As an H200 has it: this offset has no opposite.
    if offset == 0:
        return base if mask >> base & 1 else -1
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += step
    return -1


def test_nth_set_bit() -> None:
    source = random.Random(4)
    masks = words(32, 1, 2000)
    bases = [source.randrange(32) for _ in masks]
    offsets = [
        source.choice((0, 1, -1, 2, -2, source.randrange(-33, 34), 1 << 31)) & 0xFFFFFFFF for _ in masks
    ]
    lanes = zip(masks, bases, offsets, strict=True)
    assert run("fns.b32", masks, bases, offsets) == [
        nth_set(m, b, number("s32", o)) & 0xFFFFFFFF for m, b, o in lanes
    ]
    assert run("fns.b32", [0x003ED101, 0, 1 << 31], [31, 0, 5], [1 << 31] * 3) == [0, 0, 0]
    assert run("fns.b32", [0xAAAAAAAA] * 4, [3, 3, 2, 2], [1, 0xFFFFFFFF, 1, 0xFFFFFFFF]) == [3, 3, 3, 1]


FIELD = [0, 1, 2, 7, 8, 15, 16, 23, 31, 32, 33, 40, 63, 64, 65, 128, 254, 255, 256, 257, 0x1F00, 0xFFFFFFFF]


def field_lanes(size: int) -> list[list[int]]:
    source = random.Random(size)
    lanes = [
        (source.getrandbits(size), source.getrandbits(size), p, n)
        for p in FIELD
        for n in FIELD
        for _ in range(2)
    ]
    return [list(column) for column in zip(*lanes, strict=True)]


def test_bit_fields() -> None:
    for size in (32, 64):
        a, b, positions, lengths = field_lanes(size)
        # As measured on an H200, positions and lengths of 64 bits count in full.
        counted = 255 if size == 32 else 0xFFFFFFFF
        for sign in "us":
            want = []
            for value, position, length in zip(a, positions, lengths, strict=True):
                p, n = position & counted, length & counted
                fill = value >> min(p + n - 1, size - 1) & 1 if sign == "s" and n else 0
                bits = [value >> p + i & 1 if i < n and p + i < size else fill for i in range(size)]
                want.append(sum(bit << i for i, bit in enumerate(bits)))
            assert run(f"bfe.{sign}{size}", a, positions, lengths) == want
        want = []
        for value, into, position, length in zip(a, b, positions, lengths, strict=True):
            p, n = position & counted, length & counted
            result = into
            for i in range(min(n, max(size - p, 0))):
                result = result & ~(1 << p + i) | (value >> i & 1) << p + i
            want.append(result)
        assert run(f"bfi.b{size}", a, b, positions, lengths) == want
    assert run("bfe.u64", [0x8E76C813BD4BF8D2], [0x00F80000], [0xFFFFFFF5]) == [0]
    assert run("bfi.b64", [0x44BFE0BAA3C1962A], [1 << 50], [0xA3C1962B], [0xDF66116C]) == [1 << 50]


def test_extension_and_masks() -> None:
    a, _, positions, lengths = field_lanes(32)
    for mode in ("clamp", "wrap"):
        for kind in ("u32", "s32"):
            want = []
            for value, count in zip(a, lengths, strict=True):
                n = count & 31
                if mode == "clamp" and count >= 32:
                    want.append(value)
                    continue
                low = value & (1 << n) - 1
                want.append((low - (1 << n) if kind == "s32" and n and low >> n - 1 else low) & 0xFFFFFFFF)
            assert run(f"szext.{mode}.{kind}", a, lengths) == want
        want = []
        for position, length in zip(positions, lengths, strict=True):
            if mode == "wrap":
                position, length = position & 31, length & 31
            want.append(((1 << min(length, 32)) - 1 << min(position, 32)) & 0xFFFFFFFF)
        assert run(f"bmsk.{mode}.b32", positions, lengths) == want


def test_dot_products() -> None:
    def fields(value: int, bits: int, kind: str) -> list[int]:
        return [number(f"{kind[0]}{bits}", value >> shift) for shift in range(0, 32, bits)]

    for x in ("u32", "s32"):
        for y in ("u32", "s32"):

            def four(a: int, b: int, c: int, x: str = x, y: str = y) -> int:
                return c + sum(p * q for p, q in zip(fields(a, 8, x), fields(b, 8, y), strict=True))

            check(f"dp4a.{x}.{y}", ["u32"] * 3, four, "u32")
            for mode, first in (("lo", 0), ("hi", 2)):

                def two(a: int, b: int, c: int, x: str = x, y: str = y, first: int = first) -> int:
                    return c + sum(
                        p * q for p, q in zip(fields(a, 16, x), fields(b, 8, y)[first:], strict=False)
                    )

                check(f"dp2a.{mode}.{x}.{y}", ["u32"] * 3, two, "u32")


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_carries(kind: str) -> None:
    size = size_of(kind)
    limit = 1 << size
    a, b, c = columns(f"u{size}", 3)
    flags = [index % 2 == 0 for index in range(len(a))]
    none = [False] * len(a)

    def split(values: list[int]) -> tuple[list[int], list[bool]]:
        return [value % limit for value in values], [value >= limit for value in values]

    sums = [x + y for x, y in zip(a, b, strict=True)]
    # The machine subtracts by adding the complement, and keeps the carry out of that.
    differences = [x + (limit - 1 - y) for x, y in zip(a, b, strict=True)]

    def run_with_flag(
        text: str, *sources: list[int], carry: list[bool] | None = None
    ) -> tuple[list[Any], ...]:
        operation = decode(text)
        assert operation.writes_carry
        assert operation.reads_carry == (carry is not None)
        arrays = [np.array(x, f"uint{size}") for x in sources]
        with np.errstate(all="ignore"):
            total, flag = operation.function(*arrays, *([] if carry is None else [np.array(carry)]))
        return total.tolist(), flag.tolist()

    assert run_with_flag(f"add.cc.{kind}", a, b) == split(sums)
    assert run_with_flag(f"sub.cc.{kind}", a, b) == split([x + 1 for x in differences])
    for carry in (flags, none):
        added = [x + y for x, y in zip(sums, carry, strict=True)]
        assert run_with_flag(f"addc.cc.{kind}", a, b, carry=carry) == split(added)
        assert run(f"addc.{kind}", a, b, carry=carry) == split(added)[0]
        taken = [x + y for x, y in zip(differences, carry, strict=True)]
        assert run_with_flag(f"subc.cc.{kind}", a, b, carry=carry) == split(taken)
        assert run(f"subc.{kind}", a, b, carry=carry) == split(taken)[0]
        for part in ("lo", "hi"):
            products = [number(kind, x) * number(kind, y) for x, y in zip(a, b, strict=True)]
            halves = [(p >> size if part == "hi" else p) % limit for p in products]
            plain = [p + z for p, z in zip(halves, c, strict=True)]
            assert run_with_flag(f"mad.{part}.cc.{kind}", a, b, c) == split(plain)
            added = [p + f for p, f in zip(plain, carry, strict=True)]
            assert run_with_flag(f"madc.{part}.cc.{kind}", a, b, c, carry=carry) == split(added)
            assert run(f"madc.{part}.{kind}", a, b, c, carry=carry) == split(added)[0]


def test_forms_that_do_not_exist_are_refused() -> None:
    for text in (
        "add.sat.u64", "add.sat.s64", "add.b32", "sub.u16x2", "mul.u32", "mul.wide.u64", "mad.lo.sat.s32",
        "mul24.lo.u16", "mad24.lo.sat.s32", "abs.u32", "min.relu.u32", "popc.u32", "bfe.b32", "bfi.u32",
        "szext.u32", "dp4a.u32", "dp2a.u32.u32", "add.cc.u16", "addc.sat.u32", "madc.wide.u32",
        "min.relu.s64", "add", "bmsk.clamp.u32", "fns.u32", "neg.u32", "sub.sat.u16x2", "neg.u8x4",
        "min.relu.u8x4", "set.lt.and.u8x4", "set.lo.s8x4",
    ):  # fmt: skip
        assert unsupported(text), text
