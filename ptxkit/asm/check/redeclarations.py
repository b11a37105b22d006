"""A name declared again: prototypes that must agree, linkage that must not change. PTX ISA 5.4.6, 11.6."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import parameter_layout
from ptxkit.asm.tree import Function, Statement, Variable
from ptxkit.diagnostics import Label


def check_again(context: Context, statement: Statement, seen: dict[str, Statement]) -> None:
    """Hold a declaration at module level against the earlier one of the same name.

    Args:
        context: where findings go.
        statement: the declaration.
        seen: earlier declarations by name; this one is added.
    """
    if isinstance(statement, Function):
        earlier = seen.get(statement.name)
        if isinstance(earlier, Function) and earlier.kind == statement.kind:
            _check_function(context, statement, earlier)
        seen[statement.name] = statement
    elif isinstance(statement, Variable):
        for declarator in statement.declarators:
            earlier = seen.get(declarator.name)
            if isinstance(earlier, Variable) and "extern" in (earlier.linkage, statement.linkage):
                _check_variable(context, statement, earlier, declarator.name)
            seen[declarator.name] = statement


def _check_function(context: Context, function: Function, earlier: Function) -> None:
    if earlier.body is not None and function.body is not None:
        return  # Reported as declared twice.
    name = f"`{function.name}`"
    if earlier.body is not None:
        message = f"{name} is declared after its definition"
        _report(context, "P202", function, earlier, message, "move the declaration before, or leave it out")
        return
    why = differs(earlier, function)
    linkages = earlier.linkage, function.linkage
    if why is not None:
        _report(context, "P227", function, earlier, f"{name} was declared before, and differs in {why}")
    elif linkages[0] != linkages[1] and (linkages[1] is not None or linkages[0] == "extern"):
        first, second = (f"`.{linkage}`" if linkage else "no linkage" for linkage in linkages)
        message = f"{name} was declared before with {first}, and has {second} here"
        _report(context, "P227", function, earlier, message, "write the same linkage in both places")
    elif (earlier.directive("noreturn") is None) != (function.directive("noreturn") is None):
        _report(context, "P227", function, earlier, f"only one declaration of {name} is `.noreturn`")


def _check_variable(context: Context, variable: Variable, earlier: Variable, name: str) -> None:
    same = (variable.type, variable.vector) == (earlier.type, earlier.vector)
    if not same or not _same_size(variable, earlier, name):
        _report(context, "P227", variable, earlier, f"`{name}` was declared before with another type")
    elif earlier.linkage == "extern" and variable.linkage is None:
        message = f"`.extern` variable `{name}` is defined without a linkage"
        _report(context, "P227", variable, earlier, message, "write `.visible` before the definition")


def _same_size(one: Variable, other: Variable, name: str) -> bool:
    sizes = [next(d.dimensions for d in variable.declarators if d.name == name) for variable in (one, other)]
    if len(sizes[0]) != len(sizes[1]):
        return False
    return all(a == b or a is None or b is None for a, b in zip(*sizes, strict=True))


def _report(
    context: Context,
    code: str,
    new: Statement,
    earlier: Statement,
    message: str,
    help: str = "declare it the same way in both places",
) -> None:
    labels = (Label(earlier.span, "declared before here"),) if earlier.span else ()
    context.report(code, message, new.span, labels=labels, help=help)


def differs(one: Function, other: Function) -> str | None:
    """In what the parameters of two functions differ; None where they don't."""
    for what, first, second in (
        ("return parameters", one.returns, other.returns),
        ("parameters", one.parameters, other.parameters),
    ):
        if len(first) != len(second):
            return f"the number of {what}"
        for a, b in zip(first, second, strict=True):
            if a.space != b.space:
                return f"the state space of {what}"
            if _type(a) != _type(b):
                return f"the types of {what}"
            if _alignment(a) != _alignment(b):
                return f"the alignment of {what}"
    return None


def _type(parameter: Variable) -> tuple[object, ...]:
    return parameter.type, parameter.vector, parameter.declarators[0].dimensions


def _alignment(parameter: Variable) -> int:
    return max(parameter_layout(parameter)[0], parameter.align or 0)
