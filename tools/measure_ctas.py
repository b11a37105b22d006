"""How fast CTAs start on a GPU, and what DRAM gives to short CTAs that read and write: figures of `predict`.

    python tools/measure_ctas.py bench/results/ctas.h200.json

Each row is a launch: of CTAs that do nothing or wait for some cycles, of several sizes, in clusters; and of
threads each of which sums one element of some arrays of 201 MB and writes it to others.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit import open_device, parse
from ptxkit.driver import Stopwatch
from ptxkit.machine.provenance import provenance
from ptxkit.running.session import as_gpu

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
NEVER = 0x7FFFFFFE
ARRAY = 192 << 20
"""Bytes of an array."""
ARRAYS = 4
WAVES = 256
"""CTAs of a launch for each multiprocessor."""

WAITS = """
.visible .entry k(.param .u64 x, .param .u32 never, .param .u64 array) {{
    .reg .b64 %x, %begun, %now; .reg .b32 %thread, %never; .reg .pred %p;
    ld.param.u64 %x, [x];
    ld.param.u32 %never, [never];
    mov.u32 %thread, %tid.x;
    mov.u64 %begun, %clock64;
WAIT:
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %begun;
    setp.lt.u64 %p, %now, {cycles};
    @%p bra WAIT;
    setp.eq.u32 %p, %thread, %never;
    @%p st.global.u32 [%x], %thread;
    ret;
}}
"""

SUMS = """
.visible .entry k(.param .u64 x, .param .u32 never, .param .u64 array) {{
    .reg .b64 %x, %at, %array; .reg .b32 %i, %threads, %thread, %never, %v<8>; .reg .pred %p;
    ld.param.u64 %x, [x];
    ld.param.u32 %never, [never];
    ld.param.u64 %array, [array];
    mov.u32 %thread, %tid.x;
    mov.u32 %i, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mad.lo.u32 %i, %i, %threads, %thread;
    mul.wide.u32 %at, %i, {size};
    add.u64 %x, %x, %at;
    {body}
    setp.eq.u32 %p, %v0, %never;
    @%p st.global.u32 [%x], %v0;
    ret;
}}
"""


def sums(reads: int, writes: int, words: int) -> str:
    """A kernel that reads some arrays and writes others, so many words a thread."""
    vector = "" if words == 1 else f".v{words}"

    def registers(first: int) -> str:
        names = ", ".join(f"%v{first + number}" for number in range(words))
        return names if words == 1 else f"{{{names}}}"

    lines = [f"mov.u32 %v{number}, %i;" for number in range(words)]
    for _ in range(reads):
        lines.append(f"ld.global{vector}.u32 {registers(4)}, [%x];")
        lines += [f"add.u32 %v{number}, %v{number}, %v{4 + number};" for number in range(words)]
        lines.append("add.u64 %x, %x, %array;")
    for _ in range(writes):
        lines += [f"st.global{vector}.u32 [%x], {registers(0)};", "add.u64 %x, %x, %array;"]
    return HEAD + SUMS.format(size=4 * words, body="\n    ".join(lines))


def launches(multiprocessors: int) -> Iterator[dict[str, Any]]:
    """What is timed: text, grid, block, cluster, and what a row says of it."""
    for threads, cycles in product((32, 128, 256, 512, 1024), (0, 1000, 4000)):
        grid = multiprocessors * WAVES // max(threads // 256, 1)
        yield {"waits": cycles, "grid": grid, "block": threads, "text": HEAD + WAITS.format(cycles=cycles)}
    for cluster, cycles in product((2, 4, 8), (0, 1000)):
        text = HEAD + WAITS.format(cycles=cycles)
        yield {
            "waits": cycles, "grid": multiprocessors * WAVES, "block": 128, "cluster": cluster, "text": text,
        }  # fmt: skip
    for words, threads, (reads, writes) in product(
        (1, 4), (128, 256, 1024), ((1, 0), (0, 1), (1, 1), (2, 1))
    ):
        moved = {"reads": reads, "writes": writes, "bytes_of_thread": 4 * words}
        grid = ARRAY // (4 * words * threads)
        yield {**moved, "grid": grid, "block": threads, "text": sums(reads, writes, words)}


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("record", type=Path)
    record: Path = parser.parse_args().record
    device = as_gpu(open_device("cuda"))
    stopwatch = Stopwatch(device)
    buffer = device.zeros((ARRAYS * ARRAY,), "uint8")
    rows = []
    for one in launches(device.sm_count):
        text, cluster = one.pop("text"), one.get("cluster")
        launch = (
            device.load(parse(text))
            .kernel("k")
            .prepare(
                grid=one["grid"], block=one["block"], cluster=cluster, args=[buffer, NEVER, ARRAY],
                stream=stopwatch.stream,
            )
        )  # fmt: skip
        stopwatch.times(launch, 3, 1)
        times = stopwatch.times(launch, 9, 1)
        rows.append({**one, "microseconds": round(statistics.median(times) * 1e6, 2)})
        print(rows[-1], flush=True)
    record.write_text(json.dumps({"kind": "ctas", **provenance(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
