"""Which operands fit which specification: register classes, constants, vectors, addresses. PTX ISA 9.1, 9.4.

Rows look at an operand's *kind* only, which is small and hashable, so that verdicts can be kept:

    "b32"                 a register of that type            ("v4", "f32")        a vector register
    "int" "float" "0f"    constants: an integer, a decimal or `0d`, a `0f` one
    ("not", k) ("neg", k) `!k`, `-k`                          ("part", "b0", k)    `k.b0`
    ("sreg", "u32")       a special register                  ("sreg", "v4", "u32"), ("sreg", "u32", "component"),
                                                              ("sreg", "u64", "narrow")
    ("offset", k)         `k+4` outside of brackets           ("expression",)  any other expression of names
    ("var", "shared")     the address of a variable           ("opaque", "texref")
    ("var", "global", "unified")  of a variable with that attribute
    ("var", "param", "in")  of a parameter: `in`, `out` of the function itself, `local` for a call
    "func" "label" "targets" "prototype" "string" "_"
    ("{", k, ..)  ("|", k, k)  ("(", k, ..)                   vectors, pairs, arguments
    ("[", base, offset, suffix, k, ..)                        an address: kind of the base, `+`, `-` or None, a
                                                              modifier after it or None, what follows a comma
    "?"                   a name that is not declared: reported already, so it fits everywhere
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.compressed import COMPRESSED, compressed_count
from ptxkit.isa.places import OperandPlace, Spec
from ptxkit.isa.registers import INTEGER, constant_fits, register_bits, register_fits
from ptxkit.isa.texels import GEOMETRIC, geometry_fits
from ptxkit.isa.vectors import CONSTANTS, SPECIAL, vector_type

OperandKind = str | tuple
OPAQUE = frozenset({"texref", "samplerref", "surfref"})
VECTORS = frozenset({"vec", "pack", "coordinates", "offsets"}) | GEOMETRIC | COMPRESSED
"""Words of operands that may be vectors without a count of their own."""
LONGEST = 256
"""Bits of the longest access."""
FOURS = frozenset({"e4m3x4", "e5m2x4"})
"""Types that only instructions have, of which `untyped` takes any 32 bits."""
FLOATS = frozenset({"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"})


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
    if words := spec.words & COMPRESSED:
        return compressed_count(next(iter(words)), slots)
    if spec.count is None or isinstance(spec.count, int):
        return spec.count
    symbol, operator, operand = spec.count
    value = _symbol(symbol, slots)
    if operator == "-":
        return value - operand
    return value * operand if operator == "*" else value // operand


def _symbol(symbol: str, slots: Mapping[str, str]) -> int:
    if symbol == "dim":
        return int(slots["dim"][0])
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


def fits(spec: Spec, place: OperandPlace, kind: OperandKind, slots: Mapping[str, str], written: bool) -> bool:
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
    alone = kind[0] not in ("{", "offset") or "lone" not in words
    if "anytype32" in words and alone and _anytype32_fits(kind, written):
        return True
    if isinstance(kind, tuple):
        if kind[0] == "part" and place.selector:
            return fits(spec, OperandPlace("plain", place.name), kind[2], slots, written)
        if kind[0] in ("not", "neg"):
            sign = "!" if kind[0] == "not" else "-"
            inner = OperandPlace("plain", place.name, selector=place.selector)
            return (
                place.negatable == sign and kind[1] != "f16x2" and fits(spec, inner, kind[1], slots, written)
            )
    if words & GEOMETRIC:
        return geometry_fits(spec, resolve_type(spec, slots), kind, slots)
    count = resolve_count(spec, slots)
    type_ = resolve_type(spec, slots)
    if kind == "f16x2" and spec.type in ("u32", "s32") and spec.type not in slots and "bits" not in words:
        return False
    if isinstance(kind, tuple) and kind[0] == "|" and kind[2] == "_" != kind[1]:
        first = (written and "write" not in words) or words & {"label", "read"}
        return bool(first) and isinstance(kind[1], str) and fits(spec, place, kind[1], slots, written)
    if "braced" in words and isinstance(kind, tuple) and kind[0] == "{":
        assert type_ is not None
        return len(kind) - 1 in (1, 2, 4) and elements_fit(kind[1:], type_, spec, written)
    if (
        "loose" in words
        and count is not None
        and not written
        and _scalar_fits(spec, type_, place, kind, slots, written)
    ):
        return True
    if count is None and "vec" in words and isinstance(kind, tuple) and kind[0] == "{":
        if "loose" in words and len(kind) - 1 in (2, 4):
            return "pred" not in kind and not (written and CONSTANTS.intersection(kind))
        count = 1  # `ld.b32 {%r}, [a];`
    if count is not None:
        return _vector_fits(count, type_, kind, spec, written)
    return _scalar_fits(spec, type_, place, kind, slots, written)


def _vector_fits(count: int, type_: str | None, kind: OperandKind, spec: Spec, written: bool) -> bool:
    assert type_ is not None
    wide = "wide" in spec.words
    if isinstance(kind, str):
        return False
    if kind[0] == "{":
        return len(kind) - 1 == count and elements_fit(kind[1:], type_, spec, written)
    if kind[0] == "sreg":
        return "sreg" in spec.words and kind[1] == f"v{count}" and register_fits(kind[2], type_)
    if kind[0] in ("v2", "v4", "v8"):
        return int(kind[0][1:]) == count and register_fits(kind[1], type_, wide, element=True)
    return False


def elements_fit(elements: tuple, type_: str, spec: Spec, written: bool) -> bool:
    """Whether what stands in braces fits as one vector of that type.

    `_` may stand for some elements of a vector that is written; for the longest accesses ptxas also takes it in
    what they store.
    """
    words = spec.words
    wide = "vec" in words and DTYPES[type_].bits * len(elements) == LONGEST
    if "_" in elements and ((not written and not wide) or "whole" in words):
        return False
    if "vec" in words and "int" in elements:
        if type_ in FLOATS and "int" in elements[1:] and "untyped" not in words and not wide:
            return False  # ptxas crashes.
        if type_ == "f16x2" and elements[0] == "int":
            return False
    half = "vec" in words and type_ in ("f16", "f16x2")
    if half and elements[0] in ("float", "0f") and not CONSTANTS.issuperset(elements):
        return False
    if not CONSTANTS.isdisjoint(elements) and (written or "reg" in words):
        return False
    found = vector_type(elements)
    if "plain" in words and any(e == "pred" or e[0] == "sreg" for e in elements):
        return False
    if found == "any" and spec.count is not None:
        return all(e not in DTYPES or DTYPES[e].bits == register_bits(type_) for e in elements)
    if found is None or found in ("?", "_", "any"):
        return found == "?" or (found == "any" and "braced" not in words)
    if found == "int" and type_ == "f64" and (wide or "untyped" in words):
        return True
    if found in CONSTANTS:
        if spec.count is not None and (found == "float" or type_ in ("b32", "f64")):
            return type_ == "f64"
        return constant_fits(found, type_)
    if found.startswith(SPECIAL):
        return register_fits(f"b{found.removeprefix(SPECIAL)}", type_, "wide" in words)
    if "exact" in words:
        return found == type_
    if "loose" in words and type_ == "f32":
        type_ = "b32"
    if "short" in words and found.endswith("16"):
        type_ = "b16"
    if "untyped" in words and not DTYPES[type_].fundamental:
        type_ = f"b{register_bits(type_)}"
    return register_fits(found, type_, "wide" in words, bool(words & {"vec", "braced", "untyped"}))


def _scalar_fits(
    spec: Spec,
    type_: str | None,
    place: OperandPlace,
    kind: OperandKind,
    slots: Mapping[str, str],
    written: bool,
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
        sum_ = kind[1] if kind[0] == "offset" and not written else None
        # Beside a number ptxas takes a special register for untyped bits.
        return type_ in (kind, sum_) or (
            type_ in ("u32", "b32") and sum_ in ("b32", ("sreg", "u32"), ("sreg", "b32"))
        )
    if isinstance(kind, str) and kind in DTYPES and "imm" not in words:
        if kind == "b128" and "called" in words:
            return False
        wanted = "pred" if "pred" in words else type_
        if kind == "f16x2" and "pred" in words:
            return False
        if wanted is not None and register_fits(kind, wanted, "wide" in words):
            return True
        if "bits" in words and wanted is not None:
            return kind != "pred" and DTYPES[kind].bits == register_bits(wanted)
        if "untyped" in words and wanted in FOURS:
            return DTYPES[kind].bits == 32 or (written and kind == "pred")
    if isinstance(kind, tuple) and kind[0] == "opaque":
        return kind[1] in words
    if written:
        return "pack" in words and isinstance(kind, tuple) and type_ is not None and _unpacks(kind, type_)
    if kind in CONSTANTS and "reg" not in words:
        if "imm" in words and type_ is None:
            return kind == "int"
        wanted = "pred" if "pred" in words else type_
        if "untyped" in words and wanted in FOURS:
            wanted = "b32"
        return (
            wanted is not None
            and (constant_fits(str(kind), wanted) or (kind == "0f" and "bits" in words))
            and not (kind == "float" and "single" in words)
            and not (kind == "0f" and "double" in words)
        )
    if kind == "func":
        if "function" in words:
            return True
        if words & {"reg", "wide"} and "vec" not in words:
            return False  # `cvt` of a function's address crashes ptxas.
        return not spec.spaces and "read" not in words and _of_instruction(spec, type_, slots)
    if isinstance(kind, tuple):
        if kind[0] == "offset":
            if "imm" in words or place.selector or ("reg" in words and not words & {"pred", "sum"}):
                return False
            return _sum_fits(kind[1], type_, spec, slots)
        if kind[:2] == ("var", "global") and type_ is not None and DTYPES[type_].bits == 32:
            return False  # Global memory has 64-bit addresses.
        if kind[0] == "var":
            return "variable" in words and kind[2:] != ("local",) and _variable_fits(kind[1], spec, slots)
        if kind[0] == "{" or kind[0] in ("v2", "v4", "v8"):
            return "pack" in words and type_ is not None and _packs(kind, type_, written)
        if kind[0] == "sreg":
            return "sreg" in words and _special_fits(
                kind, "pred" if "pred" in words else type_, "wide" in words
            )
    return False


def _of_instruction(spec: Spec, type_: str | None, slots: Mapping[str, str]) -> bool:
    """Whether ptxas takes the type from the instruction's modifiers, and so checks less strictly."""
    if type_ is None:
        return False
    dtype = DTYPES[type_]
    given = (spec.type or "").startswith(".") or (type_ in slots and (dtype.is_float or "wide" in spec.words))
    return given and (dtype.fundamental or type_ in ("f32x2", "u16x2", "s16x2"))


