"""Directives of functions and of the module: values, conflicts, availability. PTX ISA 11.3 to 11.8, 12."""

from __future__ import annotations

from math import prod
from typing import Literal, NamedTuple

from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.check.redeclarations import differs
from ptxkit.asm.symbols import Scope, SymbolKind
from ptxkit.asm.tree import Directive, Function, Integer, Name, Prototype, String
from ptxkit.diagnostics import Severity, counted
from ptxkit.isa.conditions import Availability
from ptxkit.targets import MAX_BLOCK


class Tuning(NamedTuple):
    """What a directive between a function's header and body asks for.

    Attributes:
        since: PTX ISA version and targets.
        positive: whether its numbers must be greater than zero.
        most: its largest number.
        excludes: a directive that can't stand beside it.
        requires: directives that must stand beside it.
        once: whether it may stand there once only.
        advised: `since` is the manual's; ptxas takes it earlier.
    """

    since: str = "1.0"
    positive: bool = False
    most: int = 2**32 - 1
    excludes: str | None = None
    requires: tuple[str, ...] = ()
    once: bool = False
    advised: bool = False

    @property
    def availability(self) -> Availability:
        """`since`, read."""
        return Availability.parse(self.since)


ABI_REGISTERS, ABI_PREDICATES = 239, 11
"""How many registers, and registers of other kinds, a function can be asked to preserve."""

LANGUAGES = {
    0: "unknown",
    3: "ptx",
    4: "nvvm",
    5: "cuda c++",
    6: "cuda c++ tile",
    7: "tile ir",
    8: "python-cutile",
    9: "fortran",
    10: "optix",
}
"""What a function may have been written in; 1 and 2 are reserved, and ptxas takes them."""

TUNING = {
    "maxnreg": Tuning(positive=True),
    "maxntid": Tuning(positive=True, excludes="reqntid"),
    "reqntid": Tuning(positive=True),
    "minnctapersm": Tuning(positive=True),
    "reqnctapercluster": Tuning("7.8 sm_90", excludes="maxclusterrank"),
    "explicitcluster": Tuning("7.8 sm_90"),
    "maxclusterrank": Tuning("7.8 sm_90"),
    "blocksareclusters": Tuning("9.0 sm_90", requires=("reqntid", "reqnctapercluster")),
    "noreturn": Tuning("6.4 sm_30", once=True),
    "minperctamemory": Tuning("9.4 sm_80"),
    "language": Tuning("9.3", advised=True),
    "abi_preserve": Tuning("9.0 sm_80", once=True, most=ABI_REGISTERS),
    "abi_preserve_control": Tuning("9.0 sm_80", once=True, most=ABI_PREDICATES),
}

PRAGMAS = {
    "used_bytes_mask": "8.3",
    "enable_smem_spilling": "8.7",
    "frequency": "9.0",
    "mma_throughput": "9.3",
}
"""Pragmas that ptxas has known since a version; it passes over what it does not know."""
INSIDE = frozenset({"enable_smem_spilling", "mma_throughput"})
"""Pragmas that must be in a function's body."""


def check_availability(context: Context, directive: Directive, since: str) -> None:
    """Check that the version and target have a directive."""
    availability = Availability.parse(since)
    if not availability.met(context.version, context.target):
        report_need(context, f"`.{directive.name}`", directive.span, availability)


