"""All libraries of a folder, judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..oracle import Verdict
from . import modules, record
from .judge import BATCH, judge
from .library import read
from .text import Text


def run(folder: Path, whole: Path | None, changes: int, seed: int) -> dict[str, Any]:
    """The document of what both say of the libraries below a folder, and of whole modules.

    Args:
        folder: one folder a library.
        whole: a folder with modules.
        changes: how many changed modules are judged.
        seed: of the changes.

    Raises:
        FileNotFoundError: there is no library.
    """
    libraries = [read(path) for path in sorted(folder.iterdir()) if path.is_dir()]
    if not libraries:
        raise FileNotFoundError(f"no libraries in {folder}")
    todo: dict[object, Text] = {}
    for library in libraries:
        for text in library.texts:
            todo.setdefault(text.key(), text)
    verdicts: dict[object, Sequence[Verdict]] = {}
    texts = list(todo.values())
    for start in range(0, len(texts), BATCH):
        verdicts |= {text.key(): found for text, found in judge(texts[start : start + BATCH])}
    judged = [(library, [(text, verdicts[text.key()]) for text in library.texts]) for library in libraries]
    part = modules.part(modules.verdicts(whole, changes, seed)) if whole else None
    return record.document(judged, part)
