"""The syntax tree of a PTX module. PTX ISA chapters 4, 5, 6 and 11.

Every node has a `span` (1-based lines and columns; None where code built the node). Spans and layouts do
not take part in equality: two trees are equal when they say the same thing.

A file is written back byte for byte: a *statement* carries `layout`, the white space and comments that
stood before each of its tokens in the source. The tokens come from the tree. A statement without a layout,
or with one that no longer fits its tokens because somebody edited it, is laid out afresh. Literals keep
their own spelling (`0x1F`, `0f3F800000`).

Names are stored as written (`%r1`, `smem`); modifiers without their leading dot (`shared::cta`, `v4`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Diagnostic, Source, Span

if TYPE_CHECKING:
    from ptxkit.isa.match import Match

METADATA, SOURCES = ".metadata_section", ".nv_intermediate_source_section"
Layout = tuple[str, ...]
"""White space and comments before each token of a statement."""


@dataclass(slots=True, kw_only=True)
class Node:
    """What every node has."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class Statement(Node):
    """A node that stands alone in a module or a body."""

    layout: Layout | None = field(default=None, compare=False, repr=False)


# ---- operands


class Constant(int):
    """An integer of a declaration that is not spelled as plain decimal: `0x40`, `16U`, `WARP_SZ`."""

    text: str

    def __new__(cls, value: int, text: str) -> Constant:
        number = super().__new__(cls, value)
        number.text = text
        return number


@dataclass(slots=True)
class Name(Node):
    """A register, variable, parameter, label, function or special register; `_` discards a result.
    `component` is what follows a dot: `x` of `%tid.x` or of a vector, `b0` of a video operand."""

    name: str
    component: str | None = None


@dataclass(slots=True)
class Integer(Node):
    """An integer literal. `value` is never negative: a sign is a `Unary`. `text` is the spelling."""

    value: int
    text: str | None = field(default=None, compare=False)


@dataclass(slots=True)
class Float(Node):
    """A floating-point literal: its IEEE pattern, of `width` 32 for `0f`, of 64 for `0d` and decimals."""

    bits: int
    width: int = 64
    text: str | None = field(default=None, compare=False)


@dataclass(slots=True)
class String(Node):
    """A double-quoted string, as in `.pragma "nounroll";`. `value` is what is between the quotes."""

    value: str


@dataclass(slots=True)
class Unary(Node):
    """`-a`, `+a`, `!a`, `~a`, or a cast: operator `(.s64)` or `(.u64)`. `!p` negates a predicate operand."""

    operator: str
    operand: Operand


@dataclass(slots=True)
class Binary(Node):
    """A constant expression `a + b`, `a << b`, ..; also `smem + 4` where a variable is offset."""

    operator: str
    left: Operand
    right: Operand


@dataclass(slots=True)
class Conditional(Node):
    """`a ? b : c` in a constant expression."""

    condition: Operand
    then: Operand
    otherwise: Operand


@dataclass(slots=True)
class Parenthesized(Node):
    """`( a )` in a constant expression: kept, so that what is written back says the same thing."""

    inner: Operand


@dataclass(slots=True)
class Vector(Node):
    """`{a, b, ..}`: a register vector, coordinates, or a nested initialiser."""

    elements: tuple[Operand, ...]


@dataclass(slots=True)
class Address(Node):
    """`[base]`, `[base + offset]`, `[map, {x, y}]`: anything in brackets. `operator` is the offset's sign,
    `rest` what follows a comma, `suffix` the word after the brackets without its dot: `unified`."""

    base: Operand
    offset: Operand | None = None
    operator: str | None = None
    rest: tuple[Operand, ...] = ()
    suffix: str | None = None


@dataclass(slots=True)
class Pair(Node):
    """`d|p`, `{a, b}|p`: a destination with a predicate or a second destination."""

    first: Operand
    second: Operand


@dataclass(slots=True)
class Element(Node):
    """`a[2]` or `a[%r1]`: an element of an array, as an operand without brackets of its own."""

    base: Name
    index: Operand


