"""The folder of a run, which is gone when the run is over, however it ends."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "ptxkit-exec-"
BEGINNING = 600
"""Seconds after which a folder without a lock is of a run that was killed before it had one."""


@contextmanager
def run_folder() -> Iterator[Path]:
    """A fresh folder, removed at the end. Those of runs that were killed are removed, too: nobody holds their
    lock any more."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    with (folder / "new").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "new").rename(folder / "lock")  # whoever finds it finds it taken
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if not (folder / "lock").exists():
                if time.time() - folder.stat().st_mtime > BEGINNING:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with (folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # somebody else's, or one that is in use
