"""The LLVM IR of products of tiles: factors decoded out of memory, and D, which they are added to in place.

The sum is that of `sum_code`. A tile's factors are decoded once, into arrays that stay in the cache: A row by
row, B in blocks of as many columns as a vector has elements, one vector for each element of K.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir

from ptxkit.emulator.loop_code import I64, splat
from ptxkit.emulator.tensor_cores.elements import NOTHING, SPECIAL
from ptxkit.emulator.tensor_cores.sum_code import F32, I1, I16, I32, LEAST, SumCode, SumShape

SIDE = ("data", "origins", "places", "numbers", "levels", "values", "exponents", "significands", "scales")
FIELDS = (
    "tiles", "d", "d tiles", "d row", "fresh", "sums", *(f"{side} {name}" for side in "ab" for name in SIDE)
)  # fmt: skip
"""How many tiles; D, the place of each tile in it and the distance of its rows, in elements; for each tile
whether its sum starts from zero, a byte; room for the sums of a tile. Of each factor its bytes, where each
tile's matrix begins in them, where pieces lie from there; tables of numbers and exponents, by codes; room for
what is decoded; the scale factors of each tile, f32 and their exponents, laid out as what is decoded."""

I8 = ir.IntType(8)
PIECE = 16
"""Bytes that lie together."""
MOST = 124
"""The greatest exponent of a product."""
FAR = 60
"""What exponents of scaled elements stay below."""
LANES = 16
"""Exponents that are looked at together."""


class TileOperand(NamedTuple):
    """What the code of one factor hangs on.

    Attributes:
        rows: along MN.
        major: `K` where the elements of a piece go along K, else `MN`.
        bits: of an element: 4, 8 or 16.
        parts: matrices that lie side by side along MN, each with an origin of its own.
        blocks: scale factors along K; 0 for none.
        near: whether no exponent can be too far from 0.
    """

    rows: int
    major: str
    bits: int
    parts: int
    blocks: int
    near: bool


class TileShape(NamedTuple):
    """What the code of tiles hangs on. `sum`: of which the vectors go along N. `k`: of a tile."""

    sum: SumShape
    k: int
    a: TileOperand
    b: TileOperand


def tile_code(shape: TileShape) -> str:
    """The module of a function that returns how many tiles it has done: up to the first that it is not sure
    of. D of that and of later ones is as it was."""
    return _Tiles(shape).text()


def _constant(number: int) -> Any:
    return ir.Constant(I64, number)


class _Tiles(SumCode):
    """The function under construction."""

    def __init__(self, shape: TileShape) -> None:
        super().__init__(shape.sum, FIELDS)
        self.tile = shape
        self.words["steps"] = _constant(shape.k // shape.sum.depth)
        self.words["a step"], self.words["b step"] = _constant(1), _constant(shape.sum.width)
        self.limits = {side: tuple(self.builder.alloca(I16) for _ in range(2)) for side in "ab"}
        self.doubts = self.builder.alloca(I64)
        self.vectors = [self.builder.alloca(ir.VectorType(I16, LANES)) for _ in range(2)]
        self.place: tuple[Any, Any, Any] = (None, None, None)

    def text(self) -> str:
        """The whole module."""
        builder, words, tile = self.builder, self.words, self.tile
        width, n = self.shape.width, tile.b.rows
        element = I16 if self.shape.half else I32
        unsure = builder.append_basic_block("unsure")
        with self.loop(words["tiles"]) as number:
            for side, operand in (("a", tile.a), ("b", tile.b)):
                self._decode(side, operand, number)
            self._leave_if(self._far(), unsure)
            d = self._item("d tiles", I64, number)
            fresh = builder.zext(self._item("fresh", I8, number), element)
            kept = splat(builder, builder.sub(fresh, ir.Constant(element, 1)), width)
            builder.store(_constant(0), self.doubts)
            with self.loop(n, width) as column, self.loop(tile.a.rows) as row:
                at = builder.add(builder.add(d, builder.mul(row, words["d row"])), column)
                start = builder.and_(self._load(words["d"], element, at), kept)
                self.place = number, row, column
                a, b = (builder.mul(index, _constant(tile.k)) for index in (row, column))
                made, doubtful = self._steps(start, a, b)
                self._save("sums", element, builder.add(builder.mul(row, _constant(n)), column), made)
                flags = builder.zext(builder.bitcast(doubtful, ir.IntType(width)), I64)
                builder.store(builder.or_(builder.load(self.doubts, typ=I64), flags), self.doubts)
            found = builder.load(self.doubts, typ=I64)
            self._leave_if(builder.icmp_unsigned("!=", found, _constant(0)), unsure)
            with self.loop(tile.a.rows) as row, self.loop(n, width) as column:
                at = builder.add(builder.mul(row, _constant(n)), column)
                made = self._load(words["sums"], element, at)
                at = builder.add(builder.add(d, builder.mul(row, words["d row"])), column)
                self._save("d", element, at, made)
        builder.ret(words["tiles"])
        builder.position_at_end(unsure)
        builder.ret(number)
        return str(self.module)

    def _leave_if(self, condition: Any, target: Any) -> None:
        behind = self.builder.append_basic_block("sure")
        self.builder.cbranch(condition, target, behind)
        self.builder.position_at_end(behind)

    # ---- places

    def _item(self, name: str, kind: Any, index: Any) -> Any:
        """An element of an array."""
        return self.builder.load(self.at(self.pointer(name), kind, index), typ=kind)

    def _save(self, name: str, kind: Any, index: Any, value: Any) -> None:
        """One or more elements of an array."""
        size = {I16: 2, I32: 4, F32: 4}[kind]
        self.builder.store(value, self.at(self.pointer(name), kind, index), align=size)

    def _scales(self, step: Any, at: Any, side: str, blocks: int) -> list[Any]:
        groups = self.shape.groups
        if not groups:
            return []
        first = self.builder.mul(step, _constant(blocks))
        return [
            self._scale(side, self.builder.add(first, _constant(group * blocks // groups)))
            for group in range(groups)
        ]

    def _scale(self, side: str, block: Any) -> Any:
        """The place of the scale factor of a block along K, in the row and at the columns of `place`."""
        builder, operand = self.builder, getattr(self.tile, side)
        tile, row, column = self.place
        first = builder.mul(tile, _constant(operand.rows * operand.blocks))
        along, apart = (row, 1) if side == "a" else (column, self.shape.width)
        first = builder.add(first, builder.mul(along, _constant(operand.blocks)))
        return builder.add(first, builder.mul(block, _constant(apart)))

    # ---- factors

    def _decode(self, side: str, operand: TileOperand, tile: Any) -> None:
        """Decode a factor, unless the tile before had the same one; its least and greatest exponents go into
        `limits`."""
        builder = self.builder
        first = builder.mul(tile, _constant(operand.parts))
        origins = [
            self._item(f"{side} origins", I64, builder.add(first, _constant(part)))
            for part in range(operand.parts)
        ]
        behind = builder.append_basic_block("behind")
        if not operand.blocks:
            begun, same = builder.icmp_unsigned("!=", tile, _constant(0)), ir.Constant(I1, 1)
            for part, origin in enumerate(origins):
                # Of the first tile any place may be read here.
                index = builder.select(begun, builder.add(first, _constant(part - operand.parts)), first)
                before = self._item(f"{side} origins", I64, index)
                same = builder.and_(same, builder.icmp_unsigned("==", origin, before))
            anew = builder.append_basic_block("decode")
            builder.cbranch(builder.and_(begun, same), behind, anew)
            builder.position_at_end(anew)
        for part, origin in enumerate(origins):
            self._decode_part(side, operand, part * operand.rows // operand.parts, origin, tile)
        self._find_limits(side, operand)
        builder.branch(behind)
        builder.position_at_end(behind)

    def _decode_part(self, side: str, operand: TileOperand, before: int, origin: Any, tile: Any) -> None:
        builder, k, each = self.builder, self.tile.k, PIECE * 8 // operand.bits
        along_mn = operand.rows // operand.parts
        rows, elements = (along_mn, k) if operand.major == "K" else (k, along_mn)
        base = builder.add(self.words[f"{side} data"], origin)
        with self.loop(rows) as row, self.loop(elements // each) as piece:
            index = builder.add(builder.mul(row, _constant(elements // each)), piece)
            bytes_at = builder.add(base, self._item(f"{side} places", I64, index))
            along = builder.mul(piece, _constant(each))
            mn, deep = (row, along) if operand.major == "K" else (along, row)
            mn = builder.add(mn, _constant(before))
            scale = None
            if operand.blocks and not self.shape.groups:
                self.place = tile, mn, builder.and_(mn, _constant(-self.shape.width))
                at = self._scale(side, builder.udiv(deep, _constant(k // operand.blocks)))
                if side == "b":
                    at = builder.add(at, builder.and_(mn, _constant(self.shape.width - 1)))
                scale = (
                    self._item(f"{side} significands", F32, at),
                    self._item(f"{side} scales", I16, at),
                )
            self._decode_piece(side, operand, bytes_at, self._element(side, mn, deep), scale)

    def _element(self, side: str, mn: Any, k: Any) -> Any:
        """Where an element is decoded to."""
        builder, deep, width = self.builder, self.tile.k, self.shape.width
        if side == "a":
            return builder.add(builder.mul(mn, _constant(deep)), k)
        block = builder.mul(builder.and_(mn, _constant(-width)), _constant(deep))
        inside = builder.add(builder.mul(k, _constant(width)), builder.and_(mn, _constant(width - 1)))
        return builder.add(block, inside)

    def _decode_piece(self, side: str, operand: TileOperand, at: Any, to: Any, scale: Any) -> None:
        builder, width = self.builder, self.shape.width
        for number in range(PIECE * 8 // operand.bits):
            code = self._code(at, operand.bits, number)
            value = self._item(f"{side} numbers", F32, code)
            exponent = self._item(f"{side} levels", I16, code)
            if scale is not None:
                value = builder.fmul(value, scale[0])
                moved = builder.add(exponent, scale[1])
                odd = builder.icmp_signed(
                    ">=", builder.add(exponent, ir.Constant(I16, FAR)), ir.Constant(I16, 2 * FAR)
                )
                zero = builder.icmp_signed("==", exponent, ir.Constant(I16, NOTHING))
                exponent = builder.select(builder.or_(zero, odd), exponent, moved)
            if operand.major == "K":
                further = number * (1 if side == "a" else width)
            elif side == "a":
                further = number * self.tile.k
            else:
                further = number // width * width * self.tile.k + number % width
            place = builder.add(to, _constant(further))
            self._save(f"{side} values", F32, place, value)
            self._save(f"{side} exponents", I16, place, exponent)

    def _code(self, at: Any, bits: int, number: int) -> Any:
        """A code of a piece, which begins at an address."""
        builder, kind = self.builder, I16 if bits == 16 else I8
        where = builder.add(at, _constant(number * bits // 8))
        found = builder.load(builder.inttoptr(where, self.arguments.type), typ=kind, align=1)
        if bits == 4:
            shifted = builder.lshr(found, ir.Constant(I8, 4)) if number % 2 else found
            found = builder.and_(shifted, ir.Constant(I8, 0xF))
        return builder.zext(found, I64)

    # ---- exponents

    def _find_limits(self, side: str, operand: TileOperand) -> None:
        """The least and the greatest exponent of numbers other than zero, both 0 where there is none."""
        builder = self.builder
        kind, lowest = ir.VectorType(I16, LANES), NOTHING + 1
        least, greatest = self.vectors
        builder.store(ir.Constant(kind, [-1] * LANES), least)
        builder.store(ir.Constant(kind, [NOTHING] * LANES), greatest)
        with self.loop(operand.rows * self.tile.k, LANES) as index:
            where = self.at(self.pointer(f"{side} exponents"), I16, index)
            found = builder.load(where, typ=kind, align=2)
            above = builder.sub(found, ir.Constant(kind, [lowest] * LANES))
            for vector, name, value in ((least, "umin", above), (greatest, "smax", found)):
                made = self._whole(f"llvm.{name}.v{LANES}i16", kind, builder.load(vector, typ=kind), value)
                builder.store(made, vector)
        low, high = (
            self._whole(f"llvm.vector.reduce.{name}.v{LANES}i16", I16, builder.load(vector, typ=kind))
            for vector, name in ((least, "umin"), (greatest, "smax"))
        )
        nothing = builder.icmp_signed("==", high, ir.Constant(I16, NOTHING))
        low = builder.add(low, ir.Constant(I16, lowest))
        for value, where in zip((low, high), self.limits[side], strict=True):
            builder.store(builder.select(nothing, ir.Constant(I16, 0), value), where)

    def _whole(self, name: str, result: Any, *operands: Any) -> Any:
        kinds = [operand.type for operand in operands]
        declared = self.module.globals.get(name) or ir.Function(
            self.module, ir.FunctionType(result, kinds), name=name
        )
        return self.builder.call(declared, operands)

    def _far(self) -> Any:
        """Whether a factor has an infinity or NaN, or exponents too far from 0."""
        builder, found = self.builder, ir.Constant(I1, 0)
        lows, highs = [], []
        for side, operand in (("a", self.tile.a), ("b", self.tile.b)):
            low, high = (builder.sext(builder.load(where, typ=I16), I64) for where in self.limits[side])
            most = FAR if operand.blocks and not self.shape.groups else SPECIAL
            found = builder.or_(found, builder.icmp_signed(">=", high, _constant(most)))
            found = builder.or_(found, builder.icmp_signed("<=", low, _constant(-most)))
            lows.append(low)
            highs.append(high)
        if self.tile.a.near and self.tile.b.near:
            return found
        found = builder.or_(found, builder.icmp_signed("<", builder.add(*lows), _constant(LEAST)))
        return builder.or_(found, builder.icmp_signed(">", builder.add(*highs), _constant(MOST)))
