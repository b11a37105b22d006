"""Words of lanes in LLVM IR: what a lowering has at hand.

A value is an integer, or a vector of integers with one element a lane, as wide as the PTX type; a predicate
is an `i1`. Floats are integers, too, and become floats only inside an operation, so that no bit of a NaN is
lost on the way. All arithmetic is IEEE's, without any flag that would let LLVM change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from llvmlite import ir

FLOATS: dict[int, Any] = {32: ir.FloatType(), 64: ir.DoubleType()}


class Words:
    """Builds instructions on words of `lanes` lanes; on single ones where `lanes` is 0.

    The same instruction on the same operands is built once.

    Attributes:
        builder: where instructions go.
        lanes: of each value.
    """

    def __init__(self, builder: ir.IRBuilder, lanes: int) -> None:
        self.builder = builder
        self.lanes = lanes
        self._made: dict[tuple[Any, ...], Any] = {}
        self._constants: dict[tuple[int, int], Any] = {}
        self._known: dict[Any, int] = {}

    # ---- types and constants

    def type(self, bits: int) -> Any:
        """Integers of `bits` bits."""
        return self._of_lanes(ir.IntType(bits))

    def _of_lanes(self, element: Any) -> Any:
        return ir.VectorType(element, self.lanes) if self.lanes else element

    def constant(self, bits: int, value: int) -> Any:
        """The same word in all lanes."""
        value &= (1 << bits) - 1
        made = self._constants.get((bits, value))
        if made is None:
            made = repeated(ir.IntType(bits), value, self.lanes)
            self._constants[bits, value] = made
            self._known[made] = value
        return made

    def known(self, value: Any) -> int | None:
        """The number that a constant stands for in all lanes; None for anything else."""
        return self._known.get(value)

    def bits(self, value: Any) -> int:
        """The width of a word."""
        return int((value.type.element if self.lanes else value.type).width)

    def _once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    # ---- integers

    def binary(self, name: str, a: Any, b: Any) -> Any:
        """An instruction of LLVM on two words of one width: `add`, `and_`, `lshr`, .."""
        return self._once((name, a, b), lambda: getattr(self.builder, name)(a, b))

    def add(self, a: Any, b: Any) -> Any:
        """`a + b`."""
        return self.binary("add", a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        """`a - b`."""
        return self.binary("sub", a, b)

    def multiply(self, a: Any, b: Any) -> Any:
        """The low half of `a * b`."""
        return self.binary("mul", a, b)

    def both(self, a: Any, b: Any) -> Any:
        """`a & b`."""
        return self.binary("and_", a, b)

    def either(self, a: Any, b: Any) -> Any:
        """`a | b`."""
        return self.binary("or_", a, b)

    def differ(self, a: Any, b: Any) -> Any:
        """`a ^ b`."""
        return self.binary("xor", a, b)

    def invert(self, a: Any) -> Any:
        """`~a`."""
        return self.differ(a, self.constant(self.bits(a), -1))

    def mask(self, a: Any, value: int) -> Any:
        """`a` with a constant's bits."""
        return self.both(a, self.constant(self.bits(a), value))

    def left(self, a: Any, amount: int) -> Any:
        """`a` shifted left by a constant less than its width."""
        return self.binary("shl", a, self.constant(self.bits(a), amount)) if amount else a

    def right(self, a: Any, amount: int, signed: bool = False) -> Any:
        """`a` shifted right by a constant less than its width, zeros or copies of the sign moving in."""
        name = "ashr" if signed else "lshr"
        return self.binary(name, a, self.constant(self.bits(a), amount)) if amount else a

    def shift_left(self, a: Any, amount: Any) -> Any:
        """`a` shifted left by a word of 32 bits; 0 from the width on."""
        return self._shift("shl", a, amount)

    def shift_right(self, a: Any, amount: Any, signed: bool = False) -> Any:
        """`a` shifted right by a word of 32 bits; 0, or the sign everywhere, from the width on."""
        if not signed:
            return self._shift("lshr", a, amount)
        bits = self.bits(a)
        most = self.minimum(amount, self.constant(32, bits - 1))
        return self.binary("ashr", a, self.resize(most, bits))

    def _shift(self, name: str, a: Any, amount: Any) -> Any:
        bits, known = self.bits(a), self.known(amount)
        if known is not None:
            if known >= bits:
                return self.constant(bits, 0)
            return self.binary(name, a, self.constant(bits, known)) if known else a
        inside = self.compare("<", amount, self.constant(32, bits))
        # Beyond the width LLVM leaves the result open, so such an amount never reaches it.
        fitting = self.both(amount, self.constant(32, bits - 1))
        shifted = self.binary(name, a, self.resize(fitting, bits))
        return self.choose(inside, shifted, self.constant(bits, 0))

    def minimum(self, a: Any, b: Any, signed: bool = False) -> Any:
        """The lesser one."""
        known = self.known(a), self.known(b)
        if known[0] is not None and known[1] is not None and not signed:
            return a if known[0] <= known[1] else b
        return self.call("llvm.smin" if signed else "llvm.umin", a, b)

    def maximum(self, a: Any, b: Any, signed: bool = False) -> Any:
        """The greater one."""
        return self.call("llvm.smax" if signed else "llvm.umax", a, b)

    def resize(self, a: Any, bits: int, signed: bool = False) -> Any:
        """The low bits of a word, or the word extended by zeros or copies of its sign."""
        own = self.bits(a)
        if bits == own:
            return a
        known = self.known(a)
        if known is not None:
            return self.constant(bits, known - (1 << own) if signed and known >> own - 1 else known)
        name = "trunc" if bits < own else "sext" if signed else "zext"
        return self._once((name, a, bits), lambda: getattr(self.builder, name)(a, self.type(bits)))

    def compare(self, operator: str, a: Any, b: Any, signed: bool = False) -> Any:
        """A predicate: `==`, `!=`, `<`, `<=`, `>`, `>=`."""
        build = self.builder.icmp_signed if signed else self.builder.icmp_unsigned
        return self._once(("icmp", operator, signed, a, b), lambda: build(operator, a, b))

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """`a` where a predicate holds, else `b`."""
        return self._once(("select", condition, a, b), lambda: self.builder.select(condition, a, b))

    def call(self, name: str, *operands: Any) -> Any:
        """An intrinsic function whose result and operands are of one type; `llvm.ctpop`."""

        def make() -> Any:
            kind = operands[0].type
            function = self.builder.module.declare_intrinsic(
                name, [_Named(kind)], ir.FunctionType(kind, [operand.type for operand in operands])
            )
            return self.builder.call(function, operands)

        return self._once((name, *operands), make)

    def split(self, a: Any, bits: int) -> Any:
        """The same words as vectors of narrower elements, the lowest of each lane first."""
        count = (self.lanes or 1) * self.bits(a) // bits
        kind = ir.VectorType(ir.IntType(bits), count)
        return self._once(("split", a, bits), lambda: self.builder.bitcast(a, kind))

    def join(self, elements: Any, bits: int) -> Any:
        """The words that `split` took apart."""
        return self.builder.bitcast(elements, self.type(bits))

    # ---- across the lanes of a warp

    @cached_property
    def single(self) -> Words:
        """Builds on single words in the same place."""
        return Words(self.builder, 0)

    def each(self, bits: int, values: Sequence[int]) -> Any:
        """A constant word for each lane."""
        return self._once(
            ("each", bits, *values), lambda: ir.Constant(self.type(bits), [int(value) for value in values])
        )

    def permuted(self, a: Any, lanes: Sequence[int]) -> Any:
        """Each lane's word is that of the lane named for it."""
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), lanes)
        return self._once(("permuted", a, *lanes), lambda: self.builder.shuffle_vector(a, a, places))

    def gathered(self, a: Any, lanes: Any) -> Any:
        """The same where the lanes are words, each less than their number."""
        builder, element, index = self.builder, a.type.element, ir.IntType(32)
        with builder.goto_entry_block():
            room = builder.alloca(a.type)
        builder.store(a, room)
        found = ir.Constant(a.type, ir.Undefined)
        for lane in range(self.lanes):
            at = builder.zext(builder.extract_element(lanes, index(lane)), ir.IntType(64))
            word = builder.load(builder.gep(room, [at], source_etype=element), typ=element)
            found = builder.insert_element(found, word, index(lane))
        return found

    def ballot(self, a: Any) -> Any:
        """A predicate's lanes as the bits of one word, lane 0 lowest."""
        return self.builder.bitcast(a, ir.IntType(self.lanes))

    def reduced(self, name: str, a: Any) -> Any:
        """All lanes as one word: `add`, `and`, `or`, `xor`, `smin`, `smax`, `umin`, `umax`."""
        function = self.builder.module.declare_intrinsic(
            f"llvm.vector.reduce.{name}", [_Named(a.type)], ir.FunctionType(a.type.element, [a.type])
        )
        return self.builder.call(function, [a])

    # ---- floats

    def number(self, a: Any) -> Any:
        """A word's bits as a float of its width."""
        kind = self._of_lanes(FLOATS[self.bits(a)])
        return self._once(("number", a), lambda: self.builder.bitcast(a, kind))

    def word(self, number: Any) -> Any:
        """A float's bits."""
        element = number.type.element if self.lanes else number.type
        kind = self.type(32 if isinstance(element, ir.FloatType) else 64)
        return self._once(("word", number), lambda: self.builder.bitcast(number, kind))

    def number_constant(self, bits: int, value: float) -> Any:
        """The same float in all lanes."""
        return repeated(FLOATS[bits], value, self.lanes)

    def convert(self, name: str, a: Any, bits: int, floating: bool) -> Any:
        """A conversion of LLVM: `fpext`, `fptrunc`, `sitofp`, `uitofp`, `fptosi`, .."""
        kind = self._of_lanes(FLOATS[bits]) if floating else self.type(bits)
        return self._once((name, a, bits), lambda: getattr(self.builder, name)(a, kind))

    def relate(self, operator: str, a: Any, b: Any) -> Any:
        """A predicate on floats: `oeq`, `ult`, `uno`, .. as LLVM's `fcmp` has them."""
        return self._once(("fcmp", operator, a, b), lambda: self.builder.fcmp_ordered(operator, a, b))


def repeated(element: Any, value: Any, count: int) -> Any:
    """A constant in each element of a vector; alone where the count is 0. Its text is made once."""
    one = ir.Constant(element, value).get_reference()
    if not count:
        return _Repeated(element, one)
    return _Repeated(ir.VectorType(element, count), f"<{', '.join([f'{element} {one}'] * count)}>")


class _Repeated(ir.Constant):
    """A constant that is given by its text, and equal to itself alone."""

    def __init__(self, kind: Any, text: str) -> None:
        self.type = kind
        self.constant = text

    def _get_reference(self) -> str:
        return self.constant

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class _Named:
    """A type as intrinsic functions have it in their names, vectors too: `v16i32`."""

    def __init__(self, kind: Any) -> None:
        self.intrinsic_name = name_of(kind)


def name_of(kind: Any) -> str:
    """`i32`, `f64`, `v16i32`."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{name_of(kind.element)}"
    return str(kind.intrinsic_name)
