"""Declarations: parameters, state spaces, types, alignment, names declared twice. PTX ISA 5.1, 5.4, 11.2."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.symbols import Clash, SymbolKind
from ptxkit.asm.tree import Function, Statement, Variable
from ptxkit.diagnostics import Label
from ptxkit.dtypes import DTYPES, Kind


def check_variable(context: Context, variable: Variable, inside: bool) -> None:
    """Check one declaration of a variable or register.

    Args:
        context: where findings go.
        variable: the declaration.
        inside: it stands in a function's body.
    """
    names = ", ".join(f"`{declarator.name}`" for declarator in variable.declarators) or "this declaration"
    if not inside and variable.space in ("reg", "local", "param"):
        context.report(
            "P210",
            f"{names} can't be declared in `.{variable.space}` at module level",
            variable.span,
            help="move the declaration into the function that uses it",
        )
        return
    _check_type(context, variable, names)
    _check_align(context, variable)


def _check_type(context: Context, variable: Variable, names: str) -> None:
    dtype = DTYPES.get(variable.type)
    if dtype is None:
        return
    if dtype.kind is Kind.PREDICATE and variable.space != "reg":
        context.report(
            "P210",
            f"{names} of type `.pred` must be in `.reg`, found `.{variable.space}`",
            variable.span,
            help="predicates live in registers; keep a truth value in memory as `.u32`",
        )
    elif variable.type == "f16x2" and variable.space != "reg":
        context.report(
            "P210",
            f"{names} of type `.f16x2` must be in `.reg`, found `.{variable.space}`",
            variable.span,
            help="declare it as `.b32`",
        )


def _check_align(context: Context, variable: Variable) -> None:
    if variable.align is not None and (variable.align <= 0 or variable.align & (variable.align - 1)):
        context.report(
            "P224",
            f"expected an alignment that is a power of two, found {variable.align}",
            variable.span,
            help="write `.align 1`, 2, 4, 8, 16, ..",
        )


def check_function(context: Context, function: Function) -> None:
    """Check a function's header."""
    if function.kind == "entry":
        _check_entry_parameters(context, function)
    for parameter in (*function.returns, *function.parameters):
        _check_align(context, parameter)
        _check_type(context, parameter, f"`{parameter.name}`")


def _check_entry_parameters(context: Context, function: Function) -> None:
    for parameter in function.parameters:
        if parameter.space != "param":
            context.report(
                "P210",
                f"expected `.param` for `{parameter.name}` of an `.entry`, found `.{parameter.space}`",
                parameter.span,
                help=f"write `.param .{parameter.type} {parameter.name}` and read it with `ld.param`",
            )
        elif None in parameter.declarators[0].dimensions:
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
            f"`{function.name}` has {size} bytes of parameters, more than the {limit} that fit",
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


def check_module_level(context: Context, statement: Statement) -> None:
    """Check a declaration at module level."""
    if isinstance(statement, Variable):
        check_variable(context, statement, inside=False)
        _check_linkage(context, statement)


def _check_linkage(context: Context, variable: Variable) -> None:
    if variable.linkage == "extern":
        for declarator in variable.declarators:
            if declarator.initializer is not None:
                context.report(
                    "P210",
                    f"`.extern` variable `{declarator.name}` can't have an initial value",
                    declarator.span or variable.span,
                    help="the module that defines it gives the value",
                )
