"""Checks `call` against the callee's declaration, and the names in `.calltargets` and `.branchtargets`.

PTX ISA 9.7.12.5, 11.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptxkit.asm import tree
from ptxkit.asm.check.context import Context, did_you_mean, label_at
from ptxkit.asm.check.places import modifier_span, spelling_span
from ptxkit.asm.constants import overflows
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind, listed
from ptxkit.diagnostics import Span, SpanLabel
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.operands import OperandKind
from ptxkit.isa.special_registers import SPECIAL_REGISTERS


class CallSignature(NamedTuple):
    """What a callee gives and takes."""

    returns: tuple[tree.Variable, ...]
    parameters: tuple[tree.Variable, ...]


def check_call(context: Context, call: tree.Instruction, scope: Scope) -> None:
    """Check one `call`: its shape, what it calls, and its arguments."""
    source = context.module.source
    for modifier in call.modifiers:
        if modifier != "uni":
            context.report(
                "P213",
                f"`call` takes no modifier `.{modifier}`",
                modifier_span(call, modifier, source),
                help="the only one is `.uni`",
            )
    operands = list(call.operands)
    returns: tree.Arguments | None = None
    arguments: tree.Arguments | None = None
    if operands and isinstance(operands[0], tree.Arguments):
        returns = operands.pop(0)  # type: ignore[assignment]
    target = operands.pop(0) if operands else None
    if operands and isinstance(operands[0], tree.Arguments):
        arguments = operands.pop(0)  # type: ignore[assignment]
    label = operands.pop(0) if operands else None
    if (
        operands
        or not isinstance(target, tree.Name)
        or (label is not None and not isinstance(label, tree.Name))
    ):
        context.report(
            "P208",
            "expected `call (return), function, (arguments)`",
            spelling_span(call, source),
            help="an indirect call has the label of a `.calltargets` or `.callprototype` at its end",
        )
        return
    callee = scope.lookup(target.name)
    if callee is None:
        if target.name == "_" or target.name in SPECIAL_REGISTERS:
            message = f"expected a function or a register with its address, found `{target.name}`"
            context.report("P208", message, target.span)
        return
    signature = _signature(context, call, target, callee, label, scope)
    if signature is not None:
        _check_arguments(context, call, target, signature, returns, arguments, scope)


def _signature(
    context: Context,
    call: tree.Instruction,
    target: tree.Name,
    callee: Symbol,
    label: tree.Name | None,
    scope: Scope,
) -> CallSignature | None:
    """What the callee takes and gives; None, after a report, where it can't be called."""
    if callee.kind is SymbolKind.ALIAS:
        return None
    function = callee.declaration
    if isinstance(function, tree.Function) and function.kind != "entry":
        if label is None:
            return CallSignature(function.returns, function.parameters)
        message = f"`{target.name}` is called directly, and `{label.name}` is for a call through a register"
        context.report("P208", message, label.span, help=f"leave `{label.name}` out")
        return None
    if why := _not_called(callee, target.name):
        entry = callee.kind is SymbolKind.FUNCTION
        help = "a kernel is launched, not called; make it a `.func`" if entry else None
        context.report("P208", why, target.span, labels=_declared(callee), help=help)
        return None
    label_symbol = scope.lookup(label.name) if label else None
    if label is not None and label_symbol is None:
        return None  # `_Body.finish` reports undeclared names.
    table = _function_table(label_symbol, scope)
    if table:
        return _first_signature(table, scope)
    stands_for = label_symbol.label_of if label_symbol is not None else None
    if isinstance(stands_for, tree.Prototype):
        return CallSignature(stands_for.returns, stands_for.parameters)
    if stands_for is not None and stands_for.name == "calltargets":
        return _first_signature(stands_for.arguments, scope)
    context.report(
        "P208",
        "an indirect call needs the label of a `.calltargets` or `.callprototype`",
        (label or target).span,
        help="name it as the last operand: `call %rd1, (x), prototype_0;`",
    )
    return None


def _not_called(callee: Symbol, name: str) -> str | None:
    """What is wrong with calling an entry, or something else that is no function; None for an address."""
    if callee.kind is SymbolKind.FUNCTION:
        return f"expected a `.func` to call, found `.entry` `{name}`"
    if callee.kind is not SymbolKind.REGISTER:
        return f"expected a function or a register with its address, found {callee.kind.value} `{name}`"
    dtype = DTYPES.get(callee.type)
    wrong = dtype is None or dtype.kind in (Kind.FLOAT, Kind.PREDICATE) or dtype.bits not in (32, 64)
    if wrong or callee.vector:
        return f"expected a register with a function's address, found `.{callee.type}` register `{name}`"
    return None


def _function_table(symbol: Symbol | None, scope: Scope) -> tuple[tree.Name, ...]:
    """The functions in an array that a call may name in place of a list; none where it is no such array."""
    declarator = symbol.declarator if symbol is not None and symbol.kind is SymbolKind.VARIABLE else None
    if declarator is None or len(declarator.dimensions) != 1:
        return ()
    held = declarator.initializer.elements if isinstance(declarator.initializer, tree.Vector) else ()
    names = tuple(element for element in held if isinstance(element, tree.Name))
    found = [scope.lookup(name.name) for name in names]
    functions = all(f is not None and f.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS) for f in found)
    return names if functions and len(names) == len(held) else ()


