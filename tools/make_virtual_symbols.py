"""The tables of `ptxkit/virtual/symbols` from a toolkit's headers: names, versions and types of parameters.

    python tools/make_virtual_symbols.py INCLUDE.. --libraries FOLDER [--only TABLE..]

INCLUDE are folders with cuda.h, cudaTypedefs.h, cudaProfiler.h, nvml.h, driver_types.h and cublas_api.h, the
newest first; FOLDER has libcudart.so.13, libcublas.so.13 and libcublasLt.so.13. Of these nothing is read but
the names that they export, which a linker reads, too.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).parents[1] / "ptxkit/virtual/symbols"
STUBS = {
    "GL/gl.h": "typedef unsigned int GLuint; typedef unsigned int GLenum;",
    "EGL/egl.h": "typedef int EGLint; typedef void *EGLSyncKHR;",
    "EGL/eglext.h": "typedef void *EGLImageKHR; typedef void *EGLStreamKHR;",
    "vdpau/vdpau.h": "typedef unsigned VdpDevice; typedef int VdpGetProcAddress; "
    "typedef unsigned VdpVideoSurface; typedef unsigned VdpOutputSurface;",
}
"""Headers of other projects, of which only the names of types are needed."""

LETTERS = {
    "int": "i",
    "unsigned": "u",
    "unsigned int": "u",
    "uint32_t": "u",
    "GLuint": "u",
    "GLenum": "u",
    "VdpDevice": "u",
    "VdpVideoSurface": "u",
    "VdpOutputSurface": "u",
    "long long": "l",
    "long long int": "l",
    "int64_t": "l",
    "unsigned long long": "q",
    "uint64_t": "q",
    "cuuint32_t": "u",
    "cuuint64_t": "q",
    "size_t": "z",
    "char": "b",
    "unsigned char": "b",
    "unsigned short": "h",
    "float": "f",
    "double": "d",
    "cuComplex": "c",
    "cuDoubleComplex": "w",
    "CUdevice": "i",
    "CUdevice_v1": "i",
    "CUdeviceptr": "a",
    "CUdeviceptr_v1": "u",
    "CUdeviceptr_v2": "a",
    "CUtexObject": "q",
    "CUsurfObject": "q",
    "CUmemGenericAllocationHandle": "q",
    "CUlogicalEndpointId": "q",
    "CUmemLocation": "s8",
    "CUipcMemHandle": "s64",
    "CUipcEventHandle": "s64",
    "CUeglFrame": "s64",
    "cudaEglFrame": "s64",
    "dim3": "s12",
    "cudaMemLocation": "s8",
    "cudaIpcMemHandle_t": "s64",
    "cudaIpcEventHandle_t": "s64",
    "cudaPitchedPtr": "s32",
    "cudaExtent": "s24",
    "cudaTextureObject_t": "q",
    "cudaSurfaceObject_t": "q",
    "cudaChannelFormatDesc": "s20",
}


RETURNS_TEXT = ("cudaGetErrorName", "cudaGetErrorString")
NVML_TEXT = "nvmlErrorString - result:i ->p"
"""The one function of NVML's that returns no error code."""
CUBLAS_RESULTS = {
    "(?:cublasStatus_t|cublasStatus)": "",
    r"const\s+char\s*\*": " ->p",
    "size_t": " ->z",
    "int": "",
    "unsigned": " ->u",
    "void": " ->v",
    "float": " ->f",
    "(?:double|cuComplex|cuDoubleComplex)": " ->d",
}
"""What functions of cuBLAS return. No letter stands for a complex number as a result: what gives one is of
the legacy interface, where functions do nothing, and the zero of `d` is that of both parts."""
IN_MEMORY = ("cudaCreateChannelDesc",)
"""What returns a structure in memory, whose address x86-64 passes as the first argument and returns."""

