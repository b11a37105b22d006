"""Declarations: parameters, state spaces, types, alignment, names declared twice. PTX ISA 5.1, 5.4, 11.2."""

from __future__ import annotations

from ptxkit.asm.check.context import Context, did_you_mean
from ptxkit.asm.check.initializers import check_initializer
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.symbols import Clash, Scope, SymbolKind
from ptxkit.asm.tree import Declarator, Function, Statement, Variable
from ptxkit.diagnostics import Label, counted
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.conditions import Availability

B128 = Availability.parse("8.3 sm_70")
"""From when and where there are `.b128` variables and registers."""
ATTRIBUTES = ("managed", "unified")


def check_module_level(context: Context, statement: Statement, scope: Scope | None = None) -> None:
    """Check a declaration at module level; for `scope` see `check_variable`."""
    if isinstance(statement, Variable):
        check_variable(context, statement, inside=False, scope=scope)


def check_variable(context: Context, variable: Variable, inside: bool, scope: Scope | None = None) -> None:
    """Check one declaration of a variable or register.

    Args:
        context: where findings go.
        variable: the declaration.
        inside: it stands in a function's body.
        scope: where names in initial values are looked up; None: those are not checked.
    """
    names = ", ".join(f"`{declarator.name}`" for declarator in variable.declarators) or "this declaration"
    if not inside and variable.space in ("reg", "local", "param"):
        context.report(
            "P210",
            f"{names} can't be in `.{variable.space}` at module level",
            variable.span,
            help="move the declaration into the function that uses it",
        )
        return
    _check_type(context, variable, names)
    _check_align(context, variable)
    check_attributes(context, variable)
    if variable.linkage == "common" and variable.space != "global":
        context.report(
            "P210",
            f"`.common` variable {names} must be in `.global`, found `.{variable.space}`",
            variable.span,
            help="declare it in `.global`, or with another linkage",
        )
    for declarator in variable.declarators:
        _check_size(context, variable, declarator)
        if variable.linkage == "extern" and declarator.initializer is not None:
            context.report(
                "P210",
                f"`.extern` variable `{declarator.name}` can't have an initial value",
                declarator.span or variable.span,
                help="the module that defines it gives the value",
            )
        else:
            check_initializer(context, variable, declarator, scope)


def _check_size(context: Context, variable: Variable, declarator: Declarator) -> None:
    """An array has a size, from its brackets or its values; a register is no array."""
    if not declarator.dimensions or variable.linkage == "extern":
        return
    if variable.space == "reg":
        context.report(
            "P210",
            f"register `{declarator.name}` can't be an array",
            declarator.span or variable.span,
            help=f"`.reg .{variable.type} {declarator.name}<4>;` declares `{declarator.name}0` to "
            f"`{declarator.name}3`; for an array that is indexed use `.local`",
        )
    elif 0 in declarator.dimensions or (declarator.dimensions[0] is None and declarator.initializer is None):
        context.report(
            "P210",
            f"array `{declarator.name}` has no size",
            declarator.span or variable.span,
            help="give the number of elements; only `.extern` arrays may go without",
        )


def _check_type(context: Context, variable: Variable, names: str) -> None:
    dtype = DTYPES.get(variable.type)
    if dtype is None:
        return
    message = help = None
    if dtype.kind is Kind.PREDICATE and (variable.space != "reg" or variable.vector):
        where = f"`.{variable.vector}`" if variable.space == "reg" else f"`.{variable.space}`"
        message = f"{names} of type `.pred` must be a single register in `.reg`, found {where}"
        help = "predicates live in registers; keep a truth value in memory as `.u32`"
    elif variable.type == "f16x2" and variable.space == "param":
        message, help = f"{names} of type `.f16x2` can't be in `.param`", "declare it as `.b32`"
    elif dtype.kind is Kind.OPAQUE and variable.space not in ("global", "param"):
        message = f"{names} of type `.{variable.type}` must be in `.global`, found `.{variable.space}`"
        help = "declare it at module level, or make it a parameter of the `.entry`"
    elif variable.vector and dtype.bits * int(variable.vector[1:]) > 128:
        message = f"{names} of type `.{variable.vector} .{variable.type}` has more than 128 bits"
        help = "take a shorter vector, and several of them"
    if message is not None:
        context.report("P210", message, variable.span, help=help)
    elif variable.type == "b128" and not B128.met(context.version, context.target):
        report_need(context, "type `.b128`", variable.span, B128)


def _check_align(context: Context, variable: Variable) -> None:
    aligned = [variable.align] if variable.align is not None else []
    if variable.pointer is not None and variable.pointer[1] is not None:
        aligned.append(variable.pointer[1])
    for align in aligned:
        if align > 0 and not align & (align - 1):
            continue
        context.report(
            "P224",
            f"expected an alignment that is a power of two, found {align}",
            variable.span,
            help="write `.align 1`, 2, 4, 8, 16, ..",
        )


