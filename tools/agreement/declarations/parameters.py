"""Parameters, results and arguments, as calls, headers and prototypes take them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import words
from .dice import Dice

REGISTERS = "b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f16 f32 f64 pred b8 u8".split()


@dataclass(frozen=True)
class Value:
    """A parameter or an argument: `.param .align 8 .b8 x[16]`."""

    space: str
    type: str
    align: str = ""
    vector: str = ""
    shape: str = ""
    pointer: str = ""

    def declared(self, name: str) -> str:
        """Its declaration under a name, without the semicolon."""
        return f".{self.space} {self.align}{self.vector}.{self.type} {self.pointer}{name}{self.shape}"


def value(dice: Dice) -> Value:
    """A parameter of a function."""
    if dice.maybe(0.4):
        return Value(
            dice.pick(("reg",), ("local", "shared", "global", "const")),
            dice.pick(REGISTERS, words.NO_TYPES),
            align=dice.pick(("",), (".align 8 ", ".align 4 ")),
            vector=words.vector(dice, 0.15),
            shape=dice.pick(("",), ("[4]", "[1]", "<2>")),
        )
    structure = dice.maybe(0.4)
    type_ = "b8" if structure else dice.pick(words.TYPES, words.NO_TYPES)
    sizes = ("[1]", "[4]", "[8]", "[12]", "[16]", "[40]", "[3]", "[0x10]")
    shape = dice.pick(sizes, ("[0]", "[]", "[2][2]", "[-1]")) if structure or dice.maybe(0.1) else ""
    pointer = ".ptr " if dice.slip() and dice.maybe(0.3) else ""
    return Value("param", type_, words.align(dice, 0.5), words.vector(dice, 0.05), shape, pointer)


def near(dice: Dice, one: Value) -> Value:
    """The same, or now and then with one property changed."""
    if not dice.slip() and not dice.maybe(0.08):
        return one
    change = dice.choice(("space", "align", "shape", "type", "sign", "vector"))
    if change == "space":
        other = "reg" if one.space == "param" else "param"
        return replace(
            one,
            space=other,
            align="" if other == "reg" else one.align,
            shape="" if other == "reg" else one.shape,
        )
    if change == "type":
        return replace(one, type=dice.choice(words.TYPES))
    if change == "sign":
        same = [name for name in words.TYPES if words.BITS[name] == words.BITS.get(one.type)]
        return replace(one, type=dice.choice(same or words.TYPES))
    if change == "align" and one.space == "param":
        return replace(one, align=words.align(dice, 0.7))
    if change == "shape" and one.space == "param":
        return replace(one, shape=dice.choice(("", "[1]", "[2]", "[4]", "[8]", "[16]", "[]")))
    if change == "vector":
        return replace(one, vector=words.vector(dice, 0.7))
    return one


def parenthesized(values: list[Value], name: str) -> str:
    """A list of parameters: `x0`, `x1`, ..; all are `_` for the name `_`."""
    return f"({', '.join(v.declared('_' if name == '_' else f'{name}{i}') for i, v in enumerate(values))})"


def header(dice: Dice, name: str, gives: list[Value], takes: list[Value]) -> str:
    """`.func (r0) name (x0, x1)`."""
    returned = f"{parenthesized(gives, 'r')} " if gives else dice.pick(("", "", "() "))
    empty = dice.pick(("", "()"))
    return f".func {returned}{name}{parenthesized(takes, 'x') if takes else empty}"
