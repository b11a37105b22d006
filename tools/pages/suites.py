"""The tables of docs/exec-suites.md, from bench/results/suites.*.json."""

from __future__ import annotations

from typing import Any

from suites import record
from suites.programs import programs
from suites.suite import Suite, suites


def tables() -> str:
    """A line a suite, then why the rest of each does not pass."""
    known = {name: suite for name, suite in suites().items() if record.record_path(name).exists()}
    found = {name: record.read(record.record_path(name)) for name in known}
    lines = ["| suite | tests | pass | fail | skipped | expected to fail | of those that pass on a GPU |"]
    lines.append("|---|---|---|---|---|---|---|")
    lines += [_line(name, found[name]) for name in known]
    for name, suite in known.items():
        lines += ["", *_section(suite, found[name])]
    return "\n".join(lines) + "\n"


def _line(name: str, found: dict[str, Any]) -> str:
    counts = record.counts(found["files"])
    numbers = [counts[kind] for kind in ("passed", "failed", "skipped", "xfailed")]
    shares = []
    for path in sorted(record.RESULTS.glob(f"suites.{name}.*.json")):
        real = record.read(path)
        compared = record.beside(found, real)
        share = compared["passed"] / max(1, compared["counted"])
        shares.append(f"{compared['passed']:,} of {compared['counted']:,}, {share:.1%} ({real['device']})")
    cells = [
        name,
        *(f"{number:,}" for number in (sum(numbers), *numbers)),
        "; ".join(shares) or "not run yet",
    ]
    return f"| {' | '.join(cells)} |"


def _section(suite: Suite, found: dict[str, Any]) -> list[str]:
    told = {row["is"]: row["told"] for row in record.reasons()}
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    lines = [
        f"## {suite.name}",
        "",
        f"[{suite.commit}]({suite.repository}), {found['date'][:10]}. {versions}.",
    ]
    lines += ["", "| reason | tests | |", "|---|---|---|"]
    for reason, count in record.failures(found["files"]).most_common():
        lines.append(f"| {reason} | {count} | {told.get(reason, 'a fault or a gap of ours: see below')} |")
    lines += [f"| left out | {path} | {why} |" for path, why in suite.left_out.items()]
    lines += ["", "Each failure:", "", "| test | reason | what it said |", "|---|---|---|"]
    for file, row in found["files"].items():
        for test, (reason, why) in row["failed"].items():
            lines.append(f"| `{file}` {_cell(test)} | {reason} | {_cell(why)} |")
    if suite.programs:
        lines += _changes(suite, found)
    findings = [(file, text) for file, row in found["files"].items() for text in row.get("findings", ())]
    if findings:
        lines += ["", "What the sanitizer found:", "", "| in the kernels of | finding |", "|---|---|"]
        lines += [f"| `{file}` | {_cell(text)} |" for file, text in findings]
    if found["not_run"]:
        listed = ", ".join(f"`{file}`" for file in found["not_run"])
        lines += ["", f"Not run yet: {listed}."]
    return lines


def _changes(suite: Suite, found: dict[str, Any]) -> list[str]:
    """The programs that pass, and what is not as in the repository."""
    lines = ["", "Each program that passes:", "", "| program | changed: sizes and repetitions |", "|---|---|"]
    for name, program in programs(suite.programs).items():
        if found["files"].get(name, {}).get("passed"):
            lines.append(f"| `{name}` | {'; '.join(map(_cell, program.changes))} |")
    return lines


def _cell(text: str) -> str:
    """Text as code in a cell of a table."""
    plain = text.replace("`", "'").replace("|", "/")
    return f"`{plain}`" if plain else ""
