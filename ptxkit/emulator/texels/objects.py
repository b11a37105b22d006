"""What the handles of kernels stand for: textures, samplers and surfaces. Driver API, "Texture object
management", "Surface object management"; PTX ISA 5.3.

Each kind has the `flag` of its handles, the bit by which `istypep` tells them apart, and a `noun`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar, TypeVar

from ptxkit.emulator.texels.arrays import TexelArray, TexelLevel


class AddressMode(Enum):
    """What coordinates outside a texture fetch: `CUaddress_mode`."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


Border = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a texture is sampled: `CUDA_TEXTURE_DESC`.

    Attributes:
        address: the mode of each axis.
        linear: whether texels are filtered, or the nearest is taken.
        normalized: whether coordinates go from 0 to 1.
        levels_linear: whether levels of a mipmap are filtered, or the nearest is taken.
        level_bias: added to each level.
        level_clamp: least and greatest level.
        anisotropy: the greatest ratio of an anisotropic filter; 1 for none.
        border: what lies beyond the border.
        seamless: whether filters go on from face to face of a cube.
        srgb: whether integers of 8 bits are in the sRGB colour space.
    """

    address: tuple[AddressMode, AddressMode, AddressMode] = (AddressMode.CLAMP,) * 3
    linear: bool = False
    normalized: bool = False
    levels_linear: bool = False
    level_bias: float = 0.0
    level_clamp: tuple[float, float] = (0.0, 0.0)
    anisotropy: int = 1
    border: Border = (0.0, 0.0, 0.0, 0.0)
    seamless: bool = False
    srgb: bool = False


@dataclass(slots=True, eq=False)
class Texture:
    """A texture, and how it is sampled unless another sampler is named.

    Attributes:
        array: its texels.
        sampler: how it is sampled.
        fractions: whether integers of 8 and 16 bits are read as fractions.
    """

    array: TexelArray
    sampler: Sampler = Sampler()
    fractions: bool = False

    flag: ClassVar = 1 << 61
    noun: ClassVar = "texture"

    def __str__(self) -> str:
        return f"texture of {self.array}"


@dataclass(slots=True, eq=False)
class Surface:
    """A surface: a level of an array that kernels also write."""

    level: TexelLevel

    flag: ClassVar = 1 << 63
    noun: ClassVar = "surface"

    def __str__(self) -> str:
        return f"surface of {self.level}"


@dataclass(slots=True, eq=False)
class SamplerObject:
    """A sampler on its own, for independent texture mode. `unnormalized`: whether it overrides that the
    texture's coordinates are normalized."""

    sampler: Sampler
    unnormalized: bool = False

    flag: ClassVar = 1 << 62
    noun: ClassVar = "sampler"

    def __str__(self) -> str:
        return "sampler"


Bound = Texture | Surface | SamplerObject
Kind = TypeVar("Kind", Texture, Surface, SamplerObject)
OPAQUE_KINDS: dict[str, type[Bound]] = {"texref": Texture, "samplerref": SamplerObject, "surfref": Surface}
"""What variables of each opaque type stand for."""


@dataclass(slots=True, eq=False)
class OpaqueVariable:
    """A `.texref`, `.samplerref` or `.surfref` variable, whose address is its handle.

    Attributes:
        name: of the variable.
        kind: what it may stand for.
        members: what its initial value says of them: numbers, or words.
        bound: what it does stand for; None until the host binds something.
    """

    name: str
    kind: type[Bound]
    members: Mapping[str, int | str] = field(default_factory=dict)
    bound: Bound | None = None


MODES = {
    "wrap": AddressMode.WRAP,
    "mirror": AddressMode.MIRROR,
    "clamp_ogl": AddressMode.CLAMP,
    "clamp_to_edge": AddressMode.CLAMP,
    "clamp_to_border": AddressMode.BORDER,
}
"""The words of address modes, in the order of their numbers. PTX ISA 9.7.10.5."""


def initial_sampler(members: Mapping[str, int | str]) -> SamplerObject:
    """What the initial value of a `.samplerref` makes of it; of a `.texref` in unified mode, likewise."""

    def mode(axis: int) -> AddressMode:
        given = members.get(f"addr_mode_{axis}", "clamp_to_edge")
        return MODES[given] if isinstance(given, str) else list(MODES.values())[given % len(MODES)]

    linear = members.get("filter_mode", 0) in ("linear", 1)
    sampler = Sampler((mode(0), mode(1), mode(2)), linear, bool(members.get("normalized_coords", 0)))
    return SamplerObject(sampler, bool(members.get("force_unnormalized_coords", 0)))


def resampled(texture: Texture, by: SamplerObject) -> Texture:
    """A texture as a sampler of independent mode has it sampled. PTX ISA 5.3.2: the sampler may override that
    coordinates are normalized, and nothing else of the texture's own."""
    normalized = texture.sampler.normalized and not by.unnormalized
    return replace(texture, sampler=replace(by.sampler, normalized=normalized))
