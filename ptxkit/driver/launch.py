"""Kernels of a loaded module: their attributes, and the three ways to launch them.

`Kernel.launch` packs the arguments and starts the grid. `Kernel.prepare` does all that can be done ahead, so
that a launch is one call of the driver. A launch into a capturing stream becomes a node of a graph
(`ptxkit.driver.graphs`). All go through `cuLaunchKernelEx`.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from ptxkit.asm.launch import CheckedLaunch, Dim3, Requirements, check_launch, check_resident
from ptxkit.device.arguments import REFUSED, Parameter, ParameterSpace, Signature
from ptxkit.device.calls import AnyKernel, OnDevice, in_order
from ptxkit.diagnostics import Diagnostic, PtxkitError, counted, error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, check
from ptxkit.driver.memory import DeviceBuffer
from ptxkit.driver.streams import CLOSED, CLOSED_MESSAGE, Stream, stream_handle
from ptxkit.targets import PORTABLE_CLUSTER, Limits

_NO_KEY: tuple[Any, ...] = ()
"""A key that equals no launch's key."""
_NO_RECORD: tuple[Any, ...] = (_NO_KEY, None, None)
MAX_CONFIGURATIONS = 256
"""Keys of one kernel's launches of which records are kept; more start afresh."""

_ATTRIBUTES = {
    "registers": "NUM_REGS",
    "shared_bytes": "SHARED_SIZE_BYTES",
    "local_bytes": "LOCAL_SIZE_BYTES",
    "constant_bytes": "CONST_SIZE_BYTES",
    "max_threads": "MAX_THREADS_PER_BLOCK",
    "max_dynamic_shared_bytes": "MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "ptx_version": "PTX_VERSION",
    "binary_version": "BINARY_VERSION",
}
"""Our name of each function attribute and the driver's."""


class KernelModule(Protocol):
    """What a kernel asks of the module that it comes from (`ptxkit.driver.module`)."""

    context: CudaContext
    limits: Limits
    sm_count: int

    def requirements(self, name: str, attributes: dict[str, int]) -> Requirements:
        """What the entry demands of its launches, given its function attributes."""

    def spills(self, name: str, local_bytes: int) -> tuple[int, int] | None:
        """Bytes of registers that the entry stores to and loads from local memory."""

    def address_of(self, value: Any) -> int | None:
        """The address of an argument."""


