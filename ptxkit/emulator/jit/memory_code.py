"""The LLVM IR behind loads and stores: loops over the places of one access.

A place is an address of the access: one for each thread, for each row where the lanes share it, or for each
lane where the rows do. Each function takes one array of 64-bit words, named in `FIELDS` order, and touches
nothing before it has looked at every place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from llvmlite import ir

from ptxkit.emulator.access_history import ASYNC, STRONG, strength_at
from ptxkit.emulator.loop_code import splat
from ptxkit.emulator.native import FUNCTION

I1, I8, I64, POINTER = ir.IntType(1), ir.IntType(8), ir.IntType(64), ir.PointerType()

RANGE_FIELDS = ("places", "address", "step", "active", "low", "high", "odd", "count")
"""Of `range_code`: the number of places, where their addresses are, what is added to each, which take part;
and what it finds: the least and the greatest address, the union of their bits, how many take part."""
FIELDS = (
    "places", "address", "step", "active", "start", "data", "shadow", "tiles", "write", "first read",
    "last read", "granule", "threads", "last threads", "record", "limit", "limits",
)  # fmt: skip
"""Of `access_code`: then an array for each element, and one for what each destination held."""
DONE, UNSETTLED = 0, 1


class AccessShape(NamedTuple):
    """What the code of an access hangs on.

    Attributes:
        stores: whether it stores.
        address_bits: of a register with an address.
        width, elements: bytes of an element, and how many elements.
        active: whether only some lanes take part.
        row_shift: how many places a row has, as a power of two.
        tiles: whether each row has memory of its own.
        held: whether lanes that take no part keep what their destinations held.
        record_bits: of an access history's record; 0 where there is no history.
        granules: records of an access.
        has_write, has_reads: whether the history has such records.
        limits: whether rows differ in what they may not have seen.
        shadowed: whether what is stored was undefined.
        own: whether each place is of one thread, whose own records are none that it may not have seen.
    """

    stores: bool
    address_bits: int
    width: int
    elements: int
    active: bool
    row_shift: int
    tiles: bool
    held: bool
    record_bits: int
    granules: int
    has_write: bool
    has_reads: bool
    limits: bool
    shadowed: bool
    own: bool


class _Code:
    """A function `i64 run(ptr)` under construction."""

    def __init__(self, fields: int) -> None:
        self.module = ir.Module(name="transfer")
        function = ir.Function(self.module, ir.FunctionType(I64, [POINTER]), name=FUNCTION)
        (self.arguments,) = function.args
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.words = [
            self.builder.load(self.at(self.arguments, I64, number), typ=I64) for number in range(fields)
        ]

    def at(self, pointer: Any, kind: Any, index: Any) -> Any:
        """The address of an element of an array."""
        where = ir.Constant(I64, index) if isinstance(index, int) else index
        return self.builder.gep(pointer, [where], source_etype=kind)

    def pointer(self, word: Any) -> Any:
        """A word as a pointer."""
        return self.builder.inttoptr(word, POINTER)

    def load(self, pointer: Any, kind: Any, index: Any, align: int) -> Any:
        """An element of an array."""
        return self.builder.load(self.at(pointer, kind, index), typ=kind, align=align)

    @contextmanager
    def places(self, end: Any, active: Any | None) -> Iterator[Any]:
        """A loop over the places that take part; its body is what is built inside."""
        builder = self.builder
        before = builder.block
        head = builder.append_basic_block("place")
        body = builder.append_basic_block("body") if active is not None else head
        following = builder.append_basic_block("next")
        behind = builder.append_basic_block("behind")
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(I64)
        index.add_incoming(ir.Constant(I64, 0), before)
        if active is not None:
            takes_part = builder.trunc(self.load(active, I8, index, 1), I1)
            builder.cbranch(takes_part, body, following)
            builder.position_at_end(body)
        yield index
        builder.branch(following)
        builder.position_at_end(following)
        incremented = builder.add(index, ir.Constant(I64, 1))
        index.add_incoming(incremented, following)
        builder.cbranch(builder.icmp_unsigned("<", incremented, end), head, behind)
        builder.position_at_end(behind)

    def leave_if(self, condition: Any, status: int) -> None:
        """Return at once where a condition holds."""
        with self.builder.if_then(condition, likely=False):
            self.builder.ret(ir.Constant(I64, status))

    def finish(self) -> str:
        """Return, all being done: the text of the module."""
        self.builder.ret(ir.Constant(I64, DONE))
        return str(self.module)


def _address(code: _Code, bits: int, index: Any) -> Any:
    """The address of a place, as 64 bits."""
    kind = ir.IntType(bits)
    word = code.load(code.pointer(code.words[1]), kind, index, bits // 8)
    step = code.builder.trunc(code.words[2], kind) if bits < 64 else code.words[2]
    word = code.builder.add(word, step)
    return code.builder.zext(word, I64) if bits < 64 else word


def range_code(address_bits: int, active: bool) -> str:
    """The function that finds the range of some addresses."""
    code = _Code(len(RANGE_FIELDS))
    builder = code.builder
    found = [builder.alloca(I64) for _ in range(4)]
    for place, start in zip(found, (-1, 0, 0, 0), strict=True):
        builder.store(ir.Constant(I64, start), place)
    with code.places(code.words[0], code.pointer(code.words[3]) if active else None) as index:
        address = _address(code, address_bits, index)
        low, high, odd, count = (builder.load(place, typ=I64) for place in found)
        builder.store(builder.select(builder.icmp_unsigned("<", address, low), address, low), found[0])
        builder.store(builder.select(builder.icmp_unsigned(">", address, high), address, high), found[1])
        builder.store(builder.or_(odd, address), found[2])
        builder.store(builder.add(count, ir.Constant(I64, 1)), found[3])
    for number, place in enumerate(found, RANGE_FIELDS.index("low")):
        builder.store(builder.load(place, typ=I64), code.at(code.arguments, I64, number))
    return code.finish()


class _Access(_Code):
    """The function of an access."""

    def __init__(self, shape: AccessShape) -> None:
        super().__init__(len(FIELDS) + shape.elements * (1 + shape.held))
        self.shape = shape
        self.named = dict(zip(FIELDS, self.words, strict=False))
        self.elements = [self.pointer(word) for word in self.words[len(FIELDS) :][: shape.elements]]
        self.held = [self.pointer(word) for word in self.words[len(FIELDS) + shape.elements :]]
        self.active = self.pointer(self.named["active"]) if shape.active else None
        self.record = ir.IntType(shape.record_bits or 32)
        self.records = ir.VectorType(self.record, shape.granules) if shape.granules > 1 else self.record

    def offset(self, index: Any) -> Any:
        """Where a place lies in the memory, in bytes."""
        distance = self.builder.sub(_address(self, self.shape.address_bits, index), self.named["start"])
        if not self.shape.tiles:
            return distance
        return self.builder.add(
            distance, self.load(self.pointer(self.named["tiles"]), I64, self._row(index), 8)
        )

    def _row(self, index: Any) -> Any:
        return self.builder.lshr(index, ir.Constant(I64, self.shape.row_shift))

    def places_of_records(self, kind: str, offset: Any) -> Any:
        """The address of the records of a place."""
        first = self.builder.lshr(offset, self.named["granule"])
        return self.at(self.pointer(self.named[kind]), self.record, first)

    def records_at(self, place: Any) -> Any:
        """The records there."""
        return self.builder.load(place, typ=self.records, align=self.shape.record_bits // 8)

    def broadcast(self, word: Any) -> Any:
        """A record for each granule."""
        return word if self.shape.granules == 1 else splat(self.builder, word, self.shape.granules)

    def limit(self, index: Any) -> Any:
        """The least record that the row of a place may not have seen."""
        if self.shape.limits:
            return self.load(
                self.pointer(self.named["limits"]), self.record, self._row(index), self.shape.record_bits // 8
            )
        return self._word("limit")

    def _word(self, name: str) -> Any:
        word = self.named[name]
        return self.builder.trunc(word, self.record) if self.shape.record_bits < 64 else word

    def own(self, name: str, index: Any) -> Any:
        """The record of the access by the thread of a place."""
        return self.builder.or_(self.thread(name, index), self._word("record"))

    def thread(self, name: str, index: Any) -> Any:
        """The thread of a place: the first one of its row, and the lane."""
        builder, lanes = self.builder, (1 << self.shape.row_shift) - 1
        first = self.load(
            self.pointer(self.named[name]), self.record, self._row(index), self.shape.record_bits // 8
        )
        lane = builder.and_(index, ir.Constant(I64, lanes))
        return builder.or_(first, lane if self.shape.record_bits == 64 else builder.trunc(lane, self.record))

    def any(self, conditions: Any) -> Any:
        """Whether one of the granules' predicates holds."""
        if self.shape.granules == 1:
            return conditions
        word = self.builder.bitcast(conditions, ir.IntType(self.shape.granules))
        return self.builder.icmp_unsigned("!=", word, ir.Constant(word.type, 0))

    def meets(self, kinds: tuple[str, ...]) -> None:
        """Leave where a record of one of these kinds is at the limit or beyond."""
        with self.places(self.named["places"], self.active) as index:
            offset = self.offset(index)
            limit = self.broadcast(self.limit(index))
            for kind in kinds:
                record = self.records_at(self.places_of_records(kind, offset))
                reached = self.builder.icmp_unsigned(">=", record, limit)
                if self.shape.own:
                    thread = self.thread("threads", index)
                    own = is_own(self.builder, record, self.broadcast(thread), self.shape.record_bits)
                    reached = self.builder.and_(reached, self.builder.not_(own))
                self.leave_if(self.any(reached), UNSETTLED)


