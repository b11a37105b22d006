"""Write the table of docs/emulator/tensor-cores.md from the models that the emulator computes by.

python tools/write_tensor_core_table.py           # rewrite it
python tools/write_tensor_core_table.py --check   # exit with 1 where it is out of date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ptxkit.emulator.tensor_cores.models import GENERATIONS, MODELS, Model, Order

PAGE = Path(__file__).resolve().parents[1] / "docs" / "emulator" / "tensor-cores.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEADER = """\
| targets | instruction | A and B | products a step | F | zero (f32, f16) | result in f32 | order | evidence |
|---|---|---|---|---|---|---|---|---|
"""


def table() -> str:
    """The rows, equal ones together."""
    parts: dict[str, list[str]] = {}
    for (major, minor), generation in GENERATIONS.items():
        parts.setdefault(generation, []).append(f"{major}{minor}")
    elements: dict[tuple[str, str, Model], list[str]] = {}
    for (generation, instruction, element), model in MODELS.items():
        elements.setdefault((generation, instruction, model), []).append(element)
    rows: dict[tuple[str, Model, str], list[str]] = {}
    for (generation, instruction, model), found in elements.items():
        rows.setdefault((instruction, model, ", ".join(found)), []).append(generation)
    lines = []
    for (instruction, model, types), generations in rows.items():
        targets = ", ".join(part for generation in generations for part in parts[generation])
        zero = f"{model.zero}" if model.zero_f16 is None else f"{model.zero}, {model.zero_f16}"
        step = f"{model.step}" if model.group == 1 else f"{model.step}, {model.group} exact"
        cells = [targets, f"`{instruction}`", types, step, str(model.fraction), zero]
        if model.order is Order.FMA:
            cells[3:6] = ["1", "", ""]
        cells += [f"{model.bits} bits", str(model.order), str(model.evidence)]
        lines.append(f"| {' | '.join(cells)} |")
    return HEADER + "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with its table renewed."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where it is out of date")
    arguments = parser.parse_args()
    text = PAGE.read_text()
    renewed = page(text)
    if arguments.check:
        return int(renewed != text)
    PAGE.write_text(renewed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
