"""`ptxkit kernels`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json, table
from ptxkit.diagnostics import error
from ptxkit.shipped import kernels


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit kernels", "every shipped kernel: what it needs, its presets, where it has been verified"),
        ("ptxkit kernels --path gemv.ptx", "where the file lies, to read or copy it"),
    ),
)
@click.option("--path", "of", metavar="NAME", help="Print the path of one kernel.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(of: str | None, as_json: bool) -> int:
    """List the shipped kernels: what each needs, and where each has been verified."""
    if of is not None and as_json:
        raise error("P560", "expected one of `--path` and `--json`, found both")
    if of is not None:
        print(kernels.find(of)[1])
        return 0
    recorded = kernels.records()
    rows = [_describe(name, path, recorded) for name, path in kernels.shipped().items()]
    if as_json:
        print_json({"schema": 1, "kernels": rows})
        return 0
    cells = [
        (
            row["name"],
            row["target"] or "",
            " ".join(row["entries"]),
            row["workload"] or "",
            str(len(row["presets"])),
            "; ".join(_verified(entry, len(row["presets"])) for entry in row["verified"]) or "not recorded",
        )
        for row in rows
    ]
    header = ("kernel", "target", "entries", "workload", "presets", "verified on")
    print(table(cells, header))
    return 0


def _describe(name: str, path: Path, recorded: list[dict[str, Any]]) -> dict[str, Any]:
    from ptxkit.asm import parse
    from ptxkit.card import read

    module = parse(path, name=name)
    card = read(module.source) if module.source else None
    return {
        "name": name,
        "path": str(path),
        "target": module.target,
        "entries": [entry.name for entry in module.entries],
        "workload": card.workload if card else None,
        "presets": {preset.name: dict(preset.sizes) for preset in card.presets} if card else {},
        "verified": [
            {
                "device": verification.device,
                "date": verification.date,
                "passed": list(verification.presets),
                "failed": list(verification.failed),
                "current": verification.current,
            }
            for verification in kernels.verifications(name, path, recorded)
        ],
    }


def _verified(entry: dict[str, Any], presets: int) -> str:
    passed = f"{len(entry['passed'])}/{presets}"
    older = "" if entry["current"] else ", an earlier text"
    failed = f", {len(entry['failed'])} failed" if entry["failed"] else ""
    return f"{entry['device']} ({passed}{failed}{older})"
