"""The page of the descriptors: every kind's fields, from the classes that pack them."""

from __future__ import annotations

from ptxkit.bits import Word
from ptxkit.descriptors import KINDS

INTRODUCTION = """\
# Descriptors

The words through which `wgmma`, `tcgen05` and tensor copies learn where matrices are and what they mean,
bit by bit. `ptxkit desc encode KIND field=value ..` packs one, `ptxkit desc decode KIND 0x..` reads one,
and `ptxkit explain KIND 0x..` says what is wrong with one; [the guide](../desc.md) has examples.

"""


def pages() -> dict[str, str]:
    """The text of the page, by its path."""
    parts = [INTRODUCTION]
    for kind, cls in KINDS.items():
        rows = "".join(
            f"| `{bits}` | `{field}` | {_cell(meaning)} | {_cell(values)} |\n"
            for bits, field, meaning, values in cls.layout()
        )
        about = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        parts.append(f"## {kind} {{ #{kind.replace('.', '-')} }}\n\n{about} *{cls.SECTION}.*\n\n")
        if cls.WIDTH <= 64:
            parts.append(_drawing(kind, cls))
        parts.append(f"| bits | field | meaning | values |\n|---|---|---|---|\n{rows}\n")
    return {"reference/descriptors.md": "".join(parts)}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _drawing(kind: str, cls: type[Word]) -> str:
    """The word as a row of boxes, the highest bit left; fields too narrow for their name have a tooltip."""
    unit, height = 1024 // cls.WIDTH, 46
    boxes = []
    for bits, name, _, _ in cls.layout():
        for part in bits.split(" + "):
            high, _, low = part.partition(":")
            first, last = int(low or high), int(high)
            x, width = (cls.WIDTH - 1 - last) * unit, (last - first + 1) * unit
            reserved = name.startswith(("reserved", "constant"))
            words = name.replace("_", " ")
            label = f'<text x="{x + width / 2}" y="28">{words}</text>' if len(words) * 6.4 < width else ""
            edges = f'<text class="bit" x="{x + width - 4}" y="11" text-anchor="end">{first}</text>'
            kind_of = "reserved" if reserved else "field"
            box = f'<rect class="{kind_of}" x="{x}" y="0" width="{width}" height="{height - 10}"/>'
            boxes.append(f"<g><title>{part} {name}</title>{box}{'' if reserved else label}{edges}</g>")
    head = f'<svg class="word" viewBox="0 0 1024 {height}" role="img" aria-label="{kind}">'
    return f"{head}{''.join(boxes)}</svg>\n\n"
