"""What was made once, kept on disk for later processes: bytes under the hash of all that they depend on.

The folder is the user's alone (0700) and so are its files; one that somebody else owns or may write is not
used, for what lies in it is run. Files are written aside and renamed, so that two processes may use the
folder at once; a file that is cut off or changed is told by its hash, and made again. Whoever cannot write
here makes everything anew: nothing depends on it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VARIABLE = "PTXKIT_CACHE"
"""The environment variable that names another folder, or is `off`."""
LIMIT = 256 << 20
"""Bytes that the folder holds; beyond them what was not used for longest goes."""
_OFF = ("", "0", "off", "no")
_MAGIC = b"ptxkit1\n"
_SUFFIX, _PART = ".kept", ".part"
_DIGEST = hashlib.sha256().digest_size
_READ = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _READ |= getattr(os, _name, 0)
_STALE = 3600
"""Seconds after which a file that is still being written was left behind."""
_BETWEEN = 64
"""Files that are written between two looks at the folder's size."""


def cache_folder() -> Path | None:
    """Where things are kept; None where the environment says that nothing is."""
    given = os.environ.get(VARIABLE)
    base = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # a user without a home
        if given is not None:
            return None if given.lower() in _OFF else Path(given).expanduser()
        return (Path(base) if base and os.path.isabs(base) else Path.home() / ".cache") / "ptxkit"
    return None


@dataclass(frozen=True, slots=True)
class CacheSize:
    """What a cache holds: files, and their bytes."""

    files: int
    bytes: int


class DiskCache:
    """A folder of results.

    Args:
        folder: where; it is made when something is first kept.
        limit: bytes.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        self._written = 0

    # ---- whose it is

    def why_not(self) -> str | None:
        """Why the folder is not used; None where it is, or can be made."""
        try:
            found = self.folder.lstat()
        except FileNotFoundError:
            return None
        except OSError as problem:
            return str(problem.strerror)
        if not stat.S_ISDIR(found.st_mode):
            return "it is no folder"
        return _others(found)

    def _make(self) -> bool:
        """Whether the folder is there and the user's alone."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.why_not() is None

    # ---- what is in it

    def get(self, key: str) -> bytes | None:
        """What is kept under a key of hexadecimal digits, or None."""
        if self.why_not() is not None:
            return None
        path = self._path(key)
        try:
            opened = os.open(path, _READ)
        except OSError:
            return None  # not there, or not to be read
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or _others(found) is not None:
            os.close(opened)
            return None
        with open(opened, "rb") as file:
            data = file.read()
        start = len(_MAGIC) + _DIGEST
        if data[: len(_MAGIC)] != _MAGIC or _digest(key, data[start:]) != data[len(_MAGIC) : start]:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return data[start:]

    def put(self, key: str, data: bytes) -> None:
        """Keep something under a key; where it can't be written, nothing happens."""
        content = _MAGIC + _digest(key, data) + data
        if len(content) > self.limit // 4:
            return
        with contextlib.suppress(OSError):
            if not self._make():
                return
            part = self.folder / f"{os.urandom(8).hex()}{_PART}"
            try:
                opened = os.open(
                    part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
                )
                with open(opened, "wb") as file:
                    file.write(content)
                part.replace(self._path(key))
            finally:
                part.unlink(missing_ok=True)
            if self._written % _BETWEEN == 0:
                self._shrink()
            self._written += 1

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """When each file was last used, its bytes, and where it is."""
        if self.why_not() is not None or not self.folder.exists():
            return
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith((_SUFFIX, _PART)):
                    with contextlib.suppress(FileNotFoundError):  # another process has removed it
                        found = entry.stat(follow_symlinks=False)
                        yield found.st_mtime, found.st_size, Path(entry.path)

    def _shrink(self) -> None:
        """Remove what was not used for longest until a quarter is free, where the folder has grown too large,
        and what was left behind."""
        files = sorted(self._files())
        held = sum(size for _, size, _ in files)
        most = self.limit if held <= self.limit else self.limit * 3 // 4
        for used, size, path in files:
            stale = path.suffix == _PART and time.time() - used > _STALE
            if held > most or stale:
                path.unlink(missing_ok=True)
                held -= size

    def size(self) -> CacheSize:
        """What it holds."""
        sizes = [size for _, size, _ in self._files()]
        return CacheSize(len(sizes), sum(sizes))

    def clear(self) -> CacheSize:
        """Remove everything that was kept. Returns what that was."""
        held = self.size()
        for _, _, path in self._files():
            path.unlink(missing_ok=True)
        return held


def _others(found: os.stat_result) -> str | None:
    """Why what is there may be another user's; None where it is not. Windows has neither owners nor modes."""
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid():
        return "another user owns it"
    return "other users may write it" if found.st_mode & 0o022 else None


def _digest(key: str, data: bytes) -> bytes:
    """Of what is kept, and of the key, under which a file may have been put by mistake."""
    return hashlib.sha256(key.encode() + b"\n" + data).digest()


@cache
def _opened(folder: Path) -> DiskCache:
    return DiskCache(folder)


def disk_cache() -> DiskCache | None:
    """The cache of this user; None where there is to be none."""
    folder = cache_folder()
    return _opened(folder) if folder is not None else None


def key_of(*parts: str) -> str:
    """The key of what is made of some texts."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()
