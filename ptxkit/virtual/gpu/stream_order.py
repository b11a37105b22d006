"""What happens before what: operations of streams, and what the host has waited for.

An operation happens before another one if a stream, an event, a graph or a wait of the host says so; whatever
order they are run in, nothing else counts. CUDA programming guide, "Asynchronous concurrent execution".
"""

from __future__ import annotations

Clock = dict[int, int]
"""By chain, how many of its operations have happened."""


class OrderedOperation:
    """An operation's place: the chain that it is in, and what has happened before it.

    Attributes:
        chain: operations one after another, as those of a stream are.
        count: its number there, from 1.
        clock: what has happened before it, itself included.
    """

    __slots__ = ("_before", "chain", "clock", "count")

    def __init__(self, chain: int, count: int, host: Clock, before: list[OrderedOperation]) -> None:
        self.chain = chain
        self.count = count
        self.clock = host
        self._before = before

    def begin(self) -> None:
        """Everything before it has happened: its clock is what it stays."""
        clock = dict(self.clock)
        for other in self._before:
            if clock.get(other.chain, 0) < other.count:  # else it has all that the other's has
                for chain, count in other.clock.items():
                    if clock.get(chain, 0) < count:
                        clock[chain] = count
        clock[self.chain] = self.count
        self.clock, self._before = clock, _NONE

    def is_before(self, other: OrderedOperation) -> bool:
        """Whether this one happens before another, which has begun."""
        return self.count <= other.clock.get(self.chain, 0)


_NONE: list[OrderedOperation] = []


class StreamOrder:
    """The order of all operations.

    Attributes:
        tails: the last operation of each chain, and its owner.
        several: whether there is a stream beside the default one.
    """

    def __init__(self) -> None:
        self._host: Clock = {}
        self.tails: list[tuple[OrderedOperation, object]] = []
        self.several = False

    def concurrent(self, operation: OrderedOperation) -> bool:
        """Whether anything was queued that nothing orders before or after an operation, which has begun."""
        chain, clock = operation.chain, operation.clock
        for tail, _ in self.tails:
            ahead = tail.chain == chain or tail.count <= clock.get(tail.chain, 0)
            if not ahead and not operation.is_before(tail):
                return True
        return False

    def place(self, others: list[OrderedOperation], owner: object) -> OrderedOperation:
        """The place of an operation that is queued behind others, the last of its own stream first."""
        tails = self.tails
        if others and tails[others[0].chain][0] is others[0]:
            chain, count = others[0].chain, others[0].count + 1
            made = OrderedOperation(chain, count, self._host, others)
            tails[chain] = made, owner
        else:
            made = OrderedOperation(len(tails), 1, self._host, others)
            tails.append((made, owner))
        return made

    def saw(self, operation: OrderedOperation) -> None:
        """The host has waited for an operation: what it queues from now on happens after it."""
        host = self._host
        if host.get(operation.chain, 0) < operation.count:
            self._host = host = dict(host)
            for chain, count in operation.clock.items():
                if host.get(chain, 0) < count:
                    host[chain] = count

    def is_busy_beside(self, operation: OrderedOperation) -> bool:
        """Whether the host has not waited for everything that was queued in other chains."""
        chain, host = operation.chain, self._host
        for tail, _ in self.tails:  # noqa: SIM110 - each operation asks, and a generator costs more
            if tail.count > host.get(tail.chain, 0) and tail.chain != chain:
                return True
        return False

    def all_seen(self, owner: object | None = None) -> None:
        """The host has waited for everything, or for everything of an owner."""
        for tail, whose in self.tails:
            if owner is None or whose is owner:
                self.saw(tail)

    def is_seen(self, operation: OrderedOperation) -> bool:
        """Whether the host has waited for an operation."""
        return operation.count <= self._host.get(operation.chain, 0)
