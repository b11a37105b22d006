"""Machine code that is written before it is known where it and its data will lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple


class Fixup(NamedTuple):
    """A place in the code that needs an address.

    Attributes:
        at: the byte of the code.
        kind: how the address is written, one of the machine's own.
        label: whose address.
        addend: bytes to add to it.
    """

    at: int
    kind: str
    label: str
    addend: int = 0


class EntryCode(ABC):
    """The code of a library for one machine: an entry a symbol, and what starts Python behind them.

    An entry jumps through its slot of the table, with all arguments where the caller put them. Where the slot
    is empty it runs the boot routine, once in the process, and looks at the slot again.

    Attributes:
        code: the bytes so far.
        fixups: what is to be filled in.
        labels: offsets in the code, by name.
    """

    machine: int
    """ELF's number of the machine."""
    relocation: int
    """The relocation type that puts a symbol's address into a word."""
    alignment: int
    """Of code."""

    def __init__(self) -> None:
        self.code = bytearray()
        self.fixups: list[Fixup] = []
        self.labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        """Name the place that comes next."""
        self.labels[name] = len(self.code)

    def fix(self, kind: str, label: str, addend: int = 0) -> None:
        """The bytes that come next need an address."""
        self.fixups.append(Fixup(len(self.code), kind, label, addend))

    def align(self) -> None:
        """Fill up to the alignment of code."""
        self.code += bytes(-len(self.code) % self.alignment)

    def linked(self, address: int, data: Mapping[str, int]) -> bytes:
        """The code at an address, with those of its data."""
        places = {**data, **{name: address + at for name, at in self.labels.items()}}
        code = bytearray(self.code)
        for fixup in self.fixups:
            self.apply(code, fixup, address + fixup.at, places[fixup.label] + fixup.addend)
        return bytes(code)

    @abstractmethod
    def apply(self, code: bytearray, fixup: Fixup, here: int, there: int) -> None:
        """Write the address `there` into the instruction at the address `here`."""

    # ---- what the code of a library is made of

    @abstractmethod
    def entry(self, index: int) -> None:
        """Jump through slot `index` of `table`; to `start` where it is empty."""

    @abstractmethod
    def start(self, failure: int) -> None:
        """Run `boot` once in the process (`once`), then what the slot holds; return `failure` if nothing."""

    @abstractmethod
    def answer(self, code: int) -> None:
        """Return a number that fits 16 bits to whoever called the entry."""

    @abstractmethod
    def store(self, label: str, place: str, addend: int, count: int) -> None:
        """Store the address of a label in `count` words, from `addend` bytes behind `place` on."""

    @abstractmethod
    def call_with_words(self) -> None:
        """Call, with three words, the function whose address is a fourth; the address of the four is a word
        16 bytes behind the first argument. What it returns is what is returned."""

    @abstractmethod
    def enter(self) -> None:
        """Begin a routine that calls others and keeps one value."""

    @abstractmethod
    def leave(self) -> None:
        """Return from it."""

    @abstractmethod
    def call_import(self, name: str) -> None:
        """Call an imported function; its address is in the word `import.NAME`."""

    @abstractmethod
    def call_result(self) -> None:
        """Call the function whose address `branch_if_zero` saw last."""

    @abstractmethod
    def argument(self, index: int, number: int) -> None:
        """Argument `index` of the next call is a number that fits 16 bits."""

    @abstractmethod
    def argument_address(self, index: int, label: str) -> None:
        """Argument `index` of the next call is the address of a label."""

    @abstractmethod
    def argument_kept(self, index: int) -> None:
        """Argument `index` of the next call is the value that was kept."""

    @abstractmethod
    def keep(self) -> None:
        """Keep what the last call returned."""

    @abstractmethod
    def branch_if_zero(self, label: str, *, wide: bool = True) -> None:
        """Go to a label if the last call returned zero; `wide` for a pointer, else an int."""

    @abstractmethod
    def jump(self, label: str) -> None:
        """Go to a label."""


IMPORTS = ("dlopen", "dlsym", "pthread_once")
RTLD_NOW_GLOBAL = 0x102


def boot_code(into: EntryCode, names: set[str]) -> None:
    """The routine `boot`: it runs `text.program` in the Python of this process, or in one that it starts.

    Args:
        into: where to write it.
        names: takes the texts `text.NAME` that the code needs besides `text.libpython`, the library that is
            loaded where the process has no Python, `text.executable` and `text.program`.
    """

    def python(name: str, missing: str, *arguments: int | str | None) -> None:
        """Call a function of libpython; None is the value that was kept. Go to `missing` if it isn't
        there."""
        find(name)
        into.branch_if_zero(missing)
        for index, argument in enumerate(arguments):
            if argument is None:
                into.argument_kept(index)
            elif isinstance(argument, int):
                into.argument(index, argument)
            else:
                into.argument_address(index, argument)
        into.call_result()

    def find(name: str) -> None:
        names.add(name)
        into.argument(0, 0)
        into.argument_address(1, f"text.{name}")
        into.call_import("dlsym")

    into.align()
    into.label("boot")
    into.enter()
    find("Py_IsInitialized")
    into.branch_if_zero("load")
    into.jump("ask")
    into.label("load")
    into.argument_address(0, "text.libpython")
    into.argument(1, RTLD_NOW_GLOBAL)
    into.call_import("dlopen")
    into.label("ask")
    python("Py_IsInitialized", "done")
    into.branch_if_zero("initialise", wide=False)
    python("PyGILState_Ensure", "done")
    into.keep()
    python("PyRun_SimpleStringFlags", "done", "text.program", 0)
    python("PyGILState_Release", "done", None)
    into.jump("done")
    into.label("initialise")
    python("Py_SetProgramName", "unnamed", "text.executable")
    into.label("unnamed")
    python("Py_InitializeEx", "done", 0)
    python("PyRun_SimpleStringFlags", "done", "text.program", 0)
    python("PyEval_SaveThread", "done")
    into.label("done")
    into.leave()
