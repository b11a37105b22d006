"""Which files of `operations/` have the operations of a chapter of the instruction set.

A file registers its operations when it is imported. `load_operation` imports files of a chapter until one has
registered the instruction, so that a run loads what its kernel has and little more.
"""

from functools import cache
from importlib import import_module

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
    "movement": ("data_movement", "load_store", "warp", "cluster", "asynchronous_store", "atomic"),
    "bulk_copies": ("tensor_map",),
    "compression": ("sparse_vectors", "matrix.mma", "matrix.move"),
    "memory": ("load_store", "atomic", "barrier", "control_flow", "asynchronous_store"),
    "video": ("video",),
    "control": ("control_flow", "call"),
    "miscellaneous": ("control_flow", "registers"),
    "stack": ("stack",),
    "texture": ("texture",),
    "surface": ("texture",),
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
    "matrix": ("matrix.mma", "matrix.move", "matrix.wmma"),
    "wgmma": ("wgmma",),
    "tcgen05": tuple(f"tensor_memory.{file}" for file in ("allocate", "copy", "mma", "move", "synchronise")),
}
"""The files that have the operations of each chapter of the instruction set, what most kernels need first."""

REGISTERED: set[tuple[str, str]] = set()
"""Chapter and name of every instruction whose operation or effect is there."""


@cache
def load_operation(chapter: str, name: str) -> None:
    """Import files of a chapter until one of them has registered an instruction; all, where none has it."""
    for file in CHAPTERS.get(chapter, ()):
        if (chapter, name) in REGISTERED:
            return
        import_module(f"ptxkit.emulator.operations.{file}")
