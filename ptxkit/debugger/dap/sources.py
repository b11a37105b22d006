"""The files that frames and breakpoints lie in, as an editor names them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxkit.asm.tree import Instruction
from ptxkit.debugger.locations import Locations
from ptxkit.debugger.refusals import RefusedError
from ptxkit.diagnostics import Source
from ptxkit.diagnostics.line_table import SourceLocation


class SourceFiles:
    """The files of a module.

    Args:
        locations: of its instructions.
        program: the path of the file that is debugged.
    """

    def __init__(self, locations: Locations, program: Path) -> None:
        self._locations = locations
        self._program = program.absolute()
        self._texts: list[Source] = []

    def of_text(self, source: Source | None) -> dict[str, Any]:
        """A text of PTX, as the protocol has it: its path, or what `text` gives it for, if it has none."""
        if source is None:
            return {"name": "PTX"}
        main = self._locations.main
        path = (
            self._program if main is not None and source.name == main.name else Path(source.name).absolute()
        )
        if path.is_file():
            return {"name": path.name, "path": str(path)}
        if source not in self._texts:
            self._texts.append(source)
        return {"name": Path(source.name).name, "sourceReference": self._texts.index(source) + 1}

    def text(self, reference: int) -> str:
        """A text that has no path. Raises RefusedError: there is none of that number."""
        if not 0 < reference <= len(self._texts):
            raise RefusedError(f"there is no source {reference}")
        return self._texts[reference - 1].text

    def of_compiled(self, place: SourceLocation) -> dict[str, Any]:
        """A file that the PTX was compiled from."""
        path = self.path_of(place.file)
        return {"name": Path(place.file).name, "path": str(path or place.file)}

    def path_of(self, file: str) -> Path | None:
        """Where a file is that the compiler named: from here, or beside the PTX; None where it is not."""
        for path in (Path(file).absolute(), self._program.parent / file):
            if path.is_file():
                return path
        return None

    def has_source(self) -> bool:
        """Whether a file is here that the PTX was compiled from."""
        return any(self.path_of(file) is not None for file in self._locations.sources())

    def name_of(self, path: str) -> str:
        """What the module calls a file of the editor's.

        Raises:
            RefusedError: nothing of it is in the module.
        """
        wanted = Path(path).absolute()
        if wanted == self._program and self._locations.main is not None:
            return self._locations.main.name
        for name in self._names():
            if (self.path_of(name) or Path(name).absolute()) == wanted:
                return name
        raise RefusedError(f"nothing of `{wanted.name}` is in {self._program.name}")

    def _names(self) -> Iterator[str]:
        seen: set[str] = set()
        for _, instruction in self._locations.instructions():
            source, _ = self._locations.origin(instruction)
            if source is not None and source.name not in seen:
                seen.add(source.name)
                yield source.name
        yield from self._locations.sources()

    def all(self) -> list[dict[str, Any]]:
        """Every file that is here."""
        paths = dict.fromkeys(self.path_of(name) for name in self._names())
        found = [self._program, *(path for path in paths if path is not None)]
        return [{"name": path.name, "path": str(path)} for path in dict.fromkeys(found)]

    def line_in(self, instruction: Instruction, name: str) -> int:
        """The line of an instruction in a file, as the module calls it."""
        source, line = self._locations.origin(instruction)
        if source is not None and source.name == name:
            return line
        lines = [place.line for place in self._locations.chain(instruction) if place.file == name]
        return lines[0] if lines else line
