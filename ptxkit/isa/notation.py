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
    0..255             the range of a constant; one of floats, 0.0..1.0, leaves its lower end out
    imm, imm 0..31     constants only, of that range; `24..256/8`: multiples of 8; `imm 4 8 16`: one of these
    x4, xN/8, xnum*2   a vector of so many registers: numbers, `m` `n` `k` of the shape, `num` of `.num`,
                       `group` of `.cta_group`, `dim` of `.dim` (`xdim-1`: one less)
    vec                a vector of as many elements as the modifier `.vec` says, without it a register
    none               nothing but `_`
    sink               `_` may stand for it
    whole              of a vector that is written: no element may be `_`
    pred               a predicate
    in SPACE..         an address in one of these state spaces, or in that of a slot: `in .ss`, `in shared`
    label, function, variable, sreg, pack, texref ..: see `places.WORDS`
Without it the type of an operand whose name is a letter is the slot `.dtype` for `d`, `.atype` for `a`, .. where
the row has such a slot, else `.type`.

What ptxas takes and the manual does not list is marked, so that it can be warned of: a value by a `~` before
it, a slot that may stay empty by its name in `ptxas_optional`, anything else by a condition in `undocumented`.

`needs` says what a modifier asks for beyond the row's own `since`: a PTX ISA version, targets
(`ptxkit.targets`), or both; alternatives are separated by commas. `advises` is the same where only the manual
asks for it, and ptxas does not. `above` says what a constant asks for: `"val 3": "8.8 sm_103a"` of a `val` above 3.
The keys of `needs` and `advises`, and `rules`, are conditions: `.mod` for a modifier or a slot that is
filled, `name` for an operand that is there, joined by `!`, `&`, `|`, and for rules `->`. Rules are separated by
semicolons.

The first operand is written unless it is an address or its specification says `read`; others are where it says
`write`. What says `both` is read, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ptxkit import targets
from ptxkit.dtypes import DTYPES
from ptxkit.isa.conditions import Above, Availability, Condition, Facts, NotationError, Rule
from ptxkit.isa.names import NAMES
from ptxkit.isa.places import OperandPlace, OperandReader, Spec, usual
from ptxkit.isa.traits import TRAITS_OF
from ptxkit.targets import Version

__all__ = ["Form", "NotationError", "OperandPlace", "Slot", "Spec", "name_of", "parse_form"]


class Slot(NamedTuple):
    """One place for a modifier.

    Attributes:
        name: `type`; of a literal modifier its own spelling.
        values: the modifiers that may stand there, without their dots.
        optional: whether it may stay empty.
        literal: whether it is a literal modifier.
        undocumented: values that ptxas takes and the manual does not list.
        ptxas_optional: ptxas lets it stay empty, the manual does not.
    """

    name: str
    values: tuple[str, ...]
    optional: bool = False
    literal: bool = False
    undocumented: frozenset[str] = frozenset()
    ptxas_optional: bool = False


def name_of(opcode: str, modifiers: Sequence[str]) -> str:
    """The longest name of several parts that begins like this, else the opcode."""
    for parts in range(min(len(modifiers), 5), 0, -1):
        name = ".".join((opcode, *modifiers[:parts]))
        if name in NAMES:
            return name
    return opcode


PLACEHOLDERS = frozenset(
    "type dtype atype btype ctype abtype vec sem scope space ss cop op rnd frnd irnd geom shape clamp mode".split()
)
"""Names that stand for a modifier in the manual, never for themselves."""


