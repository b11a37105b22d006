"""The facts behind `ptxkit doctor`: what this machine has for ptxkit, what is missing, and how to fix it.

Nothing here opens a context or allocates on a GPU, so it answers on a busy machine too.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from ptxkit import targets
from ptxkit.diagnostics import PtxkitError, counted
from ptxkit.support.disk_cache import VARIABLE, disk_cache
from ptxkit.support.version import VERSION
from ptxkit.toolchain.sass import find as find_disassembler

_KERNEL_MODULE = Path("/proc/driver/nvidia/version")
_TOOL_TIMEOUT = 20
"""Seconds that a tool may take to say its version."""


_TOOLKIT = "install the CUDA toolkit, or its package of that name, and put it on PATH"
_TOOLS = (
    ("compute-sanitizer", "`ptxkit run --sanitize` on a GPU runs under it", _TOOLKIT),
    ("ncu", "`ptxkit profile --device cuda` runs under it", _TOOLKIT),
)
"""Programs on PATH: the name, what they are for, how to get them."""

_EXTRAS = (
    ("jit", ("llvmlite",), "the emulator compiles straight stretches of kernels with it"),
    ("plot", ("matplotlib",), "`ptxkit bench --plot` draws with it"),
    ("lsp", ("pygls",), "`ptxkit lsp` speaks to editors with it"),
    ("cluster", ("dask", "distributed"), "`ptxkit sweep --scheduler` gives its jobs to it"),
)
"""Extras of the package: the name, the packages, what they are for."""


class FactState(StrEnum):
    """How a fact stands."""

    GOOD = "good"
    MISSING = "missing"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing looked at.

    Attributes:
        name: what was looked for.
        state: `good`; `missing`; `optional`: missing, and only some verbs want it.
        found: what there is, in a line.
        mend: the one command or step that mends it; None where nothing is to be mended.
        details: the same for programs.
    """

    name: str
    state: FactState
    found: str
    mend: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


def examine() -> list[Fact]:
    """Every fact, in the order in which a run needs them."""
    facts = [_python(), _bindings()]
    facts += _driver()
    tools = [_tool(name, wants, mend) for name, wants, mend in _TOOLS]
    extras = [_extra(*row) for row in _EXTRAS]
    return [*facts, _management(), _assembler(), _ptxas(), _disassembler(), *tools, *extras, _kept()]


def _python() -> Fact:
    found = f"ptxkit {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    details = {
        "ptxkit": VERSION,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    return Fact("ptxkit", FactState.GOOD, f"{found}; the emulator works everywhere", details=details)


def _bindings() -> Fact:
    version = _installed("cuda-bindings")
    if version is None:
        if platform.system() == "Darwin":
            return Fact(
                "CUDA bindings", FactState.OPTIONAL, "there are none for macOS; the emulator needs none"
            )
        return Fact(
            "CUDA bindings", FactState.MISSING, "not installed", "pip install 'cuda-bindings>=12.9,<14'"
        )
    return Fact("CUDA bindings", FactState.GOOD, f"cuda-bindings {version}", details={"version": version})


def _driver() -> Iterator[Fact]:
    """The driver, then each GPU."""
    from ptxkit.driver import describe_gpus, driver_version
    from ptxkit.driver.clocks import management_version

    try:
        cuda = driver_version()
        gpus = describe_gpus()
    except PtxkitError as caught:
        diagnostic = caught.diagnostics[0]
        mend = "install the NVIDIA driver; without one everything runs with `--device emu`"
        yield Fact("driver", FactState.MISSING, diagnostic.message, mend)
        return
    newest = targets.newest_version_for_cuda(cuda)
    module = _kernel_module() or management_version()
    found = f"CUDA {targets.show(cuda)}" + (f", driver {module}" if module else "")
    details = {"cuda": targets.show(cuda), "driver": module, "ptx": targets.show(newest)}
    yield Fact(
        "driver",
        FactState.GOOD,
        f"{found}; takes PTX up to `.version {targets.show(newest)}`",
        details=details,
    )
    if not gpus:
        mend = "look at `nvidia-smi` and CUDA_VISIBLE_DEVICES; meanwhile `--device emu`"
        yield Fact("GPU", FactState.MISSING, "the driver shows none to this process", mend)
    for gpu in gpus:
        major, minor = gpu["capability"]
        best = targets.for_capability((major, minor), "a") or targets.for_capability((major, minor))
        takes = f"PTX for `{best}` and older" if best else "PTX for older targets"
        found = f"{gpu['name']}, {gpu['memory'] / 2**30:.0f} GiB, {gpu['sm_count']} SMs"
        found += f", compute capability {major}.{minor}: {takes}"
        state = FactState.GOOD
        remedy: str | None = None
        if gpu["compute_mode"] != "default":
            found += f"; compute mode {gpu['compute_mode']}"
        if gpu["compute_mode"] == "prohibited":
            state, remedy = FactState.MISSING, f"nvidia-smi -i {gpu['ordinal']} -c DEFAULT"
        yield Fact(f"cuda:{gpu['ordinal']}", state, found, remedy, details=gpu)


