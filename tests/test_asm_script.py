"""`ptxkit script`: the script makes an equal tree again, for the corpus, the kernels and generated trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asm_corpus import each_file, each_small_file
from asm_trees import modules
from hypothesis import HealthCheck, given, settings

import ptxkit
from ptxkit.asm.script import script
from ptxkit.asm.tree import Module

KERNELS = sorted((Path(__file__).resolve().parents[1] / "kernels_ptx").rglob("*.ptx"))
calm = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def executed(text: str) -> Module:
    """The module that a script makes."""
    found: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, "<script>", "exec"), found)
    made = found["module"]
    assert isinstance(made, Module)
    return made


def made_again(path: Path) -> str:
    """The script of a file, after proof that it makes the tree, the comments and the spellings again."""
    module = ptxkit.parse(path)
    text = script(module)
    again = executed(text)
    assert again == module
    assert ptxkit.write(again, canonical=True) == ptxkit.write(module, canonical=True)
    return text


@each_small_file
def test_corpus(path: Path) -> None:
    made_again(path)


@pytest.mark.slow
@each_file
def test_whole_corpus(path: Path) -> None:
    assert ".append(" not in made_again(path)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    assert ".append(" not in made_again(path)


@calm
@given(modules)
def test_generated_trees(module: Module) -> None:
    assert executed(script(module)) == module
