"""Programs by name: how one is made and called, what is recorded of it, what it says when it is right."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a list.

    Attributes:
        name: of the folder that takes its record.
        command: it and its arguments.
        make: the command that makes it; empty where nothing needs to be made.
        arch: the target that the virtual GPU plays.
        kernels: a regular expression that a recorded kernel's name holds.
        first: how many launches of each kernel are recorded.
        says: what it prints where its numbers are right.
    """

    name: str
    command: tuple[str, ...]
    make: tuple[str, ...] = ()
    arch: str = "sm_90a"
    kernels: str = ""
    first: int = 1
    says: str = ""

    def build(self) -> int:
        """Make it; returns the exit code."""
        return subprocess.run(self.make).returncode if self.make else 0


def programs(path: Path, places: dict[str, str]) -> dict[str, Program]:
    """The programs of a list, by name.

    Args:
        path: a TOML file with a table for each program, whose keys are the attributes of `Program`.
        places: what `{name}` stands for in the words of its commands; `{python}` is this Python.

    Raises:
        ValueError: a key that no program has, or a place that is not given.
    """
    known = {"python": sys.executable, **places}
    return {
        name: _program(name, told, known) for name, told in tomllib.loads(path.read_text("utf-8")).items()
    }


def _program(name: str, told: dict[str, Any], places: dict[str, str]) -> Program:
    if unknown := sorted(set(told) - set(Program.__slots__)):
        raise ValueError(f"{name}: no program has {', '.join(unknown)}")
    words = {key: _filled(name, told.get(key, ()), places) for key in ("command", "make")}
    if not words["command"]:
        raise ValueError(f"{name}: `command` is missing")
    return Program(**{**told, "name": name, **words})


def _filled(name: str, words: list[str], places: dict[str, str]) -> tuple[str, ...]:
    try:
        return tuple(word.format_map(places) for word in words)
    except KeyError as missing:
        raise ValueError(f"{name}: give --place {missing.args[0]}=FOLDER") from None
