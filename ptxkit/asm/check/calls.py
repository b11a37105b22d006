"""`call` against the function it calls, and the lists of targets. PTX ISA 9.7.12.5, 11.3."""

from __future__ import annotations

from ptxkit.asm.check.context import Context, did_you_mean
from ptxkit.asm.check.places import modifier_span, spelling_span
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.asm.tree import (
    Arguments,
    Declarator,
    Directive,
    Function,
    Instruction,
    Name,
    Operand,
    Prototype,
    Variable,
)
from ptxkit.diagnostics import Label
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.operands import OperandKind

Signature = tuple[tuple[Variable, ...], tuple[Variable, ...]]
"""Return parameters and parameters."""


def check_call(context: Context, call: Instruction, kinds: tuple[OperandKind, ...], scope: Scope) -> None:
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
    returns: Arguments | None = None
    arguments: Arguments | None = None
    if operands and isinstance(operands[0], Arguments):
        returns = operands.pop(0)  # type: ignore[assignment]
    target = operands.pop(0) if operands else None
    if operands and isinstance(operands[0], Arguments):
        arguments = operands.pop(0)  # type: ignore[assignment]
    names = operands.pop(0) if operands else None
    if operands or not isinstance(target, Name) or (names is not None and not isinstance(names, Name)):
        context.report(
            "P208",
            "expected `call (return), function, (arguments)`",
            spelling_span(call, source),
            help="an indirect call has the label of a `.calltargets` or `.callprototype` at its end",
        )
        return
    callee = scope.lookup(target.name)
    if callee is None:
        return
    signature = _signature(context, call, target, callee, names, scope)
    if signature is not None:
        _check_arguments(context, call, target, signature, returns, arguments, scope)


def _signature(
    context: Context, call: Instruction, target: Name, callee: Symbol, names: Name | None, scope: Scope
) -> Signature | None:
    """What the callee takes and gives; None, after a report, where it can't be called."""
    if callee.kind is SymbolKind.ALIAS:
        return None
    if callee.kind is SymbolKind.FUNCTION:
        function = callee.declaration
        assert isinstance(function, Function)
        if function.kind == "entry":
            context.report(
                "P208",
                f"expected a `.func` to call, found `.entry` `{target.name}`",
                target.span,
                labels=_declared(callee),
                help="a kernel is launched, not called; make it a `.func`",
            )
            return None
        return function.returns, function.parameters
    if callee.kind is not SymbolKind.REGISTER:
        context.report(
            "P208",
            f"expected a function or a register with its address, found {callee.kind.value} `{target.name}`",
            target.span,
            labels=_declared(callee),
        )
        return None
    dtype = DTYPES.get(callee.type)
    if dtype is None or dtype.kind in (Kind.FLOAT, Kind.PREDICATE) or callee.vector:
        context.report(
            "P208",
            f"expected a register with a function's address, found `.{callee.type}` register `{target.name}`",
            target.span,
            labels=_declared(callee),
        )
        return None
    prototype = scope.lookup(names.name) if names else None
    if names is None or (prototype is not None and prototype.names is None):
        context.report(
            "P208",
            "an indirect call needs the label of a `.calltargets` or `.callprototype`",
            (names or target).span,
            help="name it as the last operand: `call %rd1, (x), prototype_0;`",
        )
        return None
    if prototype is None:
        context.report("P205", f"label `{names.name}` is not defined in this function", names.span)
        return None
    if isinstance(prototype.names, Prototype):
        return prototype.names.returns, prototype.names.parameters
    first = prototype.names.arguments[0] if prototype.names and prototype.names.arguments else None
    known = scope.lookup(first.name) if isinstance(first, (Name, Declarator)) else None
    if known is not None and isinstance(known.declaration, Function):
        return known.declaration.returns, known.declaration.parameters
    return None


