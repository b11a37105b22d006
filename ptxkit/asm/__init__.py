"""PTX text to tree and back: `parse`, `write` and `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.asm.parse import parse
from ptxkit.asm.tree import Module
from ptxkit.asm.write import write

if TYPE_CHECKING:
    from ptxkit.asm.check import check as check

__all__ = ["Module", "check", "parse", "write"]


def __getattr__(name: str) -> Any:
    """`check` loads the instruction set, so it waits until somebody asks for it."""
    if name == "check":
        from importlib import import_module

        value = import_module("ptxkit.asm.check").check
        globals()["check"] = value
        return value
    raise AttributeError(f"module `ptxkit.asm` has no attribute `{name}`")
