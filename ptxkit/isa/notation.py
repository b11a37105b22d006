"""The notation of instruction rows: the manual's own syntax lines, read strictly.

    form("ld{.weak}{.ss}{.cop}{.vec}.type  d, [a]{, cache-policy}",
         ss="const global local", cop="ca cg cs lu cv", vec="v2 v4", type="b32 u32 f32",
         d="wide vec .type", needs={".v8": "8.8 sm_100"}, rules=".cop -> !.weak", section="9.7.9.8")

Modifiers. `.name` is a slot where the row gives `name=` its values, else a literal modifier; `{..}` may be left
out; `{.sem.scope}` are left out together; `.shared{::cta}` stands for `.shared` or `.shared::cta`.

Operands. `d, a, b`; `{, b}` may be left out; `[a]` is an address, `[a, {b}]` one with coordinates; `{a, b}` a
vector of two operands; `d|p` a pair, `d{|p}` one whose second half may be left out; `{!}c` and `{-}c` may be
negated; `a{.asel}` may select a part; `(a)` is a list of arguments.

What an operand may be is said by `operand=`, a blank-separated list; a name's hyphens are underscores there:
    u32, .type         a register, or for a source a constant, of that type, or of the type in that slot
    2*.type            of twice the width of the type in that slot
    wide               the register may be wider than the type (9.4.1)
    reg                no constants
    exact              a register declared with just this type
    0..255, 0.0..1.0   the range of a constant
    imm, imm 0..31     constants only, of that range; `24..256/8`: multiples of 8; `imm 4 8 16`: one of these
    x4, xN/8, xnum*2   a vector of so many registers: numbers, `m` `n` `k` of the shape, `num` of `.num`,
                       `group` of `.cta_group`
    vec                a vector of as many elements as the modifier `.vec` says, without it a register
    none               nothing but `_`
    sink, sinks        `_` may stand for it; for elements of the vector
    pred               a predicate
    in SPACE..         an address in one of these state spaces, or in that of a slot: `in .ss`, `in shared`
    label, function, variable, sreg, pack, texref ..: see `KINDS`
Without it the type is the slot `.dtype` for `d`, `.atype` for `a`, .. where the row has such a slot, else `.type`.

What ptxas takes beyond the manual is marked, so that it can be warned of: a value by a `~` before it, a slot
that may stay empty by its name in `lax`.

`needs` says what a modifier asks for beyond the row's own `since`: a PTX ISA version, targets
(`ptxkit.targets`), or both; alternatives are separated by commas. Its keys, and `rules`, are conditions: `.mod`
for a modifier or a slot that is filled, `name` for an operand that is there, joined by `!`, `&`, `|`, and for
rules `->`. Rules are separated by semicolons.

The first operand is written unless it is an address or its specification says `read`; others are where it says
`write`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ptxkit import targets
from ptxkit.dtypes import DTYPES
from ptxkit.isa.names import NAMES
from ptxkit.targets import Version


class NotationError(ValueError):
    """A row of the instruction set that does not make sense."""


# ---- availability


@dataclass(frozen=True, slots=True)
class Availability:
    """From which PTX ISA version, and on which targets, something may be used.

    Attributes:
        alternatives: (version, targets), any of which will do; the targets as in `ptxkit.targets`, empty where
            every one will do.
    """

    alternatives: tuple[tuple[Version, str], ...]

    @classmethod
    def parse(cls, text: str) -> Availability:
        """Read `8.6 sm_100a sm_110a, 8.8 sm_100f`.

        Raises:
            NotationError: it is neither a version nor a list of targets.
        """
        found = []
        for alternative in text.split(","):
            words = alternative.split()
            if not words:
                raise NotationError(f"`{text}` has an empty alternative")
            version = (1, 0)
            if re.fullmatch(r"\d+\.\d", words[0]):
                major, minor = words.pop(0).split(".")
                version = (int(major), int(minor))
            for word in words:
                if targets.parse(word) is None:
                    raise NotationError(f"`{word}` is no target")
            if version not in targets.RELEASES:
                raise NotationError(f"`{targets.show(version)}` is no PTX ISA version")
            found.append((version, " ".join(words)))
        return cls(tuple(found))

    @property
    def version(self) -> Version:
        """The oldest PTX ISA version that will do on some target."""
        return min(version for version, _ in self.alternatives)

    @property
    def needed(self) -> str:
        """Every target that will do in some version; empty where all do."""
        if any(not needed for _, needed in self.alternatives):
            return ""
        return " ".join(needed for _, needed in self.alternatives)

    def met(self, version: Version, target: targets.Target) -> bool:
        """Whether it may be used there."""
        return any(
            version >= since and (not needed or target.satisfies(needed))
            for since, needed in self.alternatives
        )


ALWAYS = Availability((((1, 0), ""),))

# ---- conditions


Facts = frozenset[str]
"""What is there: modifiers, names of filled slots, names of operands."""

_TOKEN = re.compile(r"\s*(->|[!&|()]|[^\s!&|()>]+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """`!a & (b | c)` over modifiers, slots and operands."""

    text: str
    holds: Callable[[Facts], bool] = field(compare=False)
    atoms: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read one condition.

        Raises:
            NotationError: it is malformed.
        """
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != re.sub(r"\s+", "", text) or not tokens:
            raise NotationError(f"condition `{text}` is malformed")
        position = 0
        atoms: set[str] = set()

        def peek() -> str | None:
            return tokens[position] if position < len(tokens) else None

        def take() -> str:
            nonlocal position
            if position >= len(tokens):
                raise NotationError(f"condition `{text}` ends early")
            position += 1
            return tokens[position - 1]

        def disjunction() -> Callable[[Facts], bool]:
            parts = [conjunction()]
            while peek() == "|":
                take()
                parts.append(conjunction())
            return parts[0] if len(parts) == 1 else lambda facts: any(part(facts) for part in parts)

        def conjunction() -> Callable[[Facts], bool]:
            parts = [atom()]
            while peek() == "&":
                take()
                parts.append(atom())
            return parts[0] if len(parts) == 1 else lambda facts: all(part(facts) for part in parts)

        def atom() -> Callable[[Facts], bool]:
            token = take()
            if token == "!":
                inner = atom()
                return lambda facts: not inner(facts)
            if token == "(":
                inner = disjunction()
                if take() != ")":
                    raise NotationError(f"condition `{text}` lacks a `)`")
                return inner
            if token in ("&", "|", ")", "->"):
                raise NotationError(f"condition `{text}` is malformed at `{token}`")
            atoms.add(token)
            return lambda facts: token in facts

        holds = disjunction()
        if position != len(tokens):
            raise NotationError(f"condition `{text}` is malformed at `{tokens[position]}`")
        return cls(text.strip(), holds, frozenset(atoms))


