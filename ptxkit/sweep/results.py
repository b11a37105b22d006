"""The file of results: one JSON document a line, appended as results come, read by the next sweep."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ptxkit.diagnostics import error
from ptxkit.support.atomic_file import unwritable
from ptxkit.sweep.job import SCHEMA, final
from ptxkit.workers.exclusive import try_lock


class Results:
    """Results, kept as they come.

    Args:
        path: the file, which may hold results of an earlier sweep; None: standard output.

    Attributes:
        done: of the final results that the file held by their keys the exit code of each.

    Raises:
        PtxkitError: P567, the file can't be read or written, or another sweep writes to it; P525, it holds
            something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.done: dict[str, int] = {}
        self._path = path
        self._file: IO[str] = sys.stdout
        if path is None:
            return
        try:
            self._file = path.open("a", encoding="utf-8")
            if path.is_file():
                self._go_on(path)
        except OSError as problem:
            raise unwritable(path, problem) from None

    def _go_on(self, path: Path) -> None:
        """Take over what the file holds."""
        try:
            if not try_lock(self._file.fileno()):
                help = "wait until it has ended, or write to another file"
                raise error("P567", f"cannot write `{path}`: another sweep writes to it", help=help)
            whole = self._read(path)
            # A line that was cut off in the middle is not a result; what comes next must not depend on it.
            if whole < path.stat().st_size:
                self._file.truncate(whole)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is not None:
            with suppress(OSError):  # of a result that `keep` could not write
                self._file.close()

    def keep(self, result: dict[str, Any]) -> None:
        """Append a result; when this returns, a crash of the machine does not take it away.

        Raises:
            PtxkitError: P567, it can't be written.
        """
        line = json.dumps(result, allow_nan=False) + "\n"
        if self._path is None:
            print(line, end="", flush=True)
            return
        try:
            self._file.write(line)
            self._file.flush()
            if self._path.is_file():
                os.fsync(self._file.fileno())
        except OSError as problem:
            raise unwritable(self._path, problem) from None

    def _read(self, path: Path) -> int:
        """Take over the final results; the number of bytes in whole lines."""
        whole = 0
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                try:
                    result = json.loads(line)
                    if result["kind"] != "sweep" or result["schema"] != SCHEMA:
                        raise ValueError
                    if final(result):
                        self.done[result["key"]] = int(result["exit"])
                except (ValueError, KeyError, TypeError, RecursionError):
                    message = (
                        f"expected a result of a sweep in line {number} of `{path}`, found something else"
                    )
                    raise error("P525", message, help="write to another file") from None
        return whole
