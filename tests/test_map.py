"""The map names every part of the package, and what it names is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "docs" / "map.md").read_text("utf-8")
TREE = MAP.partition("## The tree")[2].partition("```")[2].partition("```")[0]
COPIED = {"kernels_ptx", "runs"}
"""Folders of the wheel, copied from the checkout."""
COLUMNS = 100


def entries() -> list[tuple[Path, str]]:
    """The folder that a line of the tree stands in, and the name at its head."""
    found = []
    for line in TREE.splitlines():
        named = re.match(r"(?P<indent> {0,2})(?P<name>[\w.-]+/?)(?: {2,}|$)", line)
        if named:
            found.append((ROOT / "ptxkit" if named["indent"] else ROOT, named["name"]))
    return found


def test_every_part_of_the_package_is_on_the_map() -> None:
    named = {name for folder, name in entries() if folder != ROOT}
    for path in sorted((ROOT / "ptxkit").iterdir()):
        if path.name in {*COPIED, "__pycache__"} or path.name.startswith("."):
            continue
        assert f"{path.name}{'/' * path.is_dir()}" in named, path


def test_what_the_map_names_is_there() -> None:
    for folder, name in entries():
        assert (folder / name).is_dir() if name.endswith("/") else (folder / name).is_file(), name


def texts() -> list[Path]:
    """What people read: code, documentation, tables."""
    folders = ("docs", "ptxkit", "tools", "tests", "kernels_ptx", ".ci")
    found = [*ROOT.glob("*.md"), ROOT / "mkdocs.yml", ROOT / "pyproject.toml", ROOT / ".ci" / "run"]
    for folder in folders:
        for suffix in ("md", "py", "toml", "ptx"):
            found += (ROOT / folder).rglob(f"*.{suffix}")
    return [path for path in found if "corpus" not in path.parts]


def test_files_that_are_cited_are_there() -> None:
    """From the root; a name in capitals, or of one letter, stands for any."""
    cited = re.compile(
        r"(?<![\w/.-])(?:docs|ptxkit|tools|tests|kernels_ptx)/[\w./-]*\w\.(?:md|py|toml|ptx)\b"
    )
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts()
        for name in set(cited.findall(path.read_text("utf-8")))
        if not re.search(r"[A-Z]{2}|/test_\w\.py", name) and not (ROOT / name).exists()
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("page", ["map.md", "contract.md"])
def test_a_person_can_read_the_lines(page: str) -> None:
    """Rows of tables apart, which have one line each."""
    for line in (ROOT / "docs" / page).read_text("utf-8").splitlines():
        assert line.startswith("|") or len(line) <= COLUMNS, line


def test_the_walls_are_those_of_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (c["layers"] for c in settings["contracts"] if c.get("containers") == ["ptxkit"])
    drawn = MAP.partition("## The walls")[2].partition("```")[2].partition("```")[0]
    floors = [re.findall(r"\w+", line) for line in drawn.strip().splitlines()]
    assert floors == [layer.split(" | ") for layer in reversed(layers)]
    assert len(floors) <= 12


def test_the_worked_example_is_in_the_tree() -> None:
    """Each block of CONTRIBUTING that shows code of the last file named before it, line by line."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    shown = 0
    for block in re.finditer(r"^   ```python sketch\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL):
        named = re.findall(r"[Ii]n\s+`((?:ptxkit|tests)/[\w/]+\.py)`", text[: block.start()])
        if "clmad" in block[1]:
            lines = [line.strip() for line in (ROOT / named[-1]).read_text("utf-8").splitlines()]
            missing = [line for line in block[1].splitlines() if line.strip() not in lines]
            assert not missing, (named[-1], missing)
            shown += 1
    assert shown == 4
