"""The kernels that come with ptxkit, and how a FILE on the command line is found.

They lie in `ptxkit/kernels_ptx` of the installed package, else in `kernels_ptx` of a checkout.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import error, shortened

_PACKAGE = Path(__file__).resolve().parents[1]

RUNS = (_PACKAGE / "runs", _PACKAGE.parent / "bench" / "results" / "runs")
"""Where recorded runs lie: in the installed package, and in a checkout."""


@cache
def folders() -> tuple[Path, ...]:
    """The folders that shipped kernels lie in, in the order of lookup."""
    candidates = (_PACKAGE / "kernels_ptx", _PACKAGE.parent / "kernels_ptx")
    return tuple(folder for folder in candidates if folder.is_dir())


def shipped() -> dict[str, Path]:
    """Every shipped kernel by its name, `gemv.ptx`; in subfolders `gemm/sm_90a.ptx`."""
    found: dict[str, Path] = {}
    for folder in folders():
        for path in sorted(folder.rglob("*.ptx")):
            found.setdefault(path.relative_to(folder).as_posix(), path)
    return found


def find(file: str) -> tuple[str, Path]:
    """The name and the path of a FILE: a path, else a shipped kernel with or without its `.ptx`.

    The help names a file beside the one that is not there, or a shipped kernel, of nearly the same name.

    Raises:
        PtxkitError: P559, it is neither.
    """
    path = Path(file)
    if file and _is_there(path):
        return file, path
    kernels = shipped()
    for name in (file, f"{file}.ptx"):
        if name in kernels:
            return name, kernels[name]
    import difflib

    beside = []
    with suppress(OSError, ValueError):
        beside = [(path.parent / other.name).as_posix() for other in sorted(path.parent.glob("*.ptx"))]
    near = [name for name in difflib.get_close_matches(file, [*beside, *kernels], 2) if name != file]
    help = f"did you mean `{near[0]}`?" if near else "`ptxkit kernels` lists the shipped kernels"
    found = f"no `{shortened(file)}`" if not os.path.islink(file) else f"a link that leads nowhere, `{file}`"
    raise error("P559", f"expected a file or a shipped kernel, found {found}", help=help)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


@dataclass(frozen=True, slots=True)
class Verification:
    """One place where a kernel's presets have been verified: what the recorded runs say.

    Attributes:
        device: `emu`, or the GPU's name.
        presets: those that passed.
        failed: those that did not.
        current: whether the recorded text is the shipped one.
    """

    device: str
    date: str
    presets: tuple[str, ...]
    failed: tuple[str, ...]
    current: bool


def verifications(name: str, path: Path, recorded: list[dict[str, Any]]) -> list[Verification]:
    """Where the shipped kernel `name` has been verified: of each device the newest of these records."""
    import hashlib

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    newest: dict[str, Verification] = {}
    for record in recorded:
        if record.get("file") != name:
            continue
        runs = [run for run in record["runs"] if run.get("verified")]
        verification = Verification(
            device=record["device"],
            date=record["date"],
            presets=tuple(run["preset"] for run in runs if run["ok"] and run["preset"]),
            failed=tuple(run["preset"] for run in runs if not run["ok"] and run["preset"]),
            current=record["sha256"] == digest,
        )
        known = newest.get(verification.device)
        if known is None or (verification.current, verification.date) >= (known.current, known.date):
            newest[verification.device] = verification
    return list(newest.values())


def records(folders: tuple[Path, ...] = RUNS) -> list[dict[str, Any]]:
    """The documents of `ptxkit run --json` in these folders."""
    import json

    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]
