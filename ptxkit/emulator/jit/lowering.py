"""Pure operations as LLVM IR: what each function of `operations/` computes, bit for bit.

A file of `lowerings/` covers the chapter that the file of the same name in `operations/` covers. A function,
registered in `Lowerings` by the name of a row, takes the instruction and returns a lowering. What no file
lowers, or is answered with None, stays with numpy. `tests/test_emulator_jit_operations.py` holds each form
against its numpy function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.asm.decode import Decoded

Lowering = Callable[..., Any]
"""Takes `Words` and a word for each source; returns the result, a tuple where there are several."""
Maker = Callable[[Decoded], Lowering | None]
"""Makes the lowering of an instruction, or says None."""

LOWERINGS: dict[tuple[str, str], Maker] = {}
"""The lowerings by chapter of the instruction set and name of the instruction, as `OPERATIONS` has them."""


class Lowerings:
    """Where a chapter's lowerings are registered, as operations are (`ptxkit.emulator.operation`)."""

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter

    def __call__(self, *names: str) -> Callable[[Maker], Maker]:
        """A decorator: what lowers instructions of these names, or says None."""

        def register(maker: Maker) -> Maker:
            for name in names:
                if LOWERINGS.setdefault((self.chapter, name), maker) is not maker:
                    raise ValueError(f"`{name}` of chapter {self.chapter} is lowered twice")
            return maker

        return register

    def elementwise(self, name: str, lowering: Lowering) -> None:
        """An instruction whose lowering is the same for all its types and modifiers."""
        self(name)(lambda form: lowering)


def find(form: Decoded) -> Lowering | None:
    """The lowering of an instruction that numpy computes; None where there is none."""
    made = LOWERINGS.get((form.row.chapter, form.row.name))
    return made(form) if made is not None else None


def same(words: Any, a: Any) -> Any:
    """The word itself: what `mov` does."""
    return a
