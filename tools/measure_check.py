"""Measure how long reading and checking a file takes, beside a full compile of it by ptxas.

    python tools/measure_check.py [--rounds 9] [--output FILE]

The file is the largest of Triton's in the corpus. Each round runs, one after the other: ptxas on it; `parse`
and `check` of it in a fresh process, as the first thing that this process reads and once more; `ptxkit check`
of it as a command; `ptxkit check` of a file of 50 lines. Modules are compiled ahead, as in an installed
package. Figures are medians over the rounds, by the wall's clock and by the processes' own; ratios are taken
round by round, since other work may share the machine. Writes bench/results/check_speed.json; exits with 1
where a bar is missed.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import measuring
from measuring import timed_command

from ptxkit.asm import parse

SHARE, START = 0.5, 0.25
"""The bars: share of ptxas's time for the large file, seconds for the small one, process start included."""

SMALL = """\
.version 8.0
.target sm_90
.address_size 64

// c[i] = a[i] * b[i] + c[i], four elements a thread; n is a multiple of four.

.visible .entry multiply_add(
    .param .u64 a,
    .param .u64 b,
    .param .u64 c,
    .param .u32 n
)
.maxntid 256
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<16>;
    .reg .b64 %rd<8>;

    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    shl.b32 %r5, %r4, 2;
    ld.param.u32 %r6, [n];
    setp.ge.u32 %p1, %r5, %r6;
    @%p1 bra done;

    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;

    ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd5];
    ld.global.nc.v4.f32 {%f4, %f5, %f6, %f7}, [%rd6];
    ld.global.v4.f32 {%f8, %f9, %f10, %f11}, [%rd7];
    fma.rn.f32 %f12, %f0, %f4, %f8;
    fma.rn.f32 %f13, %f1, %f5, %f9;
    fma.rn.f32 %f14, %f2, %f6, %f10;
    fma.rn.f32 %f15, %f3, %f7, %f11;
    st.global.v4.f32 [%rd7], {%f12, %f13, %f14, %f15};
done:
    ret;
}
"""

PROGRAM = """\
import json, sys, time
from ptxkit.asm import parse
from ptxkit.asm.check import check
from pathlib import Path

def once():
    wall, cpu = time.perf_counter(), time.process_time()
    module = parse(Path(sys.argv[1]))
    read = time.perf_counter()
    found = check(module)
    end = time.perf_counter()
    assert not any(d.is_error for d in found), found[0]
    return {"parse": read - wall, "check": end - read, "wall": end - wall, "cpu": time.process_time() - cpu}

print(json.dumps([once(), once()]))
"""
"""What a fresh process does: once as the first thing, and once more."""


def measure(rounds: int) -> dict[str, Any]:
    """So many rounds, after one to warm up."""
    path = measuring.largest_of_triton()
    module = parse(path)
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        raise SystemExit("no ptxas on PATH")
    release = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    python = sys.executable
    made: list[dict[str, dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.ptx"
        small.write_text(SMALL)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        for number in range(rounds + 1):
            compile_ = [ptxas, f"-arch={module.target}", path, "-o", Path(folder) / "out.cubin"]
            compiled, _ = timed_command(compile_, environment)
            _, printed = timed_command([python, "-c", PROGRAM, path], environment)
            first, again = json.loads(printed)
            command, _ = timed_command([python, "-m", "ptxkit", "check", path], environment)
            start, _ = timed_command([python, "-m", "ptxkit", "check", small], environment)
            runs = {"ptxas": compiled, "first": first, "again": again, "command": command, "small": start}
            if number:
                made.append(runs)
    return measuring.document(
        "check_speed",
        file=f"{path.parent.name}/{path.name}",
        bytes=path.stat().st_size,
        lines=path.read_text().count("\n"),
        lines_of_the_small_file=SMALL.count("\n"),
        ptxas=release.strip().splitlines()[-1],
        seconds={name: {k: _median(made, name, k) for k in made[0][name]} for name in made[0]},
        share_of_ptxas={
            name: {clock: _share(made, name, clock) for clock in ("wall", "cpu")}
            for name in ("first", "again", "command")
        },
        bars={"share_of_ptxas": SHARE, "seconds_of_the_small_file": START},
        load_average=measuring.load_average(),
        rounds=made,
    )


def _median(made: list[dict[str, dict[str, float]]], name: str, clock: str) -> float:
    return round(statistics.median(each[name][clock] for each in made), 4)


def _share(made: list[dict[str, dict[str, float]]], name: str, clock: str) -> float:
    return round(statistics.median(each[name][clock] / each["ptxas"][clock] for each in made), 3)


def main() -> int:
    parser = measuring.command_line(__doc__, "check_speed.json")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    found = measure(arguments.rounds)
    measuring.write(arguments.output, found)
    seconds, share = found["seconds"], found["share_of_ptxas"]
    for name, what in (
        ("first", "parse and check, first in a process"),
        ("again", "parse and check, once more"),
        ("command", "`ptxkit check`"),
    ):
        print(
            f"{what}: {seconds[name]['wall']:.3f} s, ptxas {seconds['ptxas']['wall']:.3f} s, "
            f"share {share[name]['wall']:.2f} by the wall's clock, {share[name]['cpu']:.2f} by the CPU's"
        )
    print(f"`ptxkit check` of {SMALL.count(chr(10))} lines: {seconds['small']['wall']:.3f} s")
    reached = share["first"]["wall"] <= SHARE and seconds["small"]["wall"] <= START
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
