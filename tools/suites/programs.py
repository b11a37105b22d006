"""A suite whose tests are programs: each is copied, edited, of nvcc's built, and run once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .runner import FileRun, Test, kill, take_report
from .suite import HERE, Checkout

BUILD_SECONDS = 600
"""How long building a program may take."""
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
) -> FileRun:
    """Build a program and run it; its one test passes if it ends with 0 and says that it is right.

    Args:
        checkout: the suite.
        name: the program's, in the suite's table.
        exec_options: of `ptxkit exec`; None on a real GPU.
        work: for the copy, logs and reports.
        before: words of a command that runs the one that follows.
        built: whether it lies in `work` already, built.
    """
    program, start = programs(checkout.suite.programs)[name], time.monotonic()
    found, node = FileRun(), f"{name}::{TEST}"
    folder = work / name
    build = _written if program.script else _build
    if problem := "" if built else build(checkout, program, folder):
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
    if problem := (_written if program.script else _build)(checkout, program, folder):
        return "", f"does not build: {problem}"
    test = _run(checkout, program, exec_options, folder, FileRun())
    said = (folder / "run.out").read_text("utf-8", errors="replace")
    return said, test.why if test.why.startswith("took more") else ""


def _written(checkout: Checkout, program: Program, folder: Path) -> str:
    """Copy and edit a script's folder, with links to what lies beside it in the repository."""
    shutil.rmtree(folder, ignore_errors=True)
    place = folder / program.folder
    shutil.copytree(checkout.folder / program.folder, place)
    for other in checkout.folder.iterdir():
        if not (folder / other.name).exists():
            (folder / other.name).symlink_to(other)
    return _edited(program, place)


def _edited(program: Program, folder: Path) -> str:
    """Change a copy as the table says; what is wrong with that."""
    for file, old, new in program.edits:
        text = (folder / file).read_text("utf-8", errors="surrogateescape")
        if old not in text:
            return f"{file} has no {old!r}"
        (folder / file).write_text(text.replace(old, new), "utf-8", errors="surrogateescape")
    return ""


def _build(checkout: Checkout, program: Program, folder: Path) -> str:
    """Copy, edit and compile a program into `folder`; the first error if that fails."""
    named = [checkout.folder / source for source in program.sources + program.beside]
    own = named[0].parent if named else checkout.folder / (program.folder or program.name)
    origin = checkout.folder / program.folder if program.folder else own
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(origin, folder)
    if problem := _edited(program, folder):
        return problem
    sources = [_copied(path, origin) for path in named]
    if program.host:
        sources.append(str(HERE / "hosts" / program.host))
    sources = sources or _listed(origin)
    common = [*checkout.suite.options, *_toolkit(checkout, program, folder), *program.flags]
    if program.arch:
        compute = program.arch.replace("sm", "compute")
        common += ["-gencode", f"arch={compute},code={compute}"]
    common += [f"-I{checkout.folder / headers}" for headers in checkout.suite.includes]
    common.append(f"-I{own}")
    commands = [["nvcc", *common, *sources, "-o", Path(program.name).name]]
    for output, kernel in program.made.items():
        commands.append(["nvcc", *common, f"-{Path(output).suffix[1:]}", kernel, "-o", output])
    with (folder / "build.out").open("w") as log:
        for command in commands:
            code = _exit_code(command, folder, log, dict(os.environ), BUILD_SECONDS)
            if code is None:
                return f"took more than {BUILD_SECONDS} s"
            if code:
                return _first_error((folder / "build.out").read_text("utf-8", errors="replace"))
    return ""


def _copied(source: Path, origin: Path) -> str:
    """A source as seen from the copy of `origin`: of the copy, if it lies there."""
    return str(source.relative_to(origin) if source.is_relative_to(origin) else source)


def _listed(origin: Path) -> list[str]:
    """The sources of which a folder's CMakeLists.txt makes its program."""
    text = (origin / "CMakeLists.txt").read_text("utf-8")
    listed = re.search(r"add_executable\(\s*\S+([^)]*)\)", text)
    assert listed, f"{origin}/CMakeLists.txt makes no program"
    return [str(origin / each) if each.startswith("..") else each for each in listed[1].split()]


def _first_error(log: str) -> str:
    lines = log.splitlines()
    return next((line for line in lines if re.search("error|undefined", line)), lines[-1] if lines else "")


def _toolkit(checkout: Checkout, program: Program, folder: Path) -> list[str]:
    """Options that find the libraries that a program links, in the environment's packages or beside nvcc.

    A machine without a GPU may have no driver to link: a library of its name has all that cuda.h names.
    """
    if not program.links:
        return []
    found = [f"-I{toolkit / 'include'}" for toolkit in checkout.toolkits()]
    for library in program.links:
        if library == "cuda":
            headers = (toolkit / "include" / "cuda.h" for toolkit in checkout.toolkits())
            header = next(header for header in headers if header.exists())
            names = re.findall(r"\bcu[A-Z]\w+", header.read_text("utf-8"))
            code = "".join(f"void {name}(void) {{}}\n" for name in sorted(set(names)))
            stub = folder / "libcuda.so"
            command = ["gcc", "-shared", "-w", "-Wl,-soname,libcuda.so.1", "-x", "c", "-", "-o", str(stub)]
            subprocess.run(command, check=True, input=code.encode())
            found += ["-Xlinker", str(stub)]
        else:
            places = (sorted(folder.glob(f"lib{library}.so.*")) for folder in checkout.library_folders())
            found += ["-Xlinker", str(next(paths[0] for paths in places if paths))]
    return found


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
        code = _exit_code(command, folder, log, environment, checkout.suite.test_seconds)
    if code is None:
        return Test("failed", f"took more than {checkout.suite.test_seconds} s")
    if exec_options is not None:
        take_report(found, report, output)
    said = output.read_text("utf-8", errors="replace")
    if code == 0 and re.search(program.right, said):
        return Test("passed")
    return Test("failed", why_it_failed(said, code))


def _exit_code(
    command: list[str], folder: Path, log: IO[str], environment: dict[str, str], seconds: int
) -> int | None:
    """How a process ends; None if it takes longer, and is killed with those that it has started."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        return None


def why_it_failed(said: str, code: int) -> str:
    """The first error that was found; else the last line that the program wrote, and how it ended."""
    if error := re.search(r"error\[P\d+\].*", said):
        return error[0]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    end = next((at for at, line in enumerate(lines) if line.startswith("ptxkit exec:")), len(lines))
    return f"exit code {code}: {lines[end - 1] if end else 'it says nothing'}"
