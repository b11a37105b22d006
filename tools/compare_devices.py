"""Compare the emulator with a GPU, bit for bit: every form that computes on registers, and atomics.

    python tools/compare_devices.py                        # all of it, on the first GPU
    python tools/compare_devices.py --forms '^cvt'         # the spellings that contain the expression
    python tools/compare_devices.py --only emu --assemble  # no GPU: a dry run, each module through nvJitLink

Each combination of modifiers that the GPU's target has is executed with at least `--instances` values, many
of them special. The same modules run on both devices. Results must be the same bits, those of a NaN too;
`.approx` forms must keep the error that is documented, on either device. Where ptxas swaps the operands of
f64 and both are NaN, the other one's comes out: that is counted apart. Writes
bench/results/devices.<gpu>.json: for each row of the instruction set how often it was compared, what
differed, and what could not be compared and why. Exits with 1 where anything differs. `compare_chains.py`
does so for programs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compare.approximate import is_approximate
from compare.arguments import EMULATED, common, modules
from compare.atomics import atomics
from compare.cases import Case, cases
from compare.execute import Setting
from compare.kernels import BLOCK
from compare.pool import Job, run
from compare.record import SCHEMA, Record, written

from ptxkit import targets
from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import capabilities, driver_version
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
CASES_A_JOB, WARP_CASES_A_JOB = 192, 16


def main() -> int:
    arguments = _arguments()
    gpu = arguments.only != "emu"
    target, version, name = gpu_of(arguments.ordinal) if gpu else (None, EMULATED, "emu")
    target = targets.parse(arguments.target) if arguments.target else target
    if target is None:
        print("no such target", file=sys.stderr)
        return 2
    setting = Setting(
        target, version, arguments.seed, gpu, arguments.ordinal, arguments.assemble, arguments.save_inputs
    )
    started = time.monotonic()
    todo = cases(target, version, arguments.forms, arguments.seed)
    todo += atomics(target, version, arguments.forms, arguments.seed)
    jobs = _jobs(todo, arguments.instances)
    print(f"{len(todo)} statements for {target}, {len(jobs)} jobs", file=sys.stderr)
    record = Record()
    for case in todo:
        record.tally(case)
    finished = 0

    def done(job: Job, outcomes: list[Any]) -> None:
        nonlocal finished
        finished += 1
        for item, outcome in zip(job.items, outcomes, strict=True):
            record.add(item, outcome)
        if finished % 20 == 0:
            print(f"{finished} jobs, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    run(setting, jobs, arguments.processes, arguments.patience, done)
    seconds = time.monotonic() - started
    head = {
        "schema": SCHEMA,
        "kind": "devices",
        "gpu": name if gpu else None,
        "target": str(target),
        "version": targets.show(version),
        "seed": arguments.seed,
        "instances_asked": arguments.instances,
        "seconds": round(seconds, 1),
        "totals": record.totals(),
        **provenance(),
    }
    output = arguments.output
    if output is None and gpu and not arguments.forms:
        short = name.removeprefix("NVIDIA ").lower().replace(" ", "-")
        output = RESULTS / f"devices.{short}.json"
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(written(head, record))
    return _report(record, seconds, output)


def _jobs(todo: list[Case], instances: int) -> list[Job]:
    """Cases of equally many threads together; the slow ones first."""
    threads = -(-instances // BLOCK) * BLOCK
    groups: dict[tuple[int, int], list[Case]] = {}
    for case in todo:
        # Where no error is documented for an input, it does not count: hence more of them.
        factor = 32 if case.of_warp else 4 if is_approximate(case) else 1
        size = WARP_CASES_A_JOB if case.opcode == "mma" else CASES_A_JOB // (4 if case.of_warp else 1)
        groups.setdefault((threads * factor, size), []).append(case)
    return [
        Job(group[i : i + size], count)
        for (count, size), group in sorted(groups.items(), reverse=True)
        for i in range(0, len(group), size)
    ]


def gpu_of(ordinal: int) -> tuple[targets.Target | None, targets.Version, str]:
    """A GPU's target, the newest PTX its driver takes, its name."""
    from ptxkit.driver import CudaDevice

    found = capabilities()
    capability = found[ordinal] if ordinal < len(found) else found[0]
    target = targets.for_capability(capability, "a") or targets.for_capability(capability)
    version = min(targets.newest_version_for_cuda(driver_version()), targets.NEWEST_VERSION)
    device = CudaDevice(ordinal)
    try:
        return target, version, device.name
    finally:
        device.close()


def _report(record: Record, seconds: float, output: Path | None) -> int:
    totals = record.totals()
    for (section, _), tallies in record.rows.items():
        for spelling, tally in tallies.items():
            for example in tally.examples[:1]:
                print(f"{section} {spelling}: {tally.wrong}: {example}")
            for reason, count in tally.lacking.items():
                print(f"{section} {spelling}: {count} not compared: {reason}")
    for name, value in totals.items():
        print(f"{name.replace('_', ' ')}: {value}")
    print(f"{seconds:.0f} s" + (f", written to {output}" if output else ""))
    return 1 if totals["mismatches"] else 0


def _arguments() -> argparse.Namespace:
    document = "the document; by default bench/results/devices.<gpu>.json"
    parser = common(__doc__, 0, document, "the emulator alone, against documented errors")
    modules(parser, 100, "modules and values")
    parser.add_argument(
        "--forms", default="", metavar="REGEX", help="spellings that contain it: ^mma, cvt.*bf16"
    )
    parser.add_argument("--instances", type=int, default=256, help="of each spelling, rounded up to 128s")
    arguments = parser.parse_args()
    if arguments.only == "emu" and not arguments.target:
        arguments.target = "sm_90a"
    return arguments


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PtxkitError as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
