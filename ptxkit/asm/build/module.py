"""A module under construction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ptxkit.asm.build import declare as declaring
from ptxkit.asm.build.body import Body
from ptxkit.asm.build.place import mistake
from ptxkit.asm.build.statements import BuilderFrame, Construction, Statements
from ptxkit.asm.build.values import Lowering, Named
from ptxkit.asm.check.declarations import report_clashes
from ptxkit.asm.check.header import check_header
from ptxkit.asm.check.items import Items
from ptxkit.asm.symbols import Scope, declare, function_scope
from ptxkit.asm.tree import Directive, Function, Module, Name, Section, Statement, Variable
from ptxkit.asm.tree import Label as LabelNode
from ptxkit.diagnostics import PtxkitError


class Builder(Statements):
    """A module, statement by statement.

        b = Builder("sm_90a")
        with b.entry("empty") as k:
            k.ret()
        print(ptxkit.write(b.module, canonical=True))

    Args:
        targets: of `.target`: an architecture, and options such as `debug`; none leaves `.target` out.
        version: of `.version`; None leaves it out.
        address_size: of `.address_size`; None leaves it out.
        heading: comments at the head of the file, as `comment` takes them; None leaves a line empty. A launch
            card goes here.

    Raises:
        PtxkitError: the checker has something against version or target.
    """

    def __init__(
        self,
        *targets: str,
        version: str | None = "9.0",
        address_size: int | str | None = 64,
        heading: Sequence[str | None] = (),
    ) -> None:
        made = Construction()
        super().__init__(made, BuilderFrame(made.module.statements, made.scope, 0))
        self._items = Items(self._context, made.scope)
        for line in heading:
            if line is None:
                self.blank()
            else:
                self.comment(line)
        if version is not None:
            self._add(Directive("version", (Name(version),)))
        if targets:
            self._add(Directive("target", tuple(Name(target) for target in targets)))
        if address_size is not None:
            self._add(Directive("address_size", (declaring.whole("address_size", address_size),)))
        if version is not None and targets:
            check_header(self._context)
            self._refuse_errors()

    @property
    def module(self) -> Module:
        """What has been built so far."""
        module = self._construction.module
        module.tail = "".join([*self._frame.pending, "\n"])
        return module

    def _add(self, statement: Statement) -> None:
        if (name := self._construction.open) is not None:
            raise mistake("P241", f"`{name}` is still open", help="module level resumes after its `with`")
        super()._add(statement)

    def _declare(self, statement: Statement) -> None:
        declare(statement, self._frame.scope)
        if isinstance(statement, Directive) and statement.name in ("version", "target"):
            check_header(self._context)
            self._context.found.clear()

    def append(self, statement: Statement) -> None:
        """Add any node as it is, see `Statements.append`."""
        self._items.check(statement)
        self._context.found.clear()
        super().append(statement)

    def _check(self, statement: Statement) -> None:
        """Raise what the checker has against a statement, which then counts as never seen."""
        before = self._context.declared.copy(), self._items.files.copy()
        self._items.check(statement)
        try:
            self._refuse_errors()
        except PtxkitError:
            self._context.declared, self._items.files = before
            raise

    # ---- functions

    def entry(
        self,
        name: str,
        parameters: Sequence[Variable] = (),
        *,
        linkage: str | None = "visible",
        directives: Sequence[Directive] = (),
        **tuning: Any,
    ) -> Body:
        """A kernel; `with` opens its body. PTX ISA 11.2.1, 11.4.

        Args:
            name: as the host looks it up.
            parameters: from `param`.
            linkage: `visible`, `weak`, `extern`, or None.
            directives: as nodes, where `tuning` can't say them: one given twice.
            tuning: `maxntid=(256, 1, 1)`, `reqntid=128`, `maxnreg=64`, `minnctapersm=2`,
                `reqnctapercluster=2`, `explicitcluster=True`, `pragma="nounroll"`, ..

        Raises:
            PtxkitError: what the checker has against the header.
        """
        given = (*directives, *declaring.directives(tuning, declaring.ENTRY_DIRECTIVES))
        return self._function(
            Function("entry", declaring.name_of(name), tuple(parameters), (), linkage, (), given)
        )

    def func(
        self,
        name: str,
        parameters: Sequence[Variable] = (),
        *,
        returns: Sequence[Variable] = (),
        linkage: str | None = None,
        attributes: Sequence[str] = (),
        directives: Sequence[Directive] = (),
        **tuning: Any,
    ) -> Body:
        """A function; `with` opens its body, without one it is a declaration. PTX ISA 11.2.2, 11.7.

        Args:
            name: as in PTX.
            parameters: from `param`.
            returns: from `param`.
            linkage: `visible`, `weak`, `extern`, or None.
            attributes: `unified(1, 2)`.
            directives: as nodes.
            tuning: `noreturn=True`, `abi_preserve=16`, ..

        Raises:
            PtxkitError: what the checker has against the header.
        """
        given = (*directives, *declaring.directives(tuning, declaring.FUNC_DIRECTIVES))
        node = Function(
            "func",
            declaring.name_of(name),
            tuple(parameters),
            tuple(returns),
            linkage,
            tuple(attributes),
            given,
        )
        return self._function(node)

    def _function(self, node: Function) -> Body:
        declaring.one_of(node.linkage, declaring.LINKAGES, "linkage")
        self._check(node)
        report_clashes(self._context, function_scope(node, Scope()).clashes)
        self._refuse_errors()
        declare(node, self._frame.scope)
        self._refuse_clashes()
        self._add(node)
        return Body(self._construction, node, Named(node.name, self._frame.scope.lookup(node.name)))

    # ---- the rest of a module

    def tex(self, type: str, *names: Any, **rest: Any) -> Any:
        """Declare in `.tex`: see `variable`."""
        return self.variable("tex", type, *names, **rest)

    def alias(self, name: str, function: str) -> None:
        """`.alias name, function;`: another name for a function. PTX ISA 11.6.6."""
        node = Directive("alias", (Name(declaring.name_of(name)), Name(declaring.name_of(function))))
        self._check(node)
        self._declare(node)
        self._add(node)

    def file(self, index: int, path: str, *stamp: int) -> None:
        """`.file index "path"`: a source file that `loc` names. PTX ISA 11.5.2.

        Args:
            index: its number.
            path: its name.
            stamp: time of modification and size, both or neither.
        """
        numbers = (declaring.whole("file", number) for number in stamp)
        node = Directive("file", (declaring.whole("file", index), declaring.string(path), *numbers))
        self._check(node)
        self._add(node)

    @contextmanager
    def section(self, name: str) -> Iterator[SectionLines]:
        """`.section name { .. }`: debugging information. PTX ISA 11.5.3."""
        node = Section(name, [])
        self._add(node)
        lines = SectionLines(self._construction, BuilderFrame(node.lines, Scope(), 1))
        yield lines
        lines._end(node)


class SectionLines(Statements):
    """The lines of a debugging section."""

    def _declare(self, statement: Statement) -> None:
        pass

    def _end(self, node: Section) -> None:
        closing = self._frame.trivia(0)
        if closing is not None:
            node.layout = ((node.layout or ("\n",))[0], " ", "\n", closing)

    def label(self, name: str) -> None:
        """`name:`"""
        self._add(LabelNode(declaring.name_of(name)))

    def b8(self, *values: Any) -> None:
        """`.b8 1, 2`: bytes; so `b16`, `b32` and `b64`, which also take a name or the difference of two."""
        self._data("b8", values)

    def b16(self, *values: Any) -> None:
        """`.b16 1, 2`"""
        self._data("b16", values)

    def b32(self, *values: Any) -> None:
        """`.b32 1, 2`"""
        self._data("b32", values)

    def b64(self, *values: Any) -> None:
        """`.b64 1, 2`"""
        self._data("b64", values)

    def _data(self, type_: str, values: tuple[Any, ...]) -> None:
        self._add(Directive(type_, tuple(map(Lowering(self._use), values))))
