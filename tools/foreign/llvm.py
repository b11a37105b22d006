"""Let LLVM compile random functions for the host and for PTX, and compare what they compute.

    python -m tools.foreign.llvm --seeds 300      # four minutes; needs llvmlite, as the `jit` extra does

A function (tools/foreign/functions.py) is compiled by LLVM's NVPTX back end for each target and level of
optimisation, and executed on the emulator by a warp with different inputs; and compiled for this machine.
All outputs must be the same bits, but for those of a NaN. Writes bench/results/llvm.json. Exit 1 where one
differs, where the checker refuses what LLVM writes, or where the emulator finds fault with it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance
from tools.foreign.functions import INPUTS, SLOT, function
from tools.foreign.values import WIDTH

RESULT = Path(__file__).resolve().parents[2] / "bench" / "results" / "llvm.json"
LANES = 32
TARGETS = {"sm_75": "ptx64", "sm_90": "ptx83", "sm_100": "ptx87"}
LEVELS = (0, 2, 3)
KERNEL = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %in, ptr %out) {{
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %2 = mul i32 %1, {taken}
  %3 = getelementptr i8, ptr %in, i32 %2
  %4 = mul i32 %1, {given}
  %5 = getelementptr i8, ptr %out, i32 %4
  call void @body(ptr %3, ptr %5)
  ret void
}}
"""
TRIPLE = 'target triple = "nvptx64-nvidia-cuda"\n'


@cache
def prepared() -> None:
    """LLVM's back ends, and what its code for this machine calls."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for library in ("libgcc_s.so.1", "libm.so.6"):
        llvm.load_library_permanently(library)


def parsed(text: str) -> llvm.ModuleRef:
    """A module with what it calls declared: LLVM knows its intrinsics by name and type."""
    declared = {}
    for line in text.splitlines():
        head, found, rest = line.partition(" @llvm.")
        if not found or "call" not in head:
            continue
        result = head.partition("call ")[2].strip()
        name, _, arguments = rest.partition("(")
        types = ", ".join(
            part.strip().rsplit(" ", 1)[0] for part in split(arguments[: arguments.rindex(")")])
        )
        declared[f"@llvm.{name}"] = f"declare {result} @llvm.{name}({types})"
    missing = [line for name, line in declared.items() if f"declare i32 {name}(" not in text]
    module = llvm.parse_assembly(text + "\n".join(missing) + "\n")
    module.verify()
    return module


def split(arguments: str) -> list[str]:
    """Arguments at the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(arguments):
        depth += (letter in "<{([") - (letter in ">})]")
        if letter == "," and not depth:
            parts.append(arguments[start:at])
            start = at + 1
    return [*parts, arguments[start:]] if arguments.strip() else []


def optimised(module: llvm.ModuleRef, machine: Any, level: int) -> None:
    """LLVM's passes over the intermediate language."""
    if level:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
        builder.getModulePassManager().run(module, builder)


def ptx(text: str, outputs: int, target: str, level: int) -> str:
    """A function as a kernel in PTX."""
    prepared()
    kernel = KERNEL.format(taken=SLOT * len(INPUTS), given=SLOT * outputs)
    module = parsed(TRIPLE + text + kernel)
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(
        cpu=target, features="+" + TARGETS[target], opt=level
    )
    module.data_layout = str(machine.target_data)
    optimised(module, machine, level)
    return str(machine.emit_assembly(module))


