"""Every row of the instruction set that is pure arithmetic has its operation, with the operands it has."""

from __future__ import annotations

from importlib import import_module

import pytest
from pure_operations import array, decode, decoded, nameless, results_of, statements

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.effect import EFFECTS
from ptxkit.emulator.opcodes import CHAPTERS as FILES
from ptxkit.emulator.operation import OPERATIONS, Pure, Unsupported, operation_of
from ptxkit.isa.registry import forms, opcodes

CHAPTERS = (
    "integer", "extended", "floating", "half", "mixed", "comparison", "logic", "conversion", "video",
    "packed", "narrow",
)  # fmt: skip
MOVES = ("mov", "prmt", "spdecompress")


def is_pure(form: object) -> bool:
    return form.chapter in CHAPTERS or form.opcode in MOVES  # type: ignore[attr-defined]


ROWS = [form for opcode in opcodes() for form in forms(opcode) if is_pure(form)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.syntax)
def test_row_is_executed(row: object) -> None:
    untold = {value for slot in row.slots for value in slot.undocumented}  # type: ignore[attr-defined]
    for statement in statements(row):
        if untold.intersection(statement.modifiers):
            continue  # ptxas takes it; the manual neither lists it nor says what it means
        if statement.spelling == "testp.f32" or statement.spelling == "testp.f64":
            continue  # ptxas takes a testp that tests nothing; what it means is told nowhere
        form = Decoded(statement)
        operation = operation_of(form)
        assert operation is not None, statement.spelling
        assert len(operation.sources) == len(form.values(written=False)), statement.spelling
        assert len(operation.results) == len(form.values(written=True)), statement.spelling
        zeros = [array(kind, [0, 0]) for kind in operation.sources]
        results_of(operation, zeros, [False, False] if operation.reads_carry else None)


def test_what_is_registered_is_of_rows() -> None:
    for file in {file for files in FILES.values() for file in files}:
        import_module(f"ptxkit.emulator.operations.{file}")
    assert not nameless(OPERATIONS)
    assert not nameless(EFFECTS)
    assert nameless([*OPERATIONS, ("logic", "and.b32")]) == ["no row of chapter logic is called `and.b32`"]


def test_a_wrong_count_of_results_is_found() -> None:
    both = Pure(("u32", "u32"), ("u32",), lambda a: a)
    with pytest.raises(AssertionError, match="1 results"):
        results_of(both, [array("u32", [0])])


def test_names_that_a_row_lacks() -> None:
    form = decoded("shf.l.wrap.b32")
    assert form is not None
    assert form["BoolOp"] is None  # A slot of `lop3`.
    with pytest.raises(KeyError, match=r"`shf.l` has no slot `party`; it has b32, mode"):
        form["party"]
    with pytest.raises(KeyError, match=r"`shf.l` has no operand `amount`; it has d, a, b, c"):
        form.constant("amount")
    with pytest.raises(KeyError, match=r"`shf.l` has no operand `amount`"):
        form.number("amount")
    with pytest.raises(ValueError, match=r"`c` of `shf.l.wrap.b32` is no integer constant"):
        form.number("c")
    with pytest.raises(KeyError, match=r"`shf.l.mode.b32 d, a, b, c` has no address `a`"):
        form.space_of("a")


def test_there_are_rows() -> None:
    assert len(ROWS) > 200
    with pytest.raises(Unsupported):
        decode("add.f17")
