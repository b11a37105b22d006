"""From a call of C to a function of Python: one callback a symbol, made from its line in the table.

A function that implements a symbol takes the machine, then what the table says; it raises `DriverError` for
what is not CUDA_SUCCESS, and returns nothing. What no function implements answers CUDA_ERROR_NOT_SUPPORTED
and is named in the report.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.diagnostics import PtxkitError
from ptxkit.virtual.abi import ctype
from ptxkit.virtual.elf.write import END, RESTORE, TABLE
from ptxkit.virtual.forks import process_mark
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.pending import PendingException
from ptxkit.virtual.results import DriverError
from ptxkit.virtual.symbols import ExportedSymbol

Implementation = Callable[..., Any]
NOT_INITIALISED, DEINITIALISED, NOT_SUPPORTED, UNKNOWN = 3, 4, 801, 999


class FunctionTable:
    """The functions of a library that do something.

    Attributes:
        by_name: the function of each symbol.
        early: symbols that may be called before the library is initialised.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, Implementation] = {}
        self.early: set[str] = set()

    def __call__(self, *names: str, early: bool = False) -> Callable[[Implementation], Implementation]:
        """`@functions("cuMemAlloc_v2")`: this function implements these symbols, by default that of its
        name."""

        def register(function: Implementation) -> Implementation:
            for name in names or (function.__name__,):
                self.by_name[name] = function
                if early:
                    self.early.add(name)
            return function

        return register


class SymbolLibrary:
    """A library of this process whose symbols call into Python.

    Attributes:
        handle: of the loaded library.
        symbols: of its table, in order.
    """

    def __init__(
        self,
        machine: Machine,
        path: str,
        symbols: Sequence[ExportedSymbol],
        functions: FunctionTable,
        failed: Callable[[int], int] = int,
    ) -> None:
        """Fill the table of a library.

        Args:
            machine: what the functions work on.
            path: the file, loaded or not.
            symbols: what its table is of.
            functions: what they do.
            failed: takes the error code of a call, and gives what it returns.
        """
        self.handle = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.symbols = symbols
        self._machine = machine
        self._functions = functions
        self._failed = failed
        self._mark = process_mark()
        self._callbacks = [self._callback(symbol) for symbol in symbols]
        # Once the interpreter is gone nothing may call into it any more.
        ctypes.pythonapi.Py_AtExit(getattr(self.handle, END))
        slots = (ctypes.c_void_p * len(symbols)).in_dll(self.handle, TABLE)
        slots[:] = [ctypes.cast(callback, ctypes.c_void_p).value for callback in self._callbacks]

    def address(self, name: str) -> int:
        """Where a symbol's code is."""
        return ctypes.cast(getattr(self.handle, name), ctypes.c_void_p).value or 0

    def _callback(self, symbol: ExportedSymbol) -> Any:
        function = self._functions.by_name.get(symbol.name) or self._functions.by_name.get(symbol.plain)
        types = [ctype(letter) for _, letter in symbol.parameters]
        prototype = ctypes.CFUNCTYPE(ctype(symbol.result), *types)
        return prototype(self._unsupported(symbol) if function is None else self._call(symbol, function))

    def _unsupported(self, symbol: ExportedSymbol) -> Callable[..., int]:
        def call(*_: Any) -> int:
            with self._machine.schedule.lock:
                self._machine.report.not_supported(symbol.name)
            return self._failed(NOT_SUPPORTED) if symbol.result == "i" else 0

        return call

    def _call(self, symbol: ExportedSymbol, function: Implementation) -> Callable[..., Any]:
        machine, failed, name = self._machine, self._failed, symbol.name
        early = symbol.name in self._functions.early or symbol.plain in self._functions.early
        per_thread, lock = symbol.per_thread, self._machine.schedule.lock
        ours = self._mark
        pending = PendingException(self.address(RESTORE))
        take, taken, give_back = pending.take, pending.parts, pending.give_back

        def call(*arguments: Any) -> Any:
            take()
            exception = tuple(taken) if taken[0] else None
            with lock:
                if not early and not (machine.initialised and ours[0]):
                    result = failed(NOT_INITIALISED)
                else:
                    machine.calls += 1
                    machine.per_thread_default = per_thread
                    try:
                        result = function(machine, *arguments) or 0
                    except DriverError as problem:
                        machine.report.call_failed(name, problem.code, problem.why)
                        result = failed(problem.code)
                    except PtxkitError as problem:
                        result = failed(machine.report.failed(problem))
                    except Exception as problem:  # noqa: BLE001 - it must not unwind into a caller that is C
                        if machine.ended:  # the interpreter is being taken apart
                            result = failed(DEINITIALISED)
                        else:
                            machine.report.crashed(problem)
                            result = failed(UNKNOWN)
            return result if exception is None else give_back(exception, result)

        return call