@dataclass(frozen=True, eq=False)
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
        advises: the same where the manual alone asks.
        above: what constants above a number ask for.
        undocumented: what ptxas takes and the manual does not have; None where there is nothing.
        rules: what must hold among modifiers and operands.
        section: of the manual.
        chapter: the file that holds the row.
        selectors: the parts that `a{.asel}` may select.
    """

    syntax: str
    opcode: str
    names: tuple[str, ...]
    slots: tuple[Slot, ...]
    places: tuple[OperandPlace, ...]
    specs: Mapping[str, Spec]
    since: Availability
    until: Availability | None
    needs: tuple[tuple[Condition, Availability], ...]
    advises: tuple[tuple[Condition, Availability], ...]
    above: tuple[Above, ...]
    undocumented: Condition | None
    rules: tuple[Rule, ...]
    section: str
    chapter: str
    selectors: Mapping[str, tuple[str, ...]]

    @cached_property
    def shapes(self) -> tuple[tuple[OperandPlace, ...], ...]:
        """The operand lists it allows, with each choice of optional groups, the fullest first."""
        groups = sorted({place.group for place in self.places if place.group})
        found: dict[tuple[OperandPlace, ...], None] = {}
        for choice in range(2 ** len(groups) - 1, -1, -1):
            chosen = {0, *(group for bit, group in enumerate(groups) if choice >> bit & 1)}
            found[tuple(place for place in self.places if place.group in chosen)] = None
        return tuple(found)

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self.names[0]

    @cached_property
    def traits(self) -> frozenset[str]:
        """What it does beyond its syntax (`ptxkit.isa.traits`)."""
        return TRAITS_OF.get(self.name, frozenset())

    @cached_property
    def sampler(self) -> str | None:
        """The operand that is a sampler and may be left out: `b` of `tex`."""
        found = [
            name
            for name, spec in self.specs.items()
            if spec.words & {"samplerref", "texref"} == {"samplerref"}
        ]
        return found[0] if found and self.opcode not in ("istypep", "txq") else None

    def available(self, version: Version, target: targets.Target, facts: Facts) -> bool:
        """Whether the version and target have this form with these modifiers and operands."""
        return (
            self.since.met(version, target)
            and not (self.until and self.until.met(version, target))
            and all(need.met(version, target) for condition, need in self.needs if condition.holds(facts))
        )

    def writes(self, place: OperandPlace) -> bool:
        """Whether the operand is a destination."""
        words = self.specs[place.name].words if place.name in self.specs else frozenset()
        if place is self.places[0]:
            return place.shape != "address" and "read" not in words
        return "write" in words

    def reads(self, place: OperandPlace) -> bool:
        """Whether the operand is a source, or an address: all but destinations, and those that say `both`."""
        words = self.specs[place.name].words if place.name in self.specs else frozenset()
        return "both" in words or not self.writes(place)

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
    text: str, given: Mapping[str, str], ptxas_optional: Sequence[str]
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
                undocumented = frozenset(word[1:] for word in words if word.startswith("~"))
                values = tuple(word.removeprefix("~") for word in words)
                slots.append(
                    Slot(
                        name,
                        values,
                        bool(match[1]),
                        undocumented=undocumented,
                        ptxas_optional=name in ptxas_optional,
                    )
                )
            else:
                values = (name, *(name + suffix for suffix in suffixes.split(",") if suffix))
                slots.append(
                    Slot(name, values, bool(match[1]), literal=True, ptxas_optional=name in ptxas_optional)
                )
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
    advises: Mapping[str, str] | None = None,
    above: Mapping[str, str] | None = None,
    undocumented: str | None = None,
    rules: str | tuple[str, ...] = (),
    ptxas_optional: str = "",
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
        advises: the same where only the manual asks for them.
        above: operand and number -> PTX ISA version and targets of constants above it.
        undocumented: condition of what ptxas takes and the manual does not have.
        rules: what must hold.
        ptxas_optional: slots that ptxas lets stay empty, against the manual.
        chapter: the file that holds the row.
        given: values of slots, specifications of operands.

    Raises:
        NotationError: the row does not make sense.
    """
    try:
        condition = Condition.parse(undocumented) if undocumented else None
        asked = (needs or {}, advises or {}, above or {})
        return _parse_form(
            syntax, section, since, until, asked, condition, rules, ptxas_optional.split(), chapter, given
        )
    except NotationError as reason:
        raise NotationError(f"row `{syntax}`: {reason}") from None