def _first_signature(listed: Sequence[tree.Node], scope: Scope) -> CallSignature | None:
    """That of the first function in a list."""
    first = listed[0] if listed else None
    known = scope.lookup(first.name) if isinstance(first, (tree.Name, tree.Declarator)) else None
    if known is not None and isinstance(known.declaration, tree.Function):
        return CallSignature(known.declaration.returns, known.declaration.parameters)
    return None


def _check_arguments(
    context: Context,
    call: tree.Instruction,
    target: tree.Name,
    signature: CallSignature,
    returns: tree.Arguments | None,
    arguments: tree.Arguments | None,
    scope: Scope,
) -> None:
    for formal, actual, what in (
        (signature.returns, returns.elements if returns else (), "return value"),
        (signature.parameters, arguments.elements if arguments else (), "argument"),
    ):
        if len(formal) != len(actual):
            context.report(
                "P209",
                f"expected {len(formal)} {what}{'' if len(formal) == 1 else 's'} of `{target.name}`, "
                f"found {len(actual)}",
                spelling_span(call, context.module.source),
                help=f"it is declared as `{_show(target.name, signature)}`",
            )
            continue
        for parameter, argument in zip(formal, actual, strict=True):
            why = _misfit(context, parameter, argument, scope, what == "return value")
            if why is not None:
                found, labels, help = why
                context.report(
                    "P209",
                    f"expected {_wanted(parameter)} as `{parameter.name}` of `{target.name}`, found {found}",
                    argument.span or call.span,
                    labels=labels,
                    help=help or f"the function is declared as `{_show(target.name, signature)}`",
                )


Misfit = tuple[str, tuple[SpanLabel, ...], str | None]
"""What was found, labels, and a help line (None: show the declaration)."""


def _misfit(
    context: Context, parameter: tree.Variable, argument: tree.Operand, scope: Scope, returned: bool
) -> Misfit | None:
    """Why this can't be passed for a parameter, or hold what is returned; None where it can."""
    while isinstance(argument, tree.Parenthesized):
        argument = argument.inner
    if isinstance(argument, tree.Name):
        return _misfit_of_name(parameter, argument, scope, returned)
    kind = Names(scope).kind(argument)
    if kind not in ("int", "float", "0f"):
        what = _SHAPES.get(type(argument), "an expression")
        return what, (), "compute it into a register, and pass that"
    if isinstance(argument, tree.Float) and overflows(argument):
        return f"`{argument.text}`, which overflows or underflows a double", (), "write its bits: `0d..`"
    if not _constant_fits(parameter, kind):
        return "an integer constant" if kind == "int" else "a floating-point constant", (), None
    if parameter.vector and not returned:
        message = (
            f"one constant is passed as the whole vector `{parameter.name}`; the manual does not list it"
        )
        context.warn("P222", message, argument.span, help="pass a vector register")
    if kind == "float" and parameter.type in ("b8", "b16", "b32") and not parameter.vector:
        message = (
            f"a floating-point constant is passed for `.{parameter.type}`; "
            "ptxas passes the low bits of its 64-bit pattern"
        )
        context.warn(
            "P222", message, argument.span, help="write the bits that you mean: `0x3f800000`, `0f3f800000`"
        )
    if returned and kind == "int":
        return "a constant", (), "name a register"
    if returned:
        message = f"a constant stands where return value `{parameter.name}` goes; the manual does not list it"
        context.warn("P222", message, argument.span, help="name a register, or `_`")
    return None


def _misfit_of_name(parameter: tree.Variable, name: tree.Name, scope: Scope, returned: bool) -> Misfit | None:
    symbol = scope.lookup(name.name)
    if name.component is not None:
        whole = "it" if name.name in SPECIAL_REGISTERS else "the element"
        return f"`{name.name}.{name.component}`", (), f"move {whole} to a register first"
    if symbol is None:
        if name.name == "_" and not returned:
            return "`_`", (), "pass a value; only what is returned can be discarded"
        if name.name == "WARP_SZ" and not _constant_fits(parameter, "int"):
            return "an integer constant", (), None
        special = name.name in SPECIAL_REGISTERS
        return (f"special register `{name.name}`", (), "move it to a register first") if special else None
    if symbol.kind is SymbolKind.PARAMETER:
        help = f"copy it by `ld.param` and `st.param` to a `{_show_variable(parameter)}` of this function"
        return f"formal parameter `{symbol.name}`", _declared(symbol), help
    if not isinstance(symbol.declaration, tree.Variable) or symbol.space not in ("reg", "param"):
        where = f" in `.{symbol.space}`" if symbol.space else ""
        return f"{symbol.kind.value} `{symbol.name}`{where}", _declared(symbol), None
    return (
        None if _argument_fits(parameter, symbol) else (f"`{_show_symbol(symbol)}`", _declared(symbol), None)
    )


