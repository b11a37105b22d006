"""Targets and versions as data: what a target may use, which driver takes which PTX, what a part can hold.

PTX ISA 11.1.1 (`.version`), 11.1.2 (`.target`, families), chapter 13 (release notes); limits from the CUDA
programming guide's table of compute capabilities and the toolkit's occupancy calculator.

The three kinds of target (11.1.2): PTX for `sm_90` runs on every later part (onion layers); PTX for
`sm_100f` on later parts of its family; PTX for `sm_90a` on that part alone. A *need* says what a feature
asks for, in the words of the manual's "Target ISA Notes": `sm_80` is sm_80 or higher; `sm_100f` is sm_100f
or higher in the same family, `a` targets included; `sm_90a` is that target alone. Several, separated by
blanks, are alternatives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

Version = tuple[int, int]
"""A PTX ISA or CUDA version: (major, minor)."""

NEWEST_VERSION: Version = (9, 5)
"""The newest PTX ISA version whose instruction set ptxkit knows."""


@dataclass(frozen=True, slots=True)
class Target:
    """One `.target` architecture.

    Attributes:
        name: `sm_90a`, as the file says it.
        number: 90 for `sm_90a`; 110 for `sm_101`, which PTX ISA 9.0 renamed.
        suffix: `a` (this part alone), `f` (this family) or nothing.
        since: the PTX ISA version that introduced it.
    """

    name: str
    number: int
    suffix: str
    since: Version

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability: (9, 0) for `sm_90a`."""
        return divmod(self.number, 10)

    @property
    def family(self) -> int | None:
        """10, 11 or 12 where the part belongs to a family with `f` targets, else None."""
        return self.number // 10 if self.number >= 100 else None

    @property
    def plain(self) -> str:
        """The target without its suffix: `sm_90` for `sm_90a`."""
        return self.name.rstrip("af")

    def satisfies(self, need: str) -> bool:
        """Whether a feature that needs `need` (see the module's docstring) may be used under this target."""
        return _satisfies(self.number, self.suffix, need)

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Whether PTX for this target can be loaded on a device of that compute capability."""
        device = capability[0] * 10 + capability[1]
        if self.suffix == "a":
            return device == self.number
        if self.suffix == "f":
            return device >= self.number and device // 10 == self.number // 10
        return device >= self.number

    def __str__(self) -> str:
        return self.name


@cache
def _satisfies(number: int, suffix: str, need: str) -> bool:
    for alternative in need.split():
        needed = parse(alternative)
        if needed is None:
            raise ValueError(f"`{alternative}` is no target")
        if needed.suffix == "a":
            met = suffix == "a" and number == needed.number
        elif needed.suffix == "f":
            met = suffix != "" and number >= needed.number and number // 10 == needed.number // 10
        else:
            met = number >= needed.number
        if met:
            return True
    return False


RENAMED = {101: 110}
"""Targets that a later PTX ISA version renamed: 11.1.2, notes."""

_SINCE: dict[Version, str] = {
    (1, 0): "10 11",
    (1, 2): "12 13",
    (2, 0): "20 21",
    (3, 0): "30",
    (3, 1): "35",
    (4, 0): "32 50",
    (4, 1): "37 52",
    (4, 2): "53",
    (5, 0): "60 61 62",
    (5, 1): "70",
    (6, 1): "72",
    (6, 2): "82",
    (6, 3): "75",
    (7, 0): "80",
    (7, 1): "86",
    (7, 4): "87",
    (7, 8): "89 90",
    (8, 0): "90a",
    (8, 6): "100 100a 101 101a",
    (8, 7): "120 120a",
    (8, 8): "100f 101f 103 103a 103f 120f 121 121a 121f",
    (9, 0): "88 110 110a 110f",
    (9, 4): "107 107a 107f",
}
"""The PTX ISA version from which ptxas accepts each target. Where that is earlier than the manual says
(sm_70), or the manual leaves the target out (sm_21, sm_82), ptxas counts. The one of 13.0 alone took sm_88
from 7.3 on."""


def _make(spelling: str, since: Version) -> Target:
    number = int(spelling.rstrip("af"))
    return Target(f"sm_{spelling}", RENAMED.get(number, number), spelling[len(str(number)) :], since)


TARGETS: dict[str, Target] = {
    f"sm_{spelling}": _make(spelling, since) for since, row in _SINCE.items() for spelling in row.split()
}
"""Every target by its `sm_` name, in the order of their introduction."""

SUPPORTED: tuple[str, ...] = tuple(
    sorted(
        (
            name
            for name, target in TARGETS.items()
            if target.number >= 75 and name not in ("sm_82",) and "101" not in name
        ),
        key=lambda name: (TARGETS[name].number, TARGETS[name].suffix),
    )
)
"""The targets that today's toolchain makes code for: sm_75 to sm_121f."""

OPTIONS = frozenset({"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"})
"""What may stand beside the architecture in `.target`."""


