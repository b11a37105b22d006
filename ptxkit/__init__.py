"""ptxkit: check, run, emulate and benchmark hand-written PTX, with nothing between it and the GPU.

PYTEST_DONT_REWRITE: our plugin asserts nothing, and where `ptxkit exec` has imported this package ahead of
pytest, its wish to rewrite it is a warning, which some suites make an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.support.lazy import lazy_names
from ptxkit.support.version import VERSION as __version__

if TYPE_CHECKING:
    from ptxkit.asm import Module as Module
    from ptxkit.asm.check import check as check
    from ptxkit.asm.parse import parse as parse
    from ptxkit.asm.write import write as write
    from ptxkit.descriptors import TensorMap as TensorMap
    from ptxkit.descriptors import tensor_map as tensor_map
    from ptxkit.diagnostics import Diagnostic as Diagnostic
    from ptxkit.diagnostics import PtxkitError as PtxkitError
    from ptxkit.diagnostics import Severity as Severity
    from ptxkit.diagnostics import Span as Span
    from ptxkit.emulator import EmulatorFault as EmulatorFault
    from ptxkit.running.devices import open_device as open_device
    from ptxkit.running.devices import open_machine as open_machine

_HOMES = {
    "Diagnostic": "ptxkit.diagnostics",
    "EmulatorFault": "ptxkit.emulator",
    "Module": "ptxkit.asm",
    "PtxkitError": "ptxkit.diagnostics",
    "Severity": "ptxkit.diagnostics",
    "Span": "ptxkit.diagnostics",
    "TensorMap": "ptxkit.descriptors",
    "check": "ptxkit.asm.check",
    "open_device": "ptxkit.running.devices",
    "open_machine": "ptxkit.running.devices",
    "parse": "ptxkit.asm",
    "tensor_map": "ptxkit.descriptors",
    "write": "ptxkit.asm.write",
}

__all__ = ["__version__", *sorted(_HOMES)]


__getattr__ = lazy_names(globals(), _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
