"""A suite whose tests are programs of nvcc: each is built in a copy of its folder, then run once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

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
    arguments: str = ""
    flags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    edits: list[list[str]] = field(default_factory=list)
    devices: int = 1

    @property
    def changes(self) -> list[str]:
        """What is not as in the repository, in words."""
        told = [f"arguments {self.arguments}"] if self.arguments else []
        return told + [f"{file}: {old} becomes {new}" for file, old, new in self.edits]


def programs(table: str) -> dict[str, Program]:
    """The programs of a table beside suites.toml, by their folders."""
    rows = tomllib.loads((HERE / table).read_text("utf-8"))["programs"]
    return {name: Program(name, **row) for name, row in rows.items()}


def run_program(checkout: Checkout, name: str, exec_options: list[str] | None, work: Path) -> FileRun:
    """Build a program and run it; its one test passes if it ends with 0 and says that it is right.

    Args:
        checkout: the suite.
        name: the program's folder, relative to the suite's.
        exec_options: of `ptxkit exec`; None on a real GPU.
        work: for the copy, logs and reports.
    """
    program, start = programs(checkout.suite.programs)[name], time.monotonic()
    found, node = FileRun(), f"{name}::{TEST}"
    folder = work / name
    if problem := _build(checkout, program, folder):
        found.tests[node] = Test("failed", f"does not build: {problem}")
    else:
        found.tests[node] = _run(checkout, program, exec_options, folder, found)
    found.seconds = time.monotonic() - start
    return found


def _build(checkout: Checkout, program: Program, folder: Path) -> str:
    """Copy, edit and compile a program into `folder`; the first error if that fails."""
    source = checkout.folder / program.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    for file, old, new in program.edits:
        text = (folder / file).read_text("utf-8", errors="surrogateescape")
        if old not in text:
            return f"{file} has no {old!r}"
        (folder / file).write_text(text.replace(old, new), "utf-8", errors="surrogateescape")
    listed = re.search(r"add_executable\(\s*\S+([^)]*)\)", (folder / "CMakeLists.txt").read_text("utf-8"))
    assert listed, f"{source}/CMakeLists.txt makes no program"
    sources = [str(source / each) if each.startswith("..") else each for each in listed[1].split()]
    common = [*checkout.suite.options, *_toolkit(checkout, program, folder), *program.flags]
    common += [f"-I{checkout.folder.parent / 'Common'}", f"-I{source}"]
    commands = [["nvcc", *common, *sources, "-o", Path(program.name).name]]
    for output, kernel in program.made.items():
        commands.append(["nvcc", *common, f"-{Path(output).suffix[1:]}", kernel, "-o", output])
    with (folder / "build.out").open("w") as log:
        for command in commands:
            done = subprocess.run(
                command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, timeout=BUILD_SECONDS
            )
            if done.returncode:
                return _first_error((folder / "build.out").read_text("utf-8", errors="replace"))
    return ""


def _first_error(log: str) -> str:
    lines = log.splitlines()
    return next((line for line in lines if re.search("error|undefined", line)), lines[-1] if lines else "")


def _toolkit(checkout: Checkout, program: Program, folder: Path) -> list[str]:
    """Options that find the libraries that a program links, in the environment's packages.

    A machine without a GPU may have no driver to link: a library of its name has all that cuda.h names.
    """
    if not program.links:
        return []
    toolkit = checkout.toolkit()
    found = [f"-I{toolkit / 'include'}"]
    for library in program.links:
        if library == "cuda":
            names = re.findall(r"\bcu[A-Z]\w+", (toolkit / "include" / "cuda.h").read_text("utf-8"))
            code = "".join(f"void {name}(void) {{}}\n" for name in sorted(set(names)))
            stub = folder / "libcuda.so"
            command = ["gcc", "-shared", "-w", "-Wl,-soname,libcuda.so.1", "-x", "c", "-", "-o", str(stub)]
            subprocess.run(command, check=True, input=code.encode())
            found += ["-Xlinker", str(stub)]
        else:
            (path,) = (toolkit / "lib").glob(f"lib{library}.so.*")
            found += ["-Xlinker", str(path)]
    return found


def _run(
    checkout: Checkout, program: Program, exec_options: list[str] | None, folder: Path, found: FileRun
) -> Test:
    report, output = folder / "report.sarif", folder / "run.out"
    command = [f"./{Path(program.name).name}", *program.arguments.split()]
    if exec_options is not None:
        devices = ["--devices", str(program.devices)]
        virtual = [checkout.python, "-m", "ptxkit", "exec", *devices, *exec_options]
        command = [*virtual, "--report", str(report), "--", *command]
    environment = checkout.environment()
    if program.links:
        libraries = [str(checkout.toolkit() / "lib"), environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    with output.open("w") as log:
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
            process.wait(checkout.suite.test_seconds)
        except subprocess.TimeoutExpired:
            kill(process)
            return Test("failed", f"took more than {checkout.suite.test_seconds} s")
    if exec_options is not None:
        take_report(found, report, output)
    said = output.read_text("utf-8", errors="replace")
    if process.returncode == 0 and re.search(program.right, said):
        return Test("passed")
    return Test("failed", why_it_failed(said, process.returncode))


def why_it_failed(said: str, code: int) -> str:
    """The first error that was found; else the last line that the program wrote, and how it ended."""
    if error := re.search(r"error\[P\d+\].*", said):
        return error[0]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    end = next((at for at, line in enumerate(lines) if line.startswith("ptxkit exec:")), len(lines))
    return f"exit code {code}: {lines[end - 1] if end else 'it says nothing'}"
