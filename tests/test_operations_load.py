"""Operations load with the chapters that a kernel has, and the table of them is whole."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ptxkit.emulator import operations
from ptxkit.emulator.effect import Effects
from ptxkit.emulator.opcodes import CHAPTERS
from ptxkit.emulator.operation import Operations
from ptxkit.emulator.values import distinct


def test_the_table_has_every_chapter_of_every_file() -> None:
    prefix = f"{operations.__name__}."
    found: dict[str, set[str]] = {}
    for name in [module.name for module in walk_packages(operations.__path__, prefix)]:
        for registry in vars(import_module(name)).values():
            if isinstance(registry, Operations | Effects):
                found.setdefault(registry.chapter, set()).add(name.removeprefix(prefix))
    assert found == {chapter: set(files) for chapter, files in CHAPTERS.items()}


def loaded_for(body: str) -> set[str]:
    """The files of operations that a process has loaded after a launch of one warp with that body."""
    text = ".version 8.0\n.target sm_90\n.visible .entry k()\n{ .reg .b32 %r<4>; " + body + " }"
    script = (
        f"import sys, ptxkit; device = ptxkit.open_device('emu'); kernel = device.load({text!r}).kernel();"
        "kernel.launch(grid=1, block=32);"
        "print(*(m.rpartition('.')[2] for m in sys.modules if m.startswith('ptxkit.emulator.operations.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_kernel_loads_the_operations_that_it_has() -> None:
    loaded = loaded_for("ret;")
    assert "control_flow" in loaded
    assert not {"video", "wgmma", "mma", "texture", "half"} & loaded


def test_a_kernel_does_not_load_the_rest_of_a_chapter() -> None:
    loaded = loaded_for("mov.u32 %r0, %tid.x; bar.sync 0; ret;")
    assert {"data_movement", "barrier"} <= loaded
    assert not {"tensor_map", "multimem", "asynchronous_store", "launch_control", "conversion"} & loaded


def test_a_run_loads_neither_workers_nor_what_numpy_itself_leaves_for_later() -> None:
    script = (
        "import sys; from ptxkit.__main__ import main;"
        "code = main(['run', 'gemv.ptx', '--device', 'emu']);"
        "later = {'multiprocessing', 'subprocess', 'statistics', 'shutil', 'numpy.ma'};"
        "print(code, *later & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


@given(arrays(np.uint32, st.integers(0, 40), elements=st.integers(0, 9)))
def test_distinct_values(values: np.ndarray) -> None:
    assert distinct(values).tolist() == np.unique(values).tolist()
    assert distinct(values.reshape(1, -1)).dtype == np.uint32