class CudaKernel(AnyKernel):
    """One `.entry` on a GPU (`ptxkit.device.protocol.Kernel`).

    Attributes:
        name: the entry's name.
        signature: its parameters.
        module: where it comes from.
        closed: whether its module or its device was closed.
    """

    def __init__(self, module: KernelModule, name: str, function: Any, signature: Signature) -> None:
        self.module = module
        self.name = name
        self.signature = signature
        self._function = function
        self.closed = False
        self._context = module.context
        self._launch_call = bindings().cuLaunchKernelEx
        # A record is what a launch needs: its key, a parameter space, and the driver's call.
        # Whoever launches takes one out: no two threads have the same.
        self._recent: list[tuple[Any, ...]] = []
        self._spare: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        self._attributes = self._read_attributes()
        self._dynamic_shared = self._attributes["max_dynamic_shared_bytes"]
        self._requirements = module.requirements(name, self._attributes)
        self._pack = signature.packer(DeviceBuffer, self._context, module.address_of)
        self._prepared: weakref.WeakSet[PreparedLaunch] = weakref.WeakSet()
        self._closed_message = f"`{name}` is launched after its module or device was closed"
        self._context.users.add(self)

    @property
    def attributes(self) -> dict[str, int]:
        """What the driver knows of the machine code.

        `registers` of a thread (32-bit), static `shared_bytes`, `local_bytes` of a thread, `constant_bytes`,
        `max_threads` of a CTA, `max_dynamic_shared_bytes`, `ptx_version` and `binary_version` (90 is 9.0);
        of what was compiled from PTX `spill_store_bytes` and `spill_load_bytes`.
        """
        found = dict(self._attributes)
        spills = self.module.spills(self.name, found["local_bytes"])
        if spills is not None:
            found["spill_store_bytes"], found["spill_load_bytes"] = spills
        return found

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
        programmatic: bool = False,
        priority: int | None = None,
        carveout: int | None = None,
    ) -> None:
        """Start the kernel: see `ptxkit.device.protocol.Kernel.launch`, and beside that

        Args:
            programmatic: may begin before the kernel ahead of it in the stream has ended
                (`griddepcontrol`, programmatic dependent launch).
            priority: of this launch; lower runs first. None: the stream's.
            carveout: per cent of the multiprocessor's memory to be shared memory rather than L1.
        """
        captured = None
        if stream is None:
            handle = 0
        elif type(stream) is Stream and stream.context is self._context:
            handle, captured = stream.handle, stream.captured
        else:
            handle = stream_handle(stream, self._context)
        # Locals: attribute lookups cost measurable time here.
        recent, pack = self._recent, self._pack
        try:
            record = recent.pop()
        except IndexError:
            record = _NO_RECORD
        its_key, space, start = record
        key = (grid, block, cluster, shared, cooperative, handle, programmatic, priority, carveout)
        try:
            same = key == its_key
        except ValueError:
            same = False  # numpy's arrays among the dimensions, which compare element by element
        if not same:
            record = self._other_record(record, key)
            _, space, start = record
        try:
            pack(space, args)
        except REFUSED:
            space.fill(self.signature.pack(args, self.module.address_of))
        (status,) = start()
        recent.append(record)
        if status:
            self._context.retry(status, start, f"launch `{self.name}`")
        self._context.last_kernel = self.name
        if captured is not None:
            captured.append((self, *in_order(self.signature, args)))

    def prepare(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
        programmatic: bool = False,
        priority: int | None = None,
        carveout: int | None = None,
    ) -> PreparedLaunch:
        """A launch with everything checked and packed once; calling it makes the driver's call."""
        handle = stream_handle(stream, self._context)
        key = (grid, block, cluster, shared, cooperative, handle, programmatic, priority, carveout)
        prepared = PreparedLaunch(self, self._configure(key), args, stream)
        self._prepared.add(prepared)
        if isinstance(stream, Stream):
            stream.prepared.add(prepared)
            if stream.captured is not None:
                stream.captured.append(prepared.references)
        return prepared

    def close(self) -> None:
        """Let every later launch, prepared ones too, say that the module or the device was closed."""
        self.closed = True
        for prepared in self._prepared:
            prepared.refuse(self._closed_message)
        self._recent.clear()
        self._spare.clear()

    def occupancy(self, block: int | Sequence[int], shared: int = 0) -> int:
        """CTAs of this kernel that one multiprocessor holds at once."""
        cluster = self._requirements.required_cluster or (1, 1, 1)
        launch = check_launch(self._requirements, self.module.limits, cluster, block, cluster, shared)
        with self._context:
            self._allow_shared(launch.shared)
            return self._ctas_per_sm(launch)

    def _read_attributes(self) -> dict[str, int]:
        driver = bindings()
        found = {}
        with self._context, contextlib.suppress(RuntimeError):
            # Since CUDA 12.4. Load now: with lazy loading the first launch could wait for other kernels.
            check(driver.cuFuncLoad(self._function), f"load `{self.name}`")
        with self._context:
            for ours, theirs in _ATTRIBUTES.items():
                which = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{theirs}")
                read = driver.cuFuncGetAttribute(which, self._function)
                found[ours] = int(check(read, f"read the attributes of `{self.name}`"))
        return found

    def _other_record(self, record: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
        """A record of this key; the one that does not fit goes to the spare ones."""
        its_key = record[0]
        if its_key in self._spare:
            self._spare[its_key].append(record)
        try:
            spare = self._spare.get(key)
        except TypeError:
            # A list among the dimensions, which can change: correct, but checked anew each time.
            return self._new_record(_NO_KEY, key)
        if spare:
            return spare.pop()
        made = self._new_record(key, key)
        if spare is None:
            if len(self._spare) >= MAX_CONFIGURATIONS:
                self._spare.clear()
            self._spare[key] = []
        return made

    def _new_record(self, kept_as: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
        space = ParameterSpace(self.signature.parameters)
        start = partial(self._launch_call, self._configure(key), self._function, space.address, 0)
        return kept_as, space, start

    def _configure(self, key: tuple[Any, ...]) -> Any:
        """A checked `CUlaunchConfig`."""
        if self.closed:
            raise error("P714", self._closed_message)
        grid, block, cluster, shared, cooperative, handle, programmatic, priority, carveout = key
        if handle == CLOSED:
            raise error("P714", CLOSED_MESSAGE)
        launch = check_launch(
            self._requirements, self.module.limits, grid, block, cluster, shared, cooperative
        )
        driver = bindings()
        attributes = []
        if launch.clustered and self.module.limits.cluster > 1:
            attributes.append(_attribute("CLUSTER_DIMENSION", "clusterDim", launch.cluster))
        if launch.cooperative:
            attributes.append(_attribute("COOPERATIVE", "cooperative", 1))
        if programmatic:
            name = "programmaticStreamSerializationAllowed"
            attributes.append(_attribute("PROGRAMMATIC_STREAM_SERIALIZATION", name, 1))
        if priority is not None:
            attributes.append(_attribute("PRIORITY", "priority", priority))
        if carveout is not None:
            attributes.append(_attribute("PREFERRED_SHARED_MEMORY_CARVEOUT", "sharedMemCarveout", carveout))
        units: Dim3 = launch.grid
        if self._requirements.grid_in_clusters:
            x, y, z = (ctas // per for ctas, per in zip(launch.grid, launch.cluster, strict=True))
            units = x, y, z
        configuration = driver.CUlaunchConfig()
        configuration.gridDimX, configuration.gridDimY, configuration.gridDimZ = units
        configuration.blockDimX, configuration.blockDimY, configuration.blockDimZ = launch.block
        configuration.sharedMemBytes = launch.shared
        configuration.hStream = handle
        configuration.attrs = attributes
        configuration.numAttrs = len(attributes)
        with self._context:
            self._allow_shared(launch.shared)
            self._allow_cluster(launch, configuration)
            if launch.cooperative:
                check_resident(self._requirements, launch, self._resident(launch, configuration))
        return configuration

    def _allow_shared(self, dynamic: int) -> None:
        """Dynamic shared memory above 48 KiB has to be allowed first."""
        if dynamic > self._dynamic_shared:
            self._set("MAX_DYNAMIC_SHARED_SIZE_BYTES", dynamic, f"allow {dynamic} bytes of shared memory")
            self._dynamic_shared = dynamic

    def _allow_cluster(self, launch: CheckedLaunch, configuration: Any) -> None:
        """Clusters above 8 CTAs have to be allowed first; whether any fit is known only to the driver."""
        x, y, z = launch.cluster
        if x * y * z == 1:
            return
        if x * y * z > PORTABLE_CLUSTER:
            self._set(
                "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1, f"allow clusters of {counted(x * y * z, 'CTA')}"
            )
        asked = bindings().cuOccupancyMaxActiveClusters(self._function, configuration)
        if not check(asked, f"ask how many clusters of `{self.name}` fit"):
            message = f"no cluster of {counted(x * y * z, 'CTA')} of `{self.name}` fits this GPU"
            help = "use smaller CTAs or clusters, less shared memory, or fewer registers"
            raise PtxkitError(Diagnostic("P713", message, help=help))

    def _resident(self, launch: CheckedLaunch, configuration: Any) -> int:
        """CTAs of this launch that the GPU holds at once."""
        x, y, z = launch.cluster
        if x * y * z == 1:
            return self._ctas_per_sm(launch) * self.module.sm_count
        asked = bindings().cuOccupancyMaxActiveClusters(self._function, configuration)
        return x * y * z * int(check(asked, f"ask how many clusters of `{self.name}` fit"))

    def _ctas_per_sm(self, launch: CheckedLaunch) -> int:
        asked = bindings().cuOccupancyMaxActiveBlocksPerMultiprocessor(
            self._function, launch.threads, launch.shared
        )
        return int(check(asked, f"ask for the occupancy of `{self.name}`"))

    def _set(self, name: str, value: int, doing: str) -> None:
        which = getattr(bindings().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        check(bindings().cuFuncSetAttribute(self._function, which, value), f"{doing} for `{self.name}`")

    def _retry_launch(self, status: Any, configuration: Any, space: ParameterSpace) -> None:
        again = partial(self._launch_call, configuration, self._function, space.address, 0)
        self._context.retry(status, again, f"launch `{self.name}`")


class PreparedLaunch(OnDevice):
    """A launch that is ready to go: call it to launch. Its arguments and its stream stay alive with it.

    Attributes:
        kernel: what is launched.
    """

    __slots__ = ("__weakref__", "_arguments", "_call", "_space", "_stream", "kernel")

    def __init__(
        self, kernel: CudaKernel, configuration: Any, args: Sequence[Any] | Mapping[str, Any], stream: Any
    ) -> None:
        args = in_order(kernel.signature, args)
        self.kernel = kernel
        self._space = ParameterSpace(kernel.signature.parameters)
        self._space.fill(kernel.signature.pack(args, kernel.module.address_of))
        start: Callable[..., tuple[Any, ...]] = kernel._launch_call
        self._call = start, configuration, kernel._function, self._space.address, kernel._context, kernel.name
        self._arguments = list(args)
        self._stream = stream

    def __call__(self) -> None:
        """Launch."""
        start, configuration, function, pointers, context, name = self._call
        (status,) = start(configuration, function, pointers, 0)
        if status:
            self.kernel._retry_launch(status, configuration, self._space)
        context.last_kernel = name

    def __rich_repr__(self) -> Iterator[Any]:
        yield self.kernel.name
        yield "arguments", self._arguments

    @property
    def references(self) -> tuple[Any, ...]:
        """What must live as long as a graph that has captured a launch of it as it is now."""
        return (self.kernel, *self._arguments)

    def refuse(self, message: str) -> None:
        """Let every later call raise P714: the call itself need not look whether anything was closed."""

        def refused(*_: Any) -> tuple[Any, ...]:
            raise error("P714", message)

        self._call = refused, *self._call[1:]

    def bind(self, parameter: int | str, value: Any) -> PreparedLaunch:
        """Give one parameter another value, for the launches to come; the rest stays as it is packed.

        Args:
            parameter: its name or index.
            value: as in `launch`.
        """
        found: Parameter = self.kernel.signature.parameter(parameter)
        packed = self.kernel.signature.pack_one(found.index, value, self.kernel.module.address_of)
        self._space.bytes[found.offset : found.offset + found.size] = packed
        self._arguments[found.index] = value
        captured = getattr(self._stream, "captured", None)
        if captured is not None:
            captured.append(value)
        return self


def _attribute(name: str, field: str, value: int | Dim3) -> Any:
    """One `CUlaunchAttribute`."""
    driver = bindings()
    attribute = driver.CUlaunchAttribute()
    attribute.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    if isinstance(value, tuple):
        place = getattr(attribute.value, field)
        place.x, place.y, place.z = value
    else:
        setattr(attribute.value, field, value)
    return attribute