def _check_arguments(
    context: Context,
    call: Instruction,
    target: Name,
    signature: Signature,
    returns: Arguments | None,
    arguments: Arguments | None,
    scope: Scope,
) -> None:
    for formal, actual, what in (
        (signature[0], returns.elements if returns else (), "return value"),
        (signature[1], arguments.elements if arguments else (), "argument"),
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
            _check_argument(context, target, signature, parameter, argument, scope)


def _check_argument(
    context: Context,
    target: Name,
    signature: Signature,
    parameter: Variable,
    argument: Operand,
    scope: Scope,
) -> None:
    if not isinstance(argument, Name) or argument.component is not None:
        return
    symbol = scope.lookup(argument.name)
    if symbol is None or not isinstance(symbol.declaration, Variable):
        return
    if symbol.kind is SymbolKind.PARAMETER:
        context.report(
            "P209",
            f"expected a register or a local `.param` variable as `{parameter.name}` of "
            f"`{target.name}`, found formal parameter `{symbol.name}`",
            argument.span,
            labels=_declared(symbol),
            help=f"copy it by `ld.param` and `st.param` to a `{_show_variable(parameter)}` of this function",
        )
        return
    if argument_fits(parameter, symbol):
        return
    context.report(
        "P209",
        f"expected `{_show_variable(parameter)}` as `{parameter.name}` of `{target.name}`, "
        f"found `{_show_symbol(symbol)}`",
        argument.span,
        labels=_declared(symbol),
        help=f"the function is declared as `{_show(target.name, signature)}`",
    )


def argument_fits(parameter: Variable, symbol: Symbol) -> bool:
    """Whether what is passed has the size, alignment and a type that fits the parameter's."""
    want, have = DTYPES.get(parameter.type), DTYPES.get(symbol.type)
    if want is None or have is None:
        return True
    dimensions = parameter.declarators[0].dimensions
    actual = symbol.declarator.dimensions if symbol.declarator else ()
    if bool(dimensions) != bool(actual) or parameter.vector != symbol.vector:
        return False
    if dimensions:
        if _elements(dimensions) * want.bits != _elements(actual) * have.bits and None not in dimensions:
            return False
    elif want.bits != have.bits:
        return False
    declaration = symbol.declaration
    assert isinstance(declaration, Variable)
    aligned = max(parameter.align or 1, want.bytes) == max(declaration.align or 1, have.bytes)
    if parameter.space == "param" and not aligned:
        return False
    if Kind.BITS in (want.kind, have.kind):
        return True
    if dimensions:
        return parameter.type == symbol.type
    return want.kind is have.kind or (want.is_integer and have.is_integer)


def _elements(dimensions: tuple[int | None, ...]) -> int:
    count = 1
    for dimension in dimensions:
        count *= dimension or 0
    return count


def check_targets(context: Context, directive: Directive, scope: Scope) -> None:
    """Check a `.branchtargets` or `.calltargets`: each name is a label, or a function."""
    calls = directive.name == "calltargets"
    for argument in directive.arguments:
        if not isinstance(argument, Name):
            continue
        symbol = scope.lookup(argument.name)
        if symbol is None:
            what = "function" if calls else "label"
            context.report(
                "P208" if calls else "P205",
                f"{what} `{argument.name}` is not {'declared' if calls else 'defined in this function'}",
                argument.span,
                help=did_you_mean(argument.name, scope.names()),
            )
        elif calls and not (isinstance(symbol.declaration, Function) and symbol.declaration.kind == "func"):
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


def _declared(symbol: Symbol) -> tuple[Label, ...]:
    return (Label(symbol.span, "declared here"),) if symbol.span else ()


def _show(name: str, signature: Signature) -> str:
    returns, parameters = (", ".join(map(_show_variable, side)) for side in signature)
    return f".func {f'({returns}) ' if returns else ''}{name}({parameters})"


def _show_variable(variable: Variable) -> str:
    align = f".align {variable.align} " if variable.align else ""
    sizes = "".join(f"[{size if size is not None else ''}]" for size in variable.declarators[0].dimensions)
    return f".{variable.space} {align}.{variable.type}{' ' + sizes if sizes else ''}"


def _show_symbol(symbol: Symbol) -> str:
    assert isinstance(symbol.declaration, Variable)
    align = f".align {symbol.declaration.align} " if symbol.declaration.align else ""
    dimensions = symbol.declarator.dimensions if symbol.declarator else ()
    sizes = "".join(f"[{size if size is not None else ''}]" for size in dimensions)
    return f".{symbol.space} {align}.{symbol.type} {symbol.name}{sizes}"
