"""The public names: what `import ptxkit` gives, however it is reached."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ptxkit


@pytest.mark.parametrize("name", ptxkit.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(ptxkit, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute `chekc`"):
        ptxkit.chekc  # noqa: B018


def test_the_checker_is_callable_after_its_package_was_imported() -> None:
    code = "import ptxkit.asm.check.allow, ptxkit; print(ptxkit.check(ptxkit.parse('.version 9.0\\n')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "P3" in done.stdout


def test_importing_ptxkit_and_its_checker_loads_nothing_heavy() -> None:
    code = (
        "import sys, ptxkit, ptxkit.asm.check; ptxkit.parse('\\n');"
        "print(sorted({'numpy', 'ml_dtypes', 'rich', 'cuda', 'lark'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