def on_host(text: str, outputs: int, inputs: np.ndarray) -> np.ndarray:
    """What the function computes here, bytes (lanes, outputs, SLOT); compiled without optimisation."""
    prepared()
    module = parsed(text)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    module.data_layout = str(machine.target_data)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("body"))
    taken, given = aligned(inputs), aligned(np.zeros((LANES, outputs, SLOT), np.uint8))
    for lane in range(LANES):
        body(taken[lane].ctypes.data, given[lane].ctypes.data)
    return given.copy()


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy whose address is a multiple of `SLOT`, as the code expects."""
    room = np.zeros(values.nbytes + SLOT, np.uint8)
    start = -room.ctypes.data % SLOT
    made = room[start : start + values.nbytes].reshape(values.shape)
    made[...] = values
    return made


def inputs_of(seed: int) -> np.ndarray:
    """Inputs of each lane, bytes (lanes, inputs, SLOT): ordinary numbers, and edges."""
    source = random.Random(seed)
    made = np.zeros((LANES, len(INPUTS), SLOT), np.uint8)
    for lane in range(LANES):
        for number, kind in enumerate(INPUTS):
            bits = WIDTH[kind]
            if kind in ("half", "float", "double"):
                edges = (0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 6e-8, 65504.0)
                value = (
                    source.choice(edges)
                    if source.random() < 0.3
                    else source.gauss(0, 10 ** source.uniform(-3, 4))
                )
                if kind == "half" and abs(value) > 65504 and abs(value) != float("inf"):
                    value = 65504.0
                packed = struct.pack({"half": "<e", "float": "<f", "double": "<d"}[kind], value)
            else:
                edges = (0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1)
                value = (
                    source.choice(edges)
                    if source.random() < 0.3
                    else source.getrandbits(source.randrange(1, bits + 1))
                )
                packed = value.to_bytes(bits // 8, "little")
            made[lane, number, : len(packed)] = np.frombuffer(packed, np.uint8)
    return made


def canonical(values: np.ndarray, outputs: Sequence[str]) -> np.ndarray:
    """The bytes with every NaN as one."""
    made = values.copy()
    for number, kind in enumerate(outputs):
        element = kind.split()[-1].rstrip(">")
        if element in ("half", "float", "double"):
            column = np.ascontiguousarray(made[:, number]).view(
                {"half": "f2", "float": "f4", "double": "f8"}[element]
            )
            column[np.isnan(column)] = np.nan
            made[:, number] = column.view(np.uint8)
    return made


@dataclass(frozen=True)
class Outcome:
    """What became of a function at one target and level.

    Attributes:
        seed, target, level: which.
        what: `same`, `differs`, the code of an error or finding; `LLVM` where it makes no PTX of it.
        why: what differs, or the message.
        instructions: of the PTX.
    """

    seed: int
    target: str
    level: int
    what: str
    why: str = ""
    instructions: int = 0


def examine(seed: int, target: str, level: int, length: int = 60, **device: Any) -> Outcome:
    """Compile a function, execute it on the emulator, and compare."""
    text, outputs = function(seed, length)
    inputs = inputs_of(seed)
    try:
        made = ptx(text, len(outputs), target, level)
    except RuntimeError as error:
        return Outcome(seed, target, level, "LLVM", str(error).splitlines()[0])
    wanted = canonical(on_host(text, len(outputs), inputs), outputs)
    count = sum(line.rstrip().endswith(";") for line in made.splitlines())
    emulator = ptxkit.open_device("emu", **device)
    try:
        given, out = emulator.array(inputs), emulator.array(np.zeros(wanted.shape, np.uint8))
        emulator.load(made).kernel("k").launch(1, LANES, [given, out])
        found = canonical(out.numpy(), outputs)
        said = [finding.code for finding in emulator.findings]
    except PtxkitError as error:
        first = error.diagnostics[0]
        return Outcome(seed, target, level, first.code, first.message, count)
    finally:
        emulator.close()
    if said:
        return Outcome(seed, target, level, said[0], "a warning", count)
    differ = (found != wanted).any(axis=2)
    if not differ.any():
        return Outcome(seed, target, level, "same", instructions=count)
    lane, number = (int(axis[0]) for axis in differ.nonzero())
    words = (bytes(side[lane, number, ::-1]).hex() for side in (wanted, found))
    why = "output {} (`{}`) of lane {}: expected {}, found {}".format(number, outputs[number], lane, *words)
    return Outcome(seed, target, level, "differs", why, count)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=100, help="functions")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--show", action="store_true", help="print the PTX of the first seed and stop")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    if options.show:
        text, outputs = function(options.first)
        print(ptx(text, len(outputs), "sm_90", 2))
        return 0
    began = time.perf_counter()
    outcomes = []
    for seed in range(options.first, options.first + options.seeds):
        for number, target in enumerate(TARGETS):
            outcome = examine(seed, target, LEVELS[(seed + number) % len(LEVELS)])
            outcomes.append(outcome)
            if outcome.what != "same":
                print(outcome)
    counts = Counter(outcome.what for outcome in outcomes)
    total = sum(outcome.instructions for outcome in outcomes)
    print(
        ", ".join(f"{count} {what}" for what, count in counts.most_common()),
        f"of {len(outcomes)};",
        total,
        "instructions",
    )
    record = {
        "schema": 1,
        "kind": "foreign_llvm",
        **provenance(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "seeds": [options.first, options.first + options.seeds],
        "targets": TARGETS,
        "levels": LEVELS,
        "lanes": LANES,
        "instructions": total,
        "seconds": round(time.perf_counter() - began),
        "counts": dict(counts.most_common()),
        "not_the_same": [vars(outcome) for outcome in outcomes if outcome.what != "same"],
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(set(counts) != {"same"})


if __name__ == "__main__":
    sys.exit(main())
