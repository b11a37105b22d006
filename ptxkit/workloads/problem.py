"""What a workload is: sizes, tensors, inputs, a float64 reference, and what the work costs.

A workload is the problem, not the kernel: several kernels name the same one and are compared on it. One of
your own is a subclass of `Workload` in a file of yours, run with `--workload FILE.py:NAME`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.dtypes import DTYPES, numpy_dtype

Sizes = Mapping[str, int]
"""A problem's sizes by name: `{"M": 128, "K": 256, "L": 1}`."""
Arrays = dict[str, np.ndarray]
"""Host arrays by tensor name, as stored: see `Tensor.storage_shape`."""

ROLES = ("input", "output", "scratch")


@dataclass(frozen=True, slots=True)
class Size:
    """One size of a problem.

    Attributes:
        minimum: the smallest value it may have.
        multiple: what it must be a multiple of.
    """

    name: str
    meaning: str
    minimum: int = 1
    multiple: int = 1


@dataclass(frozen=True, slots=True)
class Generator:
    """One way to make inputs.

    Attributes:
        meaning: one line.
        seed: where nobody gives one.
    """

    meaning: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a problem, contiguous in memory.

    Attributes:
        dtype: PTX's name of the element type.
        shape: in elements, outermost first.
        role: `input`, `output` (compared with the reference, poisoned before the launch unless it has a first
            content), `scratch` (nothing defined before, nothing looked at after) or `argument` (nothing says
            what it is for).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str = "input"

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def storage_dtype(self) -> np.dtype:
        """The numpy type of what is stored: bytes for types that pack several elements into one."""
        return np.dtype(np.uint8) if DTYPES[self.dtype].pack > 1 else numpy_dtype(self.dtype)

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """The shape of what is stored: the innermost extent halves for `e2m1`, two to a byte."""
        pack = DTYPES[self.dtype].pack
        if pack == 1 or not self.shape:
            return self.shape
        return (*self.shape[:-1], -(-self.shape[-1] // pack))

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return prod(self.storage_shape) * self.storage_dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis but the innermost, outermost first."""
        stored = self.storage_shape
        return tuple(
            prod(stored[axis + 1 :]) * self.storage_dtype.itemsize for axis in range(len(stored) - 1)
        )


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an output may be from the reference r: `atol + rtol * |r| + ulp * ulp(r)`.

    Attributes:
        ulp: in units of the last place of the output's type at r.
    """

    rtol: float = 0.0
    atol: float = 0.0
    ulp: float = 0.0


@dataclass(frozen=True, slots=True)
class Expected:
    """What an output must hold.

    Attributes:
        values: float64, or integers for an integer output; in the tensor's shape.
        slack: further absolute tolerance element by element, for what the accumulation alone may lose.
    """

    values: np.ndarray
    slack: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What the problem asks of the hardware at least.

    Attributes:
        bytes_read, bytes_written: each byte that must cross the memory bus, once.
        operations: a multiplication and an addition count two.
        arithmetic: the type whose tensor-core products bound them, `bf16`; None where there are none.
    """

    bytes_read: int
    bytes_written: int
    operations: int
    arithmetic: str | None = None

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written


class Workload(ABC):
    """A problem.

    Attributes:
        name: as cards and the command line write it.
        summary: one line.
        sizes: what `-p` and presets give.
        generators: input generators by name, the first the default.
        tolerance: of every output.
    """

    name: str
    summary: str = ""
    sizes: tuple[Size, ...] = ()
    generators: Mapping[str, Generator] = {}
    tolerance: Tolerance = Tolerance()

    def check(self, sizes: Sizes) -> None:
        """Whether the problem exists at these sizes.

        Raises:
            PtxkitError: P551 (a size is missing or unknown), P552 (a size is too small or no multiple).
        """
        names = [size.name for size in self.sizes]
        usage = f"`{self.name}` has the sizes " + "; ".join(
            f"`{size.name}`, {size.meaning}" for size in self.sizes
        )
        for name in sizes:
            if name not in names:
                raise error("P551", f"expected a size of `{self.name}`, found `{name}`", help=usage)
        for size in self.sizes:
            if size.name not in sizes:
                raise error(
                    "P551", f"expected the size `{size.name}` of `{self.name}`, found none", help=usage
                )
            value = sizes[size.name]
            if value < size.minimum:
                message = f"expected `{size.name}` of {size.minimum} or more, found {value}"
                raise error("P552", message, help=f"`{size.name}` is {size.meaning}")
            if value % size.multiple:
                down = value // size.multiple * size.multiple
                near = [v for v in (down, down + size.multiple) if v >= max(size.minimum, 1)]
                message = f"expected `{size.name}` to be a multiple of {size.multiple}, found {value}"
                tries = " or ".join(f"`-p {size.name}={v}`" for v in near)
                raise error("P552", message, help=f"`{size.name}` is {size.meaning}; try {tries}")

    @abstractmethod
    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        """Every tensor that a kernel may take, inputs and outputs, at these sizes."""

    @abstractmethod
    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs, as stored.

        Args:
            sizes: checked sizes.
            generator: one of `generators`.
            seed: the same seed gives the same inputs everywhere.
            wanted: the tensors that the kernel takes; others may be left out.
        """

    @abstractmethod
    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """What each output must hold, in float64, for these inputs."""

    @abstractmethod
    def cost(self, sizes: Sizes) -> Cost:
        """What the problem asks of the hardware at least."""

    def generator(self, name: str | None) -> str:
        """The name of a generator: `name` where there is such a one, the default for None.

        Raises:
            PtxkitError: P553, there is none of that name.
        """
        if name is None:
            return next(iter(self.generators))
        if name not in self.generators:
            listed = ", ".join(
                f"`{known}` ({generator.meaning})" for known, generator in self.generators.items()
            )
            message = f"expected an input generator of `{self.name}`, found `{name}`"
            raise error("P553", message, help=f"its generators are {listed}")
        return name