def _parse_form(
    syntax: str,
    section: str,
    since: str,
    until: str | None,
    asked: tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]],
    undocumented: Condition | None,
    rules: str | tuple[str, ...],
    ptxas_optional: Sequence[str],
    chapter: str,
    given: Mapping[str, str],
) -> Form:
    if not re.fullmatch(r"9\.7(\.\d+)+", section):
        raise NotationError(f"`{section}` is no section of chapter 9.7")
    head, _, tail = syntax.strip().partition(" ")
    opcode = re.match(r"\w+", head)
    if opcode is None:
        raise NotationError("there is no opcode")
    slots, implied, used = _slots(head[opcode.end() :], given, ptxas_optional)
    by_name = {slot.name: slot for slot in slots}
    if set(ptxas_optional) - set(by_name):
        raise NotationError(f"`{' '.join(ptxas_optional)}` names a slot that is not there")
    for slot in slots:
        if not slot.values or len(set(slot.values)) != len(slot.values):
            raise NotationError(f"slot `.{slot.name}` has no values, or one twice")
        if slot.literal and slot.name in PLACEHOLDERS:
            raise NotationError(f"slot `.{slot.name}` has no values")
        for mark, what in ((".", "dot"), (",", "comma")) if not slot.literal else ():
            if wrong := [value for value in slot.values if mark in value]:
                raise NotationError(f"value `{wrong[0]}` of slot `.{slot.name}` has a {what}")
    reader = OperandReader(tail)
    places = tuple(reader.list(""))
    specs: dict[str, Spec] = {}
    types = [slot.name for slot in slots if slot.literal and slot.name in DTYPES]
    for place in places:
        for leaf in place.leaves():
            if leaf.selector is not None:
                if leaf.selector not in given:
                    raise NotationError(f"selector `.{leaf.selector}` has no values")
                used.add(leaf.selector)
            if leaf.name in specs or leaf.name == "_":
                continue
            bracketed = place.shape == "address" and leaf.name == place.name
            text = given.get(leaf.name) or usual(leaf.name, by_name, types, bracketed)
            used.add(leaf.name)
            specs[leaf.name] = spec = Spec.parse(text, by_name)
            if spec.type is not None and spec.type[1:] in by_name and by_name[spec.type[1:]].optional:
                raise NotationError(
                    f"operand `{leaf.name}` takes its type from `{spec.type}`, which may be left out"
                )
    unused = set(given) - used
    if unused:
        raise NotationError(f"{', '.join(f'`{name}`' for name in sorted(unused))} is nowhere in the syntax")
    selectors = {name: given[name] for name in given if name not in specs and name not in by_name}
    known = {f".{value}" for slot in slots for value in slot.values} | {f".{name}" for name in by_name}
    known |= (
        set(specs) | {place.name for place in places} | {place.suffix for place in places if place.suffix}
    )
    read_rules = tuple(Rule.parse(text) for text in (*_split(rules), *implied))
    needs, advises = (
        tuple((Condition.parse(key), Availability.parse(text)) for key, text in side.items())
        for side in asked[:2]
    )
    conditions = [condition for condition, _ in (*needs, *advises)] + ([undocumented] if undocumented else [])
    for atoms in [rule.atoms for rule in read_rules] + [condition.atoms for condition in conditions]:
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
        needs=needs,
        advises=advises,
        above=tuple(Above.parse(key, text, specs) for key, text in asked[2].items()),
        undocumented=undocumented,
        rules=read_rules,
        section=section,
        chapter=chapter,
        selectors={name: tuple(text.split()) for name, text in selectors.items()},
    )


def _split(rules: str | tuple[str, ...]) -> tuple[str, ...]:
    texts = (rules,) if isinstance(rules, str) else rules
    return tuple(part for text in texts for part in text.split(";") if part.strip())
