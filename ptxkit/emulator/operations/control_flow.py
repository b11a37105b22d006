"""Control flow: `bra`, `brx.idx`, `call`, `ret`, `exit`, and the traps. PTX ISA 9.7.12, 9.7.19."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.emulator.asynchronous import Issuers
from ptxkit.emulator.calls import leave
from ptxkit.emulator.effect import Effect, Effects, End, Linker
from ptxkit.emulator.faults import fault
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.operation import Unsupported
from ptxkit.isa.modifiers import GridAction

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

effect = Effects("control")
synchronization = Effects("synchronization")
miscellaneous = Effects("miscellaneous")


@effect("bra")
def bra(form: Form) -> Effect:
    """`bra{.uni} target`."""
    operand = form.operands["tgt"]
    label = form.builder.meaning(operand) if isinstance(operand, tree.Name) else None
    if label is None or label not in form.builder.flow.at:
        raise Unsupported("a branch to something that is no label")

    def link(linker: Linker) -> End:
        target = linker.block(label)
        return lambda group: target

    return Effect(link=link, target=label, uniform=form["uni"] is not None)


@effect("brx.idx")
def brx(form: Form) -> Effect:
    """`brx.idx{.uni} index, targets`."""
    table = form.operands["tlist"]
    symbol = form.builder.meaning(table) if isinstance(table, tree.Name) else None
    labels = form.builder.flow.table(symbol) if symbol is not None else None
    if not labels:
        raise Unsupported("a branch through something that is no list of labels")
    source = form.source("index")
    read, site = source.reader, form.site

    def link(linker: Linker) -> End:
        targets = [linker.block(label) for label in labels]

        def end(group: Group) -> int:
            value = read(group)
            entry = source.undefined(group)
            if entry is not None:
                _check(group, entry, site, f"the branch index `{source.name}`")
            return _fan_out(group, value, lambda number: _target(group, number, value))

        def _target(group: Group, number: int, value: Any) -> int:
            if number < len(targets):
                return targets[number]
            thread = group.thread(*group.first(value == value.dtype.type(number)))
            message = f"branch index out of range: expected less than {len(targets)}, found {number}"
            raise fault("P614", message, site, (f"{thread}",))

        return end

    return Effect(link=link)


def _check(group: Group, entry: tuple[Any, int], site: Any, what: str) -> None:
    mask, origin = entry
    lanes = lanes_of(group, None, mask.shape)
    if (mask if lanes is None else (mask != 0) & lanes).any():
        group.batch.launch.undefined_decides(group, mask, origin, site, what)


def _fan_out(group: Group, value: Any, where: Any) -> int:
    """Part a group by a value; `where` gives the block for each."""
    lanes = lanes_of(group, None, value.shape)
    if value.ndim == 0:
        return int(where(int(value)))
    found = np.unique(value if lanes is None else value[lanes])
    if len(found) == 1:
        return int(where(int(found[0])))
    for number in found:
        same = value == number
        mask = same if group.mask is None else same & group.mask
        pc = where(int(number))
        group.batch.ready.append(group.part(mask, group.count(same), pc))
    return -1


@effect("exit")
def exit_(form: Form) -> Effect:
    """`exit`."""

    def end(group: Group) -> int:
        group.batch.retire(group)
        return -1

    return Effect(link=lambda linker: end)


@effect("ret")
def ret(form: Form) -> Effect:
    """`ret{.uni}`."""
    return Effect(link=lambda linker: leave)


@miscellaneous("trap")
def trap(form: Form) -> Effect:
    """`trap`."""
    site = form.site

    def end(group: Group) -> int:
        thread = group.thread(*group.first(np.True_))
        raise fault("P610", "trap: the kernel stopped itself", site, (f"{thread}",))

    return Effect(link=lambda linker: end)


@miscellaneous("brkpt", "pmevent")
def brkpt(form: Form) -> Effect:
    """`brkpt` and `pmevent{.mask} a`, which nothing listens to."""
    return Effect(lambda group, guard: None)


@synchronization("griddepcontrol")
def griddepcontrol(form: Form) -> Effect:
    """`griddepcontrol.action`. Launches run one after the other; but only who has waited may count on it."""
    if form["action"] is GridAction.LAUNCH_DEPENDENTS:
        return Effect(lambda group, guard: None)

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if len(issuers):
            group.batch.happens_before.launches_done(np.unique(issuers.rows))

    return Effect(step)


@miscellaneous("nanosleep")
def nanosleep(form: Form) -> Effect:
    """`nanosleep.u32 t`: others have their turn, and the clock moves on."""
    read = form.source("t").reader

    def step(group: Group, guard: Any) -> None:
        longest = int(read(group).max())
        group.batch.launch.clock += min(longest, 1_000_000)
        group.batch.poll(group, group.polled)

    return Effect(step)
