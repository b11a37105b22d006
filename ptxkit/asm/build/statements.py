"""What a module and a function's body have in common: statements in order, names, comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.asm.build import declare as declaring
from ptxkit.asm.build.place import CallerPlace, mistake, refuse
from ptxkit.asm.build.values import LabelOperand, Lowering, MemoryVariable, Named, Register, Registers
from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import report_clashes
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import Scope, Symbol
from ptxkit.asm.tokens import INDENT, statement_tokens
from ptxkit.asm.tree import Block, Declarator, Directive, Function, Module, Section, Statement, Variable


class BuilderFrame:
    """One list of statements that is being filled: a module's, a body's, a block's."""

    __slots__ = ("depth", "names", "pending", "scope", "statements")

    def __init__(self, statements: list[Statement], scope: Scope, depth: int) -> None:
        self.statements = statements
        self.scope = scope
        self.names = Names(scope)
        self.depth = depth
        self.pending: list[str] = []

    def trivia(self, depth: int) -> str | None:
        """What waits for the next token, which is indented by `depth`; None where nothing does."""
        if not self.pending:
            return None
        text = "".join([*self.pending, f"\n{INDENT * depth}"])
        self.pending.clear()
        return text if self.statements or self.depth else text.removeprefix("\n")


class Construction:
    """What a module under construction and the bodies in it have in common.

    Attributes:
        module: what has been built so far.
        checks: what the checker knows of it.
        scope: the module's names.
        open: the name of the function whose body is open.
    """

    def __init__(self) -> None:
        self.module = Module([])
        self.checks = Context(self.module)
        self.scope = Scope()
        self.open: str | None = None


