"""`ptxkit check FILE...`."""

from __future__ import annotations

import sys
from typing import Any

import click

from ptxkit import __version__
from ptxkit.cli import Verb, formats
from ptxkit.cli.options import MAX_SIZE, TargetName, preprocessor_options
from ptxkit.cli.output import print_diagnostics, print_json
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, counted, exit_code

FORMATS = ("text", "json", "github", "sarif")


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit check gemv.ptx", "check one file for the target that it names"),
        ("ptxkit check --target sm_100a *.ptx", "check several as if they were for sm_100a"),
        ("ptxkit check --ptxas gemv.ptx", "run NVIDIA's assembler, too"),
        ("ptxkit check --output-format github kernels/*.ptx", "annotations for a GitHub workflow"),
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--target", type=TargetName(), metavar="SM", help="Check for this target instead of the file's own."
)
@click.option("--output-format", type=click.Choice(FORMATS), default="text", help="How to print findings.")
@click.option("--json", "as_json", is_flag=True, help="The same as --output-format json.")
@click.option("--ptxas", is_flag=True, help="Run NVIDIA's assembler, too: nvJitLink, or ptxas on PATH.")
@preprocessor_options
@MAX_SIZE
def command(
    files: tuple[str, ...], target: str | None, output_format: str, as_json: bool, ptxas: bool, **reading: Any
) -> int:
    """Find errors in PTX files, the launch card included, and explain them. `-` is standard input."""
    found = [diagnostic for file in files for diagnostic in _check(file, target, ptxas, reading)]
    match "json" if as_json else output_format:
        case "json":
            print_json({**formats.to_json(found), "ok": exit_code(found) == 0})
        case "github":
            text = formats.render_github(found)
            print(text, end="\n" if text else "")
        case "sarif":
            import json

            print(json.dumps(formats.to_sarif(found, __version__), indent=2))
        case _:
            print_diagnostics(found, sys.stdout)
            print(_summary(len(files), found))
    return exit_code(found)


def _check(file: str, target: str | None, ptxas: bool, reading: dict[str, Any]) -> list[Diagnostic]:
    """Findings of one file, what keeps it from being read included."""
    import ptxkit
    from ptxkit.cli import files

    found: list[Diagnostic] = []
    try:
        module = files.read(file, **reading)
        found = ptxkit.check(module, target=target)
        if ptxas:
            from ptxkit.toolchain.assembler import second_opinion

            found = second_opinion(module, found, target)
    except PtxkitError as problem:
        found += problem.diagnostics
    return found


def _summary(files: int, found: list[Diagnostic]) -> str:
    counts = []
    for severity in Severity:
        number = sum(diagnostic.severity is severity for diagnostic in found)
        if number:
            counts.append(f"{counted(number, severity)}")
    return f"{counted(files, 'file')} checked: {', '.join(counts) or 'no findings'}"
