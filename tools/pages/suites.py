"""The tables of docs/exec-suites.md, from bench/results/suites.*.json and numbers.*.json."""

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


def numbers() -> str:
    """Whether programs computed the same on a real GPU: a line a suite, then a line a program."""
    path = record.RESULTS / "numbers.h200.json"
    if not path.exists():
        return "Not compared yet.\n"
    found = record.read(path)["suites"]
    heads = ["suite", "programs", "all the same", "of those whose PTX fixes all bits", "numbers", "identical"]
    lines = [f"| {' | '.join([*heads, 'other inputs', 'different'])} |", "|---|---|---|---|---|---|---|---|"]
    lines += [_sum(name, suite["programs"]) for name, suite in found.items()]
    for name, suite in found.items():
        devices = " and ".join(suite["devices"])
        lines += ["", f"### {name}", "", f"{suite['tests_of']}; {devices}."]
        lines += ["", "| program | numbers | identical | the rest | bits that PTX leaves open |"]
        lines += ["|---|---|---|---|---|"]
        late = [name for name, row in suite["programs"].items() if row["outcomes"][0] == "not run"]
        silent = [name for name, row in suite["programs"].items() if "tests" in row and not row["numbers"]]
        told = [(name, row) for name, row in suite["programs"].items() if name not in {*late, *silent}]
        lines += [_compared(program, row) for program, row in told]
        if silent:
            text = f"{len(silent)} more files have no such copies, or none in tests that pass on both."
            lines += ["", text]
        if late:
            lines += ["", f"Not compared yet: {', '.join(f'`{name}`' for name in late)}."]
    return "\n".join(lines) + "\n"


def _sum(name: str, rows: dict[str, Any]) -> str:
    counted = [row for row in rows.values() if row["numbers"]]
    same = [row for row in counted if row["identical"] == row["numbers"]]
    known = "open" in next(iter(rows.values()), {})
    fixed, all_fixed = ([row for row in each if row.get("open") == []] for each in (same, counted))
    totals = [sum(row[key] for row in counted) for key in ("numbers", "identical", "other_inputs")]
    cells = [len(counted), len(same), f"{len(fixed)} of {len(all_fixed)}" if known else "not known", *totals]
    return f"| {' | '.join(map(str, [name, *cells, totals[0] - totals[1] - totals[2]]))} |"


def _compared(program: str, row: dict[str, Any]) -> str:
    if not row["numbers"]:
        why = "; ".join(_cell(row[whose]) for whose in ("why_ours", "why_theirs") if whose in row)
        return f"| `{program}` | | | {why or 'copies nothing to the host'} | |"
    rest = [
        f"{each['count']} of `{each['kind']}`: {each['why']}{_by_how_much(each)}" for each in row["different"]
    ]
    if row["other_inputs"]:
        rest.append(f"{row['other_inputs']} of other inputs")
    is_open = ", ".join(row["open"]) if "open" in row else "not known"
    cells = [f"`{program}`", row["numbers"], row["identical"], "; ".join(rest), is_open]
    return f"| {' | '.join(map(str, cells))} |"


def _by_how_much(row: dict[str, Any]) -> str:
    return f" (by up to {row['relative']:.1e} of the largest)" if "relative" in row else ""


def _cell(text: str) -> str:
    """Text as code in a cell of a table."""
    plain = text.replace("`", "'").replace("|", "/")
    return f"`{plain}`" if plain else ""
