"""The kernels of tests/findings: each provokes a finding of the emulator, and has its repair beside it.

Lines that end in `// broken` are left out of the repaired kernel, those that end in `// repaired` out of the
broken one. `// broken: P602 words` is the line that the finding names, and what it must say. The file's name
begins with the code. `// launch` gives an argument `u32[8]` eight words, `texture[8]` and `surface[8]` one
square of 8 texels of u32, all of them the same, and `anisotropic[8]` a texture of floats with such a filter.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from textures import array, surface, texture

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.objects import Sampler

FOLDER = Path(__file__).parent / "findings"
FILES = sorted(FOLDER.glob("*.ptx"))
MARK = re.compile(r"// (broken|repaired)(?:: (P\d{3,4})(?: (.*))?)?$")
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
    images: dict[int, TexelArray] = {}
    made = [_argument(device, images, kind, int(count)) for _, kind, count in ARGUMENT.findall(launch)]
    arguments, buffers = made, [each for each in made if not isinstance(each, np.uint64)]
    try:
        device.load(text).kernel().launch((numbers.get("grid", 1),), (numbers["block"],), arguments)
        for buffer in buffers:
            buffer.numpy()
    except PtxkitError as caught:
        return [*caught.diagnostics]
    return device.findings


def _argument(device: Emulator, images: dict[int, TexelArray], kind: str, count: int) -> Any:
    """Words in global memory, or the handle of an object."""
    if kind == "anisotropic":
        floats = array(device, "2d", [np.zeros((count, count, 1), np.float32)])
        filtered = Sampler(normalized=True, linear=True, level_clamp=(0, 16), anisotropy=8)
        return np.uint64(texture(device, floats, filtered))
    if kind not in ("texture", "surface"):
        return device.array(np.zeros(count, {"u16": np.uint16, "u32": np.uint32}[kind]))
    if count not in images:
        images[count] = array(device, "2d", [np.zeros((count, count, 1), np.uint32)])
    make = texture if kind == "texture" else surface
    return np.uint64(make(device, images[count]))
