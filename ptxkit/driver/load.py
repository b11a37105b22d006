"""Loading: PTX, cubins and fatbins into the driver, its log into diagnostics.

PTX is parsed and checked first, and its `.version` and `.target` compared with driver and GPU, so that what
the driver would refuse in its own words is refused in ours. Error and info logs are always asked for.
CUDA driver API, module management and JIT options.
"""

from __future__ import annotations

import contextlib
import ctypes
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.asm.assembler_log import ResourceUsage, read_log, read_usage
from ptxkit.asm.check import check as check_module
from ptxkit.asm.tree import Directive, Module
from ptxkit.asm.write import write
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, Span
from ptxkit.driver.binary import FATBIN, check_binary, is_binary
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, check, failure

LOG_SIZE = 1 << 16
"""Bytes of each JIT log that are kept."""


@dataclass(frozen=True, slots=True)
class DriverImage:
    """One thing to load.

    Attributes:
        name: for messages.
        data: what the driver gets; PTX ends with a zero byte.
        module: the parsed PTX; None for a cubin or a fatbin.
        source: the PTX text that the driver's line numbers refer to.
    """

    name: str
    data: bytes
    module: Module | None = None
    source: Source | None = None

    @property
    def is_ptx(self) -> bool:
        """Whether the driver has to compile it."""
        return self.module is not None


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How the driver compiles.

    Attributes:
        line_info: whether profilers can show the PTX lines.
        max_registers: the most 32-bit registers of a thread, None: the compiler's choice.
        optimization: 0 to 4, None: the driver's default, 4.
    """

    line_info: bool = False
    max_registers: int | None = None
    optimization: int | None = None


class Loaded(NamedTuple):
    """A module in the driver.

    Attributes:
        handle: the `CUmodule`.
        images: what it was made of.
        findings: warnings of the driver's compiler.
        options: how it was compiled.
        usage: registers and spills by function, as far as the compiler said (it is silent where the
            driver's cache had the code already: see `usage_of`).
        machine_code: the cubin that was loaded, where it was linked from several images, or from PTX with
            line information; else None.
    """

    handle: Any
    images: tuple[DriverImage, ...]
    options: LoadOptions
    findings: tuple[Diagnostic, ...]
    usage: dict[str, ResourceUsage]
    machine_code: bytes | None = None


def load(
    context: CudaContext, sources: Sequence[str | Path | Module | bytes], options: LoadOptions
) -> Loaded:
    """Check, compile and load; several sources are linked into one module.

    Raises:
        PtxkitError: what `check` found (P1 to P4), P703 and P704 (version, target), P706 and P709 (the
            driver's compiler and linker), P710 (a binary file).
    """
    images = tuple(read(source) for source in sources)
    errors = [finding for image in images for finding in inspect(image, context) if finding.is_error]
    if errors:
        raise PtxkitError(errors)
    return compile_images(context, images, options)


def compile_images(context: CudaContext, images: tuple[DriverImage, ...], options: LoadOptions) -> Loaded:
    """Compile, link and load what has been inspected.

    Raises:
        PtxkitError: P706, P709, P710 and what else the driver has against it.
    """
    log = Log(options)
    with context:
        linked = None
        if len(images) > 1 or (options.line_info and images[0].is_ptx):
            linked = _link(images, log)
        data = linked or images[0].data
        source = images[0].source if len(images) == 1 else None
        status, handle = bindings().cuModuleLoadDataEx(data, *log.options())
        if status:
            raise log.failure(status, ", ".join(image.name for image in images), source)
    return Loaded(handle, images, options, tuple(log.findings(source)), read_usage(log.info), linked)


def usage_of(
    context: CudaContext, images: Sequence[DriverImage], options: LoadOptions
) -> dict[str, ResourceUsage]:
    """What the functions in PTX use, from a compilation of its own: cached code has no log."""
    found: dict[str, ResourceUsage] = {}
    for image in images:
        if image.is_ptx:
            # The cache goes by the text; a comment that no text had before leads past it.
            text = image.data.removesuffix(b"\0") + f"// {uuid.uuid4()}\n\0".encode()
            log = Log(options)
            with context:
                status, handle = bindings().cuModuleLoadDataEx(text, *log.options())
                # What another image defines is missing here; the log is whole all the same.
                if not status:
                    bindings().cuModuleUnload(handle)
            found |= read_usage(log.info)
    return found


def read(source: str | Path | Module | bytes) -> DriverImage:
    """A source as the driver takes it: PTX text, a path to PTX, cubin or fatbin, a parsed module, or bytes.

    Raises:
        PtxkitError: P710, bytes that are neither cubin nor fatbin; P110 to P112, a file that can't be read.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _binary("<bytes>", bytes(source))
    if isinstance(source, Module):
        return _ptx(source)
    if isinstance(source, str) and "\n" in source:
        return _ptx(parse(source))
    with contextlib.suppress(OSError), open(source, "rb") as file:
        magic = file.read(4)
        if is_binary(magic):
            return _binary(str(source), magic + file.read())
    return _ptx(parse(Path(source)))


def inspect(image: DriverImage, context: CudaContext) -> list[Diagnostic]:
    """What rules out loading PTX on this GPU, and the warnings of `check`."""
    if image.module is None:
        return []
    found = [*check_module(image.module)]
    if not any(finding.is_error for finding in found):
        driver_version = check(bindings().cuDriverGetVersion(), "ask for the driver's version")
        found += version_findings(image.module, cuda_version(driver_version))
        found += target_findings(image.module, capability(context.ordinal))
    return [finding if finding.source else replace(finding, source=image.source) for finding in found]


def cuda_version(number: int) -> targets.Version:
    """The CUDA version of a number as `cuDriverGetVersion` gives it: 13000 is (13, 0)."""
    return number // 1000, number % 1000 // 10


def capability(ordinal: int) -> tuple[int, int]:
    """A GPU's compute capability."""
    attribute = bindings().CUdevice_attribute
    device = check(bindings().cuDeviceGet(ordinal), f"open GPU {ordinal}")
    major, minor = (
        check(bindings().cuDeviceGetAttribute(which, device), "ask for the compute capability")
        for which in (
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    return major, minor


def version_findings(module: Module, cuda: targets.Version) -> list[Diagnostic]:
    """P703 where `.version` is newer than a driver for that CUDA version takes."""
    newest = targets.newest_version_for_cuda(cuda)
    if module.version is None or module.version <= newest:
        return []
    release = targets.RELEASES.get(module.version)
    needs = f"CUDA {targets.show(release.cuda)}" if release else "a newer CUDA"
    if release and release.driver:
        needs += f" (r{release.driver} or newer)"
    message = (
        f"expected `.version` {targets.show(newest)} or older for a driver of CUDA {targets.show(cuda)}, "
        f"found {targets.show(module.version)}"
    )
    help = (
        f"write `.version {targets.show(newest)}` if the file uses nothing newer, make machine code with "
        f"`ptxkit asm FILE -o OUT.cubin`, or install a driver for {needs}"
    )
    return [Diagnostic("P703", message, _argument(module, "version"), help=help, source=module.source)]


def target_findings(module: Module, capability: tuple[int, int]) -> list[Diagnostic]:
    """P704 where PTX for the module's `.target` does not run on that compute capability."""
    target = targets.parse(module.target) if module.target else None
    if target is None or target.runs_on(capability):
        return []
    major, minor = target.capability
    where = {
        "a": f"compute capability {major}.{minor} alone",
        "f": f"compute capability {major}.{minor} and newer ones of its family",
        "": f"compute capability {major}.{minor} or newer",
    }[target.suffix]
    found = f"{capability[0]}.{capability[1]}"
    message = f"`.target {target}` runs on {where}, found a GPU of compute capability {found}"
    help = (
        f"run it with `--device emu`; or lower it to `.target sm_{capability[0]}{capability[1]}` if nothing "
    )
    help += "in the file needs more"
    return [Diagnostic("P704", message, _argument(module, "target"), help=help, source=module.source)]


class Log:
    """The two logs of one compilation, and what they say."""

    def __init__(self, options: LoadOptions) -> None:
        self._buffers = bytearray(LOG_SIZE), bytearray(LOG_SIZE)
        jit = bindings().CUjit_option
        chosen: list[tuple[Any, Any]] = [
            (jit.CU_JIT_ERROR_LOG_BUFFER, self._buffers[0]),
            (jit.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_SIZE),
            (jit.CU_JIT_INFO_LOG_BUFFER, self._buffers[1]),
            (jit.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_SIZE),
            (jit.CU_JIT_LOG_VERBOSE, 1),
        ]
        if options.line_info:
            chosen.append((jit.CU_JIT_GENERATE_LINE_INFO, 1))
        if options.max_registers is not None:
            chosen.append((jit.CU_JIT_MAX_REGISTERS, options.max_registers))
        if options.optimization is not None:
            chosen.append((jit.CU_JIT_OPTIMIZATION_LEVEL, options.optimization))
        self._chosen = chosen

    def options(self) -> tuple[int, list[Any], list[Any]]:
        """The options as the driver's calls take them: their number, names and values."""
        return len(self._chosen), [name for name, _ in self._chosen], [value for _, value in self._chosen]

    @property
    def errors(self) -> str:
        """The error log."""
        return self._buffers[0].partition(b"\0")[0].decode(errors="replace")

    @property
    def info(self) -> str:
        """The info log."""
        return self._buffers[1].partition(b"\0")[0].decode(errors="replace")

    def findings(self, source: Source | None) -> list[Diagnostic]:
        """Warnings in both logs."""
        found = read_log(self.info + "\n" + self.errors, source)
        return [finding for finding in found if finding.severity is Severity.WARNING]

    def failure(self, status: Any, names: str, source: Source | None) -> PtxkitError:
        """The error of a load that failed: what the log says, else what the status says."""
        found = [finding for finding in read_log(self.errors, source) if finding.is_error]
        if found:
            return PtxkitError(found)
        notes = tuple(f"log: {line}" for line in self.errors.splitlines() if line.strip())
        return failure(status, f"load `{names}`", notes)


def _link(images: Sequence[DriverImage], log: Log) -> bytes:
    """The cubin of several images."""
    driver = bindings()
    kinds = driver.CUjitInputType
    state = check(driver.cuLinkCreate(*log.options()), "begin to link")
    try:
        for image in images:
            kind = kinds.CU_JIT_INPUT_PTX if image.is_ptx else kinds.CU_JIT_INPUT_CUBIN
            if image.data.startswith(FATBIN):
                kind = kinds.CU_JIT_INPUT_FATBINARY
            name = image.name.encode()
            added = driver.cuLinkAddData(state, kind, image.data, len(image.data), name, 0, [], [])
            if added[0]:
                raise log.failure(added[0], image.name, image.source)
        status, address, size = driver.cuLinkComplete(state)
        if status:
            raise log.failure(status, ", ".join(image.name for image in images), None)
        return _bytes_at(address, size)
    finally:
        driver.cuLinkDestroy(state)


def _bytes_at(address: Any, size: int) -> bytes:
    return ctypes.string_at(int(address), size)


def _ptx(module: Module) -> DriverImage:
    text = write(module)
    source = module.source if module.source and module.source.text == text else Source("<module>", text)
    return DriverImage(source.name, text.encode() + b"\0", module, source)


def _binary(name: str, data: bytes) -> DriverImage:
    check_binary(name, data)
    return DriverImage(name, data)


def _argument(module: Module, name: str) -> Span | None:
    """Where the first argument of a module directive stands."""
    for statement in module.statements:
        if isinstance(statement, Directive) and statement.name == name:
            return (statement.arguments[0].span if statement.arguments else None) or statement.span
    return None