HOST_RUNTIME = {
    "__cudaRegisterFatBinary": "fatCubin:p ->p",
    "__cudaRegisterFatBinaryEnd": "fatCubinHandle:p ->v",
    "__cudaUnregisterFatBinary": "fatCubinHandle:p ->v",
    "__cudaRegisterFunction": "fatCubinHandle:p hostFun:p deviceFun:p deviceName:p thread_limit:i "
    "tid:p bid:p bDim:p gDim:p wSize:p ->v",
    "__cudaRegisterVar": "fatCubinHandle:p hostVar:p deviceAddress:p deviceName:p ext:i size:z constant:i "
    "global:i ->v",
    "__cudaRegisterManagedVar": "fatCubinHandle:p hostVarPtrAddress:p deviceAddress:p deviceName:p ext:i "
    "size:z constant:i global:i ->v",
    "__cudaRegisterHostVar": "fatCubinHandle:p deviceName:p hostVar:p size:z ->v",
    "__cudaInitModule": "fatCubinHandle:p ->b",
    "__cudaPushCallConfiguration": "gridDim:s12 blockDim:s12 sharedMem:z stream:p ->u",
    "__cudaPopCallConfiguration": "gridDim:p blockDim:p sharedMem:p stream:p",
    "__cudaGetKernel": "kernel:p entryFuncAddr:p",
    "__cudaLaunchKernel": "kernel:p gridDim:s12 blockDim:s12 args:p sharedMem:z stream:p",
    "__cudaLaunchKernel_ptsz": "kernel:p gridDim:s12 blockDim:s12 args:p sharedMem:z stream:p",
}
"""What nvcc's own host code calls, as crt/host_runtime.h of the toolkit declares it."""


