"""Public repositories at pinned commits."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any


def checkout(source: dict[str, Any], folder: Path) -> Path:
    """The folder with a repository's files at its commit; cloned there if it does not exist.

    Args:
        source: its `repository`, `owner/name` of GitHub, and its `commit`.
        folder: of the checkout. One without `.git`, an archive unpacked, is taken for what it should be.

    Raises:
        SystemExit: it is there at another commit, or git failed.
    """
    commit = source["commit"]
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
        git(folder, "fetch", "--quiet", "--depth=1", f"https://github.com/{source['repository']}", commit)
        git(folder, "checkout", "--quiet", "FETCH_HEAD")
    if (folder / ".git").exists() and (found := git(folder, "rev-parse", "HEAD")) != commit:
        raise SystemExit(f"{folder}: expected commit {commit} of {source['repository']}, found {found}")
    return folder


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()
