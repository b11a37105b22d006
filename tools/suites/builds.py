"""Programs that nvcc builds: copied, edited, compiled, and kept for later runs while nothing changes.

A finished build is good as long as its commands, edits, compiler and the bytes of every file that was read
are what they were: `built.json` in its folder holds these.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .runner import exit_code
from .suite import HERE, Checkout

if TYPE_CHECKING:
    from .programs import Program

BUILD_SECONDS = 600
"""How long building a program may take."""
BETWEEN = "between"
"""The folder of what nvcc makes between sources and program; of it the PTX is kept."""
MARK = "built.json"
"""What a finished build was made of."""


def build(checkout: Checkout, program: Program, folder: Path, builds: Path | None = None) -> str:
    """Have a program built in `folder`; the first error if that fails.

    Args:
        checkout: the suite.
        program: of its table.
        folder: for the program, and what is beside its sources.
        builds: a folder of builds that are kept, of which a copy is taken.
    """
    if builds is None:
        return _build(checkout, program, folder)
    if problem := keep(checkout, program, builds):
        return problem
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(builds / program.name, folder)
    return ""


def keep(checkout: Checkout, program: Program, builds: Path) -> str:
    """Have a program built in a folder of builds, where it may lie already; the first error if that fails."""
    folder = builds / program.name
    return "" if _is_built(checkout, program, folder) else _build(checkout, program, folder)


def edited(program: Program, folder: Path) -> str:
    """Change a copy as the table says; what is wrong with that."""
    for file, old, new in program.edits:
        text = (folder / file).read_text("utf-8", errors="surrogateescape")
        if old not in text:
            return f"{file} has no {old!r}"
        (folder / file).write_text(text.replace(old, new), "utf-8", errors="surrogateescape")
    return ""


def _build(checkout: Checkout, program: Program, folder: Path) -> str:
    """Copy, edit and compile a program into `folder`; the first error if that fails."""
    origin = _origin(checkout, program)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(origin, folder)
    if problem := edited(program, folder):
        return problem
    between = folder / BETWEEN
    between.mkdir()
    commands = _commands(checkout, program, folder)
    if "cuda" in program.links:
        _driver(checkout, folder)
    with (folder / "build.out").open("w") as log:
        for command in commands:
            code = exit_code(command, folder, log, dict(os.environ), BUILD_SECONDS)
            if code is None:
                return f"took more than {BUILD_SECONDS} s"
            if code:
                return _first_error((folder / "build.out").read_text("utf-8", errors="replace"))
    read = _read_files(checkout, program, folder)
    for path in between.iterdir():
        if path.suffix != ".ptx":
            path.unlink()
    (folder / MARK).write_text(json.dumps(_made_of(checkout, program, folder, read), indent=1), "utf-8")
    return ""


def _is_built(checkout: Checkout, program: Program, folder: Path) -> bool:
    if not (folder / MARK).exists():
        return False
    then = json.loads((folder / MARK).read_text("utf-8"))
    return then == _made_of(checkout, program, folder, list(then["read"]))


def _made_of(checkout: Checkout, program: Program, folder: Path, read: list[str]) -> dict[str, Any]:
    """What a build depends on: `read` are files outside its folder, whose own are those of the repository."""
    origin = _origin(checkout, program)
    own = sorted(path for path in origin.rglob("*") if path.is_file())
    return {
        "compiler": _compiler(),
        "commands": _commands(checkout, program, folder),
        "edits": program.edits,
        "own": {str(path.relative_to(origin)): _hash(path) for path in own},
        "read": {path: _hash(Path(path)) for path in read},
    }


def _read_files(checkout: Checkout, program: Program, folder: Path) -> list[str]:
    """Files outside a build's folder that its preprocessor reads."""
    options, sources = _parts(checkout, program, folder)
    command = ["nvcc", "-M", *options, *sources, *program.made.values()]
    rules = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    paths = {(folder / name).resolve() for name in re.findall(r"[^\s\\]+(?=\s|$)", rules)}
    outside = (path for path in paths if path.is_file() and not path.is_relative_to(folder.resolve()))
    return sorted(map(str, outside))


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "is not there"


@cache
def _compiler() -> str:
    return subprocess.check_output(["nvcc", "--version"], text=True)


def _origin(checkout: Checkout, program: Program) -> Path:
    """The folder of the repository that a program's is a copy of."""
    return checkout.folder / program.folder if program.folder else _own(checkout, program)


def _own(checkout: Checkout, program: Program) -> Path:
    """That of its first source."""
    named = program.sources + program.beside
    return (
        (checkout.folder / named[0]).parent if named else checkout.folder / (program.folder or program.name)
    )


def _commands(checkout: Checkout, program: Program, folder: Path) -> list[list[str]]:
    """What builds a program in `folder`."""
    options, sources = _parts(checkout, program, folder)
    start = ["nvcc", *options, "-keep", "-keep-dir", BETWEEN]
    commands = [[*start, *sources, "-o", Path(program.name).name]]
    for output, kernel in program.made.items():
        commands.append([*start, f"-{Path(output).suffix[1:]}", kernel, "-o", output])
    return commands


def _parts(checkout: Checkout, program: Program, folder: Path) -> tuple[list[str], list[str]]:
    """Options of a program's commands, and its sources."""
    origin, own = _origin(checkout, program), _own(checkout, program)
    sources = [_copied(checkout.folder / path, origin) for path in program.sources + program.beside]
    if program.host:
        sources.append(str(HERE / "hosts" / program.host))
    options = [*checkout.suite.options, *_toolkit(checkout, program, folder), *program.flags]
    if program.arch:
        compute = program.arch.replace("sm", "compute")
        options += ["-gencode", f"arch={compute},code={compute}"]
    options += [f"-I{checkout.folder / headers}" for headers in checkout.suite.includes]
    return [*options, f"-I{own}"], sources or _listed(origin)


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
    """Options that find the libraries that a program links, in the environment's packages or beside nvcc."""
    if not program.links:
        return []
    found = [f"-I{toolkit / 'include'}" for toolkit in checkout.toolkits()]
    for library in program.links:
        if library == "cuda":
            found += ["-Xlinker", str(folder / "libcuda.so")]
        else:
            places = (sorted(folder.glob(f"lib{library}.so.*")) for folder in checkout.library_folders())
            found += ["-Xlinker", str(next(paths[0] for paths in places if paths))]
    return found


def _driver(checkout: Checkout, folder: Path) -> None:
    """A library of all that cuda.h names, to link as the driver, which a machine without a GPU may lack."""
    headers = (toolkit / "include" / "cuda.h" for toolkit in checkout.toolkits())
    header = next(header for header in headers if header.exists())
    names = re.findall(r"\bcu[A-Z]\w+", header.read_text("utf-8"))
    code = "".join(f"void {name}(void) {{}}\n" for name in sorted(set(names)))
    command = ["gcc", "-shared", "-w", "-Wl,-soname,libcuda.so.1", "-x", "c", "-", "-o", "libcuda.so"]
    subprocess.run(command, check=True, input=code.encode(), cwd=folder)
