"""Calling and returning: what a group does with its registers. PTX ISA 9.7.12.5, 9.7.12.6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.emulator.call_abi import CallParameter, Piece, gather
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.group import Frame, Undefined
from ptxkit.emulator.operands import Source

if TYPE_CHECKING:
    from ptxkit.emulator.code import Code
    from ptxkit.emulator.group import Group

DEEPEST = 4096
"""Calls inside calls before the stack counts as overflown."""


Argument = Callable[["Group"], "tuple[list[Any], Undefined, Sequence[Piece]]"]
"""Where an argument's bytes lie: registers, their undefined bits, and the pieces among them."""


def parameter_argument(parameter: CallParameter) -> Argument:
    """An argument that is a variable or register of the caller."""
    return lambda group: (*parameter.held(group), parameter.pieces)


def value_argument(source: Source) -> Argument:
    """An argument that is a constant or an address."""
    read, size = source.reader, max(source.bits // 8, 1)
    return lambda group: ([read(group)], {}, (Piece(0, size, 0),))


def enter(
    group: Group,
    callee: Code,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    back: int,
    site: Site,
) -> int:
    """Let a group start a function.

    Args:
        group: the group, at the end of the block with the call.
        callee: the function.
        arguments: one for each parameter.
        results: where the caller wants each return value.
        back: the block to return to.
        site: the call.

    Returns:
        The callee's first block.
    """
    caller = group.code
    if len(group.frames) >= DEEPEST:
        raise fault("P611", f"stack overflow: {DEEPEST} calls of `{callee.name}` inside one another", site)
    values = [
        (parameter, piece, gather(*given, piece.offset, piece.size))
        for parameter, given in zip(callee.parameters, [a(group) for a in arguments], strict=True)
        for piece in parameter.pieces
    ]
    frame = Frame(caller, back, group.regs, group.undefined, group.local, group.top, tuple(results))
    group.frames = (*group.frames, frame)
    group.local = -(-group.top // 16) * 16
    group.top = group.local + callee.frame
    group.trail = (*group.trail, (caller.number, back, group.local))
    group.batch.reach_local(group, group.top, site)
    group.code = callee
    group.regs = list(callee.initial)
    group.undefined = dict(callee.initial_undefined)
    group.kept = {}
    for parameter, piece, value in values:
        parameter.fill(group, piece, value)
    return 0


def leave(group: Group) -> int:
    """Return from the running function; from the kernel itself, exit."""
    if not group.frames:
        group.batch.retire(group)
        return -1
    frame = group.frames[-1]
    given = [parameter_argument(returned)(group) for returned in group.code.returns]
    group.frames = group.frames[:-1]
    group.trail = group.trail[:-1]
    group.code, group.regs, group.undefined = frame.code, list(frame.regs), dict(frame.undefined)
    group.local, group.top = frame.local, frame.top
    group.kept = {}
    for returned, wanted in zip(given, frame.results, strict=False):
        if wanted is None:
            continue
        for piece in wanted.pieces:
            wanted.fill(group, piece, gather(*returned, piece.offset, piece.size))
    return frame.pc