def _anytype32_fits(kind: OperandKind, written: bool) -> bool:
    """Whether it fits where ptxas takes any 32 bits: a register, a predicate or `0f`."""
    if isinstance(kind, str):
        return (
            kind == "pred" or (kind in DTYPES and DTYPES[kind].bits == 32) or (kind == "0f" and not written)
        )
    if kind[0] == "{":
        found = vector_type(kind[1:])
        return (found == "any" and not written) or (found is not None and _anytype32_fits(found, written))
    if written:
        return False
    if kind[0] == "offset":
        inner = kind[1]
        return inner[0] in ("var", "opaque", "sreg") or (inner != "0f" and _anytype32_fits(inner, written))
    return kind == ("not", "pred")


def _sum_fits(base: OperandKind, type_: str | None, spec: Spec, slots: Mapping[str, str]) -> bool:
    """Whether `r+1` or `v+4` may stand as a source. The manual has `v+4` for `mov` and addresses only; ptxas takes both
    as arithmetic, and of any width if the instruction gives the type."""
    if base == "?":
        return True
    if "pred" in spec.words or type_ == "pred":
        return base == "pred" or base[:2] == ("sreg", "pred")
    if type_ is None:
        return False
    want = DTYPES[type_]
    if isinstance(base, tuple):
        if base[0] == "var" and "variable" in spec.words:
            return base[2:] != ("local",) and _variable_fits(base[1], spec, slots)
        if base[0] == "sreg":
            if base[-1] == "component" or base[1] in ("v4", "pred"):
                return False
            return _sum_fits(f"b{DTYPES[base[1]].bits}", type_, spec, slots)
        if base[0] not in ("var", "opaque"):
            return False
        if want.lanes > 1 or not (want.kind is Kind.BITS or want.kind in INTEGER):
            return False
        return want.bits == 32 or (want.bits < 128 and _of_instruction(spec, type_, slots))
    have = DTYPES.get(base)
    if have is None or have.kind is Kind.PREDICATE:
        return False
    if type_ == "bf16":
        return have.bits == 16 and (have.kind is Kind.BITS or ("loose" in spec.words and have.is_integer))
    if have.bits != register_bits(type_) and not _of_instruction(spec, type_, slots):
        return False
    if want.kind is Kind.BITS or have.kind is Kind.BITS:
        return True
    if want.kind in INTEGER and want.lanes == 1:
        return have.kind in INTEGER
    return want.lanes == 1 and have.is_float and have.lanes == 1


