"""The pages of the instructions: every opcode has one, and its examples are right."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from documents import Block, blocks
from pages import coverage, instructions

import ptxkit
from ptxkit.isa import registry
from ptxkit.isa.sample import MODULE, PREAMBLE, samples

PAGES = instructions.pages()


def shown() -> list[Block]:
    """The blocks of every page."""
    return [block for path, text in PAGES.items() for block in blocks(Path(path), text)]


def test_every_opcode_has_a_page() -> None:
    assert set(PAGES) == {f"instructions/{opcode}.md" for opcode in registry.opcodes()}
    index = instructions.index()
    assert all(f"]({opcode}.md)" in index for opcode in registry.opcodes())


def test_the_statements_of_the_pages_are_read() -> None:
    """Those of a block stand in one kernel; where a target has not all of them, the parser alone judges."""
    assert {block.language for block in shown()} == {"ptx", "text"}
    for block in (block for block in shown() if block.language == "ptx"):
        body = f"{MODULE}.visible .entry shown()\n{{\n{PREAMBLE}\n{block.text}\n}}\n"
        found = ptxkit.parse(f".version 9.0\n.target sm_90a\n.address_size 64\n{body}")
        assert not found.diagnostics, (block.page, block.line, found.diagnostics)


def test_examples_are_as_the_manual_has_them() -> None:
    """The checker warns of none but those of forms that ptxas alone has."""
    shown: dict[str, list[str]] = {}
    for form in (form for opcode in registry.opcodes() for form in registry.forms(opcode)):
        made = [sample for sample in samples(form, instructions.CANDIDATES) if sample.of_manual]
        for sample in made[: instructions.EXAMPLES]:
            assert sample.text in instructions.examples(form)
            target = coverage.home(form, sample.facts)
            if target is not None:
                shown.setdefault(target, []).append(sample.text)
    assert sum(map(len, shown.values())) > 1000
    for target, statements in shown.items():
        body = "\n".join(statements)
        module = ptxkit.parse(
            f".version 9.0\n.target {target}\n.address_size 64\n{MODULE}"
            f".entry k(.param .b64 v_kernel) {{ {PREAMBLE}\n{body}\nret;\n}}\n"
        )
        beyond = [str(found) for found in ptxkit.check(module) if found.code == "P222"]
        assert not beyond, beyond[0]
