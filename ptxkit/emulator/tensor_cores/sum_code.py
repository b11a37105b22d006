"""The LLVM IR of truncated fused sums: `fused.fused_step` or `fused.grouped_step`, step after step, for every
element of D.

A function takes one array of 64-bit words, in the order of `FIELDS`. It works on vectors of neighbouring
elements of D. What it is not sure of it tells in the word `doubts`, and D means nothing then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from ptxkit.emulator.loop_code import I64, POINTER, LoopCode, splat
from ptxkit.emulator.tensor_cores.elements import NOTHING

FIELDS = (
    "outer", "rows", "columns", "steps", "a values", "a exponents", "b values", "b exponents", "c", "d",
    "a outer", "a row", "a step", "b outer", "b row", "b step", "c outer", "c row",
    "a significands", "a scales", "b significands", "b scales", "doubts",
)  # fmt: skip
"""Counts of the loops, the last one a multiple of the vectors; where arrays begin; strides, in elements.
Scale factors, f32 and their exponents, lie as the factors do, with their blocks along K."""

I1, I16, I32 = (ir.IntType(bits) for bits in (1, 16, 32))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
LEAST = -100
"""The least exponent of a product that isn't zero."""


class SumShape(NamedTuple):
    """What the code of a sum hangs on.

    Attributes:
        width: elements of D that are summed at once.
        a_columns, b_columns: whether neighbouring elements of D have factors of their own, side by side.
        depth: elements along K of a step, and in memory whatever of them structured sparsity left out.
        parts: how many sums of 32 bits hold the products of a step.
        fraction, bits, zero: of the model.
        half: whether D is f16, else f32.
        groups: sums of a step that are exact and make one term each; 0 where each product does.
        a_blocks, b_blocks: scale factors of a step.
    """

    width: int
    a_columns: bool
    b_columns: bool
    depth: int
    parts: int
    fraction: int
    bits: int
    zero: int
    half: bool
    groups: int = 0
    a_blocks: int = 0
    b_blocks: int = 0


def sum_code(shape: SumShape) -> str:
    """The module of a function that computes D."""
    return SumCode(shape).text()