def _variable_fits(space: str, spec: Spec, slots: Mapping[str, str]) -> bool:
    """Whether the address of a variable in `space` is one of the spaces that the specification names."""
    wanted = [slots.get(name[1:], "generic") if name.startswith(".") else name for name in spec.spaces]
    return not wanted or any(same_space(space, name) for name in wanted)


def same_space(variable: str, wanted: str) -> bool:
    """Whether a variable declared in one state space may be addressed as in the other."""
    if wanted == "generic":
        return variable in ("global", "local") or variable.startswith("shared")
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
    special = any(isinstance(element, tuple) and element[0] == "sreg" for element in elements)
    if special and written:
        return False
    if CONSTANTS.issuperset(elements):
        widths = {"int": width, "float": 64, "0f": 32}
        return not written and widths.get(vector_type(elements) or "") == width
    for element in elements:
        if element == "?" or (element == "_" and written):
            continue
        if element in CONSTANTS and not written and not special:
            continue
        if isinstance(element, tuple) and element[0] == "sreg":
            element = element[1]
        if not isinstance(element, str) or element not in DTYPES:
            return False
        if DTYPES[element].bits != width or DTYPES[element].kind is Kind.PREDICATE:
            return False
    return True


def _special_fits(kind: tuple, type_: str | None, wide: bool) -> bool:
    """Whether a special register may be read as that type; `%tid.x` and its like also as 16 bits, `%gridid` as
    16 and 32."""
    if type_ is None or kind[1] == "v4":
        return False
    if kind[-1] == "component" and type_ in ("u16", "s16", "b16"):
        return True
    if kind[-1] == "narrow" and DTYPES[type_].bits in (16, 32) and not DTYPES[type_].is_float:
        return True
    return register_fits(kind[1], type_, wide)