def preprocessed(
    includes: list[Path], *headers: str, define: tuple[str, ...] = (), language: str = "c"
) -> str:
    """Headers after the preprocessor."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STUBS.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n")
        source = Path(folder, "all.c")
        source.write_text("#include <stddef.h>\n" + "".join(f"#include <{name}>\n" for name in headers))
        command = ["gcc", "-x", language, "-E", "-P", *(f"-D{name}" for name in define)]
        command += [f"-I{path}" for path in (*includes, folder)]
        return subprocess.run([*command, source], capture_output=True, text=True, check=True).stdout


class Types:
    """What letter stands for a C type."""

    def __init__(self, text: str) -> None:
        self.enums = set(
            re.findall(r"\}\s*(\w+)\s*;", " ".join(re.findall(r"enum[^;{]*\{[^}]*\}\s*\w*\s*;", text)))
        )
        self.enums |= set(re.findall(r"enum\s+(\w+)\s*\{", text))
        self.aliases = dict(
            (new, old)
            for old, new in re.findall(
                r"typedef\s+(?:enum\s+|struct\s+)?((?:unsigned\s+|long\s+)*\w+)\s+(\w+)\s*;", text
            )
        )
        self.pointers = set(re.findall(r"typedef\s+[\w\s]+\*\s*(\w+)\s*;", text))
        self.pointers |= set(re.findall(r"\(\s*(?:\w+\s*)?\*\s*(\w+)\s*\)\s*\(", text))

    def letter(self, type_name: str) -> str:
        """One of `ptxkit.virtual.abi.TYPES`."""
        name = re.sub(r"\b(const|struct|enum|volatile)\b", "", type_name).strip()
        while True:
            if "*" in name or "[" in name or name in self.pointers:
                return "p"
            if name in LETTERS:
                return LETTERS[name]
            if name in self.enums:
                return "i"
            if name not in self.aliases:
                raise SystemExit(f"no letter for the type `{type_name}`")
            name = self.aliases[name]


def declared(text: str, result: str, prefix: str) -> Iterator[tuple[str, str]]:
    """The functions that return a type: name, parameters."""
    pattern = rf"\b{result}\s+(?:\w+\s+)?({prefix}\w+)\s*\(([^;{{]*)\)\s*(?:__attribute__[^;]*)?;"
    seen: set[str] = set()
    for match in re.finditer(pattern, text):
        if match[1] not in seen:
            seen.add(match[1])
            yield match[1], match[2]


def parameters(text: str, types: Types) -> str:
    """`dptr:p bytesize:z`."""
    text = re.sub(r"=\s*[\w()]+", "", text)
    found = []
    for number, part in enumerate(re.split(r",(?![^()]*\))", text)):
        part = part.strip()
        if part in ("void", ""):
            continue
        if match := re.search(r"\(\s*\w*\s*\*\s*(\w+)\s*\)", part):
            found.append(f"{match[1]}:p")
            continue
        match = re.fullmatch(r"(.*?[\s*&])(\w+)\s*((?:\[\w*\])*)", part, re.S)
        name, kind = (match[2], match[1] + (match[3] or "")) if match else (f"p{number}", part)
        found.append(f"{name}:{types.letter(kind.strip())}")
    return " ".join(found)


def driver(includes: list[Path]) -> list[str]:
    """A line a symbol of libcuda."""
    headers = ("cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h")
    text = preprocessed(includes, *headers, define=("__CUDA_API_VERSION_INTERNAL",))
    types = Types(text)
    versions: dict[tuple[str, str], list[int]] = {}
    for header in (
        "cudaTypedefs.h",
        "cudaGLTypedefs.h",
        "cudaEGLTypedefs.h",
        "cudaVDPAUTypedefs.h",
        "cudaProfilerTypedefs.h",
    ):
        path = next(folder / header for folder in includes if (folder / header).exists())
        for name, version, suffix in re.findall(r"PFN_(cu\w+?)_v(\d+)(_pt\w+)?\)", path.read_text()):
            versions.setdefault((name, suffix), []).append(int(version))
    lines = []
    symbols = dict(declared(text, "CUresult", "cu"))
    revisions: dict[tuple[str, str], list[int]] = {}
    for symbol in symbols:
        base, revision, suffix = split(symbol)
        revisions.setdefault((base, suffix), []).append(revision)
    for symbol, given in sorted(symbols.items()):
        base, revision, suffix = split(symbol)
        known = sorted(set(versions.get((base, suffix), [])))
        held = sorted(revisions[base, suffix])
        # The newest revision is the newest version; a header leaves out none but old ones.
        at = held.index(revision) - len(held)
        version = known[at] if len(known) >= -at else 0
        lines.append(f"{symbol} {version or '-'} {parameters(given, types)}".strip())
    return lines


def split(symbol: str) -> tuple[str, int, str]:
    """A symbol's name, its revision and its suffix: ("cuMemAlloc", 2, "")."""
    match = re.fullmatch(r"(\w+?)(?:_v(\d))?(_pt[ds][sz])?", symbol)
    assert match
    return match[1], int(match[2] or 1), match[3] or ""


def exported(library: Path) -> list[str]:
    """The names of the functions that a library exports."""
    command = ["readelf", "--dyn-syms", "-W", library]
    dynamic = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"FUNC\s+GLOBAL\s+DEFAULT\s+\d+\s+(\w+)@@", dynamic.stdout)))


def cublas(includes: list[Path], headers: tuple[str, ...], library: Path) -> list[str]:
    """A line a symbol of a library of cuBLAS, without types where no header declares it."""
    known: dict[str, str] = {}
    for header in headers:  # one after the other: some exclude each other
        text = preprocessed(includes, header, language="c++")  # C has no half
        types = Types(text)
        for result, returned in CUBLAS_RESULTS.items():
            for name, given in declared(text, result, "cublas"):
                known[name] = parameters(given, types) + returned
    return [f"{symbol} - {known.get(symbol, '?').strip()}".strip() for symbol in exported(library)]


