"""PTX text to tree: `parse`. The way back (`.write`) and the checker (`.check`) are loaded apart."""

from ptxkit.asm.parse import parse
from ptxkit.asm.tree import Module

__all__ = ["Module", "parse"]
