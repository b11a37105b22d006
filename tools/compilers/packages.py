"""What the Python that runs a script of this folder has of the packages that it needs."""

from __future__ import annotations

import sys
from importlib import metadata


def versions(*names: str) -> dict[str, str]:
    """The versions of packages by name, of those that are there."""
    there = {}
    for name in names:
        try:
            there[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return there


def demand(install: str, *names: str) -> None:
    """End the process with a sentence where a package is missing.

    Args:
        install: what pip installs to bring them all.
        names: of the packages.
    """
    if missing := sorted({*names} - {*versions(*names)}):
        sys.exit(f"{sys.executable} has no {', '.join(missing)}: pip install {install}")
