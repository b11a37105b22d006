"""A recorded launch: what it is, and its files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ARRAYS = ("before", "after", "undefined", "still_undefined")
DESCRIPTION, MEMORY, MODULES = "launch.json", "memory.npz", "modules"


@dataclass(slots=True)
class Range:
    """A range of device memory.

    Attributes:
        address: of its first byte, in the record and wherever the launch is run again.
        name: what findings call it.
        before, after: its bytes, u8[size].
        undefined, still_undefined: the bits of them that nobody had written, u8[size]; None for no bit.
    """

    address: int
    name: str
    before: np.ndarray
    after: np.ndarray
    undefined: np.ndarray | None = None
    still_undefined: np.ndarray | None = None


@dataclass(slots=True)
class RecordedLaunch:
    """A launch.

    Attributes:
        entry: the kernel's name.
        arch: the target that the device played.
        text: the module's PTX.
        number: among all launches of its program, from 1.
        grid, block, cluster: its shape.
        shared: bytes of dynamic shared memory.
        arguments: the bytes of the parameter space, tensor maps among them.
        cooperative, programmatic: as it was launched.
        ranges: the allocations that it can reach by its arguments.
        variables: those of its module by name, with address 0: they lie elsewhere in each run.
    """

    entry: str
    arch: str
    text: str
    number: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    shared: int
    arguments: bytes
    cooperative: bool = False
    programmatic: bool = False
    ranges: list[Range] = field(default_factory=list)
    variables: list[Range] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write it into a new folder; its module goes into `modules` beside it, once for all launches."""
        folder.mkdir(parents=True)
        name = f"{hashlib.sha256(self.text.encode()).hexdigest()[:16]}.ptx"
        modules = folder.parent / MODULES
        modules.mkdir(exist_ok=True)
        (modules / name).write_text(self.text, "utf-8")
        told = {
            key: getattr(self, key) for key in self.__slots__ if key not in ("text", "ranges", "variables")
        }
        told |= {"arguments": self.arguments.hex(), "module": name}
        arrays: dict[str, np.ndarray] = {}
        for kind in ("ranges", "variables"):
            kept: list[Range] = getattr(self, kind)
            told[kind] = [{"address": each.address, "name": each.name} for each in kept]
            for index, each in enumerate(kept):
                found = {key: getattr(each, key) for key in ARRAYS}
                arrays |= {f"{kind}.{index}.{key}": data for key, data in found.items() if data is not None}
        np.savez_compressed(folder / MEMORY, **arrays)
        (folder / DESCRIPTION).write_text(json.dumps(told, indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> RecordedLaunch:
        """The launch in a folder."""
        told: dict[str, Any] = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        text = (folder.parent / MODULES / told.pop("module")).read_text("utf-8")
        with np.load(folder / MEMORY) as arrays:
            for kind in ("ranges", "variables"):
                told[kind] = [
                    Range(**each, **{key: arrays.get(f"{kind}.{index}.{key}") for key in ARRAYS})
                    for index, each in enumerate(told[kind])
                ]
        return cls(**told | {"text": text, "arguments": bytes.fromhex(told["arguments"])})