class SumCode(LoopCode):
    """The function under construction. `fields`: what its words are called."""

    def __init__(self, shape: SumShape, fields: Sequence[str] = FIELDS) -> None:
        super().__init__("sum", fields)
        self.shape = shape

    def text(self) -> str:
        """The whole module."""
        builder, words, shape = self.builder, self.words, self.shape
        doubts = builder.alloca(I64)
        builder.store(ir.Constant(I64, 0), doubts)
        element = I16 if shape.half else I32
        with self.loop(words["outer"]) as outer, self.loop(words["rows"]) as row:
            a, b, c = (
                builder.add(
                    builder.mul(outer, words[f"{name} outer"]), builder.mul(row, words[f"{name} row"])
                )
                for name in "abc"
            )
            with self.loop(words["columns"], shape.width) as column:
                place = builder.add(c, column)
                start = self._load(words["c"], element, place)
                at_a = builder.add(a, column) if shape.a_columns else a
                at_b = builder.add(b, column) if shape.b_columns else b
                made, doubtful = self._steps(start, at_a, at_b)
                where = self.at(builder.inttoptr(words["d"], POINTER), element, place)
                builder.store(made, where, align=element.width // 8)
                flags = builder.zext(builder.bitcast(doubtful, ir.IntType(shape.width)), I64)
                builder.store(builder.or_(builder.load(doubts, typ=I64), flags), doubts)
        found = builder.load(doubts, typ=I64)
        builder.store(found, self.at(self.arguments, I64, FIELDS.index("doubts")))
        builder.ret(found)
        return str(self.module)

    # ---- places

    def _load(self, base: Any, kind: Any, index: Any, vector: bool = True) -> Any:
        """Neighbouring elements of an array, or one in every lane."""
        builder = self.builder
        where = self.at(builder.inttoptr(base, POINTER), kind, index)
        align = {I16: 2, I32: 4, F32: 4}[kind]
        if vector:
            return builder.load(where, typ=ir.VectorType(kind, self.shape.width), align=align)
        return splat(builder, builder.load(where, typ=kind, align=align), self.shape.width)

    def _all(self, kind: Any, number: float) -> Any:
        return ir.Constant(ir.VectorType(kind, self.shape.width), [number] * self.shape.width)

    # ---- the sum

    def _steps(self, start: Any, a: Any, b: Any) -> tuple[Any, Any]:
        """D of C, `start`, and of the products from these places on; and which elements are doubtful."""
        builder, words, shape = self.builder, self.words, self.shape
        before = builder.block
        head, behind = builder.append_basic_block("step"), builder.append_basic_block("done")
        builder.branch(head)
        builder.position_at_end(head)
        index, c = builder.phi(I64), builder.phi(start.type)
        doubts = builder.phi(ir.VectorType(I1, shape.width))
        index.add_incoming(ir.Constant(I64, 0), before)
        c.add_incoming(start, before)
        doubts.add_incoming(self._all(I1, 0), before)
        first = builder.mul(index, ir.Constant(I64, shape.depth))
        at_a = builder.add(a, builder.mul(first, words["a step"]))
        at_b = builder.add(b, builder.mul(first, words["b step"]))
        scales = [
            self._scales(index, place, name, blocks)
            for name, place, blocks in (("a", a, shape.a_blocks), ("b", b, shape.b_blocks))
        ]
        made, doubtful = self._step(c, at_a, at_b, scales)
        doubtful = builder.or_(doubts, doubtful)
        following = builder.add(index, ir.Constant(I64, 1))
        index.add_incoming(following, builder.block)
        c.add_incoming(made, builder.block)
        doubts.add_incoming(doubtful, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, words["steps"]), head, behind)
        builder.position_at_end(behind)
        return made, doubtful

    def _along_k(self, at: Any, side: str) -> list[Any]:
        """The places of a step's factors."""
        found = [at]
        for _ in range(self.shape.depth - 1):
            found.append(self.builder.add(found[-1], self.words[f"{side} step"]))
        return found

    def _scales(self, step: Any, at: Any, side: str, blocks: int) -> list[Any]:
        """The place of the scale factor of each group of a step."""
        builder, shape = self.builder, self.shape
        first = builder.mul(step, ir.Constant(I64, blocks))
        found = []
        for group in range(shape.groups):
            block = builder.add(first, ir.Constant(I64, group * blocks // shape.groups))
            found.append(builder.add(at, builder.mul(block, self.words[f"{side} step"])))
        return found

    def _step(self, c: Any, a: Any, b: Any, scales: list[list[Any]]) -> tuple[Any, Any]:
        builder, shape = self.builder, self.shape
        number, level, doubtful = self._accumulator(c)
        places = list(zip(self._along_k(a, "a"), self._along_k(b, "b"), strict=True))
        level = self._greater(level, self._all(I16, shape.zero))
        if shape.groups:
            level, total = self._grouped(places, level, list(zip(*scales, strict=True)))
        else:
            level = self._exponents(places, level)
            total = self._products(places, level)
        # The accumulator's own term, and the sum as a number again: as `fused.close`.
        wide = builder.sext(level, ir.VectorType(I64, shape.width))
        up = builder.sub(self._all(I64, 1023 + shape.fraction), wide)
        down = builder.sub(self._all(I64, 2046), up)
        double = ir.VectorType(F64, shape.width)
        scale, back = (builder.bitcast(builder.shl(each, self._all(I64, 52)), double) for each in (up, down))
        own = self._call("llvm.trunc", builder.fmul(builder.fpext(number, double), scale))
        value = builder.fmul(builder.fadd(total, own), back)
        if shape.bits < 23 or shape.groups:  # What is cut off of subnormal numbers is another part of them.
            small = builder.icmp_signed("<", level, self._all(I16, shape.fraction - 126 - shape.bits))
            there = builder.fcmp_unordered("!=", value, self._all(F64, 0))
            doubtful = builder.or_(doubtful, builder.and_(small, there))
        return self._rounded(value), doubtful

    def _accumulator(self, c: Any) -> tuple[Any, Any, Any]:
        """C as f32, its exponents, and which elements are no numbers."""
        builder, shape = self.builder, self.shape
        single = ir.VectorType(F32, shape.width)
        if shape.half:
            number = builder.fpext(builder.bitcast(c, ir.VectorType(F16, shape.width)), single)
        else:
            number = builder.bitcast(c, single)
        words = builder.bitcast(number, ir.VectorType(I32, shape.width))
        field = builder.and_(builder.lshr(words, self._all(I32, 23)), self._all(I32, 0xFF))
        odd = builder.icmp_unsigned("==", field, self._all(I32, 0xFF))
        least = -14 if shape.half else -126
        level = self._greater(builder.sub(field, self._all(I32, 127)), self._all(I32, least))
        zero = builder.fcmp_ordered("==", number, self._all(F32, 0))
        level = builder.select(zero, self._all(I32, NOTHING), level)
        return number, builder.trunc(level, ir.VectorType(I16, shape.width)), odd

    def _products(self, places: list[tuple[Any, Any]], level: Any) -> Any:
        """The sum of the products, in units of 2^(level - fraction). f64."""
        builder, words, shape = self.builder, self.words, self.shape
        single, whole = ir.VectorType(F32, shape.width), ir.VectorType(I32, shape.width)
        near = self._less(
            self._greater(level, self._all(I16, LEAST - 1)), self._all(I16, 126 + shape.fraction)
        )
        field = builder.sub(self._all(I32, shape.fraction + 127), builder.sext(near, whole))
        scale = builder.bitcast(builder.shl(field, self._all(I32, 23)), single)
        size = -(-shape.depth // shape.parts)
        total = None
        for first in range(0, shape.depth, size):
            part = None
            for at_a, at_b in places[first : first + size]:
                left = self._load(words["a values"], F32, at_a, shape.a_columns)
                right = self._load(words["b values"], F32, at_b, shape.b_columns)
                term = builder.fptosi(builder.fmul(builder.fmul(left, right), scale), whole)
                part = term if part is None else builder.add(part, term)
            exact = builder.sitofp(part, ir.VectorType(F64, shape.width))
            total = exact if total is None else builder.fadd(total, exact)
        return total

    def _exponents(self, places: list[tuple[Any, Any]], level: Any) -> Any:
        """The greatest exponent of some products, at least `level`."""
        builder, words, shape = self.builder, self.words, self.shape
        for at_a, at_b in places:
            left = self._load(words["a exponents"], I16, at_a, shape.a_columns)
            right = self._load(words["b exponents"], I16, at_b, shape.b_columns)
            level = self._greater(level, builder.add(left, right))
        return level

    def _grouped(
        self, places: list[tuple[Any, Any]], level: Any, scales: list[tuple[Any, Any]]
    ) -> tuple[Any, Any]:
        """The greatest exponent, at least `level`, and the sum of the groups' terms in its units, f64."""
        builder, words, shape = self.builder, self.words, self.shape
        double, whole = ir.VectorType(F64, shape.width), ir.VectorType(I64, shape.width)
        size = shape.depth // shape.groups
        terms = []
        for group, (at_a, at_b) in enumerate(scales):
            mine = places[group * size : (group + 1) * size]
            dot = None
            for one, other in mine:
                left = self._load(words["a values"], F32, one, shape.a_columns)
                right = self._load(words["b values"], F32, other, shape.b_columns)
                product = builder.fmul(left, right)
                dot = product if dot is None else builder.fadd(dot, product)
            first = self._load(words["a significands"], F32, at_a, shape.a_columns)
            second = self._load(words["b significands"], F32, at_b, shape.b_columns)
            factor = builder.fmul(first, second)
            greatest = self._exponents(mine, self._all(I16, NOTHING))
            nothing = builder.icmp_signed("<", greatest, self._all(I16, NOTHING // 2))
            nothing = builder.or_(nothing, builder.fcmp_ordered("==", factor, self._all(F32, 0)))
            its = builder.add(
                self._load(words["a scales"], I16, at_a, shape.a_columns),
                self._load(words["b scales"], I16, at_b, shape.b_columns),
            )
            its = builder.select(nothing, self._all(I16, NOTHING), its)
            level = self._greater(level, its)
            terms.append((builder.fmul(builder.fpext(dot, double), builder.fpext(factor, double)), its))
        total = None
        for term, its in terms:
            shift = builder.sub(builder.sext(its, whole), builder.sext(level, whole))
            shift = self._greater(shift, self._all(I64, -1000))  # of zero, which stays zero
            field = builder.shl(builder.add(shift, self._all(I64, 1023 + shape.fraction)), self._all(I64, 52))
            cut = self._call("llvm.trunc", builder.fmul(term, builder.bitcast(field, double)))
            total = cut if total is None else builder.fadd(total, cut)
        return level, total

    def _rounded(self, value: Any) -> Any:
        """The sum as D holds it: to f32 toward zero, to f16 to nearest even."""
        builder, shape = self.builder, self.shape
        bits = builder.bitcast(value, ir.VectorType(I64, shape.width))
        double, single = ir.VectorType(F64, shape.width), ir.VectorType(F32, shape.width)
        if not shape.half:
            kept = builder.and_(bits, self._all(I64, -(1 << 52 - shape.bits)))
            number = builder.fptrunc(builder.bitcast(kept, double), single)
            return builder.bitcast(number, ir.VectorType(I32, shape.width))
        # To f32 rounded to odd first, so that the second rounding is that of the whole.
        rest = (1 << 29) - 1
        cut = builder.icmp_unsigned("!=", builder.and_(bits, self._all(I64, rest)), self._all(I64, 0))
        odd = builder.shl(builder.zext(cut, bits.type), self._all(I64, 29))
        kept = builder.or_(builder.and_(bits, self._all(I64, ~rest)), odd)
        half = builder.fptrunc(
            builder.fptrunc(builder.bitcast(kept, double), single), ir.VectorType(F16, shape.width)
        )
        made = builder.bitcast(half, ir.VectorType(I16, shape.width))
        zero = builder.icmp_unsigned("==", made, self._all(I16, -0x8000))
        return builder.select(zero, self._all(I16, 0), made)

    def _call(self, name: str, *operands: Any) -> Any:
        """An intrinsic whose operands and result have one type."""
        kind = operands[0].type
        element = {F64: "f64", I64: "i64", I32: "i32", I16: "i16"}[kind.element]
        full = f"{name}.v{self.shape.width}{element}"
        declared = self.module.globals.get(full) or ir.Function(
            self.module, ir.FunctionType(kind, [kind] * len(operands)), name=full
        )
        return self.builder.call(declared, operands)

    def _greater(self, a: Any, b: Any) -> Any:
        return self._call("llvm.smax", a, b)

    def _less(self, a: Any, b: Any) -> Any:
        return self._call("llvm.smin", a, b)
