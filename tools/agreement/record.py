"""Every verdict of a run counted, and every disagreement kept, as one document; the tables that show it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit.machine.provenance import provenance

from .oracle import Sheet, Verdict, by_ptxas_alone
from .reasons import reason_of, reasons

SCHEMA = 1
LONG = 240
"""Characters of a statement that are shown."""


def assembler() -> str:
    """The version of ptxas."""
    path = shutil.which("ptxas")
    if path is None:
        return "nvJitLink"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return f"ptxas {found[1]}" if found else said.strip()


def files(folder: Path) -> list[dict[str, Any]]:
    """Each PTX file below a folder as it stands: the errors of the checker, and whether ptxas accepts it."""
    found = []
    for path in sorted(folder.rglob("*.ptx")):
        text = path.read_text(encoding="utf-8")
        target = re.search(r"\.target\s+sm_(\w+)", text)
        errors = [str(d) for d in ptxkit.check(ptxkit.parse(text)) if d.is_error]
        lines = text.split("\n")
        refused = by_ptxas_alone(Sheet(lines, {}, f"compute_{target[1] if target else 90}"))
        found.append({"file": str(path.relative_to(folder)), "errors": errors, "ptxas": refused})
    return found


def part(verdicts: Iterable[Verdict], asked: dict[str, Any]) -> dict[str, Any]:
    """What one run found, counted by what was changed; the disagreements in full.

    Args:
        verdicts: of the run.
        asked: its parameters.
    """
    changes: dict[str, Counter[str]] = {}
    differ = []
    for verdict in verdicts:
        counts = changes.setdefault(verdict.change or "as written", Counter())
        counts["judged"] += 1
        counts["accepted"] += verdict.theirs is None
        if not verdict.agrees:
            counts["differ"] += 1
            counts["refused by ptxkit alone"] += verdict.theirs is None
            differ.append(
                {
                    "statement": verdict.text,
                    "place": verdict.place,
                    "change": verdict.change,
                    "of": verdict.where,
                    "ptxas": verdict.theirs,
                    "ptxkit": verdict.ours,
                }
            )
    total: Counter[str] = Counter()
    for counts in changes.values():
        total.update(counts)
    judged = max(total["judged"], 1)
    return {
        "asked": asked,
        "total": dict(total),
        "agreement": 1 - total["differ"] / judged,
        "changes": {change: dict(counts) for change, counts in sorted(changes.items())},
        "differ": sorted(differ, key=lambda entry: (entry["statement"], entry["place"])),
    }


def by_form(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """How many statements of each form were judged, and on how many of them the two differ."""
    judged, differ = Counter[str](), Counter[str]()
    for verdict in verdicts:
        judged[verdict.where] += 1
        differ[verdict.where] += not verdict.agrees
    found = []
    for row in sorted(judged):
        section, _, syntax = row.partition(" ")
        found.append({"section": section, "form": syntax, "statements": judged[row], "differ": differ[row]})
    return found


def head(corpus: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the document says of itself and of files as they stand."""
    return {
        "schema": SCHEMA,
        "kind": "agreement",
        **provenance(),
        "assembler": assembler(),
        "files": {
            "judged": len(corpus),
            "accepted by ptxas": sum(not entry["ptxas"] for entry in corpus),
            "with errors": [entry for entry in corpus if entry["errors"]],
            "refused by ptxas": [entry["file"] for entry in corpus if entry["ptxas"]],
        },
    }


def reason_for(entry: dict[str, Any]) -> str | None:
    """The name of the reason of a kept disagreement, as reasons.toml has it now."""
    return reason_of(
        Verdict(
            entry["statement"],
            entry["of"],
            entry["change"],
            entry["place"],
            entry["ptxas"],
            entry["ptxkit"],
        )
    )


def problems(kept: dict[str, Any]) -> list[str]:
    """What a document has that it should not: disagreements without a reason, files with errors."""
    found = [f"{entry['file']}: {entry['errors'][0]}" for entry in kept["files"]["with errors"]]
    for part_ in kept["parts"].values():
        found += [
            f"no reason: {entry['statement'][:LONG]} [{entry['place']}] "
            f"ptxas: {entry['ptxas'] or 'accepts'}; ptxkit: {entry['ptxkit'] or 'accepts'}"
            for entry in part_["differ"]
            if reason_for(entry) is None
        ]
    return found


# ---- the tables


