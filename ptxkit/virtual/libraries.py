"""The libraries that a program sees in place of NVIDIA's: what each is called, exports and does, and their
files."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import error
from ptxkit.virtual.elf.write import MACHINES, shared_object
from ptxkit.virtual.symbols import ExportedSymbol


@dataclass(frozen=True, slots=True)
class Definition:
    """A library.

    Attributes:
        name: by which `ptxkit.virtual.process` knows it.
        soname: what programs ask the loader for.
        links: other names of the file.
        symbols: gives what it exports, in order.
        home: the module whose `load()` gives its functions, and whose `failed` takes error codes, if it has
        one.
        failure: what a call returns where Python can't be started.
        ended: what it returns once the process ends.
        version: of its symbols, where they have one.
        initialises: whether it hands out the driver's functions or calls them, and so initialises it.
    """

    name: str
    soname: str
    links: tuple[str, ...]
    home: str
    failure: int
    ended: int
    version: str | None = None
    initialises: bool = False

    def symbols(self) -> tuple[ExportedSymbol, ...]:
        """What it exports, in order."""
        found: tuple[ExportedSymbol, ...] = self.module().symbols()
        return found

    def module(self) -> Any:
        """The module that says what its functions do."""
        return import_module(self.home)


LIBRARIES = (
    Definition("driver", "libcuda.so.1", ("libcuda.so",), "ptxkit.virtual.driver", 802, 4),
    Definition(
        "runtime",
        "libcudart.so.13",
        ("libcudart.so",),
        "ptxkit.virtual.runtime",
        802,
        4,
        "libcudart.so.13",
        True,
    ),
    Definition(
        "nvjitlink",
        "libnvJitLink.so.13",
        ("libnvJitLink.so",),
        "ptxkit.virtual.companions.nvjitlink",
        6,
        6,
        "libnvJitLink.so.13",
    ),
    Definition(
        "cublaslt",
        "libcublasLt.so.13",
        ("libcublasLt.so",),
        "ptxkit.virtual.blas.cublaslt",
        1,
        1,
        "libcublasLt.so.13",
        True,
    ),
    Definition(
        "cublas",
        "libcublas.so.13",
        ("libcublas.so",),
        "ptxkit.virtual.blas.cublas",
        1,
        1,
        "libcublas.so.13",
        True,
    ),
    Definition(
        "cute_dsl",
        "libcute_dsl_runtime.so",
        (),
        "ptxkit.virtual.companions.cute_dsl",
        802,
        4,
        initialises=True,
    ),
    Definition("nvml", "libnvidia-ml.so.1", ("libnvidia-ml.so",), "ptxkit.virtual.companions.nvml", 999, 1),
)
"""Every library."""

PROGRAM = """exec({statements!r}, {{}})"""
STATEMENTS = """
import sys
try:
    import ptxkit.virtual.process as process
except ImportError:
    process = None
    if sys.version_info[:2] == {version}:
        sys.path.extend(p for p in {path} if p not in sys.path)
        import ptxkit.virtual.process as process
if process:
    process.attach({name!r}, {file!r})
else:
    here = "Python %d.%d" % sys.version_info[:2]
    print("ptxkit: this program's", here, "has no ptxkit; `pip install ptxkit` into it", file=sys.stderr)
"""
"""What runs in Python when a library is first called."""


def libpython() -> str:
    """The library of this Python, which programs load that have none; empty where it was built without."""
    name, folder = sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LIBDIR")
    for place in (folder, Path(sys.base_prefix, "lib")):
        if name and ".so" in name and place and Path(place, name).exists():
            return str(Path(place, name))
    return ""


def write_libraries(folder: Path) -> list[Path]:
    """Write every library into a folder.

    Raises:
        PtxkitError: P751, there are none for this system.
    """
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if sys.platform != "linux" or machine not in MACHINES:
        known = ", ".join(MACHINES)
        raise error("P751", f"a virtual GPU needs Linux on {known}, found {sys.platform} on {machine}")
    return [_write(definition, folder, machine) for definition in LIBRARIES]


def _write(definition: Definition, folder: Path, machine: str) -> Path:
    path = folder / definition.soname
    path.write_bytes(library_bytes(definition, str(path), machine))
    path.chmod(0o755)
    for link in definition.links:
        (folder / link).symlink_to(definition.soname)
    return path


def library_bytes(definition: Definition, path: str, machine: str) -> bytes:
    """The bytes of a library that will lie at a path."""
    statements = STATEMENTS.format(
        version=sys.version_info[:2],
        path=[place for place in sys.path if place],
        name=definition.name,
        file=path,
    )
    return shared_object(
        definition.soname,
        [symbol.name for symbol in definition.symbols()],
        machine,
        libpython=libpython(),
        executable=sys.executable,
        program=PROGRAM.format(statements=statements),
        failure=definition.failure,
        ended=definition.ended,
        pointers=[at for at, symbol in enumerate(definition.symbols()) if symbol.result == "p"],
        version=definition.version,
    )
