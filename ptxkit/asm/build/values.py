"""What stands for registers, variables, labels and numbers in Python, and how it becomes an operand.

An operand is any of these:

    r, p.x, ~p, -r, d | p      a register, a component, `!p`, `-r`, the pair `d|p`
    smem, smem + 16, a[2]      a variable, an offset, an element
    k[r + 16], k[map, [x, y]]  an address; in brackets as in PTX
    5, -1, 1.5, f32(1.5)       numbers; `1.5` is a decimal literal, `f32(1.5)` is `0f3FC00000`
    "0xff", "0f7FC00000"       a number in PTX's own spelling
    [a, b], r[0:4]             the vector `{a, b}`
    (a, b)                     the arguments `(a, b)` of a `call`
    ...                        a new register of the type that the instruction asks for; the call gives it
    sink, WARP_SZ, special.tid.x
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.build.place import CallerPlace, mistake
from ptxkit.asm.check.context import did_you_mean
from ptxkit.asm.symbols import Symbol
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

COMPONENTS = frozenset("x y z w r g b a b0 b1 b2 b3 h0 h1".split())
"""What may follow the dot of a register: elements of vectors, bytes and halves of video instructions."""


class Value:
    """Something that can stand as an operand and be computed with as far as PTX does."""

    __slots__ = ()

    def __add__(self, other: Any) -> Value:
        return Offset(self, other)

    def __sub__(self, other: int) -> Value:
        return Offset(self, -operator.index(other))

    def __or__(self, other: Any) -> Value:
        return OperandExpression(tree.Pair, self, other)

    def __ror__(self, other: Any) -> Value:
        return OperandExpression(tree.Pair, other, self)

    def __neg__(self) -> Value:
        return OperandExpression(lambda inner: tree.Unary("-", inner), self)

    def __invert__(self) -> Value:
        return OperandExpression(lambda inner: tree.Unary("!", inner), self)

    def __bool__(self) -> bool:
        raise mistake(
            "P241",
            "what a register holds is not known while the code is built",
            help="branch with `if_`, `while_` or `when`",
        )


class OperandExpression(Value):
    """A node with operands inside: `make` builds it once they are lowered."""

    __slots__ = ("make", "parts")

    def __init__(self, make: Callable[..., tree.Operand], *parts: Any) -> None:
        self.make = make
        self.parts = parts


class Offset(Value):
    """`base + displacement`; in brackets an address."""

    __slots__ = ("base", "displacement")

    def __init__(self, base: Any, displacement: Any) -> None:
        self.base = base
        self.displacement = displacement

    def __add__(self, other: Any) -> Value:
        if isinstance(self.displacement, int) and isinstance(other, int):
            return Offset(self.base, self.displacement + other)
        return Offset(self, other)

    def __sub__(self, other: int) -> Value:
        return self + -operator.index(other)


class Named(Value):
    """A declared name.

    Attributes:
        name: as in PTX, `%r1`.
        symbol: what the name stands for; None for a label that has not been placed.
    """

    __slots__ = ("name", "symbol")

    def __init__(self, name: str, symbol: Symbol | None) -> None:
        self.name = name
        self.symbol = symbol

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __getattr__(self, component: str) -> NameComponent:
        if component in COMPONENTS:
            return NameComponent(self, component)
        raise AttributeError(f"`{self.name}` has no component `.{component}`")


class Register(Named):
    """One register: `%r1`. `.type` is its type; of a vector register `.x`, `.y`, .. are the elements."""

    __slots__ = ()

    @property
    def type(self) -> str:
        """Its type without the dot; of a vector register, of one element."""
        assert self.symbol is not None
        return self.symbol.type


class NameComponent(Value):
    """A component of a name: `%v.x`, `%r1.b0`."""

    __slots__ = ("base", "component")

    def __init__(self, base: Named, component: str) -> None:
        self.base = base
        self.component = component


class Registers(Sequence[Register]):
    """The registers of a range `%r<39>`: `r[5]` is `%r5`, `r[0:4]` a vector of four."""

    __slots__ = ("_count", "_of", "name")

    def __init__(self, name: str, count: int, of: Callable[[str], Register]) -> None:
        self.name = name
        self._count = count
        self._of = of

    def __repr__(self) -> str:
        return f"<Registers {self.name}<{self._count}>>"

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._of(f"{self.name}{i}") for i in range(*index.indices(self._count))]
        number = operator.index(index)
        if not 0 <= number < self._count:
            raise mistake(
                "P201",
                f"`{self.name}{number}` is not declared",
                help=f"`{self.name}<{self._count}>` has `{self.name}0` to `{self.name}{self._count - 1}`",
            )
        return self._of(f"{self.name}{number}")

    def __iter__(self) -> Iterator[Register]:
        return (self[index] for index in range(self._count))


class MemoryVariable(Named):
    """A variable or parameter in memory; its name is its address."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Value:
        return OperandExpression(tree.Element, self, index)


class LabelOperand(Named):
    """A label. `place` is where it was made, for a finding that it was never placed."""

    __slots__ = ("place",)

    def __init__(self, name: str, symbol: Symbol | None, place: CallerPlace) -> None:
        super().__init__(name, symbol)
        self.place = place


class Special(Value):
    """A name that PTX itself knows: `%laneid`, `%tid` with its components `x` to `w`, `_`, `WARP_SZ`."""

    __slots__ = ("_component", "_name")

    def __init__(self, name: str, component: str | None = None) -> None:
        self._name = name
        self._component = component

    def __getattr__(self, component: str) -> Special:
        register = None if self._component else SPECIAL_REGISTERS.get(self._name)
        if register is not None and register.vector and component in ("x", "y", "z", "w"):
            return Special(self._name, component)
        raise AttributeError(f"`{self._name}` has no component `.{component}`")


