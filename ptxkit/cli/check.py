"""`ptxkit check FILE...`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ptxkit import __version__
from ptxkit.cli import Verb, formats
from ptxkit.cli.options import MAX_SIZE, TargetName, preprocessor_options, rule_options
from ptxkit.cli.output import print_diagnostics, print_json
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, counted, error, exit_code

FORMATS = ("text", "json", "github", "sarif")
SETTINGS = ("ptxkit.toml", "pyproject.toml")
"""The files in which a project may say which findings count."""


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit check gemv.ptx", "check one file for the target that it names"),
        ("ptxkit check --target sm_100a kernels", "every .ptx file in a folder, as if for sm_100a"),
        ("ptxkit check --deny warnings --ignore P203 gemv.ptx", "warnings are errors, but for one code"),
        ("ptxkit check --fix gemv.ptx", "change what is sure to be meant otherwise"),
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
@click.option("--select", multiple=True, metavar="RULE", help="Tell these findings alone; as for --deny.")
@rule_options
@click.option("--fix", is_flag=True, help="Change the files where it is sure what is meant.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@preprocessor_options
@MAX_SIZE
def command(**given: Any) -> int:
    """Find errors in PTX files, the launch card included, and explain them.

    FILE may be a folder, for every .ptx file in it and below; `-` is standard input. What the options don't
    say of findings a table `[tool.ptxkit.check]` in pyproject.toml or `[check]` in ptxkit.toml may.
    """
    from ptxkit.cli.files import STANDARD, found_in

    files = found_in(given["files"])
    if STANDARD in files and (given["fix"] or given["watch"]):
        raise error("P560", f"expected a file with `--{'fix' if given['fix'] else 'watch'}`, found `-`")
    if given["watch"]:
        from ptxkit.cli.watching import watch

        return watch(lambda: found_in(given["files"]), lambda files: _run(files, given))
    return _run(files, given)


def _run(files: list[str], given: dict[str, Any]) -> int:
    """Check the files once, and print."""
    fixed = 0
    if given["fix"]:
        from ptxkit.cli.fixing import fix

        fixed = sum(fix(file, lambda file: _check(file, given)) for file in files)
    found = [diagnostic for file in files for diagnostic in _check(file, given)]
    match "json" if given["as_json"] else given["output_format"]:
        case "json":
            document = {**formats.to_json(found), "ok": exit_code(found) == 0}
            print_json({**document, "fixed": fixed} if given["fix"] else document)
        case "github":
            text = formats.render_github(found)
            print(text, end="\n" if text else "")
        case "sarif":
            import json

            print(json.dumps(formats.to_sarif(found, __version__), indent=2))
        case _:
            print_diagnostics(found, sys.stdout)
            print(_summary(len(files), found) + (f", {fixed} fixed" if given["fix"] else ""))
    return exit_code(found)


def _check(file: str, given: dict[str, Any]) -> list[Diagnostic]:
    """Findings of one file, what keeps it from being read included, as they count."""
    import ptxkit
    from ptxkit.cli import files

    found: list[Diagnostic] = []
    target = given["target"]
    try:
        module = files.read(file, given["max_size"], given["include"], given["define"])
        found = ptxkit.check(module, target=target)
        if given["ptxas"]:
            from ptxkit.toolchain.assembler import second_opinion

            found = second_opinion(module, found, target)
    except PtxkitError as problem:
        found += problem.diagnostics
    return _counting(file, found, given)


def _counting(file: str, found: list[Diagnostic], given: dict[str, Any]) -> list[Diagnostic]:
    """The findings that are wanted, as severe as is wanted."""
    folder = Path(file).absolute().parent
    asked = any(given[name] for name in ("select", "allow", "warn", "deny"))
    if not asked and not (found and _has_settings(folder)):
        return found
    from ptxkit import rules

    options = {name: given[name] for name in ("allow", "warn", "deny")}
    wanted, only = rules.project_check(folder)
    chosen = rules.selectors(rules.SELECT, rules.separated(given["select"]), rules.CHECKER)
    return rules.chosen(
        found, {**wanted, **rules.from_options(**options, families=rules.CHECKER)}, chosen or only
    )


def _has_settings(folder: Path) -> bool:
    return any((parent / name).is_file() for parent in (folder, *folder.parents) for name in SETTINGS)


def _summary(files: int, found: list[Diagnostic]) -> str:
    counts = []
    for severity in Severity:
        number = sum(diagnostic.severity is severity for diagnostic in found)
        if number:
            counts.append(f"{counted(number, severity)}")
    return f"{counted(files, 'file')} checked: {', '.join(counts) or 'no findings'}"