def is_own(builder: ir.IRBuilder, record: Any, thread: Any, record_bits: int) -> Any:
    """Whether records are of these threads themselves: `AccessHistory.is_thread`."""
    at = strength_at(record_bits == 32)
    kind = record.type

    def every(number: int) -> Any:
        return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)

    other = builder.and_(builder.xor(record, thread), every((1 << at) - 1))
    strength = builder.and_(builder.lshr(record, every(at)), every(STRONG))
    same = builder.icmp_unsigned("==", other, every(0))
    return builder.and_(same, builder.icmp_unsigned("!=", strength, every(ASYNC)))


def access_code(shape: AccessShape) -> str:
    """The function of an access of some shape.

    It returns `UNSETTLED`, with nothing done, where a record of the access history is one that some row may
    not have seen, or where lanes store to one place.
    """
    code = _Access(shape)
    (_store if shape.stores else _load)(code)
    return code.finish()


def _load(code: _Access) -> None:
    shape, builder = code.shape, code.builder
    if shape.record_bits and shape.has_write:
        code.meets(("write",))
    kind = ir.IntType(8 * shape.width)
    if shape.held:
        with code.places(code.named["places"], None) as index:
            for element, held in zip(code.elements, code.held, strict=True):
                builder.store(code.load(held, kind, index, shape.width), code.at(element, kind, index))
    data = code.pointer(code.named["data"])
    with code.places(code.named["places"], code.active) as index:
        offset = code.offset(index)
        source = code.at(data, I8, offset)
        for number, element in enumerate(code.elements):
            value = code.load(source, kind, number, shape.width)
            builder.store(value, code.at(element, kind, index), align=shape.width)
        if shape.record_bits:
            place = code.places_of_records("first read", offset)
            first = code.records_at(place)
            fresh = builder.icmp_unsigned("<", first, code.broadcast(code.limit(index)))
            own = code.broadcast(code.own("threads", index))
            align = shape.record_bits // 8
            builder.store(builder.select(fresh, own, first), place, align=align)
            last = code.broadcast(code.own("last threads", index))
            builder.store(last, code.places_of_records("last read", offset), align=align)


