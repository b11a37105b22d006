"""Load, launch and drop a kernel many times on a GPU, and say what memory is gone afterwards.

    python tools/measure_rounds.py OUT.json [--cubin 100000] [--ptx 2000]

A round loads a module, allocates 256 KiB, launches once and drops everything. Device memory is what the
driver says is free, host memory the process's resident set; both are taken before and after the rounds,
which some more have gone before, so that pools have their size.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import measuring

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.driver import CudaDevice
from ptxkit.toolchain.assembler import assemble

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 .ptr .global .align 4 out, .param .u32 value)
{
    .reg .b32 %thread, %value;
    .reg .b64 %out, %offset;
    mov.u32 %thread, %tid.x;
    ld.param.u64 %out, [out];
    ld.param.u32 %value, [value];
    cvta.to.global.u64 %out, %out;
    mul.wide.u32 %offset, %thread, 4;
    add.u64 %out, %out, %offset;
    st.global.u32 [%out], %value;
    ret;
}
"""
WARMUP = 100
MOST_LOST = 4 << 20
"""Bytes of device memory that may be gone: the driver gives out two megabytes at a time."""
MOST_GROWN = 64 << 20
"""Bytes by which the process may have grown."""


def machine_code(device: CudaDevice) -> bytes:
    """The kernel as a cubin for the GPU."""
    assembly = assemble(parse(PTX), str(targets.for_capability(device.capability)))
    if assembly.cubin is None:
        raise SystemExit(f"the assembler refused the kernel: {assembly.diagnostics}")
    return assembly.cubin


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(device: CudaDevice, source: str | bytes, rounds: int) -> dict[str, Any]:
    """Time and memory of so many rounds, after some that don't count."""

    def once() -> None:
        device.load(source).kernel().launch(1, 32, [device.empty(1 << 16, "u32"), 1])

    for _ in range(WARMUP):
        once()
    free, size = device.memory()[0], resident()
    start = time.perf_counter()
    for _ in range(rounds):
        once()
    seconds = time.perf_counter() - start
    free_after, size_after = device.memory()[0], resident()
    return {
        "rounds": rounds,
        "seconds": seconds,
        "device_free": [free, free_after],
        "host_resident": [size, size_after],
        "met": free - free_after < MOST_LOST and size_after - size < MOST_GROWN,
    }


def main() -> int:
    parser = measuring.command_line(__doc__)
    parser.add_argument("--cubin", type=int, default=100_000, help="rounds with machine code")
    parser.add_argument("--ptx", type=int, default=2_000, help="rounds with PTX")
    chosen = parser.parse_args()
    document: dict[str, Any] = measuring.document("driver measurement", rounds={})
    with CudaDevice() as device:
        document |= {"device": device.name, "gpu": device.describe()}
        for name, source, rounds in (
            ("cubin", machine_code(device), chosen.cubin),
            ("ptx", PTX, chosen.ptx),
        ):
            found = document["rounds"][name] = run(device, source, rounds)
            measuring.write(chosen.output, document)
            free, free_after = found["device_free"]
            size, size_after = found["host_resident"]
            each = found["seconds"] / rounds * 1e6
            lost, grown = ((free - free_after) / 2**20, (size_after - size) / 2**20)
            print(
                f"{name:<6} {rounds:>7} rounds, {each:7.1f} us each: {lost:.2f} MiB of the GPU lost, ", end=""
            )
            print(f"process {grown:.2f} MiB larger")
    return 0 if all(found["met"] for found in document["rounds"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
