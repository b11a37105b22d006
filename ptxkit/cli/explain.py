"""`ptxkit explain CODE`."""

from __future__ import annotations

import sys

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json, wants_color
from ptxkit.diagnostics import FAMILIES, CodeInfo, code_info, code_table, error


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit explain P561", "what P561 means, why it matters, and how to mend it"),
        ("ptxkit explain", "every code, a line each"),
    ),
)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(code: str | None, as_json: bool) -> int:
    """Say what a diagnostic CODE means, why it matters, and how to mend it."""
    if code is None:
        _list(as_json)
        return 0
    info = code_info(code)
    if info is None:
        help = "`ptxkit explain` lists every code"
        raise error("P560", f"expected a diagnostic code, found `{code}`", help=help)
    if as_json:
        print_json({"schema": 1, **_as_json(info)})
    else:
        print(_page(info))
    return 0


def _list(as_json: bool) -> None:
    table = code_table()
    if as_json:
        print_json({"schema": 1, "codes": [_as_json(info) for info in table.values()]})
        return
    for family, meaning in FAMILIES.items():
        infos = [info for info in table.values() if info.code.startswith(family)]
        if infos:
            print(_strong(f"{family}  {meaning}"))
            for info in infos:
                print(f"  {info.code}  {info.name:<24}  {info.what.split('. ')[0].rstrip('.')}")


def _page(info: CodeInfo) -> str:
    parts = [
        _strong(f"{info.code}  {info.name}") + f"  ({info.severity})",
        info.what,
        f"{_strong('Why')}\n{info.why}",
        f"{_strong('Example')}\n"
        + "\n".join(f"    {line}" for line in info.example.strip("\n").splitlines()),
        f"{_strong('Fix')}\n{info.fix}",
    ]
    return "\n\n".join(parts)


def _strong(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if wants_color(sys.stdout) else text


def _as_json(info: CodeInfo) -> dict[str, object]:
    return {
        "code": info.code,
        "name": info.name,
        "severity": info.severity.value,
        "exit": info.exit,
        "what": info.what,
        "why": info.why,
        "example": info.example,
        "fix": info.fix,
    }
