"""Run other people's tests and programs on a virtual GPU or a real one; keep what comes of them, compare.

python -m tools.suites packages numba-cuda     what `pip install` takes, for an environment of its own
python -m tools.suites run numba-cuda CHECKOUT --python VENV/bin/python --work FOLDER
python -m tools.suites run numba-cuda CHECKOUT --python .. --work .. --gpu h200  on a real GPU, without `exec`
python -m tools.suites build cutlass=CHECKOUT --python .. --builds FOLDER   programs that `run` then has
python -m tools.suites show numba-cuda         shares, failures by reason, the rest one by one
python -m tools.suites planted cuda-samples=CHECKOUT triton-tutorials=CHECKOUT --python .. --work ..
                                                faults of planted.toml, found or not
python -m tools.suites numbers cuda-samples=CHECKOUT --python .. --work .. --output FOLDER
                                                what programs compute; with --gpu h200 on a real GPU
python -m tools.suites same OURS THEIRS        whether two such folders hold the same numbers

`run` goes on where it was stopped: a file whose outcome lies in FOLDER is not run again, but with `--again`.
They need nothing but Python's library, `same` numpy and ml_dtypes; ptxkit is needed by the environment of the
tests alone, and not there on a real GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from . import builds as builds_of
from . import program_numbers, record
from .planted import find, planted
from .programs import Program, programs, run_program
from .runner import FileRun, run_file
from .suite import Checkout, Suite, requirements, suites


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.suites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    known = sorted(suites())
    listed = verbs.add_parser("packages")
    listed.add_argument("suite", choices=known)
    shown = verbs.add_parser("show")
    shown.add_argument("suite", choices=[*known, "all"], nargs="?", default="all")
    shown.add_argument("--all", action="store_true", help="each failure, not only those that are `not yet`")
    run = verbs.add_parser("run")
    run.add_argument("suite", choices=known)
    run.add_argument("checkout", type=Path, help="of the suite's repository, at its commit")
    run.add_argument("--python", default=sys.executable, help="of the environment that has the packages")
    run.add_argument("--work", type=Path, required=True, help="a folder for logs and outcomes")
    run.add_argument("--gpu", default="", help="a real GPU's name, as in h200; without it a virtual one")
    run.add_argument("--exec", default="", help="options of `ptxkit exec`")
    run.add_argument("--jobs", type=int, default=1, help="processes at a time")
    run.add_argument("--only", default="*", help="files that match this pattern")
    run.add_argument("--builds", type=Path, help="a folder where builds of programs are kept")
    run.add_argument("--again", action="store_true", help="run files again whose outcome is known")
    run.add_argument("--output", type=Path, help="the record; by default in bench/results")
    made = verbs.add_parser("build")
    made.add_argument("checkouts", nargs="+", metavar="SUITE=CHECKOUT")
    made.add_argument("--python", default=sys.executable, help="of the environment that has the packages")
    made.add_argument("--builds", type=Path, required=True, help="a folder where builds are kept")
    made.add_argument("--jobs", type=int, default=1, help="programs at a time")
    made.add_argument("--only", default="*", help="programs that match this pattern")
    faults = verbs.add_parser("planted")
    faults.add_argument("checkouts", nargs="+", metavar="SUITE=CHECKOUT")
    faults.add_argument("--python", default=sys.executable, help="of the environment that has the packages")
    faults.add_argument("--work", type=Path, required=True, help="a folder for copies and logs")
    faults.add_argument("--exec", default="", help="options of `ptxkit exec`")
    noted = verbs.add_parser("numbers")
    noted.add_argument("checkouts", nargs="+", metavar="SUITE=CHECKOUT")
    noted.add_argument("--python", default=sys.executable, help="of the environment that has the packages")
    noted.add_argument("--work", type=Path, required=True, help="a folder for copies, logs and outcomes")
    noted.add_argument("--output", type=Path, required=True, help="a folder for numbers.SUITE.json")
    noted.add_argument("--gpu", default="", help="a real GPU's name, as in h200; without it a virtual one")
    noted.add_argument("--exec", default="--no-sanitize", help="options of `ptxkit exec`")
    noted.add_argument("--jobs", type=int, default=1, help="programs at a time")
    noted.add_argument("--only", default="*", help="programs that match this pattern")
    noted.add_argument("--builds", type=Path, help="a folder where builds are kept")
    noted.add_argument(
        "--carried", action="store_true", help="they were made elsewhere, and are as they must be"
    )
    noted.add_argument("--seconds", type=int, default=60, help="how long a program may take")
    noted.add_argument("--within", type=float, default=36000, help="seconds for all of it")
    both = verbs.add_parser("same")
    both.add_argument("ours", type=Path, help="the folder of a virtual GPU's numbers")
    both.add_argument("theirs", type=Path, help="that of a real one's")
    both.add_argument("--output", type=Path, default=record.RESULTS / "numbers.h200.json")
    given = parser.parse_args()
    if given.verb == "packages":
        print(" ".join(f"'{one}'" for one in requirements(suites()[given.suite])))
    elif given.verb == "show":
        for name in known if given.suite == "all" else [given.suite]:
            _show(name, given.all)
    elif given.verb == "build":
        return _build(given)
    elif given.verb == "planted":
        _plant(given)
    elif given.verb == "numbers":
        _note(given)
    elif given.verb == "same":
        from . import same  # a real GPU's machine may not have what it needs

        known = json.loads(given.output.read_text("utf-8"))["suites"] if given.output.exists() else {}
        found = same.compare(given.ours, given.theirs, known)
        given.output.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(f"{given.output}: {same.totals(found)}")
    else:
        _run(given)
    return 0


def _note(given: argparse.Namespace) -> None:
    end = time.monotonic() + given.within
    device = _real_gpu() if given.gpu else " ".join(["ptxkit exec", given.exec]).strip()
    given.output.mkdir(parents=True, exist_ok=True)
    for suite, checkout in _checkouts(given, program_numbers.compared_suites()):
        found = program_numbers.run_suite(
            checkout,
            None if given.gpu else given.exec.split(),
            given.work.resolve() / suite.name,
            only=given.only,
            jobs=given.jobs,
            seconds=given.seconds,
            within=end - time.monotonic(),
            device=device,
            builds=_builds(given, suite),
            carried=given.carried,
        )
        print(program_numbers.write(found, given.output), flush=True)


def _checkouts(given: argparse.Namespace, known: dict[str, Suite]) -> Iterator[tuple[Suite, Checkout]]:
    """The suites that a command names, each with its checkout."""
    for each in given.checkouts:
        name, _, place = each.partition("=")
        suite = known[name]
        yield suite, Checkout(suite, Path(place).resolve() / suite.folder, os.path.abspath(given.python))


def _builds(given: argparse.Namespace, suite: Suite) -> Path | None:
    """Where builds of a suite's programs are kept, if a command says so."""
    return given.builds.resolve() / suite.name if given.builds else None


