"""Which files of `operations/` have the operations of a chapter of the instruction set.

A file registers its operations when it is imported. `load_operation` imports files of a chapter until one has
registered the instruction, so that a run loads what its kernel has and little more.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

CHAPTERS = {
    "integer": ("integer",),
    "packed": ("packed", "integer"),
    "narrow": ("narrow_conversion",),
    "extended": ("extended_precision",),
    "logic": ("logic",),
    "floating": ("floating",),
    "half": ("half",),
    "mixed": ("floating",),
    "comparison": ("comparison",),
    "conversion": ("data_movement", "conversion"),
    "movement": ("data_movement", "load_store", "warp", "cluster", "asynchronous_store", "multimem"),
    "bulk_copies": ("bulk_copy", "tensor_copy", "tensor_map"),
    "compression": (
        "sparse_vectors",
        "matrix.mma",
        "matrix.move",
        "matrix.wmma",
        "tensor_memory.allocate",
        "tensor_memory.mma",
        "tensor_memory.load",
        "tensor_memory.synchronise",
    ),
    "memory": ("load_store", "atomic", "barrier", "control_flow", "asynchronous_store", "multimem"),
    "fabric": ("fabric", "fabric_tensor"),
    "video": ("video",),
    "control": ("control_flow", "call"),
    "miscellaneous": ("control_flow", "registers"),
    "stack": ("stack",),
    "texture": ("texture",),
    "surface": ("surface",),
    "synchronization": (
        "barrier",
        "warp",
        "atomic",
        "control_flow",
        "cluster",
        "asynchronous_store",
        "launch_control",
        "tensor_map",
    ),
    "asynchronous_copy": ("asynchronous_copy", "bulk_copy", "tensor_copy", "tensor_map"),
    "mbarrier": ("mbarrier",),
    "mbarrier_reports": ("mbarrier",),
    "matrix": ("matrix.mma", "matrix.move", "matrix.wmma"),
    "wgmma": ("wgmma",),
    "tcgen05": tuple(f"tensor_memory.{file}" for file in ("allocate", "load", "mma", "move", "synchronise")),
}
"""The files that have the operations of each chapter of the instruction set, what most kernels need first."""

Readers = dict[tuple[str, str], Any]
"""Readers of instructions by chapter of the instruction set and name of the row (`mul.lo`)."""
OPERATIONS: Readers = {}
EFFECTS: Readers = {}
Reader = TypeVar("Reader", bound=Callable[..., Any])


class ChapterReaders(Generic[Reader]):
    """Where what reads a chapter's instructions is registered, by the names of their rows.

    `ptxkit.isa` has a file a chapter, and its rows know what type each operand has and which modifiers go
    together; so a reader is asked for what a row allows, and for nothing else.

    Args:
        chapter: the name of that file.
    """

    readers: ClassVar[Readers]

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter

    def __call__(self, *names: str) -> Callable[[Reader], Reader]:
        """A decorator: the reader of instructions of these names."""

        def register(reader: Reader) -> Reader:
            for name in names:
                if self.readers.setdefault((self.chapter, name), reader) is not reader:
                    raise ValueError(f"`{name}` of chapter {self.chapter} is registered twice")
            return reader

        return register


@cache
def load_operation(chapter: str, name: str) -> None:
    """Import files of a chapter until one of them has registered an instruction; all, where none has it."""
    for file in CHAPTERS.get(chapter, ()):
        if (chapter, name) in OPERATIONS or (chapter, name) in EFFECTS:
            return
        import_module(f"ptxkit.emulator.operations.{file}")
