"""Functions that run in a Python program once it has imported a module. This module is imported by every
Python that `ptxkit exec` starts, so it imports nothing of weight."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, SupportsIndex

from ptxkit.virtual.heap import stop_the_heap


def _triton(module: ModuleType) -> None:
    from ptxkit.virtual.clients import triton

    triton.prepare(module)


def _torch(module: ModuleType) -> None:
    from ptxkit.virtual.clients import pytorch

    pytorch.prepare(module)


def _runtime(module: ModuleType) -> None:
    from ptxkit.virtual.clients import bindings

    bindings.prepare_runtime(module)


def _nvrtc(module: ModuleType) -> None:
    from ptxkit.virtual.clients import bindings

    bindings.prepare_nvrtc(module)


def _cute_compiler(module: ModuleType) -> None:
    from ptxkit.virtual.clients import cute_dsl

    cute_dsl.prepare_compiler(module)


def _cute_executor(module: ModuleType) -> None:
    from ptxkit.virtual.clients import cute_dsl

    cute_dsl.prepare_executor(module)


def _cute_tensors(module: ModuleType) -> None:
    from ptxkit.virtual.clients import cute_dsl

    cute_dsl.prepare_tensors(module)


AFTER: dict[str, Callable[[ModuleType], None]] = {
    "triton.runtime.driver": _triton,
    "torch": _torch,
    "cuda.bindings._bindings.cyruntime": _runtime,
    "cuda.bindings._internal.runtime": _runtime,
    "cuda.bindings._bindings.cynvrtc": _nvrtc,
    "cuda.bindings._internal.nvrtc": _nvrtc,
    "cutlass.base_dsl.compiler": _cute_compiler,
    "cutlass.base_dsl.jit_executor": _cute_executor,
    "cutlass.cute.runtime": _cute_tensors,
}
"""What runs after the import of which module."""


class _Finder(MetaPathFinder):
    """Finds the modules of `AFTER` as the others find them, and lets their loaders call what is to run."""

    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in AFTER or fullname in self._busy:
            return None
        self._busy.add(fullname)
        try:
            spec = find_spec(fullname)
        finally:
            self._busy.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, AFTER[fullname])
        return spec


class _Finders(list[Any]):
    """`sys.meta_path`, of which ours stays the first: pytest puts its own there, which would take any module
    that a project calls its tests."""

    def insert(self, index: SupportsIndex, finder: Any) -> None:
        super().insert(max(int(index), 1) if int(index) >= 0 else index, finder)


class _Loader(Loader):
    """A loader that calls a function with the module that it has loaded."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then(module)


def watch() -> None:
    """From now on modules of `AFTER` are followed by their functions, and the heap grows no more."""
    stop_the_heap()
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path = _Finders([_Finder(), *sys.meta_path])
