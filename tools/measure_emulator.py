"""Measure the emulator's speed on a whole kernel, by numpy and by the `jit` extra, and a plain interpreter's.

    python tools/measure_emulator.py [--batches 3] [--runs 5] [--no-jit] [--output FILE]

The kernel is bench/kernels/gemv_simt.ptx at 7168x16384x1, the sanitizer on as by default. The plain
interpreter (`plain_interpreter.py`) runs one CTA of the same K, so that the instructions are the same ones in
the same proportions, and must give the emulator's bits and its number of thread-instructions; with the `jit`
extra the whole output must be numpy's, bit for bit. They take turns, so that a busy machine slows all of them
alike: the ratios hold then, too, and the rates by CPU clock nearly. The figures are those of the batch with
the best median; every run is in the document, with the machine's load. A launch is timed; what comes before
it, reading the file and making steps, is not. LLVM compiles within the first launch, which is told apart.
Writes bench/results/emulator_speed.json; exits with 1 where a bar is missed.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import statistics
import sys
from typing import Any

import measuring
import numpy as np
from plain_interpreter import Interpreter

from ptxkit.emulator import Emulator
from ptxkit.emulator.jit import available
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.workloads import Arrays

KERNEL = measuring.ROOT / "bench" / "kernels" / "gemv_simt.ptx"
LARGE = {"M": 7168, "K": 16384, "L": 1}
SMALL = {"M": 16, "K": 16384, "L": 1}
RATE, FACTOR, JIT_RATE = 200e6, 50, 1e9
"""The bars: thread-instructions a second, times the plain interpretation, and the rate of the `jit` extra."""


class Launch:
    """The kernel at some sizes on an emulator of its own."""

    def __init__(self, sizes: dict[str, int], jit: bool = False) -> None:
        self.module, self.plan = measuring.plan_of(KERNEL, sizes)
        self.case = Case(self.plan)
        self.device = Emulator(jit=jit)
        self.on_device = LoadedPlan(self.device, self.device.load(self.module), self.plan)
        self.on_device.fill(self.case.inputs)
        for kernel in self.on_device.kernels:
            assert kernel.attributes

    def run(self) -> dict[str, Any]:
        """One launch: thread-instructions, seconds of wall clock and of this process."""
        times = measuring.timed(self.on_device.launch)
        return {"thread_instructions": self.device.counts.instructions, **times}

    def outputs(self) -> Arrays:
        """What the launch made, verified against the workload's reference."""
        outputs = self.on_device.outputs()
        if self.device.findings or not all(each.ok for each in self.case.compare(outputs)):
            raise RuntimeError(f"the emulator's result at {self.plan.sizes} is wrong")
        return outputs

    def interpret(self) -> tuple[dict[str, Any], np.ndarray]:
        """The same launch by the plain interpreter, and its output."""
        memory, at = bytearray(), dict[str, int]()
        for name, tensor in self.on_device.tensors.items():
            layout = tensor.tensor
            shape, dtype = layout.storage_shape, layout.storage_dtype
            at[name] = len(memory)
            memory += self.case.inputs.get(name, np.zeros(shape, dtype)).tobytes()
            memory += bytes(-len(memory) % 256)
        (launch,) = self.plan.launches
        parameters = [at[a.tensor] if a.tensor else int(a.value or 0) for a in launch.arguments]
        interpreter = Interpreter(self.module, parameters, memory)
        times = measuring.timed(lambda: interpreter.run(launch.grid[:2], launch.block[0], launch.shared))
        layout = self.on_device.tensors["c"].tensor
        size = math.prod(layout.storage_shape)
        output = np.frombuffer(memory, layout.storage_dtype, size, at["c"]).reshape(layout.storage_shape)
        return {"thread_instructions": interpreter.executed, **times}, output


