"""PTX that a program hands to the driver, on a device's emulator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.asm.link import link
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.device import EmulatorModule
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.results import DriverError, code, failure

_DEVICE_RUNTIME = re.compile(
    r"\.extern\s+\.func[^;]*\b(?:cudaCGSynchronize|cudaCGGetIntrinsicHandle|cudaGraphSetConditional)\b"
)
"""What makes a module need `device_runtime.ptx`."""
MAX_TEXT = 1 << 28
"""The largest PTX text that is read."""


@contextmanager
def refusing_ptx() -> Iterator[None]:
    """What `check` has against PTX becomes the driver's INVALID_PTX."""
    try:
        yield
    except PtxkitError as problem:
        if problem.diagnostics[0].code == "P705":
            raise
        raise DriverError(code("INVALID_PTX"), str(problem)) from None


def load_text(device: VirtualDevice, text: str, name: str) -> EmulatorModule:
    """PTX on a device's emulator.

    Raises:
        DriverError: INVALID_PTX, with what `check` has against it; NO_BINARY_FOR_GPU, another GPU's;
        UNSUPPORTED_PTX_VERSION.
    """
    with refusing_ptx():
        module = parse(text, name=name, max_size=MAX_TEXT)
        if module.version is not None and module.version > targets.NEWEST_VERSION:
            major, minor = module.version
            raise failure("UNSUPPORTED_PTX_VERSION", f"PTX of version {major}.{minor}, which is not known")
        target = targets.parse(module.target or "")
        if target is not None and not target.runs_on(device.target.capability):
            raise failure("NO_BINARY_FOR_GPU", f"PTX for {target} does not run on {device.target}")
        if _DEVICE_RUNTIME.search(text):
            runtime = files(__package__).joinpath("device_runtime.ptx").read_text("utf-8")
            module = link([module, parse(runtime, name="<device runtime>")])
        return device.emulator.load(module)
