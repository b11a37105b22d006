"""`ptxkit fmt FILE...`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ptxkit.asm.format import format_file
from ptxkit.asm.reading import as_text
from ptxkit.cli import Verb
from ptxkit.cli.files import STANDARD, parsed, standard_input
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.output import print_failure, wants_color
from ptxkit.diagnostics import PtxkitError, counted, error, exit_code
from ptxkit.support.atomic_file import write_atomically

_EXPANDED = "format the expansion: `ptxkit expand FILE | ptxkit fmt -`"
_COLORS = {"+": "32", "-": "31", "@": "36"}


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit fmt gemv.ptx", "format a file"),
        ("ptxkit fmt --check kernels/*.ptx", "exit with 1 if a file would change, and name it"),
        ("ptxkit fmt --diff gemv.ptx", "show what would change"),
        ("ptxkit fmt - < gemv.ptx", "from standard input to standard output, as editors like it"),
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="The same, and show what would change.")
@MAX_SIZE
def command(files: tuple[str, ...], check: bool, diff: bool, max_size: int) -> int:
    """Format PTX files in one style: four spaces a level, a statement a line, comments where they are.

    Lines have 110 columns. A longer statement is broken after its opcode and its operands, and inside an
    operand only where no line holds it: long vectors are in rows. Comments after lines that follow each
    other share a column.

    What a file says does not change. A file with syntax errors is left alone.
    """
    worst = 0
    counts = {"would be": 0, "unchanged": 0}
    for file in files:
        try:
            before, after = _formatted(file, max_size)
            if before == after:
                counts["unchanged"] += 1
            else:
                counts["would be"] += 1
                if diff:
                    sys.stdout.writelines(_difference(file, before, after))
                elif check:
                    print(f"would reformat {file}")
                elif file != STANDARD:
                    write_atomically(Path(file), after.encode())
            if file == STANDARD and not check and not diff:
                sys.stdout.write(after)
        except PtxkitError as problem:
            print_failure(problem.diagnostics, as_json=False)
            worst = max(worst, exit_code(problem.diagnostics))
    changed, dry = counts["would be"], check or diff
    sys.stdout.flush()  # what it says of the text comes after it, where both go to one place
    print(_summary(changed, counts["unchanged"], dry), file=sys.stderr)
    return worst or int(bool(changed) and dry)


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
