"""Modules one after another, unloaded or kept: `modules.py unload|keep COUNT` prints the mean milliseconds of
each half's loads, and the KiB that each module of the second half left in memory."""

import sys
import time

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT, begin


def resident() -> int:
    """KiB of this process in memory."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def load(count: int, kept: list[object] | None) -> tuple[float, float]:
    """Load so many. Returns milliseconds and KiB for each."""
    started, before = time.perf_counter(), resident()
    for _ in range(count):
        module = check(cuda.cuModuleLoadData(NEXT))
        check(cuda.cuModuleGetFunction(module, b"next"))
        if kept is None:
            check(cuda.cuModuleUnload(module))
        else:
            kept.append(module)
    return 1e3 * (time.perf_counter() - started) / count, (resident() - before) / count


def main(how: str, count: int) -> None:
    begin()
    kept: list[object] | None = [] if how == "keep" else None
    free = check(cuda.cuMemGetInfo())[0]
    halves = [load(count // 2, kept) for _ in range(2)]
    assert check(cuda.cuMemGetInfo())[0] == free, "a module without variables takes no memory of the device"
    print(*(f"{milliseconds:.2f}" for milliseconds, _ in halves), f"{halves[1][1]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
