"""PTX text to tree and back: `parse` and `write`. `ptxkit.asm.check` is the checker, loaded apart."""

from ptxkit.asm.parse import parse
from ptxkit.asm.tree import Module
from ptxkit.asm.write import write

__all__ = ["Module", "parse", "write"]
