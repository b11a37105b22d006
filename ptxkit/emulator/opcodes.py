"""Which files of `operations/` have the operations of a chapter of the instruction set.

A file registers its operations when it is imported. `load_chapter` imports those of a chapter, so that a run
loads what its kernel has and no more.
"""

from functools import cache
from importlib import import_module

CHAPTERS = {
    "integer": ("integer",),
    "extended": ("extended_precision",),
    "logic": ("logic",),
    "floating": ("floating",),
    "half": ("half",),
    "mixed": ("mixed_precision",),
    "comparison": ("comparison",),
    "conversion": ("conversion", "data_movement"),
    "movement": ("asynchronous_store", "cluster", "data_movement", "load_store", "multimem", "warp"),
    "video": ("video",),
    "control": ("control_flow", "call"),
    "miscellaneous": ("control_flow", "registers"),
    "stack": ("stack",),
    "texture": ("texture",),
    "surface": ("texture",),
    "synchronization": (
        "asynchronous_store",
        "atomic",
        "barrier",
        "cluster",
        "control_flow",
        "launch_control",
        "tensor_map",
        "warp",
    ),
    "asynchronous_copy": ("asynchronous_copy", "bulk_copy", "tensor_copy", "tensor_map"),
    "mbarrier": ("mbarrier",),
    "matrix": ("matrix.mma", "matrix.move", "matrix.wmma"),
    "wgmma": ("wgmma",),
    "tcgen05": tuple(f"tensor_memory.{file}" for file in ("allocate", "copy", "mma", "move", "synchronise")),
}
"""The files that have the operations of each chapter of the instruction set."""


@cache
def load_chapter(chapter: str) -> None:
    """Import the files that have the operations of a chapter."""
    for file in CHAPTERS.get(chapter, ()):
        import_module(f"ptxkit.emulator.operations.{file}")
