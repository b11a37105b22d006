"""How programs are led to a virtual GPU: by variables of their environment that they themselves define."""

from __future__ import annotations

import os
from pathlib import Path

from ptxkit.virtual.options import LIBRARIES_VARIABLE, VARIABLE, VirtualOptions

RELEASE = "13.0"
"""Of the toolkit that our assembler passes itself off as."""

ASSEMBLER = f"""#!/bin/sh
# An assembler whose machine code is the PTX itself: ptxas ARGUMENTS -o OUTPUT INPUT.ptx
output=elf.o
while [ $# -gt 0 ]; do
  case "$1" in
    --version|-V) echo "ptxkit, in place of ptxas: release {RELEASE}, V{RELEASE}.0"; exit 0 ;;
    -o|--output-file) output=$2; shift ;;
    *.ptx) input=$1 ;;
  esac
  shift
done
cat "$input" > "$output" && printf '\\0' >> "$output"
"""
"""What Triton runs in place of ptxas. It names ptxkit in its version, so nothing that Triton caches of it
is ever taken for real machine code."""


START = """import importlib, os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]
try:
    import ptxkit.virtual.clients.imports as imports
except ImportError:
    pass  # a Python without ptxkit
else:
    imports.watch()
ours = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")  # the one that this one hides
except ImportError:
    sys.modules["sitecustomize"] = ours
"""
"""What every Python of the program runs before anything else, as `sitecustomize`."""


def environment_of(folder: Path, libraries: Path, options: VirtualOptions) -> dict[str, str]:
    """The environment of a program.

    Args:
        folder: where files may be made for it.
        libraries: where ours are.
        options: what its GPUs are like.
    """
    assembler = folder / "ptxas"
    assembler.write_text(ASSEMBLER)
    assembler.chmod(0o755)
    start = folder / "python"
    start.mkdir()
    (start / "sitecustomize.py").write_text(START)
    environment = dict(os.environ)
    environment["PYTHONPATH"] = _first(str(start), environment.get("PYTHONPATH"), os.pathsep)
    environment["LD_LIBRARY_PATH"] = _first(str(libraries), environment.get("LD_LIBRARY_PATH"), ":")
    # A Python package that brings one of these along finds ours, since it is there already.
    preloaded = (str(libraries / name) for name in ("libnvJitLink.so.13", "libcudart.so.13"))
    environment["LD_PRELOAD"] = _first(":".join(preloaded), environment.get("LD_PRELOAD"), ":")
    environment[VARIABLE] = options.to_environment()
    environment[LIBRARIES_VARIABLE] = str(libraries)
    environment["TRITON_LIBCUDA_PATH"] = str(libraries)
    environment["TRITON_PTXAS_PATH"] = environment["TRITON_PTXAS_BLACKWELL_PATH"] = str(assembler)
    # What is compiled here is not for a GPU; without line numbers a finding would name those of PTX alone.
    environment["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"
    environment.setdefault("CUTE_DSL_LINEINFO", "1")
    environment["NUMBA_CUDA_DRIVER"] = str(libraries / "libcuda.so.1")
    return environment


def _first(ours: str, inherited: str | None, separator: str) -> str:
    return separator.join(filter(None, (ours, inherited)))
