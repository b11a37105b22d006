"""Words made of named bit fields.

A descriptor is a class body: one field a line, as the manual's table has it. From that one
definition come the constructor, encode and decode, the range checks, equality, the table that
`ptxkit explain` prints and the one in the documentation. Every bit belongs to exactly one field;
a class with a gap or an overlap can't be defined.

    class SmemDescWgmma(Word64):
        address  = bits[13:0].scaled(16, "where the matrix starts")
        reserved = bits[61:14].reserved()
        swizzle  = bits[63:62].enum({"none": 0, "128B": 1, "64B": 2, "32B": 3})

    word = SmemDescWgmma(address=0x400, swizzle="128B")
    int(word), word.swizzle, SmemDescWgmma.decode(int(word)) == word

Nothing else in the project shifts the bits of a descriptor by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, overload

from ptxkit.diagnostics import Diagnostic, PtxkitError

T = TypeVar("T")
U = TypeVar("U")

OUT_OF_RANGE = "P401"
UNKNOWN_FIELD = "P402"
RESERVED_SET = "P403"
NO_SUCH_CODE = "P404"
MISSING_FIELD = "P405"
NOT_A_WORD = "P406"


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
    def __get__(self, word: Word, owner: type) -> T: ...
    def __get__(self, word: Word | None, owner: type) -> Self | T:
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
                raise ValueError(f"must be one of {_listed(self.codes)}, found {_shown(value)}")
            return self.codes[value]
        if self.is_flag:
            if not isinstance(value, int) or value not in (0, 1):
                raise ValueError(f"must be true or false, found {_shown(value)}")
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"must be an integer, found {_shown(value)}")
        low, high = self.limits
        if not low <= value <= high:
            shown = hex if high > 0xFFFF else str
            raise ValueError(f"must be {shown(low)} .. {shown(high)}, found {shown(value)}")
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


class Row(NamedTuple):
    """A line of the table of one word."""

    bits: str
    field: str
    raw: int
    value: str
    meaning: str
    problem: str | None


class Word:
    """The base of all words: immutable, compared by class and bits.

    Subclass `Word32`, `Word64` or `Word1024`; `abstract=True` marks a class that leaves bits to its
    subclasses, whose fields replace inherited ones that share a bit with them. `rules` adds what
    several fields together must satisfy.

    Raises:
        PtxkitError: from the constructor and `decode`, one diagnostic for every field that does not
            fit (P401 value, P402 unknown, P404 code, P405 missing) and every rule that is broken.
    """

    WIDTH: ClassVar[int]
    KIND: ClassVar[str] = ""
    """The name that `ptxkit desc` and messages use."""
    SECTION: ClassVar[str] = ""
    """Where the manual defines the word."""
    FIELDS: ClassVar[dict[str, Field[Any]]] = {}

    _word: int
    __slots__ = ("_word",)

    def __init_subclass__(cls, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        own = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}
        taken = {bit for field in own.values() for bit in field.positions}
        kept = {name: field for name, field in cls.FIELDS.items() if taken.isdisjoint(field.positions)}
        cls.FIELDS = dict(sorted({**kept, **own}.items(), key=lambda item: item[1].pieces[0][0]))
        if not abstract:
            cls._account_for_every_bit()

    @classmethod
    def _account_for_every_bit(cls) -> None:
        owner: dict[int, str] = {}
        for name, field in cls.FIELDS.items():
            for bit in field.positions:
                if bit in owner:
                    raise TypeError(f"{cls.__name__}: bit {bit} is in {owner[bit]} and in {name}")
                owner[bit] = name
        missing = sorted(set(range(cls.WIDTH)) ^ set(owner))
        if missing:
            raise TypeError(f"{cls.__name__}: bits {missing} are in no field, or beyond the word")

    def __init__(self, **values: Any) -> None:
        word = 0
        found: list[Diagnostic] = []
        given = self.accept(values)
        for name, field in self.FIELDS.items():
            if field.fixed is not None:
                word |= field.place(field.fixed)
                continue
            value = given.pop(name, None)
            if value is None:
                value = field.default_value
            if value is None:
                found.append(self._problem(MISSING_FIELD, f"`{self.KIND}` needs `{name}`", field))
                continue
            try:
                word |= field.place(field.raw(value))
            except ValueError as error:
                code = NO_SUCH_CODE if field.codes is not None else OUT_OF_RANGE
                found.append(self._problem(code, f"`{name}` of `{self.KIND}` {error}", field))
        for name in given:
            names = _listed(name for name, field in self.FIELDS.items() if field.fixed is None)
            found.append(
                Diagnostic(UNKNOWN_FIELD, f"`{self.KIND}` has no field `{name}`", help=f"it has {names}")
            )
        if found:
            raise PtxkitError(found)
        self._word = word
        refuse(self.rules())

    @classmethod
    def form(cls, word: int) -> type[Self]:
        """The class that gives these bits their names: this one, unless the kind has several layouts."""
        return cls

    @classmethod
    def decode(cls, word: int) -> Self:
        """The word that these bits are.

        Raises:
            PtxkitError: P403 reserved bits, P404 a code without meaning, P406 too wide, or a rule.
        """
        refuse(cls.diagnose(word))
        return cls.form(word)._of(word)

    @classmethod
    def diagnose(cls, word: int) -> list[Diagnostic]:
        """Everything that is wrong with these bits, without raising."""
        cls = cls.form(word)
        if not 0 <= word < 1 << cls.WIDTH:
            message = f"`{cls.KIND}` is a word of {cls.WIDTH} bits, found {word:#x}"
            return [Diagnostic(NOT_A_WORD, message)]
        found = [problem for field in cls.FIELDS.values() if (problem := cls._field_problem(field, word))]
        return found or list(cls._of(word).rules())

    @classmethod
    def _of(cls, word: int) -> Self:
        new = cls.__new__(cls)
        new._word = word
        return new

    @classmethod
    def _field_problem(cls, field: Field[Any], word: int) -> Diagnostic | None:
        raw = field.extract(word)
        if field.fixed is not None:
            if raw == field.fixed:
                return None
            must = f"{field.in_words} of `{cls.KIND}` must be {field.fixed:#b}, found {raw:#b}"
            return cls._problem(RESERVED_SET, must, field)
        if field.codes is not None and raw not in field.names:
            names = ", ".join(f"{code} ({name})" for code, name in sorted(field.names.items()))
            return cls._problem(
                NO_SUCH_CODE, f"`{field.name}` of `{cls.KIND}` must be {names}, found {raw}", field
            )
        if field.range is not None and not field.range[0] <= field.value(raw) <= field.range[1]:
            low, high = field.range
            must = f"`{field.name}` of `{cls.KIND}` must be {low} .. {high}, found {field.value(raw)}"
            return cls._problem(OUT_OF_RANGE, must, field)
        return None

    @classmethod
    def _problem(cls, code: str, message: str, field: Field[Any]) -> Diagnostic:
        notes = [f"{field.in_words}: {field.doc}" if field.doc else field.in_words]
        return Diagnostic(code, message, notes=(*notes, *([cls.SECTION] if cls.SECTION else [])))

    # ---- what subclasses may add

    def rules(self) -> Iterator[Diagnostic]:
        """What is wrong with the fields taken together; each fits its own range already."""
        return iter(())

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The constructor's arguments as a fresh dict of fields, where their spelling differs."""
        return dict(values)

    def fields(self) -> dict[str, Any]:
        """The constructor's arguments that make this word again, plain data."""
        return {name: getattr(self, name) for name, field in self.FIELDS.items() if field.fixed is None}

    # ---- being a value

    def replace(self, **changes: Any) -> Self:
        """The same word with some fields changed, checked anew."""
        return type(self)(**{**self.fields(), **changes})

    def __int__(self) -> int:
        return self._word

    __index__ = __int__

    def __bytes__(self) -> bytes:
        return self._word.to_bytes(self.WIDTH // 8, "little")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._word == other._word

    def __hash__(self) -> int:
        return hash((type(self), self._word))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={v!r}' for name, v in self.fields().items())})"

    @property
    def hex(self) -> str:
        """`0x` and all digits of the word."""
        return f"0x{self._word:0{self.WIDTH // 4}x}"

    @classmethod
    def layout(cls) -> list[tuple[str, ...]]:
        """Where each field is and what it may hold: bits, name, meaning, values; lowest bits first."""
        return [(field.where, name, field.doc, field.allowed) for name, field in cls.FIELDS.items()]

    @classmethod
    def rows(cls, word: int) -> list[Row]:
        """The table of one word, lowest bits first; what is wrong with a field stands in its row."""
        table = []
        cls = cls.form(word)
        for field in cls.FIELDS.values():
            raw = field.extract(word)
            problem = cls._field_problem(field, word)
            if field.fixed is not None:
                value = str(raw)
            else:
                value = "?" if field.codes is not None and problem else _plain(field.value(raw), field)
            table.append(
                Row(field.where, field.name, raw, value, field.doc, problem.message if problem else None)
            )
        return table


class Word32(Word, abstract=True):
    """A word of 32 bits."""

    __slots__ = ()
    WIDTH = 32


class Word64(Word, abstract=True):
    """A word of 64 bits."""

    __slots__ = ()
    WIDTH = 64


class Word1024(Word, abstract=True):
    """An object of 128 bytes, little-endian: bit 0 is the lowest of byte 0."""

    __slots__ = ()
    WIDTH = 1024


def refuse(problems: Iterable[Diagnostic]) -> None:
    """Raise the errors among these findings, if there are any.

    Raises:
        PtxkitError: of all of them.
    """
    errors = [problem for problem in problems if problem.is_error]
    if errors:
        raise PtxkitError(errors)


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else repr(value)


def _plain(value: Any, field: Field[Any]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and field.codes is None and field.limits[1] > 0xFFFF and value > 9:
        return f"{value:#x} ({value})"
    return str(value)
