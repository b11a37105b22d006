"""A checked instruction by its row: slots and operands by the names that the row gives them.

Whoever meets an instruction first (`ptxkit.asm.check`, else `ptxkit.asm.flow`) finds its row and leaves the
match with it; `Decoded` shows both as one value that everybody behind them reads, so that nobody takes
modifiers and operands apart a second time. An operand is called what the manual's syntax line calls it: those
of `mbarrier.try_wait.b64 waitComplete, [addr], state` are `waitComplete`, `addr` and `state`, those of
`[tensorMap, tensorCoords]` both, those of `d|p` both.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

from ptxkit.asm.constants import constant_value
from ptxkit.asm.kinds import Names
from ptxkit.asm.tree import Address, Arguments, Instruction, Name, Operand, Pair, Unary, Vector
from ptxkit.dtypes import DTYPES, DType
from ptxkit.isa.match import Match, address_parts, address_spaces
from ptxkit.isa.notation import Form
from ptxkit.isa.places import OperandPlace
from ptxkit.isa.registry import CHAPTERS, named_forms, operand_names, slot_names, spelling

if TYPE_CHECKING:
    from ptxkit.isa.modifiers import StateSpace

Meaning = TypeVar("Meaning")


class Decoded:
    """An instruction and its row.

    Attributes:
        instruction: the statement.
        match: which row it is of, what fills the row's slots, and which place each operand has.
    """

    __slots__ = ("_operands", "instruction", "match")

    def __init__(self, instruction: Instruction) -> None:
        if instruction.match is None:
            raise ValueError(f"`{instruction.spelling}` is of no row")
        self.instruction = instruction
        self.match: Match = instruction.match
        self._operands: Mapping[str, Operand] | None = None

    @property
    def row(self) -> Form:
        """The row."""
        return self.match.form

    # ---- modifiers

    def __getitem__(self, slot: str) -> Any:
        """What the modifier in a slot means (`ptxkit.isa.modifiers`); None where it is left out, or where
        only other rows have a slot of that name.

        Raises:
            KeyError: no row has it.
        """
        try:
            return self.match.candidate.meanings[slot]
        except KeyError:
            if any(slot in slot_names(file) for file in (self.row.chapter, *CHAPTERS)):
                return None
        behind = self.row.name.count(".")
        there = {each.name for row in self._rows for each in row.slots[behind:]}
        raise KeyError(f"`{self.row.name}` has no slot `{slot}`; it has {', '.join(sorted(there))}")

    @property
    def _rows(self) -> tuple[Form, ...]:
        """Every row of the instruction's name."""
        return named_forms(self.row.opcode)[self.row.name]

    def find(self, meaning: type[Meaning]) -> Meaning | None:
        """The first modifier that means something of this class, whatever its slot is called, or None."""
        return next(iter(self.all(meaning)), None)

    def the(self, meaning: type[Meaning]) -> Meaning:
        """The same of what the row always has: `the(DType)`."""
        found = self.find(meaning)
        assert found is not None, f"`{self.instruction.spelling}` has no {meaning.__name__}"
        return found

    def all(self, meaning: type[Meaning]) -> tuple[Meaning, ...]:
        """Every modifier that means something of this class, in order: of `mma` both layouts."""
        return tuple(found for found in self.match.candidate.meant if isinstance(found, meaning))

    @property
    def types(self) -> tuple[DType, ...]:
        """The types among its modifiers, in order: of `cvt.rn.f16.f32` both."""
        return self.all(DType)

    @property
    def qualified(self) -> Hashable:
        """The row and what its modifiers mean: equal of instructions that differ in their operands alone."""
        return self.row, tuple(self.match.candidate.meanings.items())

    @property
    def aligned(self) -> bool:
        """Whether all threads of a warp must execute it together: `.aligned` says so, or the row."""
        return "aligned" in self.match.slots or "aligned" in self.row.traits

    @property
    def reads_carry(self) -> bool:
        """Whether it reads the condition code register's CC.CF."""
        return "carries" in self.row.traits

    @property
    def writes_carry(self) -> bool:
        """Whether it writes CC.CF."""
        return "cc" in self.match.slots

    # ---- operands

    @property
    def operands(self) -> Mapping[str, Operand]:
        """The operands that are there, by name; of an address its base's name stands for the whole."""
        if self._operands is None:
            found: dict[str, Operand] = {}
            for place, operand in zip(self.match.places, self.instruction.operands, strict=True):
                _name(place, operand, found)
            self._operands = found
        return self._operands

    def type_of(self, operand: str) -> DType:
        """The type that the row says an operand has.

        Raises:
            KeyError: the row has no operand of that name, or no type for it.
        """
        name = self.match.type_of(operand)
        if name is None:
            raise KeyError(f"`{operand}` of `{self.row.syntax}` has no type")
        return DTYPES[name]

    def values(self, written: bool) -> list[tuple[Operand | None, str]]:
        """The values that it writes or reads, each with the name of its type.

        Vectors and pairs go by their parts, one that is left out as None. Constants without a type, as the
        table of `lop3`, are no values.
        """
        found: list[tuple[Operand | None, str]] = []
        operands = self.operands
        for name, kind in self.match.values_written if written else self.match.values_read:
            operand = operands.get(name)
            if isinstance(operand, Vector):
                found += [(element, kind) for element in operand.elements]
            else:
                found.append((operand, kind))
        return found

    def constant(self, operand: str) -> int | None:
        """The value of an operand that is an integer constant; None where it is left out or none.

        Raises:
            KeyError: no row has an operand of that name.
        """
        there = self.operands.get(operand)
        if there is not None:
            return constant_value(there)
        if not any(operand in operand_names(file) for file in (self.row.chapter, *CHAPTERS)):
            names = dict.fromkeys(name for row in self._rows for name in row.specs)
            raise KeyError(f"`{self.row.name}` has no operand `{operand}`; it has {', '.join(names)}")
        return None

    def number(self, operand: str) -> int:
        """The value of an operand that its row makes an integer constant.

        Raises:
            KeyError: no row has an operand of that name.
            ValueError: it is left out, or something else.
        """
        value = self.constant(operand)
        if value is None:
            raise ValueError(f"`{operand}` of `{self.instruction.spelling}` is no integer constant")
        return value

    def negated(self, operand: str) -> bool:
        """Whether a minus comes before an operand, as in `vmad`."""
        there = self.operands[operand]
        return isinstance(there, Unary) and there.operator == "-" and isinstance(there.operand, Name)

    def selector(self, operand: str) -> str | None:
        """The part of an operand that a video instruction selects, `h1` of `%r1.h1`; None for all of it."""
        there = self.operands[operand]
        name = there.operand if isinstance(there, Unary) else there
        part = name.component if isinstance(name, Name) else None
        return part if part is not None and part not in "xyzw" else None

    def space_of(self, address: str) -> StateSpace:
        """The state space of an address, by the name of its base: what its row or its modifier says.

        Raises:
            KeyError: the row has no address of that name, or none is there.
        """
        from ptxkit.isa.modifiers import StateSpace

        addresses = (place for place in self.match.places if place.shape == "address")
        place = next((place for place in addresses if place.name == address), None)
        if place is None:
            raise KeyError(f"`{self.row.syntax}` has no address `{address}`")
        return StateSpace(address_spaces(self.match.candidate, place)[-1])


