"""What numbers programs compute: every copy to the host, every tensor that a kernel of Triton's wrote.

A program of C++ runs with copies.c before it, one of PyTorch's within plugin/launches.py, tests of pytest's
with plugin/driver_copies.py; these say in their heads what they note. The same on a virtual GPU and on a real
one; `same.py` compares the two.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
import tomllib
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .programs import TEST, programs, run_program
from .runner import FileRun, run_file
from .suite import HERE, Checkout, Suite, suites

PRELOADED = 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"'
"""A library before all others: those that `ptxkit exec` preloads come behind it."""
LATE = "there was no time left"


def table() -> dict[str, Any]:
    """numbers.toml, which explains its names."""
    return tomllib.loads((HERE / "numbers.toml").read_text("utf-8"))


def compared_suites() -> dict[str, Suite]:
    """The suites whose numbers are compared, of the releases that a real GPU's machine has."""
    known = suites()
    return {name: replace(known[name], **row) for name, row in table()["suites"].items()}


def library(folder: Path) -> Path:
    """copies.c, compiled into a folder."""
    found = folder / "copies.so"
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-O2",
        str(HERE / "copies.c"),
        "-o",
        str(found),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    return found


def run_numbers(
    checkout: Checkout,
    name: str,
    exec_options: list[str] | None,
    work: Path,
    copies: Path,
    builds: Path | None = None,
    carried: bool = False,
) -> dict[str, Any]:
    """Run a program: how it ended, and its numbers in their order.

    On a virtual GPU `open_bits` are among it. On a real one it is run twice, and numbers that the second run
    has not are marked as not `steady`.

    Args:
        checkout: the suite.
        name: the program's.
        exec_options: of `ptxkit exec`; None on a real GPU.
        work: for the program's copy and logs.
        copies: what `library` gave.
        builds: a folder of builds that are kept.
        carried: whether these were made on another machine: they are taken as they are.
    """
    stem = name.replace("/", ".")
    log, cache = work / f"{stem}.numbers", work / f"{stem}.triton"
    # PyTorch has its random numbers from the same instructions everywhere.
    before = ["env", f"NUMBERS_LOG={log}", f"TRITON_CACHE_DIR={cache}", "ATEN_CPU_CAPABILITY=avx2"]
    program = programs(checkout.suite.programs)[name]
    if exec_options is None:
        # As many as the virtual side has: some programs use all that there are.
        before.append(f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(program.devices)))}")
    if program.script:
        before += [checkout.python, str(HERE / "plugin" / "launches.py")]
    else:
        before += ["sh", "-c", PRELOADED, str(copies)]

    def once(built: bool) -> tuple[FileRun, list[dict[str, Any]]]:
        log.unlink(missing_ok=True)
        run = run_program(checkout, name, exec_options, work, before, built, builds)
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        return run, [_packed(json.loads(line)) for line in lines]

    if carried and builds is not None:
        shutil.copytree(builds / name, work / name, dirs_exist_ok=True)
    run, noted = once(built=carried and not program.script)
    test = run.tests[f"{name}::{TEST}"]
    found: dict[str, Any] = {"outcome": test.outcome, "why": test.why, "seconds": round(run.seconds, 1)}
    if exec_options is not None:
        places = [*(work / name).rglob("*.ptx"), *cache.rglob("*.ptx")]
        found["open"] = open_bits(place.read_text("utf-8", errors="replace") for place in places)
    elif test.outcome == "passed":
        _, again = once(built=True)
        for number, other in zip_longest(noted, again):
            if number is not None and (other is None or number.get("hash") != other.get("hash")):
                number["steady"] = False
    return found | {"numbers": noted}


