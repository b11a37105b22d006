"""PTX text to tree: `parse`. The way back (`ptxkit.asm.write`) and the checker (`ptxkit.asm.check`) load apart."""

from ptxkit.asm.parse import parse
from ptxkit.asm.tree import Module

__all__ = ["Module", "parse"]
