"""The pages of the diagnostic codes: one a family, and an index, from `ptxkit/codes/*.toml`."""

from __future__ import annotations

from ptxkit.diagnostics import FAMILIES, CodeInfo, code_table

FOLDER = "reference/codes"
INTRODUCTION = """\
# Diagnostic codes

Every finding has a code. `ptxkit explain P652` prints in a terminal what these pages say;
`--output-format json`, `github` and `sarif` of `ptxkit check` carry the same codes.

"""


def pages() -> dict[str, str]:
    """The text of every page, by its path."""
    families: dict[str, list[CodeInfo]] = {family: [] for family in FAMILIES}
    for info in code_table().values():
        families[info.code[:2]].append(info)
    made, parts = {}, [INTRODUCTION]
    for family, infos in families.items():
        infos.sort(key=lambda info: int(info.code[1:]))
        title = FAMILIES[family]
        page = "".join(_entry(info) for info in infos)
        made[f"{FOLDER}/{family}.md"] = f"# {family}: {title}\n\n{page}"
        rows = [
            f"| [{i.code}]({family}.md#{i.code.lower()}) | {i.name} | {i.severity} | {_cell(i.what)} |"
            for i in infos
        ]
        parts.append(
            f"## [{family}: {title}]({family}.md)\n\n| code | name | severity | what |\n|---|---|---|---|\n"
        )
        parts.append("\n".join(rows) + "\n\n")
    made[f"{FOLDER}/index.md"] = "".join(parts)
    return made


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _entry(info: CodeInfo) -> str:
    example = info.example.rstrip("\n")
    language = "ptx" if ";" in example else "text"
    code = example if "`" in example else f"```{language}\n{example}\n```"
    return (
        f"## {info.code} {info.name} {{ #{info.code.lower()} }}\n\n"
        f"*{info.severity}, exit code {info.exit if info.severity == 'error' else 0}*\n\n"
        f"{info.what}\n\n**Why.** {info.why}\n\n**Example.**\n\n{code}\n\n**What to do.** {info.fix}\n\n"
    )
