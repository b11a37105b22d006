"""What suites there are, from suites.toml, and the files of one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Suite:
    """A row of suites.toml, which explains the names."""

    name: str
    repository: str
    commit: str
    packages: list[str]
    folder: str
    tests: str
    options: list[str]
    test_seconds: int
    package: str = ""
    programs: str = ""
    includes: list[str] = field(default_factory=list)
    prepare: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def _table() -> dict[str, dict]:
    return tomllib.loads((HERE / "suites.toml").read_text("utf-8"))


def suites() -> dict[str, Suite]:
    """All suites by their names."""
    return {name: Suite(name, **row) for name, row in _table()["suites"].items()}


def requirements(suite: Suite) -> list[str]:
    """What pip installs for a suite."""
    return [*suite.packages, *_table()["toolkit"]["packages"]]


@dataclass(frozen=True)
class Checkout:
    """A suite as it lies on this machine.

    Attributes:
        suite: which one.
        folder: where pytest runs.
        python: of the environment that has the packages.
    """

    suite: Suite
    folder: Path
    python: str

    @property
    def tests(self) -> Path:
        """The folder of the test files."""
        if not self.suite.package:
            return self.folder / self.suite.tests
        code = f"import importlib.util as u; print(u.find_spec({self.suite.package!r}).origin)"
        origin = subprocess.check_output([self.python, "-c", code], text=True).strip()
        return Path(origin).parent / self.suite.tests

    def files(self) -> list[str]:
        """The test files, relative to `tests`, but those that are left out; of programs their names."""
        if self.suite.programs:
            return sorted(tomllib.loads((HERE / self.suite.programs).read_text("utf-8"))["programs"])
        found = sorted(path.relative_to(self.tests).as_posix() for path in self.tests.rglob("test_*.py"))
        return [path for path in found if not path.startswith(tuple(self.suite.left_out))]

    def toolkits(self) -> list[Path]:
        """Folders of CUDA's headers and libraries: of the environment's packages, then nvcc's own."""
        found = []
        code = "import nvidia.cu13 as n; print(list(n.__path__)[0])"
        packages = subprocess.run([self.python, "-c", code], capture_output=True, text=True)
        if packages.returncode == 0:
            found.append(Path(packages.stdout.strip()))
        if shutil.which("nvcc"):
            said = subprocess.run(
                ["nvcc", "--dryrun", "-x", "cu", os.devnull], capture_output=True, text=True
            )
            found += [Path(top).resolve() for top in re.findall(r"^#\$ TOP=(.+)$", said.stderr, re.MULTILINE)]
        assert found, f"{self.python} has no packages of CUDA's toolkit, and there is no nvcc"
        return found

    def library_folders(self) -> list[Path]:
        """Where the libraries of `toolkits` lie."""
        folders = (toolkit / name for toolkit in self.toolkits() for name in ("lib", "lib64"))
        return [folder for folder in folders if folder.is_dir()]

    def environment(self) -> dict[str, str]:
        """The environment of its tests: `.` in a value is the folder; a path goes before what is there."""
        found = dict(os.environ)
        for name, value in self.suite.environment.items():
            own = str(self.folder) if value == "." else value
            inherited = os.environ.get(name) if name == "PYTHONPATH" else None
            found[name] = os.pathsep.join(filter(None, (own, inherited)))
        return found

    def versions(self) -> dict[str, str]:
        """The packages of NVIDIA's, numba's, PyTorch's and Triton's that are installed, and Python.

        Where a package stands on Python's path twice, it is the first that is imported.
        """
        code = (
            "import importlib.metadata as m, json, platform; found = {d.name: d.version for d in reversed("
            "list(m.distributions()))}; found['python'] = platform.python_version(); print(json.dumps(found))"
        )
        found = json.loads(subprocess.check_output([self.python, "-c", code], text=True))
        told = ("python", "pytest", "numpy", "ptxkit")
        kinds = ("cuda", "numba", "nvidia-", "llvmlite", "torch", "triton")
        return {name: found[name] for name in sorted(found) if name in told or name.startswith(kinds)}
