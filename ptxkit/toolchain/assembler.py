"""NVIDIA's assembler as a second opinion: nvJitLink in a process of its own, or the `ptxas` on PATH.

    assembly = assemble(parse("gemv.ptx"))
    assembly.diagnostics      what the assembler says, on the source's lines
    assembly.cubin            machine code, None where it refused

Some texts crash the assembler, so it runs in a process of its own, see `ptxkit.toolchain.nvjitlink`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxkit import targets
from ptxkit.asm import Module
from ptxkit.asm.assembler_log import ResourceUsage, read_log, read_usage
from ptxkit.asm.tree import Directive, Name
from ptxkit.asm.write import write
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, error, listing
from ptxkit.targets import Target
from ptxkit.toolchain.nvjitlink import MISSING

TIMEOUT = 120.0
"""Seconds that the assembler may take."""
OLDEST = 75
"""The oldest architecture that assemblers of CUDA 13 make code for; older PTX is assembled for it."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What the assembler made of a module.

    Attributes:
        assembler: its name and version: `nvJitLink 13.0`.
        target: what it made code for: `sm_90a`.
        cubin: machine code, an ELF image; None where it refused the text.
        diagnostics: what it said.
        usage: what each kernel and function uses, by its name.
    """

    assembler: str
    target: str
    cubin: bytes | None
    diagnostics: tuple[Diagnostic, ...]
    usage: Mapping[str, ResourceUsage]

    @property
    def accepted(self) -> bool:
        """Whether there is machine code."""
        return self.cubin is not None


@dataclass(frozen=True, slots=True)
class _Outcome:
    assembler: str
    cubin: bytes | None
    log: str


def assemble(
    module: Module,
    target: str | None = None,
    timeout: float = TIMEOUT,
    line_info: bool = False,
    toolkit_first: bool = False,
) -> Assembly:
    """Have a module assembled; by nvJitLink where it is installed, else by the `ptxas` on PATH.

    Args:
        module: what `parse` gave, or the builder made.
        target: `sm_90a`; None: the file's own `.target`.
        timeout: seconds that it may take.
        line_info: whether the machine code says which PTX line each instruction comes from.
        toolkit_first: whether to ask the `ptxas` on PATH first.

    Raises:
        PtxkitError: P305, there is no such target; P716, there is no assembler; P717, it crashed;
            P718, it took too long.
    """
    architecture = _architecture(module, target)
    text = write(module)
    source = module.source
    if source is None or source.text != text:
        source = Source(source.name if source else "<module>", text)
    options = (f"-arch={architecture}", *(("-lineinfo",) if line_info else ()))
    outcome = _assemble(text.encode(errors="surrogateescape"), options, timeout, toolkit_first)
    return Assembly(
        outcome.assembler,
        architecture,
        outcome.cubin,
        tuple(read_log(outcome.log, source)),
        read_usage(outcome.log),
    )


def second_opinion(
    module: Module, found: Sequence[Diagnostic], target: str | None = None, timeout: float = TIMEOUT
) -> list[Diagnostic]:
    """The checker's findings with the assembler's put in.

    The assembler is heard on the lines where the checker has no error. Where it accepts what the checker
    refuses, a note says so, for then the checker is wrong.

    Args:
        module: what was checked.
        found: what the checker found in it.
        target: as for `assemble`.
        timeout: as for `assemble`.

    Raises:
        PtxkitError: what `assemble` raises.
    """
    assembly = assemble(module, target, timeout)
    known = {diagnostic.span.line for diagnostic in found if diagnostic.is_error and diagnostic.span}
    wrong = any(diagnostic.is_error and diagnostic.code[1] in "123" for diagnostic in found)
    heard = [d for d in assembly.diagnostics if d.span is None or d.span.line not in known]
    if wrong and assembly.accepted:
        heard.append(
            Diagnostic(
                "P719",
                f"{assembly.assembler} accepts this file for `{assembly.target}`",
                severity=Severity.NOTE,
                source=module.source,
                help="please report the statement that ptxkit refuses",
            )
        )
    return sorted(
        [*found, *heard], key=lambda d: (d.span.line, d.span.column) if d.span else (sys.maxsize, 0)
    )


def _architecture(module: Module, asked: str | None) -> str:
    target: Target | None
    if asked is not None:
        target = targets.parse(asked)
        if target is None:
            known = listing(targets.SUPPORTED[:8])
            raise error("P305", f"there is no target `{asked}`", help=f"targets are {known}, ..")
    else:
        target = _own_target(module)
    if target is None or target.number < OLDEST:
        return f"sm_{OLDEST}"
    # The `sm_101` of CUDA 12 has been called `sm_110` since CUDA 13.
    return target.name.replace("sm_101", "sm_110")


def _own_target(module: Module) -> Target | None:
    for statement in module.statements:
        if isinstance(statement, Directive) and statement.name == "target":
            for argument in statement.arguments:
                found = targets.parse(argument.name) if isinstance(argument, Name) else None
                if found is not None:
                    return found
    return None


def _assemble(text: bytes, options: Sequence[str], timeout: float, toolkit_first: bool) -> _Outcome:
    ptxas = shutil.which("ptxas")
    try:
        outcome = None if toolkit_first and ptxas else _by_nvjitlink(text, options, timeout)
        if outcome is None and ptxas is not None:
            outcome = _by_ptxas(ptxas, text, options, timeout)
    except subprocess.TimeoutExpired:
        message = f"the assembler had not finished after {timeout:g} s"
        raise error("P718", message, help="allow it more time, or give it less to do") from None
    if outcome is None:
        raise error(
            "P716",
            "there is no assembler here",
            help="`pip install 'ptxkit[ptxas]'` brings nvJitLink; a `ptxas` on PATH works, too",
        )
    return outcome


def _by_nvjitlink(text: bytes, options: Sequence[str], timeout: float) -> _Outcome | None:
    """What nvJitLink makes of it; None where it is not installed."""
    run = subprocess.run(
        [sys.executable, "-m", "ptxkit.toolchain.nvjitlink", *options],
        input=text,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    if run.returncode == MISSING:
        return None
    head, _, cubin = run.stdout.partition(b"\n")
    if run.returncode != 0:
        raise _crash("nvJitLink", run.returncode, run.stderr)
    said = json.loads(head)
    return _Outcome(f"nvJitLink {said['version']}", cubin or None, said["log"])


def _by_ptxas(ptxas: str, text: bytes, options: Sequence[str], timeout: float) -> _Outcome:
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder) / "input.ptx", Path(folder) / "image.cubin"
        source.write_bytes(text)
        run = subprocess.run(
            [ptxas, *options, "-v", str(source), "-o", str(image)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        if run.returncode < 0:
            raise _crash("ptxas", run.returncode, run.stderr)
        log = (run.stdout + run.stderr).decode(errors="replace")
        cubin = image.read_bytes() if run.returncode == 0 and image.exists() else None
    return _Outcome(f"ptxas {_version_of(ptxas, timeout)}", cubin, log)


def _version_of(ptxas: str, timeout: float) -> str:
    run = subprocess.run(
        [ptxas, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
    )
    found = re.search(rb"release (\d+\.\d+)", run.stdout)
    return found[1].decode() if found else "of an unknown version"


def _crash(assembler: str, code: int, stderr: bytes) -> PtxkitError:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    said = stderr.decode(errors="replace").strip().splitlines()[-1:]
    return error(
        "P717",
        f"{assembler} crashed ({how}) on this text",
        notes=said,
        help="remove statements until it succeeds, and report the one that crashes it to NVIDIA",
    )
