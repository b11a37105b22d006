"""What is compared: kinds of fetches, and trials of each, which can be kept in a file with a GPU's
answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2}
"""Axes of a layer, or of the face of a cube."""


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """The texels of an object.

    Attributes:
        geometry: as PTX writes it.
        format, channels: of a texel.
        width, height, depth: 1 along axes that there are not.
        layers: 1 where there are none; six for each cube.
        resource: `array`, `mipmap`, `linear` or `pitch`.
        levels: of a mipmap.
        surface: whether kernels write it.
        gather: whether `tld4` reads it.
        depth_buffer: whether fetches compare it with a depth.
    """

    geometry: str
    format: str
    channels: int
    width: int
    height: int = 1
    depth: int = 1
    layers: int = 1
    resource: str = "array"
    levels: int = 1
    surface: bool = False
    gather: bool = False
    depth_buffer: bool = False

    @property
    def texel(self) -> int:
        """Bytes of a texel."""
        return int(self.format[1:]) // 8 * self.channels

    def extents(self, level: int) -> tuple[int, int, int, int]:
        """Width, height, depth and layers of a level."""
        width, height, depth = (max(1, e >> level) for e in (self.width, self.height, self.depth))
        return width, height, depth, self.layers

    def bytes(self, level: int) -> int:
        """Of a level."""
        return int(np.prod(self.extents(level))) * self.texel


@dataclass(frozen=True, slots=True)
class SamplerSpec:
    """How a texture is sampled, in the words of `CUDA_TEXTURE_DESC`.

    Attributes:
        address: `wrap`, `clamp`, `mirror` or `border` for each axis.
        linear, normalized, levels_linear, srgb, seamless: see there.
        integers: whether integers of 8 and 16 bits are read as such.
        untouched: whether optimisations of trilinear filters are off.
        bias, lowest, highest: of levels.
        anisotropy: the greatest.
        border: its colour.
    """

    address: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    linear: bool = False
    normalized: bool = False
    integers: bool = True
    levels_linear: bool = False
    srgb: bool = False
    seamless: bool = False
    untouched: bool = True
    bias: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    anisotropy: int = 0
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """What of an array a texture shows: `CUDA_RESOURCE_VIEW_DESC`."""

    format: str
    channels: int
    first_level: int = 0
    last_level: int = 0
    first_layer: int = 0
    last_layer: int = 0


@dataclass(slots=True)
class Trial:
    """One object and one launch.

    Attributes:
        statement: which of the kind's.
        array: the texels.
        sampler: None for a surface.
        data: the bytes of each level.
        inputs: uint32 [inputs, threads].
        answer: of a GPU, uint32 [outputs, threads]; None without one.
        after: the bytes of each level after the launch, where it writes.
        failed: why a GPU gave none.
        view: what the texture shows; None for all of the array as it is.
    """

    statement: int
    array: ArraySpec
    sampler: SamplerSpec | None
    data: list[np.ndarray]
    inputs: np.ndarray
    answer: np.ndarray | None = None
    after: list[np.ndarray] = field(default_factory=list)
    failed: str = ""
    view: ViewSpec | None = None

    @property
    def threads(self) -> int:
        """Of the launch."""
        return int(self.inputs.shape[1])


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fetch.

    Attributes:
        name: `tex.2d nearest normalized`.
        statements: what the kernel does with the handle, `%rd0`, inputs `%i0`, .. and outputs `%o0`, ..
        inputs, outputs: how many there are.
        judged: `bits`, or `filter`: within the tolerance of weights of 8 bits; `types`; `fault`: whether
            there is one; `noted`: no document defines it, differences are counted apart.
        derived: whether derivatives give the level, for which the documents have no formula.
        writes: whether the texels are compared, too.
        alone: whether it needs a process of its own, as what may fault does.
        note: what the record says of it.
        variables: of the module: `image` or `pixels`, to which the object is bound, and samplers.
    """

    name: str
    statements: tuple[str, ...]
    inputs: int
    outputs: int
    judged: str = "bits"
    writes: bool = False
    alone: bool = False
    note: str = ""
    variables: str = ""
    derived: bool = False

    @property
    def mode(self) -> str:
        """What `.target` says of the texture mode."""
        return ", texmode_independent" if "samplerref" in self.variables else ""

    @property
    def file(self) -> str:
        """The name of its file."""
        return "".join(c if c.isalnum() or c == "." else "-" for c in self.name) + ".npz"


def save(path: Path, kind: Kind, trials: list[Trial]) -> None:
    """Keep trials in a file, whole: with objects, inputs and answers."""
    arrays: dict[str, np.ndarray] = {}
    heads: list[dict[str, Any]] = []
    for number, trial in enumerate(trials):
        arrays[f"inputs{number}"] = trial.inputs
        for level, data in enumerate(trial.data):
            arrays[f"data{number}.{level}"] = data
        for level, data in enumerate(trial.after):
            arrays[f"after{number}.{level}"] = data
        if trial.answer is not None:
            arrays[f"answer{number}"] = trial.answer
        sampler = None if trial.sampler is None else asdict(trial.sampler)
        heads.append(
            {
                "statement": trial.statement,
                "array": asdict(trial.array),
                "sampler": sampler,
                "levels": len(trial.data),
                "after": len(trial.after),
                "failed": trial.failed,
                "view": None if trial.view is None else asdict(trial.view),
            }
        )
    arrays["head"] = np.frombuffer(json.dumps({"kind": asdict(kind), "trials": heads}).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)


def load(path: Path) -> tuple[Kind, list[Trial]]:
    """What was kept."""
    with np.load(path) as arrays:
        head = json.loads(arrays["head"].tobytes())
        kind = Kind(**head["kind"] | {"statements": tuple(head["kind"]["statements"])})
        trials = []
        for number, each in enumerate(head["trials"]):
            sampler = each["sampler"]
            if sampler is not None:
                pairs = {"address": tuple(sampler["address"]), "border": tuple(sampler["border"])}
                sampler = SamplerSpec(**sampler | pairs)
            trials.append(
                Trial(
                    each["statement"],
                    ArraySpec(**each["array"]),
                    sampler,
                    [arrays[f"data{number}.{level}"] for level in range(each["levels"])],
                    arrays[f"inputs{number}"],
                    arrays.get(f"answer{number}"),
                    [arrays[f"after{number}.{level}"] for level in range(each["after"])],
                    each["failed"],
                    None if each.get("view") is None else ViewSpec(**each["view"]),
                )
            )
    return kind, trials
