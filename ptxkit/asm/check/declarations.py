"""Declarations: state spaces, types, alignment, attributes, names declared twice. PTX ISA 5.1, 5.4, 11.2."""

from __future__ import annotations

from ptxkit.asm.check.context import Context, did_you_mean, label_at
from ptxkit.asm.check.initializers import check_initializer
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.symbols import Clash, Scope, SymbolKind
from ptxkit.asm.tree import Declarator, Statement, Variable, Vector
from ptxkit.diagnostics import Severity, Span
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.conditions import Availability
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

B128 = Availability.parse("8.3 sm_70")
"""From when and where there are `.b128` variables and registers."""
ATTRIBUTES = ("managed", "unified")
VECTORS = ("v2", "v4")
UNREAD = ("bf16", "bf16x2", "tf32")
"""Types that ptxas reads in instructions alone."""
UNIFIED = Availability.parse("8.0 sm_90")
CONSTANT_BYTES = 65536
MAX_PARAMETER_ALIGN = 128
"""Largest alignment of what a function is passed."""


def check_module_level(context: Context, statement: Statement, scope: Scope | None = None) -> None:
    """Check a declaration at module level; for `scope` see `check_variable`."""
    if isinstance(statement, Variable):
        check_variable(context, statement, inside=False, scope=scope)


def check_variable(context: Context, variable: Variable, inside: bool, scope: Scope | None = None) -> None:
    """Check one declaration of a variable or register.

    Args:
        context: where findings go.
        variable: the declaration.
        inside: it is in a function's body.
        scope: where names in initial values are looked up; None: those are not checked.
    """
    names = ", ".join(f"`{declarator.name}`" for declarator in variable.declarators) or "this declaration"
    if not inside and variable.space in ("reg", "local", "param"):
        message = f"{names} can't be in `.{variable.space}` at module level"
        help = "move the declaration into the function that uses it"
        context.report("P210", message, variable.span, help=help)
        return
    if inside and is_opaque(variable.type):
        message = f"{names} of type `.{variable.type}` must be declared at module level or as a parameter"
        help = "declare it before the function, in `.global`, or make it a parameter of the `.entry`"
        context.report("P210", message, variable.span, help=help)
        return
    check_type(context, variable, names, inside)
    check_align(context, variable, parameter=inside)
    check_attributes(context, variable)
    if variable.space == "tex":
        message = f"{names} in `.tex`: that state space was removed in `.version 1.5`"
        context.report("P210", message, variable.span, help="declare a `.global .texref`")
    if variable.linkage == "common" and variable.space != "global":
        message = f"`.common` variable {names} must be in `.global`, found `.{variable.space}`"
        help = "declare it in `.global`, or with another linkage"
        context.report("P210", message, variable.span, help=help)
    for declarator in variable.declarators:
        known = SPECIAL_REGISTERS.get(declarator.name) if variable.linkage == "extern" else None
        same = (
            known is not None and not known.vector and DTYPES[known.type].bits == DTYPES[variable.type].bits
        )
        span = declarator.span or variable.span
        check_name(context, declarator.name, span, not inside and not same)
        _check_size(context, variable, declarator)
        if variable.space == "const" and variable.linkage != "extern":
            _count_constant(context, variable, declarator)
        if variable.linkage == "extern" and declarator.initializer is not None:
            message = f"`.extern` variable `{declarator.name}` can't have an initial value"
            context.report("P210", message, span, help="the module that defines it gives the value")
        else:
            check_initializer(context, variable, declarator, scope)


def check_name(context: Context, name: str, span: Span | None, module_level: bool = False) -> None:
    """`_` stands for no name; only parameters of prototypes and entries may be called so.

    `module_level`: names of special registers are declared there already, and can only be hidden in a body.
    """
    if name == "_":
        context.report("P210", "expected a name, found `_`", span, help="`_` discards a result; write a name")
    elif module_level and name in SPECIAL_REGISTERS:
        message = f"`{name}` is a special register, and can't be declared at module level"
        context.report("P202", message, span, help="take another name")


def is_opaque(type_: str) -> bool:
    """Whether a type is that of textures, samplers or surfaces."""
    dtype = DTYPES.get(type_)
    return dtype is not None and dtype.kind is Kind.OPAQUE


