"""A function under construction: instructions, registers, labels, scopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ptxkit.asm.build import declare as declaring
from ptxkit.asm.build.chain import Chain, attribute, modifier
from ptxkit.asm.build.control import Control
from ptxkit.asm.build.fresh import fill
from ptxkit.asm.build.place import Place, UnknownName, caller, mistake, refuse
from ptxkit.asm.build.statements import Frame, Statements
from ptxkit.asm.build.values import (
    Label,
    Lowering,
    MemoryVariable,
    Named,
    Register,
    Registers,
    Value,
    address,
)
from ptxkit.asm.check.body import check_guard, check_instruction
from ptxkit.asm.check.calls import check_targets
from ptxkit.asm.check.context import did_you_mean
from ptxkit.asm.check.header import check_target
from ptxkit.asm.check.kinds import Names
from ptxkit.asm.symbols import Symbol, SymbolKind, bind, function_scope, variable_symbols
from ptxkit.asm.tokens import INDENT
from ptxkit.asm.tree import (
    Block,
    Declarator,
    Directive,
    Function,
    Guard,
    Instruction,
    Name,
    Prototype,
    Statement,
    Unary,
    Variable,
)
from ptxkit.asm.tree import Label as LabelNode
from ptxkit.diagnostics import Diagnostic
from ptxkit.isa.registry import opcodes

if TYPE_CHECKING:
    from ptxkit.asm.build.module import Builder

_OPCODES = frozenset(opcodes())


class Body(Control, Statements):
    """An `.entry` or a `.func`; `with` opens its body. Every opcode is an attribute, see `chain`.

        with b.entry("twice", [param("u64", "x")], maxntid=256) as k:
            (x,) = k.parameters
            at = k.ld.param.u64(..., k[x])
            value = k.ld.global_.u32(..., k[at])
            k.st.global_.u32(k[at], k.add.u32(..., value, value))
            k.ret()

    Without `with` it stays a declaration: `.func f (..);`.

    Attributes:
        parameters: what stands for the parameters, in order.
        returns: what stands for the values that a `.func` returns.
        reference: the function's name as an operand.
    """

    def __init__(self, builder: Builder, node: Function, reference: Named) -> None:
        self.builder = builder
        self._node = node
        self.reference = reference
        scope = function_scope(node, builder._frame.scope)
        super().__init__(Frame([], scope, 1))
        self.parameters = tuple(self._parameter(parameter) for parameter in node.parameters)
        self.returns = tuple(self._parameter(parameter) for parameter in node.returns)
        self._forward: dict[int, Label] = {}
        self._deferred: dict[int, Place] = {}
        self._allocated: dict[str, Variable] = {}
        self._ranges: dict[str, Symbol] = {}
        self._waits = False
        self._open = False
        self._number = 0
        self._begin_control()

    def _parameter(self, parameter: Variable) -> Register | MemoryVariable:
        found = self._named(parameter, parameter.declarators[0])
        assert not isinstance(found, Registers)
        return found

    # ---- the body

    def __enter__(self) -> Body:
        if self._node.body is not None:
            raise mistake("P241", f"`{self._node.name}` has a body already")
        if self.builder._inside is not None:
            raise mistake(
                "P241", f"expected the end of `{self.builder._inside._node.name}` before `{self._node.name}`"
            )
        self._node.body = Block(self._frame.statements)
        self.builder._inside = self
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.builder._inside = None
        self._open = False
        if kind is None:
            self._close()

    def _close(self) -> None:
        assert self._node.body is not None
        self._set_apart()
        self._end(self._node.body, "\n")
        for label in self._forward.values():
            raise mistake(
                "P205",
                f"label `{label.name}` is not placed in `{self._node.name}`",
                label.place,
                help="put `k.label(..)` with it before the statement to jump to",
            )
        self._check_deferred()

    def _set_apart(self) -> None:
        """Leave a line empty behind the registers that were declared for new ones."""
        rest = self._frame.statements[len(self._allocated) :]
        if self._allocated and rest:
            layout = rest[0].layout or (f"\n{INDENT}",)
            rest[0].layout = (f"\n{layout[0]}", *layout[1:])

    def _check_deferred(self) -> None:
        """Check what names labels that were placed later, now that all are known."""
        if not self._deferred:
            return
        for statement, scope in bind(self._node, self.builder._frame.scope):
            place = self._deferred.get(id(statement))
            if place is None:
                continue
            if isinstance(statement, Instruction):
                kind = Names(scope).kind
                check_instruction(self._context, statement, tuple(map(kind, statement.operands)), scope)
            elif isinstance(statement, Directive):
                check_targets(self._context, statement, scope)
            self._refuse_errors_at(place)

    def _refuse_errors_at(self, place: Place) -> None:
        errors = [found for found in self._context.found if found.is_error]
        self._context.found.clear()
        if errors:
            raise refuse(errors, place)

    def _end(self, block: Block, lead: str) -> None:
        """Close a block: comments that still wait stand before its brace."""
        frame = self._frame
        closing = frame.trivia(frame.depth - 1)
        if closing is not None:
            block.layout = ((block.layout or (lead,))[0], closing)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """`{ .. }`: registers and variables declared inside are known inside alone. PTX ISA 5.4."""
        self._require_open()
        outer = self._frame
        block = Block([])
        self._add(block)
        self._frames.append(Frame(block.statements, outer.scope.inner([]), outer.depth + 1))
        try:
            yield
            self._end(block, f"\n{INDENT * outer.depth}")
        finally:
            self._frames.pop()

    def _require_open(self) -> None:
        if not self._open:
            raise mistake(
                "P241", f"`{self._node.name}` is not open", help="statements go into `with .. as k:`"
            )

    def _add(self, statement: Statement) -> None:
        self._require_open()
        super()._add(statement)

    def _declare(self, statement: Statement) -> None:
        frame = self._frame
        if isinstance(statement, Variable):
            for symbol in variable_symbols(statement):
                frame.scope.declare(symbol)
        elif isinstance(statement, LabelNode):
            frame.scope.declare(Symbol(statement.name, SymbolKind.LABEL, "", "", None, statement))
        elif isinstance(statement, Directive) and statement.name == "target":
            check_target(self._context, statement)
            self._context.found.clear()
        if isinstance(statement, (Directive, Prototype)):
            self._name_targets(statement)
        frame.names.forget()

    def _name_targets(self, statement: Directive | Prototype) -> None:
        """A label right before a list of targets or a prototype names it. PTX ISA 11.3."""
        before = self._frame.statements[-2:-1]
        if before and isinstance(before[0], LabelNode):
            if isinstance(statement, Directive) and statement.name not in ("branchtargets", "calltargets"):
                return
            symbol = self._frame.scope.lookup(before[0].name)
            if symbol is not None:
                symbol.names = statement

    # ---- instructions

    def __getattr__(self, name: str) -> Chain:
        if name.startswith("__"):
            raise AttributeError(name)
        return Chain(self._instruct, self._opcode(name))

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
        """An address: `k[r + 16]` is `[%r+16]`, `k[map, [x, y]]` is `[map, {%x, %y}]`."""
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
            raise mistake("P221", "expected a predicate register as guard", help="compute one with `setp`")
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

    # ---- registers and variables

    def reg(self, type: str, *names: str | Declarator, count: int | None = None, **rest: Any) -> Any:
        """Declare registers, or take new ones.

        Args:
            type: without its dot.
            names: as in PTX, `%lane`, `%r<39>`; without any, new ones are named and declared for you.
            count: how many new ones; the result is then a list.
            rest: as of `variable`.
        """
        if names:
            return self.variable("reg", type, *names, **rest)
        declaring.one_of(type, declaring.TYPES, "type")
        return self._allocate(type) if count is None else [self._allocate(type) for _ in range(count)]

    def local(self, type: str, *names: str | Declarator, **rest: Any) -> Any:
        """Declare in `.local`: see `variable`."""
        return self.variable("local", type, *names, **rest)

    def param(self, type: str, *names: str | Declarator, **rest: Any) -> Any:
        """Declare a `.param` for a `call`: see `variable`. PTX ISA 5.1.6.4."""
        return self.variable("param", type, *names, **rest)

    def _allocate(self, type_: str) -> Register:
        """A new register. Those of a type are one range, declared at the head of the body: `%u32_<4>`."""
        self._require_open()
        top = self._frames[0]
        node = self._allocated.get(type_)
        if node is None:
            prefix = f"%{type_}_"
            while any(name.startswith(prefix) for name in self._frame.scope.names()):
                prefix += "_"
            node = Variable("reg", type_, (Declarator(prefix, 0),))
            top.statements.insert(len(self._allocated), node)
            self._allocated[type_] = node
            for symbol in variable_symbols(node):
                top.scope.declare(symbol)
                self._ranges[type_] = symbol
        declarator = node.declarators[0]
        assert declarator.count is not None
        declarator.count += 1
        return Register(f"{declarator.name}{declarator.count - 1}", self._ranges[type_])

    # ---- labels

    def forward_label(self, name: str | None = None) -> Label:
        """A label that is placed later, by `label`; until then it can be branched to.

        Args:
            name: as in PTX; None for a new one.
        """
        self._require_open()
        label = Label(self._label_name(name), None, caller())
        self._forward[id(label)] = label
        return label

    def label(self, label: str | Label | None = None) -> Label:
        """Place a label here.

        Args:
            label: its name, what `forward_label` gave, or None for a new name.

        Raises:
            PtxkitError: P206, it has been placed, or the name is taken.
        """
        self._require_open()
        if not isinstance(label, Label):
            label = Label(self._label_name(label), None, caller())
        elif self._forward.pop(id(label), None) is None:
            raise mistake(
                "P206",
                f"label `{label.name}` is placed twice, or is not of this function",
                help="make another with `forward_label`",
            )
        node = LabelNode(label.name)
        self._declare(node)
        self._refuse_clashes()
        self._add(node)
        label.symbol = self._frame.scope.lookup(label.name)
        return label

    def _forget(self, label: Label) -> None:
        """Give up a label that nothing has used."""
        del self._forward[id(label)]

    def _label_name(self, name: str | None) -> str:
        if name is not None:
            return declaring.name_of(name)
        self._number += 1
        return f"$L{self._number}"

    def _use_forward(self, label: Label, found: Symbol | None) -> None:
        if id(label) not in self._forward:
            super()._use_forward(label, found)
        if found is not None:
            raise mistake(
                "P206", f"label `{label.name}` has the name of a {found.kind.value} that is visible here"
            )
        self._waits = True

    # ---- directives

    def branchtargets(self, *labels: Any) -> None:
        """`.branchtargets L1, L2;` for `brx.idx`; a label right before it names the list. PTX ISA 11.3.1."""
        self._targets("branchtargets", labels)

    def calltargets(self, *functions: Any) -> None:
        """`.calltargets f, g;` for a `call`; a label right before it names the list. PTX ISA 11.3.2."""
        self._targets("calltargets", functions)

    def _targets(self, name: str, targets: tuple[Any, ...]) -> None:
        self._waits = False
        node = Directive(name, tuple(map(self._lowering(), targets)))
        if self._waits:
            self._deferred[id(node)] = caller()
        else:
            check_targets(self._context, node, self._frame.scope)
            self._refuse_errors()
        self._add(node)
        self._declare(node)

    def callprototype(
        self,
        parameters: Sequence[Variable] = (),
        *,
        returns: Sequence[Variable] = (),
        name: str = "_",
        **directives: Any,
    ) -> None:
        """`.callprototype` for an indirect `call`; a label right before it names it. PTX ISA 11.3.3.

        Args:
            parameters: from `param`.
            returns: from `param`.
            name: `_`, or a name that nothing looks at.
            directives: `noreturn=True`, `abi_preserve=16`.
        """
        given = declaring.directives(directives, declaring.FUNC_DIRECTIVES)
        node = Prototype(
            tuple(returns), name if name == "_" else declaring.name_of(name), tuple(parameters), given
        )
        self._add(node)
        self._declare(node)

    def loc(
        self, file: int, line: int, column: int, *, function_name: Any = None, inlined_at: Sequence[int] = ()
    ) -> None:
        """`.loc file line column`: where in a source file the next instructions come from. PTX ISA 11.5.4.

        Args:
            file: the number of a `.file`.
            line: counted from 1.
            column: counted from 1, 0 where it isn't known.
            function_name: a label in `.debug_str`, as a `Name`; with `inlined_at`.
            inlined_at: file, line and column where that function was inlined.
        """
        words: list[Any] = [file, line, column]
        if function_name is not None:
            words += [Name("function_name"), function_name, Name("inlined_at"), *inlined_at]
        self._add(Directive("loc", tuple(map(self._lowering(), words))))


class When:
    """Instructions under one guard: every opcode is an attribute, as of the body."""

    __slots__ = ("_body", "_predicate")

    def __init__(self, body: Body, predicate: Any) -> None:
        self._body = body
        self._predicate = predicate

    def __getattr__(self, name: str) -> Chain:
        if name.startswith("__"):
            raise AttributeError(name)
        return Chain(self._body._instruct, self._body._opcode(name), (), self._predicate)

    def __dir__(self) -> list[str]:
        return sorted(name for name in map(attribute, _OPCODES) if name)
