"""The numbers of accesses and of what orders them."""

from __future__ import annotations

from ptxkit.emulator.faults import Site

LAST_NUMBER = (1 << 28) - 1


class Events:
    """The numbers of accesses and ordering events of a memory, and the instruction behind each number.

    Attributes:
        first: the number of the launch's first event.
        ordered: everything with a smaller number is ordered before what the launch does first. Less than
            `first` in a programmatic launch that may begin before the one ahead of it has ended.
        early: whether the launch lets those behind it begin before it has ended.
        together: by number of a store to shared memory by which several threads of a batch may have written
            one place, the rows of these.
    """

    def __init__(self) -> None:
        self.first = 1
        self.ordered = 1
        self.early = False
        self.together: dict[int, frozenset[int]] = {}
        self._sites: list[Site | None] = [None]

    @property
    def now(self) -> int:
        """The number that the next event will have."""
        return self.first + len(self._sites) - 1

    def take(self, site: Site | None = None) -> int:
        """The number of a new event."""
        self._sites.append(site)
        return self.now - 1

    @property
    def sites(self) -> list[Site | None]:
        """The instruction behind each number of this launch, from `first` less one on; another launch begins
        another list."""
        return self._sites

    def site(self, number: int) -> Site | None:
        """The instruction behind a number of this launch."""
        at = number - self.first + 1
        return self._sites[at] if 0 < at < len(self._sites) else None

    def start(self, programmatic: bool = False, early: bool = False) -> bool:
        """Begin a launch: everything before it is ordered before it.

        Args:
            programmatic: but for what the launch ahead of it did, where that one let it begin early. PTX ISA
                9.7.13.13: who follows a grid that executes `griddepcontrol.launch_dependents` must wait.
            early: whether it lets those behind it do so.

        Returns:
            Whether numbers begin anew, so that all access histories must be forgotten.
        """
        ahead, self.first = self.first, self.now
        self.ordered = ahead if programmatic and self.early else self.first
        self.early = early
        self.together.clear()
        self._sites = [None]
        if self.first > LAST_NUMBER // 2:
            self.first = self.ordered = 1
            return True
        return False

    def restore(self, first: int, ordered: int, early: bool) -> None:
        """Begin again with these: the number of the next event, `ordered` and `early`."""
        self.first, self.ordered, self.early = first, ordered, early
        self.together.clear()
        self._sites = [None]