def check_tuning(context: Context, function: Function | Prototype) -> None:
    """Check the directives between a function's header and its body, or after a prototype."""
    seen: dict[str, Directive] = {}
    for directive in function.directives:
        if directive.name == "pragma":
            check_pragma(context, directive, "function")
        if directive.name == "maxnctapersm" and context.version >= (2, 1):
            message = "`.maxnctapersm` was removed in `.version 2.1`"
            context.report("P225", message, directive.span, help="write `.minnctapersm`")
        tuning = TUNING.get(directive.name)
        if tuning is None:
            continue
        if not tuning.availability.met(context.version, context.target):
            severity = Severity.WARNING if tuning.advised else Severity.ERROR
            report_need(context, f"`.{directive.name}`", directive.span, tuning.availability, severity)
        if directive.name == "language":
            _check_languages(context, directive)
        earlier = seen.get(directive.name)
        seen.setdefault(directive.name, directive)
        if tuning.once and earlier is not None:
            context.report(
                "P225",
                f"`.{directive.name}` is given twice",
                directive.span,
                labels=label_at(earlier.span, "first given here"),
                help="keep one of them",
            )
        elif directive.name == "noreturn" and seen.keys() & {"abi_preserve", "abi_preserve_control"}:
            message = "`.noreturn` stands after another directive"
            context.report("P225", message, directive.span, help="write it first")
        if isinstance(function, Function):
            _check_numbers(context, function, directive, tuning)
            _check_company(context, function, directive, tuning)


def _check_languages(context: Context, directive: Directive) -> None:
    """The languages of `.language`, by name or number (11.8.2)."""
    for argument in directive.arguments:
        if isinstance(argument, Integer) and argument.value > max(LANGUAGES):
            found = str(argument.value)
        elif isinstance(argument, String) and argument.value.lower() not in LANGUAGES.values():
            found = f'`"{argument.value}"`'
        else:
            continue
        context.report(
            "P225",
            f"expected a language or its number up to {max(LANGUAGES)} in `.language`, found {found}",
            argument.span or directive.span,
            help="languages are " + ", ".join(f'`"{name}"`' for name in LANGUAGES.values()),
        )


def _check_numbers(context: Context, function: Function, directive: Directive, tuning: Tuning) -> None:
    numbers = [argument for argument in directive.arguments if isinstance(argument, Integer)]
    for number in numbers:
        if number.value > tuning.most:
            message = f"expected a number up to {tuning.most} in `.{directive.name}`, found {number.value}"
            why = "there are no more registers that a function could preserve"
            help = why if directive.name.startswith("abi") else None
            context.report("P225", message, number.span or directive.span, help=help)
            return
    for number in numbers if tuning.positive else ():
        if number.value == 0:
            message = f"expected a number above 0 in `.{directive.name}`, found 0"
            help = "leave the directive out, or give the number that you mean"
            context.report("P225", message, number.span or directive.span, help=help)
            return
    if directive.name in ("maxntid", "reqntid"):
        threads = prod(number.value for number in numbers)
        if threads > MAX_BLOCK[0]:
            asked = f"`.{directive.name}` of `{function.name}` asks for {counted(threads, 'thread')}"
            message = f"{asked}, more than the {MAX_BLOCK[0]} of a CTA"
            context.warn("P225", message, directive.span, help="declare what a launch can have")


def _check_company(context: Context, function: Function, directive: Directive, tuning: Tuning) -> None:
    other = function.directive(tuning.excludes) if tuning.excludes else None
    if other is not None:
        context.report(
            "P225",
            f"`.{directive.name}` and `.{other.name}` of `{function.name}` exclude each other",
            directive.span,
            labels=label_at(other.span, f"`.{other.name}` is here"),
            help="keep one of them",
        )
    missing = [name for name in tuning.requires if function.directive(name) is None]
    if missing:
        wanted = " and ".join(f"`.{name}`" for name in missing)
        message = f"`.{directive.name}` of `{function.name}` needs {wanted}"
        context.report("P225", message, directive.span, help=f"add {wanted}, whose numbers it counts with")


