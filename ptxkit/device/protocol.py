"""The Device protocol that the emulator and the driver both satisfy.

Same calls, same tests, same results. `open_device` in `ptxkit.running.devices` gives one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from ptxkit import dtypes
from ptxkit.asm.tree import Module
from ptxkit.device.arguments import Signature
from ptxkit.diagnostics import Diagnostic, error

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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A host copy, for `np.asarray`; to compute with a buffer itself is a TypeError."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type and number."""

    def __dlpack__(
        self,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over the buffer's own memory."""

    def __getitem__(self, index: Any) -> Any:
        """A host copy of some elements, as numpy chooses them."""

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write some elements."""


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
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
    ) -> None:
        """Start the kernel.

        Args:
            grid: CTAs along x, y, z; trailing ones may be left out, an int is those along x.
            block: threads of a CTA along x, y, z.
            args: one value a parameter, in order or by name, packed by the `.entry` signature
                (`ptxkit.device.arguments`).
            cluster: CTAs of a cluster; None takes `.reqnctapercluster`, else 1.
            shared: bytes of dynamic shared memory.
            cooperative: all CTAs resident at once.
            stream: a stream of the same device, None for its default one.

        Raises:
            PtxkitError: a bad shape, size or argument (P5), or what the device found (P6, P7).
        """

    def prepare(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
    ) -> Prepared:
        """A launch with everything checked and packed once; calling it launches. As `launch`."""

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        """`kernel[grid, block]`, or with a stream and shared bytes after them: what launches so when it is
        called with the arguments, in order or by name."""


class Prepared(Protocol):
    """A launch that is ready to go: call it to launch, as often as need be."""

    def __call__(self) -> None:
        """Launch."""

    def bind(self, parameter: int | str, value: Any) -> Prepared:
        """Give one parameter, by its name or index, another value for the launches to come."""


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
        """Warnings so far, in order: the emulator's while it executes, the driver's compiler's when it loads.

        Errors are raised. What `check` warns of, it says where it is asked.
        """

    def load(self, source: str | Path | Module) -> LoadedModule:
        """Check and load PTX: a path, a text (a str with a newline) or a parsed module.

        Raises:
            PtxkitError: what `check` or the device's own compiler has against it.
        """

    def array(self, source: Any, name: str | None = None) -> Buffer:
        """A device copy of an array: numpy, `__cuda_array_interface__` or DLPack; `name` as for `empty`."""

    def empty(self, shape: int | Sequence[int], dtype: Any, name: str | None = None) -> Buffer:
        """Memory whose content is undefined.

        Args:
            shape: in elements, outermost first.
            dtype: PTX's name of a type or numpy's.
            name: what findings and errors call the buffer.

        Raises:
            PtxkitError: out of memory (P705), with what was asked and what is free.
        """

    def zeros(self, shape: int | Sequence[int], dtype: Any, name: str | None = None) -> Buffer:
        """Memory filled with zeros; as `empty`."""

    def synchronize(self) -> None:
        """Wait for everything launched so far; raises what it met."""

    def __enter__(self) -> Self:
        """The device: `with` closes it."""

    def __exit__(self, *_: object) -> None:
        """Close it."""

    def close(self) -> None:
        """Give everything back. A second call does nothing.

        To use the device, a module, a kernel or a buffer of it afterwards is an error, P714.
        """


# ---- what both devices make of arrays


def element_type(dtype: Any) -> np.dtype:
    """The numpy or ml_dtypes type of an element.

    Args:
        dtype: a PTX type's name (`f32`, `bf16`, `u8`: 8 bits), else what numpy takes (`float32`, `np.int8`).

    Raises:
        PtxkitError: P517, it is neither, or no plain number.
    """
    if isinstance(dtype, str) and dtype.removeprefix(".") in dtypes.DTYPES:
        try:
            return dtypes.numpy_dtype(dtype.removeprefix("."))
        except KeyError:
            help = "store packed and opaque types as bytes, `u8`"
            raise error("P517", f"numpy has no counterpart of PTX type `{dtype}`", help=help) from None
    try:
        made = np.dtype("O" if dtype is None else dtype)
    except TypeError:
        message = f"expected a PTX or numpy type, found {dtype!r}"
        raise error("P517", message, help="`f32`, `bf16`, `e4m3`, `u8`, `float32`, ..") from None
    if made.hasobject or made.itemsize == 0:
        raise error("P517", f"expected a type of fixed size, found `{made}`")
    return made.newbyteorder("=") if made.names is None else made


def extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple.

    Raises:
        PtxkitError: P517, not integers from 0 up.
    """
    try:
        sizes = tuple(map(index, shape)) if isinstance(shape, Sequence) else (index(shape),)
    except TypeError:
        sizes = (-1,)
    if any(size < 0 for size in sizes):
        raise error("P517", f"expected a shape of integers from 0 up, found {shape!r}")
    return sizes


def host_array(source: Any) -> np.ndarray:
    """A dense array in host memory, in native byte order, of anything that numpy makes an array of.

    Raises:
        PtxkitError: P517, its elements are no plain numbers.
    """
    array = np.asarray(source)
    return np.ascontiguousarray(array, element_type(array.dtype)).reshape(array.shape)
