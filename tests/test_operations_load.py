"""Operations load with the chapters that a kernel has, and the table of them is whole."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

from ptxkit.emulator import operations
from ptxkit.emulator.effect import Effects
from ptxkit.emulator.opcodes import CHAPTERS
from ptxkit.emulator.operation import Operations


def test_the_table_has_every_chapter_of_every_file() -> None:
    prefix = f"{operations.__name__}."
    found: dict[str, set[str]] = {}
    for name in [module.name for module in walk_packages(operations.__path__, prefix)]:
        for registry in vars(import_module(name)).values():
            if isinstance(registry, Operations | Effects):
                found.setdefault(registry.chapter, set()).add(name.removeprefix(prefix))
    assert found == {chapter: set(files) for chapter, files in CHAPTERS.items()}


def test_a_kernel_loads_the_operations_that_it_has() -> None:
    script = (
        "import sys, ptxkit; device = ptxkit.open_device('emu');"
        "kernel = device.load('.version 8.0\\n.target sm_80\\n.visible .entry k() { ret; }').kernel();"
        "kernel.launch(grid=1, block=32);"
        "print(*(m.rpartition('.')[2] for m in sys.modules if m.startswith('ptxkit.emulator.operations.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "control_flow" in loaded
    assert not {"video", "wgmma", "mma", "texture", "half"} & loaded
