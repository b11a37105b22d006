"""Video instructions on Python's integers: the manual's pseudocode, and where an H200 gives something else,
what was measured there (driver 580.159.04)."""

from __future__ import annotations

import itertools
import random
from functools import partial

import pytest
from pure_operations import run

import ptxkit

COUNT = 60
draw = random.Random(18)
EDGES = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x807F7F80,
    0x7FFF8000,
    0x80007FFF,
]
A, B, C = ([draw.choice((draw.choice(EDGES), draw.getrandbits(32))) for _ in range(COUNT)] for _ in range(3))
PARTS = {
    None: (0, 32),
    "h0": (0, 16),
    "h1": (16, 16),
    "b0": (0, 8),
    "b1": (8, 8),
    "b2": (16, 8),
    "b3": (24, 8),
}
TYPES = ("u32", "s32")


def extract(word: int, part: str | None, kind: str) -> int:
    low, size = PARTS[part]
    value = word >> low & (1 << size) - 1
    return value - (1 << size) if kind == "s32" and value >> size - 1 else value


def clamp(value: int, size: int, kind: str) -> int:
    low, high = (-1 << size - 1, (1 << size - 1) - 1) if kind == "s32" else (0, (1 << size) - 1)
    return max(low, min(high, value))


def merge(result: int, part: str | None, c: int) -> int:
    if part == "h1":
        # As measured on an H200: the upper half stays where it is.
        return result & 0xFFFF0000 | c & 0xFFFF
    low, size = PARTS[part]
    field = ((1 << size) - 1) << low
    return result << low & field | c & ~field & 0xFFFFFFFF


def signed(value: int, size: int) -> int:
    """The lowest bits of a value, as a signed number."""
    return (value + (1 << size - 1) & (1 << size) - 1) - (1 << size - 1)


def second(name: str, result: int, c: int, kind: str) -> int:
    """As measured on an H200: for `.u32` both are compared as unsigned words of 64 bits."""
    if name == "add":
        return result + c
    modulus = 1 << 64
    pair = [result % modulus, c] if kind == "u32" else [signed(result, 64), signed(c, 32)]
    return min(pair) if name == "min" else max(pair)


ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "absdiff": lambda a, b: abs(a - b),
    "min": min,
    "max": max,
}
AVERAGE = {"avrg": lambda a, b: a + b + 1 >> 1 if a + b >= 0 else a + b >> 1}
COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


FINISHES = [(None, None), ("add", None), ("min", None), ("max", None), (None, "h1"), (None, "b2")]


def check(text: str, operation, dtype: str, atype: str, btype: str, saturate=None, narrow=False) -> None:
    """All ways to finish a scalar instruction, with parts of the sources drawn at random.

    `saturate` gets the result and the size of the destination's part; `narrow` is whether only 32 bits of the
    result take part in a secondary operation."""
    for secondary, dsel in FINISHES:
        asel, bsel = draw.choice(list(PARTS)), draw.choice(list(PARTS))
        want = []
        for a, b, c in zip(A, B, C, strict=True):
            t = operation(extract(a, asel, atype), extract(b, bsel, btype))
            if saturate:
                t = saturate(t, PARTS[dsel][1])
            if secondary:
                t = second(secondary, signed(t, 32) if narrow else t, c, dtype)
            want.append(merge(t, dsel, c) if dsel else t & 0xFFFFFFFF)
        sources = (A, B, C) if secondary or dsel else (A, B)
        full = f"{text}.{secondary}" if secondary else text
        assert run(full, *sources, selectors=(dsel, asel, bsel, None)) == want, (full, dsel, asel, bsel)


def saturated_sum(result: int, size: int, kind: str) -> int:
    """`.sat` of vadd and its like, as measured on an H200: u32 has no upper limit, a part no lower one."""
    if size < 32:
        greatest = (1 << size - (kind == "s32")) - 1
        return result if 0 <= result <= greatest else greatest
    return clamp(result, 32, kind) if kind == "s32" else max(result, 0)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_scalar_arithmetic(name: str) -> None:
    for dtype, atype, btype in itertools.product(TYPES, TYPES, TYPES):
        text = f"v{name}.{dtype}.{atype}.{btype}"
        narrow = name in ("add", "sub")
        check(text, ARITHMETIC[name], dtype, atype, btype, None, narrow)
        saturate = partial(saturated_sum, kind=dtype)
        check(f"{text}.sat", ARITHMETIC[name], dtype, atype, btype, saturate, narrow)


