"""Instructions of a body: every opcode of the instruction set is an attribute."""

from __future__ import annotations

from typing import Any

from ptxkit.asm.build.chain import OpcodeChain, attribute, modifier
from ptxkit.asm.build.fresh import fill
from ptxkit.asm.build.locals import Locals
from ptxkit.asm.build.place import UnknownName, caller, mistake, refuse
from ptxkit.asm.build.values import Lowering, Value, address
from ptxkit.asm.check.body import check_guard, check_instruction
from ptxkit.asm.check.context import did_you_mean
from ptxkit.asm.tree import Guard, Instruction, Name, Unary
from ptxkit.diagnostics import Diagnostic
from ptxkit.isa.registry import opcodes

_OPCODES = frozenset(opcodes())
PREDICATE = "compute one: `p = k.setp.lt.u32(..., a, b)`; `~p` is its negation"


class Instructions(Locals):
    """The instructions of a body, checked one by one."""

    def __getattr__(self, name: str) -> OpcodeChain:
        if name.startswith("__"):
            raise AttributeError(name)
        return OpcodeChain(self._instruct, self._opcode(name))

    def _opcode(self, name: str) -> str:
        opcode = modifier(name)
        if opcode in _OPCODES:
            return opcode
        near = did_you_mean(name, dir(self))
        raise refuse(
            [Diagnostic("P212", f"there is no instruction `{opcode or name}`", help=near)], kind=UnknownName
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in map(attribute, _OPCODES) if name)})

    def when(self, predicate: Any) -> When:
        """Instructions under a guard: `k.when(p).bra(done)` is `@p bra done;`, with `~p` it is `@!p`."""
        return When(self, predicate)

    def __getitem__(self, key: Any) -> Value:
        """An address: `k[r + 16]` is `[%r + 16]`, `k[map, [x, y]]` is `[map, {%x, %y}]`."""
        return address(key)

    def _instruct(
        self, opcode: str, modifiers: tuple[str, ...], operands: tuple[Any, ...], predicate: Any = None
    ) -> Any:
        """Check an instruction and add it; gives the new registers that were asked for."""
        self._require_open()
        frame = self._frame
        self._waits = False
        lower = self._lowering()
        guard = self._guard(predicate, lower) if predicate is not None else None
        node = Instruction(opcode, modifiers, tuple(map(lower, operands)), guard)
        kinds = tuple(map(frame.names.kind, node.operands))
        self._refuse_unknown()
        if guard is not None:
            check_guard(self._context, guard, frame.names)
        match = check_instruction(self._context, node, kinds, frame.scope)
        self._refuse_errors()
        new = fill(node, match, lower.fresh, self._allocate) if lower.fresh else []
        if new:
            check_instruction(self._context, node, tuple(map(frame.names.kind, node.operands)), frame.scope)
            self._refuse_errors()
        self._add(node)
        if self._waits:
            self._deferred[id(node)] = caller()
        return new[0] if len(new) == 1 else tuple(new) or None

    def _guard(self, predicate: Any, lower: Lowering) -> Guard:
        operand = lower(predicate)
        negated = isinstance(operand, Unary) and operand.operator == "!"
        if negated:
            assert isinstance(operand, Unary)
            operand = operand.operand
            if isinstance(operand, Unary) and operand.operator == "!":
                negated, operand = False, operand.operand
        if not isinstance(operand, Name) or operand.component is not None:
            raise mistake("P221", "expected a predicate register as guard", help=PREDICATE)
        return Guard(operand.name, negated)

    def _refuse_unknown(self) -> None:
        """Refuse `Name`s that mean nothing here; labels that are still to be placed and `...` do later."""
        names = self._frame.names
        if not names.unknown:
            return
        waiting = {label.name for label in self._forward.values()}
        unknown = [name for name in names.unknown if name not in waiting and not name.startswith("?")]
        names.unknown.clear()
        if unknown:
            names.forget()
            raise mistake(
                "P201",
                f"`{unknown[0]}` is not declared",
                help=did_you_mean(unknown[0], self._frame.scope.names()) or "declare it first",
            )


class When:
    """Instructions under one guard: every opcode is an attribute, as of the body."""

    __slots__ = ("_body", "_predicate")

    def __init__(self, body: Instructions, predicate: Any) -> None:
        if predicate is None:
            raise mistake("P221", "expected a predicate register as guard, found None", help=PREDICATE)
        self._body = body
        self._predicate = predicate

    def __getattr__(self, name: str) -> OpcodeChain:
        if name.startswith("__"):
            raise AttributeError(name)
        return OpcodeChain(self._body._instruct, self._body._opcode(name), (), self._predicate)

    def __dir__(self) -> list[str]:
        return sorted(name for name in map(attribute, _OPCODES) if name)