def _management() -> Fact:
    """NVML, by which clocks and their limits are read."""
    from ptxkit.driver.clocks import has_binding, management_version

    version = management_version()
    if version is None:
        found = "not there; with it a bench says what held the clocks down"
        if has_binding():
            return Fact("NVML", FactState.OPTIONAL, f"{found}. It comes with the driver")
        return Fact("NVML", FactState.OPTIONAL, found, "pip install -U cuda-bindings")
    return Fact("NVML", FactState.GOOD, f"clocks can be read; driver {version}", details={"driver": version})


def _assembler() -> Fact:
    """nvJitLink, which assembles in-process."""
    name = "nvJitLink"
    mend = "pip install 'ptxkit[ptxas]'"
    try:
        from cuda.bindings import nvjitlink

        version = nvjitlink.version()
    except (ImportError, RuntimeError):
        return Fact(name, FactState.OPTIONAL, "not installed; it assembles PTX without a GPU", mend)
    known = version in {release.cuda for release in targets.RELEASES.values()}
    newest = targets.show(targets.newest_version_for_cuda(version))
    found = f"{targets.show(version)}; assembles PTX up to `.version {newest}`" + (
        "" if known else " and newer"
    )
    return Fact(name, FactState.GOOD, found, details={"version": targets.show(version)})


def _ptxas() -> Fact:
    path = shutil.which("ptxas")
    if path is None:
        return Fact("ptxas", FactState.OPTIONAL, "not on PATH; nvJitLink does the same in-process")
    said = _output(path, "--version")
    match = re.search(r"release (\d+)\.(\d+)", said)
    if match is None:
        return Fact("ptxas", FactState.OPTIONAL, f"{path} does not say its version", details={"path": path})
    version = int(match[1]), int(match[2])
    newest = targets.show(targets.newest_version_for_cuda(version))
    found = f"{targets.show(version)} at {path}; assembles PTX up to `.version {newest}`"
    return Fact(
        "ptxas",
        FactState.GOOD,
        found,
        details={"path": path, "version": targets.show(version), "ptx": newest},
    )


def _disassembler() -> Fact:
    path = find_disassembler()
    if path is None:
        found = "not installed; `ptxkit sass` shows machine code with it"
        return Fact("nvdisasm", FactState.OPTIONAL, found, "pip install 'ptxkit[sass]'")
    match = re.search(r"release (\d+\.\d+)", _output(path, "--version"))
    found = f"{match[1]} at {path}" if match else path
    return Fact("nvdisasm", FactState.GOOD, found, details={"path": path, "version": match and match[1]})


def _tool(name: str, wants: str, mend: str) -> Fact:
    path = shutil.which(name)
    if path is None:
        return Fact(name, FactState.OPTIONAL, f"not on PATH; {wants}", mend)
    match = re.search(r"[Vv]ersion (\d+(?:\.\d+)+)", _output(path, "--version"))
    version = match[1] if match else None
    return Fact(
        name, FactState.GOOD, f"{version or 'found'} at {path}", details={"path": path, "version": version}
    )


def _extra(name: str, packages: Sequence[str], wants: str) -> Fact:
    versions = {package: _installed(package) for package in packages}
    if None in versions.values():
        return Fact(name, FactState.OPTIONAL, f"not installed; {wants}", f"pip install 'ptxkit[{name}]'")
    listed = ", ".join(f"{package} {version}" for package, version in versions.items())
    return Fact(name, FactState.GOOD, listed, details=dict(versions))


def _kept() -> Fact:
    """What is kept between processes."""
    kept = disk_cache()
    if kept is None:
        return Fact("cache", FactState.OPTIONAL, f"off, by {VARIABLE}; compiled code is made anew", None)
    details = {"folder": str(kept.folder), "limit": kept.limit}
    if (why := kept.why_not()) is not None:
        mend = f"remove it, or let {VARIABLE} name another folder"
        return Fact("cache", FactState.OPTIONAL, f"{kept.folder} is not used: {why}", mend, details)
    size = kept.size()
    found = f"{counted(size.files, 'file')}, {size.bytes / 1e6:.1f} of at most {kept.limit / 1e6:.0f} MB"
    details |= {"files": size.files, "bytes": size.bytes}
    return Fact("cache", FactState.GOOD, f"{found} in {kept.folder}", details=details)


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _kernel_module() -> str | None:
    """The version of the driver's kernel module, `580.159.04`."""
    try:
        match = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", _KERNEL_MODULE.read_text())
    except OSError:
        return None
    return match[1] if match else None


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
