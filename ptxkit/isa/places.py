"""Operands of instruction rows: where they stand, what may stand there, see `notation`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ptxkit.dtypes import DTYPES
from ptxkit.isa.conditions import NotationError

WORDS = frozenset(
    "reg exact imm pred none sink whole plain braced untyped sum value short full metadata kept vec wide label function variable sreg pack texref samplerref surfref texels shifts gradients targets prototype any read write both load store coordinates offsets loose advised open anytype32 lone bare predicates moved masks bits single double unified called".split()
)
"""Words of an operand's specification beside types, ranges, counts and spaces.

    label       a label of the function
    function    a `.func` or `.entry`
    variable    the address of a variable, with or without an offset
    sreg        a special register, too
    pack        a vector of registers that together are as wide, too (`mov`, 9.7.9.4)
    texref samplerref surfref: a variable of that type, or a register with its handle
    texels      as many coordinates as `.geom` has, the index of an array texture first
    shifts      as many offsets as `.geom` has
    gradients   as many derivatives as `.geom` has
    targets     the label of a `.branchtargets` or `.calltargets`
    prototype   the label of a `.callprototype`
    any         a register of any type
    coordinates as many as the tensor has dimensions; five for `.tile::gather4` and `.tile::scatter4`
    offsets     of an im2col copy: two fewer than the dimensions, two for `.im2col::w`
    both        it is written, and read before: an accumulator that stays where it is
    load store  of an address: it is read, or written, which decides what parameters may be named
    bare        of an address: ptxas takes a register or a floating-point number without brackets for it; with a
                type, a value of that type, where no operand follows
    predicates  of a bare address: a predicate, too
    moved       of a bare address: a register of 32 or 64 bits, for ptxas moves it first
    masks       of a bare address with a type: an integer register of 16 bits, too, which ptxas takes for a mask
    bits        a register of any type of that width, or a `0f` number of 32 bits
    unified     of an address: ptxas takes `.unified` after it
    single      a floating-point constant must be a `0f` one
    double      it must not be a `0f` one
    called      of a wider register: no `.b128`, for ptxas makes a call of the instruction
    advised     the range is the manual's, written `~0..255`; ptxas takes other values, too
    open        the same of its upper end, written `0..~255`; `0..1~3`: ptxas takes up to 3
    plain       of a vector: no element is a special register or a predicate
    untyped     of a vector: ptxas looks at its elements' width alone where only instructions have the type, and
                takes integers beside registers anywhere in it, and integer registers for floats; and a constant
                of 32 bits for one element
    sum         of a register: ptxas takes a sum with a constant, too
    value       of an address: what stands first in the brackets is a value of the type, no address
    short       of a vector: its registers have 8 bits or 16
    full metadata kept: of a vector: as many registers as the data, its metadata or what is kept of it take
    braced      ptxas takes a vector of it, too, of any length
    anytype32   ptxas does not look at its type: it takes whatever is in one register of 32 bits, in braces, too
    lone        of `anytype32`: neither in braces nor in a sum; of a vector: such a one in its place
    loose       ptxas looks less close: surfaces may come with other vectors than `.vec` says, textures put
                `.f32` into any 32-bit registers
