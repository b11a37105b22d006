"""The pages of the diagnostic codes: one a family, and the index's tables, from `ptxkit/codes/*.toml`.

Each code stands there with its example and what that prints.
"""

from __future__ import annotations

import posixpath

from pages import examples

from ptxkit.diagnostics import FAMILIES, CodeInfo, code_table

FOLDER = "reference/codes"


def families() -> dict[str, list[CodeInfo]]:
    """The codes of each family, by number."""
    found: dict[str, list[CodeInfo]] = {family: [] for family in FAMILIES}
    for info in sorted(code_table().values(), key=lambda info: int(info.code[1:])):
        found[info.code[:2]].append(info)
    return found


def pages() -> dict[str, str]:
    """The text of each family's page, by its path."""
    return {
        f"{FOLDER}/{family}.md": f"# {family}: {FAMILIES[family]}\n\n{''.join(map(_entry, infos))}"
        for family, infos in families().items()
    }


def index() -> str:
    """A table of each family's codes."""
    parts = []
    for family, infos in families().items():
        parts.append(f"## [{family}: {FAMILIES[family]}]({family}.md)\n\n")
        parts.append("| code | name | severity | what |\n|---|---|---|---|\n")
        for info in infos:
            code = f"[{info.code}]({family}.md#{info.code.lower()})"
            parts.append(f"| {code} | {info.name} | {info.severity} | {_cell(info.what)} |\n")
        parts.append("\n")
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _entry(info: CodeInfo) -> str:
    example = info.example.rstrip("\n")
    language = "ptx" if ";" in example and "    " not in example else "text"
    code = example if info.code.startswith("P6") else f"```{language}\n{example}\n```"
    return (
        f"## {info.code} {info.name} {{ #{info.code.lower()} }}\n\n"
        f"*{info.severity}, exit code {info.exit if info.severity == 'error' else 0}*\n\n"
        f"{info.what}\n\n**Why.** {info.why}\n\n**Example.**\n\n{code}\n\n{_printed(info.code)}"
        f"**What to do.** {info.fix}\n\n"
    )


def _printed(code: str) -> str:
    """What the example prints, and where the kernel that provokes it lies."""
    needs = examples.entries()[code].get("needs")
    if needs:
        return f"*It takes {needs} to see what this prints.*\n\n"
    parts = []
    for shown in examples.shown(code):
        path, comma, which = shown.by.partition(", ")
        link = f"[{posixpath.basename(path)}](../../../{path}){comma}{which}"
        if shown.text:
            parts.append(f"{link if shown.by else 'It'} prints:\n\n```text\n{shown.text}\n```\n\n")
        else:
            parts.append(f"{link} provokes it.\n\n")
    return "".join(parts)