@dataclass(frozen=True, slots=True)
class Rule:
    """`premise -> conclusion`, or a condition that must always hold (`premise` is None)."""

    premise: Condition | None
    conclusion: Condition

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read one rule.

        Raises:
            NotationError: it is malformed.
        """
        premise, arrow, conclusion = text.partition("->")
        if not arrow:
            return cls(None, Condition.parse(text))
        return cls(Condition.parse(premise), Condition.parse(conclusion))

    def holds(self, facts: Facts) -> bool:
        """Whether these facts keep the rule."""
        return (self.premise is not None and not self.premise.holds(facts)) or self.conclusion.holds(facts)

    @property
    def atoms(self) -> frozenset[str]:
        """Every name in it."""
        return self.conclusion.atoms | (self.premise.atoms if self.premise else frozenset())


# ---- modifiers


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for a modifier.

    Attributes:
        name: `type`; of a literal modifier its own spelling.
        values: the modifiers that may stand there, without their dots.
        optional: whether it may stay empty.
        literal: whether it is a literal modifier.
        extra: values that ptxas takes and the manual does not list.
        lax: ptxas lets it stay empty, the manual does not.
    """

    name: str
    values: tuple[str, ...]
    optional: bool = False
    literal: bool = False
    extra: frozenset[str] = frozenset()
    lax: bool = False


# ---- operands

