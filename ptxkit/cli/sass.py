"""`ptxkit sass FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb, files
from ptxkit.cli.asm import assembled, usage_json, usage_text
from ptxkit.cli.launch_options import ENTRY
from ptxkit.cli.options import MAX_SIZE, TargetName, preprocessor_options
from ptxkit.cli.output import print_diagnostics, print_json, strong
from ptxkit.diagnostics import Source, counted, error
from ptxkit.toolchain.assembler import Assembly
from ptxkit.toolchain.sass import SassFunction, disassemble

_ELF = b"\x7fELF"


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit sass gemv.ptx", "the machine code, each part under the PTX line it comes from"),
        ("ptxkit sass gemv.ptx --entry gemv --target sm_100a", "one kernel, for another target"),
        ("ptxkit sass gemv.cubin --json", "existing machine code, as JSON for a program"),
    ),
)
@click.argument("file")
@ENTRY
@click.option(
    "--target", type=TargetName(), metavar="SM", help="Assemble for this target instead of the file's own."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@preprocessor_options
@MAX_SIZE
def command(file: str, entry: str | None, target: str | None, as_json: bool, **reading: Any) -> int:
    """Show the machine code of FILE, PTX or a cubin, beside the PTX lines.

    The assembler moves instructions, so a line may appear several times.
    """
    cubin = _cubin(file)
    source: Source | None = None
    assembly: Assembly | None = None
    if cubin is None:
        module = files.read(file, **reading)
        assembly, cubin = assembled(module, target, line_info=True)
        source = module.source
    elif target is not None:
        raise error("P560", f"expected PTX with `--target`, found the cubin `{file}`")
    functions = _chosen(disassemble(cubin), entry, file)
    if as_json:
        print_json(
            {
                "schema": 1,
                "ok": True,
                "file": file,
                "assembler": assembly.assembler if assembly else None,
                "target": assembly.target if assembly else None,
                "usage": usage_json(assembly) if assembly else {},
                "functions": [function.to_json() for function in functions],
            }
        )
        return 0
    if assembly:
        print_diagnostics(assembly.diagnostics, sys.stderr)
    for function in functions:
        _print(function, assembly, source)
    return 0


def _cubin(file: str) -> bytes | None:
    """The content of FILE where it is a cubin."""
    path = Path(file)
    if not path.is_file():
        return None
    with path.open("rb") as opened:
        return _ELF + opened.read() if opened.read(len(_ELF)) == _ELF else None


def _chosen(functions: list[SassFunction], entry: str | None, file: str) -> list[SassFunction]:
    if entry is None:
        return functions
    found = [function for function in functions if function.name == entry]
    if not found:
        listed = ", ".join(f"`{function.name}`" for function in functions) or "none"
        raise error("P504", f"expected an entry of `{file}`, found `{entry}`", help=f"it has {listed}")
    return found


def _print(function: SassFunction, assembly: Assembly | None, source: Source | None) -> None:
    facts = [f"{counted(len(function.instructions), 'instruction')}"]
    if assembly:
        facts.append(f"{assembly.target}, {assembly.assembler}")
        facts += [usage_text(assembly, function.name)] if function.name in assembly.usage else []
    print(strong(f"{function.name}: {', '.join(facts)}"))
    width = max((len(str(i.line)) for i in function.instructions if i.line), default=0)
    line: int | None = None
    for instruction in function.instructions:
        if instruction.label:
            print(f"{instruction.label}:")
        if instruction.line != line:
            line = instruction.line
            text = source.line(line) if source and line else None
            if line is not None and text is not None:
                print(strong(f"{line:>{width}} | {text.strip()}", "36"))
        print(f"{'':{width}}     {instruction.address:04x}  {instruction.text}")
    print()
