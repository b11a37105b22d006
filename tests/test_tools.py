"""The programs in tools/: each says what it does before it does anything."""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = [
    *(path for path in sorted((ROOT / "tools").glob("*.py")) if "__main__" in path.read_text("utf-8")),
    *sorted((ROOT / "tools").glob("*/__main__.py")),
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int | str | None]:
    """Runs a program with arguments in an empty folder; gives what it exits with."""

    def run(program: Path, *arguments: str) -> int | str | None:
        package = program.name == "__main__.py"
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [str(ROOT if package else program.parent), *sys.path])
        monkeypatch.setattr(sys, "argv", [str(program), *arguments])
        start, name = (
            (runpy.run_module, f"tools.{program.parent.name}") if package else (runpy.run_path, str(program))
        )
        with pytest.raises(SystemExit) as ended:
            start(name, run_name="__main__")
        return ended.value.code

    return run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.relative_to(ROOT / "tools").as_posix())
def test_a_tool_explains_itself(
    program: Path, run: Callable[..., int | str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(program, "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    described = ast.get_docstring(ast.parse(program.read_text("utf-8")))
    assert described is not None
    assert " ".join(described.split("\n\n")[0].split()) in shown


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.relative_to(ROOT / "tools").as_posix())
def test_a_tool_refuses_what_it_does_not_know(
    program: Path, run: Callable[..., int | str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(program, "--no-such-option") == 2
    assert "usage: " in capsys.readouterr().err
