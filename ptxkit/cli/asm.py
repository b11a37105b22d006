"""`ptxkit asm FILE -o OUT.cubin`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import ptxkit
from ptxkit import targets
from ptxkit.asm import Module
from ptxkit.cli import Verb, files
from ptxkit.cli.options import MAX_SIZE, TargetName, preprocessor_options
from ptxkit.cli.output import print_diagnostics, print_json
from ptxkit.diagnostics import PtxkitError, counted, error
from ptxkit.support.atomic_file import check_folder, write_atomically
from ptxkit.toolchain.assembler import OLDEST, Assembly, assemble, second_opinion


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit asm gemv.ptx -o gemv.cubin", "machine code for the file's own target"),
        ("ptxkit asm gemv.ptx -o gemv.cubin --target sm_90a --line-info", "with PTX lines for profilers"),
    ),
)
@click.argument("file")
@click.option(
    "-o", "out", type=click.Path(path_type=Path), required=True, metavar="OUT.cubin", help="Where to."
)
@click.option(
    "--target", type=TargetName(), metavar="SM", help="Assemble for this target instead of the file's own."
)
@click.option("--line-info", is_flag=True, help="Let profilers and `ptxkit sass` show the PTX lines.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@preprocessor_options
@MAX_SIZE
def command(file: str, out: Path, target: str | None, line_info: bool, as_json: bool, **reading: Any) -> int:
    """Make machine code of FILE with NVIDIA's assembler: nvJitLink, or ptxas on PATH."""
    check_folder(out)
    module = files.read(file, **reading)
    assembly, cubin = assembled(module, target, line_info)
    write_atomically(out, cubin)
    if as_json:
        print_json(
            {
                "schema": 1,
                "ok": True,
                "out": str(out),
                "bytes": len(cubin),
                "assembler": assembly.assembler,
                "target": assembly.target,
                "usage": usage_json(assembly),
                "diagnostics": [diagnostic.to_json() for diagnostic in assembly.diagnostics],
            }
        )
        return 0
    print_diagnostics(assembly.diagnostics, sys.stderr)
    print(f"{out}: {len(cubin):,} bytes for {assembly.target}, by {assembly.assembler}")
    for name in assembly.usage:
        print(f"  {name}: {usage_text(assembly, name)}")
    return 0


def assembled(module: Module, target: str | None, line_info: bool) -> tuple[Assembly, bytes]:
    """What the assembler made of a module, and its machine code.

    Raises:
        PtxkitError: P560, a target that it makes no code for; it refused the module, for what the checker and
            it found; what `assemble` raises.
    """
    asked = targets.parse(target) if target is not None else None
    if asked is not None and asked.number < OLDEST:
        message = f"expected a target from `sm_{OLDEST}` on, found `{asked.name}`"
        raise error("P560", message, help="assemblers of CUDA 13 make code for no older one")
    assembly = assemble(module, target, line_info=line_info)
    if assembly.cubin is None:
        found = second_opinion(module, ptxkit.check(module, target=target), target)
        raise PtxkitError(found if any(d.is_error for d in found) else assembly.diagnostics)
    return assembly, assembly.cubin


def usage_json(assembly: Assembly) -> dict[str, dict[str, int]]:
    """What each function uses, for JSON."""
    return {
        name: {
            "registers": usage.registers,
            "stack_bytes": usage.stack,
            "spill_store_bytes": usage.spill_stores,
            "spill_load_bytes": usage.spill_loads,
        }
        for name, usage in assembly.usage.items()
    }


def usage_text(assembly: Assembly, name: str) -> str:
    """What one function uses, in a line."""
    usage = assembly.usage[name]
    spills = usage.spill_stores + usage.spill_loads
    text = f"{counted(usage.registers, 'register')}"
    text += f", {counted(usage.stack, 'byte')} of stack" if usage.stack else ""
    return text + (f", spills {usage.spill_stores} + {usage.spill_loads} bytes" if spills else ", no spills")