def check_pragma(context: Context, directive: Directive, place: Literal["body", "function", "file"]) -> None:
    """Check a `.pragma`.

    Args:
        context: where findings go.
        directive: the pragma.
        place: where it stands: in a function's body, before one, or outside of all functions, where ptxas
            refuses a string that it does not know.
    """
    for argument in directive.arguments:
        if not isinstance(argument, String):
            continue
        name, _, value = argument.value.partition(" ")
        since = PRAGMAS.get(name)
        span = argument.span or directive.span
        if since is None:
            if place != "file" or argument.value == "nounroll":
                continue
            message = f'ptxas does not know `.pragma "{argument.value}"` outside of all functions'
            help = 'for the whole file it takes `.pragma "nounroll";`; others belong in a body'
        elif not (availability := Availability.parse(since)).met(context.version, context.target):
            report_need(context, f'`.pragma "{name}"`', span, availability)
            continue
        elif name in INSIDE and place != "body":
            message = f'`.pragma "{name}"` is outside a function\'s body'
            help = "move it after the opening brace of its function"
        elif name == "frequency" and not (value.isdecimal() and value.strip("0")):
            message = f'expected a number above 0 in `.pragma "frequency"`, found `{value}`'
            help = 'write how often the block runs: `.pragma "frequency 64";`'
        else:
            continue
        context.report("P225", message, span, help=help)


def check_alias(context: Context, directive: Directive, scope: Scope) -> None:
    """Check `.alias a, b;`: `a` is a prototype of what `b` defines (11.6.5)."""
    names = [argument for argument in directive.arguments if isinstance(argument, Name)]
    functions: list[Function] = []
    for name in names:
        symbol = scope.lookup(name.name)
        declaration = symbol.declaration if symbol and symbol.kind is SymbolKind.FUNCTION else None
        if not isinstance(declaration, Function):
            context.report(
                "P201",
                f"function `{name.name}` of `.alias` is not declared",
                name.span or directive.span,
                help="an alias and what it stands for are both declared before: `.visible .func f();`",
            )
            return
        functions.append(declaration)
    if len(functions) != 2:
        return
    alias, original = functions
    why = _no_alias(context, alias, original)
    if why is not None:
        message, help = why
        span = names[0].span or directive.span
        labels = label_at(original.span, f"`{original.name}` is declared here")
        context.report("P227", message, span, labels=labels, help=help)
    elif alias.body is not None:
        context.report(
            "P202",
            f"alias `{alias.name}` has a body of its own",
            names[0].span,
            labels=label_at(alias.span, "defined here"),
            help="declare it without a body: `;` instead of `{ .. }`",
        )
    else:
        context.aliases[alias.name] = original


def _no_alias(context: Context, alias: Function, original: Function) -> tuple[str, str] | None:
    """Why one function can't be another name of the other, and what to do; None where it can."""
    earlier = context.aliases.get(alias.name)
    if alias.name == original.name:
        return f"`{alias.name}` can't be an alias of itself", "name the function that it stands for"
    for function in (alias, original):
        if function.kind == "entry":
            return f"expected a `.func` in `.alias`, found `.entry` `{function.name}`", "leave the alias out"
    if earlier is not None:
        return f"`{alias.name}` is an alias of `{earlier.name}` already", "keep one of them"
    if original.linkage in ("weak", "extern"):
        message = f"`.{original.linkage}` function `{original.name}` can't have an alias"
        return message, "write `.visible`, and define it here"
    noreturn = [function.directive("noreturn") is None for function in (alias, original)]
    differ = differs(alias, original) or ("`.noreturn`" if noreturn[0] != noreturn[1] else None)
    if differ is not None:
        return f"alias `{alias.name}` and `{original.name}` differ in {differ}", "declare both the same way"
    return None


def check_file(context: Context, directive: Directive, seen: dict[int, Directive]) -> None:
    """Check `.file`: each index names one file (11.5.2)."""
    index = directive.arguments[0] if directive.arguments else None
    if not isinstance(index, Integer):
        return
    earlier = seen.get(index.value)
    seen.setdefault(index.value, directive)
    if earlier is not None:
        context.report(
            "P202",
            f"file index {index.value} is given twice",
            index.span or directive.span,
            labels=label_at(earlier.span, "first given here"),
            help="number the files 1, 2, 3, ..",
        )