@dataclass(slots=True)
class Arguments(Node):
    """`(a, b)` in a `call`: return parameters or arguments."""

    elements: tuple[Operand, ...]


@dataclass(slots=True)
class Generic(Node):
    """`generic(symbol)`, or `0xFF(symbol)`, a byte mask, whose operator is the `Integer`."""

    operator: str | Integer
    operand: Operand


Operand = (
    Name | Integer | Float | String | Unary | Binary | Conditional | Parenthesized | Vector | Address | Pair
    | Element | Arguments | Generic
)  # fmt: skip


# ---- statements


@dataclass(slots=True)
class Guard(Node):
    """`@p` or `@!p` before an instruction."""

    name: str
    negated: bool = False


@dataclass(slots=True)
class Instruction(Statement):
    """`@p opcode.modifier.modifier operand, operand;` `match` is the row of the instruction set that the
    checker found for it; None before, and for `call`."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    match: Match | None = field(default=None, compare=False, repr=False)

    @property
    def spelling(self) -> str:
        """The opcode with its modifiers: `ld.global.v4.u32`."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(slots=True)
class Label(Statement):
    """`name:`"""

    name: str


@dataclass(slots=True)
class Directive(Statement):
    """`.name argument, argument` that declares nothing: `.maxntid 128, 1, 1`, `.pragma "..";`, `.noreturn`.
    `.version 9.0` has the argument `Name("9.0")`, and the words of `.loc 1 2 3, function_name f, inlined_at
    1 4 5` are `Name`s. `.branchtargets L<4>;` has a `Declarator` with a count."""

    name: str
    arguments: tuple[Operand | Declarator, ...] = ()


@dataclass(slots=True)
class Declarator(Node):
    """One declared name: `%r<39>` has count 39; `a[][2]` has dimensions `(None, 2)`."""

    name: str
    count: int | None = None
    dimensions: tuple[int | None, ...] = ()
    initializer: Operand | None = None


@dataclass(slots=True)
class Variable(Statement):
    """A declaration: `.reg .b32 %r<39>;`, `.shared .align 16 .b8 smem[1024];`, and every parameter.

    Attributes:
        space: `reg`, `global`, `const`, `shared`, `shared::cta`, `shared::cluster`, `local`, `param`, `tex`.
        declarators: what is declared; a parameter has exactly one.
        linkage: `extern`, `visible`, `weak`, `common`, of a parameter `hidden`, or None.
        align: in bytes, None where it isn't given.
        vector: `v2`, `v4`, `v8`, or None.
        pointer: for a parameter with `.ptr`: (state space or None for generic, alignment or None); else None.
        attributes: the inside of `.attribute(..)`, as written: `managed`, `unified(1, 2)`.
        order: the specifiers' order in the source where it isn't the usual one.
    """

    space: str
    type: str
    declarators: tuple[Declarator, ...]
    linkage: str | None = None
    align: int | None = None
    vector: str | None = None
    pointer: tuple[str | None, int | None] | None = None
    attributes: tuple[str, ...] = ()
    order: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The declared name, where there is one declarator."""
        (declarator,) = self.declarators
        return declarator.name


@dataclass(slots=True)
class Block(Statement):
    """`{ .. }`: a scope. `closed` is False where the source ends before its `}`."""

    statements: list[Statement]
    closed: bool = field(default=True, compare=False)


@dataclass(slots=True)
class Section(Statement):
    """`.section name { .. }` with its DWARF lines, each a `Directive` (`.b8 1, 2`) or a `Label`. Others have
    their keyword's name: in `METADATA` a `.metadata 2 { .. }` has its fields as a `Vector`, in `SOURCES` a
    `.code_block` language, file, and all between `.source_begin` and `.source_end`, as it stands."""

    name: str
    lines: list[Statement]
    closed: bool = field(default=True, compare=False)


@dataclass(slots=True)
class Malformed(Statement):
    """What the parser could not read, token by token; the module's `diagnostics` have the error."""

    tokens: tuple[str, ...]


