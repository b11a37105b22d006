"""Telling a deadlock: every warp with its line, what it waits for, and why that can never come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.diagnostics import Label, code_info
from ptxkit.emulator.faults import EmulatorFault, fault, show

if TYPE_CHECKING:
    from ptxkit.emulator.gang import Gang, Waiting

LISTED = 32
"""Most warps that a finding lists one by one."""


def deadlock(gangs: Sequence[Gang]) -> EmulatorFault:
    """The fault for gangs none of whose groups can go on."""
    lines: list[str] = []
    codes: list[str] = []
    labels: list[Label] = []
    site = None
    warps = 0
    for gang in gangs:
        for entry in gang.waiting:
            block = entry.group.code.blocks[entry.group.pc]
            place = block.sites[0]
            codes.append(entry.gate.code)
            site = site or place
            if place.span is not None and place is not site and place.span not in [x.span for x in labels]:
                labels.append(Label(place.span, "others wait here"))
            rows = _warps(gang, entry)
            warps += len(rows)
            lines += [
                f"{who} at {place.where}: waits for {entry.gate.waits_for(gang, entry.group, row)}"
                for row, who in rows
            ]
    listed = lines[:LISTED]
    if len(lines) > LISTED:
        listed.append(f"and {len(lines) - LISTED} more warps")
    # Warps that wait at a barrier often wait for lanes that are stuck elsewhere: those are the cause.
    code = next((code for code in codes if code != "P636"), "P636")
    info = code_info(code)
    name = info.name if info else "DEADLOCK"
    message = f"{name}: {warps} warps wait, and nothing can release them"
    return fault(code, message, site, listed, labels=labels)


def _warps(gang: Gang, entry: Waiting) -> list[tuple[int, str]]:
    """The gang's rows in which a group waits, and how messages call them."""
    group = entry.group
    found = []
    for at in range(group.n):
        row = at if group.rows is None else int(group.rows[at])
        cta, warp = divmod(row, gang.warps)
        who = f"warp {warp} of CTA {show(gang.cta_coordinates(cta))}"
        if group.mask is not None:
            lanes = group.mask[at] & gang.alive[row]
            if not lanes.any():
                continue
            if not np.array_equal(lanes, gang.alive[row]):
                who += f", lanes {int(np.packbits(lanes, bitorder='little').view(np.uint32)[0]):#010x}"
        found.append((row, who))
    return found
