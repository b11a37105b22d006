"""Structured control flow: `if_`, `else_`, `while_`, `for_` as branches and labels. PTX ISA 9.7.12."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ptxkit.asm.build.declare import TYPES, one_of
from ptxkit.asm.build.instructions import PREDICATE, Instructions
from ptxkit.asm.build.place import mistake
from ptxkit.asm.build.statements import Construction
from ptxkit.asm.build.values import WARP_SZ, LabelOperand, Register, Special, Value
from ptxkit.asm.tree import Function, Statement
from ptxkit.dtypes import DTYPES


@dataclass(slots=True)
class Loop:
    """Where `break_` and `continue_` go, and whether anything continues."""

    end: LabelOperand
    next: LabelOperand
    continued: bool = False


class Control(Instructions):
    """The structured statements of a body. They are branches and labels; none of them opens a scope."""

    def __init__(self, construction: Construction, node: Function) -> None:
        super().__init__(construction, node)
        self._else: Statement | None = None
        """The label after the latest `if_`, which an `else_` right after it moves."""
        self._loops: list[Loop] = []

    def _labels(self, what: str, *parts: str) -> list[LabelOperand]:
        self._number += 1
        return [self.forward_label(f"${what}{self._number}_{part}") for part in parts]

    @contextmanager
    def if_(self, predicate: Any) -> Iterator[None]:
        """What is inside runs where the predicate holds; `~p`, where it doesn't. An `else_` may follow.

            with k.if_(p):
                ...
            with k.else_():
                ...

        Raises:
            PtxkitError: P221, it is not a predicate.
        """
        (end,) = self._labels("if", "end")
        self._branch(end, _negated(predicate))
        yield
        self.label(end)
        self._else = self._frame.statements[-1]

    @contextmanager
    def else_(self) -> Iterator[None]:
        """What is inside runs where the `if_` right before it does not.

        Raises:
            PtxkitError: P241, no `if_` stands right before it.
        """
        frame = self._frame
        if self._else is None or not frame.statements or frame.statements[-1] is not self._else:
            raise mistake(
                "P241",
                "expected an `if_` right before `else_`, found none",
                help="nothing may stand between the two",
            )
        otherwise = frame.statements.pop()
        self._else = None
        (end,) = self._labels("else", "end")
        self._branch(end)
        frame.statements.append(otherwise)
        yield
        self.label(end)

    @contextmanager
    def while_(self, condition: Value | Callable[[], Value]) -> Iterator[None]:
        """What is inside runs again and again while the condition holds.

            with k.while_(lambda: k.setp.lt.u32(..., i, n)):
                ...

        Args:
            condition: a predicate, or a function that adds the instructions which compute it and gives it;
                they stand at the head of the loop.
        """
        head, end = self._labels("while", "head", "end")
        self.label(head)
        predicate = condition() if callable(condition) else condition
        self._branch(end, _negated(predicate))
        self._loops.append(Loop(end, head))
        yield
        self._loops.pop()
        self._branch(head)
        self.label(end)

    @contextmanager
    def for_(self, counter: str | Register, start: Any, stop: Any, step: Any = 1) -> Iterator[Register]:
        """A counted loop: from `start` on while the counter is below `stop`; above it, for a negative step.

            with k.for_("u32", 0, n, 4) as i:
                ...

        Args:
            counter: a register, or the type of a new one; a signed or unsigned integer, or a float.
            start: its first value.
            stop: where it ends; read anew each time round, a special register once.
            step: what is added each time round.

        Raises:
            PtxkitError: P217, untyped bits have no order; P218, the step is 0.
        """
        type_ = counter if isinstance(counter, str) else counter.type
        one_of(type_, TYPES, "type")
        dtype = DTYPES[type_]
        if not (dtype.is_integer or dtype.is_float):
            raise mistake(
                "P217",
                f"expected a signed or unsigned integer as counter, found `.{type_}`",
                help="`.b32` has no order; declare it as `.u32` or `.s32`",
            )
        if step == 0:
            raise mistake("P218", "expected a step other than 0, found 0")
        stop, step = self._read(type_, stop), self._read(type_, step)
        register = self.reg(type_) if isinstance(counter, str) else counter
        compare = "gt" if isinstance(step, (int, float)) and step < 0 else "lt"
        body, next_, end = self._labels("for", "body", "next", "end")
        loop = Loop(end, next_)
        self._emit("mov", type_, register, start)
        self._branch(end, ~self._emit(f"setp.{compare}", type_, ..., register, stop))
        self.label(body)
        self._loops.append(loop)
        yield register
        self._loops.pop()
        if loop.continued:
            self.label(next_)
        else:
            self._forget(next_)
        self._emit("add", type_, register, register, step)
        self._branch(body, self._emit(f"setp.{compare}", type_, ..., register, stop))
        self.label(end)

    def _read(self, type_: str, value: Any) -> Any:
        """A special register's value in a register, for `mov` alone reads those; anything else as it is."""
        special = isinstance(value, Special) and value is not WARP_SZ
        return self._emit("mov", type_, ..., value) if special else value

    def _emit(self, spelling: str, type_: str, *operands: Any) -> Any:
        opcode, *modifiers = spelling.split(".")
        return self._instruct(opcode, (*modifiers, type_), operands)

    def break_(self, predicate: Any = None) -> None:
        """Leave the innermost loop; with a predicate, where it holds."""
        self._branch(self._loop("break_").end, predicate)

    def continue_(self, predicate: Any = None) -> None:
        """Begin the innermost loop's next round; with a predicate, where it holds."""
        loop = self._loop("continue_")
        loop.continued = True
        self._branch(loop.next, predicate)

    def _loop(self, what: str) -> Loop:
        if not self._loops:
            raise mistake(
                "P241",
                f"expected a loop around `{what}`, found none",
                help="open one with `while_` or `for_`",
            )
        return self._loops[-1]

    def _branch(self, label: LabelOperand, predicate: Any = None) -> None:
        self._instruct("bra", (), (label,), predicate)


def _negated(predicate: Any) -> Value:
    if not isinstance(predicate, Value):
        found = type(predicate).__name__
        raise mistake("P221", f"expected a predicate register, found a Python `{found}`", help=PREDICATE)
    return ~predicate