def _build(given: argparse.Namespace) -> int:
    """Build programs, and keep them; 1 if one of them can't be built."""
    bad = 0
    for suite, checkout in _checkouts(given, suites()):
        rows = programs(suite.programs).values() if suite.programs else []
        wanted = [row for row in rows if not row.script and fnmatch(row.name, given.only)]
        with ThreadPoolExecutor(given.jobs) as pool:
            bad += sum(pool.map(partial(_built, checkout, _builds(given, suite)), wanted))
    return min(bad, 1)


def _built(checkout: Checkout, builds: Path, program: Program) -> bool:
    """Keep a program's build, and say so; whether it can't be built."""
    start = time.monotonic()
    problem = builds_of.keep(checkout, program, builds)
    print(f"{program.name}: {problem or 'built'} in {time.monotonic() - start:.0f} s", flush=True)
    return bool(problem)


def _plant(given: argparse.Namespace) -> None:
    places = dict(each.split("=", 1) for each in given.checkouts)
    rows = {}
    for fault in planted():
        if fault.suite not in places:
            print(f"{fault.kind}: no checkout of {fault.suite} was named", flush=True)
            continue
        suite = suites()[fault.suite]
        checkout = Checkout(
            suite, Path(places[fault.suite]).resolve() / suite.folder, os.path.abspath(given.python)
        )
        rows[fault.kind] = row = find(fault, checkout, given.exec.split(), given.work.resolve())
        print(f"{fault.kind}: {row['found'] or 'not found: ' + row['problem']}", flush=True)
    found = {
        "schema": 1,
        "kind": "planted",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": " ".join(["ptxkit exec", given.exec]).strip(),
        "faults": rows,
    }
    path = record.RESULTS / "planted_programs.json"
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _run(given: argparse.Namespace) -> None:
    suite = suites()[given.suite]
    python = os.path.abspath(given.python)  # a venv's link must not be resolved
    checkout = Checkout(suite, given.checkout.resolve() / suite.folder, python)
    given.work.mkdir(parents=True, exist_ok=True)
    if suite.prepare and not (mark := given.work / "prepared").exists():
        path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
        subprocess.run(["sh", "-c", suite.prepare], cwd=checkout.folder, env={**os.environ, "PATH": path})
        mark.touch()
    exec_options = None if given.gpu else given.exec.split()
    every = checkout.files()
    wanted = [file for file in every if fnmatch(file, given.only)]
    todo = [file for file in wanted if given.again or not _kept(given.work, file).exists()]

    def one(file: str) -> None:
        if suite.programs:
            found = run_program(checkout, file, exec_options, given.work, builds=_builds(given, suite))
        else:
            found = run_file(checkout, file, exec_options, given.work)
        _kept(given.work, file).write_text(json.dumps(found.to_json()), "utf-8")
        outcomes = Counter(test.outcome for test in found.tests.values())
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        print(f"{file}: {told or 'no tests'} in {found.seconds:.0f} s", flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, todo))
    runs = {
        file: FileRun.from_json(json.loads(_kept(given.work, file).read_text("utf-8")))
        for file in every
        if _kept(given.work, file).exists()
    }
    path = given.output or record.record_path(suite.name, given.gpu)
    found = _record(checkout, runs, given, sorted(set(every) - set(runs)))
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"{path}: {record.counts(found['files'])}")


