"""Let numba-cuda compile functions and kernels, and compare what the emulator makes of them with numpy.

    pip install numba numba-cuda nvidia-cuda-nvrtc nvidia-nvvm     # no GPU and no driver
    python -m tools.foreign.numba_cuda

Functions of two numbers (tools/foreign/elementwise.py) are compiled for PTX and for this machine, for
each type of number; results must be the same bits where IEEE 754 or the integers fix them, and those of
the math library within the error that CUDA's guide gives. Kernels (tools/foreign/kernels.py) must leave
what numpy computes. All for three targets, optimised and not, in lazy order and in random order. Writes
bench/results/numba.json. Exit 1 where anything differs, or the emulator has a finding.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numba.cuda
import numba.cuda.dispatcher
import numpy as np
from numba import cuda

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance
from tools.foreign.elementwise import EXACT, INTEGER, LIBRARY
from tools.foreign.kernels import KERNELS, launch

RESULT = Path(__file__).resolve().parents[2] / "bench" / "results" / "numba.json"
TARGETS = ((7, 5), (9, 0), (10, 0))
COUNT = 96
INTEGERS = (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64)
FLOATS = (np.float32, np.float64)


def without_a_device(capability: tuple[int, int]) -> None:
    """Functions that kernels call are compiled for the current GPU; say which one that is."""
    numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)


def compiled(
    function: Any, arguments: Sequence[np.ndarray], capability: tuple[int, int], optimise: bool
) -> str:
    """The PTX of a kernel that takes arrays like these."""
    without_a_device(capability)
    signature = tuple(numba.typeof(array) for array in arguments)
    text, _ = numba.cuda.compile_ptx(function, signature, cc=capability, opt=optimise)
    return text if isinstance(text, str) else text.decode()


def gathered() -> str:
    """All kernels in one file, each under its own name: tests/data/numba_kernels.ptx."""
    parts = []
    for name, kernel in KERNELS.items():
        text = compiled(kernel.make(cuda), kernel.arrays(np.random.default_rng(1)), (7, 5), True)
        entry = re.search(r"\.entry (\w+)\(", text)
        assert entry is not None
        head, _, body = text.partition(".address_size 64")
        body = re.sub(r"^\s*//.*\n|^\.common .*NumbaEnv.*\n", "", body.replace(entry[1], name), flags=re.M)
        parts.append(re.sub(r"\n\n+", "\n", body).strip())
    return f"{head}.address_size 64\n\n" + "\n\n".join(parts) + "\n"


def launched(text: str, arguments: Sequence[np.ndarray], grid: int, block: int, **options: Any) -> np.ndarray:
    """What a kernel leaves in its first argument.

    Raises:
        PtxkitError: the emulator found something.
    """
    device = ptxkit.open_device("emu", **options)
    try:
        found = launch(device, device.load(text).kernel(), arguments, grid, block)
        if device.findings:
            raise PtxkitError(device.findings)
        return found
    finally:
        device.close()


# ---- cases


@dataclass(frozen=True)
class Case:
    """A kernel with its arguments, and what must come out.

    Attributes:
        name: for people.
        function: the kernel as Python.
        arguments: the first is what it leaves.
        wanted: in it.
        grid, block: of its launch.
        units: the greatest error in units of the last place; 0 for the same bits.
    """

    name: str
    function: Callable[..., None]
    arguments: Sequence[np.ndarray]
    wanted: np.ndarray
    grid: int = 1
    block: int = COUNT
    units: int = 0


def elementwise(function: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """A kernel of which each thread computes one element."""
    inner = cuda.jit(device=True)(function)

    def kernel(out, a, b):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = inner(a[i], b[i])

    return kernel


def numbers(kind: type, random: np.random.Generator) -> np.ndarray:
    """Numbers of a type, small ones and edges; of magnitudes below 1000 where they are floats."""
    if issubclass(kind, np.floating):
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, 999.0, 1e-30]
        drawn = random.standard_normal(COUNT) * 10 ** random.uniform(-3, 2.4, COUNT)
        drawn[: len(edges)] = random.permutation(edges)
        return np.clip(drawn, -999, 999).astype(kind)
    info = np.iinfo(kind)
    drawn = random.integers(info.min, info.max, COUNT, kind, endpoint=True)
    drawn[::3] = random.integers(max(-200, int(info.min)) // 2, 100, len(drawn[::3])).astype(kind)
    drawn[:4] = [info.min, info.max, 0, 1]
    return random.permutation(drawn)


def on_host(function: Callable[[Any, Any], Any], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What numba computes here, as the type that it infers."""
    made = numba.njit(function)
    return np.array([made(x, y) for x, y in zip(a, b, strict=True)], result_type(made))


