"""Names, types, alignments, sizes and numbers, right and wrong ones."""

from __future__ import annotations

from .dice import Dice

TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64".split()
NO_TYPES = (
    "bf16 bf16x2 tf32 f16x2 s16x2 u16x2 e4m3 e4m3x2 b4 pred texref samplerref surfref b6x16_p32".split()
)
BITS = {"f16x2": 32, "pred": 1} | {name: int(name[1:]) for name in TYPES}
NAMES = (
    "x y z %x $x _x x1 x_ %0 %_ $0 x$y x%y _1 a_very_long_name_of_a_variable add ret reg x0 %r1 mov".split()
)
NO_NAMES = "_ 1x .x x.y %tid WARP_SZ x-y x! % $ %laneid %clock call generic".split()
ALIGNS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NO_ALIGNS = ("0", "3", "12", "-4", "1024", "4096", "0x10", "8U", "4.0", "x", "1<<3", "65536", "16777216")
SIZES = ("1", "2", "3", "4", "7", "16", "32", "0x10", "WARP_SZ", "010", "0b11", "5U")
NO_SIZES = ("0", "-1", "1.5", "x", "2+2", "(4)", "")
INTEGERS = (
    "0 1 -1 7 127 128 -128 255 256 65535 65536 -32769 2147483648 0xFFFFFFFF 4294967296 -2147483649".split()
)
EXPRESSIONS = (
    "1+2 (3) -(4) ~0 !0 1<<4 7/2 7%4 1==1 1?2:3 (.s64)-1 0x7FFF&255 WARP_SZ 1U 0b101 017 5-9".split()
)
FLOATS = "0.0 1.0 -2.5 1e3 .5 3. 0f3F800000 0d3FF0000000000000 -0f3F800000 1.0e-400 1e400 1.5+1.5".split()
WIDE = "18446744073709551615 9223372036854775808 -9223372036854775808 18446744073709551616".split()


def name(dice: Dice) -> str:
    """A name to declare."""
    return dice.pick(NAMES, NO_NAMES)


def align(dice: Dice, share: float = 0.4) -> str:
    """`.align 8 `, or nothing."""
    if not dice.maybe(share):
        return ""
    return f".align {dice.pick([str(number) for number in ALIGNS], NO_ALIGNS)} "


def vector(dice: Dice, share: float = 0.2) -> str:
    """`.v2 `, or nothing."""
    return f".{dice.pick(('v2', 'v4'), ('v8', 'v3', 'v16', 'v1'))} " if dice.maybe(share) else ""


def dimensions(dice: Dice, most: int = 3) -> str:
    """`[4][2]`; of none to `most` sizes, mostly one."""
    count = dice.choice((0, 1, 1, 1, 2, most))
    return "".join(f"[{dice.pick(SIZES, NO_SIZES)}]" for _ in range(count))


def number(dice: Dice, type_: str) -> str:
    """A value for a variable of this type; mostly one that fits."""
    floating = type_.startswith("f")
    fitting, other = (FLOATS, INTEGERS) if floating else ([*INTEGERS, *EXPRESSIONS, *WIDE], FLOATS)
    return dice.pick(fitting, other)