def _kept(work: Path, file: str) -> Path:
    return work / f"{file.replace('/', '.')}.json"


def _record(
    checkout: Checkout, runs: dict[str, FileRun], given: argparse.Namespace, not_run: list[str]
) -> dict[str, Any]:
    suite = checkout.suite
    files = record.rows(suite.name, runs)
    return {
        "schema": 1,
        "kind": "suite",
        "suite": suite.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": _real_gpu() if given.gpu else " ".join(["ptxkit exec", given.exec]).strip(),
        "tests_of": f"{suite.repository} {suite.commit}",
        "versions": checkout.versions(),
        "seconds": round(sum(run.seconds for run in runs.values())),
        "counts": record.counts(files),
        "failures": dict(record.failures(files).most_common()),
        "left_out": suite.left_out,
        "not_run": not_run,
        "files": files,
    }


def _real_gpu() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.check_output(query, text=True).splitlines()[0]


def _show(name: str, everything: bool) -> None:
    path = record.record_path(name)
    if not path.exists():
        print(f"{name}: no record")
        return
    found = record.read(path)
    total = record.counts(found["files"])
    print(f"{name}: " + ", ".join(f"{count} {outcome}" for outcome, count in total.items()))
    for reason, count in record.failures(found["files"]).most_common():
        print(f"  {count:5} {reason}")
    for file, row in found["files"].items():
        for test, (reason, why) in row["failed"].items():
            if everything or reason == record.NOT_YET:
                print(f"  {file}::{test}: {why}")
    for real in sorted(record.RESULTS.glob(f"suites.{name}.*.json")):
        compared = record.beside(found, record.read(real))
        share = compared["passed"] / max(1, compared["counted"])
        print(f"  of {compared['counted']} that pass by {real.name}: {compared['passed']} ({share:.1%})")


if __name__ == "__main__":
    sys.exit(main())
