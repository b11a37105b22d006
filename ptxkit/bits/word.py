"""Words of fields: constructor, decode, diagnoses and tables of one definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

from ptxkit.bits.field import Field
from ptxkit.diagnostics import Diagnostic, PtxkitError, listing

OUT_OF_RANGE = "P401"
UNKNOWN_FIELD = "P402"
RESERVED_SET = "P403"
NO_SUCH_CODE = "P404"
MISSING_FIELD = "P405"
NOT_A_WORD = "P406"


class FieldRow(NamedTuple):
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
            names = listing(name for name, field in self.FIELDS.items() if field.fixed is None)
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
    def rows(cls, word: int) -> list[FieldRow]:
        """The table of one word, lowest bits first; what is wrong with a field is in its row."""
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
                FieldRow(field.where, field.name, raw, value, field.doc, problem.message if problem else None)
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


def _plain(value: Any, field: Field[Any]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and field.codes is None and field.limits[1] > 0xFFFF and value > 9:
        return f"{value:#x} ({value})"
    return str(value)