def tables(
    kept: dict[str, Any],
    compilers: dict[str, Any] | None,
    libraries: Sequence[str] = (),
    further: Sequence[dict[str, Any]] = (),
) -> str:
    """What docs/agreement.md shows of the records.

    Args:
        kept: this record.
        compilers: that of `python -m tools.compilers`.
        libraries: the section about the inline assembly of libraries.
        further: its disagreements.
    """
    files_ = kept["files"]
    lines = [
        f"Recorded on {kept['date'][:10]} with {kept['assembler']}, commit {kept['commit'][:12]}"
        f"{', modified' if kept['modified'] else ''}.",
        "",
        f"Files as their compilers wrote them: {files_['judged']}, of which ptxas accepts "
        f"{files_['accepted by ptxas']} and the checker has errors in {len(files_['with errors'])}.",
        "",
    ]
    lines += _by_assembler(kept)
    for name, part_ in kept["parts"].items():
        lines += [f"## {name}", "", part_["asked"]["what"], ""]
        lines += [
            "| change | statements | ptxas accepts | differ | agreement |",
            "| --- | --: | --: | --: | --: |",
        ]
        for change, counts in [*part_["changes"].items(), ("**all**", part_["total"])]:
            lines.append(_row(change, counts))
        lines.append("")
    if compilers is not None:
        lines += _compilers(compilers)
    lines += libraries
    lines += ["## Disagreements", ""]
    entries = [entry for part_ in kept["parts"].values() for entry in part_["differ"]] + [*further]
    for reason in reasons():
        of_reason = [entry for entry in entries if reason_for(entry) == reason.name]
        if of_reason:
            lines += [
                f"### {reason.name[:1].upper()}{reason.name[1:]}",
                "",
                f"{reason.why} {len(of_reason)} statements:",
                "",
            ]
            lines += [_entry(entry) for entry in of_reason]
            lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


_RELEASE = re.compile(r"ptxas (\d+\.\d+)")


def _by_assembler(kept: dict[str, Any]) -> list[str]:
    """How far each release of ptxas agrees, a column each."""
    counted: dict[str, dict[str, Counter[str]]] = {}
    for name, part_ in kept["parts"].items():
        of_part = counted.setdefault(name.partition(", ptxas")[0], {})
        for change, counts in part_["changes"].items():
            found = (_RELEASE.search(text) for text in (change, part_["asked"]["what"], kept["assembler"]))
            release = next(match[1] for match in found if match)
            of_part.setdefault(release, Counter()).update(counts)
    releases = sorted({release for of_part in counted.values() for release in of_part})
    lines = [
        "## Each assembler",
        "",
        "Of how many statements checker and assembler say the same. A release is asked about what it knows",
        "the version of; the rows follow the newest.",
        "",
        f"| | {' | '.join(f'ptxas {release}' for release in releases)} |",
        f"| --- |{' --: |' * len(releases)}",
    ]
    for name, of_part in counted.items():
        cells = []
        for release in releases:
            counts = of_part.get(release, Counter())
            same = counts["judged"] - counts["differ"]
            cells.append(f"{same} of {counts['judged']}" if counts["judged"] else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def _compilers(record: dict[str, Any]) -> list[str]:
    lines = [
        "## What compilers write",
        "",
        "PTX made afresh from packages and unchanged. `python -m tools.compilers` checks it and writes",
        "[bench/results/compilers.json](../bench/results/compilers.json): a file passes when it has no",
        "error, and one note where its `.version` is newer than ptxkit knows. Recorded on",
        f"{record['date'][:10]}, commit {record['commit'][:12]}.",
        "",
        "| compiler | `.version` | targets | files | lines | pass | ptxas accepts |",
        "| --- | --- | --- | --: | --: | --: | --- |",
    ]
    for made in record["made"]:
        files = made["files"]
        by = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
        versions = ", ".join(sorted({file["version"] for file in files}))
        aimed = " ".join(sorted({file["target"] for file in files}, key=_by_number))
        asked = [file for file in files if not file["ptxas"].startswith("not asked")]
        accepted = sum(file["ptxas"] == "accepts" for file in asked)
        lines.append(
            f"| {made['compiler']} ({by}) | {versions} | {aimed} | {len(files)} | "
            f"{sum(f['lines'] for f in files)} | {sum(f['passes'] for f in files)} | "
            f"{f'{accepted} of {len(asked)}' if asked else 'not asked'} |"
        )
    return [*lines, ""]


def _by_number(target: str) -> tuple[int, str]:
    """`sm_90a` before `sm_100`."""
    return int(re.sub(r"\D", "", target)), target


def _row(change: str, counts: dict[str, int]) -> str:
    judged, differ = counts["judged"], counts.get("differ", 0)
    return f"| {change} | {judged} | {counts['accepted']} | {differ} | {1 - differ / judged:.3%} |"


def _entry(entry: dict[str, Any]) -> str:
    text = entry["statement"] if len(entry["statement"]) <= LONG else entry["statement"][: LONG - 3] + "..."
    theirs = f"ptxas: {entry['ptxas']}" if entry["ptxas"] else f"ptxkit: {entry['ptxkit'][:LONG]}"
    return f"- `{text}` for {entry['place']}{', ' + entry['change'] if entry['change'] else ''}. {theirs}"
