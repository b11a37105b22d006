"""Calling and returning: a lane set's registers and its stack. PTX ISA 9.7.12.5, 9.7.12.6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.addresses import LOCAL_START
from ptxkit.emulator.call_abi import CallParameter, ParameterPiece, gather
from ptxkit.emulator.code import Code
from ptxkit.emulator.faults import EmulatorFault, Site, fault
from ptxkit.emulator.lane_set import Frame, LaneSet, Undefined
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.values import WARP

LOCAL_LIMIT = 512 << 10
"""Bytes of local memory of a thread, on every target."""


def check_frame(code: Code) -> None:
    """The variables of an entry must find room. Raises P611, more than a thread can have."""
    if code.frame > LOCAL_LIMIT:
        raise _overflow(code.frame, None, (f"variables of `{code.name}`",))


def reach_local(lane_set: LaneSet, top: int, site: Site | None) -> None:
    """Make sure that every thread has local memory up to address `top`. Raises P611, more than a thread can
    have."""
    size, batch = top - LOCAL_START, lane_set.batch
    local, threads = batch.local, batch.rows * WARP
    if not size or (size <= local.stride and local.tiles == threads):
        return
    if size > LOCAL_LIMIT:
        thread = lane_set.thread(*lane_set.first(np.True_))
        raise _overflow(size, site, (f"{thread}",), "a recursion without an end is the usual cause")
    batch.local = local.grown(threads, size if local.tiles != threads else max(size, 2 * local.stride))


def _overflow(size: int, site: Site | None, notes: tuple[str, ...], help: str | None = None) -> EmulatorFault:
    message = f"stack overflow: expected at most {LOCAL_LIMIT} bytes of local memory, found {size}"
    return fault("P611", message, site, notes, help)


DEEPEST = 4096
"""Calls inside calls before the stack counts as overflown."""


Argument = Callable[["LaneSet"], "tuple[list[Any], Undefined, Sequence[ParameterPiece]]"]
"""Where an argument's bytes lie: registers, their undefined bits, and the pieces among them."""


def parameter_argument(parameter: CallParameter) -> Argument:
    """An argument that is a variable or register of the caller."""
    return lambda lane_set: (*parameter.held(lane_set), parameter.pieces)


def value_argument(source: SourceOperand) -> Argument:
    """An argument that is a constant or an address."""
    read, size = source.reader, max(source.bits // 8, 1)
    return lambda lane_set: ([read(lane_set)], {}, (ParameterPiece(0, size, 0),))


def enter(
    lane_set: LaneSet,
    callee: Code,
    arguments: Sequence[Argument],
    results: Sequence[CallParameter | None],
    back: int,
    site: Site,
) -> int:
    """Let a lane set start a function.

    Args:
        lane_set: the lane set, at the end of the block with the call.
        callee: the function.
        arguments: one for each parameter.
        results: where the caller wants each return value.
        back: the block to return to.

    Returns:
        The callee's first block.
    """
    caller = lane_set.code
    if len(lane_set.frames) >= DEEPEST:
        raise fault("P611", f"stack overflow: {DEEPEST} calls of `{callee.name}` inside one another", site)
    values = [
        (parameter, piece, gather(*given, piece.offset, piece.size))
        for parameter, given in zip(callee.parameters, [a(lane_set) for a in arguments], strict=True)
        for piece in parameter.pieces
    ]
    frame = Frame(
        caller, back, lane_set.regs, lane_set.undefined, lane_set.local, lane_set.top, tuple(results)
    )
    lane_set.frames = (*lane_set.frames, frame)
    lane_set.local = -(-lane_set.top // 16) * 16
    lane_set.top = lane_set.local + callee.frame
    lane_set.trail = (*lane_set.trail, (caller.number, back, lane_set.local))
    reach_local(lane_set, lane_set.top, site)
    lane_set.code = callee
    lane_set.regs = list(callee.initial)
    lane_set.undefined = dict(callee.initial_undefined)
    lane_set.kept = {}
    for parameter, piece, value in values:
        parameter.fill(lane_set, piece, value)
    return 0


def leave(lane_set: LaneSet) -> int:
    """Return from the running function; from the kernel itself, exit."""
    if not lane_set.frames:
        lane_set.schedule.retire(lane_set)
        return -1
    frame = lane_set.frames[-1]
    given = [parameter_argument(returned)(lane_set) for returned in lane_set.code.returns]
    lane_set.frames = lane_set.frames[:-1]
    lane_set.trail = lane_set.trail[:-1]
    lane_set.code, lane_set.regs, lane_set.undefined = frame.code, list(frame.regs), dict(frame.undefined)
    lane_set.local, lane_set.top = frame.local, frame.top
    lane_set.kept = {}
    for returned, wanted in zip(given, frame.results, strict=False):
        if wanted is None:
            continue
        for piece in wanted.pieces:
            wanted.fill(lane_set, piece, gather(*returned, piece.offset, piece.size))
    return frame.pc