def _store(code: _Access) -> None:
    shape, builder = code.shape, code.builder
    align = shape.record_bits // 8
    if shape.record_bits:
        kinds = (("write",) if shape.has_write else ()) + (
            ("first read", "last read") if shape.has_reads else ()
        )
        if kinds:
            code.meets(kinds)
        with code.places(code.named["places"], code.active) as index:
            own = code.broadcast(code.own("threads", index))
            builder.store(own, code.places_of_records("write", code.offset(index)), align=align)
        _undo_duplicates(code)
    kind = ir.IntType(8 * shape.width)
    data, shadow = code.pointer(code.named["data"]), code.pointer(code.named["shadow"])
    with code.places(code.named["places"], code.active) as index:
        offset = code.offset(index)
        for number, element in enumerate(code.elements):
            value = code.load(element, kind, index, shape.width)
            builder.store(value, code.at(code.at(data, I8, offset), kind, number), align=shape.width)
            if shape.shadowed:
                none = code.at(code.at(shadow, I8, offset), kind, number)
                builder.store(ir.Constant(kind, 0), none, align=shape.width)


def _undo_duplicates(code: _Access) -> None:
    """Where lanes share a place, take the records back and leave: whether their values differ, numpy sees.

    What was there before need not come back: the store that numpy then makes would have written over it, and
    it lies below the limit of every row.
    """
    builder = code.builder
    shared = builder.alloca(I1)
    builder.store(ir.Constant(I1, 0), shared)
    with code.places(code.named["places"], code.active) as index:
        record = code.load(
            code.pointer(code.named["write"]),
            code.record,
            builder.lshr(code.offset(index), code.named["granule"]),
            code.shape.record_bits // 8,
        )
        differs = builder.icmp_unsigned("!=", record, code.own("threads", index))
        builder.store(builder.or_(builder.load(shared, typ=I1), differs), shared)
    with builder.if_then(builder.load(shared, typ=I1), likely=False):
        with code.places(code.named["places"], code.active) as index:
            nothing = code.broadcast(ir.Constant(code.record, 0))
            builder.store(
                nothing,
                code.places_of_records("write", code.offset(index)),
                align=code.shape.record_bits // 8,
            )
        builder.ret(ir.Constant(I64, UNSETTLED))
