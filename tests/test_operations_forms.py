"""Every row of the instruction set that is pure arithmetic has its operation, with the operands it has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pure_operations import decode

import ptxkit
from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, destinations
from ptxkit.asm.flow import Code
from ptxkit.asm.symbols import module_scope
from ptxkit.emulator.operation import Pure, Unsupported, operation_of
from ptxkit.isa.registry import forms, opcodes
from ptxkit.isa.sample import PREAMBLE, samples

CHAPTERS = ("integer", "extended", "floating", "half", "mixed", "comparison", "logic", "conversion", "video")
MOVES = ("mov", "prmt")


def is_pure(form: object) -> bool:
    return form.chapter in CHAPTERS or form.opcode in MOVES  # type: ignore[attr-defined]


ROWS = [form for opcode in opcodes() for form in forms(opcode) if is_pure(form)]


def statements(form: object) -> Iterator[tree.Instruction]:
    """Samples of a row, parsed."""
    texts = [sample.text for sample in samples(form, 60)]  # type: ignore[arg-type]
    module = ptxkit.parse(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
        + "\n".join([PREAMBLE, *texts, "}\n"])
    )
    (function,) = (each for each in module.statements if isinstance(each, tree.Function))
    assert function.body is not None
    scope = module_scope(module)
    Code(function, scope)  # It finds the rows.
    found = function.body.statements[-len(texts) :]
    assert all(isinstance(each, tree.Instruction) for each in found)
    yield from found  # type: ignore[misc]


def elements(operands: tuple[tree.Operand, ...]) -> int:
    """How many operands these are, a vector's elements and both of a pair counted."""
    total = 0
    for operand in operands:
        total += len(operand.elements) if isinstance(operand, tree.Vector) else 1
        total += isinstance(operand, tree.Pair)
    return total


@pytest.mark.parametrize("form", ROWS, ids=lambda form: form.syntax)
def test_row_is_executed(form: object) -> None:
    untold = {value for slot in form.slots for value in slot.extra}  # type: ignore[attr-defined]
    for statement in statements(form):
        if untold.intersection(statement.modifiers):
            continue  # ptxas takes it; the manual neither lists it nor says what it means
        if statement.spelling == "testp.f32" or statement.spelling == "testp.f64":
            continue  # ptxas takes a testp that tests nothing; what it means is told nowhere
        operation = operation_of(Decoded(statement))
        if operation is None:
            operation = old_operation(statement)
            written = destinations(statement)
            read = statement.operands[len(written) :]
            assert len(operation.sources) == elements(read), statement.spelling
            assert len(operation.results) >= elements(written), statement.spelling


def old_operation(statement: tree.Instruction) -> Pure:
    names = [each.operand if isinstance(each, tree.Unary) else each for each in statement.operands]
    constants = [each.value if isinstance(each, tree.Integer) else None for each in statement.operands]
    return decode(
        statement.spelling,
        immediates=constants,
        vectors=[len(x.elements) if isinstance(x, tree.Vector) else 0 for x in statement.operands],
        selectors=[name.component if isinstance(name, tree.Name) else None for name in names],
    )


def test_there_are_rows() -> None:
    assert len(ROWS) > 200
    with pytest.raises(Unsupported):
        decode("add.f17")
