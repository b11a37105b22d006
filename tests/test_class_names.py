"""A class's name says which it is: no two classes of the package have the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ptxkit"
TWICE = {
    "Assembly",
    "Context",
    "Device",
    "Event",
    "Function",
    "Functions",
    "Graph",
    "Kind",
    "Launch",
    "Library",
    "Module",
    "Node",
    "Options",
    "Report",
    "Schedule",
    "Stream",
    "Symbol",
    "Variable",
}
"""Names that stand twice still. None may be added."""


def test_no_class_name_stands_twice() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert len(homes) > 400
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in TWICE} == {}
    assert set(twice) >= TWICE, "take what is mended off the list"
