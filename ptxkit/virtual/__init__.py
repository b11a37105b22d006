"""A GPU for programs that have none: NVIDIA's driver API over the emulator.

`ptxkit exec -- PROGRAM` runs a program that finds our `libcuda.so.1` where it looks for NVIDIA's;
`install()` does the same within a Python process:

    from ptxkit import virtual
    gpu = virtual.install(arch="sm_90a")
    ...                                     # cuda.bindings, numba, Triton: whatever calls the driver
    gpu.report.findings                     # what was found

`elf` writes the libraries, `symbols` says what they export, `dispatch` turns calls of C into calls of Python,
`driver` is the driver API, chapter by chapter, and `gpu` the machine below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.support.lazy import lazy_names

if TYPE_CHECKING:
    from ptxkit.virtual.installation import install as install

__all__ = ["install"]

__getattr__ = lazy_names(globals(), {"install": "ptxkit.virtual.installation"})