def check_function(context: Context, function: Function) -> None:
    """Check a function's header."""
    if function.kind == "entry":
        _check_entry_parameters(context, function)
    if function.linkage == "common":
        context.report(
            "P210",
            f"function `{function.name}` can't be `.common`",
            function.span,
            help="`.common` is for variables; write `.weak` where several modules may define the function",
        )
    if function.linkage == "extern" and function.body is not None:
        context.report(
            "P210",
            f"`.extern` function `{function.name}` can't have a body",
            function.span,
            help="write `.visible`, or leave the body to the module that defines it",
        )
    if len(function.returns) > 1 and any(parameter.space == "param" for parameter in function.returns):
        context.report(
            "P210",
            f"`{function.name}` returns {counted(len(function.returns), 'value')} in `.param`",
            function.span,
            help="return one `.param` array that holds them all, or `.reg` values",
        )
    for parameter in (*function.returns, *function.parameters):
        _check_align(context, parameter)
        _check_type(context, parameter, f"`{parameter.name}`")
        if function.kind != "entry":
            _check_function_parameter(context, parameter)


def _check_function_parameter(context: Context, parameter: Variable) -> None:
    dtype = DTYPES.get(parameter.type)
    if parameter.pointer is not None:
        context.report(
            "P210",
            f"`.ptr` is for parameters of an `.entry`, found `{parameter.name}` of a `.func`",
            parameter.span,
            help="leave `.ptr` out",
        )
    elif parameter.space == "reg" and parameter.declarators[0].dimensions:
        _check_size(context, parameter, parameter.declarators[0])
    elif dtype is not None and dtype.kind is Kind.OPAQUE:
        context.report(
            "P210",
            f"`{parameter.name}` of type `.{parameter.type}` can't be a parameter of a `.func`",
            parameter.span,
            help="pass its handle as a `.u64`",
        )


def _check_entry_parameters(context: Context, function: Function) -> None:
    for parameter in function.parameters:
        if parameter.space != "param":
            context.report(
                "P210",
                f"expected `.param` for `{parameter.name}` of an `.entry`, found `.{parameter.space}`",
                parameter.span,
                help=f"write `.param .{parameter.type} {parameter.name}` and read it with `ld.param`",
            )
        elif {None, 0} & set(parameter.declarators[0].dimensions):
            context.report(
                "P210",
                f"parameter `{parameter.name}` of an `.entry` must have a size",
                parameter.span,
                help="give the number of elements between the brackets",
            )
    size = 0
    for parameter in function.parameters:
        align, bytes_ = parameter_layout(parameter)
        size = -(-size // align) * align + bytes_
    # ptxas takes 4352 bytes of parameters before sm_70 or PTX ISA 8.1, and this many since.
    limit = 32764 if context.version >= (8, 1) and context.target.number >= 70 else 4352
    if size > limit:
        context.report(
            "P210",
            f"`{function.name}` has {counted(size, 'byte')} of parameters, more than the {limit} that fit",
            function.span,
            help="put the data in global memory and pass its address",
        )


def parameter_layout(parameter: Variable) -> tuple[int, int]:
    """The alignment and size of a parameter in bytes."""
    dtype = DTYPES.get(parameter.type)
    width = dtype.bytes if dtype else 1
    lanes = int(parameter.vector[1:]) if parameter.vector else 1
    count = 1
    for dimension in parameter.declarators[0].dimensions:
        count *= dimension or 0
    return max(parameter.align or 1, width * lanes), width * lanes * count


def report_clashes(context: Context, clashes: list[Clash]) -> None:
    """Report names that are declared twice in one scope."""
    for new, earlier in clashes:
        label = new.kind is SymbolKind.LABEL
        what = "label" if label else new.kind.value
        context.report(
            "P206" if label else "P202",
            f"{what} `{new.name}` is {'defined' if label else 'declared'} twice",
            new.span,
            labels=(Label(earlier.span, f"{earlier.kind.value} `{earlier.name}` is declared here"),)
            if earlier.span
            else (),
            help="rename one of them" if label else "rename one of them, or put one into a block of its own",
        )


def check_attributes(context: Context, variable: Variable) -> None:
    """Check `.attribute(..)` of a variable (5.4.8)."""
    for attribute in variable.attributes:
        name = attribute.partition("(")[0].lstrip(".").strip()
        if name not in ATTRIBUTES:
            context.report(
                "P225",
                f"there is no attribute `.{name}`",
                variable.span,
                help=did_you_mean(name, ATTRIBUTES) or "attributes are `.managed` and `.unified`",
            )
        elif name == "managed" and variable.space != "global":
            context.report(
                "P225",
                f"`.attribute(.managed)` is for variables in `.global`, found `.{variable.space}`",
                variable.span,
                help="leave the attribute out, or put the variable into `.global`",
            )
