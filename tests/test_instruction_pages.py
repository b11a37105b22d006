"""The pages of the instructions say what the rows say."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import make_instructions

from ptxkit.isa import registry

STALE = "docs/instructions is not what the rows say; `python tools/make_instructions.py` writes it"


def test_every_opcode_has_a_page() -> None:
    there = {path.name for path in make_instructions.FOLDER.glob("*.md")}
    assert there == {"index.md", *(f"{opcode}.md" for opcode in registry.opcodes())}, STALE


def test_the_pages_are_current() -> None:
    for name, text in make_instructions.pages().items():
        assert (make_instructions.FOLDER / name).read_text("utf-8") == text, STALE