def _rates(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Medians in thread-instructions a second."""
    return {
        f"per_{clock}_second": round(
            statistics.median(run["thread_instructions"] / run[f"{clock}_seconds"] for run in runs)
        )
        for clock in ("wall", "cpu")
    }


def measure(batches: int, runs: int, jit: bool) -> dict[str, Any]:
    """Batches of runs, emulator and interpreter in turn, after one run to warm up."""
    large, small = Launch(LARGE), Launch(SMALL)
    counted = small.run()["thread_instructions"]
    expected = small.outputs()["c"]
    large.run()
    result = large.outputs()["c"]
    compiled = Launch(LARGE, jit=True) if jit else None
    first = compiled.run() if compiled else None
    if compiled and compiled.outputs()["c"].tobytes() != result.tobytes():
        raise RuntimeError("the `jit` extra gives other bits than numpy")
    if compiled:
        # Blocks outside of loops are compiled in the third launch.
        compiled.run()
        compiled.run()
    made: list[dict[str, Any]] = []
    for _ in range(batches):
        emulated, by_jit, plain = [], [], []
        for _ in range(runs):
            emulated.append(large.run())
            if compiled:
                by_jit.append(compiled.run())
            run, output = small.interpret()
            if run["thread_instructions"] != counted or output.tobytes() != expected.tobytes():
                raise RuntimeError("the plain interpretation differs from the emulator")
            plain.append(run)
        e, p = _rates(emulated), _rates(plain)
        ratio = {clock: round(e[clock] / p[clock], 1) for clock in e}
        batch = {"emulator": e, "plain": p, "ratio": ratio, "runs": {"emulator": emulated, "plain": plain}}
        if by_jit:
            j = _rates(by_jit)
            batch["jit"] = {**j, "times_numpy": {clock: round(j[clock] / e[clock], 2) for clock in e}}
            batch["runs"]["jit"] = by_jit
        made.append(batch)
        print(_line(made[-1]), file=sys.stderr, flush=True)
    best = max(made, key=lambda batch: batch["emulator"]["per_wall_second"])
    return measuring.document(
        "emulator_speed",
        kernel=KERNEL.relative_to(measuring.ROOT).as_posix(),
        sizes=LARGE,
        sizes_of_the_plain_interpretation=SMALL,
        sanitize=large.device.options.sanitize,
        **{name: best[name] for name in ("emulator", "plain", "ratio", "jit") if name in best},
        **({"first_launch_with_jit": first, "llvmlite": llvmlite_version()} if first else {}),
        bars={
            "thread_instructions_per_second": RATE,
            "ratio": FACTOR,
            "jit_thread_instructions_per_second": JIT_RATE,
        },
        load_average=measuring.load_average(),
        cores_allowed=len(os.sched_getaffinity(0)),
        numpy=np.__version__,
        batches=made,
    )


def llvmlite_version() -> str:
    return importlib.metadata.version("llvmlite")


def _line(batch: dict[str, Any]) -> str:
    e, p, ratio = batch["emulator"], batch["plain"], batch["ratio"]
    jit = batch.get("jit")
    return ", ".join(
        f"by {clock} clock: "
        + (f"jit {jit[key] / 1e6:.1f} M/s, {jit['times_numpy'][key]} x numpy, " if jit else "")
        + f"numpy {e[key] / 1e6:.1f} M/s, plain {p[key] / 1e6:.3f} M/s, {ratio[key]:.0f} x"
        for clock, key in (("wall", "per_wall_second"), ("CPU", "per_cpu_second"))
    )


def main() -> int:
    parser = measuring.command_line(__doc__, "emulator_speed.json")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--runs", type=int, default=5, help="of a batch")
    parser.add_argument("--no-jit", dest="jit", action="store_false", help="leave the `jit` extra out")
    arguments = parser.parse_args()
    document = measure(arguments.batches, arguments.runs, arguments.jit and available())
    measuring.write(arguments.output, document)
    print(f"best batch, {_line(document)}; written to {arguments.output}")
    reached = (
        document["emulator"]["per_wall_second"] >= RATE
        and document["ratio"]["per_wall_second"] >= FACTOR
        and ("jit" not in document or document["jit"]["per_wall_second"] >= JIT_RATE)
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
