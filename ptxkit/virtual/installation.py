"""Virtual GPUs for a Python process that runs already."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ptxkit.virtual import libraries
from ptxkit.virtual.clients.environment import environment_of
from ptxkit.virtual.clients.imports import watch
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.process import attach, attached, machine
from ptxkit.virtual.run_folder import run_folder


def install(**settings: Any) -> Machine:
    """Give this Python process virtual GPUs: what loads `libcuda.so.1` from now on gets ours.

    Args:
        settings: of `ptxkit.virtual.options.VirtualOptions`.

    Raises:
        PtxkitError: P520 and P305 for settings, P751 where there are no libraries for this system.
    """
    made = machine(VirtualOptions(**settings))
    if not attached():
        folder = _kept_folder()
        home = folder / "lib"
        home.mkdir()
        for definition, path in zip(libraries.LIBRARIES, libraries.write_libraries(home), strict=True):
            attach(definition.name, str(path))
        os.environ.update(environment_of(folder, home, made.options))
        watch()
    return made


def _kept_folder() -> Path:
    """A folder that lasts as long as this process: programs that it starts find their libraries there."""
    stack = ExitStack()
    folder = stack.enter_context(run_folder())
    process = os.getpid()
    atexit.register(lambda: stack.close() if os.getpid() == process else None)
    return folder
