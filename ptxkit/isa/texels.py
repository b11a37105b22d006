"""Coordinates, offsets and derivatives of textures and surfaces. PTX ISA 9.7.10.3."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.dtypes import DTYPES
from ptxkit.isa.places import Spec
from ptxkit.isa.registers import constant_fits, register_fits
from ptxkit.isa.vectors import CONSTANTS, SPECIAL, vector_type

GEOMETRIC = frozenset({"texels", "shifts", "gradients"})
GEOMETRY = {
    #        texels, shifts, gradients
    "1d": (1, 1, 1),
    "2d": (2, 2, 2),
    "3d": (4, 4, 4),
    "a1d": (2, 1, 1),
    "a2d": (4, 2, 2),
    "cube": (4, 0, 4),
    "acube": (4, 0, 4),
    "2dms": (4, 2, 0),
    "a2dms": (4, 2, 0),
}
"""Elements of the vectors that go with each geometry of textures and surfaces (9.7.10.3)."""


def geometry_fits(spec: Spec, type_: str | None, kind: str | tuple, slots: Mapping[str, str]) -> bool:
    """Whether an operand fits the geometry: vectors may be longer than it asks, and a scalar will do for one element.
    For a surface (`loose`) ptxas takes a scalar whatever its geometry."""
    assert type_ is not None
    texels, shifts, gradients = GEOMETRY[slots["geom"]]
    if isinstance(kind, str) or kind[0] in ("sreg", "offset"):
        if "shifts" in spec.words:
            return _fits(kind, type_) and not (slots["geom"] == "3d" and kind == "b32")
        elements: tuple = (kind,)
    elif kind[0] in ("v2", "v4"):
        elements = (kind[1],) * int(kind[0][1:])
    elif kind[0] == "{":
        elements = kind[1:]
    else:
        return False
    if "gradients" in spec.words:
        # What ptxas makes of it takes no vector of integers, which is one float's place elsewhere.
        integers = vector_type(elements) in ("u32", "s32")
        vector = kind[0] in ("{", "v2", "v4") and len(elements) == gradients
        return vector and not integers and _all_fit(elements, type_)
    needed = texels if "texels" in spec.words else shifts
    if "loose" in spec.words and isinstance(kind, str):
        return _fits(kind, type_)
    if not needed or len(elements) < needed or len(elements) not in (1, 2, 4):
        return False
    if "texels" in spec.words and slots["geom"].startswith("a"):
        # Behind an index ptxas takes floats for integers, too.
        return _all_fit(elements[:1], "u32") and (
            _all_fit(elements[1:], type_) or _all_fit(elements[1:], "f32")
        )
    return _all_fit(elements, type_)


def _all_fit(elements: tuple, type_: str) -> bool:
    return "_" not in elements and _fits(vector_type(elements), type_, element=True)


def _fits(kind: str | tuple | None, type_: str, element: bool = False) -> bool:
    if kind in ("?", "any"):
        return True
    if isinstance(kind, tuple) and kind[0] == "offset":
        return kind[1][0] == "var" or (kind[1] in DTYPES and register_fits(kind[1], type_))
    if not isinstance(kind, str):
        return False
    if kind in CONSTANTS:
        return constant_fits(kind, type_)
    if kind.startswith(SPECIAL):
        return register_fits(f"b{kind.removeprefix(SPECIAL)}", type_)
    return kind in DTYPES and register_fits(kind, type_, element=element)
