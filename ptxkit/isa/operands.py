"""Which operands fit which specification: register classes, constants, vectors, addresses. PTX ISA 9.1, 9.4.

An operand's *kind* is all that the rows look at, small and hashable, so that verdicts can be kept:

    "b32"                 a register of that type            ("v4", "f32")        a vector register
    "int" "float" "0f"    constants: an integer, a decimal or `0d`, a `0f` one
    ("not", k) ("neg", k) `!k`, `-k`                          ("part", "b0", k)    `k.b0`
    ("sreg", "u32")       a special register                  ("sreg", "v4", "u32")
    ("var", "shared")     the address of a variable           ("opaque", "texref")
    ("var", "global", "unified")  of a variable with that attribute
    ("var", "param", "in")  of a parameter: `in`, `out` of the function itself, `local` for a call
    "func" "label" "targets" "prototype" "string" "_"
    ("{", k, ..)  ("|", k, k)  ("(", k, ..)                   vectors, pairs, arguments
    ("[", base, offset, suffix, k, ..)                        an address: kind of the base, `+`, `-` or None, a
                                                              modifier after it or None, what follows a comma
    "?"                   a name that is not declared; it fits everywhere, since it has been reported
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.places import Place, Spec

OperandKind = str | tuple
OPAQUE = frozenset({"texref", "samplerref", "surfref"})
CONSTANTS = frozenset({"int", "float", "0f"})

_INTEGER = frozenset({Kind.SIGNED, Kind.UNSIGNED})


@cache
def register_fits(register: str, wanted: str, wide: bool = False, element: bool = False) -> bool:
    """Whether a register of type `register` may stand where an instruction of type `wanted` has an operand.

    Args:
        register: the declared type.
        wanted: the instruction's type, perhaps an alternate or packed one.
        wide: the register may be wider (9.4.1).
        element: it is an element of a `.v2`, .. vector, where a float's place takes integers of its width.

    Untyped bits fit every type of their width; signed and unsigned integers each other; floats only
    themselves. A `.f16x2` register passes for the 32-bit integer or the predicate that the instruction's own type
    names: so says ptxas.
    """
    have, want = DTYPES[register], DTYPES[wanted]
    if register == wanted:
        return True
    if want.kind is Kind.PREDICATE:
        return register == "f16x2"
    if have.kind is Kind.PREDICATE:
        return False
    bits = _register_bits(wanted)
    if wanted == "b128":
        return False
    same = have.bits == bits or (wide and have.bits > bits)
    if want.kind is Kind.BITS and want.fundamental:
        return same
    if want.kind in _INTEGER and want.lanes == 1 and want.fundamental:
        return same and (have.kind is Kind.BITS or have.kind in _INTEGER or register == "f16x2")
    if have.kind is Kind.BITS:
        return same
    if element and wanted in ("f32", "f64") and have.kind in _INTEGER:
        return have.bits == bits
    return register == "f16x2" and want.kind in _INTEGER and bits == 32


def _register_bits(type_: str) -> int:
    """How wide the register is that holds a value of the type."""
    bits = DTYPES[type_].bits
    return 8 if bits < 8 else bits if bits in (8, 16, 32, 64, 128) else 64 if bits > 32 else 32


@cache
def constant_fits(constant: str, wanted: str) -> bool:
    """Whether a constant of that kind may stand for an operand of type `wanted`."""
    want = DTYPES[wanted]
    if constant == "int":
        if want.kind is Kind.PREDICATE:
            return True
        return want.fundamental and (want.kind is Kind.BITS or want.kind in _INTEGER)
    if wanted in ("f32", "f64"):
        return True
    return wanted == ("b64" if constant == "float" else "b32")


def resolve_type(spec: Spec, slots: Mapping[str, str]) -> str | None:
    """The type that a specification asks for under these modifiers."""
    if spec.type is None:
        return None
    type_ = slots.get(spec.type[1:]) if spec.type.startswith(".") else spec.type
    if type_ is None or spec.scale == 1:
        return type_
    dtype = DTYPES[type_]
    return f"{type_[0]}{dtype.bits * spec.scale}"


def resolve_count(spec: Spec, slots: Mapping[str, str]) -> int | None:
    """How many registers a specification asks for, None for a scalar."""
    if "vec" in spec.words:
        vec = slots.get("vec")
        return int(vec[1:]) if vec else None
    if "coordinates" in spec.words:
        four = slots.get("load_mode") in ("tile::gather4", "tile::scatter4")
        return 5 if four else int(slots["dim"][0])
    if "offsets" in spec.words:
        return 2 if slots.get("load_mode", "").startswith("im2col::w") else int(slots["dim"][0]) - 2
    if spec.count is None or isinstance(spec.count, int):
        return spec.count
    symbol, operator, operand = spec.count
    value = _symbol(symbol, slots)
    return value * operand if operator == "*" else value // operand


def _symbol(symbol: str, slots: Mapping[str, str]) -> int:
    if symbol == "num":
        return int(slots["num"][1:])
    if symbol == "group":
        return int(slots["cta_group"][-1])
    shape = slots["shape"]
    start = shape.index(symbol) + 1
    stop = start
    while stop < len(shape) and shape[stop].isdecimal():
        stop += 1
    return int(shape[start:stop])


def fits(spec: Spec, place: Place, kind: OperandKind, slots: Mapping[str, str], written: bool) -> bool:
    """Whether an operand of that kind meets the specification.

    Args:
        spec: what is asked for.
        place: where it stands, for its signs and selectors.
        kind: what is there.
        slots: the form's modifiers.
        written: whether it is a destination, where no constant can stand.
    """
    if kind == "?":
        return True
    words = spec.words
    if kind == "_":
        return "sink" in words
    if isinstance(kind, tuple):
        if kind[0] == "part" and place.selector:
            return fits(spec, Place("plain", place.name), kind[2], slots, written)
        if kind[0] in ("not", "neg"):
            sign = "!" if kind[0] == "not" else "-"
            inner = Place("plain", place.name, selector=place.selector)
            return place.negatable == sign and fits(spec, inner, kind[1], slots, written)
    if words & _GEOMETRIC:
        return _geometry_fits(spec, resolve_type(spec, slots), kind, slots)
    count = resolve_count(spec, slots)
    type_ = resolve_type(spec, slots)
    if kind == "f16x2" and spec.type in ("u32", "s32"):
        return False
    if (
        "loose" in words
        and count is not None
        and not written
        and _scalar_fits(spec, type_, kind, slots, written)
    ):
        return True
    if count is None and "vec" in words and isinstance(kind, tuple) and kind[0] == "{":
        if "loose" in words and len(kind) - 1 in (2, 4):
            return "pred" not in kind
        count = 1  # `ld.b32 {%r}, [a];`
    if count is not None:
        return _vector_fits(count, type_, kind, spec, written)
    return _scalar_fits(spec, type_, kind, slots, written)


_GEOMETRIC = frozenset({"texels", "shifts", "gradients"})
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


def _geometry_fits(spec: Spec, type_: str | None, kind: OperandKind, slots: Mapping[str, str]) -> bool:
    """Vectors may have more elements than the geometry uses; coordinates and offsets may be scalars."""
    assert type_ is not None
    texels, shifts, gradients = GEOMETRY[slots["geom"]]
    if isinstance(kind, str):
        if "shifts" in spec.words:
            return _texel(kind, type_) and not (slots["geom"] == "3d" and kind == "b32")
        elements: tuple = (kind,)
    elif kind[0] in ("v2", "v4"):
        elements = (kind[1],) * int(kind[0][1:])
    elif kind[0] == "{":
        elements = kind[1:]
    else:
        return False
    if "gradients" in spec.words:
        return not isinstance(kind, str) and len(elements) == gradients and _all_texels(elements, type_)
    needed = texels if "texels" in spec.words else shifts
    if not needed or len(elements) < needed or len(elements) not in (1, 2, 4):
        return False
    if "texels" in spec.words and slots["geom"].startswith("a"):
        if len(set(elements[1:])) > 1 and "b32" not in elements[1:]:
            return False
        return _texel(elements[0], "u32") and _all_texels(elements[1:], type_)
    return _all_texels(elements, type_)


def _all_texels(elements: tuple, type_: str) -> bool:
    return all(_texel(element, type_) for element in elements)


def _texel(element: OperandKind, type_: str) -> bool:
    if element == "?":
        return True
    if not isinstance(element, str):
        return False
    if element in CONSTANTS:
        return constant_fits(element, type_)
    return element in DTYPES and register_fits(element, type_)


def _vector_fits(count: int, type_: str | None, kind: OperandKind, spec: Spec, written: bool) -> bool:
    assert type_ is not None
    wide = "wide" in spec.words
    if isinstance(kind, str):
        return False
    if kind[0] == "{":
        return len(kind) - 1 == count and _elements_fit(kind[1:], type_, spec, written)
    if kind[0] == "sreg":
        return "sreg" in spec.words and kind[1] == f"v{count}" and register_fits(kind[2], type_)
    if kind[0] in ("v2", "v4", "v8"):
        return int(kind[0][1:]) == count and register_fits(kind[1], type_, wide, element=True)
    return False


def _elements_fit(elements: tuple, type_: str, spec: Spec, written: bool) -> bool:
    """Whether registers may stand together in a vector: all of one fitting type, or of several types of one
    width, which then count as bits."""
    registers = set()
    for element in elements:
        if element == "_":
            if "sinks" not in spec.words:
                return False
        elif element in CONSTANTS:
            if written or "reg" in spec.words or not constant_fits(element, type_):
                return False
        elif element in DTYPES:
            registers.add(element)
        elif element != "?":
            return False
    if len(registers) > 1:
        widths = {DTYPES[register].bits for register in registers}
        if len(widths) > 1 or "pred" in registers:
            return False
        registers = {f"b{widths.pop()}"}
    if "exact" in spec.words:
        return registers <= {type_}
    if "loose" in spec.words and type_ == "f32":
        type_ = "b32"
    wide, element = "wide" in spec.words, "vec" in spec.words
    return all(register_fits(register, type_, wide, element) for register in registers)


def _scalar_fits(
    spec: Spec, type_: str | None, kind: OperandKind, slots: Mapping[str, str], written: bool
) -> bool:
    words = spec.words
    if "label" in words:
        return kind == "label"
    if "targets" in words and kind == "targets":
        return True
    if "prototype" in words and kind == "prototype":
        return True
    if "any" in words:
        return isinstance(kind, str) and kind in DTYPES and kind != "f16x2"
    if "exact" in words:
        return kind == type_
    if isinstance(kind, str) and kind in DTYPES and "imm" not in words:
        wanted = "pred" if "pred" in words else type_
        if kind == "f16x2" and "pred" in words:
            return False
        if wanted is not None and register_fits(kind, wanted, "wide" in words):
            return True
        if "loose" in words and wanted == "bf16" and kind in ("u16", "s16"):
            return True
    if isinstance(kind, tuple) and kind[0] == "opaque":
        return kind[1] in words
    if written:
        return "pack" in words and isinstance(kind, tuple) and type_ is not None and _unpacks(kind, type_)
    if kind in CONSTANTS and "reg" not in words:
        if "imm" in words and type_ is None:
            return kind == "int"
        wanted = "pred" if "pred" in words else type_
        return (
            wanted is not None
            and constant_fits(str(kind), wanted)
            and not (kind == "float" and "single" in words)
            and not (kind == "0f" and "double" in words)
        )
    if kind == "func":
        return "function" in words or ("imm" not in words and "reg" not in words and type_ is not None)
    if isinstance(kind, tuple):
        if kind[0] == "var":
            return "variable" in words and kind[2:] != ("local",) and _variable_fits(kind[1], spec, slots)
        if kind[0] == "{" or kind[0] in ("v2", "v4", "v8"):
            return "pack" in words and type_ is not None and _packs(kind, type_, written)
        if kind[0] == "sreg":
            return "sreg" in words and _special_fits(
                kind, "pred" if "pred" in words else type_, "wide" in words
            )
    return False


def _variable_fits(space: str, spec: Spec, slots: Mapping[str, str]) -> bool:
    """Whether the address of a variable in `space` is one of the spaces that the specification names."""
    wanted = [slots.get(name[1:], "generic") if name.startswith(".") else name for name in spec.spaces]
    return not wanted or any(same_space(space, name) for name in wanted)


def same_space(variable: str, wanted: str) -> bool:
    """Whether a variable declared in one state space may be addressed as in the other."""
    if wanted == "generic":
        return variable in ("global", "const", "local") or variable.startswith("shared")
    return variable.partition("::")[0] == wanted.partition("::")[0]


def _unpacks(kind: tuple, type_: str) -> bool:
    return kind[0] in ("{", "v2", "v4", "v8") and _packs(kind, type_, True)


def _packs(kind: tuple, type_: str, written: bool) -> bool:
    """Whether the elements of a vector are together as wide as an untyped-bits type (9.7.9.4)."""
    want = DTYPES[type_]
    if want.kind is not Kind.BITS:
        return False
    elements = kind[1:] if kind[0] == "{" else (kind[1],) * int(kind[0][1:])
    if len(elements) not in (1, 2, 4):
        return False
    width = want.bits // len(elements)
    for element in elements:
        if element == "?" or (element == "_" and written):
            continue
        if element in CONSTANTS and not written:
            continue
        if not isinstance(element, str) or element not in DTYPES:
            return False
        if DTYPES[element].bits != width or DTYPES[element].kind is Kind.PREDICATE:
            return False
    return True


def _special_fits(kind: tuple, type_: str | None, wide: bool) -> bool:
    """Whether a special register may be read as that type; `%tid.x` and its like also as 16 bits."""
    if type_ is None or kind[1] == "v4":
        return False
    if kind[-1] == "component" and type_ in ("u16", "s16", "b16"):
        return True
    return register_fits(kind[1], type_, wide)
