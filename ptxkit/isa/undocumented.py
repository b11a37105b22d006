"""Operands that ptxas takes and the manual does not list, in words, for the checker's warning (P222)."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.isa.operands import FLOATS, VECTORS, OperandKind, resolve_type
from ptxkit.isa.places import Spec
from ptxkit.isa.vectors import CONSTANTS


def undocumented_operand(
    spec: Spec, kind: OperandKind, slots: Mapping[str, str], written: bool
) -> str | None:
    """What an operand is that the manual does not list, in words; None where it does.

    Args:
        spec: what the row allows.
        kind: what is there, which fits.
        slots: the form's modifiers.
        written: whether it is a destination.
    """
    if isinstance(kind, str):
        return _alone(spec, kind, slots)
    if kind[0] == "|":
        return "a pair"
    if kind[0] == "offset":
        base = kind[1]
        listed = isinstance(base, tuple) and base[0] == "var" and "variable" in spec.words
        return None if listed else "a sum"
    return _vector(spec, kind, slots, written) if kind[0] == "{" else None


def _alone(spec: Spec, kind: str, slots: Mapping[str, str]) -> str | None:
    """One register or constant."""
    if "loose" in spec.words and kind != "?":
        if "vec" in spec.words and "vec" in slots and kind not in CONSTANTS:
            return f"one register for `.{slots['vec']}`"
        if "texels" in spec.words and slots["geom"] != "1d":
            return f"one coordinate for `.{slots['geom']}`"
    if "lone" in spec.words and spec.count is not None and kind != "?":
        return f"one operand for {spec.count} registers"
    return "a predicate" if kind == "pred" and "anytype32" in spec.words else None


def _vector(spec: Spec, kind: tuple, slots: Mapping[str, str], written: bool) -> str | None:
    """What stands in braces."""
    if any(isinstance(element, tuple) and element[0] == "sreg" for element in kind):
        return "a special register in a vector"
    if "pred" in kind:
        return "a predicate in a vector"
    if "_" in kind and not written:
        return "`_` in a vector that is read"
    if "vec" in spec.words and "int" in kind and resolve_type(spec, slots) in FLOATS:
        return "an integer in a vector of floats"
    if spec.count is None and not spec.words & VECTORS:
        return None if "anytype32" in spec.words and len(kind) == 2 else "a vector"
    return None