class SpecialRegisters:
    """Every special register without its `%`: `special.tid.x`, `special.lanemask_lt`. PTX ISA chapter 10."""

    def __getattr__(self, name: str) -> Special:
        if f"%{name}" in SPECIAL_REGISTERS:
            return Special(f"%{name}")
        near = did_you_mean(name, self.__dir__())
        raise AttributeError(f"there is no special register `%{name}`" + (f"; {near}" if near else ""))

    def __dir__(self) -> list[str]:
        return [name[1:] for name in SPECIAL_REGISTERS]


special = SpecialRegisters()
sink = Special("_")
"""The bit bucket `_`."""
WARP_SZ = Special("WARP_SZ")
"""The number of threads in a warp."""


def f32(value: float) -> tree.Float:
    """A single-precision literal: `f32(1.5)` is `0f3FC00000`.

    Raises:
        OverflowError: the value is too large for one.
    """
    return tree.Float(int.from_bytes(struct.pack(">f", value)), 32)


def f64(value: float) -> tree.Float:
    """A double-precision literal by its bits: `f64(1.5)` is `0d3FF8000000000000`; a plain `1.5` stays so."""
    return tree.Float(int.from_bytes(struct.pack(">d", value)), 64)


def generic(variable: Any) -> Value:
    """`generic(variable)` in an initial value: its address in the generic space. PTX ISA 5.4.5."""
    return OperandExpression(lambda inner: tree.Generic("generic", inner), variable)


# ---- numbers

_NUMBER = re.compile(
    r"(?P<single>0[fF][\da-fA-F]{8})|(?P<double>0[dD][\da-fA-F]{16})"
    r"|(?P<integer>(?:0[xX][\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?)"
    r"|(?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
)


def spelled(text: str) -> tree.Integer | tree.Float:
    """The literal that a text in PTX's spelling is; it keeps the spelling. PTX ISA 4.5.

    Args:
        text: of a number without a sign.

    Raises:
        PtxkitError: P240, it is not a number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise mistake(
            "P240",
            f"expected a number in PTX's spelling, found `{text}`",
            help="a name is an object: what `reg`, `shared`, `label`, .. give",
        )
    if match["integer"]:
        return tree.Integer(integer(text), text)
    if match["single"]:
        return tree.Float(int(text[2:], 16), 32, text)
    if match["double"]:
        return tree.Float(int(text[2:], 16), 64, text)
    return tree.Float(int.from_bytes(struct.pack(">d", float(text))), 64, text)


def integer(text: str) -> int:
    """The value of an integer literal: `0x1F`, `017`, `0b101`, `16U`."""
    digits = text.removesuffix("U")
    if digits[:1] == "0" and digits[1:].isdecimal():
        return int(digits, 8)
    return int(digits, 0)


def number(value: int | float) -> tree.Operand:
    """The literal of a Python number; one below zero has a sign before it."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return f64(value)
        if math.copysign(1.0, value) < 0:
            return tree.Unary("-", number(-value))
        return tree.Float(int.from_bytes(struct.pack(">d", value)), 64, repr(value))
    return tree.Unary("-", tree.Integer(-value)) if value < 0 else tree.Integer(int(value))


# ---- to the tree


class Lowering:
    """Turns the operands of one statement into nodes.

    Args:
        use: called for each declared name; it refuses those that are not visible.

    Attributes:
        fresh: a node for each `...`, to be named once its type is known.
    """

    def __init__(self, use: Callable[[Named], None]) -> None:
        self.use = use
        self.fresh: list[tree.Name] = []

    def __call__(self, value: Any) -> tree.Operand:
        """The node of an operand.

        Raises:
            PtxkitError: P240, it is nothing that can be one.
        """
        if isinstance(value, Named):
            self.use(value)
            return tree.Name(value.name)
        if isinstance(value, NameComponent):
            self.use(value.base)
            return tree.Name(value.base.name, value.component)
        if isinstance(value, Special):
            return tree.Name(value._name, value._component)
        if isinstance(value, (int, float)):
            return number(value)
        if isinstance(value, Offset):
            return tree.Binary("+", self(value.base), self(value.displacement))
        if isinstance(value, OperandExpression):
            return value.make(*map(self, value.parts))
        if isinstance(value, (list, Registers)):
            return tree.Vector(tuple(map(self, value)))
        if isinstance(value, tuple):
            return tree.Arguments(tuple(map(self, value)))
        if isinstance(value, tree.Operand):
            return value
        if isinstance(value, str):
            return tree.Unary("-", spelled(value[1:])) if value.startswith("-") else spelled(value)
        if value is ...:
            self.fresh.append(tree.Name(f"?{len(self.fresh)}"))
            return self.fresh[-1]
        if hasattr(value, "__index__"):
            return number(operator.index(value))
        as_name = getattr(value, "reference", None)
        if isinstance(as_name, Named):
            return self(as_name)
        raise mistake(
            "P240",
            f"expected an operand, found a Python `{type(value).__name__}`",
            help="operands are registers, variables, labels, numbers, `k[..]` addresses, lists and `...`",
        )


def address(key: Any) -> Value:
    """`[base + offset, rest]`: what `k[..]` gives."""
    base, *rest = key if isinstance(key, tuple) else (key,)
    if isinstance(base, Offset):
        return OperandExpression(
            lambda inner, offset, *others: tree.Address(inner, offset, "+", others),
            base.base,
            base.displacement,
            *rest,
        )
    return OperandExpression(lambda inner, *others: tree.Address(inner, rest=others), base, *rest)
