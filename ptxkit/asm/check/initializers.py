"""Initial values of variables. PTX ISA 5.4.4."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.constants import literal_kind, overflows
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.conditions import Availability

INITIALIZED = ("global", "const")
"""State spaces whose variables may have an initial value; addresses in one are of these, too."""
ADDRESSES = ("u32", "u64")
"""Types that hold the address of a variable or function."""
MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))
MASK = Availability.parse("7.1")
"""From when on there are masks."""
MASKED = ("u8", "u16", "u32", "u64")
"""Types that hold a byte of an address, `0xff00(a)`."""


_EXTENTS = ("width", "height", "depth", "channel_data_type", "channel_order")
_SAMPLING = ("filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2")
FIELDS: dict[str, tuple[str, ...]] = {
    "texref": (*_EXTENTS, "normalized_coords", *_SAMPLING, "array_size", "num_mipmap_levels", "num_samples"),
    "samplerref": ("force_unnormalized_coords", *_SAMPLING),
    "surfref": (*_EXTENTS, "array_size", "memory_layout"),
}
"""The members of the opaque types. PTX ISA 5.3, tables 10 and 11."""
FIELD_WORDS = ("nearest", "linear", "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border")


def check_initializer(
    context: Context, variable: tree.Variable, declarator: tree.Declarator, scope: Scope | None
) -> None:
    """Check the initial value of one declared name."""
    value = declarator.initializer
    if value is None:
        return
    if variable.space not in INITIALIZED:
        context.report(
            "P226",
            f"`{declarator.name}` in `.{variable.space}` can't have an initial value",
            value.span or variable.span,
            help="only `.global` and `.const` variables do; store the value when the kernel begins",
        )
        return
    if variable.type in ("f16", "f16x2") and not (isinstance(value, tree.Vector) and not value.elements):
        context.report(
            "P226",
            f"`{declarator.name}` of type `.{variable.type}` can't have an initial value",
            value.span or variable.span,
            help=f"declare it as `.b{DTYPES[variable.type].bits}` and give its bits",
        )
        return
    lanes = (int(variable.vector[1:]),) if variable.vector else ()
    dimensions = declarator.dimensions
    if dimensions and not dimensions[0]:  # As large as its list, which `[0]` says to ptxas, too.
        dimensions = (None, *dimensions[1:])
        if isinstance(value, tree.Vector) and not value.elements:
            message = f"`{declarator.name}` has no size and no values"
            context.report("P226", message, value.span or variable.span, help="give one of them")
            return
    _check(context, variable, (*dimensions, *lanes), value, scope, bool(lanes))


def _check(
    context: Context,
    variable: tree.Variable,
    dimensions: tuple[int | None, ...],
    value: tree.Operand,
    scope: Scope | None,
    vector: bool,
) -> None:
    span = value.span or variable.span
    if dimensions and not isinstance(value, tree.Vector):
        context.report("P226", "expected values in braces for an array", span, help="write `{value, value}`")
        return
    if not isinstance(value, tree.Vector):
        _check_value(context, variable, value, scope)
        return
    if not dimensions and variable.type in FIELDS:
        _check_fields(context, variable, value)
        return
    if not dimensions:
        context.report("P226", "expected a single value, found a list", span, help="leave the braces out")
        return
    size, *inner = dimensions
    exact = vector and not inner
    if size is not None and (len(value.elements) > size or (exact and len(value.elements) != size)):
        context.report(
            "P226",
            f"expected {'' if exact else 'at most '}{counted(size, 'value')}, found {len(value.elements)}",
            span,
            help="take values away, or make the array larger",
        )
        return
    found, elements = len(context.found), value.elements
    if not inner and all(type(element) is tree.Integer for element in elements):
        elements = elements[:1]  # What is wrong with one of them is wrong with each.
    for element in elements:
        _check(context, variable, tuple(inner), element, scope, vector)
        if len(context.found) > found:
            return  # One finding a list: tables are long.


def _check_fields(context: Context, variable: tree.Variable, value: tree.Vector) -> None:
    """The named members of a texture, sampler or surface: `{filter_mode = linear}`. PTX ISA 5.3.2."""
    known = FIELDS[variable.type]
    for element in value.elements:
        span = element.span or value.span or variable.span
        if not isinstance(element, tree.Binary) or element.operator != "=":
            message = f"expected a named member of `.{variable.type}`"
            context.report("P226", message, span, help="write `filter_mode = linear`")
            return
        name, given = element.left, element.right
        assert isinstance(name, tree.Name)
        if name.name not in known:
            message = f"`.{variable.type}` has no member `{name.name}`"
            context.warn("P226", message, span, help=f"its members are {', '.join(known)}")
        if isinstance(given, tree.Name) and given.name not in FIELD_WORDS:
            message = f"expected a number or one of {', '.join(FIELD_WORDS)}, found `{given.name}`"
            context.report("P226", message, span, help="the words are those of filter and address modes")
            return


def _check_value(context: Context, variable: tree.Variable, value: tree.Operand, scope: Scope | None) -> None:
    while isinstance(value, tree.Parenthesized):
        value = value.inner
    dtype = DTYPES.get(variable.type)
    if dtype is None:
        return
    address = _address(value)
    if address is not None:
        if scope is not None:
            _check_address(context, variable, value, address, scope)
        return
    wanted = None
    kind = literal_kind(value)
    literal = value.operand if isinstance(value, tree.Unary) else value
    if isinstance(literal, tree.Float) and overflows(literal):
        wanted = "a normal 64-bit number"
    elif kind == "":
        wanted = "operands of one kind, integers or floating-point numbers,"
    elif kind == "int" and dtype.kind in (Kind.FLOAT, Kind.OPAQUE):
        wanted = "a floating-point number, as in `1.0`" if dtype.kind is Kind.FLOAT else "no number"
    elif kind == "float" and dtype.kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.OPAQUE):
        wanted = "an integer"
    if wanted is not None:
        context.report(
            "P226",
            f"expected {wanted} for `.{variable.type}`",
            value.span or variable.span,
            help="write the value in the variable's own type",
        )


def _address(value: tree.Operand) -> tree.Name | None:
    """The name whose address a value is."""
    if isinstance(value, tree.Binary):
        return _address(value.left)
    if isinstance(value, tree.Generic):
        return _address(value.operand)
    return value if isinstance(value, tree.Name) and value.name != "WARP_SZ" else None


def _check_address(
    context: Context, variable: tree.Variable, value: tree.Operand, name: tree.Name, scope: Scope
) -> None:
    symbol = scope.lookup(name.name)
    span = name.span or value.span or variable.span
    if symbol is None:
        context.report(
            "P201",
            f"`{name.name}` is not declared",
            span,
            help="declare a variable before its address is taken",
        )
        return
    inner = value.operand if isinstance(value, tree.Generic) else value
    if isinstance(inner, tree.Binary) and literal_kind(inner.right) != "int":
        _report(context, symbol, span, "expected an integer as offset of an address", "write whole bytes")
        return
    function = symbol.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS)
    if not function and symbol.space not in INITIALIZED:
        _report(
            context,
            symbol,
            span,
            f"the address of `{name.name}` in `.{symbol.space}` is no constant",
            "addresses in `.global` and `.const` are the only ones known when a module is loaded",
        )
        return
    if function and value is not name and (variable.type == "u16" or not _is_mask_of(value, name)):
        message = f"expected nothing but a mask of one byte beside the function `{name.name}`"
        _report(context, symbol, span, message, f"write `{name.name}` alone, or `0xff({name.name})`")
        return
    mask = value.operator if isinstance(value, tree.Generic) else None
    masked = isinstance(mask, tree.Integer)
    if masked and not MASK.met(context.version, context.target):
        report_need(context, "a mask in an initial value", span, MASK)
        return
    if isinstance(mask, tree.Integer) and mask.value not in MASKS:
        message = f"expected a mask of one byte, found {mask.text}"
        _report(context, symbol, mask.span or span, message, "write `0xff`, `0xff00`, `0xff0000`, ..")
        return
    if variable.type not in (MASKED if masked else ADDRESSES):
        types = " or ".join(f"`.{type_}`" for type_ in (MASKED if masked else ADDRESSES))
        message = f"expected {types} to hold an address, found `.{variable.type}`"
        _report(context, symbol, span, message, "declare the variable with such a type")


def _is_mask_of(value: tree.Operand, name: tree.Name) -> bool:
    """Whether it is `0xff(name)`."""
    return (
        isinstance(value, tree.Generic) and isinstance(value.operator, tree.Integer) and value.operand is name
    )


def _report(context: Context, symbol: Symbol, span: object, message: str, help: str) -> None:
    labels = label_at(symbol.span, "declared here")
    context.report("P226", message, span, labels=labels, help=help)  # type: ignore[arg-type]
