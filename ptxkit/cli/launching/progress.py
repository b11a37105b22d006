"""Progress of a long run on stderr: a live line on a terminal, else a plain line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

QUIET_SECONDS = 2.0
"""Runs shorter than this print nothing."""
LIVE_INTERVAL = 0.2
PLAIN_INTERVAL = 10.0


class Progress:
    """While it is open, says what is being run and how far it is.

    Args:
        title: what runs: `gemv.ptx smoke`; a function where it changes.
        fraction: gives the part that is done, 0 to 1, or None if unknown.
    """

    def __init__(self, title: str | Callable[[], str], fraction: Callable[[], float | None]) -> None:
        self._title = title
        self.fraction = fraction
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ptxkit progress", daemon=True)

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    @property
    def title(self) -> str:
        """What runs now."""
        return self._title if isinstance(self._title, str) else self._title()

    def _watch(self) -> None:
        if self._done.wait(QUIET_SECONDS):
            return
        if sys.stderr.isatty():
            self._live()
        else:
            self._plain()

    def _plain(self) -> None:
        while True:
            elapsed = time.monotonic() - self._start
            print(f"{self.title}: {self._state()}{elapsed:.0f} s", file=sys.stderr, flush=True)
            if self._done.wait(PLAIN_INTERVAL):
                return

    def _state(self) -> str:
        fraction = self.fraction()
        return "running, " if fraction is None else f"{fraction:.0%} done, "

    def _live(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(self.title, total=None)
            while not self._done.wait(LIVE_INTERVAL):
                fraction = self.fraction()
                total = None if fraction is None else 1.0
                bar.update(task, description=self.title, total=total, completed=fraction or 0.0)
