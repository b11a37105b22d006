"""Records for profilers in `.metadata_section`. No manual has them; the rules are those of ptxas 13.5."""

from __future__ import annotations

from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.tree import Directive, Instruction, Integer, Section, Unary, Vector, walk
from ptxkit.asm.unread import is_read
from ptxkit.isa.conditions import Availability

DOMAIN = Availability.parse("9.5 sm_107f")
"""What has `.metadata_domain`, as it has `trace.mark`."""


def check_metadata(context: Context, section: Section, earlier: Section | None) -> None:
    """Check the records of a section.

    Args:
        context: where findings go.
        section: the section.
        earlier: one before it, of which there must be none.
    """
    if earlier is not None:
        labels = label_at(earlier.span, "first given here")
        message = "there is a second `.metadata_section`"
        context.report("P225", message, section.span, labels=labels, help="put all records into one")
    seen: dict[int, Directive] = {}
    domain = False
    for position, line in enumerate(section.lines):
        if not isinstance(line, Directive) or not isinstance(line.arguments[0], Integer):
            continue
        number = line.arguments[0].value
        if line.name == "metadata_domain":
            _check_domain(context, line, number, position)
            domain = True
            continue
        first = seen.setdefault(number, line)
        if first is not line:
            labels = label_at(first.span, "first given here")
            message = f"metadata {number} is given twice"
            context.report("P225", message, line.span, labels=labels, help="number each record otherwise")
        _check_size(context, line, line.arguments[0])
        fields = line.arguments[1]
        for field in fields.elements if isinstance(fields, Vector) else ():
            if isinstance(field, Unary) and isinstance(field.operand, Integer):
                _check_size(context, line, field.operand)
    if not domain:
        _check_marks(context)


def _check_domain(context: Context, line: Directive, number: int, position: int) -> None:
    """`.metadata_domain 1`: once, first, and of that number."""
    if position:
        message, help = "`.metadata_domain` stands after another record", "write it once, and first"
    elif number != 1:
        message, help = f"expected 1 in `.metadata_domain`, found {number}", "there is no other domain"
    else:
        if not DOMAIN.met(context.version, context.target):
            report_need(context, "`.metadata_domain`", line.span, DOMAIN)
        return
    context.report("P225", message, line.span, help=help)


def _check_size(context: Context, line: Directive, number: Integer) -> None:
    if number.value >= 2**32:
        message = f"expected a number of 32 bits in `.metadata`, found {number.value}"
        context.report("P225", message, number.span or line.span, help="whatever the type says")


def _check_marks(context: Context) -> None:
    """A module with records, but without a domain, has no `trace.mark`."""
    functions = (function for function in context.module.functions if function.body and is_read(function))
    for function in functions:
        for statement in walk([function]):
            if isinstance(statement, Instruction) and statement.spelling.startswith("trace.mark"):
                message = f"`{statement.spelling}` needs `.metadata_domain 1` in the `.metadata_section`"
                context.report("P225", message, statement.span, help="write it first in that section")
                return
