"""CUDA C++ to PTX, and a file without the entries that nobody wants."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

FLAGS = ("-ptx", "-arch=sm_90a", "-w")
TIMEOUT = 900.0
ENTRY = re.compile(r"(?:\.visible |\.weak )?\.entry (\w+)\(")
GLOBAL = re.compile(r"\s*// \.globl\s+(\w+)")

BEGIN, END = "\t// begin inline asm", "\t// end inline asm"
"""What stands around inline assembly, the braces of which are where its authors put them."""


def compiled(
    source: Path, flags: Iterable[str], include: Iterable[Path], around: tuple[str, str] = ("", "")
) -> str:
    """What nvcc makes of a source.

    Args:
        source: its file.
        flags: those of nvcc.
        include: folders of headers.
        around: code before and after that of the file: what a newer toolkit needs, instances of templates.

    Raises:
        ValueError: it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.ptx"
        if any(around):
            whole = Path(folder) / source.name
            whole.write_text(f'{around[0]}\n#include "{source.resolve()}"\n{around[1]}\n', encoding="utf-8")
            source = whole
        command = ["nvcc", *FLAGS, *flags, *(f"-I{each}" for each in include), "-o", str(out), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode:
            raise ValueError("nvcc: " + "\n".join(done.stderr.splitlines()[:5]))
        return out.read_text(encoding="utf-8")


def only_entries(text: str, wanted: set[str]) -> str:
    """A module as nvcc writes it with these entries alone.

    Raises:
        ValueError: it lacks one.
    """
    kept: list[str] = []
    found: set[str] = set()
    skipping = inside = False
    for line in text.split("\n"):
        inside = line != END if inside else line == BEGIN
        if skipping:
            skipping = inside or line != "}"
            continue
        if match := ENTRY.match(line):
            found.add(match[1])
            skipping = match[1] not in wanted
        elif (match := GLOBAL.match(line)) and match[1] not in wanted:
            continue
        if not skipping:
            kept.append(line)
    if missing := sorted(wanted - found):
        raise ValueError(f"no entry {', '.join(missing)}")
    return "\n".join(kept)
