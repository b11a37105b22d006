"""`ptxkit fmt FILE...`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ptxkit.asm.format import format_file
from ptxkit.asm.reading import as_text
from ptxkit.cli import Verb
from ptxkit.cli.files import STANDARD, found_in, parsed, standard_input
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.output import print_failure, print_json, wants_color
from ptxkit.diagnostics import PtxkitError, counted, error, exit_code
from ptxkit.support.atomic_file import write_atomically

_EXPANDED = "format the expansion: `ptxkit expand FILE | ptxkit fmt -`"
_COLORS = {"+": "32", "-": "31", "@": "36"}


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit fmt gemv.ptx", "format a file"),
        ("ptxkit fmt --check kernels", "exit with 1 if a .ptx file in a folder would change, and name it"),
        ("ptxkit fmt --check --json kernels", "the same as JSON, for a program"),
        ("ptxkit fmt --diff gemv.ptx", "show what would change"),
        ("ptxkit fmt - < gemv.ptx", "from standard input to standard output, as editors like it"),
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="The same, and show what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@MAX_SIZE
def command(files: tuple[str, ...], check: bool, diff: bool, as_json: bool, max_size: int) -> int:
    """Format PTX files in one style: four spaces a level, a statement a line, comments where they are.

    FILE may be a folder, for every .ptx file in it and below; `-` is standard input.

    Lines have 110 columns. A longer statement is broken after its opcode and its operands, and inside an
    operand only where no line holds it: long vectors are in rows. Comments after lines that follow each
    other share a column.

    What a file says does not change. A file with syntax errors is left alone.
    """
    if as_json and (diff or STANDARD in files):
        raise error("P560", f"expected one of `--json` and {'`--diff`' if diff else '`-`'}, found both")
    worst, changed, dry = 0, 0, check or diff
    results: list[dict[str, Any]] = []
    for file in found_in(files):
        result: dict[str, Any] = {"file": file, "changed": False, "diagnostics": []}
        results.append(result)
        try:
            before, after = _formatted(file, max_size)
            result["changed"] = before != after
            changed += before != after
            if before != after and diff:
                sys.stdout.writelines(_difference(file, before, after))
            elif before != after and check and not as_json:
                print(f"would reformat {file}")
            elif before != after and not dry and file != STANDARD:
                write_atomically(Path(file), after.encode())
            if file == STANDARD and not dry:
                sys.stdout.write(after)
        except PtxkitError as problem:
            result["diagnostics"] = [diagnostic.to_json() for diagnostic in problem.diagnostics]
            if not as_json:
                print_failure(problem.diagnostics, as_json=False)
            worst = max(worst, exit_code(problem.diagnostics))
    code = worst or int(bool(changed) and dry)
    if as_json:
        print_json({"schema": 1, "ok": code == 0, "written": not dry, "files": results})
        return code
    unchanged = sum(not result["changed"] and not result["diagnostics"] for result in results)
    sys.stdout.flush()  # what it says of the text comes after it, where both go to one place
    print(_summary(changed, unchanged, dry), file=sys.stderr)
    return code


def _formatted(file: str, max_size: int) -> tuple[str, str]:
    """A file's text and its formatted text.

    Raises:
        PtxkitError: what keeps it from being read; its syntax errors.
    """
    if file == STANDARD:
        text = standard_input(max_size)
        module = parsed(as_text(text), "<stdin>", max_size)
    else:
        module = parsed(Path(file), file, max_size)
        text = module.source.text if module.source else ""
    if module.source is not None and module.source.made:
        raise error("P115", f"`{file}` has preprocessor directives", help=_EXPANDED)
    errors = [diagnostic for diagnostic in module.diagnostics if diagnostic.is_error]
    if errors:
        raise PtxkitError(errors)
    return text, format_file(module)


def _difference(file: str, before: str, after: str) -> Iterator[str]:
    """A unified diff, in colours where a terminal shows them."""
    from difflib import unified_diff

    color = wants_color(sys.stdout)
    for line in unified_diff(before.splitlines(True), after.splitlines(True), file, file):
        text = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        shade = _COLORS.get(line[:1]) if color else None
        yield f"\x1b[{shade}m{text}\x1b[0m" if shade else text


def _summary(changed: int, unchanged: int, dry: bool) -> str:
    parts = []
    if changed:
        parts.append(f"{counted(changed, 'file')} {'would be ' if dry else ''}reformatted")
    if unchanged:
        parts.append(f"{counted(unchanged, 'file')} left unchanged")
    return ", ".join(parts) or "no file formatted"
