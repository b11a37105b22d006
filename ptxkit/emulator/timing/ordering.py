"""In which order the instructions of a block come: as its machine code has them, or by rule."""

from __future__ import annotations

import heapq

from ptxkit.emulator.timing.nodes import InstructionNode, What

MOST_LOADED = 64
"""Registers that wait for loads at a time, by rule: the assembler has no more to spare."""


def connect(nodes: list[InstructionNode], assembled: bool) -> None:
    """Which instructions must come before which. `assembled`: loads and stores are in order as it is."""
    written: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    ordered, loads, stores = -1, dict[str, list[int]](), dict[str, int]()

    def edge(first: int, second: int) -> None:
        if first >= 0 and first != second and second not in nodes[first].after:
            nodes[first].after.append(second)
            nodes[second].before += 1

    for number, one in enumerate(nodes):
        for slot in one.reads:
            edge(written.get(slot, -1), number)
            readers.setdefault(slot, []).append(number)
        for slot in one.writes:
            for reader in readers.pop(slot, ()):
                edge(reader, number)
            edge(written.get(slot, -1), number)
            written[slot] = number
        if one.what in (What.ARITHMETIC, What.NEED):
            continue
        edge(ordered, number)
        if assembled and one.what in (What.LOAD, What.STORE):
            continue
        if one.what is What.LOAD:
            edge(stores.get(one.kind, -1), number)
            loads.setdefault(one.kind, []).append(number)
        elif one.what is What.STORE:
            for load in loads.pop(one.kind, ()):
                edge(load, number)
            edge(stores.get(one.kind, -1), number)
            stores[one.kind] = number
        elif one.what not in (What.LANES, What.PRODUCT):
            for each in (*loads.values(), list(stores.values())):
                for other in each:
                    edge(other, number)
            loads.clear()
            stores.clear()
            ordered = number
    for number in range(len(nodes) - 1, -1, -1):
        one = nodes[number]
        one.height = one.latency + max((nodes[each].height for each in one.after), default=0.0)


def by_rule(nodes: list[InstructionNode]) -> list[int]:
    """The order: of those that could be next the one that most wait for; no further load while `MOST_LOADED`
    registers wait for theirs, if anything else can be done."""
    waiting = [one.before for one in nodes]
    loads: list[tuple[float, int]] = []
    others: list[tuple[float, int]] = []

    def ready(number: int) -> None:
        one = nodes[number]
        heapq.heappush(loads if one.what is What.LOAD else others, (-one.height, number))

    for number, count in enumerate(waiting):
        if not count:
            ready(number)
    order: list[int] = []
    coming: set[int] = set()
    while loads or others:
        full = len(coming) >= MOST_LOADED
        take = loads if loads and (not others or (not full and loads[0] < others[0])) else others
        _, number = heapq.heappop(take)
        one = nodes[number]
        order.append(number)
        coming.difference_update(one.reads)
        if one.what is What.LOAD:
            coming.update(one.writes)
        for each in one.after:
            waiting[each] -= 1
            if not waiting[each]:
                ready(each)
    return order


def as_assembled(nodes: list[InstructionNode]) -> list[int]:
    """The order of the machine code; what nothing is left of comes as soon as it can."""
    waiting = [one.before for one in nodes]
    ready = [(_place(one), number) for number, one in enumerate(nodes) if not one.before]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(number)
        for each in nodes[number].after:
            waiting[each] -= 1
            if not waiting[each]:
                heapq.heappush(ready, (_place(nodes[each]), each))
    return order


def _place(node: InstructionNode) -> int:
    return -1 if node.place is None else node.place
