"""Write docs/instructions: a page for each opcode, and an index, from the rows in `ptxkit/isa`.

    python tools/make_instructions.py

What a page says of a form is what `ptxkit explain` prints, and two statements as examples. Registers in the
examples are called after their type; `v_global`, `v_shared` and the like are variables.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit.isa import describe, registry
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import samples

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "instructions"
EXAMPLES = 2
"""Statements shown of a form."""
CANDIDATES = 16
"""Statements that they are chosen from."""

INTRODUCTION = """\
# Instructions

Every instruction of PTX ISA 9.0, from the rows that the checker, the builder and the emulator read; a page
for each opcode. `ptxkit explain cp.async.bulk` prints the same in a terminal, and
`python tools/make_instructions.py` writes these pages. [Coverage](../coverage.md) says of each form whether
the emulator runs it, and what of it was compared with ptxas and with a GPU.

| instruction | sections of the manual |
|---|---|
"""


def examples(form: Form) -> list[str]:
    """Statements as the manual has them; of a form that it has not, as ptxas takes them."""
    made = list(samples(form, CANDIDATES))
    return [sample.text for sample in [one for one in made if one.of_manual] or made][:EXAMPLES]


def form_text(form: Form) -> str:
    """One form: its section as a heading, what it is, examples."""
    made = "\n".join(examples(form))
    block = f"```text\n{describe.to_text(form)}\n```\n"
    return f"## {form.section} `{form.syntax.split()[0]}`\n\n{block}" + (
        f"\n```ptx\n{made}\n```\n" if made else ""
    )


def pages() -> dict[str, str]:
    """The text of every page, by file name."""
    found: dict[str, str] = {}
    index: list[tuple[str, str, str]] = []
    for opcode in registry.opcodes():
        forms = registry.forms(opcode)
        found[f"{opcode}.md"] = f"# {opcode}\n\n" + "\n".join(form_text(form) for form in forms)
        for name, named in registry.named_forms(opcode).items():
            sections = dict.fromkeys(form.section for form in named)
            index.append((name, opcode, ", ".join(sections)))
    rows = [f"| [{name}]({opcode}.md) | {sections} |" for name, opcode, sections in sorted(index)]
    found["index.md"] = INTRODUCTION + "\n".join(rows) + "\n"
    return found


def main() -> int:
    """Write the pages; those of opcodes that are gone go."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8")
    print(f"{len(made)} pages in docs/instructions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
