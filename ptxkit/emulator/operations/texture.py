"""Textures and surfaces, which are not emulated. PTX ISA 9.7.10, 9.7.11."""

from __future__ import annotations

from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.operation import Unsupported

texture = Effects("texture")
surface = Effects("surface")


@texture("tex", "tex.base", "tex.level", "tex.grad", "tld4", "txq", "txq.level", "istypep")
@surface("suld.b", "sust.b", "sust.p", "sured.b", "sured.p", "suq")
def refuse(instruction: ScopedInstruction) -> Effect:
    """Every instruction on textures, samplers and surfaces."""
    raise Unsupported("textures and surfaces are not emulated")