def _check_size(context: Context, variable: Variable, declarator: Declarator) -> None:
    """An array has a size, from its brackets or its values; a register is not an array."""
    if not declarator.dimensions:
        return
    name, (first, *others) = declarator.name, declarator.dimensions
    unknown = not first and declarator.initializer is None and variable.linkage != "extern"
    if variable.space == "reg":
        message = f"register `{name}` can't be an array"
        help = f"`.reg .{variable.type} {name}<4>;` declares `{name}0` to `{name}3`; for an array that is "
        help += "indexed use `.local`"
    elif 0 in others or unknown:
        message = f"array `{name}` has no size"
        help = "give the number of elements; only `.extern` arrays may go without"
    else:
        return
    context.report("P210", message, declarator.span or variable.span, help=help)


def _count_constant(context: Context, variable: Variable, declarator: Declarator) -> None:
    """Constant memory has 64 KiB, which all `.const` variables of a module share."""
    dtype = DTYPES.get(variable.type)
    size = (dtype.bytes if dtype else 1) * (int(variable.vector[1:]) if variable.vector else 1)
    align = max(variable.align or 1, size)
    for dimension in declarator.dimensions:
        if dimension is None and isinstance(declarator.initializer, Vector):
            dimension = len(declarator.initializer.elements)
        size *= dimension or 1
    before = context.constant_bytes
    context.constant_bytes = -(-before // align) * align + size
    if before <= CONSTANT_BYTES < context.constant_bytes:
        message = f"with `{declarator.name}` there are {context.constant_bytes} bytes in `.const`, more than "
        message += f"the {CONSTANT_BYTES} that a module has"
        span = declarator.span or variable.span
        context.report("P210", message, span, help="put large tables into `.global`")


def check_type(
    context: Context, variable: Variable, names: str, inside: bool = False, declared: bool = False
) -> None:
    """Check the type of a variable, register or parameter, and its vector, in its state space.

    `inside`: it is in a body or in the header of an entry, where no array of a wrong type passes.
    `declared`: it is a parameter of what has no body, of which ptxas looks at vectors alone.
    """
    dtype = DTYPES.get(variable.type)
    if dtype is None:
        return
    message = help = None
    array = bool(variable.declarators) and all(d.dimensions for d in variable.declarators)
    opaque = dtype.kind is Kind.OPAQUE
    if declared and not variable.vector and variable.type not in UNREAD:
        return
    if not dtype.fundamental and not opaque and not (declared and variable.type not in UNREAD):
        passed = variable.space in ("shared", "param") and dtype.is_integer and not inside
        if array and passed and not variable.vector:
            message = f"{names} is an array of `.{variable.type}`, a type of instructions; ptxas accepts it"
            context.warn("P222", message, variable.span, help=f"declare `.b{dtype.bits}`")
            return
        message = f"{names} can't be of type `.{variable.type}`, which only instructions have"
        help = f"declare `.b{dtype.bits}`, and give the type in the instructions"
    elif variable.vector and variable.vector not in VECTORS:
        message = f"{names} can't be `.{variable.vector}`: a vector variable has 2 or 4 elements"
        help = "declare an array, and align it to the whole vector"
    elif dtype.kind is Kind.PREDICATE and (variable.space != "reg" or variable.vector):
        where = f"`.{variable.vector}`" if variable.space == "reg" else f"`.{variable.space}`"
        message = f"{names} of type `.pred` must be a single register in `.reg`, found {where}"
        help = "predicates live in registers; keep a truth value in memory as `.u32`"
    elif opaque and variable.vector:
        message = f"{names} of type `.{variable.type}` can't be `.{variable.vector}`"
        help = "declare an array"
    elif variable.vector and dtype.bits * int(variable.vector[1:]) > 128:
        message = f"{names} of type `.{variable.vector} .{variable.type}` has more than 128 bits"
        help = "use several shorter vectors"
    elif declared:
        pass
    elif variable.space == "param" and (variable.type == "f16x2" or variable.vector) and not array:
        written = f".{variable.vector} .{variable.type}" if variable.vector else f".{variable.type}"
        message = f"{names} of type `{written}` can't be in `.param`"
        bits = dtype.bits * int(variable.vector[1:] if variable.vector else 1)
        help = f"declare it as `.b{bits}`, or as an array"
    elif opaque and variable.space not in ("global", "param"):
        message = f"{names} of type `.{variable.type}` must be in `.global`, found `.{variable.space}`"
        help = "declare it at module level, or make it a parameter of the `.entry`"
        if array and variable.space != "reg":
            context.warn("P222", f"{message}; ptxas accepts an array of them", variable.span, help=help)
            return
    elif variable.type == "samplerref" and not context.independent and not array:
        message = (
            f"sampler {names} needs `texmode_independent`: with `texmode_unified` a texture brings its own"
        )
        help = f"write `.target {context.target.name}, texmode_independent`"
    if message is not None:
        context.report("P210", message, variable.span, help=help)
    elif variable.type == "b128" and not B128.met(context.version, context.target):
        severity = Severity.WARNING if array else Severity.ERROR  # ptxas looks at single values alone.
        report_need(context, "type `.b128`", variable.span, B128, severity)


def check_align(context: Context, variable: Variable, parameter: bool = False) -> None:
    """Check the alignment of a variable, and that of what a pointer parameter points to.

    Args:
        context: where findings go.
        variable: the declaration.
        parameter: it is one of a `.func`.
    """
    aligned = [variable.align] if variable.align is not None else []
    if variable.pointer is not None and variable.pointer[1] is not None:
        aligned.append(variable.pointer[1])
    for align in aligned:
        most = MAX_PARAMETER_ALIGN
        if align <= 0 or align & (align - 1):
            message = f"expected an alignment that is a power of two, found {align}"
            context.report("P224", message, variable.span, help="write `.align 1`, 2, 4, 8, 16, ..")
        elif parameter and variable.space == "param" and align > most:
            wanted = f"an alignment of at most {most} for what is passed to a function"
            message = f"expected {wanted}, found {align}"
            help = f"write `.align {most}`, and pass the address of what needs more"
            context.report("P224", message, variable.span, help=help)


def report_clashes(context: Context, clashes: list[Clash]) -> None:
    """Report names that are declared twice in one scope."""
    for new, earlier in clashes:
        label = new.kind is SymbolKind.LABEL
        what = "label" if label else new.kind.value
        context.report(
            "P206" if label else "P202",
            f"{what} `{new.name}` is {'defined' if label else 'declared'} twice",
            new.span,
            labels=label_at(earlier.span, f"{earlier.kind.value} `{earlier.name}` is declared here"),
            help="rename one of them" if label else "rename one of them, or put one into a block of its own",
        )


def check_attributes(context: Context, variable: Variable, parameter: bool = False) -> None:
    """Check `.attribute(..)` of a variable (5.4.8); `parameter`: of a parameter of a `.func`."""
    for attribute in variable.attributes:
        name = check_attribute(context, attribute, variable.span)
        if name == "unified" and not UNIFIED.met(context.version, context.target):
            report_need(context, "`.attribute(.unified)`", variable.span, UNIFIED)
        if name is None or variable.space == "global":
            continue
        message = f"`.attribute(.{name})` is for variables in `.global`, found `.{variable.space}`"
        help = "leave the attribute out, or put the variable into `.global`"
        ranged = variable.space == "reg" and all(d.count is not None for d in variable.declarators)
        if (parameter and name == "unified") or (ranged and name == "managed"):
            context.warn("P222", f"{message}; ptxas ignores it", variable.span, help=help)
        else:
            context.report("P225", message, variable.span, help=help)


def check_attribute(context: Context, attribute: str, span: Span | None) -> str | None:
    """The name of one attribute, as written; None, after a report, where there is no such attribute."""
    name, _, rest = attribute.partition("(")
    name = name.lstrip(".").strip()
    if name not in ATTRIBUTES:
        help = did_you_mean(name, ATTRIBUTES) or "attributes are `.managed` and `.unified`"
        context.report("P225", f"there is no attribute `.{name}`", span, help=help)
        return None
    if (name == "unified") != bool(rest):
        wanted, written = "nothing in parentheses", ".managed"
        if name == "unified":
            wanted, written = "the two numbers of its identifier", ".unified(1, 2)"
        help = f"write `.attribute({written})`"
        context.report("P225", f"expected {wanted} after `.{name}`", span, help=help)
        return None
    return name