def parse(name: str) -> Target | None:
    """The target called `sm_90a` or, the same thing, `compute_90a`; None where there is none."""
    if not isinstance(name, str):
        return None
    return TARGETS.get(f"sm_{name[8:]}" if name.startswith("compute_") else name)


def for_capability(capability: tuple[int, int], suffix: str = "") -> Target | None:
    """The target of a device of that compute capability."""
    return TARGETS.get(f"sm_{capability[0]}{capability[1]}{suffix}")


def describe(need: str) -> str:
    """A need in words: "`sm_90a`, or `sm_100f` or newer of its family".

    What another alternative includes is left out: `sm_89 sm_90` is "`sm_89` or higher".
    """
    asked = [TARGETS[name] for name in need.split()]
    least = [t for t in asked if not any(t is not other and t.satisfies(other.name) for other in asked)]
    exact, families, plain = ([f"`{t}`" for t in least if t.suffix == suffix] for suffix in ("a", "f", ""))
    groups = [_any_of(exact)] if exact else []
    if families:
        groups.append(
            _any_of([*families, f"newer of {'its family' if len(families) == 1 else 'their families'}"])
        )
    groups += [f"{name} or higher" for name in plain]
    return ", or ".join(groups)


def _any_of(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


@cache
def nearest(name: str, need: str) -> str | None:
    """The supported target that meets `need` and asks least of someone who wrote `name`: the same part if it
    can be, else the next newer one."""
    start = parse(name)
    number = start.number if start else 0
    fitting = [TARGETS[candidate] for candidate in SUPPORTED if TARGETS[candidate].satisfies(need)]
    fitting.sort(key=lambda t: (t.number < number, abs(t.number - number), {"": 0, "f": 1, "a": 2}[t.suffix]))
    return fitting[0].name if fitting else None


# ---- versions


class Release(NamedTuple):
    """One PTX ISA version.

    Attributes:
        version: `.version`.
        cuda: the first CUDA release whose ptxas and driver take it.
        driver: the branch of the first Linux driver that takes it, 580 for r580; None before version 6.0,
            older than every target that is still made code for, and where it is not public yet.
    """

    version: Version
    cuda: Version
    driver: int | None


# fmt: off
RELEASES: dict[Version, Release] = {
    version: Release(version, cuda, driver)
    for version, cuda, driver in (
        ((1, 0), (1, 0), None), ((1, 1), (1, 1), None), ((1, 2), (2, 0), None), ((1, 3), (2, 1), None),
        ((1, 4), (2, 2), None), ((1, 5), (3, 0), None), ((2, 0), (3, 0), None), ((2, 1), (3, 1), None),
        ((2, 2), (3, 2), None), ((2, 3), (4, 0), None), ((3, 0), (4, 1), None), ((3, 1), (5, 0), None),
        ((3, 2), (5, 5), None), ((4, 0), (6, 0), None), ((4, 1), (6, 5), None), ((4, 2), (7, 0), None),
        ((4, 3), (7, 5), None), ((5, 0), (8, 0), None), ((5, 1), (8, 0), None), ((6, 0), (9, 0), 384),
        ((6, 1), (9, 1), 387), ((6, 2), (9, 2), 396), ((6, 3), (10, 0), 410), ((6, 4), (10, 1), 418),
        ((6, 5), (10, 2), 440), ((7, 0), (11, 0), 450), ((7, 1), (11, 1), 455), ((7, 2), (11, 2), 460),
        ((7, 3), (11, 3), 465), ((7, 4), (11, 4), 470), ((7, 5), (11, 5), 495), ((7, 6), (11, 6), 510),
        ((7, 7), (11, 7), 515), ((7, 8), (11, 8), 520), ((8, 0), (12, 0), 525), ((8, 1), (12, 1), 530),
        ((8, 2), (12, 2), 535), ((8, 3), (12, 3), 545), ((8, 4), (12, 4), 550), ((8, 5), (12, 5), 555),
        ((8, 6), (12, 7), 565), ((8, 7), (12, 8), 570), ((8, 8), (12, 9), 575), ((9, 0), (13, 0), 580),
        ((9, 1), (13, 1), 590), ((9, 2), (13, 2), 595), ((9, 3), (13, 3), 610), ((9, 4), (13, 4), 615),
        ((9, 5), (13, 5), None),
    )
}
# fmt: on
"""Every PTX ISA version, oldest first. PTX ISA chapter 13, release history."""


def newest_version_for_cuda(cuda: Version) -> Version:
    """The newest PTX ISA version that a driver of that CUDA version (as `cuDriverGetVersion` says) takes."""
    return max((r.version for r in RELEASES.values() if r.cuda <= cuda), default=(1, 0))


def show(version: Version) -> str:
    """A version as the file writes it: `9.0`."""
    return f"{version[0]}.{version[1]}"


# ---- limits

KIB = 1024
WARP_SIZE = 32
MAX_GRID = (2**31 - 1, 65535, 65535)
"""CTAs of a grid along x, y, z, on every target."""
MAX_BLOCK = (1024, 1024, 64)
"""Threads of a CTA along x, y, z, on every target; their product is at most `Limits.threads_per_cta`."""


class Limits(NamedTuple):
    """What one compute capability can hold. Sizes in bytes.

    Attributes:
        capability: (9, 0).
        part: the typical part that `sm_count` is of, None where none is on sale.
        sm_count: its streaming multiprocessors; None where nothing is known, taken as one.
        warps_per_sm: resident warps of a multiprocessor.
        ctas_per_sm: resident CTAs of a multiprocessor.
        shared_per_sm: shared memory of a multiprocessor.
        shared_per_cta: most shared memory of a CTA, after opting in above `shared_static`.
        cluster: largest cluster in CTAs, after opting in above 8; 1 where there are no clusters.
        tensor_memory_columns: 32-bit columns of Tensor Memory, 0 where there is none.
        registers_per_sm: 32-bit registers of a multiprocessor.
        registers_per_cta: 32-bit registers of a CTA.
        registers_per_thread: 32-bit registers of a thread.
        threads_per_cta: threads of a CTA.
        shared_static: most shared memory that declarations may take, and the default for dynamic.
        shared_reserved: bytes of each CTA that the system keeps.
        constant: bytes of `.const` in a module.
        parameters: bytes of kernel parameters.
    """

    capability: tuple[int, int]
    part: str | None
    sm_count: int | None
    warps_per_sm: int
    ctas_per_sm: int
    shared_per_sm: int
    shared_per_cta: int
    cluster: int = 1
    tensor_memory_columns: int = 0
    registers_per_sm: int = 65536
    registers_per_cta: int = 65536
    registers_per_thread: int = 255
    threads_per_cta: int = 1024
    shared_static: int = 48 * KIB
    shared_reserved: int = 1 * KIB
    constant: int = 64 * KIB
    parameters: int = 32764

    @property
    def threads_per_sm(self) -> int:
        """Resident threads of a multiprocessor."""
        return self.warps_per_sm * WARP_SIZE


# fmt: off
LIMITS: dict[tuple[int, int], Limits] = {
    limits.capability: limits
    for limits in (
        #                                                      SM: warps, CTAs, shared    CTA: shared  cluster
        Limits((7, 5), "T4", 40,                                   32, 16,  64 * KIB,  64 * KIB,
               shared_reserved=0, parameters=4096),
        Limits((8, 0), "A100", 108,                                64, 32, 164 * KIB, 163 * KIB),
        Limits((8, 6), "RTX 3090", 82,                             48, 16, 100 * KIB,  99 * KIB),
        Limits((8, 7), "Jetson AGX Orin", 16,                      48, 16, 164 * KIB, 163 * KIB),
        Limits((8, 8), None, None,                                 48, 16, 100 * KIB,  99 * KIB),
        Limits((8, 9), "RTX 4090", 128,                            48, 24, 100 * KIB,  99 * KIB),
        Limits((9, 0), "H100 SXM, H200", 132,                      64, 32, 228 * KIB, 227 * KIB, 16),
        Limits((10, 0), "B200", 148,                               64, 32, 228 * KIB, 227 * KIB, 16, 512),
        Limits((10, 3), "B300", 148,                               64, 32, 228 * KIB, 227 * KIB, 16, 512),
        Limits((10, 7), None, 148,                                 64, 16, 328 * KIB, 327 * KIB, 16, 576),
        Limits((11, 0), "Jetson AGX Thor", 20,                     48, 24, 228 * KIB, 227 * KIB, 8, 512),
        Limits((12, 0), "RTX 5090", 170,                           48, 24, 100 * KIB,  99 * KIB, 8),
        Limits((12, 1), "GB10", 48,                                48, 24, 100 * KIB,  99 * KIB, 8),
    )
}
# fmt: on
"""Limits by compute capability. Of (10, 7), which nobody sells yet, CTAs and shared memory are from the
toolkit's occupancy calculator, the columns of Tensor Memory from the manual, and the rest is (10, 3)'s, the
number of multiprocessors, too: a cluster needs several, each with its own Tensor Memory."""

PORTABLE_CLUSTER = 8
"""The cluster size in CTAs that every part with clusters takes without opting in."""


def limits(target: Target | str | tuple[int, int]) -> Limits:
    """The limits of a target, or of a compute capability. An older or unlisted one gets those of the
    next newer listed part, as PTX for it would run there.

    Raises:
        KeyError: the name is not a target, or nothing listed is as new.
    """
    if isinstance(target, str):
        found = parse(target)
        if found is None:
            raise KeyError(f"`{target}` is no target")
        target = found
    capability = target.capability if isinstance(target, Target) else target
    newer = [listed for listed in LIMITS if listed >= capability]
    if not newer:
        raise KeyError(f"no limits are known for compute capability {capability[0]}.{capability[1]}")
    return LIMITS[min(newer)]


_TARGET = re.compile(r"(?:sm|compute)_\d+[a-z]?\Z")


def looks_like_target(name: str) -> bool:
    """Whether `name` has the shape of a target, known or not."""
    return _TARGET.match(name) is not None
