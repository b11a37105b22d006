"""Public names that load their home on first use, so that importing a package stays instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(namespace: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        namespace: the package's `globals()`, where names stay once they are loaded.
        homes: the module that each name lies in.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module `{namespace['__name__']}` has no attribute `{name}`")
        namespace[name] = value = getattr(import_module(homes[name]), name)
        return value

    return load