MEASURED = """
vadd.u32.u32.u32.sat     ffffffe0 0007ffff          - 0007ffdf
vadd.u32.u32.u32         82ad9ff0.b3 82ad9ff1.h0 ef02309f.h1 0000309f
vadd.u32.u32.u32.min     00200001 ffffffc0 6be8055b 001fffc1
vadd.u32.u32.u32.max     9ecf4b9c 007fc000 e4c50faf 9f4f0b9c
vadd.s32.u32.u32.max     55555555 55555556 fffff800 fffff800
vadd.u32.u32.s32.sat     40c87030 bf378fcf 78000000.b1 7800ff00
vadd.s32.s32.s32.sat     00000018 b13047f4 92512c8e.h0 92517fff
vsub.u32.s32.s32.min     b66cadc1 00000003 000007ff 000007ff
vset.s32.u32.lt.max      d9430e2f 00080000 87d5584a 00000001
vmad.u32.u32.u32.po.sat.shr7 ff800000 ffffffbd 504a9362 00e39526
vmad.s32.u32.s32.po.sat.shr7 ffffffde 0000003f 000007c0 fffffffe
vmad.u32.u32.s32.po.sat  81795494 ea26df91 00020000 7fffffff
"""
"""Statement, a, b, c with the destination's part, and the result of an H200."""


@pytest.mark.parametrize("line", MEASURED.split("\n")[1:-1])
def test_results_of_the_hardware(line: str) -> None:
    text, *sources, result = line.split()
    words, parts = zip(*(source.partition(".")[::2] for source in sources), strict=True)
    asel, bsel, dsel = (part or None for part in parts)
    values = [[int(word, 16)] for word in words if word != "-"]
    assert run(text, *values, selectors=(dsel, asel, bsel, None)) == [int(result, 16)]


@pytest.mark.parametrize("left", [True, False])
def test_scalar_shifts(left: bool) -> None:
    for dtype, atype, mode, saturate in itertools.product(TYPES, TYPES, ("clamp", "wrap"), (False, True)):

        def shift(a: int, b: int, mode: str = mode) -> int:
            n = min(b, 32) if mode == "clamp" else b & 31
            return a << n if left else a >> n

        def limited(result: int, _: int, dtype: str = dtype) -> int:
            # As measured on an H200: 34 bits, clamped to 32 even into a part.
            return clamp(signed(result, 34), 32, dtype)

        text = f"v{'shl' if left else 'shr'}.{dtype}.{atype}.u32{'.sat' if saturate else ''}.{mode}"
        check(text, shift, dtype, atype, "u32", limited if saturate else None, saturate)


@pytest.mark.parametrize("operator", COMPARE)
def test_scalar_comparison(operator: str) -> None:
    for atype, btype in itertools.product(TYPES, TYPES):
        # As measured on an H200, `.min` and `.max` take c in the sign of a.
        check(f"vset.{atype}.{btype}.{operator}", COMPARE[operator], atype, atype, btype)


def test_multiply_add() -> None:
    signs = [(a, b, False) for a in (False, True) for b in (False, True)] + [(False, False, True)]
    for atype, btype, scale, saturate in itertools.product(TYPES, TYPES, (0, 7, 15), (False, True)):
        for (minus_a, minus_b, minus_c), plus_one in [*((s, False) for s in signs), ((False,) * 3, True)]:
            asel, bsel = draw.choice(list(PARTS)), draw.choice((None, None, "h1"))
            negative = minus_a != minus_b
            final = "s32" if "s32" in (atype, btype) or negative or minus_c else "u32"
            want = []
            for a, b, c in zip(A, B, C, strict=True):
                # As measured on an H200, whole words are signed, and the sum wraps at 64 bits.
                x, y = (
                    extract(word, sel, kind if sel else "s32")
                    for word, sel, kind in ((a, asel, atype), (b, bsel, btype))
                )
                addend = extract(c, None, "s32")
                t = (-x * y if negative else x * y) + (-addend if minus_c else addend) + plus_one
                t = signed((t if final == "s32" else t % (1 << 64)) >> scale, 64)
                want.append((clamp(t, 32, final) if saturate else t) & 0xFFFFFFFF)
            text = f"vmad.{final}.{atype}.{btype}"
            text += ".po" * plus_one + ".sat" * saturate + (f".shr{scale}" if scale else "")
            operands = {"selectors": (None, asel, bsel, None), "negated": (False, minus_a, minus_b, minus_c)}
            assert run(text, A, B, C, **operands) == want, (text, operands)


