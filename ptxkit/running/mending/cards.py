"""Changes of one place of a launch plan that may be what was meant: a tensor map, or the grid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ptxkit.diagnostics import Diagnostic
from ptxkit.encodings.tensor_maps.codes import DEFAULT_SWIZZLE, global_bits
from ptxkit.plan import Launch, LaunchPlan, PlanTensorMap

SWIZZLES = ("128B", "64B", "32B", "none")
_OUTSIDE = re.compile(r"moves a box (?:from|to) \{([-\d, ]+)\} of a tensor of ([\dx ]+) elements, all")
NEUTRAL = 0.6
"""What it costs more to have no swizzle at all: it may take away what the fault is in."""
NAMED, SUSPECTED = 0.5, 0.3
"""How much likelier a change is of a map that is named, and of a swizzle where a cause is about one."""


@dataclass(frozen=True, slots=True)
class CardEdit:
    """One change.

    Attributes:
        cost: how unlikely.
        said: what the plan is with the change, in words.
        plan: with the change.
    """

    cost: float
    said: str
    plan: LaunchPlan

    def of(self, text: str) -> str:
        """The kernel's text, which stays."""
        return text


def card_edits(plan: LaunchPlan, text: str, cause: str | None, finding: Diagnostic) -> list[CardEdit]:
    """The changes of a plan, the likeliest first, each once.

    Args:
        plan: what was launched.
        text: the kernel's, with the card.
        cause: what is known of the cause, in words.
        finding: the error.
    """
    told = "\n".join((cause or "", finding.message, *finding.notes))
    found = [edit for at in range(len(plan.tensor_maps)) for edit in _of_map(plan, at, text, told)]
    found += (edit for at in range(len(plan.launches)) for edit in _of_launch(plan, at))
    once: dict[str, CardEdit] = {}
    for edit in sorted(found, key=lambda each: each.cost):
        once.setdefault(edit.said, edit)
    return [*once.values()]


def _of_map(plan: LaunchPlan, at: int, text: str, told: str) -> Iterator[CardEdit]:
    asked = plan.tensor_maps[at]
    named = NAMED if f"`{asked.name}`" in told else 0.0
    changes = [*_changes(asked, plan), *_implied(asked, plan, told)]
    for cost, what, value, now in changes:
        if what == "swizzle":
            entry: dict[str, Any] = {"options": {**asked.options, what: value}}
            cost -= SUSPECTED * (what in told)
        else:
            entry = {what: value}
        changed = replace(asked, **entry)
        maps = (*plan.tensor_maps[:at], changed, *plan.tensor_maps[at + 1 :])
        line = _line_of(text, asked.name, what)
        where = f" at line {line}" if line else ""
        said = f"`{what} = {_shown(value)}` instead of `{_shown(now)}` in tensor map `{asked.name}`{where}"
        yield CardEdit(cost - named, said, replace(plan, tensor_maps=maps))


def _changes(
    asked: PlanTensorMap, plan: LaunchPlan
) -> Iterator[tuple[float, str, str | tuple[int, ...], str | tuple[int, ...]]]:
    """What may have been meant in a tensor map: with how unlikely it is, which entry, and what it is now."""
    maps, sizes = plan.tensor_maps, sorted({size for size in plan.sizes.values() if size > 1})
    now = asked.options.get("swizzle", DEFAULT_SWIZZLE)
    usual = {other.options.get("swizzle", DEFAULT_SWIZZLE) for other in maps if other is not asked}
    for swizzle in SWIZZLES:
        if swizzle != now:
            cost = (0.9 if swizzle in usual else 1.1) + (NEUTRAL if swizzle == "none" else 0.0)
            yield cost, "swizzle", swizzle, now
    for what in ("box", "strides", "shape"):
        row: tuple[int, ...] | None = getattr(asked, what)
        if row:
            others = {number for other in maps for number in getattr(other, what) or ()}
            for cost, numbers in _numbers(row, others, sizes):
                yield (0.0 if what == "box" else 0.2) + cost, what, numbers, row
    for tensor in dict.fromkeys(other.tensor for other in maps):
        if tensor != asked.tensor:
            yield 1.2, "tensor", tensor, asked.tensor