def result_type(made: Any) -> np.dtype:
    (signature,) = made.nopython_signatures
    return numba.np.numpy_support.as_dtype(signature.return_type)


def cases(seed: int, only: str = "") -> Iterator[Case]:
    """Those of which the pattern finds something in the name."""
    random = np.random.default_rng(seed)
    for functions, kinds in ((INTEGER, INTEGERS), (EXACT, FLOATS)):
        for function in functions:
            for kind in kinds:
                name = f"{function.__name__} {kind.__name__}"
                a, b = numbers(kind, random), numbers(kind, random)
                if re.search(only, name):
                    wanted = on_host(function, a, b)
                    yield Case(name, elementwise(function), (np.zeros_like(wanted), a, b), wanted)
    for name, (scaled, single, double) in LIBRARY.items():
        for kind, units in ((np.float32, single), (np.float64, double)):
            a = np.array([scaled(x) for x in numbers(kind, random).tolist()], kind)
            a = a[np.abs(a) < 1] if name in ("asin", "acos", "atanh") else a
            wanted = np.array([getattr(math, name)(x) for x in a.tolist()], np.float64)
            if re.search(only, f"{name} {kind.__name__}"):
                given = (np.zeros_like(a), a, a)
                yield Case(f"{name} {kind.__name__}", library(name), given, wanted, units=units)
    for name, kernel in KERNELS.items():
        if not re.search(only, name):
            continue
        arguments = kernel.arrays(random)
        wanted = kernel.wanted(*arguments).astype(arguments[0].dtype)
        yield Case(name, kernel.make(cuda), arguments, wanted, kernel.grid, kernel.block)


def library(name: str) -> Callable[..., None]:
    """A kernel that asks the math library."""
    function = getattr(math, name)

    def kernel(out, a, b):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(a[i])

    return kernel


def differs(case: Case, found: np.ndarray) -> str:
    """Where the first result is none that the case allows; empty where all are."""
    if case.units:
        exact = case.wanted.astype(found.dtype)
        spacing = np.spacing(np.maximum(np.abs(exact), np.finfo(found.dtype).tiny))
        # Python's own answer in f64 may be off by one unit.
        room = case.units + (found.dtype == np.float64)
        bad = ~(np.abs(found.astype(np.float64) - case.wanted) <= room * spacing.astype(np.float64))
    elif found.dtype.kind == "f":
        word = f"u{found.itemsize}"
        bad = (found.view(word) != case.wanted.view(word)) & ~(np.isnan(found) & np.isnan(case.wanted))
    else:
        bad = found != case.wanted
    if not bad.any():
        return ""
    at = tuple(int(axis[0]) for axis in bad.nonzero())
    return f"element {at}: expected {case.wanted[at]!r}, found {found[at]!r}"


def examine(case: Case, capability: tuple[int, int], optimise: bool, **device: Any) -> tuple[str, str]:
    """What became of a case, `same` or not, and why."""
    text = compiled(case.function, case.arguments, capability, optimise)
    try:
        found = launched(text, case.arguments, case.grid, case.block, **device)
    except PtxkitError as error:
        return error.diagnostics[0].code, error.diagnostics[0].message
    why = differs(case, found)
    return ("differs" if why else "same"), why


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="these cases; nothing is written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--gather", type=Path, metavar="FILE", help="write the kernels' PTX and stop")
    options = parser.parse_args()
    if options.gather:
        options.gather.write_text(gathered(), encoding="utf-8")
        return 0
    began = time.perf_counter()
    bad: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for number, case in enumerate(cases(options.seed, options.only)):
        for place, capability in enumerate(TARGETS):
            optimise = (number + place) % 2 == 0
            order = {"order": "random", "seed": number} if place == 1 else {}
            what, why = examine(case, capability, optimise, **order)
            counts[what] += 1
            if what != "same":
                target = "sm_{}{}".format(*capability)
                bad.append(
                    {"case": case.name, "target": target, "optimised": optimise, "outcome": what, "why": why}
                )
                print(bad[-1])
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    if not options.only:
        record = {
            "schema": 1,
            "kind": "foreign_numba",
            **provenance(),
            "versions": {name: version(name) for name in ("numba", "numba-cuda", "nvidia-nvvm", "numpy")},
            "seed": options.seed,
            "targets": ["sm_{}{}".format(*capability) for capability in TARGETS],
            "seconds": round(time.perf_counter() - began),
            "counts": dict(counts.most_common()),
            "not_the_same": bad,
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
