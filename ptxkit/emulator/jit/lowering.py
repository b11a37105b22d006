"""Pure operations as LLVM IR: what each function of `operations/` computes, bit for bit.

A file of `lowerings/` covers the chapter that the file of the same name in `operations/` covers. A reader,
registered with `@lowers("add", "sub")`, takes the modifiers and returns a lowering. What no file lowers, or a
reader answers with None, stays with numpy. `tests/test_emulator_jit_operations.py` holds each form against
its numpy function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.operation import Modifiers, Unsupported

Lowering = Callable[..., Any]
"""Takes `Words` and a word for each source; returns the result, a tuple where there are several."""
Reader = Callable[[Modifiers], Lowering | None]

LOWERED: dict[str, dict[str | None, Reader]] = {}
"""The readers of each opcode by the types they take, joined as in `Modifiers.types`; None takes any."""


def lowers(*opcodes: str, types: Sequence[str] | None = None) -> Callable[[Reader], Reader]:
    """Register a reader of modifiers for these opcodes, as `ptxkit.emulator.operation.pure` does."""

    def register(reader: Reader) -> Reader:
        for opcode in opcodes:
            readers = LOWERED.setdefault(opcode, {})
            for key in types if types is not None else (None,):
                if key in readers:
                    raise ValueError(f"`{opcode}` of type {key} is lowered twice")
                readers[key] = reader
        return reader

    return register


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


def find(modifiers: Modifiers | Decoded) -> Lowering | None:
    """The lowering for these modifiers of an operation that numpy has; None where there is none."""
    if isinstance(modifiers, Decoded):
        made = LOWERINGS.get((modifiers.row.chapter, modifiers.row.name))
        return made(modifiers) if made is not None else None
    modifiers = modifiers.copy()
    readers = LOWERED.get(modifiers.opcode, {})
    reader = readers.get(modifiers.types, readers.get(None))
    if reader is None:
        return None
    try:
        found = reader(modifiers)
    except Unsupported:
        return None
    return found if not modifiers.left else None


def same(words: Any, a: Any) -> Any:
    """The word itself: what `mov` does."""
    return a
