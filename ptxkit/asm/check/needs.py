"""What asks for another PTX ISA version or target than the file has."""

from __future__ import annotations

from ptxkit import targets
from ptxkit.asm.check.context import Context, label_at
from ptxkit.diagnostics import Severity, Span
from ptxkit.isa.conditions import Availability


def report_need(
    context: Context,
    what: str,
    span: Span | None,
    availability: Availability,
    severity: Severity = Severity.ERROR,
) -> None:
    """P312 where the target is at fault, else P311."""
    reachable = [
        (version, needed)
        for version, needed in availability.alternatives
        if not needed or context.target.satisfies(needed)
    ]
    if reachable:
        oldest = targets.show(min(version for version, _ in reachable))
        context.report(
            "P311",
            f"{what} needs `.version {oldest}` or newer, found `{targets.show(context.version)}`",
            span,
            labels=label_at(context.version_span, "version set here"),
            help=f"write `.version {oldest}`",
            severity=severity,
        )
        return
    needed = availability.needed
    nearest = targets.nearest(context.target.name, needed)
    versions = [
        v for v, names in availability.alternatives if nearest and targets.TARGETS[nearest].satisfies(names)
    ]
    version = min(versions, default=availability.version)
    note: tuple[str, ...] = ()
    if context.version < version:
        note = (f"it also needs `.version {targets.show(version)}` or newer",)
    help = f"write `.target {nearest}`" if nearest else None
    asked = context.asked
    if asked is not None and nearest and not targets.TARGETS[nearest].runs_on(asked.capability):
        help = f"ask for `{nearest}` instead of `{asked.name}`"
    context.report(
        "P312",
        f"{what} needs {targets.describe(needed)}, found `{context.target.name}`",
        span,
        labels=label_at(context.target_span, "target set here"),
        notes=note,
        help=help,
        severity=severity,
    )
