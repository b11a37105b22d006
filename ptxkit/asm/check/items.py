"""The statements of a module, one by one, without the bodies of its functions."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import check_module_level
from ptxkit.asm.check.directives import check_alias, check_file, check_pragma, check_tuning
from ptxkit.asm.check.metadata import check_metadata
from ptxkit.asm.check.parameters import check_function
from ptxkit.asm.check.redeclarations import check_again
from ptxkit.asm.check.sources import check_sources
from ptxkit.asm.symbols import Scope
from ptxkit.asm.tree import METADATA, SOURCES, Directive, Function, Section, Statement, Variable


class Items:
    """What a module's statements are checked against: those before them.

    Attributes:
        context: where findings go.
        scope: the module's, to which the caller declares names.
        files: the `.file` of each index.
        metadata: the `.metadata_section`, where there is one.
    """

    def __init__(self, context: Context, scope: Scope) -> None:
        self.context = context
        self.scope = scope
        self.files: dict[int, Directive] = {}
        self.metadata: Section | None = None

    def check(self, statement: Statement) -> None:
        """Check one statement; of a function its header."""
        context = self.context
        check_again(context, statement, context.declared)
        if isinstance(statement, Function):
            check_function(context, statement)
            check_tuning(context, statement)
        elif isinstance(statement, Variable):
            check_module_level(context, statement, self.scope)
        elif isinstance(statement, Directive):
            if statement.name == "pragma":
                check_pragma(context, statement, "file")
            elif statement.name == "alias":
                check_alias(context, statement, self.scope)
            elif statement.name == "file":
                check_file(context, statement, self.files)
        elif isinstance(statement, Section) and statement.name == METADATA:
            check_metadata(context, statement, self.metadata)
            self.metadata = self.metadata or statement
        elif isinstance(statement, Section) and statement.name == SOURCES:
            check_sources(context, statement, self.files)
