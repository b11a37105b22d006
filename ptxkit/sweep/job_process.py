"""The caller's end of a process that does jobs, one after the other, and can be lost without harm."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import Any


class LostError(Exception):
    """The process has died over a job."""


class JobProcess:
    """A process of `ptxkit.sweep.serve`. It starts with the first job, and again once it was lost."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> JobProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, job: dict[str, Any]) -> dict[str, Any]:
        """The result of a job, both as JSON.

        Raises:
            LostError: the process died; the next job starts another.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError, OSError):
            line = ""
        if not line.endswith("\n"):
            self.close()
            raise LostError(f"exit code {process.returncode}")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what was not sent yet has nobody to go to
                        pipe.close()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-m", "ptxkit.sweep.serve"]
            # A session of its own: Ctrl-C is the caller's business.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
        return self._process
