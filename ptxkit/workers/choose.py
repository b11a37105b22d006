"""Which process runs the plans of a module: this one, a worker, or one under compute-sanitizer.

What a worker needs is imported where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.asm import Module
from ptxkit.plan import Program
from ptxkit.rules import Rules
from ptxkit.running.devices import fitting_gpu
from ptxkit.running.session import RunOptions, Session

if TYPE_CHECKING:
    from ptxkit.bench import Bench, Settings
    from ptxkit.running.sanitized import Sanitized
    from ptxkit.workers.worker import Tell, Worker

TIMEOUT = 10.0
"""Seconds that a launch on a GPU may take by default."""


def session(module: Module, options: RunOptions, timeout: float | None) -> Session | Worker | Sanitized:
    """What runs the plans of a module: a worker where one is needed, else this process.

    On a GPU with `options.sanitize` a process under compute-sanitizer.

    Args:
        module: the parsed program of the plans.
        options: device and emulator options.
        timeout: seconds that a launch may take; None: `TIMEOUT` on a GPU, any number on the emulator.

    Raises:
        PtxkitError: what `Session` and `Sanitized` raise.
    """
    gpu = on_gpu(module, options)
    if gpu and options.sanitize:
        from ptxkit.running.sanitized import Sanitized

        return Sanitized(options, timeout)
    if timeout is None and not gpu:
        return Session(module, options)
    from ptxkit.workers.worker import Runs, Worker

    return Worker(partial(Runs, options), timeout or TIMEOUT)


def bench(
    options: RunOptions, settings: Settings, timeout: float | None, rules: Mapping[Program, Rules]
) -> Worker:
    """A worker that does what `ptxkit.bench.Schedule` calls for.

    Args:
        options: which device.
        settings: how to measure.
        timeout: seconds that a launch may take; None: `TIMEOUT`.
        rules: by program, how much a breach of each of the emulator's rules weighs.
    """
    from ptxkit.workers.worker import Worker

    return Worker(partial(_bench, options, settings, rules), timeout or TIMEOUT)


def _bench(options: RunOptions, settings: Settings, rules: Mapping[Program, Rules], tell: Tell) -> Bench:
    from ptxkit.bench import Bench
    from ptxkit.workers.worker import watch_of

    return Bench(options, settings, watch_of(tell), rules)


def on_gpu(module: Module, options: RunOptions) -> bool:
    """Whether a module's plans run on a GPU."""
    if options.device.startswith("cuda"):
        return True
    return options.device == "auto" and fitting_gpu(module.target) is not None