def runtime(includes: list[Path], library: Path) -> list[str]:
    """A line a symbol of libcudart, in the order of their names; without types where no header declares
    it."""
    text = preprocessed(includes, "cuda_runtime_api.h", define=("__CUDA_API_VERSION_INTERNAL",))
    types = Types(text)
    known = dict(declared(text, "cudaError_t", "cuda")) | dict(
        declared(text, r"(?:const\s+)?char\s*\*", "cuda")
    )
    known |= dict(declared(text, "cudaChannelFormatDesc", "cuda"))
    plain = preprocessed(includes, "cuda_runtime_api.h")
    known = dict(declared(plain, "cudaError_t", "cuda")) | known
    lines = []
    for symbol in exported(library):
        given = known.get(symbol, known.get(re.sub(r"_pt[ds][sz]$", "", symbol)))
        declaration = parameters(given, types) if given is not None else HOST_RUNTIME.get(symbol, "?")
        if symbol in IN_MEMORY:
            declaration = f"into:p {declaration}"
        returned = " ->p" if symbol in RETURNS_TEXT + IN_MEMORY else ""
        lines.append(f"{symbol} - {declaration}{returned}".strip())
    return lines


def results(includes: list[Path]) -> list[str]:
    """A line an error: its number, the driver's name and the runtime's, `-` where one has none, and what the
    driver says of it, which no header does: it stays as it is in the table."""
    known = [line.split(maxsplit=3) for line in (HOME / "results.txt").read_text().splitlines()]
    texts = {int(number): text for number, _, _, *text in known}
    text = preprocessed(includes, "cuda.h", "driver_types.h")
    found: dict[int, list[str]] = {}
    for column, pattern in enumerate(
        (r"\b(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", r"\b(cuda(?:Success|Error\w+))\s*=\s*(\d+)")
    ):
        for name, number in re.findall(pattern, text):
            found.setdefault(int(number), ["-", "-"])[column] = name
    return [" ".join((str(n), *names, *texts.get(n, ()))) for n, names in sorted(found.items())]


def plain(includes: list[Path], header: str, result: str, prefix: str) -> list[str]:
    """A line a function of a library whose header says it all."""
    text = preprocessed(includes, header)
    types = Types(text)
    return sorted(
        f"{name} - {parameters(given, types)}".strip() for name, given in declared(text, result, prefix)
    )


def joined(lines: list[str]) -> list[str]:
    """The lines; that of a symbol which differs from another by a suffix, as `_v2` or `_ptsz`, becomes a word
    of the other's line where the types of their parameters are the same."""
    found: dict[str, list[str]] = {}
    for line in lines:
        name, version, *rest = line.split()
        match = re.fullmatch(r"(\w+?)((?:_v\d)?(?:_pt[ds][sz])?)", name)
        assert match
        for base in (match[1], re.sub(r"_pt[ds][sz]$", "", name)):
            known = [word for word in found.get(base, ())[2:] if "=" not in word]
            if base != name and base in found and _types(known) == _types(rest):
                found[base].insert(len(found[base]) - len(known), f"{name.removeprefix(base)}={version}")
                break
        else:
            found[name] = [name, version, *rest]
    return [" ".join(words) for words in found.values()]


def _types(words: list[str]) -> list[str]:
    return [word.rpartition(":")[2] for word in words]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("include", type=Path, nargs="+")
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    include, libraries = given.include, given.libraries
    tables = {
        "driver": lambda: joined(driver(include)),
        "runtime": lambda: joined(runtime(include, libraries / "libcudart.so.13")),
        "nvml": lambda: joined(sorted([*plain(include, "nvml.h", "nvmlReturn_t", "nvml"), NVML_TEXT])),
        "cublas": lambda: joined(
            cublas(include, ("cublas.h", "cublasXt.h"), libraries / "libcublas.so.13"),
        ),
        "cublaslt": lambda: joined(cublas(include, ("cublasLt.h",), libraries / "libcublasLt.so.13")),
        "results": lambda: results(include),
    }
    for name in given.only or tables:
        lines = tables[name]()
        (HOME / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
