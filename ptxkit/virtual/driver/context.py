"""Primary context management and context management."""

from __future__ import annotations

from ptxkit.virtual.abi import Int, Pointer, Size, UInt, put, put_if, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.initialization import VERSION
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 64, 6: 0, 7: 0, 8: 0, 9: 0}
"""`CUlimit`: stack of a thread, printf's buffer, malloc's heap, .. as a fresh context has them."""
NESTED_WAITS = 3
"""The limit of launches of kernels by kernels that are waited for: compute capability 9.0 has none."""
MOST = {0: 512 << 10, 5: 128, 6: 32 << 20}
"""The greatest values of limits that have one: stack, bytes of a fetch, the cache that persists."""
FLAGS = 0x1FF
"""Every flag that a context may be made with."""


def _checked(flags: int) -> int:
    if flags & ~FLAGS or flags & 7 not in (0, 1, 2, 4):
        raise failure("INVALID_VALUE", f"there are no context flags {flags:#x}")
    return flags


# ---- primary contexts


@driver()
def cuDevicePrimaryCtxRetain(machine: Machine, context: int, device: int) -> None:
    one = machine.device(device)
    require_place(context)
    put(context, Pointer, machine.retain_primary(one).handle)


@driver("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2")
def cuDevicePrimaryCtxRelease(machine: Machine, device: int) -> None:
    machine.release_primary(machine.device(device))


@driver("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2")
def cuDevicePrimaryCtxReset(machine: Machine, device: int) -> None:
    machine.reset_primary(machine.device(device))


@driver("cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2")
def cuDevicePrimaryCtxSetFlags(machine: Machine, device: int, flags: int) -> None:
    one = machine.device(device)
    one.primary_flags = _checked(flags)
    if (primary := machine.primary(one)) is not None:
        primary.flags = flags


@driver()
def cuDevicePrimaryCtxGetState(machine: Machine, device: int, flags: int, active: int) -> None:
    one = machine.device(device)
    require_place(flags, active)
    put(flags, UInt, one.primary_flags)
    put(active, Int, machine.primary(one) is not None)


# ---- contexts


def _create(machine: Machine, context: int, flags: int, device: int) -> None:
    one = machine.device(device)
    require_place(context)
    made = VirtualContext(machine, one, _checked(flags))
    machine.stack.append(made)
    put(context, Pointer, made.handle)


@driver("cuCtxCreate", "cuCtxCreate_v2")
def cuCtxCreate(machine: Machine, context: int, flags: int, device: int) -> None:
    _create(machine, context, flags, device)


@driver()
def cuCtxCreate_v3(
    machine: Machine, context: int, affinity: int, count: int, flags: int, device: int
) -> None:
    if count:
        raise failure("UNSUPPORTED_EXEC_AFFINITY")
    _create(machine, context, flags, device)


@driver()
def cuCtxCreate_v4(machine: Machine, context: int, parameters: int, flags: int, device: int) -> None:
    _create(machine, context, flags, device)


@driver("cuCtxDestroy", "cuCtxDestroy_v2")
def cuCtxDestroy(machine: Machine, context: int) -> None:
    require_place(context)
    found = machine.handles.get(VirtualContext, context)
    if found.primary:
        raise failure("INVALID_CONTEXT", "a primary context is released, not destroyed")
    found.destroy()
    stack = machine.stack
    if stack and stack[-1] is found:
        stack.pop()


@driver("cuCtxPushCurrent", "cuCtxPushCurrent_v2")
def cuCtxPushCurrent(machine: Machine, context: int) -> None:
    require_place(context)
    machine.stack.append(machine.handles.get(VirtualContext, context))


@driver("cuCtxPopCurrent", "cuCtxPopCurrent_v2")
def cuCtxPopCurrent(machine: Machine, context: int) -> None:
    stack = machine.stack
    if not stack:
        raise failure("INVALID_CONTEXT", "the stack of contexts of this thread is empty")
    popped = stack.pop()
    put_if(context, Pointer, popped.handle if popped else 0)


