"""LLVM as a compiler for the machine that this runs on: text of a module in, addresses of functions out."""

from __future__ import annotations

import ctypes
import hashlib
import platform
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

from llvmlite import binding

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
        self._machine = target.create_target_machine(
            cpu=binding.get_host_cpu_name(), features=features.flatten(), opt=1, jit=True
        )
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), self._machine)
        self._made: dict[bytes, Any] = {}
        self._lock = Lock()

    def function(self, text: str, kind: Callable[[int], Any], optimise: bool = False) -> Any:
        """The function of a module.

        Args:
            text: the module, in LLVM's assembly language; its function is called `FUNCTION`.
            kind: the type of the function, of `ctypes`.
            optimise: whether LLVM's passes are to look at it first. What is vectors already gains nothing.
        """
        key = hashlib.sha256(text.encode()).digest()
        with self._lock:
            made = self._made.get(key)
            if made is None:
                made = self._made[key] = kind(self._compile(text, optimise))
        return made

    def _compile(self, text: str, optimise: bool) -> int:
        """The address of a module's function, under a name of its own."""
        module = binding.parse_assembly(text)
        function = module.get_function(FUNCTION)
        function.name = name = f"{FUNCTION}{len(self._made)}"
        if optimise:
            options = binding.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = True
            passes = binding.create_pass_builder(self._machine, options)
            passes.getModulePassManager().run(module, passes)
        self._engine.add_module(module)
        self._engine.finalize_object()
        where: int = self._engine.get_function_address(name)
        return where


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