def run_tests(checkout: Checkout, file: str, exec_options: list[str] | None, work: Path) -> dict[str, Any]:
    """Run a file of tests: what came of each, and the numbers of all in their order."""
    log = work / f"{file.replace('/', '.')}.numbers"
    log.unlink(missing_ok=True)
    suite = replace(
        checkout.suite,
        options=[*checkout.suite.options, "-p", "driver_copies"],
        environment=checkout.suite.environment | {"NUMBERS_LOG": str(log)},
    )
    run = run_file(replace(checkout, suite=suite), file, exec_options, work)
    tests = {node.partition("::")[2]: test.outcome for node, test in run.tests.items()}
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    noted = [_packed(json.loads(line)) for line in lines]
    return {
        "outcome": "passed",
        "why": "",
        "seconds": round(run.seconds, 1),
        "tests": tests,
        "numbers": noted,
    }


def open_bits(texts: Iterable[str]) -> list[str]:
    """What in some PTX has results whose bits PTX does not fix, by `open` of numbers.toml."""
    held, rows = list(texts), table()["open"]
    return [row["is"] for row in rows if any(re.search(row["ptx"], text) for text in held)]


def _packed(row: dict[str, Any]) -> dict[str, Any]:
    if "sample" in row:
        row["sample"] = base64.b64encode(zlib.compress(bytes.fromhex(row["sample"]))).decode()
    return row


def sample(row: dict[str, Any]) -> bytes:
    """The bytes of a row's sample."""
    return zlib.decompress(base64.b64decode(row["sample"]))


def run_suite(
    checkout: Checkout,
    exec_options: list[str] | None,
    work: Path,
    only: str,
    jobs: int,
    seconds: int,
    within: float,
    device: str,
    builds: Path | None = None,
    carried: bool = False,
) -> dict[str, Any]:
    """The numbers of a suite's programs.

    Args:
        checkout: the suite.
        exec_options: of `ptxkit exec`; None on a real GPU.
        work: for copies, logs and what is known of programs already, which are not run again.
        only: a pattern of programs' names.
        jobs: programs at a time.
        seconds: how long a program may take.
        within: seconds after which no other program begins, and none runs on.
        device: what they run on, in words.
        builds: a folder of builds that are kept.
        carried: whether these were made on another machine.
    """
    work.mkdir(parents=True, exist_ok=True)
    copies, end = library(work), time.monotonic() + within

    def one(name: str) -> dict[str, Any]:
        kept = work / f"{name.replace('/', '.')}.json"
        if kept.exists():
            return json.loads(kept.read_text("utf-8"))
        if (left := int(end - time.monotonic())) <= 0:
            return {"outcome": "not run", "why": LATE, "seconds": 0, "numbers": []}
        suite = replace(checkout.suite, test_seconds=min(seconds, left))
        here = replace(checkout, suite=suite)
        if suite.programs:
            found = run_numbers(here, name, exec_options, work, copies, builds, carried)
        else:
            found = run_tests(here, name, exec_options, work)
        kept.write_text(json.dumps(found), "utf-8")
        said = f"{found['outcome']}, {len(found['numbers'])} numbers, {found['seconds']:.0f} s {found['why']}"
        print(f"{name}: {said}", flush=True)
        return found

    names = [name for name in _comparable(checkout.suite, checkout.files()) if fnmatch(name, only)]
    with ThreadPoolExecutor(jobs) as pool:
        rows = dict(zip(names, pool.map(one, names), strict=True))
    return {
        "schema": 1,
        "kind": "numbers",
        "suite": checkout.suite.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": device,
        "tests_of": f"{checkout.suite.repository} {checkout.suite.commit}",
        "versions": checkout.versions(),
        "programs": rows,
    }


def _comparable(suite: Suite, names: list[str]) -> list[str]:
    """Those of a suite's programs that are not built for another device than the real one."""
    rows = programs(suite.programs) if suite.programs else {}
    device = table()["device"]
    return [name for name in names if name not in rows or rows[name].arch[: len(device)] in ("", device)]


def write(found: dict[str, Any], folder: Path) -> Path:
    """Keep a suite's numbers."""
    path = folder / f"numbers.{found['suite']}.json"
    path.write_text(json.dumps(found) + "\n", "utf-8")
    return path
