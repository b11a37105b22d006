"""Declarations from Python: names in PTX's own notation (`smem[1024]`, `%r<39>`), parameters, directives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.asm.build.place import mistake
from ptxkit.asm.build.values import spelled
from ptxkit.asm.check.context import did_you_mean
from ptxkit.asm.tree import Constant, Declarator, Directive, Integer, Operand, String, Variable


def _words(*terminals: str) -> tuple[str, ...]:
    """The keywords of the grammar's terminals, without their dots."""
    kinds = {KINDS[terminal] for terminal in terminals}
    return tuple(word.removeprefix(".") for word, kind in KEYWORDS.items() if kind in kinds)


TYPES = _words("TYPE")
SPACES = _words("SPACE")
LINKAGES = _words("LINKAGE")
VECTORS = _words("VECTOR")
ENTRY_DIRECTIVES = (*_words("ENTRY_FLAG", "ENTRY_NUMBER", "ENTRY_EXTENT"), "pragma")
FUNC_DIRECTIVES = _words("FUNC_FLAG", "FUNC_NUMBER")
_RESERVED = _words("WARP_SZ", "FUNCTION_NAME", "INLINED_AT")

_SIZE = r"0[xX][\da-fA-F]+U?|0[bB][01]+U?|\d+U?|WARP_SZ"
_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
_DECLARATOR = re.compile(rf"({_IDENTIFIER.pattern}|_)(?:<({_SIZE})>)?((?:\[(?:{_SIZE})?\])*)", re.ASCII)


def one_of(value: str | None, known: Sequence[str], what: str) -> None:
    """Refuse a word that is none of those known; None passes.

    Raises:
        PtxkitError: P240.
    """
    if value is not None and value not in known:
        help = did_you_mean(str(value), known) or f"one of {', '.join(f'`{word}`' for word in known)}"
        raise mistake("P240", f"there is no {what} `{value}`", help=help)


def name_of(text: Any) -> str:
    """A name as it may be declared.

    Raises:
        PtxkitError: P240, it is not an identifier of PTX (4.4).
    """
    if not isinstance(text, str) or not _IDENTIFIER.fullmatch(text) or text in _RESERVED:
        raise mistake(
            "P240",
            f"expected a name, found `{text}`",
            help="a letter, or `_`, `$`, `%` and one more; then letters, digits, `_`, `$`",
        )
    return text


def size_of(value: int | str | None) -> int | None:
    """A size or an alignment: a number, or its spelling in PTX, which is kept."""
    if not isinstance(value, str):
        return value
    if value == "WARP_SZ":
        return Constant(32, value)
    number = spelled(value)
    if not isinstance(number, Integer):
        raise mistake("P240", f"expected an integer, found `{value}`")
    return number.value if str(number.value) == value else Constant(number.value, value)


def declarator(text: str | Declarator) -> Declarator:
    """`a`, `%r<39>`, `a[4][2]`, `a[]` as a node.

    Raises:
        PtxkitError: P240, it is none of these.
    """
    if isinstance(text, Declarator):
        return text
    match = _DECLARATOR.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[1] in _RESERVED:
        raise mistake(
            "P240",
            f"expected a name to declare, found `{text}`",
            help="write it as in PTX: `%r`, `%r<39>`, `buffer[1024]`, `table[]`",
        )
    dimensions = tuple(size_of(size or None) for size in re.findall(r"\[(.*?)\]", match[3]))
    return Declarator(match[1], size_of(match[2]), dimensions)


def variable(
    space: str,
    type: str,
    declarators: tuple[Declarator, ...],
    align: int | str | None,
    vector: str | None = None,
    linkage: str | None = None,
    attributes: Sequence[str] = (),
    pointer: tuple[str | None, int | str | None] | None = None,
) -> Variable:
    """A declaration, its words looked up."""
    one_of(space, SPACES, "state space")
    one_of(type, TYPES, "type")
    one_of(vector, VECTORS, "vector")
    one_of(linkage, LINKAGES, "linkage")
    if pointer is not None:
        one_of(pointer[0], SPACES, "state space")
        pointer = (pointer[0], size_of(pointer[1]))
    return Variable(space, type, declarators, linkage, size_of(align), vector, pointer, tuple(attributes))


def param(
    type: str,
    name: str,
    *,
    space: str = "param",
    align: int | str | None = None,
    pointer: tuple[str | None, int | None] | None = None,
    vector: str | None = None,
) -> Variable:
    """A parameter of a function, or a value that it returns. PTX ISA 5.1.6, 11.2.

    Args:
        type: its type, `u64`.
        name: as in PTX; an array by value is `desc[128]`.
        space: `param`, or `reg` for a `.func`.
        align: in bytes.
        pointer: for `.ptr`: (state space or None, alignment or None) of what it points to.
        vector: `v2` or `v4`.
    """
    return variable(space, type, (declarator(name),), align, vector, pointer=pointer)


def directives(given: dict[str, Any], known: Sequence[str]) -> tuple[Directive, ...]:
    """`maxntid=(128, 1, 1), noreturn=True` as directives, in the order given."""
    found = []
    for name, value in given.items():
        one_of(name, known, "directive")
        arguments: tuple[Any, ...]
        if value is True:
            arguments = ()
        elif isinstance(value, (tuple, list)):
            arguments = tuple(value)
        else:
            arguments = (value,)
        found.append(Directive(name, tuple(_argument(name, argument) for argument in arguments)))
    return tuple(found)


def _argument(directive: str, value: Any) -> Operand:
    return string(value) if directive == "pragma" else whole(directive, value)


def whole(directive: str, value: Any) -> Operand:
    """A number of a directive.

    Raises:
        PtxkitError: P240, it is negative, or no integer.
    """
    if isinstance(value, str) and isinstance(number := spelled(value), Integer):
        return number
    if not isinstance(value, int) or value < 0:
        raise mistake("P240", f"expected an integer from 0 on for `.{directive}`, found `{value}`")
    return Integer(value)


def string(text: Any) -> String:
    """A string of a directive.

    Raises:
        PtxkitError: P240, PTX has no such string.
    """
    if not isinstance(text, str) or '"' in text:
        raise mistake("P240", f'expected a string without a `"`, found `{text}`')
    return String(text)
