"""Where a measurement comes from: when, by which commit, on which machine; part of every document."""

from __future__ import annotations

import datetime
import os
import subprocess
from pathlib import Path
from typing import Any

from ptxkit.machine.doctor import examine

_CHECKOUT = Path(__file__).resolve().parents[2]


def provenance() -> dict[str, Any]:
    """Date, commit and machine, JSON-able.

    `commit` is that of the checkout that runs, with `modified` where its tracked files differ from it; both
    are None where ptxkit is installed.
    """
    commit = _git("rev-parse", "HEAD")
    changes = None if commit is None else _git("status", "--porcelain", "--untracked-files=no")
    facts = {fact.name: fact.details for fact in examine() if fact.name in ("ptxkit", "driver")}
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "modified": None if changes is None else bool(changes),
        "machine": {**facts, "cores": os.cpu_count()},
    }


def _git(*arguments: str) -> str | None:
    """What git says of the checkout; None where there is none."""
    if not (_CHECKOUT / ".git").exists():
        return None
    command = ["git", "-C", str(_CHECKOUT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
