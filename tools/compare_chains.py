"""Compare the emulator with a GPU on chains: random programs of all families at once, bit for bit.

    python tools/compare_chains.py                               # 10,000 chains on the first GPU
    python tools/compare_chains.py --chains 99 --save-inputs DIR # keep what differs, small, and both answers
    python tools/compare_chains.py --chains 5000 --add RECORD    # those of them that RECORD lacks; both count
    python tools/compare_chains.py --only emu --assemble         # no GPU: a dry run, also through nvJitLink
    python tools/compare_chains.py --again DIR                   # no GPU: DIR's answers and today's emulator

A chain has 20 to 200 statements in which state flows: registers of every width, predicates, the carry flag,
vectors, memory of every state space by addresses made in every way, shuffles and votes of those there,
atomics, calls, under branches, loops, tables of branches and guards (tools/compare/chains). The same modules
run on both devices; every register that a statement writes and all memory must be the same bits, those of a
NaN too.
Results of `.approx` do not take part. What is left out, and why, is counted. A chain that differs is executed
once more without the optimisations of the driver's compiler: where it then gives the same bits, it is that
compiler that does not do what stands there, and the chain is counted apart. One it crashes on is executed so
at once. Writes bench/results/chains.<gpu>.json, and exits with 1 where anything else differs or did not run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from compare.arguments import EMULATED, common, modules
from compare.atomics import atomics
from compare.cases import cases
from compare.chains import execute, judge, text
from compare.chains.make import Maker
from compare.chains.model import Chain
from compare.chains.record import SCHEMA, Tally, generator
from compare.chains.record import numbers as numbers_of
from compare.execute import Setting
from compare.pool import Job, run
from compare_devices import gpu_of

import ptxkit
from ptxkit import targets
from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
CHAINS_A_JOB = 4


def main() -> int:
    arguments = _arguments()
    gpu = arguments.only != "emu" and arguments.again is None
    target, version, name = gpu_of(arguments.ordinal) if gpu else (None, EMULATED, "emu")
    target = targets.parse(arguments.target) if arguments.target else target
    if target is None:
        print("no such target", file=sys.stderr)
        return 2
    dealt = cases(target, version), atomics(target, version)
    maker = Maker(*dealt, arguments.seed)
    if arguments.again is not None:
        return _again(maker, arguments.again, target, version)
    head = {
        "schema": SCHEMA,
        "kind": "chains",
        "gpu": name if gpu else None,
        "target": str(target),
        "version": targets.show(version),
        "seed": arguments.seed,
        "generator": generator([*dealt[0], *dealt[1]]),
    }
    earlier = json.loads(arguments.add.read_text()) if arguments.add and arguments.add.exists() else {}
    if other := [key for key, value in head.items() if earlier and earlier.get(key) != value]:
        print(f"{arguments.add} is of another {', '.join(other)}", file=sys.stderr)
        return 2
    setting = Setting(
        target, version, arguments.seed, gpu, arguments.ordinal, arguments.assemble, arguments.save_inputs
    )
    started = time.monotonic()
    tally = Tally(earlier)
    asked = range(arguments.first, arguments.first + arguments.chains)
    chosen = list(numbers_of(arguments.numbers)) if arguments.numbers else asked
    chains = [maker.chain(number) for number in chosen if number not in tally.compared]
    jobs = [Job(chains[at : at + CHAINS_A_JOB]) for at in range(0, len(chains), CHAINS_A_JOB)]

    def done(job: Job, verdicts: list[judge.Verdict]) -> None:
        for chain, verdict in zip(job.items, verdicts, strict=True):
            assert isinstance(chain, Chain)
            tally.add(chain, verdict)
        if tally.chains % 400 < len(job.items):
            print(f"{tally.chains} chains, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    try:
        run(setting, jobs, arguments.processes, arguments.patience, done)
    except KeyboardInterrupt:
        print(f"interrupted: {tally.chains} of {len(chains)} chains are recorded", file=sys.stderr)
    seconds = time.monotonic() - started
    document = {**head, **tally.document({"seconds": round(seconds, 1), **provenance()})}
    output = arguments.output or arguments.add
    if output is None and gpu and not arguments.numbers:
        output = RESULTS / f"chains.{name.removeprefix('NVIDIA ').lower().replace(' ', '-')}.json"
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(document, indent=2) + "\n")
    for key, value in document["totals"].items():
        print(f"{key.replace('_', ' ')}: {value}")
    for key in ("not_compared", "first_to_differ", "unoptimized", "not_executed"):
        for what, count in document[key].items():
            print(f"{key.replace('_', ' ')}: {count}: {what}")
    for key in ("differ", "differ_optimized"):
        print(f"{key.replace('_', ' ')}: {document[key] or 'none'}")
    print(f"{seconds:.0f} s" + (f", written to {output}" if output else ""))
    return 0 if tally.good else 1


def _again(maker: Maker, folder: Path, target: targets.Target, version: targets.Version) -> int:
    """Compare the emulator with what a GPU left of chains that differed."""
    wrong = 0
    for path in sorted(folder.glob("*.npz")):
        chain = maker.chain(int(path.stem.partition("-")[0].removeprefix("c")))
        written = text.module([chain], target, version)
        if written != path.with_suffix(".ptx").read_text():
            print(f"{path.stem}: the tool writes another chain by now; its text is executed")
            written = path.with_suffix(".ptx").read_text()
        device = ptxkit.open_device("emu", arch=str(target))
        (emulated,) = execute.run(device, ptxkit.parse(written), [chain])
        verdict = judge.compare(chain, emulated, np.load(path)["gpu"])
        wrong += verdict.wrong
        print(f"{path.stem}: {json.dumps(verdict.example) if verdict.wrong else 'the same bits'}")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    document = "the document; by default bench/results/chains.<gpu>.json"
    parser = common(__doc__, 0, document, "the emulator alone: whether they run")
    modules(parser, 60, "chains, and both answers,")
    parser.add_argument("--chains", type=int, default=10_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--numbers", metavar="NUMBERS", help="these ones in place of those: '206 816-820'")
    parser.add_argument(
        "--add",
        type=Path,
        metavar="RECORD",
        help="add to it, or begin it, the chains asked for that it lacks",
    )
    parser.add_argument("--again", type=Path, metavar="DIR", help="compare with the answers kept in DIR")
    arguments = parser.parse_args()
    if (arguments.only == "emu" or arguments.again) and not arguments.target:
        arguments.target = "sm_90a"
    return arguments


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PtxkitError as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
