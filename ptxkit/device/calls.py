"""What devices, kernels and buffers answer alike, on the emulator and on a GPU.

The rest of their calls is each device's own: `ptxkit.device.protocol` lists all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from ptxkit.device.arguments import Signature
from ptxkit.device.protocol import Buffer, Device, Kernel, element_type, extents
from ptxkit.support.shown import SelfDescribing


class OnDevice(SelfDescribing):
    """Something that lives on a device of this process: it can be shown, but neither pickled nor copied."""

    __slots__ = ()

    _INSTEAD = "open the device where it is needed"
    """What to do instead of pickling."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"`{name}` belongs to its process and can't be pickled or copied; {self._INSTEAD}")


class AnyDevice(OnDevice):
    """A device: closed at the end of a `with`."""

    def zeros(self: Device, shape: int | Sequence[int], dtype: Any, name: str | None = None) -> Buffer:
        """Memory filled with zeros; the arguments are those of `empty`.

        Raises:
            PtxkitError: what `empty` raises.
        """
        buffer = self.empty(shape, dtype, name)
        buffer.write(np.zeros(extents(shape), element_type(dtype)))
        return buffer

    def __enter__(self) -> Self:
        return self

    def __exit__(self: Device, *_: object) -> None:
        self.close()


class AnyKernel(OnDevice):
    """A kernel: `kernel[grid, block](x, y, n=3)` launches it, as Numba writes it."""

    def __getitem__(self: Kernel, shape: Any) -> LaunchShape:
        """What launches with this shape.

        Args:
            shape: `grid, block`, then a stream and bytes of dynamic shared memory if need be, in the order
                that Numba has. Launches with clusters or cooperative ones are `launch`'s.
        """
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError(
                f"expected `kernel[grid, block]`, then stream and shared bytes, found `kernel[{shape!r}]`"
            )
        return LaunchShape(self, *shape)

    def __call__(self: Kernel, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"a launch needs a grid and a block: `kernel[grid, block](..)` or `kernel.launch(..)` of "
            f"`{self.name}`"
        )

    def __rich_repr__(self: Kernel) -> Iterator[Any]:
        yield self.name
        yield "parameters", ", ".join(f"{each.text} {each.name}" for each in self.signature)


class LaunchShape(SelfDescribing):
    """A kernel with the shape of its launches: call it with the arguments, in order or by name.

    Attributes:
        kernel: what is launched.
        grid, block: CTAs and threads of each along x, y, z.
        stream: of the kernel's device, None for its default one.
        shared: bytes of dynamic shared memory.
    """

    def __init__(
        self,
        kernel: Kernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        stream: Any = None,
        shared: int = 0,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.block = block
        self.stream = stream or None  # Numba's default stream is 0
        self.shared = shared

    def __call__(self, *args: Any, **named: Any) -> None:
        """Launch; arguments may be given by the names of the `.entry`'s parameters, after those in order.

        Raises:
            PtxkitError: what `launch` raises.
        """
        given: Sequence[Any] = self.kernel.signature.arranged(named, args) if named else args
        self.kernel.launch(self.grid, self.block, given, shared=self.shared, stream=self.stream)

    def __rich_repr__(self) -> Iterator[Any]:
        yield self.kernel.name
        yield "grid", self.grid
        yield "block", self.block
        yield "stream", self.stream, None
        yield "shared", self.shared, 0


class AnyBuffer(OnDevice):
    """Device memory that holds an array: numpy reads it where it is told to, and never computes with it."""

    __slots__ = ()

    _INSTEAD = "pickle `buffer.numpy()`"

    def __array__(self: Buffer, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A host copy, for `np.asarray(buffer)`."""
        if copy is False:
            raise ValueError("device memory reaches numpy as a copy only; leave `copy=False` out")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __array_ufunc__(self, function: Any, method: str, *_: Any, **__: Any) -> NoReturn:
        raise _computing(function.__name__)

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        raise _computing(function.__name__)

    def __len__(self: Buffer) -> int:
        if not self.shape:
            raise TypeError("a buffer of one element, without dimensions, has no length")
        return self.shape[0]

    def __getitem__(self: Buffer, index: Any) -> Any:
        """A host copy of some elements: what `buffer.numpy()[index]` gives."""
        return self.numpy()[index]

    def __setitem__(self: Buffer, index: Any, value: Any) -> None:
        """Write some elements."""
        array = self.numpy()
        array[index] = value
        self.write(array)

    def __iter__(self: Buffer) -> Iterator[Any]:
        return iter(self.numpy())


def _computing(name: str) -> TypeError:
    return TypeError(
        f"`np.{name}` computes on the host and got a device buffer; give it `buffer.numpy()`, a copy"
    )


def in_order(signature: Signature, args: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
    """Arguments in the order of the signature, given so or by name."""
    return signature.arranged(args) if isinstance(args, Mapping) else args