def _constant_fits(parameter: tree.Variable, kind: OperandKind) -> bool:
    """Whether a constant is a value of a parameter's type: no array, no predicate.

    A vector takes one that has as many bits as all of it: `0f` literals have 32, all others 64.
    """
    dtype = DTYPES.get(parameter.type)
    if parameter.declarators[0].dimensions or dtype is None:
        return False
    if parameter.vector or dtype.lanes > 1:
        lanes = int(parameter.vector[1:]) if parameter.vector else 1
        return dtype.bits * lanes == (32 if kind == "0f" else 64)
    if dtype.kind is Kind.BITS:
        return True
    return dtype.is_integer if kind == "int" else dtype.is_float


def _wanted(parameter: tree.Variable) -> str:
    return f"`{_show_variable(parameter)}`"


_SHAPES: dict[type, str] = {
    tree.Vector: "a vector",
    tree.Address: "an address",
    tree.String: "a string",
    tree.Pair: "a pair",
}


def _argument_fits(parameter: tree.Variable, symbol: Symbol) -> bool:
    """Whether what is passed has the size, alignment and a type that fits the parameter's."""
    want, have = DTYPES.get(parameter.type), DTYPES.get(symbol.type)
    if want is None or have is None:
        return True
    dimensions = parameter.declarators[0].dimensions
    actual = symbol.declarator.dimensions if symbol.declarator else ()
    if bool(dimensions) != bool(actual):
        return False
    if parameter.vector or symbol.vector:
        if dimensions:
            return False
        # A vector register is passed as so many bits, and fits a scalar or another vector of as many.
        return want.bits * _lanes(parameter.vector) == have.bits * _lanes(symbol.vector)
    if dimensions:
        if {want.lanes, have.lanes} != {1} or Kind.OPAQUE in (want.kind, have.kind):
            return False  # ptxas compares arrays of simple elements alone.
        if _elements(dimensions) * want.bits != _elements(actual) * have.bits and None not in dimensions:
            return False
    elif want.bits != have.bits:
        return False
    declaration = symbol.declaration
    assert isinstance(declaration, tree.Variable)
    aligned = max(parameter.align or 1, want.bytes) == max(declaration.align or 1, have.bytes)
    if parameter.space == "param" and not aligned:
        return False
    if Kind.BITS in (want.kind, have.kind):
        return True
    if dimensions:
        return parameter.type == symbol.type
    return want.kind is have.kind or (want.is_integer and have.is_integer)


def _lanes(vector: str | None) -> int:
    return int(vector[1:]) if vector else 1


def _elements(dimensions: tuple[int | None, ...]) -> int:
    count = 1
    for dimension in dimensions:
        count *= dimension or 0
    return count


def check_target_list(context: Context, directive: tree.Directive, scope: Scope) -> None:
    """Check a `.branchtargets` or `.calltargets`: each name is a label, or a function."""
    calls = directive.name == "calltargets"
    told: set[Span | None] = set()  # of `L<n>` the first name that is missing stands for all
    for argument in listed(directive):
        symbol = scope.lookup(argument.name)
        if symbol is None and argument.span in told:
            continue
        if symbol is None:
            told.add(argument.span)
            what = "function" if calls else "label"
            context.report(
                "P208" if calls else "P205",
                f"{what} `{argument.name}` is not {'declared' if calls else 'defined in this function'}",
                argument.span,
                help=did_you_mean(argument.name, scope.names()),
            )
        elif calls and not (
            isinstance(symbol.declaration, tree.Function) and symbol.declaration.kind == "func"
        ):
            context.report(
                "P208",
                f"expected a `.func`, found `{argument.name}`",
                argument.span,
                labels=_declared(symbol),
            )
        elif not calls and symbol.kind is not SymbolKind.LABEL:
            context.report(
                "P207",
                f"expected a label, found {symbol.kind.value} `{argument.name}`",
                argument.span,
                labels=_declared(symbol),
            )


def _declared(symbol: Symbol) -> tuple[SpanLabel, ...]:
    return label_at(symbol.span, "declared here")


def _show(name: str, signature: CallSignature) -> str:
    returns, parameters = (", ".join(map(_show_variable, side)) for side in signature)
    return f".func {f'({returns}) ' if returns else ''}{name}({parameters})"


def _show_variable(variable: tree.Variable) -> str:
    return _spelled(variable, variable.space, variable.declarators[0], "")


def _show_symbol(symbol: Symbol) -> str:
    assert isinstance(symbol.declaration, tree.Variable)
    return _spelled(symbol.declaration, symbol.space, symbol.declarator, symbol.name)


def _spelled(declared: tree.Variable, space: str, declarator: tree.Declarator | None, name: str) -> str:
    sizes = "".join(
        f"[{'' if size is None else size}]" for size in (declarator.dimensions if declarator else ())
    )
    align = f".align {declared.align} " if declared.align else ""
    vector = f".{declared.vector} " if declared.vector else ""
    return f".{space} {align}{vector}.{declared.type} {name}{sizes}".rstrip()
