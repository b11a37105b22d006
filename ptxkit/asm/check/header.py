"""`.version`, `.target` and `.address_size`. PTX ISA 11.1."""

from __future__ import annotations

from ptxkit import targets
from ptxkit.asm.check.context import Context, did_you_mean, label_at
from ptxkit.asm.tree import Directive, Integer, Malformed, Module, Name
from ptxkit.diagnostics import Severity, Span
from ptxkit.targets import NEWEST_VERSION, RELEASES, TARGETS, show

_FIRST = Span(1, 1, 1, 2)
_HEADER = ("version", "target", "address_size")


def check_header(context: Context) -> None:
    """Set the version and target in force and report what is wrong with them."""
    statements = context.module.statements
    directives = [s for s in statements if isinstance(s, Directive)]
    version = next((d for d in directives if d.name == "version"), None)
    target = next((d for d in directives if d.name == "target"), None)
    address_size = next((d for d in directives if d.name == "address_size"), None)
    _check_version(context, version)
    if target is None:
        if header_only(context.module) and (context.found or not context.module.complete):
            return
        wanted = context.asked.name if context.asked else "sm_90"
        span, help = version.span if version else _FIRST, f"name the architecture: `.target {wanted}`"
        context.report("P304", "expected a `.target` after `.version`, found none", span, help=help)
        if context.asked:
            context.target = context.asked
    else:
        check_target(context, target)
    if version is not None and target is not None:
        _check_order(context, version, target)
    if address_size is not None:
        _check_address_size(context, address_size)


def _check_order(context: Context, version: Directive, target: Directive) -> None:
    """`.version` is the first statement and `.target` the second; 11.1.1, 11.1.2."""
    for found, wanted, code, message, help in (
        (context.module.statements[0], version, "P301", "expected `.version` before anything else",
         "move `.version` to the start of the file"),
        (context.module.statements[1], target, "P304", "expected `.target` right after `.version`",
         "move `.target` up"),
    ):  # fmt: skip
        if found is not wanted:
            if not isinstance(found, Malformed):
                labels = label_at(wanted.span, "it stands here")
                context.report(code, message, found.span, labels=labels, help=help)
            return


def header_only(module: Module) -> bool:
    """Whether nothing comes after the header; then the rest of it may be missing like all that follows."""
    return all(
        isinstance(s, Malformed) or (isinstance(s, Directive) and s.name in _HEADER)
        for s in module.statements
    )


def _check_version(context: Context, directive: Directive | None) -> None:
    wanted = show(NEWEST_VERSION)
    if directive is None:
        if header_only(context.module) and not context.module.complete:
            return
        message = "expected `.version` at the start of the file, found none"
        context.report("P301", message, _FIRST, help=f"begin with `.version {wanted}`")
        return
    version = context.module.version
    span = directive.arguments[0].span if directive.arguments else directive.span
    context.version_span = span
    if version is None:
        context.report("P302", "expected a version like `9.0`", span, help=f"write `.version {wanted}`")
    elif version > NEWEST_VERSION:
        context.report(
            "P303",
            f"`.version {show(version)}` is newer than {wanted}, the newest that ptxkit knows",
            span,
            severity=Severity.NOTE,
            help=f"what {wanted} has is checked; instructions that came later are reported as unknown",
        )
        context.version = version
    elif version not in RELEASES:
        near = max((known for known in RELEASES if known < version), default=(1, 0))
        context.report(
            "P302",
            f"there is no PTX ISA version `{show(version)}`",
            span,
            help=f"the nearest older one is `.version {show(near)}`",
        )
    else:
        context.version = version


def check_target(context: Context, directive: Directive) -> None:
    """Put one `.target` in force: the first of the file, or a later one (11.1.2)."""
    names = [argument for argument in directive.arguments if isinstance(argument, Name)]
    architecture = None
    modes: dict[str, Name] = {}
    for name in names:
        found = targets.parse(name.name)
        if found is not None:
            architecture = architecture or (found, name)
        elif name.name in targets.OPTIONS:
            modes[name.name] = name
        else:
            context.report(
                "P305",
                f"there is no target `{name.name}`",
                name.span,
                help=did_you_mean(name.name, [*TARGETS, *targets.OPTIONS])
                or f"targets are {', '.join(f'`{known}`' for known in targets.SUPPORTED[:8])}, ..",
            )
            if targets.looks_like_target(name.name):
                architecture = architecture or (context.target, name)
    if architecture is None:
        if not any(d.code == "P305" and d.span == (names[0].span if names else None) for d in context.found):
            message = "expected an architecture in `.target`, found none"
            context.report("P304", message, directive.span, help="name it: `.target sm_90`")
        return
    target, name = architecture
    context.target, context.target_span = target, name.span
    context.settled.clear()
    context.independent = "texmode_independent" in modes
    _check_options(context, modes, target)
    if context.version < target.since:
        context.report(
            "P306",
            f"`.target {name.name}` needs `.version {show(target.since)}` or newer, "
            f"found `{show(context.version)}`",
            name.span,
            labels=label_at(context.version_span, "version set here"),
            help=f"write `.version {show(target.since)}`",
        )
    if context.asked is not None and not _loads(target, context.asked):
        context.report(
            "P313",
            f"PTX for `{name.name}` does not run on `{context.asked.name}`",
            name.span,
            help=_loads_help(target, context.asked),
        )
        context.target, context.target_span = context.asked, None


def _loads(target: targets.Target, asked: targets.Target) -> bool:
    return target.runs_on(asked.capability)


def _loads_help(target: targets.Target, asked: targets.Target) -> str:
    if target.suffix == "a":
        return f"an `a` target runs only on that part; write `.target {asked.name}`"
    if target.suffix == "f" and target.family != asked.family:
        return f"an `f` target runs only on parts of its family; write `.target {asked.name}`"
    return f"PTX runs on the same or newer parts: ask for `{target.name}`, or write `.target {asked.name}`"


def _check_options(context: Context, modes: dict[str, Name], target: targets.Target) -> None:
    if "texmode_unified" in modes and "texmode_independent" in modes:
        message = "`texmode_unified` and `texmode_independent` exclude each other"
        help = "keep one of them; without either, the mode is unified"
        context.report("P309", message, modes["texmode_independent"].span, help=help)
    if "map_f64_to_f32" in modes and target.number >= 13:
        message = f"`map_f64_to_f32` is for targets before `sm_13`, found `{target.name}`"
        help = "leave it out: this target has double precision"
        context.report("P309", message, modes["map_f64_to_f32"].span, help=help)


def _check_address_size(context: Context, directive: Directive) -> None:
    size = directive.arguments[0] if directive.arguments else None
    if not isinstance(size, Integer) or size.value not in (32, 64):
        message = "expected an address size of 32 or 64"
    elif size.value == 32 and context.target.number >= 90:
        message = f"32-bit addresses are not supported on `{context.target.name}`"
    else:
        return
    span = size.span if size else directive.span
    context.report("P310", message, span, help="write `.address_size 64`")
