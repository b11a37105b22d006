"""Every name that a package of ptxkit gives out is documented, and every public method of its classes."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

import ptxkit

PACKAGES = [
    "ptxkit",
    *(found.name for found in pkgutil.walk_packages(ptxkit.__path__, "ptxkit.") if found.ispkg),
]
"""All packages; those that need an extra are left out where it is missing."""


def given_out(package: str) -> Iterator[tuple[str, object]]:
    module = pytest.importorskip(package)
    for name in getattr(module, "__all__", ()):
        found = getattr(module, name)
        if (inspect.isclass(found) or callable(found)) and getattr(found, "__module__", "").startswith(
            "ptxkit"
        ):
            yield name, found


def undocumented(name: str, found: object) -> Iterator[str]:
    """Names without a docstring of their own or of what they override; a signature is none."""
    said = inspect.getdoc(found)
    if not said or said.startswith(f"{name}("):
        yield name
    for attribute, value in vars(found).items() if inspect.isclass(found) else ():
        is_method = inspect.isroutine(value) or isinstance(value, property | classmethod | staticmethod)
        if is_method and not attribute.startswith("_") and not inspect.getdoc(getattr(found, attribute)):
            yield f"{name}.{attribute}"


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_gives_out_is_documented(package: str) -> None:
    missing = [path for name, found in given_out(package) for path in undocumented(name, found)]
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_it_is(package: str) -> None:
    assert inspect.getdoc(pytest.importorskip(package))


def test_the_public_names_are_there() -> None:
    assert len(list(given_out("ptxkit"))) > 10
    for name in ptxkit.__all__:
        assert getattr(ptxkit, name) is not None
    assert sorted(ptxkit.__all__) == dir(ptxkit)
    assert import_module("ptxkit.asm").parse is ptxkit.parse