def _implied(
    asked: PlanTensorMap, plan: LaunchPlan, told: str
) -> Iterator[tuple[float, str, tuple[int, ...], tuple[int, ...]]]:
    """The extents that the strides of a map imply, the strides that its extents do, and the extent that the
    first box needs that lies outside: with how unlikely it is, which entry, and what it is now."""
    shape, strides = asked.shape, asked.strides
    if shape is None:
        return
    for found in _OUTSIDE.finditer(told):
        begins, extents = ([int(each) for each in re.findall(r"-?\d+", found[n])] for n in (1, 2))
        if tuple(reversed(extents)) == shape and len(begins) == len(shape):
            for axis, begin in enumerate(reversed(begins)):
                if begin >= shape[axis]:
                    needed = begin + asked.box[axis]
                    yield 0.2, "shape", (*shape[:axis], needed, *shape[axis + 1 :]), shape
    tensor = next((one.dtype for one in plan.tensors if one.name == asked.tensor), None)
    kind = asked.dtype or tensor
    if not strides or kind is None or len(strides) != len(shape) - 1:
        return
    bits = [*(8 * stride for stride in strides), global_bits(kind)]
    for axis, (outer, inner) in enumerate(pairwise(bits), 1):
        if outer % inner == 0 and outer // inner != shape[axis]:
            yield 0.3, "shape", (*shape[:axis], outer // inner, *shape[axis + 1 :]), shape
        if shape[axis] * inner != outer and shape[axis] * inner % 8 == 0:
            yield 0.4, "strides", (*strides[: axis - 1], shape[axis] * inner // 8, *strides[axis:]), strides


def _numbers(
    row: tuple[int, ...], others: set[int], sizes: Sequence[int]
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Rows of which two neighbours have changed their places, or one number is another: one of `others`, or
    what it is where one of the problem's sizes stands for another."""
    for at, (first, second) in enumerate(pairwise(row)):
        if first != second:
            yield 0.9, (*row[:at], second, first, *row[at + 2 :])
    for at, number in enumerate(row):
        sized = {number // one * other for one in sizes if number % one == 0 for other in sizes}
        for other in dict.fromkeys((*sorted(sized), 2 * number, number // 2, *sorted(others))):
            if other and other != number:
                cost = 0.7 if other in sized else 1.1 if other in others else 1.2
                yield cost, (*row[:at], other, *row[at + 1 :])


def _of_launch(plan: LaunchPlan, at: int) -> Iterator[CardEdit]:
    launch = plan.launches[at]
    for cost, changed, said in _launches(launch):
        launches = (*plan.launches[:at], changed, *plan.launches[at + 1 :])
        yield CardEdit(cost, said, replace(plan, launches=launches))


def _launches(launch: Launch) -> Iterator[tuple[float, Launch, str]]:
    for axis, ctas in enumerate(launch.grid):
        for cost, other in ((1.5, 2 * ctas), (1.6, ctas // 2), (1.6, ctas + 1)):
            if other and (ctas > 1 or axis == 0):
                x, y, z = (other if at == axis else each for at, each in enumerate(launch.grid))
                said = f"a grid of {_shown((x, y, z))} CTAs instead of {_shown(launch.grid)}"
                yield cost, replace(launch, grid=(x, y, z)), said


def _line_of(text: str, name: str, what: str) -> int | None:
    """Where an entry of a tensor map stands in the card, 1-based; None where it doesn't."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        entry = re.sub(r"^\s*//\s*", "", line)
        if entry.startswith("["):
            inside = entry.startswith(f"[tensor_maps.{name}]")
        elif inside and re.match(rf"{what}\s*=", entry):
            return number
    return None


def _shown(value: str | tuple[int, ...]) -> str:
    return f'"{value}"' if isinstance(value, str) else str(list(value))