def _name(place: OperandPlace, operand: Operand, found: dict[str, Operand]) -> None:
    """Enter what is in a place under the names that the place has."""
    found[place.name] = operand
    if place.shape == "pair" and isinstance(operand, Pair):
        for half, value in zip(place.parts, (operand.first, operand.second), strict=True):
            found[half.name] = value
    elif place.shape == "address" and isinstance(operand, Address):
        parts = address_parts(place, ("[", None, None, None, *operand.rest)) or ()
        for part, value in zip(parts, operand.rest, strict=True):
            _name(part, value, found)
    elif place.parts and place.shape != "pair" and isinstance(operand, (Vector, Arguments)):
        for part, value in zip(place.parts, operand.elements, strict=False):
            _name(part, value, found)


def find_match(instruction: Instruction, names: Names) -> Match | None:
    """The row of an instruction whose names mean what `names` says; None where no row fits."""
    if instruction.opcode == "call":
        return _call(instruction)
    kinds = tuple([names.kind(operand) for operand in instruction.operands])
    return spelling(instruction.opcode, instruction.modifiers).match(kinds)


_RETURNS, _FUNCTION = OperandPlace("arguments", "ret_param"), OperandPlace("plain", "func")
_PARAMETERS, _LIST = OperandPlace("arguments", "param_list"), OperandPlace("plain", "flist")


def _call(instruction: Instruction) -> Match | None:
    """`call (ret-param), func, (param-list), flist`, of which only `func` must be there. PTX ISA 9.7.12.5."""
    operands = instruction.operands
    candidates = spelling(instruction.opcode, instruction.modifiers).base
    if not operands or not candidates:
        return None
    places: list[OperandPlace] = []
    for operand in operands:
        if isinstance(operand, Arguments):
            places.append(_PARAMETERS if _FUNCTION in places else _RETURNS)
        else:
            places.append(_LIST if _FUNCTION in places else _FUNCTION)
    returns = tuple(place is _RETURNS for place in places)
    reads = tuple(not returned for returned in returns)
    return Match(candidates[0], tuple(places), candidates[0].facts, returns, reads, False, False, False, ())


def destinations(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction writes, once its row is known: a `Name`, `Vector` or `Pair` each; `_`
    stays in. None where no row fits."""
    match = instruction.match
    if match is None:
        return ()
    return tuple(compress(instruction.operands, match.written))


def sources(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction reads, addresses included; what is read and written is in both."""
    match = instruction.match
    if match is None:
        return instruction.operands
    return tuple(compress(instruction.operands, match.read))


def variables(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that may be a variable of any space and stand for its address: the source of `mov`."""
    match = instruction.match
    if match is None:
        return ()
    found = []
    for place, operand in zip(match.places, instruction.operands, strict=True):
        spec = match.form.specs.get(place.name)
        if (
            spec is not None
            and "variable" in spec.words
            and not spec.spaces
            and not isinstance(operand, Vector)
        ):
            found.append(operand)
    return tuple(found)


def traits(instruction: Instruction) -> frozenset[str]:
    """What the row says of the instruction beside its syntax (`ptxkit.isa.traits`)."""
    match = instruction.match
    return match.form.traits if match is not None else frozenset()
