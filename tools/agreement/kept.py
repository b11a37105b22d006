"""What ptxas said before, kept outside of the tree, since it says the same again.

A verdict belongs to a digest of all that was asked: ptxas's version, its options and the text. The file is
what `PTXKIT_VERDICTS` says, by default `ptxkit/verdicts.sqlite` in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


@cache
def assembler() -> str | None:
    """What ptxas says of its version; None where it is not here."""
    path = shutil.which("ptxas")
    if path is None:
        return None
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout


def digest(*asked: str) -> str:
    """The key of what was asked."""
    return hashlib.sha256("\0".join((assembler() or "", *asked)).encode()).hexdigest()


def folder() -> Path:
    """The folder of what is kept for this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ptxkit"


def _file() -> Path:
    given = os.environ.get("PTXKIT_VERDICTS")
    return Path(given) if given else folder() / "verdicts.sqlite"


@cache
def _open(path: Path, process: int) -> sqlite3.Connection:
    """The file, opened once a process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("CREATE TABLE IF NOT EXISTS verdicts (digest TEXT PRIMARY KEY, message TEXT)")
    return connection


def read(digests: Sequence[str]) -> dict[str, str | None]:
    """What is known of these: the message with which each was refused, None where it was accepted."""
    connection = _open(_file(), os.getpid())
    found: dict[str, str | None] = {}
    for start in range(0, len(digests), 500):
        part = digests[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(
            connection.execute(f"SELECT digest, message FROM verdicts WHERE digest IN ({marks})", part)
        )
    return found


def write(verdicts: Mapping[str, str | None]) -> None:
    """Keep verdicts."""
    connection = _open(_file(), os.getpid())
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", list(verdicts.items()))
    connection.execute("COMMIT")
