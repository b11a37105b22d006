"""A field of a word: where its bits are and what their values mean."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from ptxkit.diagnostics import listing

T = TypeVar("T")
U = TypeVar("U")


class HasBits(Protocol):
    """What fields are read from: an object that has a whole word."""

    _word: int


class Field(Generic[T]):
    """One field of a word: where its bits are and what their values mean.

    Made by `bits[high:low]`, refined by the methods below, each of which returns a changed copy.
    Read from a word it gives the value, from the class the field itself.

    Attributes:
        pieces: `(low, width)` of each run of bits, least significant first.
        width: number of bits.
        name: the attribute's name.
        doc: a line for tables.
    """

    def __init__(self, pieces: tuple[tuple[int, int], ...]) -> None:
        self.pieces = pieces
        self.width = sum(width for _, width in pieces)
        self.name = ""
        self.doc = ""
        self.scale = 1
        self.bias = 0
        self.range: tuple[int, int] | None = None
        self.codes: dict[Any, int] | None = None
        self.names: dict[int, Any] = {}
        self.is_flag = False
        self.is_signed = False
        self.fixed: int | None = None
        self.default_value: T | None = None

    # ---- building

    def _changed(self, **changes: Any) -> Any:
        new = copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def then(self, higher: Field[Any]) -> Field[int]:
        """The same field continued by the bits of `higher`, which weigh more."""
        field: Field[int] = Field(self.pieces + higher.pieces)
        return field

    def scaled(self, scale: int, doc: str = "") -> Field[int]:
        """An unsigned number stored divided by `scale`; it must be a multiple of it."""
        new: Field[int] = self._changed(scale=scale, doc=doc or self.doc)
        return new

    def less_one(self, doc: str = "") -> Field[int]:
        """An unsigned number of at least 1, stored less one."""
        new: Field[int] = self._changed(bias=1, doc=doc or self.doc)
        return new

    def signed(self, doc: str = "") -> Field[int]:
        """A number in two's complement."""
        new: Field[int] = self._changed(is_signed=True, doc=doc or self.doc)
        return new

    def between(self, low: int, high: int, doc: str = "") -> Field[int]:
        """An unsigned number narrower than its bits."""
        new: Field[int] = self._changed(range=(low, high), doc=doc or self.doc)
        return new

    def enum(self, codes: Mapping[U, int], doc: str = "") -> Field[U]:
        """A choice of names (or numbers) with their codes; other codes are illegal."""
        names = {code: name for name, code in codes.items()}
        new: Field[U] = self._changed(codes=dict(codes), names=names, doc=doc or self.doc)
        return new

    def flag(self, doc: str = "") -> Field[bool]:
        """One bit, false where left out."""
        new: Field[bool] = self._changed(is_flag=True, default_value=False, doc=doc or self.doc)
        return new

    def about(self, doc: str) -> Field[T]:
        """The same field with a line of documentation."""
        new: Field[T] = self._changed(doc=doc)
        return new

    def default(self, value: T) -> Field[T]:
        """The value where the constructor is not given one."""
        new: Field[T] = self._changed(default_value=value)
        return new

    def reserved(self, doc: str = "reserved, 0") -> Field[int]:
        """Bits that must be 0."""
        return (self == 0)._changed(doc=doc)

    def __eq__(self, constant: object) -> Field[int]:  # type: ignore[override]
        """`bits[48:46] == 0b001`: bits that always hold this value. No test of equality."""
        return self._changed(fixed=constant, doc=self.doc or f"always {constant}")

    __hash__ = object.__hash__

    # ---- access

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, word: None, owner: type) -> Self: ...
    @overload
    def __get__(self, word: HasBits, owner: type) -> T: ...
    def __get__(self, word: HasBits | None, owner: type) -> Self | T:
        return self if word is None else self.value(self.extract(word._word))

    def extract(self, word: int) -> int:
        """The field's raw bits out of a whole word."""
        raw, shift = 0, 0
        for low, width in self.pieces:
            raw |= (word >> low & (1 << width) - 1) << shift
            shift += width
        return raw

    def place(self, raw: int) -> int:
        """The whole word's bits that hold `raw`."""
        word = 0
        for low, width in self.pieces:
            word |= (raw & (1 << width) - 1) << low
            raw >>= width
        return word

    def value(self, raw: int) -> T:
        """What the raw bits mean; KeyError for a code that has no name."""
        result: Any
        if self.codes is not None:
            result = self.names[raw]
        elif self.is_flag:
            result = bool(raw)
        elif self.is_signed and raw >> self.width - 1:
            result = raw - (1 << self.width)
        else:
            result = raw * self.scale + self.bias
        return result

    def raw(self, value: Any) -> int:
        """The raw bits of a value; ValueError with the rule it breaks."""
        if self.codes is not None:
            if isinstance(value, bool) or not isinstance(value, (str, int)) or value not in self.codes:
                raise ValueError(f"must be one of {listing(self.codes)}, found {shown(value)}")
            return self.codes[value]
        if self.is_flag:
            if not isinstance(value, int) or value not in (0, 1):
                raise ValueError(f"must be true or false, found {shown(value)}")
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"must be an integer, found {shown(value)}")
        low, high = self.limits
        if not low <= value <= high:
            number = hex if high > 0xFFFF else str
            raise ValueError(f"must be {number(low)} .. {number(high)}, found {number(value)}")
        raw, rest = divmod(value - self.bias, self.scale)
        if rest:
            raise ValueError(f"must be a multiple of {self.scale}, found {value}")
        return raw & (1 << self.width) - 1

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of a number."""
        if self.range is not None:
            return self.range
        if self.is_signed:
            return -(1 << self.width - 1), (1 << self.width - 1) - 1
        return self.bias, ((1 << self.width) - 1) * self.scale + self.bias

    @property
    def positions(self) -> list[int]:
        """The bits of the word that are the field's, least significant first."""
        return [bit for low, width in self.pieces for bit in range(low, low + width)]

    @property
    def where(self) -> str:
        """`13:0`, `52`, `19 + 31:28` where the bits are apart; `0x0c[31:0]` beyond the first 64."""

        def run(low: int, width: int) -> str:
            base = low // 32 * 32 if low >= 64 else 0
            bits = f"{low + width - 1 - base}:{low - base}" if width > 1 else str(low - base)
            return f"{base // 8:#04x}[{bits}]" if base else bits

        return " + ".join(run(low, width) for low, width in self.pieces)

    @property
    def in_words(self) -> str:
        """`where` in words: `bit 52`, `bits 13:0`."""
        return f"{'bit' if self.width == 1 else 'bits'} {self.where}"

    @property
    def allowed(self) -> str:
        """The legal values in words."""
        if self.fixed is not None:
            return f"always {self.fixed}"
        if self.codes is not None:
            return ", ".join(f"{name}: {code}" for name, code in self.codes.items())
        if self.is_flag:
            return "0, 1"
        low, high = self.limits
        return f"{low} .. {high if high <= 0xFFFF else hex(high)}" + (
            f" in steps of {self.scale}" if self.scale > 1 else ""
        )


class _Bits:
    """`bits[high:low]` and `bits[n]` make fields; `bits.at(byte)` counts from that byte on."""

    def __init__(self, base: int = 0) -> None:
        self._base = base

    def __getitem__(self, where: slice | int) -> Field[int]:
        high, low = (where.start, where.stop) if isinstance(where, slice) else (where, where)
        if not high >= low >= 0:
            raise TypeError(f"bits go from high to low, found {where}")
        return Field(((self._base + low, high - low + 1),))

    def at(self, byte: int) -> _Bits:
        """Bits counted from byte `byte` of a little-endian object."""
        return _Bits(byte * 8)


bits = _Bits()


def shown(value: Any) -> str:
    """A value as messages write it."""
    return f"`{value}`" if isinstance(value, str) else repr(value)