class Statements:
    """A list of statements under construction."""

    def __init__(self, construction: Construction, frame: BuilderFrame) -> None:
        self._construction = construction
        self._context = construction.checks
        self._frames = [frame]

    @property
    def target(self) -> str:
        """The target in force, whose instructions may be used."""
        return self._context.target.name

    @property
    def _frame(self) -> BuilderFrame:
        return self._frames[-1]

    # ---- statements

    def append(self, statement: Statement) -> None:
        """Add any node of `ptxkit.asm.tree` as it is, unchecked: the way out where the builder has no method.

        Variables and labels in it are declared.
        """
        self._add(statement)
        self._declare(statement)
        self._frame.scope.clashes.clear()

    def _add(self, statement: Statement) -> None:
        frame = self._frame
        lead = frame.trivia(frame.depth)
        if lead is not None:
            statement.layout = _layout(statement, lead, frame.depth)
        frame.statements.append(statement)

    def _declare(self, statement: Statement) -> None:
        """Let the names that a statement declares be known."""
        raise NotImplementedError

    def _check(self, statement: Variable | Directive) -> None:
        """Raise what the checker has against a declaration or a directive."""
        raise NotImplementedError

    def _refuse_errors(self, place: CallerPlace | None = None) -> None:
        """Raise the errors that the checker has found; the rest `check` finds again."""
        errors = [found for found in self._context.found if found.is_error]
        self._context.found.clear()
        if errors:
            raise refuse(errors, place)

    def _refuse_clashes(self) -> None:
        clashes = self._frame.scope.clashes
        report_clashes(self._context, clashes)
        clashes.clear()
        self._refuse_errors()

    # ---- names

    def _use(self, named: Named) -> None:
        """Refuse a name that means something else here, or nothing."""
        found = self._frame.scope.lookup(named.name)
        if found is not None and named.symbol is not None and _same(found, named.symbol):
            return
        if isinstance(named, LabelOperand) and named.symbol is None:
            self._use_forward(named, found)
            return
        what = named.symbol.kind.value if named.symbol else "label"
        other = (
            f"`{named.name}` here is another {found.kind.value}" if found else "it belongs to another scope"
        )
        raise mistake(
            "P201",
            f"{what} `{named.name}` is not visible here",
            notes=(other,),
            help="a name is visible in its own block and the blocks inside it",
        )

    def _use_forward(self, label: LabelOperand, found: Symbol | None) -> None:
        raise mistake(
            "P205",
            f"label `{label.name}` is not of this function",
            help="a label is made by the function that branches to it",
        )

    def _lowering(self) -> Lowering:
        return Lowering(self._use)

    # ---- declarations

    def variable(
        self,
        space: str,
        type: str,
        *names: str | Declarator,
        init: Any = None,
        align: int | str | None = None,
        vector: str | None = None,
        linkage: str | None = None,
        attributes: Sequence[str] = (),
    ) -> Any:
        """Declare variables in a state space. PTX ISA 5.1, 5.4.

        Args:
            space: `global`, `const`, `shared`, `local`, `param`, `reg`, `tex`; each has a method of its own.
            type: without its dot, `f32`.
            names: in PTX's notation: `x`, `table[4][2]`, `buffer[]`, `%r<39>`.
            init: the initial value, where there is one name: a number, a variable, or nested lists.
            align: in bytes.
            vector: `v2` or `v4`.
            linkage: `extern`, `visible`, `weak`, `common`.
            attributes: `managed`, `unified(1, 2)`.

        Returns:
            What stands for the name: a `Register`, `Registers` or `MemoryVariable`; a tuple for several.

        Raises:
            PtxkitError: what the checker has against the declaration.
        """
        declarators = tuple(declaring.declarator(name) for name in names)
        if not declarators:
            raise mistake("P240", "expected a name to declare, found none")
        if init is not None:
            if len(declarators) > 1:
                raise mistake(
                    "P240",
                    "expected one name with `init`, found several",
                    help="declare each alone, or give `Declarator` nodes with values of their own",
                )
            (first,) = declarators
            declarators = (Declarator(first.name, first.count, first.dimensions, self._lowering()(init)),)
        node = declaring.variable(space, type, declarators, align, vector, linkage, attributes)
        self._check(node)
        self._declare(node)
        self._refuse_clashes()
        self._add(node)
        found = tuple(self._named(node, one) for one in node.declarators)
        return found[0] if len(found) == 1 else found

    def _named(self, node: Variable, declarator: Declarator) -> Register | Registers | MemoryVariable:
        """What stands for a declared name."""
        if declarator.count is not None:
            member = self._frame.scope.lookup(f"{declarator.name}0") if declarator.count else None
            symbol = member.range if member else None
            return Registers(declarator.name, declarator.count, lambda name: Register(name, symbol))
        symbol = self._frame.scope.lookup(declarator.name)
        return (Register if node.space == "reg" else MemoryVariable)(declarator.name, symbol)

    def global_(self, type: str, *names: str | Declarator, **rest: Any) -> Any:
        """Declare in `.global`: see `variable`."""
        return self.variable("global", type, *names, **rest)

    def const(self, type: str, *names: str | Declarator, **rest: Any) -> Any:
        """Declare in `.const`: see `variable`."""
        return self.variable("const", type, *names, **rest)

    def shared(self, type: str, *names: str | Declarator, **rest: Any) -> Any:
        """Declare in `.shared`: see `variable`."""
        return self.variable("shared", type, *names, **rest)

    def pragma(self, *texts: str) -> None:
        """Add `.pragma "text", ..;`. PTX ISA 11.4.9."""
        node = Directive("pragma", tuple(declaring.string(text) for text in texts))
        self._check(node)
        self._add(node)

    # ---- comments

    def comment(self, *lines: str, trailing: bool = False) -> None:
        """Put comments before the next statement, each on a line of its own.

        Args:
            lines: without their `//`; a text that begins with `//` or `/*` stands as it is.
            trailing: put them after the statement before instead.
        """
        gap = "  " if trailing else f"\n{INDENT * self._frame.depth}"
        self._frame.pending += [f"{gap}{comment}" for line in lines for comment in _comments(line)]

    def blank(self) -> None:
        """Leave a line empty before the next statement or comment."""
        self._frame.pending.append("\n")


def _comments(text: str) -> list[str]:
    """The comments of a text, one a line."""
    if text.startswith("/*"):
        if len(text) < 4 or text.find("*/", 2) != len(text) - 2:
            raise mistake(
                "P240", "expected a comment that ends in `*/`", help="leave the `/*` out for a `//` comment"
            )
        return [text]
    lines = text.split("\n")
    return (
        lines if all(line.startswith("//") for line in lines) else [f"// {line}".rstrip() for line in lines]
    )


def _layout(statement: Statement, lead: str, depth: int) -> tuple[str, ...]:
    """A layout that says what comes before the first token and leaves the rest to the writer."""
    if isinstance(statement, (Block, Section)):
        tokens = statement_tokens(statement, indent=INDENT * depth)
        return (lead, *(gap or "" for gap, _ in tokens[1:]))
    return (lead,)


def _same(found: Symbol, known: Symbol) -> bool:
    """Whether two symbols stand for one thing: a definition may follow its declaration."""
    if (found.range or found) is known:
        return True
    a, b = found.declaration, known.declaration
    if isinstance(a, Function):
        return isinstance(b, Function)
    return isinstance(a, Variable) and isinstance(b, Variable) and bool(a.linkage and b.linkage)
