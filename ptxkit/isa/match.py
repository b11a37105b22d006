"""Which form an instruction has: the one whose slots fit its modifiers and whose places fit its operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress

from ptxkit.isa.addresses import (
    FOLLOWED,
    bare_fits,
    base_fits,
    is_mask,
    is_passed,
    none_fits,
    unified_fits,
    variable_fits,
)
from ptxkit.isa.candidate import Candidate
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import OPAQUE, OperandKind, elements_fit, fits, resolve_type
from ptxkit.isa.places import OperandPlace
from ptxkit.isa.undocumented import undocumented_operand

MAX_VERDICTS = 1024
"""How many verdicts are kept for a spelling."""


@dataclass(frozen=True)
class Match:
    """An instruction's form.

    Attributes:
        candidate: form and modifiers.
        places: the operands' places, one for each operand written.
        facts: what is there, modifiers and operands.
        written: which operands are destinations.
        read: which are sources, addresses among them.
        ranged: some constant has a range.
        special: some operand is a special register.
        placed: some operand is an address in a variable, or among a function's parameters.
        undocumented: the operands that ptxas takes and the manual does not list: their position, and what they are in words.
    """

    candidate: Candidate
    places: tuple[OperandPlace, ...]
    facts: frozenset[str]
    written: tuple[bool, ...]
    read: tuple[bool, ...]
    ranged: bool
    special: bool
    placed: bool
    undocumented: tuple[tuple[int, str], ...]

    @cached_property
    def form(self) -> Form:
        """The row."""
        return self.candidate.form

    @cached_property
    def slots(self) -> Mapping[str, str]:
        """Which modifier fills each slot."""
        return self.candidate.slots

    def type_of(self, operand: str) -> str | None:
        """The name of the type that the row says an operand has; None where it has none."""
        spec = self.form.specs[operand]
        return "pred" if "pred" in spec.words else resolve_type(spec, self.slots)

    @cached_property
    def values_written(self) -> tuple[tuple[str, str], ...]:
        """The operands that are written and have a type: their names, and the names of their types."""
        return self._values(self.written)

    @cached_property
    def values_read(self) -> tuple[tuple[str, str], ...]:
        """The same of those that are read."""
        return self._values(self.read)

    def _values(self, chosen: Sequence[bool]) -> tuple[tuple[str, str], ...]:
        leaves = (leaf.name for place in compress(self.places, chosen) for leaf in place.leaves())
        typed = ((name, self.type_of(name)) for name in leaves)
        return tuple((name, kind) for name, kind in typed if kind is not None)


@dataclass(eq=False)
class Spelling:
    """An opcode with its modifiers, and what fits them.

    Attributes:
        opcode: `ld`.
        modifiers: `("global", "u32")`.
        name: the instruction's name, of several parts where it begins like one: `cp.async.bulk`.
        base: the forms of PTX ISA 9.0 with that name that the modifiers fit.
        find_later: finds those that came later, where none of these fits.
        verdicts: the match of operands of each kind so far.
    """

    opcode: str
    modifiers: tuple[str, ...]
    name: str
    base: tuple[Candidate, ...]
    find_later: Callable[[Spelling], tuple[Candidate, ...]]
    verdicts: dict[tuple[OperandKind, ...], Match | None] = field(default_factory=dict)

    @cached_property
    def later(self) -> tuple[Candidate, ...]:
        """The forms that came after PTX ISA 9.0."""
        return self.find_later(self)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every form that the modifiers fit."""
        return self.base + self.later

    def match(self, kinds: tuple[OperandKind, ...]) -> Match | None:
        """The form that operands of these kinds make it, or None."""
        try:
            return self.verdicts[kinds]
        except KeyError:
            if len(self.verdicts) >= MAX_VERDICTS:
                self.verdicts.clear()
            found = self.verdicts[kinds] = self._match(kinds)
            return found

    def _match(self, kinds: tuple[OperandKind, ...]) -> Match | None:
        for candidate in self.base:
            if found := match_operands(candidate, kinds):
                return found
        for candidate in self.later:
            if found := match_operands(candidate, kinds):
                return found
        return None


def match_operands(candidate: Candidate, kinds: tuple[OperandKind, ...]) -> Match | None:
    """Put operands of these kinds into the places of a form; None where they don't fit."""
    for places in candidate.form.shapes:
        if len(places) != len(kinds):
            continue
        facts = candidate.facts | operand_facts(places, kinds)
        if all(rule.holds(facts) for rule in candidate.form.rules) and all(
            place_fits(candidate, place, kind) for place, kind in zip(places, kinds, strict=True)
        ):
            written = tuple(candidate.form.writes(place) for place in places)
            special = any(_reads_special(kind) for kind in kinds)
            passed = is_passed(candidate.form, candidate.slots)
            placed = any(kind[0] == "[" and (passed or kind[1][0] == "var") for kind in kinds)
            undocumented = _undocumented(candidate, places, kinds)
            ranged = _ranged(candidate.form, places)
            read = tuple(candidate.form.reads(place) for place in places)
            return Match(candidate, places, facts, written, read, ranged, special, placed, undocumented)
    return None


def _reads_special(kind: OperandKind) -> bool:
    if isinstance(kind, str):
        return False
    return kind[0] == "sreg" or (
        kind[0] in ("{", "[", "offset") and any(map(_reads_special, filter(None, kind[1:])))
    )


