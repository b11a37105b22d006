"""Lines and instructions: of the PTX, and of what a compiler made it from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptxkit.asm.tree import Instruction
from ptxkit.debugger.refusals import RefusedError
from ptxkit.diagnostics import Source
from ptxkit.diagnostics.line_table import SourceLocation
from ptxkit.emulator.faults import Site
from ptxkit.emulator.image import Image


def origin_of(instruction: Instruction, source: Source | None) -> tuple[Source | None, int]:
    """The text and line that an instruction was written in."""
    if instruction.span is None or source is None:
        return source, 0
    origin, span, _ = source.origin(instruction.span)
    return origin, span.line


def same_file(name: str, wanted: str) -> bool:
    """Whether somebody who says `wanted` may mean the file `name`: the end of its path will do."""
    parts, end = Path(name).parts, Path(wanted).parts
    return name == wanted or (0 < len(end) <= len(parts) and parts[-len(end) :] == end)


class Locations:
    """Where the instructions of a module come from.

    Args:
        image: the loaded module.
        main: the text of the file that is debugged.
    """

    def __init__(self, image: Image, main: Source | None) -> None:
        self.main = main
        self._image = image
        self._chains: dict[int, tuple[SourceLocation, ...]] = {}

    def origin(self, instruction: Instruction) -> tuple[Source | None, int]:
        """The text and line that an instruction of the module was written in."""
        return origin_of(instruction, self._image.source)

    def chain(self, instruction: Instruction) -> tuple[SourceLocation, ...]:
        """What an instruction was compiled from, the innermost function first."""
        known = self._chains.get(id(instruction))
        if known is None:
            source, line = self.origin(instruction)
            known = source.compiled_from(line) if source is not None else ()
            self._chains[id(instruction)] = known
        return known

    def of(self, site: Site) -> tuple[Source | None, int]:
        """The text and line of an instruction."""
        return origin_of(site.instruction, site.source)

    def instructions(self) -> Iterator[tuple[str, Instruction]]:
        """Every instruction that can be executed, with its function's name."""
        for function in self._image.functions.values():
            for instruction in self._image.flow(function).instructions:
                yield function.name, instruction

    def labelled(self, name: str) -> list[Instruction]:
        """The first instruction of a function of that name, and those at labels of that name."""
        found = []
        for function in self._image.functions.values():
            flow = self._image.flow(function)
            places = [at for label, at in flow.at.items() if label.name == name]
            if function.name == name:
                places.insert(0, 0)
            found += [flow.instructions[at] for at in places if at < len(flow.instructions)]
        return found

    def names(self) -> list[str]:
        """Functions and labels."""
        found = dict.fromkeys(function.name for function in self._image.functions.values())
        for function in self._image.functions.values():
            found |= dict.fromkeys(label.name for label in self._image.flow(function).at)
        return list(found)

    def sources(self) -> list[str]:
        """The files that the PTX was compiled from, as the compiler named them."""
        files = (place.file for _, instruction in self.instructions() for place in self.chain(instruction))
        return list(dict.fromkeys(files))

    def at(self, text: str) -> list[Instruction]:
        """What `[FILE:]LINE`, a label or a function names.

        Raises:
            RefusedError: nothing.
        """
        file, _, line = text.rpartition(":")
        places = self.line(file, int(line)) if line.isdecimal() else self.labelled(text)
        if not places:
            raise RefusedError(f"expected a line, a label or a function, found `{text}`")
        return places

    def line(self, file: str, line: int) -> list[Instruction]:
        """The first instruction of a line of a file, or of the first line after it that has one.

        Without a name it is the file that is debugged, rather than one that it includes or is linked to. A
        line of a file that the PTX was compiled from may have several: one for each place where it was
        inlined.

        Raises:
            RefusedError: there is none.
        """
        wanted = file or (self.main.name if self.main else "")
        found: dict[int, Instruction] = {}
        for _, instruction in self.instructions():
            source, at = self.origin(instruction)
            if at >= line and source is not None and source.name == wanted:
                found.setdefault(at, instruction)
        compiled = self._compiled(wanted, line) if not found else []
        if not found and not compiled:
            raise RefusedError(f"there is no instruction at line {line} of `{wanted}` or after it")
        return [found[min(found)]] if found else compiled

    def _compiled(self, wanted: str, line: int) -> list[Instruction]:
        """The same for a file that the PTX was compiled from."""
        first: dict[int, dict[tuple[object, ...], Instruction]] = {}
        for function, instruction in self.instructions():
            for depth, place in enumerate(self.chain(instruction)):
                if place.line >= line and same_file(place.file, wanted):
                    here = (function, depth > 0, *self.chain(instruction)[depth + 1 :])
                    first.setdefault(place.line, {}).setdefault(here, instruction)
        if not first:
            return []
        places = first[min(first)]
        innermost = [instruction for here, instruction in places.items() if not here[1]]
        return innermost or list(places.values())

    def described(self, instruction: Instruction) -> str:
        """`tile.ptx:44`, with the line that it was compiled from."""
        source, line = self.origin(instruction)
        chain = self.chain(instruction)
        compiled = f", {chain[0].file}:{chain[0].line}" if chain else ""
        return f"{source.name if source else '?'}:{line}{compiled}"
