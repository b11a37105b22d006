"""A name declared again: prototypes that must agree, linkage that must not change. PTX ISA 5.4.6, 11.6."""

from __future__ import annotations

from ptxkit.asm.check.context import Context, Declared, label_at
from ptxkit.asm.check.parameters import parameter_layout
from ptxkit.asm.tree import Declarator, Function, Statement, Variable, Vector


def check_again(context: Context, statement: Statement, seen: Declared) -> None:
    """Hold a declaration at module level against the earlier one of the same name.

    Args:
        context: where findings go.
        statement: the declaration.
        seen: earlier declarations by name; this one is added.
    """
    if isinstance(statement, Function):
        earlier, _ = seen.get(statement.name, (None, None))
        if isinstance(earlier, Function):
            _check_function(context, statement, earlier)
        seen[statement.name] = statement, None
    elif isinstance(statement, Variable):
        for declarator in statement.declarators:
            earlier, before = seen.get(declarator.name, (None, None))
            if isinstance(earlier, Variable) and "extern" in (earlier.linkage, statement.linkage):
                assert before is not None
                _check_variable(context, statement, earlier, declarator, before)
            seen[declarator.name] = statement, declarator


def _check_function(context: Context, function: Function, earlier: Function) -> None:
    if earlier.body is not None and function.body is not None:
        return  # Reported as declared twice.
    name = f"`{function.name}`"
    if earlier.kind != function.kind:
        message = f"{name} was declared before as `.{earlier.kind}`, and is an `.{function.kind}` here"
        _report(context, "P227", function, earlier, message)
        return
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
    elif (number := _preserved(earlier, function)) is not None:
        _report(context, "P227", function, earlier, f"`.{number}` of {name} was declared before otherwise")
    elif (earlier.directive("noreturn") is None) != (function.directive("noreturn") is None):
        _report(context, "P227", function, earlier, f"only one declaration of {name} is `.noreturn`")


def _preserved(one: Function, other: Function) -> str | None:
    """The directive of the ABI in which two declarations differ."""
    for name in ("abi_preserve", "abi_preserve_control"):
        first, second = (f.directive(name) for f in (one, other))
        if (first and first.arguments) != (second and second.arguments):
            return name
    return None


def _check_variable(
    context: Context, variable: Variable, earlier: Variable, new: Declarator, before: Declarator
) -> None:
    same = (variable.type, variable.vector) == (earlier.type, earlier.vector)
    if not same or not _same_size(_sizes(new), _sizes(before)):
        _report(context, "P227", variable, earlier, f"`{new.name}` was declared before with another type")
    elif earlier.linkage == "extern" and variable.linkage is None:
        message = f"`.extern` variable `{new.name}` is defined without a linkage"
        _report(context, "P227", variable, earlier, message, "write `.visible` before the definition")


def _sizes(declarator: Declarator) -> tuple[int | None, ...]:
    """The dimensions of an array; its first one is that of its list where it has no other."""
    sizes = declarator.dimensions
    if sizes and not sizes[0] and isinstance(declarator.initializer, Vector):
        return (len(declarator.initializer.elements), *sizes[1:])
    return sizes


def _same_size(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    if len(one) != len(other):
        return False
    return all(a == b or a is None or b is None for a, b in zip(one, other, strict=True))


def _report(
    context: Context,
    code: str,
    new: Statement,
    earlier: Statement,
    message: str,
    help: str = "declare it the same way in both places",
) -> None:
    labels = label_at(earlier.span, "declared before here")
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
