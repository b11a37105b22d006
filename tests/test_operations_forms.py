"""Every row of the instruction set that is pure arithmetic has its operation, with the operands it has."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest
from pure_operations import decode, nameless

import ptxkit
from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.symbols import module_scope
from ptxkit.emulator.effect import EFFECTS
from ptxkit.emulator.opcodes import CHAPTERS as FILES
from ptxkit.emulator.operation import OPERATIONS, Unsupported, operation_of
from ptxkit.isa.registry import forms, opcodes
from ptxkit.isa.sample import PREAMBLE, samples

CHAPTERS = (
    "integer", "extended", "floating", "half", "mixed", "comparison", "logic", "conversion", "video",
    "packed", "narrow",
)  # fmt: skip
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
    FunctionCode(function, scope)  # It finds the rows.
    found = function.body.statements[-len(texts) :]
    assert all(isinstance(each, tree.Instruction) for each in found)
    yield from found  # type: ignore[misc]


@pytest.mark.parametrize("form", ROWS, ids=lambda form: form.syntax)
def test_row_is_executed(form: object) -> None:
    untold = {value for slot in form.slots for value in slot.extra}  # type: ignore[attr-defined]
    for statement in statements(form):
        if untold.intersection(statement.modifiers):
            continue  # ptxas takes it; the manual neither lists it nor says what it means
        if statement.spelling == "testp.f32" or statement.spelling == "testp.f64":
            continue  # ptxas takes a testp that tests nothing; what it means is told nowhere
        decoded = Decoded(statement)
        operation = operation_of(decoded)
        assert operation is not None, statement.spelling
        assert len(operation.sources) == len(decoded.values(written=False)), statement.spelling
        assert len(operation.results) == len(decoded.values(written=True)), statement.spelling


def test_what_is_registered_is_of_rows() -> None:
    for file in {file for files in FILES.values() for file in files}:
        import_module(f"ptxkit.emulator.operations.{file}")
    assert not nameless(OPERATIONS)
    assert not nameless(EFFECTS)
    assert nameless([*OPERATIONS, ("logic", "and.b32")]) == ["no row of chapter logic is called `and.b32`"]


def test_there_are_rows() -> None:
    assert len(ROWS) > 200
    with pytest.raises(Unsupported):
        decode("add.f17")
