"""Where the emulator's time goes: clocks around what a process does, and inside of a launch.

A launch builds and compiles what it first needs. What does that is wrapped where it is defined, as its module
is imported, so that a process which never loads LLVM doesn't load it to be measured either. A seam that is
not there any more is said to be missing, and its time counts as execution.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import Lock, local
from types import ModuleType
from typing import Any

SEAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "ptxkit.emulator.code": (("build", "CodeBlock._make"),),
    "ptxkit.emulator.jit.plan": (("build", "plan"),),
    "ptxkit.emulator.native": (("compile", "Compiler.__init__"), ("compile", "Compiler.function")),
}
"""By module what a call of a function, or the import itself, is counted as."""
IMPORTS = {"ptxkit.emulator.native": "compile"}
"""Modules whose import is work of that kind: this one loads LLVM."""


def processor_time() -> float:
    """Seconds of this process and of those that it started and that have ended."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


class PartClock:
    """Seconds of this process by part.

    Attributes:
        wall, whole: by the wall's clock and the processor's, with what is done inside for another part.
        cpu: by the processor's, without that.
        inside: what seams took.
        missing: seams that are not there.
    """

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.whole: dict[str, float] = {}
        self.inside: dict[str, float] = {}
        self.missing: list[str] = []
        self._lock = Lock()
        self._here = local()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What the process does now is for this part. Not nested."""
        inside, wall, cpu = sum(self.inside.values()), time.perf_counter(), processor_time()
        try:
            yield
        finally:
            wall, cpu = time.perf_counter() - wall, processor_time() - cpu
            self.wall[name] = self.wall.get(name, 0.0) + wall
            self.whole[name] = self.whole.get(name, 0.0) + cpu
            self.cpu[name] = self.cpu.get(name, 0.0) + cpu - (sum(self.inside.values()) - inside)

    @contextmanager
    def seam(self, name: str) -> Iterator[None]:
        """What this thread does now is for this part, but for what a seam inside of it takes."""
        stack: list[float] = self._here.__dict__.setdefault("stack", [])
        stack.append(0.0)
        began = time.thread_time()
        try:
            yield
        finally:
            taken, others = time.thread_time() - began, stack.pop()
            if stack:
                stack[-1] += taken
            with self._lock:
                self.inside[name] = self.inside.get(name, 0.0) + taken - others

    def by_part(self) -> dict[str, float]:
        """Seconds of processor time of each part, seams included."""
        names = {**self.cpu, **self.inside}
        return {name: self.cpu.get(name, 0.0) + self.inside.get(name, 0.0) for name in names}

    def watch(self) -> None:
        """Wrap the seams of modules that are imported from now on."""
        sys.meta_path.insert(0, _SeamFinder(self))

    def wrap(self, module: ModuleType) -> None:
        """Put clocks around a module's seams."""
        for part, path in SEAMS[module.__name__]:
            *owners, name = path.split(".")
            owner: Any = module
            for each in owners:
                owner = getattr(owner, each, None)
            function = getattr(owner, name, None)
            if function is None:
                self.missing.append(f"{module.__name__}.{path}")
            else:
                setattr(owner, name, self._timed(part, function))

    def _timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.seam(part):
                return function(*arguments, **named)

        return timed


class _SeamFinder(MetaPathFinder):
    """Finds the modules that have seams as everybody does, and has them wrapped once they are loaded."""

    def __init__(self, clock: PartClock) -> None:
        self._clock = clock
        self._asking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in SEAMS or self._asking:
            return None
        self._asking = True
        try:
            found = next(
                (spec for finder in sys.meta_path if (spec := finder.find_spec(name, path, target))), None
            )
        finally:
            self._asking = False
        if found is not None and found.loader is not None:
            found.loader = _SeamLoader(found.loader, self._clock)
        return found


class _SeamLoader(Loader):
    def __init__(self, loader: Any, clock: PartClock) -> None:
        self._loader = loader
        self._clock = clock

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ in IMPORTS:
            with self._clock.seam(IMPORTS[module.__name__]):
                self._loader.exec_module(module)
        else:
            self._loader.exec_module(module)
        self._clock.wrap(module)
