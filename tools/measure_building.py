"""What building costs as a module grows: CPU seconds to read, check, load and compile synthetic modules.

    python tools/measure_building.py                 # every shape at 5000, 10000 and 20000 statements
    python tools/measure_building.py --sizes 2000 4000 --shapes blocks
    python tools/measure_building.py --file BIG.ptx --entry NAME

Of a shape the last column is the exponent between the two largest sizes, by the length of the text: 1 where
twice the text takes twice as long.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ptxkit.asm import parse
from ptxkit.asm.check import check
from ptxkit.emulator.device import Emulator, EmulatorModule

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
START = "ld.param.b64 %rd1, [{0}_out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, 7;"
PARTS = ("parse", "check", "load", "compile")


def entry(registers: int, body: list[str], name: str = "k") -> str:
    """An entry with one pointer, around a body that leaves its result in the last of so many registers."""
    return "\n".join(
        (
            f".visible .entry {name}(.param .u64 {name}_out)\n{{",
            f".reg .pred %p<{registers}>;\n.reg .b32 %r<{registers}>;\n.reg .b64 %rd<3>;",
            START.format(name),
            *body,
            f"st.global.b32 [%rd2], %r{registers - 1};\nret;\n}}\n",
        )
    )


def straight(count: int) -> str:
    """One block, a register a statement, each used by the next two."""
    return HEADER + entry(count + 2, [f"add.s32 %r{i}, %r{i - 1}, %r{i - 2};" for i in range(2, count + 2)])


def alive(count: int) -> str:
    """One block, half of whose registers are alive at its middle."""
    half = count // 2
    first = [f"add.s32 %r{i}, %r0, {i};" for i in range(2, half + 2)]
    rest = [f"add.s32 %r{half + i}, %r{half + i - 1}, %r{i};" for i in range(2, half + 2)]
    return HEADER + entry(2 * half + 2, first + rest)


def blocks(count: int) -> str:
    """A block for every four statements."""
    body = []
    for i in range(2, count // 4 + 2):
        body.append(f"L{i}:\nsetp.eq.s32 %p{i}, %r{i - 1}, {i};\nadd.s32 %r{i}, %r{i - 1}, 1;")
        body.append(f"@%p{i} bra L{i + 1};\nst.global.b32 [%rd2+{4 * i}], %r{i};")
    return HEADER + entry(count // 4 + 2, [*body, f"L{count // 4 + 2}:"])


def entries(count: int) -> str:
    """An entry for every 100 statements."""
    parts = (straight(100).removeprefix(HEADER).replace("k_out", f"k{i}_out") for i in range(count // 100))
    return HEADER + "".join(part.replace(".entry k(", f".entry k{i}(") for i, part in enumerate(parts))


SHAPES: dict[str, Callable[[int], str]] = {
    "straight": straight,
    "alive": alive,
    "blocks": blocks,
    "entries": entries,
}


def seconds(text: str, name: str | None = None) -> list[float]:
    """CPU seconds of each of `PARTS` for a text; `name`: the entry that is compiled, the first if None."""
    gc.collect()  # what was built before
    at = [time.process_time()]
    module = parse(text)
    at.append(time.process_time())
    check(module)
    at.append(time.process_time())
    loaded = EmulatorModule(Emulator(), module)
    at.append(time.process_time())
    assert loaded.kernel(name or module.entries[0].name).program
    at.append(time.process_time())
    return [end - start for start, end in pairwise(at)]


def main() -> None:
    """Print a line a size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--sizes", type=int, nargs="+", default=[5000, 10000, 20000])
    options.add_argument("--shapes", nargs="+", choices=SHAPES, default=[*SHAPES])
    options.add_argument("--file", type=Path)
    options.add_argument("--entry")
    given = options.parse_args()
    print(f"{'':24}", *(f"{part:>8}" for part in PARTS))
    if given.file:
        print(f"{given.file.name:24}", *(f"{s:8.2f}" for s in seconds(given.file.read_text(), given.entry)))
        return
    seconds(HEADER + entry(4, []))  # loads what is loaded once
    for shape in given.shapes:
        lengths, spent = [], []
        for size in given.sizes:
            text = SHAPES[shape](size)
            found = seconds(text)
            lengths.append(len(text))
            spent.append(sum(found))
            print(f"{shape:10}{size:>8} {len(text) / 1e6:4.1f}M", *(f"{s:8.2f}" for s in found), end="")
            if len(spent) > 1:
                exponent = math.log(spent[-1] / spent[-2]) / math.log(lengths[-1] / lengths[-2])
                print(f"   exponent {exponent:.2f}", end="")
            print(flush=True)


if __name__ == "__main__":
    main()
