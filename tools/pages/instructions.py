"""The pages of the instructions: one for each opcode, and the index's table, from the rows in `ptxkit/isa`.

What a page says of a form is what `ptxkit explain` prints, and two statements as examples. Registers in the
examples are called after their type; `v_global`, `v_shared` and the like are variables.
"""

from __future__ import annotations

from ptxkit.isa import describe, registry
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import samples

FOLDER = "instructions"
EXAMPLES = 2
"""Statements shown of a form."""
CANDIDATES = 16
"""Statements that they are chosen from."""


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
    """The text of every page, by its path."""
    return {
        f"{FOLDER}/{opcode}.md": f"# {opcode}\n\n" + "\n".join(map(form_text, registry.forms(opcode)))
        for opcode in registry.opcodes()
    }


def index() -> str:
    """A line for each instruction, with its opcode's page and its sections of the manual."""
    rows = []
    for opcode in registry.opcodes():
        for name, named in registry.named_forms(opcode).items():
            sections = dict.fromkeys(form.section for form in named)
            rows.append((name, f"| [{name}]({opcode}.md) | {', '.join(sections)} |\n"))
    return "| instruction | sections of the manual |\n|---|---|\n" + "".join(row for _, row in sorted(rows))