def check_simd(name: str, count: int, operation, types: tuple[str, ...], dtype: str) -> None:
    size, letter = 32 // count, "h" if count == 2 else "b"
    *_, atype, btype = types
    comparing = name.startswith("vset")
    for modifier in ("", ".add") if comparing else ("", ".sat", ".add"):
        asel, bsel = (draw.choice((None, [draw.randrange(2 * count) for _ in range(count)])) for _ in "ab")
        mask = draw.choice((None, sorted(draw.sample(range(count), draw.randrange(1, count + 1)))))
        a_lanes, b_lanes = asel or list(range(count)), bsel or list(range(count, 2 * count))
        want = []
        for a, b, c in zip(A, B, C, strict=True):
            both = b << 32 | a
            result = c
            for lane in mask if mask is not None else range(count):
                values = []
                for source, kind in ((a_lanes[lane], atype), (b_lanes[lane], btype)):
                    value = both >> source * size & (1 << size) - 1
                    values.append(value - (1 << size) if kind == "s32" and value >> size - 1 else value)
                t = int(operation(*values))
                if modifier == ".sat":
                    t = clamp(t, size, dtype)
                if modifier == ".add":
                    result += t
                else:
                    field = ((1 << size) - 1) << lane * size
                    result = result & ~field | t << lane * size & field
            want.append(result & 0xFFFFFFFF)
        selectors = tuple(
            None if lanes is None else letter + "".join(str(lane) for lane in reversed(lanes))
            for lanes in (mask, asel, bsel)
        )
        text = f"{name}.{'.'.join(types)}{modifier}"
        assert run(text, A, B, C, selectors=selectors) == want, (text, selectors)


@pytest.mark.parametrize("count", [2, 4])
def test_simd(count: int) -> None:
    for name, operation in (ARITHMETIC | AVERAGE).items():
        for types in itertools.product(TYPES, TYPES, TYPES):
            check_simd(f"v{name}{count}", count, operation, types, types[0])
    for operator, operation in COMPARE.items():
        for atype, btype in itertools.product(TYPES, TYPES):
            name = f"vset{count}"
            asked = (atype, btype, operator)
            size = 32 // count
            for modifier in ("", ".add"):
                want = []
                for a, b, c in zip(A, B, C, strict=True):
                    result = c
                    for lane in range(count):
                        x, y = (word >> lane * size & (1 << size) - 1 for word in (a, b))
                        x -= (1 << size) if atype == "s32" and x >> size - 1 else 0
                        y -= (1 << size) if btype == "s32" and y >> size - 1 else 0
                        t = int(operation(x, y))
                        field = ((1 << size) - 1) << lane * size
                        result = result + t if modifier else result & ~field | t << lane * size
                    want.append(result & 0xFFFFFFFF)
                assert run(f"{name}.{'.'.join(asked)}{modifier}", A, B, C) == want


def refused(statement: str) -> bool:
    module = ptxkit.parse(
        f".version 9.0\n.target sm_90\n.entry k()\n{{\n.reg .b32 %r<5>;\n{statement};\n}}\n"
    )
    return any(found.is_error for found in ptxkit.check(module))


def test_forms_that_do_not_exist_are_refused() -> None:
    for text, selectors in (
        ("vadd.u32.u32", ()), ("vadd.u32.u32.u32.add", ("h0",)), ("vadd.u32.u32.u32", (None, "h2")),
        ("vshl.u32.u32.u32", ()), ("vshl.u32.u32.s32.wrap", ()), ("vset.u32.u32", ()), ("vmad.u32.u32.u32",
        ("h0",)), ("vadd2.u32.u32.u32.sat.add", ()), ("vadd2.u32.u32.u32", ("h2",)), ("vadd2.u32.u32.u32",
        (None, "h4")), ("vadd4.u32.u32.u32", ("b01",)), ("vadd4.u32.u32.u32", (None, "h10")),
        ("vset4.u32.u32", ()),
    ):  # fmt: skip
        parts = [f".{part}" if part else "" for part in (*selectors, None, None, None)]
        for operands in ("%r1{}, %r2{}, %r3{}", "%r1{}, %r2{}, %r3{}, %r4"):
            assert refused(f"{text} {operands.format(*parts)}"), (text, selectors)
    assert refused("vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4")
    assert refused("vmad.s32.s32.s32.po %r1, %r2, %r3, -%r4")
