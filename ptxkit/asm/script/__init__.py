"""The Python script that makes a module again: `script`.

It calls the builder (`ptxkit.asm.build`) statement by statement; executing it gives a tree equal to the one
it was made from. What the builder would refuse, because the checker has something against it, is added as a
plain node (`k.append(Instruction(..))`), so that a faulty module comes back as it was.

Comments between statements and empty lines come along; comments inside a statement move before it. Not kept:
lines that begin with `#`, and an unusual order of a declaration's specifiers.
"""

from __future__ import annotations

from ptxkit.asm.script.module import ModuleScript
from ptxkit.asm.tree import Malformed, Module, walk
from ptxkit.diagnostics import Diagnostic, PtxkitError

__all__ = ["script"]


def script(module: Module) -> str:
    """The text of a Python script whose `module` is equal to this one.

    Raises:
        PtxkitError: the module has syntax errors, which are its diagnostics.
    """
    errors = [diagnostic for diagnostic in module.diagnostics if diagnostic.is_error]
    if errors or any(isinstance(statement, Malformed) for statement in walk(module.statements)):
        raise PtxkitError(errors or [Diagnostic("P101", "the module holds text that could not be read")])
    return ModuleScript(module).text()
