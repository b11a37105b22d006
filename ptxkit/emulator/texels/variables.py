"""Opaque variables of a module: `.texref`, `.samplerref`, `.surfref`. PTX ISA 5.3."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol
from ptxkit.emulator.constants import literal
from ptxkit.emulator.texels.objects import OPAQUE_KINDS, OpaqueVariable, SamplerObject, initial_sampler


def opaque_variable(symbol: Symbol) -> OpaqueVariable:
    """What a variable of an opaque type stands for at first: a sampler is what its initial value says, the
    others wait for the host to bind something."""
    variable = OpaqueVariable(symbol.name, OPAQUE_KINDS[symbol.type], _members(symbol))
    if variable.kind is SamplerObject:
        variable.bound = initial_sampler(variable.members)
    return variable


def _members(symbol: Symbol) -> dict[str, int | str]:
    """What the initial value of an opaque variable says of its members: numbers, or words."""
    value = symbol.declarator.initializer if symbol.declarator is not None else None
    found: dict[str, int | str] = {}
    for element in value.elements if isinstance(value, tree.Vector) else ():
        if isinstance(element, tree.Binary) and isinstance(element.left, tree.Name):
            given = element.right
            number = None if isinstance(given, tree.Name) else literal(given, "u32")
            found[element.left.name] = given.name if isinstance(given, tree.Name) else number or 0
    return found
