"""`open_device`: a GPU or the emulator, by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ptxkit import targets
from ptxkit.device.protocol import Device
from ptxkit.diagnostics import PtxkitError, error

if TYPE_CHECKING:
    from ptxkit.emulator.machine import EmulatedMachine

NAMES = "`auto`, `emu`, `cuda`, `cuda:N`"


def open_device(
    spec: str = "auto",
    *,
    order: str = "lazy",
    seed: int = 0,
    sanitize: bool = True,
    arch: str | None = None,
    target: str | None = None,
    jit: bool | None = None,
    threads: int | None = None,
    strict: bool = False,
    traffic: bool = False,
    keep_going: bool | int = False,
    rules: Mapping[str, str] | None = None,
) -> Device:
    """Open a device.

    Args:
        spec: `emu`; `cuda` or `cuda:N`; `auto`: the first GPU on which PTX for `target` runs, where there is
            a driver and such a GPU, else the emulator.
        order: in which order the emulator completes asynchronous work: `lazy`, `eager` or `random`.
        seed: of the emulator's `random` order.
        sanitize: the emulator's sanitizer.
        arch: the target that the emulator plays, by default the file's; `auto` with it is the emulator.
        target: the `.target` of the file to be loaded, a hint for `auto`.
        jit: whether the emulator compiles what runs often; None: where the `jit` extra is installed.
        threads: how many cores a launch of the emulator may use; None: those that this process may.
        strict: whether the emulator warns of what kernels in practice leave out, too.
        traffic: whether the emulator counts bank conflicts and sectors.
        keep_going: whether launches of the emulator go past errors, or past how many.
        rules: of the emulator, `allow`, `warn` or `deny` by code or name.

    Raises:
        PtxkitError: P520, no such device, or an option that it hasn't; P701, no driver; P702, no such GPU.
    """
    if not isinstance(spec, str):
        raise error("P520", f"expected one of {NAMES}, found {spec!r}")
    kind, colon, number = spec.partition(":")
    if kind == "cuda" and (number.isdecimal() or not colon):
        if arch is not None or order != "lazy":
            option = f"arch={arch}" if arch is not None else f"order={order}"
            message = f"`{option}` is an option of the emulator, found device `{spec}`"
            raise error("P520", message, help="leave it out, or use `--device emu`")
        from ptxkit.driver import CudaDevice

        return CudaDevice(int(number or 0))
    if spec == "auto" and arch is None and order == "lazy":
        ordinal = fitting_gpu(target)
        if ordinal is not None:
            from ptxkit.driver import CudaDevice

            return CudaDevice(ordinal)
    if spec not in ("auto", "emu"):
        raise error("P520", f"expected one of {NAMES}, found `{spec}`")
    from ptxkit.emulator import Emulator

    options: dict[str, Any] = {"jit": jit, "threads": threads, "strict": strict, "traffic": traffic}
    goes: dict[str, Any] = {"keep_going": keep_going, "rules": rules}
    return Emulator(order=order, seed=seed, sanitize=sanitize, arch=arch, **options, **goes)


def open_machine(devices: int, **options: Any) -> EmulatedMachine:
    """Open several emulated GPUs that share one memory.

    Args:
        devices: how many, from 1 to 64.
        options: `order`, `seed`, `sanitize`, `arch`, `jit`, `strict`, `traffic`, `keep_going` and `rules`, as
            `open_device` takes them, for each of them.

    Raises:
        PtxkitError: P520, a number of devices that cannot be, or an option; P305, an unknown target.
    """
    from ptxkit.emulator.machine import EmulatedMachine

    return EmulatedMachine(devices, **options)


def fitting_gpu(target: str | None) -> int | None:
    """The first GPU on which PTX for `target` runs; None without a driver or such a GPU."""
    if not _may_have_driver():
        return None
    from ptxkit.driver import capabilities

    try:
        found = capabilities()
    except PtxkitError:
        return None
    wanted = targets.parse(target) if target else None
    fits = (
        ordinal for ordinal, capability in enumerate(found) if wanted is None or wanted.runs_on(capability)
    )
    return next(fits, None)


def _may_have_driver() -> bool:
    """Whether to load the driver's bindings, which takes longer than to ask the system's loader for their
    library, as they do; elsewhere than on Linux only they know."""
    if sys.platform != "linux":
        return True
    import ctypes

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True
