"""Why an operand does not fit its place: the smallest part that is wrong, what would fit, what is there."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import Address, Arguments, Instruction, Name, Operand, Pair, Vector
from ptxkit.diagnostics import SpanLabel
from ptxkit.dtypes import DTYPES
from ptxkit.isa.addresses import is_direct
from ptxkit.isa.candidate import Candidate
from ptxkit.isa.match import address_parts, address_spaces, place_fits
from ptxkit.isa.operands import OPAQUE, OperandKind, fits, resolve_count, resolve_type
from ptxkit.isa.places import OperandPlace, Spec
from ptxkit.isa.vectors import vector_type

NARROW = "an address of 64 bits"
"""What is expected where a 32-bit register stands for a generic address, or one in global memory."""
GENERIC = "in global, shared or local memory"
"""What a generic address by name may be."""


def report_misfit(
    context: Context,
    scope: Scope,
    instruction: Instruction,
    candidate: Candidate,
    place: OperandPlace,
    kind: OperandKind,
    operand: Operand,
) -> None:
    """Report an operand that does not fit."""
    written = candidate.form.writes(place)
    place, kind, operand = _smallest(candidate, place, kind, operand)
    code, wanted = _expected(candidate, place, kind, written)
    role = f"`{place.name}` of `{instruction.spelling}`"
    element = _wrong_element(candidate, place, kind, operand, written)
    if element is not None:
        kind, operand = element
        code, wanted, role = "P217", f"a `.{_type(candidate, place)}` register", f"an element of {role}"
    help = f"the form is `{candidate.form.syntax}`"
    if wanted.endswith(GENERIC) and isinstance(kind, tuple) and kind[1] == ("var", "const"):
        help = "name the state space, as in `ld.const`, or make the address generic with `cvta.const`"
    if wanted == NARROW:
        help = "widen it with `cvt.u64.u32`, or name its state space, as in `ld.shared`"
    context.report(
        code,
        f"expected {wanted} as {role}, found {describe(kind, operand)}",
        operand.span or instruction.span,
        labels=_declaration(scope, operand),
        help=help,
    )


def _declaration(scope: Scope, operand: Operand) -> tuple[SpanLabel, ...]:
    """Where the name that is there is declared."""
    while isinstance(operand, Address):
        operand = operand.base
    symbol = scope.lookup(operand.name) if isinstance(operand, Name) else None
    if symbol is None or symbol.span is None:
        return ()
    return (SpanLabel(symbol.span, f"{declared(symbol)} here"),)


def declared(symbol: Symbol) -> str:
    """How a name is declared, in words: "declared `.reg .b32`"."""
    if symbol.kind in (SymbolKind.LABEL, SymbolKind.FUNCTION, SymbolKind.ALIAS):
        return f"a {symbol.kind.value}, declared"
    words = [symbol.space, symbol.vector, symbol.type]
    return f"declared `{' '.join(f'.{word}' for word in words if word)}`"


def _smallest(
    candidate: Candidate, place: OperandPlace, kind: OperandKind, operand: Operand
) -> tuple[OperandPlace, OperandKind, Operand]:
    """The innermost place that does not fit, with what is there."""
    parts: tuple[OperandPlace, ...] = ()
    elements: tuple[Operand, ...] = ()
    kinds: tuple[OperandKind, ...] = ()
    if place.shape == "pair":
        if isinstance(operand, Pair) and isinstance(kind, tuple):
            parts, kinds, elements = place.parts, kind[1:], (operand.first, operand.second)
            for part, half, element in zip(parts, kinds, elements, strict=True):
                if not fits(candidate.form.specs[part.name], part, half, candidate.slots, True):
                    return part, half, element
        return (place.parts[0], kind, operand) if place.parts[1].optional else (place, kind, operand)
    if isinstance(kind, tuple):
        if place.shape == "address" and isinstance(operand, Address) and kind[0] == "[":
            parts, kinds, elements = address_parts(place, kind) or (), kind[4:], operand.rest
        elif (place.shape == "vector" and isinstance(operand, Vector) and kind[0] == "{") or (
            place.shape == "arguments" and isinstance(operand, Arguments) and kind[0] == "("
        ):
            parts, kinds, elements = place.parts, kind[1:], operand.elements
    if len(parts) == len(kinds) == len(elements):
        for part, inner, element in zip(parts, kinds, elements, strict=True):
            if not place_fits(candidate, part, inner):
                return _smallest(candidate, part, inner, element)
    return place, kind, operand


def _wrong_element(
    candidate: Candidate, place: OperandPlace, kind: OperandKind, operand: Operand, written: bool
) -> tuple[OperandKind, Operand] | None:
    """The first element of a vector of the right size that does not belong there."""
    if place.shape != "plain" or not isinstance(operand, Vector) or not isinstance(kind, tuple):
        return None
    spec = candidate.form.specs[place.name]
    elements = kind[1:]
    if resolve_count(spec, candidate.slots) != len(elements):
        return None
    for element, part in zip(elements, operand.elements, strict=True):
        if not fits(spec, place, ("{", *[element] * len(elements)), candidate.slots, written):
            return element, part
    return None


def _type(candidate: Candidate, place: OperandPlace) -> str | None:
    spec = candidate.form.specs[place.name]
    return "pred" if "pred" in spec.words else resolve_type(spec, candidate.slots)


def _expected(candidate: Candidate, place: OperandPlace, kind: OperandKind, written: bool) -> tuple[str, str]:
    """The code of the finding and what would fit, in words."""
    form = candidate.form
    if place.shape == "address":
        if not (isinstance(kind, tuple) and kind[0] == "["):
            return "P216", "an address in brackets"
        if kind[2] == "-":
            return "P216", "an offset added, as in `[a+-4]`"
        if kind[3] and kind[3] != place.suffix:
            return "P216", f"no `.{kind[3]}` after the address"
        wanted = address_parts(place, kind)
        if wanted is None:
            names = ", ".join(part.name for part in place.parts)
            return "P216", f"`[{names}]`"
        spaces = address_spaces(candidate, place)
        if isinstance(kind[1], tuple) and kind[1][0] == "var" and spaces:
            where = [f"in `.{space}`" if space != "generic" else GENERIC for space in spaces]
            return "P219", f"an address {' or '.join(where)}"
        if (
            kind[1] in DTYPES
            and is_direct(candidate.form)
            and DTYPES[kind[1]].bits == 32
            and kind[1][0] in "bus"
        ):
            return "P216", NARROW
        return "P216", "an address in an integer register, or of a variable"
    if place.shape == "pair":
        return "P216", f"`{place.parts[0].name}|{place.parts[1].name}`"
    if place.shape in ("vector", "arguments"):
        return "P220", f"a list of {len(place.parts)}"
    spec = form.specs[place.name]
    if "label" in spec.words:
        return "P207", "a label"
    if "targets" in spec.words:
        return "P207", "the label of a `.branchtargets`"
    if "none" in spec.words:
        return "P216", "`_`"
    if spec.words & {"texels", "shifts", "gradients"}:
        return "P220", f"a vector of `.{_type(candidate, place)}` for `.{candidate.slots['geom']}`"
    type_ = _type(candidate, place)
    count = resolve_count(spec, candidate.slots)
    if count is not None:
        return "P220", f"a vector of {count} `.{type_}` registers"
    if "imm" in spec.words:
        return "P216", constants(spec)
    if spec.words & OPAQUE:
        return "P216", "a texture, sampler or surface, or a `.u64` register with its handle"
    plain = isinstance(kind, str) and kind in DTYPES
    code = "P217" if plain or kind in ("int", "float", "0f") else "P216"
    if type_ == "pred":
        return ("P221" if plain else code), "a predicate"
    register = f"a `.{type_}` register" if type_ else "a register"
    return code, register if written or "reg" in spec.words else f"{register} or constant"


def constants(spec: Spec) -> str:
    """The constants that a place takes, in words."""
    if spec.choices:
        return f"one of {', '.join(map(str, spec.choices))}" if spec.choices[1:] else str(spec.choices[0])
    if spec.low is None:
        return "a constant"
    high = f"`{spec.high}`" if isinstance(spec.high, str) else spec.high
    if isinstance(spec.low, float):
        return f"a constant above {spec.low} and up to {high}"
    return f"{'a constant' if spec.step == 1 else f'a multiple of {spec.step}'} from {spec.low} to {high}"


def describe(kind: OperandKind, operand: Operand) -> str:
    """What an operand is, in words."""
    name = getattr(operand, "name", None)
    quoted = f" `{name}`" if isinstance(name, str) else ""
    if isinstance(kind, str):
        if kind in DTYPES:
            return f"`.{kind}` register{quoted}"
        words = {
            "int": "an integer",
            "float": "a floating-point number",
            "0f": "a single-precision number",
            "func": f"function{quoted}",
            "label": f"label{quoted}",
            "targets": f"label{quoted} of a `.branchtargets`",
            "calltargets": f"label{quoted} of a `.calltargets`",
            "prototype": f"label{quoted} of a `.callprototype`",
            "string": "a string",
            "_": "`_`",
        }
        return words.get(kind, f"`{kind}`")
    head = kind[0]
    if head == "var":
        return f"variable{quoted} in `.{kind[1]}`"
    if head == "sreg":
        return f"special register{quoted}"
    if head == "opaque":
        return f"`.{kind[1]}`{quoted}"
    if head == "{":
        types = list(dict.fromkeys(element for element in kind[1:] if element in DTYPES))
        if vector_type(kind[1:]) is None and len(types) > 1:
            return f"a vector with `.{types[0]}` beside `.{types[1]}` registers"
        return f"a vector of {len(kind) - 1}"
    if head == "[" and kind[1] in DTYPES:
        return f"one in a `.{kind[1]}` register"
    if head == "[":
        inner = getattr(getattr(operand, "base", None), "name", None)
        if isinstance(kind[1], tuple) and kind[1][0] == "var":
            return f"variable `{inner}` in `.{kind[1][1]}`"
        return "an address"
    if head == "|":
        return "a pair"
    if head == "(":
        return "a list of arguments"
    if head == "not":
        return "a negated predicate"
    if head == "neg":
        return "a negated register"
    if head == "part":
        return f"part `.{kind[1]}` of{quoted}"
    if head in ("v2", "v4", "v8"):
        return f"`.{head} .{kind[1]}` register{quoted}"
    return "an expression"
