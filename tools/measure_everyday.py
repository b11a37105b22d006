"""Measure what everyday commands cost: how long the short ones take, how much memory a large file does.

    python tools/measure_everyday.py [--rounds 15] [--output FILE]

Each round runs, one after the other: `python -c pass`; `ptxkit --version`; `ptxkit --help`; `ptxkit run
gemv.ptx` on the emulator, its smallest preset. Figures are medians, by the wall's clock and by the processes'
own. Then `ptxkit check` reads a file of 10 MB, the function of Triton's largest kernel in the corpus again
and again under new names, and the most memory that it held is noted. Writes bench/results/everyday.json;
exits with 1 where a bar is missed, by the processes' own clock.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import measuring

COMMANDS = {
    "python": ["-c", "pass"],
    "version": ["-m", "ptxkit", "--version"],
    "help": ["-m", "ptxkit", "--help"],
    "run": ["-m", "ptxkit", "run", "gemv.ptx", "--device", "emu"],
}
BARS = {"version": 0.15, "help": 0.15, "run": 3.0}
"""Seconds, process start included."""
LARGE, MEMORY = 10_000_000, 1 << 30
"""Bytes of the large file, and that `check` of it may hold."""

WATCHED = """\
import json, resource, sys, time
from ptxkit.__main__ import main
began = time.perf_counter()
code = main(["check", sys.argv[1]])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
if sys.platform == "linux":  # There `ru_maxrss` begins with what the process that started this one held.
    held = [line.split() for line in open("/proc/self/status") if line.startswith("VmHWM:")]
    peak = int(held[0][1]) * 1024 if held else peak
found = {"exit": code, "seconds": time.perf_counter() - began, "bytes": peak}
print(json.dumps(found), file=sys.stderr)
"""


def large(size: int) -> str:
    """A module of at least so many bytes: the largest of Triton's, its functions again and again."""
    text = measuring.largest_of_triton().read_text()
    text = text[:at] if (at := text.find("\t.file\t")) >= 0 else text
    text = re.sub(r"^\s*\.loc\s.*\n", "", text, flags=re.MULTILINE)
    text = text.partition("\t.section\t")[0]
    start = text.index(".visible .entry")
    head, function = text[:start], text[start:]
    name = re.search(r"\.entry (\w+)", function)
    assert name
    copies = -(-size // len(function))
    return head + "".join(function.replace(name[1], f"{name[1]}_{copy}") for copy in range(copies))


def memory(size: int) -> dict[str, Any]:
    """What `ptxkit check` of a file of that size took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.ptx")
        path.write_text(large(size))
        done = subprocess.run([sys.executable, "-c", WATCHED, path], capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
        if found["exit"]:
            raise SystemExit(done.stdout[-2000:])
        return {**found, "file_bytes": path.stat().st_size, "said": done.stdout.splitlines()[-1]}


def timed(arguments: list[str]) -> dict[str, float]:
    """Seconds that Python takes with these arguments, by the wall's clock and by its own."""
    return measuring.timed_command([sys.executable, *arguments])[0]


def main() -> int:
    parser = measuring.command_line(__doc__, "everyday.json")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    for arguments in COMMANDS.values():
        timed(arguments)
    rounds = [{name: timed(arguments) for name, arguments in COMMANDS.items()} for _ in range(given.rounds)]
    seconds = {
        name: {clock: statistics.median(row[name][clock] for row in rounds) for clock in ("wall", "cpu")}
        for name in COMMANDS
    }
    checked = memory(LARGE)
    record = measuring.document(
        "everyday",
        seconds=seconds,
        check=checked,
        bars={"seconds": BARS, "bytes": MEMORY},
        load_average=measuring.load_average(),
        rounds=rounds,
    )
    measuring.write(given.output, record)
    for name, row in seconds.items():
        print(f"{name:8} {row['wall']:.3f} s, {row['cpu']:.3f} s of processor time")
    print(
        f"check    {checked['bytes'] / 2**20:.0f} MiB, {checked['seconds']:.1f} s, "
        f"for {checked['file_bytes']:,} bytes"
    )
    missed = [name for name, bar in BARS.items() if seconds[name]["cpu"] >= bar]
    missed += ["memory"] if checked["bytes"] >= MEMORY else []
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
