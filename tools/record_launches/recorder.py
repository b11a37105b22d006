"""What runs in a program whose launches are recorded."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.global_memory import BASE
from tools.record_launches.launch import Range, RecordedLaunch
from tools.record_launches.reach import reachable

if TYPE_CHECKING:
    from ptxkit.emulator.device import EmulatorModule
    from ptxkit.virtual.gpu.machine import Machine
    from ptxkit.virtual.gpu.module import KernelWork, VirtualFunction

VARIABLE = "PTXKIT_RECORD"
"""The environment variable that carries the settings."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is recorded.

    Attributes:
        folder: takes a folder for each launch.
        kernels: a regular expression that a kernel's name must hold.
        first: how many launches of each kernel.
    """

    folder: str
    kernels: str = ""
    first: int = 1

    def to_environment(self) -> str:
        """The value of `VARIABLE`."""
        return json.dumps(asdict(self))


def watch(module: Any) -> None:
    """Record the launches of a process from now on.

    Args:
        module: `ptxkit.virtual.gpu.module`.
    """
    settings = Settings(**json.loads(os.environ[VARIABLE]))
    recorder = Recorder(settings)
    run = module.VirtualFunction.run

    def recorded(function: VirtualFunction, work: KernelWork) -> Any:
        if not recorder.wants(function):
            return run(function, work)
        return recorder.record(function, work, lambda: run(function, work))

    module.VirtualFunction.run = recorded


class Recorder:
    """Records launches of a process, where it has one device: those of several run at the same time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._recorded: Counter[str] = Counter()

    def wants(self, function: VirtualFunction) -> bool:
        """Whether a launch of this kernel is recorded."""
        name, settings = function.name, self.settings
        alone = function.device.machine.concurrency is None
        return alone and self._recorded[name] < settings.first and bool(re.search(settings.kernels, name))

    def record(self, function: VirtualFunction, work: KernelWork, run: Callable[[], Any]) -> Any:
        """Run a launch and write what it is; one that fails, or can't be run elsewhere, leaves no record."""
        machine, loaded = function.device.machine, function.module.loaded
        self._recorded[function.name] += 1
        variables = _variables(loaded)
        held = _held(machine)
        roots = b"".join(
            [work.arguments, *(_read(machine, *place).tobytes() for place in variables.values())]
        )
        reached = [
            held[number] for number in reachable(roots, [(each.address, each.before) for each in held])
        ]
        own = [loaded.image.memory.find(address) for address, _ in variables.values()]
        inside = {each.address for each in reached} & {each.address for each in own if each is not None}
        if inside:
            print(f"not recorded: `{function.name}` is given the address of a variable", file=sys.stderr)
            return run()
        kept = [Range(0, name, _read(machine, *place), EMPTY) for name, place in variables.items()]
        result = run()
        for each, place in zip(kept, variables.values(), strict=True):
            each.after = _read(machine, *place)
        after = {each.address: each for each in _held(machine)}
        for each in reached:
            now = after[each.address]
            each.after, each.still_undefined = now.before, now.undefined
        shape = work.grid, work.block, work.cluster, work.shared, work.arguments
        how = work.cooperative, work.programmatic, reached, kept
        number, arch = machine.report.launches, machine.options.arch
        launch = RecordedLaunch(function.name, arch, function.module.text, number, *shape, *how)
        launch.write(Path(self.settings.folder, f"{number:04}"))
        return result


EMPTY = np.zeros(0, np.uint8)


def _held(machine: Machine) -> list[Range]:
    """The live allocations as they are now, ascending."""
    allocations, _ = machine.memory.snapshot()
    return [
        Range(one.address, one.name, data, EMPTY, masks)
        for one, _, data, masks, _ in allocations
        if data is not None
    ]


def _variables(loaded: EmulatorModule) -> dict[str, tuple[int, int]]:
    """Address and bytes of a module's variables, by name."""
    symbols = [symbol for symbol in loaded.image.scope.symbols() if symbol.space in ("global", "const")]
    places = {symbol.name: loaded.variable(symbol.name) for symbol in symbols}
    return {name: place for name, place in places.items() if place is not None and place[1]}


def _read(machine: Machine, address: int, size: int) -> np.ndarray:
    return machine.memory.data[address - BASE : address - BASE + size].copy()