@dataclass(slots=True)
class Prototype(Statement):
    """`.callprototype (returns) _ (parameters) .noreturn;` The label before it is a statement of its own."""

    returns: tuple[Variable, ...]
    name: str
    parameters: tuple[Variable, ...]
    directives: tuple[Directive, ...] = ()
    parentheses: tuple[bool, bool] = field(default=(False, False), compare=False, repr=False)


@dataclass(slots=True)
class Function(Statement):
    """`.entry` or `.func`.

    Attributes:
        kind: `entry` or `func`.
        directives: performance-tuning and other directives between the parameter list and the body.
        body: None for a prototype that ends in `;`.
        parentheses: whether an empty list of returns, of parameters, is written `()` or left out.
    """

    kind: str
    name: str
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    linkage: str | None = None
    attributes: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: Block | None = None
    parentheses: tuple[bool, bool] = field(default=(False, True), compare=False, repr=False)

    def directive(self, name: str) -> Directive | None:
        """The first directive called `name` (without its dot) between header and body."""
        return next((directive for directive in self.directives if directive.name == name), None)


@dataclass(slots=True, repr=False)
class Module:
    """A whole file.

    Attributes:
        tail: white space and comments after the last statement.
        diagnostics: what the parser found; `check` repeats it.
        source: the text for code frames; None for a tree that code built.
        complete: False where the text ends inside a statement, a block or a comment.
    """

    statements: list[Statement]
    tail: str = field(default="\n", compare=False)
    diagnostics: list[Diagnostic] = field(default_factory=list, compare=False)
    source: Source | None = field(default=None, compare=False)
    complete: bool = field(default=True, compare=False)

    def __repr__(self) -> str:
        return f"Module(entries={[entry.name for entry in self.entries]}, target={self.target!r})"

    def _words(self, name: str) -> tuple[str, ...]:
        named = (s.arguments for s in self.statements if isinstance(s, Directive) and s.name == name)
        return tuple(argument.name for argument in next(named, ()) if isinstance(argument, Name))

    @property
    def has_errors(self) -> bool:
        """Whether the parser found an error, so that the tree lacks something."""
        return any(diagnostic.is_error for diagnostic in self.diagnostics)

    @property
    def version(self) -> tuple[int, int] | None:
        """(major, minor) of `.version`, None where it is missing or malformed."""
        major, _, minor = "".join(self._words("version")[:1]).partition(".")
        known = major.isdigit() and minor.isdigit() and len(major + minor) < 19
        return (int(major), int(minor)) if known else None

    @property
    def targets(self) -> tuple[str, ...]:
        """The specifiers of `.target`: `("sm_90a",)`, `("sm_80", "debug")`."""
        return self._words("target")

    @property
    def target(self) -> str | None:
        """The `sm_` or `compute_` target of `.target`."""
        return next((name for name in self.targets if name.startswith(("sm_", "compute_"))), None)

    @property
    def functions(self) -> list[Function]:
        """Every `.entry` and `.func`, prototypes included."""
        return [statement for statement in self.statements if isinstance(statement, Function)]

    @property
    def entries(self) -> list[Function]:
        """Every `.entry` with a body."""
        return [f for f in self.functions if f.kind == "entry" and f.body is not None]


def walk(statements: list[Statement]) -> Iterator[Statement]:
    """Every statement, depth first, blocks before what they hold."""
    for statement in statements:
        yield statement
        if isinstance(statement, Block):
            yield from walk(statement.statements)
        elif isinstance(statement, Function) and statement.body is not None:
            yield from walk(statement.body.statements)


def require_module(module: object) -> None:
    """Raise a `TypeError` for anything but a module: for a text, for instance."""
    if not isinstance(module, Module):
        raise TypeError(f"expected a module, as `ptxkit.parse` makes it, found {type(module).__name__}")