KINDS = frozenset(
    "reg exact imm pred none sink sinks vec wide label function variable sreg pack texref samplerref surfref texels shifts gradients targets prototype any read write load store coordinates offsets loose advised".split()
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
    load store  of an address: it is read, or written, which decides what parameters may be named
    advised     the range is the manual's, written `~0..255`; ptxas takes other values, too
    loose       ptxas looks less close: surfaces may come with other vectors than `.vec` says, textures put
                `.f32` into any 32-bit registers, `.bf16` may be in 16-bit integer registers
"""

SPACES = frozenset(
    "const global local param param::entry param::func shared shared::cta shared::cluster generic tmem".split()
)
_COUNT = re.compile(r"x(?:(\d+)|(m|n|k|num|group)?(?:([*/])(\d+))?)\Z")


@dataclass(frozen=True, slots=True)
class Spec:
    """What one operand may be.

    Attributes:
        type: a type, `.slot` for the type in that slot, or None where the operand has none.
        scale: 2 where the operand is twice as wide as the type.
        words: which of `KINDS` were said.
        count: elements of a vector: a number, or (`n`, `*` or `/`, number); None for a scalar.
        low, high, step: the range of a constant, or None; every `step`-th value from 0. `high` may name
            another operand.
        choices: the values of a constant, empty where any will do.
        spaces: of an address, the state spaces it may be in, or `.slot`.
    """

    type: str | None = None
    scale: int = 1
    words: frozenset[str] = frozenset()
    count: int | tuple[str, str, int] | None = None
    low: float | None = None
    high: float | str | None = None
    step: int = 1
    choices: tuple[int, ...] = ()
    spaces: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, slots: Mapping[str, Slot]) -> Spec:
        """Read a specification, see the module's docstring.

        Raises:
            NotationError: it has a word that means nothing.
        """
        type_: str | None = None
        scale, step = 1, 1
        low: float | None = None
        high: float | str | None = None
        words: set[str] = set()
        count: int | tuple[str, str, int] | None = None
        choices: list[int] = []
        spaces: list[str] = []
        in_spaces = False
        for word in text.split():
            if word == "in":
                in_spaces = True
            elif in_spaces and (word in SPACES or (word.startswith(".") and word[1:] in slots)):
                spaces.append(word)
            elif word in KINDS:
                words.add(word)
            elif word in DTYPES or (word.startswith(".") and word[1:] in slots):
                type_ = word
            elif word.startswith("2*"):
                scale, type_ = 2, word[2:]
            elif _COUNT.match(word) and word != "x":
                number, symbol, operator, operand = _COUNT.match(word).groups()  # type: ignore[union-attr]
                count = int(number) if number else (symbol, operator or "*", int(operand or 1))
            elif ".." in word:
                first, _, rest = word.removeprefix("~").partition("..")
                last, _, every = rest.partition("/")
                read = float if "." in last else lambda number: int(number, 0)
                low, step = read(first), int(every or 1)
                high = last if last.isidentifier() else read(last)
                if word.startswith("~"):
                    words.add("advised")
            elif re.fullmatch(r"-?\d+", word):
                choices.append(int(word))
            else:
                raise NotationError(f"`{word}` in `{text}` means nothing")
        return cls(type_, scale, frozenset(words), count, low, high, step, tuple(choices), tuple(spaces))


@dataclass(frozen=True, slots=True)
class Place:
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
    parts: tuple[Place, ...] = ()
    optional: bool = False
    negatable: str = ""
    selector: str | None = None
    group: int = 0
    suffix: str | None = None

    def leaves(self) -> Iterator[Place]:
        """The places that stand for one value each."""
        if self.parts:
            for part in self.parts:
                yield from part.leaves()
        else:
            yield self


_OPERAND = re.compile(r"\s*(?:([A-Za-z_][\w-]*)|(\{)|(\})|(\[)|(\])|(\()|(\))|(,)|(\|)|(!)|(-)|(\.[\w]+))")


class _Operands:
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

    def list(self, closing: str, group: int = 0) -> list[Place]:
        """Places separated by commas, up to (not including) `closing`."""
        found: list[Place] = []
        while self.peek() != closing:
            if self.peek() == "{" and self.peek(1) == ",":
                self.take()
                self.take()
                self.groups += 1
                found += self.list("}", self.groups)
                self.take("}")
                if self.peek() == ",":
                    self.take()
                continue
            found.append(self.place(group))
            if self.peek() == ",":
                self.take()
        return found

    def place(self, group: int) -> Place:
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
            return Place("address", parts[0].name, parts, group=group, suffix=suffix)
        if token == "(":
            self.take()
            parts = tuple(self.list(")"))
            self.take(")")
            return Place("arguments", parts[0].name if parts else "", parts, group=group)
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
            return Place(place.shape, place.name, place.parts, True, place.negatable, place.selector, group)
        if token == "{":
            self.take()
            parts = tuple(self.list("}"))
            self.take("}")
            return Place("vector", parts[0].name, parts, group=group)
        return self.named(group)

    def named(self, group: int, negatable: str = "") -> Place:
        name = self.take()
        if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
            raise NotationError(f"operands `{self.text}`: `{name}` is no name")
        place = Place("plain", name.replace("-", "_"), negatable=negatable, group=group)
        if self.peek() == "{" and self.peek(1).startswith("."):
            self.take()
            selector = self.take()[1:]
            self.take("}")
            return Place("plain", place.name, negatable=negatable, selector=selector, group=group)
        if self.peek().startswith("."):
            return Place("plain", place.name, negatable="required", selector=self.take()[1:], group=group)
        if self.peek() == "|":
            self.take()
            return Place("pair", place.name, (place, self.named(0)), group=group)
        if self.peek() == "{" and self.peek(1) == "|":
            self.take()
            self.take()
            second = self.named(0)
            self.take("}")
            halves = (place, Place(second.shape, second.name, optional=True))
            return Place("pair", place.name, halves, group=group)
        return place


# ---- a row


def name_of(opcode: str, modifiers: Sequence[str]) -> str:
    """The longest name of several parts that begins like this, else the opcode."""
    for parts in range(min(len(modifiers), 5), 0, -1):
        name = ".".join((opcode, *modifiers[:parts]))
        if name in NAMES:
            return name
    return opcode


USUAL = {
    "cache_policy": "u64",
    "membermask": "u32",
    "ctaMask": "u16",
    "mbar": "in shared shared::cta shared::cluster generic",
    "p": "pred",
    "q": "pred",
}
"""Specifications of operands whose name says what they are, in every row."""


@dataclass(frozen=True)
class Form:
    """One form of an instruction: a row.

    Attributes:
        syntax: the line in the manual's notation.
        opcode: the part before the first dot.
        names: the instruction's name, of several parts where it has them: `cp.async`; several where a part
            may be left out (`bar.red`, `bar.cta.red`).
        slots: the places for modifiers, in order.
        places: the operands, in order.
        specs: what each named operand may be.
        since: from when and where the whole form may be used.
        until: from when and where it may be used no more; None where it stays.
        needs: (condition, availability) of modifiers that ask for more.
        rules: what must hold among modifiers and operands.
        section: of the manual.
        chapter: the file that holds the row.
        selectors: the parts that `a{.asel}` may select.
    """

    syntax: str
    opcode: str
    names: tuple[str, ...]
    slots: tuple[Slot, ...]
    places: tuple[Place, ...]
    specs: Mapping[str, Spec]
    since: Availability
    until: Availability | None
    needs: tuple[tuple[Condition, Availability], ...]
    rules: tuple[Rule, ...]
    section: str
    chapter: str
    selectors: Mapping[str, tuple[str, ...]]

    @cached_property
    def shapes(self) -> tuple[tuple[Place, ...], ...]:
        """The operand lists it allows, with each choice of optional groups, the fullest first."""
        groups = sorted({place.group for place in self.places if place.group})
        found: dict[tuple[Place, ...], None] = {}
        for choice in range(2 ** len(groups) - 1, -1, -1):
            chosen = {0, *(group for bit, group in enumerate(groups) if choice >> bit & 1)}
            found[tuple(place for place in self.places if place.group in chosen)] = None
        return tuple(found)

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self.names[0]

    @cached_property
    def sampler(self) -> str | None:
        """The operand that is a sampler and may be left out: `b` of `tex`."""
        found = [
            name
            for name, spec in self.specs.items()
            if spec.words & {"samplerref", "texref"} == {"samplerref"}
        ]
        return found[0] if found and self.opcode != "istypep" else None

    def available(self, version: Version, target: targets.Target, facts: Facts) -> bool:
        """Whether the version and target have this form with these modifiers and operands."""
        return (
            self.since.met(version, target)
            and not (self.until and self.until.met(version, target))
            and all(need.met(version, target) for condition, need in self.needs if condition.holds(facts))
        )

    def writes(self, place: Place) -> bool:
        """Whether the operand is a destination."""
        words = self.specs[place.name].words if place.name in self.specs else frozenset()
        if place is self.places[0]:
            return place.shape != "address" and "read" not in words
        return "write" in words

    @cached_property
    def modifiers(self) -> frozenset[str]:
        """Every modifier that may occur in it."""
        return frozenset(value for slot in self.slots for value in slot.values)

    def slot(self, name: str) -> Slot | None:
        """The slot of that name."""
        return next((slot for slot in self.slots if slot.name == name), None)


def _names(opcode: str, slots: Sequence[Slot]) -> tuple[str, ...]:
    """The names that the literal modifiers at the start make, with and without those that may be left out."""
    spellings: list[list[str]] = [[]]
    for slot in slots[:5]:
        if not slot.literal:
            break
        longer = [[*spelling, value] for spelling in spellings for value in slot.values]
        spellings = spellings + longer if slot.optional else longer
    return tuple(dict.fromkeys(name_of(opcode, spelling) for spelling in spellings))


_MODIFIER = re.compile(r"(\{)?((?:\.[\w:]+(?:\{(?:::[\w:]+)(?:,::[\w:]+)*\})?)+)(\})?")
_ONE = re.compile(r"\.([\w:]+)(?:\{((?:::[\w:]+)(?:,::[\w:]+)*)\})?")


def _slots(
    text: str, given: Mapping[str, str], lax: Sequence[str]
) -> tuple[tuple[Slot, ...], list[str], set[str]]:
    """The slots of `.a{.b}.c`, the rules that `{.b.c}` implies, and which names were used."""
    slots: list[Slot] = []
    rules: list[str] = []
    used: set[str] = set()
    position = 0
    while position < len(text):
        match = _MODIFIER.match(text, position)
        if match is None or bool(match[1]) != bool(match[3]):
            raise NotationError(f"modifiers `{text}` are malformed at `{text[position:]}`")
        together = []
        for name, suffixes in _ONE.findall(match[2]):
            if name in given:
                used.add(name)
                words = given[name].split()
                extra = frozenset(word[1:] for word in words if word.startswith("~"))
                values = tuple(word.removeprefix("~") for word in words)
                slots.append(Slot(name, values, bool(match[1]), extra=extra, lax=name in lax))
            else:
                values = (name, *(name + suffix for suffix in suffixes.split(",") if suffix))
                slots.append(Slot(name, values, bool(match[1]), literal=True, lax=name in lax))
            together.append(name)
        if match[1] and len(together) > 1:
            first, *others = together
            rules += [f".{first} -> .{other}" for other in others] + [
                f".{other} -> .{first}" for other in others
            ]
        position = match.end()
    return tuple(slots), rules, used


def parse_form(
    syntax: str,
    *,
    section: str,
    since: str = "1.0",
    until: str | None = None,
    needs: Mapping[str, str] | None = None,
    rules: str | tuple[str, ...] = (),
    lax: str = "",
    chapter: str = "",
    **given: str,
) -> Form:
    """Read one row.

    Args:
        syntax: the line in the manual's notation.
        section: of the manual, `9.7.9.8`.
        since: PTX ISA version and targets of the whole form.
        until: PTX ISA version and targets from which on it is no more.
        needs: condition -> PTX ISA version and targets.
        rules: what must hold.
        lax: slots that ptxas lets stay empty, against the manual.
        chapter: the file that holds the row.
        given: values of slots, specifications of operands.

    Raises:
        NotationError: the row does not make sense.
    """
    try:
        return _parse_form(syntax, section, since, until, needs or {}, rules, lax.split(), chapter, given)
    except NotationError as reason:
        raise NotationError(f"row `{syntax}`: {reason}") from None


def _parse_form(
    syntax: str,
    section: str,
    since: str,
    until: str | None,
    needs: Mapping[str, str],
    rules: str | tuple[str, ...],
    lax: Sequence[str],
    chapter: str,
    given: Mapping[str, str],
) -> Form:
    if not re.fullmatch(r"9\.7(\.\d+)+", section):
        raise NotationError(f"`{section}` is no section of chapter 9.7")
    head, _, tail = syntax.strip().partition(" ")
    opcode = re.match(r"\w+", head)
    if opcode is None:
        raise NotationError("there is no opcode")
    slots, implied, used = _slots(head[opcode.end() :], given, lax)
    by_name = {slot.name: slot for slot in slots}
    if set(lax) - set(by_name):
        raise NotationError(f"`{' '.join(lax)}` names a slot that is not there")
    for slot in slots:
        if not slot.values or len(set(slot.values)) != len(slot.values):
            raise NotationError(f"slot `.{slot.name}` has no values, or one twice")
        if not slot.literal and any("." in value for value in slot.values):
            raise NotationError(f"a value of slot `.{slot.name}` has a dot")
    reader = _Operands(tail)
    places = tuple(reader.list(""))
    specs: dict[str, Spec] = {}
    for place in places:
        for leaf in place.leaves():
            if leaf.selector is not None:
                if leaf.selector not in given:
                    raise NotationError(f"selector `.{leaf.selector}` has no values")
                used.add(leaf.selector)
            if leaf.name in specs or leaf.name == "_":
                continue
            bracketed = place.shape == "address" and leaf.name == place.name
            text = given.get(leaf.name, USUAL.get(leaf.name)) or _default(leaf.name, by_name, bracketed)
            used.add(leaf.name)
            specs[leaf.name] = Spec.parse(text, by_name)
    unused = set(given) - used
    if unused:
        raise NotationError(f"{', '.join(f'`{name}`' for name in sorted(unused))} is nowhere in the syntax")
    selectors = {name: given[name] for name in given if name not in specs and name not in by_name}
    known = {f".{value}" for slot in slots for value in slot.values} | {f".{name}" for name in by_name}
    known |= (
        set(specs) | {place.name for place in places} | {place.suffix for place in places if place.suffix}
    )
    read_rules = tuple(Rule.parse(text) for text in (*_split(rules), *implied))
    read_needs = tuple((Condition.parse(key), Availability.parse(text)) for key, text in needs.items())
    for atoms in [rule.atoms for rule in read_rules] + [condition.atoms for condition, _ in read_needs]:
        if atoms - known:
            raise NotationError(
                f"{', '.join(f'`{atom}`' for atom in sorted(atoms - known))} is not in the row"
            )
    return Form(
        syntax=" ".join(syntax.split()),
        opcode=opcode.group(),
        names=_names(opcode.group(), slots),
        slots=slots,
        places=places,
        specs=specs,
        since=Availability.parse(since),
        until=Availability.parse(until) if until else None,
        needs=read_needs,
        rules=read_rules,
        section=section,
        chapter=chapter,
        selectors={name: tuple(text.split()) for name, text in selectors.items()},
    )


def _split(rules: str | tuple[str, ...]) -> tuple[str, ...]:
    texts = (rules,) if isinstance(rules, str) else rules
    return tuple(part for text in texts for part in text.split(";") if part.strip())


def _default(name: str, slots: Mapping[str, Slot], bracketed: bool) -> str:
    """The specification of an operand that the row says nothing about."""
    if bracketed:
        for slot in ("ss", "space"):
            if slot in slots:
                return f"in .{slot}"
        return "in generic"
    for slot in (f"{name}type", "type"):
        if slot in slots:
            return f".{slot}"
    literal = [slot.name for slot in slots.values() if slot.literal and slot.name in DTYPES]
    if len(literal) == 1:
        return f".{literal[0]}"
    raise NotationError(f"operand `{name}` has no type")
