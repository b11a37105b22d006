"""Faults planted in programs of the suites: whether each is found, with the line of its own source."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from .programs import programs, run_changed
from .suite import HERE, Checkout

SOURCE = re.compile(r"^ *(?:-->|:::|= note: inlined at) (?P<file>.+?):(?P<line>\d+):\d+(?: in .*)?$")
"""Where a finding says that it is, in the program's source, or that what it is in was inlined."""


@dataclass(frozen=True)
class PlantedFault:
    """A row of planted.toml, which explains the names."""

    kind: str
    suite: str
    program: str
    edits: list[list[str]]
    code: str
    file: str
    line: str


def planted() -> list[PlantedFault]:
    """Every fault."""
    rows = tomllib.loads((HERE / "planted.toml").read_text("utf-8"))
    return [PlantedFault(kind, **row) for kind, row in rows.items()]


def find(fault: PlantedFault, checkout: Checkout, exec_options: list[str], work: Path) -> dict[str, str]:
    """Plant a fault and run the program: the row of the record, with the place that was named."""
    own = programs(checkout.suite.programs)[fault.program]
    changed = replace(own, edits=[*own.edits, *fault.edits])
    folder = work / "planted" / fault.kind
    said, problem = run_changed(checkout, changed, exec_options, folder)
    row = {"suite": fault.suite, "program": fault.program, "code": fault.code, "found": "", "line": ""}
    if problem:
        return {**row, "problem": problem}
    for place, text in places(said, fault.code, folder):
        if place.startswith(f"{fault.file}:") and re.search(fault.line, text):
            return {**row, "found": place, "line": text}
    return {
        **row,
        "problem": "; ".join(dict.fromkeys(re.findall(r"(?:error|warning)\[P\d+\].*", said)))[:200],
    }


def places(said: str, code: str, folder: Path) -> list[tuple[str, str]]:
    """The places in a program's source that its errors of a code name, and the text of their lines."""
    found = []
    for block in said.split("\n\n") if "\n\n" in said else [said]:
        for part in re.split(r"(?=^(?:error|warning)\[)", block, flags=re.MULTILINE):
            if part.startswith(f"error[{code}]"):
                found += [match for line in part.splitlines() if (match := SOURCE.match(line))]
    texts = []
    for match in found:
        path = Path(match["file"]) if Path(match["file"]).is_absolute() else folder / match["file"]
        if path.is_file():
            lines = path.read_text("utf-8", errors="replace").splitlines()
            number = int(match["line"])
            if 0 < number <= len(lines):
                texts.append((f"{path.name}:{number}", lines[number - 1].strip()))
    return texts
