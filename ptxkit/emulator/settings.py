"""What the emulator's options mean: their defaults, and what they may be."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit import targets
from ptxkit.diagnostics import error
from ptxkit.emulator.cores.sharing import cores
from ptxkit.emulator.jit import available
from ptxkit.emulator.launch_findings import LIMIT
from ptxkit.emulator.launch_state import EmulatorOptions
from ptxkit.rules import rules as rules_of

ORDERS = ("lazy", "eager", "random")
JIT_HELP = "`pip install 'ptxkit[jit]'`, or leave `jit` out"


def options_of(
    order: str,
    sanitize: bool,
    strict: bool,
    traffic: bool,
    jit: bool | None,
    keep_going: bool | int,
    rules: Mapping[str, str] | None,
    threads: int | None,
) -> EmulatorOptions:
    """The options as `Emulator` takes them.

    Raises:
        PtxkitError: P520, an unknown order, `jit` without the extra, no thread; P518, an unknown rule or
            level.
    """
    if order not in ORDERS:
        raise error("P520", f"expected `lazy`, `eager` or `random` as the order, found `{order}`")
    if jit and not available():
        raise error("P520", "the emulator's `jit` needs llvmlite, which is not installed", help=JIT_HELP)
    threads = cores() if threads is None else threads
    if threads < 1:
        raise error("P520", f"expected at least 1 thread, found {threads}")
    return EmulatorOptions(
        order,
        sanitize,
        strict,
        traffic,
        available() if jit is None else jit,
        LIMIT if keep_going is True else int(keep_going),
        rules_of(rules or {}),
        threads,
    )


def refuse_machine(arch: str | None, tensor_cores: str) -> None:
    """Raise PtxkitError where there is no such target (P305), or no such arithmetic (P520)."""
    if arch is not None and targets.parse(arch) is None:
        known = ", ".join(f"`{name}`" for name in targets.SUPPORTED)
        raise error("P305", f"there is no target `{arch}`", help=f"targets are {known}")
    if tensor_cores not in ("measured", "float32"):
        raise error("P520", f"expected `measured` or `float32` tensor cores, found `{tensor_cores}`")
