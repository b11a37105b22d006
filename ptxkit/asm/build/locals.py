"""What belongs to a function alone: registers, local variables, parameters for calls, labels."""

from __future__ import annotations

from typing import Any

from ptxkit.asm.build import declare as declaring
from ptxkit.asm.build.place import CallerPlace, caller, mistake
from ptxkit.asm.build.statements import BuilderFrame, Construction, Statements
from ptxkit.asm.build.values import LabelOperand, Register
from ptxkit.asm.check.body import check_declaration
from ptxkit.asm.check.header import check_target
from ptxkit.asm.symbols import Symbol, SymbolKind, function_scope, variable_symbols
from ptxkit.asm.tree import Declarator, Directive, Function, Prototype, Statement, Variable
from ptxkit.asm.tree import Label as LabelNode


class Locals(Statements):
    """The declarations and labels of a function's body."""

    def __init__(self, construction: Construction, node: Function) -> None:
        self._node = node
        super().__init__(construction, BuilderFrame([], function_scope(node, construction.scope), 1))
        self._open = False
        self._number = 0
        self._forward: dict[int, LabelOperand] = {}
        self._waits = False
        self._deferred: dict[int, CallerPlace] = {}
        self._allocated: dict[str, Variable] = {}
        self._ranges: dict[str, Symbol] = {}

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
            before = frame.statements[-2] if len(frame.statements) > 1 else None
            frame.scope.name_list(before, statement)
        frame.names.forget()

    def _check(self, statement: Variable | Directive) -> None:
        check_declaration(self._context, statement, self._frame.scope)
        self._refuse_errors()

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

    def forward_label(self, name: str | None = None) -> LabelOperand:
        """A label that is placed later, by `label`; until then it can be branched to.

        Args:
            name: as in PTX; None for a new one.
        """
        self._require_open()
        label = LabelOperand(self._label_name(name), None, caller())
        self._forward[id(label)] = label
        return label

    def label(self, label: str | LabelOperand | None = None) -> LabelOperand:
        """Place a label here.

        Args:
            label: its name, what `forward_label` gave, or None for a new name.

        Raises:
            PtxkitError: P206, it has been placed, or the name is taken.
        """
        self._require_open()
        if not isinstance(label, LabelOperand):
            label = LabelOperand(self._label_name(label), None, caller())
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

    def _forget(self, label: LabelOperand) -> None:
        """Give up a label that nothing has used."""
        del self._forward[id(label)]

    def _label_name(self, name: str | None) -> str:
        if name is not None:
            return declaring.name_of(name)
        self._number += 1
        return f"$L{self._number}"

    def _use_forward(self, label: LabelOperand, found: Symbol | None) -> None:
        if id(label) not in self._forward:
            super()._use_forward(label, found)
        if found is not None:
            raise mistake(
                "P206", f"label `{label.name}` has the name of a {found.kind.value} that is visible here"
            )
        self._waits = True
