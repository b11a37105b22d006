"""Compare what wrong calls of the driver are answered with a GPU's answers.

The calls are in tests/virtual_clients/wrong_calls.

    python tools/compare_wrong_calls.py record bench/results/wrong_calls.h200.json     # on a GPU
    python tools/compare_wrong_calls.py compare bench/results/wrong_calls.h200.json    # without one

`record` makes the calls of each chapter on GPU 0 and writes what each is answered: a code, the name of the
signal that ended the process, `hang`, or why what the call needs could not be made. A driver that got a bad
handle may be damaged, so the calls behind such a one are made by a new process. Two minutes on 16 cores.

`compare` makes the same calls under `ptxkit exec`, a process a chapter, prints every difference, and exits
with 1 where there is one. What the GPU did not answer is left out and counted; so are the differences that
`tests/data/wrong_calls.toml` gives a reason for, of which each must be one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring import document, write

from ptxkit.diagnostics import PtxkitError
from ptxkit.virtual.symbols import results

CLIENTS = Path(__file__).resolve().parents[1] / "tests" / "virtual_clients"
ACCEPTED = CLIENTS.parent / "data" / "wrong_calls.toml"
PATIENCE = 60
"""Seconds that a process has for its next line."""

Answer = int | str
Answers = dict[str, dict[str, Answer]]
"""By chapter and call: the code, or why there is none."""


def client(*words: str, under: Sequence[str] = ()) -> list[str]:
    """The command that makes the calls, in this Python."""
    return [*under, sys.executable, "-m", "wrong_calls", *words]


def environment() -> dict[str, str]:
    """Where the calls are found; a driver keeps no code on disk."""
    return {**os.environ, "PYTHONPATH": str(CLIENTS), "CUDA_CACHE_DISABLE": "1"}


def chapters() -> dict[str, list[str]]:
    """What each call is, by chapter."""
    done = subprocess.run(client(), env=environment(), capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def lines_of(process: subprocess.Popen[bytes], patience: float) -> tuple[list[dict[str, Any]], bool]:
    """The lines that a process prints, and whether it was killed for saying nothing for so many seconds."""
    assert process.stdout is not None
    found = []
    while True:
        ready, _, _ = select.select([process.stdout], [], [], patience)
        line = process.stdout.readline() if ready else b""
        if not line:
            if not ready:
                process.kill()
            process.wait()
            return found, not ready
        if line.startswith(b"{"):  # a driver may have something to say, too
            found.append(json.loads(line))


def answer_of(line: dict[str, Any]) -> Answer:
    """What a line says that a call was answered."""
    return line["code"] if "code" in line else str(line["unmade"])


def ended(process: subprocess.Popen[bytes], hung: bool) -> str:
    """How a process ended in the middle of a call."""
    if hung:
        return "hang"
    code = process.returncode
    return signal.Signals(-code).name if code < 0 else f"exit {code}"


def answers(calls: Sequence[str], command: Sequence[str], patience: float = PATIENCE) -> dict[str, Answer]:
    """What calls are answered by processes of a command, each of which makes those from a number on.

    Args:
        calls: what each call is, in order.
        command: takes the number of the first call to make as its last argument.
        patience: seconds that a call has.
    """
    found: dict[str, Answer] = {}
    while len(found) < len(calls):
        first = len(found)
        process = subprocess.Popen(
            [*command, str(first)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        lines, hung = lines_of(process, patience)
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        for line in lines:
            if len(line) > 2:
                found[line["call"]] = answer_of(line)
        if lines and len(lines[-1]) == 2:
            found[lines[-1]["call"]] = ended(process, hung)
        elif len(found) == first:  # it made no call at all: nor would another process
            why = complaint or ended(process, hung)
            found |= {call: f"no process: {why}" for call in calls[first:]}
    return found


def record(path: Path, processes: int, only: str) -> int:
    """Let the GPU answer."""
    from ptxkit.driver import CudaDevice

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    device = CudaDevice(0)
    name = device.name
    device.close()
    wanted = {chapter: calls for chapter, calls in chapters().items() if re.search(only, chapter)}

    def work(chapter: str) -> dict[str, Answer]:
        found = answers(wanted[chapter], client(chapter))
        print(f"{chapter}: {_summary(found)}", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(processes) as pool:
        found = dict(zip(wanted, pool.map(work, wanted), strict=True))
    write(path, document("wrong_calls", gpu=name, chapters=found))
    print(_summary({f"{chapter}: {what}": one for chapter, of in found.items() for what, one in of.items()}))
    return 0


def _summary(found: dict[str, Answer]) -> str:
    """How many calls were answered, and what became of the others."""
    codes = sum(isinstance(answer, int) for answer in found.values())
    others = [f"    {what}: {answer}" for what, answer in found.items() if not isinstance(answer, int)]
    return "\n".join([f"{codes} of {len(found)} calls were answered", *others])


def emulated(wanted: Sequence[str]) -> tuple[Answers, int]:
    """What the calls of chapters are answered by one process under `ptxkit exec`, and its exit code.

    Args:
        wanted: chapters that have the same before their first calls.
    """
    command = client(",".join(wanted), under=[sys.executable, "-m", "ptxkit", "exec", "--"])
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    lines, hung = lines_of(process, PATIENCE)
    found: Answers = {chapter: {} for chapter in wanted}
    for line in lines:
        answer = answer_of(line) if len(line) > 2 else ended(process, hung)
        found[line["chapter"]][line["call"]] = answer
    return found, process.returncode


def differences(recorded: dict[str, Answer], ours: dict[str, Answer]) -> tuple[dict[str, str], int]:
    """Where a chapter's answers differ, by call, and how many calls the GPU did not answer."""
    unanswered = [what for what, answer in recorded.items() if not isinstance(answer, int)]
    found = {
        what: f"the GPU's {named(recorded[what])}, ours {named(ours.get(what, 'none'))}"
        for what in recorded
        if what not in unanswered and recorded[what] != ours.get(what)
    }
    return found, len(unanswered)


