"""Sources of other languages in `.nv_intermediate_source_section`. PTX ISA 11.5.6, as ptxas 13.5 takes it."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.check.needs import report_need
from ptxkit.asm.tree import SOURCES, Directive, Integer, Section, String
from ptxkit.isa.conditions import Availability

SINCE = Availability.parse("9.4")
LANGUAGE = "TileIR"
"""The one language that the manual has."""


def check_sources(context: Context, section: Section, files: dict[int, Directive]) -> None:
    """Check the sources of a section.

    Args:
        context: where findings go.
        section: the section.
        files: the `.file` of each index, of those before it.
    """
    if not SINCE.met(context.version, context.target):
        report_need(context, f"`{SOURCES}`", section.span, SINCE)
    for block in section.lines:
        if not isinstance(block, Directive):
            continue
        language, file, _ = block.arguments
        if isinstance(file, Integer) and file.value not in files:
            message = f"no `.file {file.value}` stands before the source that names it"
            help = 'name the file first: `.file 2 "kernel.tileir"`'
            context.report("P225", message, file.span or block.span, help=help)
        if isinstance(language, String) and language.value != LANGUAGE:
            message = f"expected `{LANGUAGE}` in `.ir_name`, found `{language.value}`"
            help = "the manual has no other language; ptxas takes any"
            context.warn("P222", message, language.span or block.span, help=help)
