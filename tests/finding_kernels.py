"""The kernels of tests/findings: each provokes a finding of the emulator, and has its repair beside it.

Lines that end in `// broken` are left out of the repaired kernel, those that end in `// repaired` out of the
broken one. `// broken: P602 words` is the line that the finding names, and what it must say. The file's name
begins with the code.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import Emulator

FOLDER = Path(__file__).parent / "findings"
FILES = sorted(FOLDER.glob("*.ptx"))
MARK = re.compile(r"// (broken|repaired)(?:: (P\d{3})(?: (.*))?)?$")
ARGUMENT = re.compile(r"(\w+)=(\w+)\[(\d+)\]")


def version(text: str, kept: str) -> str:
    """The broken or the repaired kernel; lines that are left out become empty."""
    lines = []
    for line in text.splitlines():
        mark = MARK.search(line)
        lines.append("" if mark and mark[1] != kept else line)
    return "\n".join([*lines, ""])


def findings(text: str) -> list[Diagnostic]:
    """What the emulator says of a kernel, errors and warnings; its results are read, too."""
    launch = next(line for line in text.splitlines() if line.startswith("// launch "))
    numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)(?![\d\[])", launch)}
    device = Emulator()
    arguments = [
        device.array(np.zeros(int(count), {"u16": np.uint16, "u32": np.uint32}[kind]))
        for _, kind, count in ARGUMENT.findall(launch)
    ]
    try:
        device.load(text).kernel().launch((numbers.get("grid", 1),), (numbers["block"],), arguments)
        for argument in arguments:
            argument.numpy()
    except PtxkitError as caught:
        return [*caught.diagnostics]
    return device.findings
