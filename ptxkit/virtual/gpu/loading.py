"""PTX that a program hands to the driver, on a device's emulator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from ptxkit import targets
from ptxkit.asm import Module, parse
from ptxkit.asm.link import link
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.device import EmulatorModule
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.results import DriverError, code, failure

_DEVICE_RUNTIME = re.compile(
    r"\.extern\s+\.func[^;]*\b(?:cudaCGSynchronize|cudaCGGetIntrinsicHandle|cudaGraphSetConditional)\b"
)
"""What makes a module need `device_runtime.ptx`."""
_NARROW = re.compile(r"^\s*\.address_size\s+32\b", re.M)
OLDEST_VERSION = (1, 0)
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
        DriverError: INVALID_PTX, with what `check` has against it, or another GPU's; UNSUPPORTED_PTX_VERSION.
    """
    with refusing_ptx():
        module = parsed_for(device, text, name)
        if _DEVICE_RUNTIME.search(text):
            runtime = files(__package__).joinpath("device_runtime.ptx").read_text("utf-8")
            module = link([module, parse(runtime, name="<device runtime>")])
        return device.emulator.load(module)


def parsed_for(device: VirtualDevice, text: str, name: str) -> Module:
    """PTX that is of a version and for a target that a device runs.

    Raises:
        DriverError: INVALID_PTX, UNSUPPORTED_PTX_VERSION.
    """
    with refusing_ptx():
        module = parse(text, name=name, max_size=MAX_TEXT)
        if module.version is not None and not OLDEST_VERSION <= module.version <= targets.NEWEST_VERSION:
            major, minor = module.version
            raise failure("UNSUPPORTED_PTX_VERSION", f"PTX of version {major}.{minor}, which is not known")
        target = targets.parse(module.target or "")
        if target is not None and not target.runs_on(device.target.capability):
            raise failure("INVALID_PTX", f"PTX for {target} does not run on {device.target}")
        if _NARROW.search(text):
            raise failure("INVALID_PTX", "PTX of 32-bit addresses: devices have 64-bit ones")
        return module
