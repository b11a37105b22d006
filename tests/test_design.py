"""The page of the design names what is there, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "design.md").read_text()
HOUSE = PAGE.partition("## 1. The house")[2].partition("```")[2].partition("```")[0]
GENERATED = {"kernels_ptx", "results"}
"""Folders of the wheel, made of those of the checkout."""


def test_every_part_of_the_package_is_in_the_house() -> None:
    for path in sorted((ROOT / "ptxkit").iterdir()):
        if path.name.startswith("__") or path.name in GENERATED or path.name.startswith("."):
            continue
        name = f"{path.name}/" if path.is_dir() else path.name
        assert re.search(rf"(?<![\w/]){re.escape(name)}", HOUSE), name


def test_what_the_house_names_is_there() -> None:
    for line in HOUSE.splitlines():
        if line.startswith(" " * 3):
            continue
        inside = ROOT / "ptxkit" if line.startswith("  ") else ROOT
        head = re.split(r" {3,}", line.strip())[0]
        for name in head.split():
            assert (inside / name).exists() or (ROOT / name).exists(), line


def test_files_that_the_page_names_are_there() -> None:
    for name in set(re.findall(r"(?<![\w/.-])(?:docs|tools|bench)/[\w./-]*\w\.(?:md|py|json|toml)", PAGE)):
        assert (ROOT / name).exists(), name
