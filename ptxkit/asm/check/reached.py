"""What a launch of an entry can reach of its module: of a large one nothing else is read and checked."""

from __future__ import annotations

from ptxkit.asm.check import check_read
from ptxkit.asm.flow import operand_names
from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.symbols import LISTS, listed
from ptxkit.asm.tree import Directive, Function, Instruction, Module, Name, walk
from ptxkit.asm.unread import is_read
from ptxkit.diagnostics import PtxkitError


class CheckedFunctions:
    """The functions of a module that were checked: those that had been read, then what launches reach.

    Args:
        module: whose statements outside of functions were checked.
        target: that it is checked for; None for its own.
    """

    def __init__(self, module: Module, target: str | None) -> None:
        self._module = module
        self._target = target
        self._functions = {each.name: each for each in module.functions if each.body is not None}
        self._names = {each.name for each in module.functions}
        self._aliases: dict[str, str] = {}
        for statement in module.statements:
            if isinstance(statement, Directive) and statement.name == "alias":
                names = [argument.name for argument in statement.arguments if isinstance(argument, Name)]
                self._aliases[names[0]] = names[-1]
        self._checked = {name for name, function in self._functions.items() if is_read(function)}

    @gc_paused()
    def reach(self, entry: Function) -> None:
        """Read and check an entry and what it can call, where that has not been done.

        Raises:
            PtxkitError: the errors in them.
        """
        if len(self._checked) == len(self._functions):
            return
        new = [one for one in self.reached(entry) if one.name not in self._checked]
        if not new:
            return
        found = check_read(self._module, self._target, new, lints=False)
        if errors := [each for each in found if each.is_error]:
            raise PtxkitError(errors)
        self._checked.update(function.name for function in new)

    def reached(self, entry: Function) -> list[Function]:
        """An entry and every function that it can call, by the names in their texts; all functions where one
        calls through a pointer without a list of targets."""
        found = {entry.name: entry}
        waiting = [entry]
        while waiting:
            for name in self._named(waiting.pop()):
                other = self._functions.get(self._aliases.get(name, name))
                if other is not None and other.name not in found:
                    found[other.name] = other
                    waiting.append(other)
        return [*found.values()]

    def _named(self, function: Function) -> dict[str, None]:
        """The functions and aliases that a function names, and all functions where it may call others."""
        known = self._names | self._aliases.keys()
        named: dict[str, None] = {}
        for statement in walk(function.body.statements if function.body else []):
            if isinstance(statement, Directive) and statement.name in LISTS:
                named.update((name.name, None) for name in listed(statement))
            elif isinstance(statement, Instruction):
                names = [name.name for operand in statement.operands for name in operand_names(operand)]
                named.update((name, None) for name in names if name in known)
                if statement.opcode == "call" and known.isdisjoint(names):
                    named.update(
                        (name, None) for name, each in self._functions.items() if each.kind == "func"
                    )
        return named