def accepted() -> set[str]:
    """The differences that have a reason: `chapter: call`, or a chapter."""
    given = tomllib.loads(ACCEPTED.read_text(encoding="utf-8"))["difference"]
    return {call for one in given if one["reason"] for call in one["calls"]}


def wrong(chapter: str, found: dict[str, str], known: set[str]) -> list[str]:
    """The differences of a chapter that have no reason, and the reasons that have no difference."""
    if chapter in known:
        return [] if found else [f"{chapter}: there is no difference any more"]
    named = {f"{chapter}: {what}": told for what, told in found.items()}
    lines = [f"{call}: {told}" for call, told in named.items() if call not in known]
    own = sorted(call for call in known if call.partition(": ")[0] == chapter)
    return lines + [f"{call}: there is no difference any more" for call in own if call not in named]


def named(answer: Answer) -> str:
    """An answer for people."""
    if isinstance(answer, str):
        return answer
    name = results().get(answer, (None,))[0]
    return (name or str(answer)).removeprefix("CUDA_ERROR_")


def compare(path: Path, only: str) -> int:
    """Make the same calls here."""
    recorded: Answers = json.loads(path.read_text(encoding="utf-8"))["chapters"]
    different = unanswered = compared = failures = 0
    known = accepted()
    for chapter, codes in recorded.items():
        if re.search(only, chapter):
            found, missing = differences(codes, emulated([chapter])[0][chapter])
            lines = wrong(chapter, found, known)
            print(*lines, sep="\n", end="\n" if lines else "")
            different, unanswered = different + len(found), unanswered + missing
            compared, failures = compared + len(codes) - missing, failures + len(lines)
    print(
        f"{compared} calls compared, {compared - different} alike; {unanswered} that the GPU did not answer;"
        f" {different} different, {failures} lines without a reason"
    )
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("path", type=Path, help="the record")
    parser.add_argument("--only", default="", metavar="REGEX", help="chapters whose names contain it")
    parser.add_argument("--processes", type=int, default=8, help="processes that use the GPU at once")
    given = parser.parse_args()
    if given.what == "record":
        return record(given.path, given.processes, given.only)
    return compare(given.path, given.only)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PtxkitError as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
