"""What stands in braces: the type that ptxas gives a vector of registers and constants. PTX ISA 5.4.2, 9.7.9.4.

A vector has one type, found from left to right. Registers of one class (signed or unsigned integers, floats, packed
halves) give that class; an untyped register makes the rest untyped, as do signed ones beside unsigned; a special register passes for whatever its neighbours are. A
constant has its class but no width, beside a register the two count as bits, and it does not mix with a special
register. Anything else does not mix. The width is that of the first element; after a constant ptxas takes any.
"""

from __future__ import annotations

from functools import cache

from ptxkit.dtypes import DTYPES, Kind

CONSTANTS = frozenset({"int", "float", "0f"})
INTEGERS = frozenset("us")
SPECIAL = "special"
"""The class of a special register among elements."""
PREDICATE_BITS = 32
"""What ptxas takes a predicate among elements for."""


@cache
def vector_type(elements: tuple) -> str | None:
    """The type that the elements have together.

    Args:
        elements: their kinds, see `operands`.

    Returns:
        A register's type; `pred`; `int`, `float` or `0f` where all are constants; `special` and the bits where all
        that has a type is a special register; `any` where registers follow a constant; `_` or `?` where nothing else
        is there; None where they don't go together, or one of them can't stand in a vector.
    """
    found: tuple[str, int] | None = None
    for element in elements:
        if element in ("_", "?"):
            continue
        here = _class(element)
        if here is None:
            return None
        found = here if found is None else _together(found, here)
        if found is None:
            return None
    if found is None:
        return "?" if "?" in elements else "_"
    class_, bits = found
    if not bits and class_ == "b":
        return "any"
    if not bits:
        return "int" if class_ in INTEGERS else "float" if "float" in elements else "0f"
    return class_ if class_ in ("pred", "f16x2") else f"{class_}{bits}"


def _class(element: object) -> tuple[str, int] | None:
    """Class and width of one element; the width of a constant is 0."""
    if isinstance(element, tuple):
        if element[0] != "sreg" or element[1] == "v4":
            return None
        if element[1] == "pred":
            return "pred", PREDICATE_BITS
        return SPECIAL, DTYPES[element[1]].bits
    if element == "int":
        return "s", 0
    if element in CONSTANTS:
        return "f", 0
    if element not in DTYPES:
        return None
    dtype = DTYPES[str(element)]
    if dtype.kind is Kind.PREDICATE:
        return "pred", PREDICATE_BITS
    if dtype.lanes > 1:
        return dtype.name, dtype.bits
    return dtype.name[0], dtype.bits


def _together(left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int] | None:
    if left == right:
        return left
    (class_, bits), (other, more) = left, right
    if bits and more and bits != more:
        return None
    if other == "pred" and not bits:
        return None
    if "b" in (class_, other) or class_ == other or INTEGERS.issuperset((class_, other)):
        return "b", bits
    if SPECIAL in (class_, other) and bits and more:
        return right
    return None
