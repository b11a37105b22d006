"""Modules of chains."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from compare.chains.model import (
    LEFT,
    PLACES,
    POOL,
    SLOT,
    THREADS,
    ZERO,
    Chain,
    Control,
    Result,
    Step,
    registers,
)
from ptxkit import targets

DATA = tuple(0x9E3779B97F4A7C15 * (word + 3) >> 7 & 0xFFFFFFFF for word in range(SLOT // 4))
"""What the tables that are only read hold, as words."""
SUMS = 64
"""Bytes behind the slots of global memory, for reductions of all threads."""
STRUCTURE = ("{", "}", ".reg", ".param")
"""What a line begins with that takes no guard."""


def module(
    chains: Sequence[Chain],
    target: targets.Target,
    version: targets.Version,
    without: Collection[tuple[str, int]] = (),
) -> str:
    """A module of several chains, without the statements that `without` names by chain and number."""
    words = ", ".join(f"{word:#x}" for word in DATA)
    lines = [f".version {targets.show(version)}", f".target {target}", ".address_size 64"]
    lines += [f".const .align 16 .b32 cdata[{len(DATA)}] = {{{words}}};"]
    lines += [f".global .align 16 .b32 gdata[{len(DATA)}] = {{{words}}};", ".global .b64 zero;"]
    for chain in chains:
        dropped = {number for name, number in without if name == chain.name}
        others = [step for step in chain.steps if step.number not in dropped and step.family != "control"]
        alive = {region for step in others for region in step.regions}
        # What a region hangs on is there as long as something in it is.
        kept = [
            step
            for step in chain.steps
            if (step.regions[-1] in alive if step.family == "control" else step.number not in dropped)
        ]
        used = "\n".join(line for step in kept for line in step.lines)
        for function in chain.functions:
            name = function.partition(") ")[2].split()[0]
            if name in used:
                lines.append(function)
        lines += _entry(chain, kept)
    return "\n".join([*lines, ""])


def _entry(chain: Chain, kept: Sequence[Step]) -> list[str]:
    block = THREADS // chain.ctas
    cluster = ".explicitcluster .reqnctapercluster 2, 1, 1" if chain.ctas == 2 else ""
    lines = [
        f".visible .entry {chain.name}(.param .u64 values, .param .u64 results,",
        f"    .param .align 16 .b8 given[{SLOT}])",
        f".reqntid {block} {cluster}",
        "{",
        ".reg .b32 %x, %y, %sm, %thread, %count;",
        ".reg .b64 %in, %out, %gm, %at, %to, %sum, %pointer;",
        ".reg .b16 %lo, %hi;",
        ".reg .pred %q;",
        *ZERO,
        f".shared .align 16 .b8 own[{SLOT * block}];",
        f".shared .align 16 .b8 fixed[{SLOT}];",
        f".shared .align 8 .b8 sums[{SUMS}];",
        f".shared .align 8 .b8 memory[{8 * block}];",
        f".local .align 16 .b8 mine[{SLOT}];",
        *(
            f".reg .{'pred' if bits == 1 else f'b{bits}'} %{letter}<{count}>;"
            for bits, (letter, count) in POOL.items()
        ),
        *chain.variables,
        "mov.u32 %x, %ctaid.x;",
        "mov.u32 %thread, %tid.x;",
        f"mad.lo.u32 %thread, %x, {block}, %thread;",
        "mul.wide.u32 %at, %thread, 8;",
        "ld.param.u64 %in, [values];",
        "ld.param.u64 %out, [results];",
        f"mul.wide.u32 %gm, %thread, {SLOT};",
        "add.u64 %gm, %gm, %out;",
        f"add.u64 %gm, %gm, {8 * THREADS * chain.rows};",
        f"add.u64 %sum, %out, {8 * THREADS * chain.rows + SLOT * THREADS};",
        "add.u64 %in, %in, %at;",
        "add.u64 %out, %out, %at;",
        "mov.u32 %x, %tid.x;",
        "mov.u32 %sm, own;",
        f"mad.lo.u32 %sm, %x, {SLOT}, %sm;",
    ]
    for word in range(SLOT // 8):
        lines += [
            f"ld.global.b64 %to, [%in+{8 * THREADS * (PLACES + word)}];",
            f"st.shared.b64 [%sm+{8 * word}], %to;",
            f"st.local.b64 [mine+{SLOT - 8 - 8 * word}], %to;",
        ]
    lines += [
        f"setp.lt.u32 %q, %x, {SLOT // 4};",
        "shl.b32 %x, %x, 2;",
        "mov.u32 %y, fixed;",
        "add.u32 %y, %y, %x;",
        "@%q st.shared.b32 [%y], %x;",
        "mov.u32 %y, sums;",
        "add.u32 %y, %y, %x;",
        "@%q st.shared.b32 [%y], %x;",
        "bar.sync 0;",
    ]
    for name, bits, row in registers():
        address = f"[%in+{8 * THREADS * row}]"
        if bits == 1:
            lines += [f"ld.global.b32 %x, {address};", f"setp.ne.u32 {name}, %x, 0;"]
        else:
            lines.append(f"ld.global.b{bits} {name}, {address};")
    lines += _body(chain, kept)
    row = chain.rows - LEFT
    for name, bits, place in registers():
        lines += _store(Result(name, bits), row + place)
    row += PLACES
    for word in range(SLOT // 8):
        lines += [f"ld.shared.b64 %to, [%sm+{8 * word}];", *_store(Result("%to", 64), row + 2 * word)]
        lines += [f"ld.local.b64 %to, [mine+{8 * word}];", *_store(Result("%to", 64), row + 2 * word + 1)]
    if chain.ctas == 2:
        lines += ["barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;"]
    return [*lines, "ret;", "}"]


def _body(chain: Chain, kept: Sequence[Step]) -> list[str]:
    alive = {region for step in kept for region in step.regions}
    numbers = {step.number for step in kept}
    lines: list[str] = []
    for item in chain.body:
        if isinstance(item, Control):
            if item.region in alive:
                lines += item.lines
        elif item.number in numbers:
            body = [
                *item.lines,
                *(
                    line
                    for place, result in enumerate(item.results)
                    for line in _store(result, item.row + place)
                ),
                *item.after,
            ]
            lines += [_guarded(line, item.guard) for line in body] if item.guard else body
    return lines


def _guarded(line: str, guard: str) -> str:
    return line if line.startswith(STRUCTURE) else f"@{guard} {line}"


def _store(result: Result, row: int) -> list[str]:
    address = f"[%out+{8 * THREADS * row}]"
    if result.bits == 1:
        return [f"selp.u32 %x, 1, 0, {result.name};", f"st.global.b32 {address}, %x;"]
    return [f"st.global.b{result.bits} {address}, {result.name};"]