"""

SPACES = frozenset(
    "const global local param param::entry param::func shared shared::cta shared::cluster generic tmem".split()
)
_COUNT = re.compile(r"x(?:(\d+)|(m|n|k|num|group|dim)?(?:([-*/])(\d+))?)\Z")


@dataclass(frozen=True, slots=True)
class Spec:
    """What one operand may be.

    Attributes:
        type: a type, `.slot` for the type in that slot, or None where the operand has none.
        scale: 2 where the operand is twice as wide as the type.
        words: which of `WORDS` were said.
        count: elements of a vector: a number, or (`n`, `*`, `/` or `-`, number); None for a scalar.
        low, high, step: the range of a constant, or None; every `step`-th value from 0. `high` may name
            another operand.
        ptxas_high: where ptxas takes more than the manual's `high`, its own.
        choices: the values of a constant, empty where any will do; ptxas also takes multiples of `step`, where that
            is more than 1, written `~/32`.
        spaces: of an address, the state spaces it may be in, or `.slot`.
        ptxas_space: the slot whose space ptxas takes a variable in, too, written `~.slot`.
    """

    type: str | None = None
    scale: int = 1
    words: frozenset[str] = frozenset()
    count: int | tuple[str, str, int] | None = None
    low: float | None = None
    high: float | str | None = None
    step: int = 1
    ptxas_high: int | None = None
    choices: tuple[int, ...] = ()
    spaces: tuple[str, ...] = ()
    ptxas_space: str | None = None

    @classmethod
    def parse(cls, text: str, slots: Collection[str]) -> Spec:
        """Read a specification, see the module's docstring.

        Raises:
            NotationError: it has a word that means nothing.
        """
        type_: str | None = None
        scale, step = 1, 1
        low: float | None = None
        high: float | str | None = None
        ptxas_high: int | None = None
        words: set[str] = set()
        count: int | tuple[str, str, int] | None = None
        choices: list[int] = []
        spaces: list[str] = []
        ptxas_space: str | None = None
        in_spaces = False
        for word in text.split():
            if word == "in":
                in_spaces = True
            elif in_spaces and (word in SPACES or (word.startswith(".") and word[1:] in slots)):
                spaces.append(word)
            elif in_spaces and word.startswith("~.") and word[2:] in slots:
                ptxas_space = word[1:]
            elif word in WORDS:
                words.add(word)
            elif word in DTYPES or (word.startswith(".") and word[1:] in slots):
                type_ = word
            elif word.startswith("2*"):
                scale, type_ = 2, word[2:]
            elif _COUNT.match(word) and word != "x":
                number, symbol, operator, operand = _COUNT.match(word).groups()  # type: ignore[union-attr]
                count = int(number) if number else (symbol, operator or "*", int(operand or 1))
            elif word.startswith("~/"):
                step = int(word[2:])
            elif ".." in word:
                first, _, rest = word.removeprefix("~").partition("..")
                last, _, every = rest.removeprefix("~").partition("/")
                last, _, more = last.partition("~")
                ptxas_high = int(more) if more else None
                read = float if "." in last else lambda number: int(number, 0)
                low, step = read(first), int(every or 1)
                high = last if last.isidentifier() else read(last)
                if word.startswith("~"):
                    words.add("advised")
                elif rest.startswith("~"):
                    words.add("open")
            elif re.fullmatch(r"-?\d+", word):
                choices.append(int(word))
            else:
                raise NotationError(f"`{word}` in `{text}` means nothing")
        return cls(
            type_,
            scale,
            frozenset(words),
            count,
            low,
            high,
            step,
            ptxas_high,
            tuple(choices),
            tuple(spaces),
            ptxas_space,
        )


class OperandPlace(NamedTuple):
    """One operand of a form.

    Attributes:
        shape: `plain`, `address` (`[..]`), `vector` (`{..}`), `pair` (`a|b`) or `arguments` (`(..)`).
        name: its name; of an address, the name of its base.
        parts: what stands in the brackets, or the two halves of a pair.
        optional: (for the parts of an address and a pair) whether it may be left out.
        negatable: `!` or `-` where the operand may be negated, else the empty string.
        selector: the slot of parts that may be selected (`a{.asel}`), or None.
        group: the number of the optional group it belongs to, 0 for none.
        suffix: a modifier that may follow the bracket: `unified`.
    """

    shape: str
    name: str
    parts: tuple[OperandPlace, ...] = ()
    optional: bool = False
    negatable: str = ""
    selector: str | None = None
    group: int = 0
    suffix: str | None = None

    def leaves(self) -> Iterator[OperandPlace]:
        """The places that stand for one value each."""
        if self.parts:
            for part in self.parts:
                yield from part.leaves()
        else:
            yield self


_OPERAND = re.compile(r"\s*(?:([A-Za-z_][\w-]*)|(\{)|(\})|(\[)|(\])|(\()|(\))|(,)|(\|)|(!)|(-)|(\.[\w]+))")


class OperandReader:
    """A recursive-descent reader of the operand part of a syntax line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _OPERAND.match(text, position)
            if match is None:
                raise NotationError(f"operands `{text}` are malformed at `{text[position:]}`")
            self.tokens.append(match.group().strip())
            position = match.end()
        self.at = 0
        self.groups = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise NotationError(f"operands `{self.text}`: expected `{wanted or 'more'}`, found `{token}`")
        self.at += 1
        return token

    def list(self, closing: str, group: int = 0) -> list[OperandPlace]:
        """Places separated by commas, up to (not including) `closing`.

        A group that may be left out has its comma inside: `a{, b}`, `{a,} b`.
        """
        found: list[OperandPlace] = []
        while self.peek() != closing:
            if self.peek() == "{" and self.peek(1) == ",":
                self.take()
                self.take()
                self.groups += 1
                found += self.list("}", self.groups)
                self.take("}")
            else:
                found.append(self.place(group))
            if self.peek() == ",":
                self.take()
                if self.peek() == closing:
                    raise NotationError(f"operands `{self.text}`: expected one after the last `,`")
            elif self.peek() != closing and not found[-1].optional and self.peek(1) != ",":
                raise NotationError(f"operands `{self.text}`: expected `,` before `{self.peek()}`")
        return found

    def place(self, group: int) -> OperandPlace:
        token = self.peek()
        if token == "[":
            self.take()
            parts = tuple(self.list("]"))
            self.take("]")
            suffix = None
            if self.peek() == "{" and self.peek(1).startswith("."):
                self.take()
                suffix = self.take()[1:]
                self.take("}")
            return OperandPlace("address", parts[0].name, parts, group=group, suffix=suffix)
        if token == "(":
            self.take()
            parts = tuple(self.list(")"))
            self.take(")")
            return OperandPlace("arguments", parts[0].name if parts else "", parts, group=group)
        if token == "{" and self.peek(1) in ("!", "-"):
            self.take()
            sign = self.take()
            self.take("}")
            return self.named(group, sign)
        if token == "{" and self.peek(2) == "," and self.peek(3) == "}":
            self.take()
            place = self.named(group)
            self.take(",")
            self.take("}")
            return OperandPlace(
                place.shape, place.name, place.parts, True, place.negatable, place.selector, group
            )
        if token == "{":
            self.take()
            parts = tuple(self.list("}"))
            self.take("}")
            return OperandPlace("vector", parts[0].name, parts, group=group)
        return self.named(group)

    def named(self, group: int, negatable: str = "") -> OperandPlace:
        name = self.take()
        if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
            raise NotationError(f"operands `{self.text}`: `{name}` is no name")
        place = OperandPlace("plain", name.replace("-", "_"), negatable=negatable, group=group)
        if self.peek() == "{" and self.peek(1).startswith("."):
            self.take()
            selector = self.take()[1:]
            self.take("}")
            return OperandPlace("plain", place.name, negatable=negatable, selector=selector, group=group)
        if self.peek().startswith("."):
            return OperandPlace(
                "plain", place.name, negatable="required", selector=self.take()[1:], group=group
            )
        if self.peek() == "|":
            self.take()
            return OperandPlace("pair", place.name, (place, self.named(0)), group=group)
        if self.peek() == "{" and self.peek(1) == "|":
            self.take()
            self.take()
            second = self.named(0)
            self.take("}")
            halves = (place, OperandPlace(second.shape, second.name, optional=True))
            return OperandPlace("pair", place.name, halves, group=group)
        return place


USUAL = {
    "cache_policy": "u64",
    "membermask": "u32",
    "ctaMask": "u16",
    "mbar": "in shared shared::cta shared::cluster generic",
    "p": "pred",
    "q": "pred",
}
"""Specifications of operands whose name says what they are, in every row."""


def usual(name: str, slots: Collection[str], types: Sequence[str], bracketed: bool) -> str:
    """The specification of an operand that the row says nothing about.

    Args:
        name: the operand.
        slots: the names of the row's slots.
        types: the types that stand in the row's syntax itself.
        bracketed: whether it is an address.
    """
    if name in USUAL:
        return USUAL[name]
    if bracketed:
        for slot in ("ss", "space"):
            if slot in slots:
                return f"in .{slot}"
        return "in generic"
    if len(name) > 1:
        raise NotationError(
            f"operand `{name}` needs `{name}=`: names of one letter alone have a type by default"
        )
    for slot in (f"{name}type", "type"):
        if slot in slots:
            return f".{slot}"
    if len(types) == 1:
        return f".{types[0]}"
    raise NotationError(f"operand `{name}` has no type")
