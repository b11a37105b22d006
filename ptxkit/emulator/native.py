"""LLVM as a compiler for the machine that this runs on: text of a module in, addresses of functions out."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import llvmlite
from llvmlite import binding

from ptxkit.support.disk_cache import disk_cache, key_of
from ptxkit.support.version import VERSION

FUNCTION = "run"
"""What the one function of a module is called."""


class Compiler:
    """Compiles modules and keeps their code. `lanes`: words of 32 bits of the widest vectors. `halves`:
    whether the processor converts f16."""

    def __init__(self) -> None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        features = binding.get_host_cpu_features()
        target = binding.Target.from_default_triple()
        self.lanes = 16 if features.get("avx512bw") and features.get("avx512vl") else 8
        self.halves = bool(features.get("f16c")) or platform.machine() in ("aarch64", "arm64")
        processor = binding.get_host_cpu_name(), features.flatten()
        self._machine = target.create_target_machine(cpu=processor[0], features=processor[1], opt=1, jit=True)
        versions = VERSION, llvmlite.__version__, ".".join(map(str, binding.llvm_version_info))
        self._made_for = (*versions, self._machine.triple, *processor)
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), self._machine)
        self._made: dict[str, Any] = {}
        self._lock = Lock()

    def function(self, text: str, kind: Callable[[int], Any], optimise: bool = False) -> Any:
        """The function of a module.

        Args:
            text: the module, in LLVM's assembly language; its function is called `FUNCTION`.
            kind: the type of the function, of `ctypes`.
            optimise: whether LLVM's passes are to look at it first. What is vectors already gains nothing.
        """
        key = key_of(*self._made_for, str(optimise), text)
        with self._lock:
            made = self._made.get(key)
            if made is None:
                made = self._made[key] = kind(self._address(key, text, optimise))
        return made

    def _address(self, key: str, text: str, optimise: bool) -> int:
        """The address of a module's function. Its code is kept on disk: it is as good for the next process,
        and LLVM takes tens of milliseconds for it."""
        name, kept = f"{FUNCTION}_{key}", disk_cache()
        code = kept.get(key) if kept is not None else None
        if code is None:
            code = self._compile(name, text, optimise)
            if kept is not None:
                kept.put(key, code)
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        where: int = self._engine.get_function_address(name)
        return where

    def _compile(self, name: str, text: str, optimise: bool) -> bytes:
        """The object file of a module, whose function gets a name of its own."""
        module = binding.parse_assembly(text)
        module.get_function(FUNCTION).name = name
        if optimise:
            options = binding.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = True
            passes = binding.create_pass_builder(self._machine, options)
            passes.getModulePassManager().run(module, passes)
        code: bytes = self._machine.emit_object(module)
        return code


@cache
def compiler() -> Compiler:
    """The compiler of this process."""
    return Compiler()


def address(array: Any) -> int:
    """Where the data of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except TypeError:
        # A read-only array, or an empty one.
        where: int = array.ctypes.data
        return where
