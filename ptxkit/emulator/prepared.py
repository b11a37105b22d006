"""Launches of the emulator that were checked and packed ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ptxkit.device.arguments import Signature
from ptxkit.device.arguments.values import AddressOf
from ptxkit.device.calls import AnyKernel, OnDevice, in_order


class PreparedEmulation(OnDevice):
    """A launch that is ready to go: call it to launch. Its arguments stay alive with it.

    Args:
        launch: launches, given the bytes of the parameter space.
        signature: of the kernel.
        args: one value a parameter, in order or by name.
        address_of: gives the device address of an argument.
    """

    def __init__(
        self,
        launch: Callable[[bytes], None],
        signature: Signature,
        args: Sequence[Any] | Mapping[str, Any],
        address_of: AddressOf,
    ) -> None:
        self._launch = launch
        self._signature = signature
        self._address_of = address_of
        self._arguments = [*in_order(signature, args)]
        self._space = bytearray(signature.pack(self._arguments, address_of))

    def __call__(self) -> None:
        """Launch."""
        self._launch(bytes(self._space))

    def bind(self, parameter: int | str, value: Any) -> PreparedEmulation:
        """Give one parameter, by its name or index, another value for the launches to come."""
        found = self._signature.parameter(parameter)
        packed = self._signature.pack_one(found.index, value, self._address_of)
        self._space[found.offset : found.offset + found.size] = packed
        self._arguments[found.index] = value
        return self

    def __rich_repr__(self) -> Iterator[Any]:
        yield self._signature.name
        yield "arguments", self._arguments


class EmulatedKernel(Protocol):
    """What `prepare` asks of a kernel; see `ptxkit.emulator.device.EmulatorKernel`."""

    @property
    def signature(self) -> Signature:
        """The parameters."""

    def check(self, grid: Any, block: Any, cluster: Any, shared: int, cooperative: bool) -> Any:
        """What a launch of this shape would be."""

    def launch(self, grid: Any, block: Any, args: bytes, *rest: Any) -> None:
        """Run the kernel to its end."""

    def address_of(self, value: Any) -> int | None:
        """The address of an argument."""


class PreparableKernel(AnyKernel):
    """A kernel of the emulator, whose launches can be made ready."""

    def prepare(
        self: EmulatedKernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
        programmatic: bool = False,
    ) -> PreparedEmulation:
        """A launch with everything checked and packed once; calling it launches. As `launch`."""
        self.check(grid, block, cluster, shared, cooperative)
        shape = (cluster, shared, cooperative, stream, programmatic)

        def launch(packed: bytes) -> None:
            self.launch(grid, block, packed, *shape)

        return PreparedEmulation(launch, self.signature, args, self.address_of)
