"""The settings of a project: `[tool.ptxkit]` in pyproject.toml, or the whole of ptxkit.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import error, reason
from ptxkit.rules import Rules, from_table


def project_rules(folder: Path) -> Rules:
    """What the project of a folder wants of the emulator's rules: its table `[sanitizer]`.

    Raises:
        PtxkitError: P519, the settings can't be read, or have another key; P518, what is wrong in the table.
    """
    where, found = _settings(folder)
    for key in found:
        if key != "sanitizer":
            raise error("P519", f"expected `sanitizer` in the settings of `{where}`, found `{key}`")
    return from_table(found.get("sanitizer", {}))


def _settings(folder: Path) -> tuple[Path | None, Mapping[str, Any]]:
    """The file nearest above a folder that has settings, and the settings; None and nothing where none has.

    Raises:
        PtxkitError: P519, it can't be read, or is no TOML.
    """
    for parent in (folder, *folder.parents):
        for name, path in (("ptxkit.toml", ()), ("pyproject.toml", ("tool", "ptxkit"))):
            file = parent / name
            if not file.is_file():
                continue
            try:
                found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as problem:
                raise error("P519", f"`{file}` can't be read: {reason(problem)}") from None
            for key in path:
                found = found.get(key) if isinstance(found, Mapping) else None
            if isinstance(found, Mapping):
                return file, found
    return None, {}
