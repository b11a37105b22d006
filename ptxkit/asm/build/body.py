"""A function under construction: its body, scopes and directives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ptxkit.asm.build import declare as declaring
from ptxkit.asm.build.control import Control
from ptxkit.asm.build.place import caller, mistake
from ptxkit.asm.build.statements import BuilderFrame, Construction
from ptxkit.asm.build.values import MemoryVariable, Named, Register, Registers
from ptxkit.asm.check.body import check_declaration, check_instruction
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import bind
from ptxkit.asm.tokens import INDENT
from ptxkit.asm.tree import Block, Directive, Function, Instruction, Name, Operand, Prototype, Variable


class Body(Control):
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

    def __init__(self, construction: Construction, node: Function, reference: Named) -> None:
        super().__init__(construction, node)
        self.reference = reference
        self.parameters = tuple(self._parameter(parameter) for parameter in node.parameters)
        self.returns = tuple(self._parameter(parameter) for parameter in node.returns)

    def _parameter(self, parameter: Variable) -> Register | MemoryVariable:
        found = self._named(parameter, parameter.declarators[0])
        assert not isinstance(found, Registers)
        return found

    # ---- the body

    def __enter__(self) -> Body:
        if self._node.body is not None:
            raise mistake("P241", f"`{self._node.name}` has a body already")
        if (other := self._construction.open) is not None:
            raise mistake("P241", f"expected the end of `{other}` before `{self._node.name}`")
        self._node.body = Block(self._frame.statements)
        self._construction.open = self._node.name
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._construction.open = None
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
        """Leave a line empty after the registers that were declared for new ones."""
        rest = self._frame.statements[len(self._allocated) :]
        if self._allocated and rest:
            layout = rest[0].layout or (f"\n{INDENT}",)
            rest[0].layout = (f"\n{layout[0]}", *layout[1:])

    def _check_deferred(self) -> None:
        """Check what names labels that were placed later, now that all are known."""
        if not self._deferred:
            return
        for statement, scope in bind(self._node, self._construction.scope):
            place = self._deferred.get(id(statement))
            if place is None:
                continue
            if isinstance(statement, Instruction):
                names = Names(scope)
                kinds = tuple(map(names.kind, statement.operands))
                for name in names.unknown:
                    raise mistake(
                        "P205",
                        f"label `{name}` is not visible here",
                        place,
                        help="a label is visible in its own block and the blocks inside it",
                    )
                check_instruction(self._context, statement, kinds, scope)
            elif isinstance(statement, Directive):
                check_declaration(self._context, statement, scope)
            self._refuse_errors(place)
        self._frame.scope.clashes.clear()

    def _end(self, block: Block, lead: str) -> None:
        """Close a block: comments that still wait come before its brace."""
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
        self._frames.append(BuilderFrame(block.statements, outer.scope.inner([]), outer.depth + 1))
        try:
            yield
            self._end(block, f"\n{INDENT * outer.depth}")
        finally:
            self._frames.pop()

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
            self._check(node)
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
        words: list[Operand] = [declaring.whole("loc", number) for number in (file, line, column)]
        if function_name is not None:
            words += [Name("function_name"), self._lowering()(function_name), Name("inlined_at")]
            words += [declaring.whole("loc", number) for number in inlined_at]
        self._add(Directive("loc", tuple(words)))
