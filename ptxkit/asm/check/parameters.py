"""Headers of functions and entries, and prototypes: parameters, results, linkage. PTX ISA 7.1, 11.2, 11.3."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import (
    UNIFIED,
    check_align,
    check_attribute,
    check_attributes,
    check_name,
    check_type,
    is_opaque,
)
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.tree import Directive, Function, Prototype, Variable
from ptxkit.diagnostics import Span, counted
from ptxkit.dtypes import DTYPES
from ptxkit.isa.conditions import Availability

HIDDEN = Availability.parse("8.8")
"""What has `.hidden` before a parameter."""
POINTED = (None, "global", "shared", "const", "local")
"""Where a pointer parameter may point to; None is anywhere."""


def check_function(context: Context, function: Function) -> None:
    """Check a function's header."""
    if function.kind == "entry":
        _check_entry_parameters(context, function)
    if function.linkage == "common":
        help = "`.common` is for variables; write `.weak` where several modules may define the function"
        context.report("P210", f"function `{function.name}` can't be `.common`", function.span, help=help)
    if function.linkage == "extern" and function.body is not None:
        message = f"`.extern` function `{function.name}` can't have a body"
        help = "write `.visible`, or leave the body to the module that defines it"
        context.report("P210", message, function.span, help=help)
    for attribute in function.attributes:
        _check_function_attribute(context, function, attribute)
    check_name(context, function.name, function.span, module_level=True)
    for parameter in (*function.returns, *function.parameters):
        if parameter.linkage is not None:
            _check_hidden(context, parameter, function.kind == "entry")
        if function.kind != "entry":
            check_name(context, parameter.name, parameter.span)
        if function.body is None and function.linkage == "extern":
            check_align(context, parameter)
            check_type(context, parameter, f"`{parameter.name}`", declared=True)
            continue
        check_align(context, parameter, parameter=function.kind != "entry")
        check_type(context, parameter, f"`{parameter.name}`", inside=function.kind == "entry")
        check_attributes(context, parameter, parameter=function.kind != "entry")
        if function.kind != "entry":
            _check_function_parameter(context, parameter)
    if function.kind != "entry":
        name = f"`{function.name}`"
        _check_lists(context, name, function.returns, function.parameters, function.span)
        _check_noreturn(context, name, function.returns, function.directives)


def _check_hidden(context: Context, parameter: Variable, of_entry: bool) -> None:
    """`.hidden` before a parameter of an entry, as compilers write it; no manual has it."""
    if not HIDDEN.met(context.version, context.target):
        report_need(context, "`.hidden` before a parameter", parameter.span, HIDDEN)
    elif not of_entry:
        message = f"parameter `{parameter.name}` of a `.func` can't be `.hidden`"
        context.report("P210", message, parameter.span, help="only those of an `.entry` can")


def check_prototype(context: Context, prototype: Prototype) -> None:
    """Check a `.callprototype`: only what ptxas looks at there (11.3.3)."""
    for parameter in (*prototype.returns, *prototype.parameters):
        check_align(context, parameter)
        check_type(context, parameter, f"`{parameter.name}`", declared=True)
    _check_lists(context, "the prototype", prototype.returns, prototype.parameters, prototype.span)
    _check_noreturn(context, "the prototype", prototype.returns, prototype.directives)


def _check_function_attribute(context: Context, function: Function, attribute: str) -> None:
    name = check_attribute(context, attribute, function.span)
    if name == "unified" and not UNIFIED.met(context.version, context.target):
        report_need(context, "`.attribute(.unified)`", function.span, UNIFIED)
    if name == "managed" or len(function.attributes) > 1:
        message = f"expected `.attribute(.unified(..))` alone for function `{function.name}`"
        context.report("P225", message, function.span, help="`.managed` is for variables")


