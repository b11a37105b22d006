"""PTX text to tree and back: `parse` and `write`. The checker, `ptxkit.asm.check`, loads the instruction set."""

from ptxkit.asm.parse import parse
from ptxkit.asm.tree import Module
from ptxkit.asm.write import write

__all__ = ["Module", "parse", "write"]
