"""The Device protocol that the emulator and the driver both satisfy.

Same calls, same tests, same results. `open_device` in `ptxkit.devices` gives one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ptxkit.arguments import Signature
from ptxkit.asm.tree import Module
from ptxkit.diagnostics import Diagnostic

Dim3 = tuple[int, int, int]


@runtime_checkable
class Buffer(Protocol):
    """Device memory that holds an array. It frees itself when nothing refers to it any more."""

    @property
    def address(self) -> int:
        """The device address of the first byte."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in elements, outermost first."""

    @property
    def dtype(self) -> np.dtype:
        """The numpy (or ml_dtypes) type of an element."""

    def numpy(self) -> np.ndarray:
        """A host copy; waits for the work before it."""

    def write(self, array: np.ndarray) -> None:
        """Copy a host array of the same number of bytes into the buffer."""

    def free(self) -> None:
        """Give the memory back now; a second call does nothing."""


class Kernel(Protocol):
    """One `.entry` of a loaded module."""

    @property
    def name(self) -> str:
        """The entry's name."""

    @property
    def signature(self) -> Signature:
        """The parameters, from the `.entry`."""

    @property
    def attributes(self) -> dict[str, int]:
        """What the device knows of the kernel: registers, shared and local bytes, max threads, .."""

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any] = (),
        cluster: Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
    ) -> None:
        """Start the kernel.

        Args:
            grid: CTAs along x, y, z; trailing ones may be left out.
            block: threads of a CTA along x, y, z.
            args: one value a parameter, packed by the `.entry` signature (`ptxkit.arguments`).
            cluster: CTAs of a cluster; None takes `.reqnctapercluster`, else 1.
            shared: bytes of dynamic shared memory.
            cooperative: all CTAs resident at once.
            stream: a stream of the same device, None for its default one.

        Raises:
            PtxkitError: a bad shape, size or argument (P5), or what the device found (P6, P7).
        """


class LoadedModule(Protocol):
    """A module on a device."""

    def kernel(self, name: str | None = None) -> Kernel:
        """The entry `name`; None where the module has exactly one.

        Raises:
            PtxkitError: P504, no such entry, or several and no name; the message lists them.
        """


class Device(Protocol):
    """A GPU, or the emulator of one."""

    @property
    def name(self) -> str:
        """`emu`, or the GPU's name."""

    @property
    def kind(self) -> str:
        """`emu` or `cuda`."""

    @property
    def findings(self) -> list[Diagnostic]:
        """Warnings so far, in order. Errors are raised."""

    def load(self, source: str | Path | Module) -> LoadedModule:
        """Check and load PTX: a path, a text (a str with a newline) or a parsed module.

        Raises:
            PtxkitError: what `check` or the device's own compiler has against it.
        """

    def array(self, source: Any) -> Buffer:
        """A device copy of an array: numpy, `__cuda_array_interface__` or DLPack."""

    def empty(self, shape: int | Sequence[int], dtype: Any) -> Buffer:
        """Memory whose content is undefined.

        Raises:
            PtxkitError: out of memory (P705), with what was asked and what is free.
        """

    def synchronize(self) -> None:
        """Wait for everything launched so far; raises what it met."""

    def close(self) -> None:
        """Give everything back. A second call does nothing."""
