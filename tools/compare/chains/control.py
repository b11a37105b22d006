"""Regions: branches and loops in which lanes part, tables of branches, guards, warps apart.

Every lane keeps the condition of a region in a register of its own, the lanes of a region are a ballot over
those around it, and both are compared like results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compare.chains.writer import Writer

Fill = Callable[[Writer, int], None]
"""Writes about so many statements."""

TARGETS = 3
"""Labels of a table of branches."""


def branch(writer: Writer, count: int, fill: Fill) -> None:
    """Lanes part by a predicate, to one side or to two."""
    taken = writer.fresh("g", "pred")
    before = writer.enter(whole_cta=False, whole_warp=False)
    number = writer.here.regions[-1]
    yes, no = writer.fresh("m", "b32"), writer.fresh("m", "b32")
    condition = writer.source(1)
    writer.step(
        "control",
        "branch",
        (
            f"mov.pred {taken}, {condition};",
            f"vote.sync.ballot.b32 {yes}, {taken}, {before.mask};",
            f"xor.b32 {no}, {yes}, {before.mask};",
        ),
        [(taken, 1), (yes, 32)],
        together=True,
    )
    two = writer.random.random() < 0.6
    writer.control(f"@!{taken} bra {'ELSE' if two else 'END'}_{number};")
    inner = writer.here
    writer.here = replace(inner, mask=yes)
    fill(writer, count // 2 + 1 if two else count)
    if two:
        writer.control(f"bra END_{number};", f"ELSE_{number}:")
        writer.here = replace(inner, mask=no)
        fill(writer, count // 2 + 1)
    writer.control(f"END_{number}:", f"bar.warp.sync {before.mask};")
    writer.here = before


def loop(writer: Writer, count: int, fill: Fill) -> None:
    """Some lanes stay longer than others, or all as long."""
    alike = writer.random.random() < 0.3
    before = writer.enter(**({} if alike else {"whole_cta": False, "whole_warp": False}))
    number = writer.here.regions[-1]
    left, more = writer.fresh("n", "b32"), writer.fresh("g", "pred")
    if alike:
        writer.control(f"mov.b32 {left}, {writer.random.randrange(1, 4)};", f"AGAIN_{number}:")
        fill(writer, count)
        writer.control(
            f"sub.u32 {left}, {left}, 1;",
            f"setp.ne.u32 {more}, {left}, 0;",
            f"@{more} bra AGAIN_{number};",
            f"bar.warp.sync {before.mask};",
        )
    else:
        mask = writer.fresh("m", "b32")
        trips = writer.source(32)
        writer.step(
            "control",
            "loop",
            (
                f"and.b32 {left}, {trips}, 3;",
                f"add.u32 {left}, {left}, 1;",
                f"mov.b32 {mask}, {before.mask};",
            ),
            [(left, 32)],
        )
        writer.control(f"AGAIN_{number}:")
        writer.here = replace(writer.here, mask=mask)
        fill(writer, count)
        writer.control(
            f"sub.u32 {left}, {left}, 1;",
            f"setp.ne.u32 {more}, {left}, 0;",
            f"vote.sync.ballot.b32 {mask}, {more}, {mask};",
            f"@{more} bra AGAIN_{number};",
            f"bar.warp.sync {before.mask};",
        )
    writer.here = before


def table(writer: Writer, count: int, fill: Fill) -> None:
    """`brx.idx` by a register."""
    before = writer.enter(whole_cta=False, whole_warp=False)
    number = writer.here.regions[-1]
    index = writer.fresh("n", "b32")
    masks = [writer.fresh("m", "b32") for _ in range(TARGETS)]
    chosen = writer.source(32)
    lines = [f"and.b32 {index}, {chosen}, 0xffff;", f"rem.u32 {index}, {index}, {TARGETS};"]
    for place, mask in enumerate(masks):
        lines += [f"setp.eq.u32 %q, {index}, {place};", f"vote.sync.ballot.b32 {mask}, %q, {before.mask};"]
    writer.step("control", "brx.idx", lines, [(index, 32), (masks[0], 32)], together=True)
    labels = ", ".join(f"CASE_{number}_{place}" for place in range(TARGETS))
    writer.control(f"TABLE_{number}: .branchtargets {labels};", f"brx.idx {index}, TABLE_{number};")
    inner = writer.here
    for place, mask in enumerate(masks):
        writer.control(f"CASE_{number}_{place}:")
        writer.here = replace(inner, mask=mask)
        fill(writer, count // TARGETS + 1)
        if place < TARGETS - 1:
            writer.control(f"bra END_{number};")
    writer.control(f"END_{number}:", f"bar.warp.sync {before.mask};")
    writer.here = before


def guarded(writer: Writer, count: int, fill: Fill) -> None:
    """A guard before every statement."""
    guard = writer.fresh("g", "pred")
    before = writer.enter(whole_cta=False, whole_warp=False, mask="")
    lines: list[str] = []
    condition = writer.read("guard", writer.source(1), 1, lines)
    writer.step("control", "guard", (*lines, f"mov.pred {guard}, {condition};"), [(guard, 1)])
    writer.here = replace(writer.here, guard=writer.random.choice(("", "!")) + guard)
    fill(writer, count)
    writer.here = before


def warps(writer: Writer, count: int, fill: Fill) -> None:
    """Every second warp alone."""
    before = writer.enter(whole_cta=False)
    number = writer.here.regions[-1]
    writer.control("and.b32 %x, %thread, 32;", "setp.ne.u32 %q, %x, 0;", f"@!%q bra END_{number};")
    fill(writer, count)
    writer.control(f"END_{number}:", f"bar.warp.sync {before.mask};")
    writer.here = before