@driver()
def cuCtxSetCurrent(machine: Machine, context: int) -> None:
    found = machine.handles.get(VirtualContext, context) if context else None
    stack = machine.stack
    if stack:
        stack.pop()
    if found is not None:
        stack.append(found)


@driver()
def cuCtxGetCurrent(machine: Machine, context: int) -> None:
    current = machine.current
    put(context, Pointer, current.handle if current else 0)


@driver()
def cuCtxGetDevice(machine: Machine, device: int) -> None:
    put(device, Int, machine.some_context().device.ordinal)


@driver("cuCtxGetDevice_v2")
def cuCtxGetDevice_v2(machine: Machine, device: int, context: int) -> None:
    put(device, Int, _one(machine, context).device.ordinal)


def _one(machine: Machine, handle: int) -> VirtualContext:
    """The context of a handle, the current one for 0."""
    return machine.handles.get(VirtualContext, handle) if handle else machine.context()


@driver()
def cuCtxGetFlags(machine: Machine, flags: int) -> None:
    put(flags, UInt, machine.context().flags)


@driver()
def cuCtxSetFlags(machine: Machine, flags: int) -> None:
    machine.context().flags = _checked(flags)


@driver()
def cuCtxGetId(machine: Machine, context: int, identifier: int) -> None:
    put(identifier, Size, _one(machine, context).identifier)


@driver()
def cuCtxGetApiVersion(machine: Machine, context: int, version: int) -> None:
    _one(machine, context)
    put(version, UInt, VERSION)


def _synchronise(machine: Machine, context: VirtualContext) -> None:
    """Wait for a context, none of whose streams is captured. Raises DriverError."""
    captures = [one for one in machine.capturing if one.origin.context is context]
    for one in captures:
        one.invalidate()
    if captures:
        raise failure("STREAM_CAPTURE_UNSUPPORTED", "a stream of the context is being captured")
    context.synchronise()


@driver()
def cuCtxSynchronize(machine: Machine) -> None:
    _synchronise(machine, machine.context())


@driver("cuCtxSynchronize_v2")
def cuCtxSynchronize_v2(machine: Machine, context: int) -> None:
    _synchronise(machine, _one(machine, context))


def _require_limit(limit: int) -> None:
    if limit not in LIMITS:
        raise failure("INVALID_VALUE", f"there is no limit {limit}")


@driver()
def cuCtxGetLimit(machine: Machine, value: int, limit: int) -> None:
    context = machine.context()
    _require_limit(limit)
    put(value, Size, context.limits.get(limit, LIMITS[limit]))


@driver()
def cuCtxSetLimit(machine: Machine, limit: int, value: int) -> None:
    context = machine.context()
    _require_limit(limit)
    if limit == NESTED_WAITS:
        raise failure("UNSUPPORTED_LIMIT", "kernels wait for no kernels that they launch")
    if value > MOST.get(limit, value):
        raise failure("INVALID_VALUE", f"limit {limit} is at most {MOST[limit]}, found {value}")
    context.limits[limit] = value


@driver()
def cuCtxGetStreamPriorityRange(machine: Machine, least: int, greatest: int) -> None:
    machine.context()
    put_if(least, Int, 0)
    put_if(greatest, Int, -5)


@driver()
def cuCtxGetCacheConfig(machine: Machine, config: int) -> None:
    machine.context()
    put(config, Int, 0)


@driver()
def cuCtxGetSharedMemConfig(machine: Machine, config: int) -> None:
    machine.context()
    put(config, Int, 1)  # four-byte banks: newer parts have no other


@driver("cuCtxSetCacheConfig", "cuCtxSetSharedMemConfig")
def no_such_choice(machine: Machine, config: int) -> None:
    machine.context()
    check_choice(config)


def check_choice(config: int) -> None:
    """Refuse what is neither a `CUfunc_cache` nor a `CUsharedconfig`. Raises DriverError."""
    if not 0 <= config <= 3:
        raise failure("INVALID_VALUE", f"there is no preference {config} of a cache or of banks")


@driver()
def cuCtxResetPersistingL2Cache(machine: Machine) -> None:
    machine.context()
