"""`...` as an operand: a new register of the type that the instruction's form asks for there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ptxkit.asm.build.place import mistake
from ptxkit.asm.build.values import Register
from ptxkit.asm.tree import Instruction, Name, Operand, Pair, Vector
from ptxkit.dtypes import DTYPES
from ptxkit.isa.match import Match
from ptxkit.isa.notation import OperandPlace, Spec
from ptxkit.isa.operands import resolve_count, resolve_type
from ptxkit.isa.registers import register_fits

_BITS = ("b8", "b16", "b32", "b64", "b128")


def fill(
    node: Instruction, match: Match | None, fresh: list[Name], allocate: Callable[[str], Register]
) -> list[Any]:
    """Name the new registers of an instruction.

    Args:
        node: the instruction, whose operands are replaced where a vector takes the place of one `...`.
        match: its form; None for a `call`.
        fresh: the nodes that stand for `...`.
        allocate: gives a new register of a type.

    Returns:
        For each `...` its register, or a list of them where the form takes a vector.

    Raises:
        PtxkitError: P240, the form does not write there, or takes registers of any type.
    """
    if match is None:
        raise mistake(
            "P240", "a `call` does not say what type `...` has", help="declare the register with `reg`"
        )
    wanted = {id(name) for name in fresh}
    made: dict[int, Any] = {}

    def one(place: OperandPlace, name: Operand, elements: int = 1) -> Operand:
        if id(name) not in wanted:
            return name
        spec = match.form.specs[place.name]
        count = resolve_count(spec, match.slots) if elements == 1 else None
        type_ = _type(spec, place, match, elements)
        if count is None:
            made[id(name)] = register = allocate(type_)
            return Name(register.name)
        made[id(name)] = registers = [allocate(type_) for _ in range(count)]
        return Vector(tuple(Name(register.name) for register in registers))

    def several(place: OperandPlace, operand: Operand) -> Operand:
        if place.shape == "pair" and isinstance(operand, Pair):
            return Pair(one(place.parts[0], operand.first), one(place.parts[1], operand.second))
        if place.shape == "pair":
            return one(place.parts[0], operand)
        if place.shape == "vector" and id(operand) in wanted:
            elements = [allocate(_type(match.form.specs[part.name], part, match, 1)) for part in place.parts]
            made[id(operand)] = elements
            return Vector(tuple(Name(register.name) for register in elements))
        if isinstance(operand, Vector):
            parts = place.parts or (place,) * len(operand.elements)
            return Vector(
                tuple(
                    one(part, element, len(operand.elements) if not place.parts else 1)
                    for part, element in zip(parts, operand.elements, strict=True)
                )
            )
        return one(place, operand)

    node.operands = tuple(
        several(place, operand) if match.form.writes(place) else operand
        for place, operand in zip(match.places, node.operands, strict=True)
    )
    if len(made) < len(fresh):
        raise mistake(
            "P240",
            f"`...` is used where `{node.spelling}` reads",
            help="a new register holds nothing yet; `...` is for what an instruction writes",
        )
    return [made[id(name)] for name in fresh]


def _type(spec: Spec, place: OperandPlace, match: Match, elements: int) -> str:
    """The type of a register that is to be in a place, alone or as one of the elements of a vector."""
    if "pred" in spec.words:
        return "pred"
    type_ = resolve_type(spec, match.slots)
    if "none" in spec.words:
        raise mistake(
            "P216", f"expected `_` as `{place.name}` of `{match.form.name}`, found `...`", help="write `sink`"
        )
    if type_ is None:
        named = [word for word in match.slots.values() if word in DTYPES]
        type_ = named[0] if len(named) == 1 else None
    if type_ is None:
        raise mistake(
            "P240",
            f"`{place.name}` of `{match.form.name}` takes registers of several types",
            help="declare one with `reg`",
        )
    if elements > 1 and resolve_count(spec, match.slots) is None:
        type_ = f"b{DTYPES[type_].bits // elements}"
    return next(_candidates(type_, "wide" in spec.words))


def _candidates(type_: str, wide: bool) -> Iterator[str]:
    """Register types that fit, the best first: its own, or 16 bits where a wider one may stand."""
    dtype = DTYPES[type_]
    if wide and dtype.bits < 16:
        yield f"{type_[0]}16"
    if dtype.fundamental:
        yield type_
    yield from (bits for bits in _BITS if register_fits(bits, type_, wide))