def _undocumented(
    candidate: Candidate, places: Sequence[OperandPlace], kinds: Sequence[OperandKind]
) -> tuple[tuple[int, str], ...]:
    found: list[tuple[int, str]] = []
    specs, slots = candidate.form.specs, candidate.slots
    for position, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        leaves: Iterable[tuple[OperandPlace, OperandKind]] = ()
        if place.shape == "plain":
            leaves = ((place, kind),)
        elif isinstance(kind, tuple) and place.shape == "address" and kind[0] == "[":
            leaves = zip(address_parts(place, kind) or (), kind[4:], strict=False)
            by_ptxas = specs[place.name].ptxas_space and kind[1][0] == "var"
            if by_ptxas and not variable_fits(kind[1], address_spaces(candidate, place)):
                found.append((position, f"a variable in `.{kind[1][1]}`"))
        for leaf, there in leaves:
            if leaf.shape == "plain":
                what = undocumented_operand(specs[leaf.name], there, slots, candidate.form.writes(place))
                found += [(position, what)] if what is not None else []
    return tuple(found)


def _ranged(form: Form, places: Sequence[OperandPlace]) -> bool:
    specs = (form.specs[leaf.name] for place in places for leaf in place.leaves() if leaf.name in form.specs)
    return any(spec.low is not None or spec.choices for spec in specs)


def operand_facts(places: Sequence[OperandPlace], kinds: Sequence[OperandKind]) -> set[str]:
    """The names of the operands that are there."""
    facts: set[str] = set()
    for place, kind in zip(places, kinds, strict=True):
        facts.add(place.name)
        if place.shape == "pair" and isinstance(kind, tuple) and kind[0] == "|":
            facts.add(place.parts[1].name)
        elif place.shape == "address" and isinstance(kind, tuple) and kind[0] == "[":
            if kind[3]:
                facts.add(kind[3])
            facts.update(part.name for part in address_parts(place, kind) or ())
        else:
            facts.update(leaf.name for leaf in place.leaves() if place.shape not in ("pair", "address"))
    return facts


def address_parts(place: OperandPlace, kind: tuple) -> tuple[OperandPlace, ...] | None:
    """The parts of an address that are there: all, or without an optional one in the middle."""
    there = len(kind) - 4
    parts = place.parts[1:]
    if there == len(parts):
        return parts
    required = tuple(part for part in parts if not part.optional)
    return required if there == len(required) else None


def place_fits(candidate: Candidate, place: OperandPlace, kind: OperandKind) -> bool:
    """Whether an operand of that kind may stand in that place."""
    if kind == "?":
        return True
    form = candidate.form
    if place.shape == "address":
        spec = form.specs[place.name]
        if kind == "_":
            return none_fits(form, address_spaces(candidate, place))
        if "bare" in spec.words and kind[0] != "[":
            if spec.type is not None:
                value = is_mask(spec, kind) or fits(spec, place, kind, candidate.slots, False)
                return value and FOLLOWED.isdisjoint(candidate.slots)
            return bare_fits(spec, kind, address_spaces(candidate, place))
        return isinstance(kind, tuple) and kind[0] == "[" and _address_fits(candidate, place, kind)
    if place.shape == "pair":
        if isinstance(kind, tuple) and kind[0] == "|":
            return kind[1:] != ("_", "_") and all(
                fits(form.specs[part.name], part, half, candidate.slots, True)
                for part, half in zip(place.parts, kind[1:], strict=True)
            )
        return place.parts[1].optional and fits(
            form.specs[place.name], place.parts[0], kind, candidate.slots, True
        )
    if place.shape == "vector":
        if not isinstance(kind, tuple) or kind[0] != "{" or len(kind) - 1 != len(place.parts):
            return False
        spec = form.specs[place.parts[0].name]
        return elements_fit(kind[1:], str(spec.type), spec, form.writes(place))
    if place.shape == "arguments":
        return (
            isinstance(kind, tuple)
            and kind[0] == "("
            and len(kind) - 1 == len(place.parts)
            and all(
                fits(form.specs[part.name], part, element, candidate.slots, form.writes(place))
                for part, element in zip(place.parts, kind[1:], strict=True)
            )
        )
    if place.selector and not _selects(form, place, kind):
        return False
    return fits(form.specs[place.name], place, kind, candidate.slots, form.writes(place))


def _selects(form: Form, place: OperandPlace, kind: OperandKind) -> bool:
    """Whether the row allows the part of the operand that is selected, if one is."""
    while isinstance(kind, tuple) and kind[0] in ("neg", "not"):
        kind = kind[1]
    assert place.selector is not None
    return kind[0] != "part" or kind[1] in form.selectors[place.selector]


def _address_fits(candidate: Candidate, place: OperandPlace, kind: tuple) -> bool:
    _, base, operator, suffix, *rest = kind
    spec = candidate.form.specs[place.name]
    if operator == "-" or (operator and rest):
        return False
    if suffix and not (
        (suffix == place.suffix or suffix in spec.words)
        and unified_fits(base, address_spaces(candidate, place))
    ):
        return False
    parts = address_parts(place, kind)
    if parts is None or not all(
        place_fits(candidate, part, element) for part, element in zip(parts, rest, strict=True)
    ):
        return False
    if spec.words & OPAQUE or "value" in spec.words:
        return operator is None and fits(spec, place.parts[0], base, candidate.slots, True)
    return base_fits(candidate.form, place, base, address_spaces(candidate, place, True), candidate.slots)


def address_spaces(candidate: Candidate, place: OperandPlace, by_ptxas: bool = False) -> tuple[str, ...]:
    """The state spaces that an address may be in; `generic` where the form has a slot that is left empty.

    Args:
        candidate: the form.
        place: the address.
        by_ptxas: also those that ptxas alone takes.
    """
    spec = candidate.form.specs[place.name]
    named = (*spec.spaces, spec.ptxas_space) if spec.ptxas_space and by_ptxas else spec.spaces
    return tuple(candidate.slots.get(n[1:], "generic") if n[0] == "." else n for n in named)
