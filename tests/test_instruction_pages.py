"""The pages of the instructions say what the rows say."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import make_coverage
import make_instructions

import ptxkit
from ptxkit.isa import registry
from ptxkit.isa.sample import MODULE, PREAMBLE, samples

STALE = "docs/instructions is not what the rows say; `python tools/make_instructions.py` writes it"


def test_every_opcode_has_a_page() -> None:
    there = {path.name for path in make_instructions.FOLDER.glob("*.md")}
    assert there == {"index.md", *(f"{opcode}.md" for opcode in registry.opcodes())}, STALE


def test_the_pages_are_current() -> None:
    for name, text in make_instructions.pages().items():
        assert (make_instructions.FOLDER / name).read_text("utf-8") == text, STALE


def test_examples_are_as_the_manual_has_them() -> None:
    """The checker warns of none but those of forms that ptxas alone has."""
    shown: dict[str, list[str]] = {}
    for form in (form for opcode in registry.opcodes() for form in registry.forms(opcode)):
        made = [sample for sample in samples(form, make_instructions.CANDIDATES) if sample.of_manual]
        for sample in made[: make_instructions.EXAMPLES]:
            assert sample.text in make_instructions.examples(form)
            target = make_coverage.home(form, sample.facts)
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
