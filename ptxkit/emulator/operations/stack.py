"""The stack: `alloca`, `stacksave`, `stackrestore`. PTX ISA 9.7.17.

A stack pointer counts from the running function's local variables, and grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.operands import Target
from ptxkit.emulator.values import dtype_of

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

effect = Effects("stack")


@effect("alloca")
def alloca(form: Form) -> Effect:
    """`alloca.type ptr, size{, immAlign}`."""
    align = np.uint64(max(form.constant("immAlign") or 8, 8))
    read, target, site = form.deciding("size"), form.target("ptr"), form.site
    pointer = form.builder.stack_pointer
    keeper = Target(pointer, 64)
    dtype = dtype_of(form["type"].name)

    def step(group: Group, guard: Any) -> None:
        begin = group.regs[pointer] + np.uint64(group.local)
        begin = (begin + (align - np.uint64(1))) & ~(align - np.uint64(1))
        amount = read(group).astype(np.uint64)
        end = np.where(amount > ~begin, ~np.uint64(0), begin + amount)
        furthest = end if end.ndim == 0 else np.where(_active(group, guard), end, np.uint64(0))
        top = max(group.top, int(furthest.max()))
        group.batch.reach_local(group, top, site)
        group.top = top
        keeper.write_raw(group, end - np.uint64(group.local), None, guard)
        if target is not None:
            target.write(group, begin.astype(dtype), None, guard)

    return Effect(step)


def _active(group: Group, guard: Any) -> Any:
    active = group.active(guard)
    return np.True_ if active is None else active


@effect("stacksave")
def stacksave(form: Form) -> Effect:
    """`stacksave.type d`."""
    target = form.target("d")
    pointer, dtype = form.builder.stack_pointer, dtype_of(form["type"].name)

    def step(group: Group, guard: Any) -> None:
        if target is not None:
            target.write(group, (group.regs[pointer] + np.uint64(group.local)).astype(dtype), None, guard)

    return Effect(step)


@effect("stackrestore")
def stackrestore(form: Form) -> Effect:
    """`stackrestore.type a`."""
    source = form.source("a")
    read, site = source.reader, form.site
    keeper = Target(form.builder.stack_pointer, 64)

    def step(group: Group, guard: Any) -> None:
        entry = source.undefined(group)
        if entry is not None:
            group.batch.launch.undefined_decides(
                group, entry[0], entry[1], site, f"the stack pointer `{source.name}`"
            )
        keeper.write_raw(group, read(group).astype(np.uint64) - np.uint64(group.local), None, guard)

    return Effect(step)