def _check_lists(
    context: Context,
    name: str,
    returns: Sequence[Variable],
    parameters: Sequence[Variable],
    span: Span | None,
) -> None:
    """State spaces, shapes and number of what is returned and passed."""
    if len(returns) > 1 and any(parameter.space == "param" for parameter in returns):
        help = "return one `.param` array that holds them all, or `.reg` values"
        message = f"{name} returns {counted(len(returns), 'value')} in `.param`"
        context.report("P210", message, span, help=help)
    for parameter in (*returns, *parameters):
        what = f"parameter `{parameter.name}` of {name}"
        dimensions = parameter.declarators[0].dimensions
        unsized = bool(dimensions) and not dimensions[0]
        if parameter.space not in ("reg", "param"):
            message = f"expected `.reg` or `.param` for {what}, found `.{parameter.space}`"
            help = "pass the address of what lies elsewhere"
        elif unsized and parameter.space == "reg":
            message = f"{what} is a register, and can't be an array"
            help = "pass a `.param` array"
        elif unsized and (not parameters or parameter is not parameters[-1]):
            message = f"{what} has no size, which only the last one may leave out"
            help = "give the number of elements between the brackets"
        else:
            continue
        context.report("P210", message, parameter.span, help=help)


def _check_noreturn(
    context: Context, name: str, returns: Sequence[Variable], directives: Sequence[Directive]
) -> None:
    noreturn = next((directive for directive in directives if directive.name == "noreturn"), None)
    if noreturn is not None and returns:
        message = f"{name} is `.noreturn` and has {counted(len(returns), 'return parameter')}"
        context.report("P225", message, noreturn.span, help="leave out the directive, or what is returned")


def _check_function_parameter(context: Context, parameter: Variable) -> None:
    order, name = parameter.order or (), f"`{parameter.name}`"
    dimensions = parameter.declarators[0].dimensions
    if parameter.pointer is not None:
        message = f"`.ptr` is for parameters of an `.entry`, found {name} of a `.func`"
        help = "leave `.ptr` out"
    elif "align" in order and order.index("align") > order.index("type"):
        message = f"`.align` after the type is only for an `.entry`, found {name} of a `.func`"
        help = f"write `.{parameter.space} .align {parameter.align} .{parameter.type}`"
    elif parameter.space == "reg" and dimensions and dimensions[0]:
        message = f"register {name} can't be an array"
        help = f"pass a `.param .{parameter.type} {parameter.name}[{dimensions[0]}]`"
    elif is_opaque(parameter.type):
        message = f"{name} of type `.{parameter.type}` can't be a parameter of a `.func`"
        help = "pass its handle as a `.u64`"
        if dimensions and parameter.space == "param":
            context.warn("P222", f"{message}; ptxas accepts an array of them", parameter.span, help=help)
            return
    else:
        return
    context.report("P210", message, parameter.span, help=help)


def _check_entry_parameters(context: Context, function: Function) -> None:
    size = 0
    for parameter in function.parameters:
        align, bytes_ = parameter_layout(parameter)
        size = -(-size // align) * align + bytes_
        if parameter.space != "param":
            message = f"expected `.param` for `{parameter.name}` of an `.entry`, found `.{parameter.space}`"
            help = f"write `.param .{parameter.type} {parameter.name}` and read it with `ld.param`"
        elif {None, 0} & set(parameter.declarators[0].dimensions):
            message = f"parameter `{parameter.name}` of an `.entry` must have a size"
            help = "give the number of elements between the brackets"
        elif parameter.pointer is not None and parameter.pointer[0] not in POINTED:
            message = f"`{parameter.name}` can't point into `.{parameter.pointer[0]}`"
            help = "write `.ptr .global`, `.shared`, `.const` or `.local`, or `.ptr` alone"
        else:
            continue
        context.report("P210", message, parameter.span, help=help)
    # ptxas takes 4352 bytes of parameters before sm_70 or PTX ISA 8.1, and this many since.
    limit = 32764 if context.version >= (8, 1) and context.target.number >= 70 else 4352
    if size > limit:
        found = counted(size, "byte")
        message = f"`{function.name}` has {found} of parameters, more than the {limit} that fit"
        help = "put the data in global memory and pass its address"
        context.report("P210", message, function.span, help=help)


def parameter_layout(parameter: Variable) -> tuple[int, int]:
    """The alignment and size of a parameter in bytes."""
    dtype = DTYPES.get(parameter.type)
    width = dtype.bytes if dtype else 1
    lanes = int(parameter.vector[1:]) if parameter.vector else 1
    count = 1
    for dimension in parameter.declarators[0].dimensions:
        count *= dimension or 0
    return max(parameter.align or 1, width * lanes), width * lanes * count
