"""A suite whose tests are programs: each is copied, edited, of nvcc's built, and run once."""

from __future__ import annotations

import os
import re
import shutil
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .builds import build, edited
from .runner import FileRun, Test, exit_code, take_report
from .suite import HERE, Checkout

TEST = "runs"
"""The one test of a program."""


@dataclass(frozen=True)
class Program:
    """A row of a table of programs, which explains the names."""

    name: str
    right: str
    script: str = ""
    pytest: bool = False
    sources: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    host: str = ""
    folder: str = ""
    arch: str = ""
    arguments: str = ""
    flags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    edits: list[list[str]] = field(default_factory=list)
    devices: int = 1

    @property
    def changes(self) -> list[str]:
        """What is not as in the repository, in words."""
        told = [f"called by hosts/{self.host}"] if self.host else []
        told += [f"arguments {self.arguments}"] if self.arguments else []
        return told + [f"{file}: {old} becomes {new}" for file, old, new in self.edits]


def programs(table: str) -> dict[str, Program]:
    """The programs of a table beside suites.toml, by their names."""
    found = tomllib.loads((HERE / table).read_text("utf-8"))
    kinds = found.get("kinds", {})
    rows = {name: kinds.get(row.pop("kind", ""), {}) | row for name, row in found["programs"].items()}
    return {name: Program(name, **row) for name, row in rows.items()}


def run_program(
    checkout: Checkout,
    name: str,
    exec_options: list[str] | None,
    work: Path,
    before: Sequence[str] = (),
    built: bool = False,
    builds: Path | None = None,
) -> FileRun:
    """Build a program and run it; its one test passes if it ends with 0 and says that it is right.

    Args:
        checkout: the suite.
        name: the program's, in the suite's table.
        exec_options: of `ptxkit exec`; None on a real GPU.
        work: for the copy, logs and reports.
        before: words of a command that runs the one that follows.
        built: whether it lies in `work` already, built.
        builds: a folder of builds that are kept.
    """
    program, start = programs(checkout.suite.programs)[name], time.monotonic()
    found, node = FileRun(), f"{name}::{TEST}"
    folder = work / name
    if problem := "" if built else _made(checkout, program, folder, builds):
        found.tests[node] = Test("failed", f"does not build: {problem}")
    else:
        found.tests[node] = _run(checkout, program, exec_options, folder, found, before)
    found.seconds = time.monotonic() - start
    return found


def run_changed(
    checkout: Checkout, program: Program, exec_options: list[str], folder: Path
) -> tuple[str, str]:
    """Build a program that was changed, and run it: what it and `ptxkit exec` said, and what kept it from
    that."""
    if problem := _made(checkout, program, folder):
        return "", f"does not build: {problem}"
    test = _run(checkout, program, exec_options, folder, FileRun())
    said = (folder / "run.out").read_text("utf-8", errors="replace")
    return said, test.why if test.why.startswith("took more") else ""


def _made(checkout: Checkout, program: Program, folder: Path, builds: Path | None = None) -> str:
    """Have a program in `folder` as it is run; what is wrong with that."""
    if program.script:
        return _written(checkout, program, folder)
    return build(checkout, program, folder, builds)


def _written(checkout: Checkout, program: Program, folder: Path) -> str:
    """Copy and edit a script's folder, with links to what lies beside it in the repository."""
    shutil.rmtree(folder, ignore_errors=True)
    place = folder / program.folder
    shutil.copytree(checkout.folder / program.folder, place)
    for other in checkout.folder.iterdir():
        if not (folder / other.name).exists():
            (folder / other.name).symlink_to(other)
    return edited(program, place)


def command_of(
    python: str,
    program: Program,
    exec_options: list[str] | None,
    report: Path,
    before: Sequence[str] = (),
) -> list[str]:
    """What runs a program: itself on a real GPU, else `ptxkit exec` with the devices that it needs; `before`
    are words of a command around it."""
    file = f"{program.folder}/{program.script}"
    tested = ["-m", "pytest", "-q"] if program.pytest else []
    start = [python, *tested, file] if program.script else [f"./{Path(program.name).name}"]
    command = [*before, *start, *program.arguments.split()]
    if exec_options is None:
        return command
    device = ["--devices", str(program.devices)]
    if program.arch:
        device += ["--arch", program.arch]
    virtual = [python, "-m", "ptxkit", "exec", *device, *exec_options, "--report", str(report)]
    return [*virtual, "--", *command]


def _run(
    checkout: Checkout,
    program: Program,
    exec_options: list[str] | None,
    folder: Path,
    found: FileRun,
    before: Sequence[str] = (),
) -> Test:
    report, output = folder / "report.sarif", folder / "run.out"
    command = command_of(checkout.python, program, exec_options, report, before)
    environment = checkout.environment()
    # A real GPU's runtime may lie nowhere but beside nvcc.
    if program.links or (exec_options is None and not program.script):
        libraries = [*map(str, checkout.library_folders()), environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    with output.open("w") as log:
        code = exit_code(command, folder, log, environment, checkout.suite.test_seconds)
    if code is None:
        return Test("failed", f"took more than {checkout.suite.test_seconds} s")
    if exec_options is not None:
        take_report(found, report, output)
    said = output.read_text("utf-8", errors="replace")
    if code == 0 and re.search(program.right, said):
        return Test("passed")
    return Test("failed", why_it_failed(said, code))


def why_it_failed(said: str, code: int) -> str:
    """The first error that was found; else the last line that the program wrote, and how it ended."""
    if error := re.search(r"error\[P\d+\].*", said):
        return error[0]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    end = next((at for at, line in enumerate(lines) if line.startswith("ptxkit exec:")), len(lines))
    return f"exit code {code}: {lines[end - 1] if end else 'it says nothing'}"
