"""The releases of ptxas that are asked: each takes the PTX ISA versions up to its own.

Statements are judged by the `ptxas` that comes first in `PATH`. `use("13.5")` puts another release there, for
this process and those that it starts; a release that is not on this machine comes from its wheel, which holds
the whole compiler, by pip, into `ptxkit/assemblers` in the user's cache folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from ptxkit import targets

from . import kept

RELEASES = {
    "13.0": "13.0.88",
    "13.1": "13.1.115",
    "13.2": "13.2.86",
    "13.3": "13.3.73",
    "13.4": "13.4.92",
    "13.5": "13.5.37",
}
"""The releases since PTX ISA 9.0, each with the build that is asked."""


def use(release: str) -> None:
    """Ask this release from now on.

    Args:
        release: one of `RELEASES`.

    Raises:
        RuntimeError: it is not here and can't be fetched.
    """
    folder = fetch(release)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    kept.assembler.cache_clear()


def _folder(release: str) -> Path:
    return kept.folder() / "assemblers" / RELEASES[release]


def is_here(release: str) -> bool:
    """Whether a release has been fetched."""
    return (_folder(release) / "ptxas").exists()


def fetch(release: str) -> Path:
    """The folder in which a release's `ptxas` is, fetched where it is not here yet."""
    folder = _folder(release)
    if not (folder / "ptxas").exists():
        with tempfile.TemporaryDirectory() as wheels:
            wanted = f"nvidia-cuda-nvcc=={RELEASES[release]}"
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, wanted]
            run = subprocess.run(pip, capture_output=True, text=True, check=False)
            found = list(Path(wheels).glob("*.whl"))
            if run.returncode or not found:
                raise RuntimeError(f"pip has no {wanted}: {run.stderr.strip()}")
            _unpack(found[0], folder)
    return folder


def _unpack(wheel: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/bin/ptxas"))
        partial = folder / f"ptxas.{os.getpid()}"
        partial.write_bytes(archive.read(name))
    partial.chmod(0o755)
    partial.replace(folder / "ptxas")


def number(release: str) -> targets.Version:
    """A release as CUDA counts: (13, 5)."""
    major, minor = map(int, release.split("."))
    return major, minor


def release() -> str | None:
    """The release of the `ptxas` that is asked, `13.0`; None where there is none."""
    found = re.search(r"release (\d+\.\d+)", kept.assembler() or "")
    return found[1] if found else None


@cache
def _newest(release: str | None) -> targets.Version:
    if release is None:
        return targets.NEWEST_VERSION
    return min(targets.newest_version_for_cuda(number(release)), targets.NEWEST_VERSION)


def newest_version() -> targets.Version:
    """The newest PTX ISA version that both the rows and the `ptxas` that is asked know."""
    return _newest(release())
