"""Diagnostics for programs: the `--json` document, GitHub's workflow commands, SARIF."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.diagnostics import Diagnostic, Severity, code_info

if TYPE_CHECKING:
    from ptxkit.diagnostics.line_table import SourceLocation

JSON_SCHEMA_VERSION = 1


def to_json(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """The `--json` document: `{schema, diagnostics, errors, warnings}`."""
    found = list(diagnostics)
    return {
        "schema": JSON_SCHEMA_VERSION,
        "diagnostics": [diagnostic.to_json() for diagnostic in found],
        "errors": sum(d.severity is Severity.ERROR for d in found),
        "warnings": sum(d.severity is Severity.WARNING for d in found),
    }


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """GitHub workflow commands, one line a finding: at the line that the person wrote, where it is known."""
    kinds = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
    lines = []
    for d in diagnostics:
        place, lines_of = [], [d.message]
        if d.compiled_from:
            written = d.compiled_from[0]
            place += [f"file={_escape_github(written.file, property=True)}", f"line={written.line}"]
            place += [f"col={written.column}"] if written.column else []
            lines_of += [f"compiled to {d.source.name}:{d.span.line}"] if d.source and d.span else []
            lines_of += [f"inlined at {outer}" for outer in d.compiled_from[1:]]
        else:
            if d.source:
                place.append(f"file={_escape_github(d.source.name, property=True)}")
            if d.span:
                place += [f"line={d.span.line}", f"col={d.span.column}", f"endLine={d.span.end_line}"]
                place += [f"endColumn={d.span.end_column}"]
        place.append(f"title={d.code}")
        text = "\n".join([*lines_of, *d.notes, *([f"help: {d.remedy}"] if d.remedy else [])])
        lines.append(f"::{kinds[d.severity]} {','.join(place)}::{_escape_github(text)}")
    return "\n".join(lines)


def _escape_github(text: str, property: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property else text


def _related(place: SourceLocation, text: str) -> dict[str, Any]:
    region = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    location = {"artifactLocation": {"uri": place.file}, "region": region}
    return {"physicalLocation": location, "message": {"text": text}}


def to_sarif(diagnostics: Sequence[Diagnostic], version: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one run."""
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
    rules = []
    for code in sorted({d.code for d in diagnostics}):
        info = code_info(code)
        rules.append(
            {
                "id": code,
                "name": info.name if info else code,
                "shortDescription": {"text": info.what if info else code},
                "help": {"text": info.fix if info else ""},
            }
        )
    results = []
    for d in diagnostics:
        text = "\n".join([d.message, *d.notes, *([f"help: {d.remedy}"] if d.remedy else [])])
        result: dict[str, Any] = {"ruleId": d.code, "level": levels[d.severity], "message": {"text": text}}
        if d.source:
            location: dict[str, Any] = {"artifactLocation": {"uri": d.source.name}}
            if d.span:
                location["region"] = {
                    "startLine": d.span.line,
                    "startColumn": d.span.column,
                    "endLine": d.span.end_line,
                    "endColumn": d.span.end_column,
                }
            result["locations"] = [{"physicalLocation": location}]
        if d.compiled_from:
            result["relatedLocations"] = [
                _related(place, "inlined here" if number else "compiled from here")
                for number, place in enumerate(d.compiled_from)
            ]
        results.append(result)
    driver = {"name": "ptxkit", "version": version, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
