"""Compare the emulator's asynchronous machine with a GPU, bit for bit.

    python tools/compare_asynchronous.py                 # writes bench/results/asynchronous.<gpu>.json
    python tools/compare_asynchronous.py --only emu --runs 1 --programs 2 --copies 60 --tiles 2000
                                                         # no GPU: against formulas and models; writes nothing

Three parts. *kernels*: those of tests/asynchrony, each with some permutations of its argument, and
random programs of mbarrier operations, bulk copies and reductions. *copies*: loads, stores and reductions by
random tensor maps, most of them across an edge. *tiles*: products of one `wgmma.mma_async` each, in every
type. The same kernels run on both devices, on the emulator in lazy, eager and random order.
Needs a GPU of compute capability 9.0; on 16 cores about a minute. Exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from compare.arguments import common
from compare.orders import ORDERS, TARGET, compare_machine
from compare.tensor_copies import compare_copies
from compare.tiles import compare_tiles

import ptxkit
from ptxkit.asm import parse
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import bind, module_scope
from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import PtxkitError
from ptxkit.isa import registry
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
CHAPTERS = ("asynchronous_copy", "mbarrier", "wgmma")
"""Chapters of the instruction set whose forms are recorded, wherever they stand in a kernel."""
ALONE = (
    "mapa", "getctarank", "elect", "setmaxnreg", "barrier.cluster", "st.async", "red.async",
    "fence.proxy", "fence.mbarrier_init",
)  # fmt: skip
"""Other instructions that are."""


def main() -> int:
    arguments = _arguments()
    pool = multiprocessing.get_context("fork").Pool(arguments.processes)
    started = time.monotonic()
    parts: dict[str, dict[str, Any]] = {}
    # Copies that the hardware refuses end their processes; this one opens the GPU behind them.
    real = arguments.only != "emu"
    parts["copies"] = compare_copies(real, pool, arguments.copies, arguments.seed)
    try:
        gpu = ptxkit.open_device("cuda") if real else None
    except PtxkitError as missing:
        print(missing, file=sys.stderr)
        return 3
    name = "formulas" if gpu is None else gpu.name
    parts["tiles"] = compare_tiles(gpu, pool, arguments.tiles, arguments.seed)
    parts["kernels"] = compare_machine(gpu, pool, arguments.runs, arguments.programs, arguments.seed)
    pool.close()
    for part, found in parts.items():
        print(f"{name}: {part}: {found['compared']} compared, {found['different']} different")
        for example in found["examples"]:
            print(json.dumps(example, default=str))
    path = arguments.output
    if path is None and gpu is not None:
        path = (
            RESULTS / f"asynchronous.{re.sub(r'^nvidia_', '', re.sub(r'[^a-z0-9]+', '_', name.lower()))}.json"
        )
    if path is not None:
        head = {"schema": 2, "kind": "asynchronous", **provenance(), "gpu": name, "target": TARGET}
        seconds = round(time.monotonic() - started, 1)
        forms = _forms(found.pop("by kernel") for found in parts.values())
        asked = {key: getattr(arguments, key) for key in ("seed", "runs", "programs")}
        document = {**head, "orders": ORDERS, **asked, "seconds": seconds, **parts, "forms": forms}
        path.write_text(json.dumps(document, indent=1, default=str) + "\n")
    return 1 if any(found["different"] for found in parts.values()) else 0


def _forms(counts: Iterable[dict[str, tuple[int, int]]]) -> list[dict[str, Any]]:
    """For each row of the instruction set in how many launches it was compared, and how many of these differ.

    Args:
        counts: both by the text of a kernel.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for texts in counts:
        for text, (compared, different) in texts.items():
            for key, spellings in _rows_of(text).items():
                row = {"section": key[0], "form": key[1], "instances": 0, "mismatches": 0, "spellings": {}}
                entry = rows.setdefault(key, row)
                entry["instances"] += compared
                entry["mismatches"] += different
                for spelling in spellings:
                    entry["spellings"].setdefault(spelling, [0, 0])[0] += compared
    return [rows[key] for key in sorted(rows)]


def _rows_of(text: str) -> dict[tuple[str, str], set[str]]:
    """The rows that a kernel has statements of, each with the spellings of these."""
    found: dict[tuple[str, str], set[str]] = {}
    module = parse(text)
    for function in module.functions:
        for statement, scope in bind(function, module_scope(module)):
            if not isinstance(statement, Instruction):
                continue
            kind = Names(scope).kind
            spelling = registry.spelling(statement.opcode, statement.modifiers)
            match = spelling.match(tuple(kind(operand) for operand in statement.operands))
            if match is None or (
                match.form.chapter not in CHAPTERS and not match.form.name.startswith(ALONE)
            ):
                continue
            found.setdefault((match.form.section, match.form.syntax), set()).add(statement.spelling)
    return found


def _arguments() -> argparse.Namespace:
    figures = "keep the figures as JSON, there"
    parser = common(__doc__, 1, figures, "the emulator alone, against formulas and models")
    parser.add_argument("--runs", type=int, default=8, help="permutations of each kernel's argument")
    parser.add_argument("--programs", type=int, default=24, help="random programs of each sort")
    parser.add_argument("--copies", type=int, default=1500, help="random tensor copies")
    parser.add_argument("--tiles", type=int, default=60000, help="random tiles")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
