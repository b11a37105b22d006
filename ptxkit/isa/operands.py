"""Which operands fit which specification: register classes, constants, vectors, addresses. PTX ISA 9.1, 9.4.

An operand's *kind* is all that the rows look at, small and hashable, so that verdicts can be kept:

    "b32"                 a register of that type            ("v4", "f32")        a vector register
    "int" "float" "0f"    constants: an integer, a decimal or `0d`, a `0f` one
    ("not", k) ("neg", k) `!k`, `-k`                          ("part", "b0", k)    `k.b0`
    ("sreg", "u32")       a special register                  ("sreg", "v4", "u32")
    ("var", "shared")     the address of a variable           ("opaque", "texref")
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
from ptxkit.isa.notation import Place, Spec

OperandKind = str | tuple
CONSTANTS = frozenset({"int", "float", "0f"})

_INTEGER = frozenset({Kind.SIGNED, Kind.UNSIGNED})


@cache
def register_fits(register: str, wanted: str, wide: bool = False, element: bool = False) -> bool:
    """Whether a register of type `register` may stand where an instruction of type `wanted` has an operand.

    Args:
        register: the declared type.
        wanted: the instruction's type, perhaps an alternate or packed one.
        wide: the register may be wider (9.4.1).
        element: it is an element of a vector, where a float's place takes integers of its width.

    Untyped bits fit every type of their width; signed and unsigned integers each other; floats only
    themselves. A `.f16x2` register passes for any 32-bit integer, and for a predicate: so says ptxas.
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
    if spec.count is None or isinstance(spec.count, int):
        return spec.count
    symbol, operator, operand = spec.count
    value = _symbol(symbol, slots)
    return value * operand if operator == "*" else value // operand


def _symbol(symbol: str, slots: Mapping[str, str]) -> int:
    if symbol == "num":
        return int(slots["num"][1:])
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
            return place.negatable == sign and fits(spec, Place("plain", place.name), kind[1], slots, written)
    count = resolve_count(spec, slots)
    type_ = resolve_type(spec, slots)
    if count is not None:
        return _vector_fits(count, type_, kind, spec, written)
    return _scalar_fits(spec, type_, kind, written)


def _vector_fits(count: int, type_: str | None, kind: OperandKind, spec: Spec, written: bool) -> bool:
    assert type_ is not None
    wide = "wide" in spec.words
    if isinstance(kind, str):
        return count == 1 and kind in DTYPES and register_fits(kind, type_, wide)
    if kind[0] == "{":
        elements = kind[1:]
        return len(elements) == count and all(
            (element == "_" and "sink" in spec.words)
            or element == "?"
            or (element in DTYPES and register_fits(element, type_, wide, element=True))
            or (
                not written
                and element in CONSTANTS
                and "reg" not in spec.words
                and constant_fits(element, type_)
            )
            for element in elements
        )
    if kind[0] in ("v2", "v4", "v8"):
        return int(kind[0][1:]) == count and register_fits(kind[1], type_, wide, element=True)
    return False


def _scalar_fits(spec: Spec, type_: str | None, kind: OperandKind, written: bool) -> bool:
    words = spec.words
    if "label" in words:
        return kind == "label"
    if "targets" in words and kind == "targets":
        return True
    if "prototype" in words and kind == "prototype":
        return True
    if "any" in words:
        return isinstance(kind, str) and kind in DTYPES
    if isinstance(kind, str) and kind in DTYPES and "imm" not in words:
        wanted = "pred" if "pred" in words else type_
        if wanted is not None and register_fits(kind, wanted, "wide" in words):
            return True
    if written:
        return False
    if kind in CONSTANTS and "reg" not in words:
        if "imm" in words and type_ is None:
            return kind == "int"
        wanted = "pred" if "pred" in words else type_
        return wanted is not None and constant_fits(str(kind), wanted)
    if kind == "func":
        return "function" in words or ("imm" not in words and "reg" not in words and type_ is not None)
    if isinstance(kind, tuple):
        if kind[0] == "var":
            return "variable" in words
        if kind[0] == "sreg":
            return "sreg" in words and len(kind) == 2 and type_ is not None and register_fits(kind[1], type_)
        if kind[0] == "opaque":
            return "opaque" in words
    return False
