"""What a launch must satisfy on any device: dimensions, the target's limits, the `.entry`'s own directives.

PTX ISA 11.4.2 (`.maxntid`), 11.4.3 (`.reqntid`), 11.7 (cluster directives), 11.8.1 (`.blocksareclusters`);
limits from `ptxkit.targets`. Both devices call `check_launch`, and the checker asks for the `violations` of a
launch card, so that all refuse the same launches in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from operator import index
from typing import Any, NamedTuple

from ptxkit.asm.tree import Directive, Function, Integer
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, counted
from ptxkit.targets import MAX_BLOCK, MAX_GRID, PORTABLE_CLUSTER, Limits

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a kernel itself demands of its launches.

    Attributes:
        name: the entry's name.
        required_block: `.reqntid`.
        max_threads: the product of `.maxntid`.
        required_cluster: `.reqnctapercluster`.
        max_cluster: `.maxclusterrank`.
        explicit_cluster: `.explicitcluster`.
        grid_in_clusters: `.blocksareclusters`: the driver counts the grid in clusters (we still count CTAs).
        static_shared: bytes of shared memory that the kernel declares.
        resource_threads: the most threads of a CTA that its compiled code has registers for; None: no bound.
        spans: where each directive stands, by its name.
        source: the text of the spans.
    """

    name: str
    required_block: Dim3 | None = None
    max_threads: int | None = None
    required_cluster: Dim3 | None = None
    max_cluster: int | None = None
    explicit_cluster: bool = False
    grid_in_clusters: bool = False
    static_shared: int = 0
    resource_threads: int | None = None
    spans: dict[str, Span | None] = field(default_factory=dict, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        function: Function,
        static_shared: int = 0,
        resource_threads: int | None = None,
        source: Source | None = None,
    ) -> Requirements:
        """The requirements that the directives of an `.entry` state."""
        directives = {directive.name: directive for directive in function.directives}
        extents = {name: _extents(directive) for name, directive in directives.items()}
        maximum, rank = extents.get("maxntid"), extents.get("maxclusterrank")
        return cls(
            name=function.name,
            required_block=extents.get("reqntid"),
            max_threads=prod(maximum) if maximum else None,
            required_cluster=extents.get("reqnctapercluster"),
            max_cluster=rank[0] if rank else None,
            explicit_cluster="explicitcluster" in directives,
            grid_in_clusters="blocksareclusters" in directives,
            static_shared=static_shared,
            resource_threads=resource_threads,
            spans={name: directive.span for name, directive in directives.items()},
            source=source,
        )


class CheckedLaunch(NamedTuple):
    """A launch that has passed `check_launch`.

    Attributes:
        grid: CTAs along x, y, z.
        block: threads of a CTA along x, y, z.
        cluster: CTAs of a cluster along x, y, z.
        clustered: whether the launch or `.reqnctapercluster` asks for clusters at all.
        shared: bytes of dynamic shared memory.
        cooperative: whether all CTAs must be resident at once.
    """

    grid: Dim3
    block: Dim3
    cluster: Dim3 = (1, 1, 1)
    clustered: bool = False
    shared: int = 0
    cooperative: bool = False

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return prod(self.block)


def check_launch(
    kernel: Requirements,
    limits: Limits,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    cluster: int | Sequence[int] | None = None,
    shared: int = 0,
    cooperative: bool = False,
) -> CheckedLaunch:
    """The launch, with its dimensions filled up to three.

    Args:
        kernel: what the kernel demands.
        limits: what the device can hold.
        grid: CTAs along x, y, z; an int, or trailing ones left out.
        block: threads of a CTA, likewise.
        cluster: CTAs of a cluster, likewise; None takes `.reqnctapercluster`, else 1.
        shared: bytes of dynamic shared memory.
        cooperative: all CTAs resident at once (`check_resident` checks that they can be).

    Raises:
        PtxkitError: P510 to P515, every finding at once.
    """
    given: dict[str, Any] = {"grid": grid, "block": block, "shared": shared}
    if cluster is not None:
        given["cluster"] = cluster
    found = [problem for _, problem in violations(kernel, limits, given)]
    if found:
        raise PtxkitError(found)
    used = kernel.required_cluster or (1, 1, 1) if cluster is None else dim3(cluster)
    clustered = cluster is not None or kernel.required_cluster is not None
    return CheckedLaunch(dim3(grid), dim3(block), used, clustered, index(shared), bool(cooperative))


def violations(
    kernel: Requirements, limits: Limits, given: Mapping[str, Any]
) -> list[tuple[str, Diagnostic]]:
    """What is wrong with the parts of a launch that are known, each finding with the part.

    Args:
        kernel: what the kernel demands.
        limits: what the device can hold.
        given: `grid`, `block`, `cluster`, `shared`: those that are known, `cluster` where it is asked for.
    """
    found = [(part, problem) for part, value in given.items() if (problem := _no_value(part, value))]
    if found:
        return found
    dimensions = {part: dim3(value) for part, value in given.items() if part != "shared"}
    if "block" in dimensions:
        found += [("block", problem) for problem in _check_block(kernel, limits, dimensions["block"])]
    if "grid" in dimensions:
        found += [("grid", problem) for problem in _check_grid(kernel, dimensions["grid"])]
    found += _check_cluster(kernel, limits, dimensions.get("grid"), dimensions.get("cluster"))
    if "shared" in given:
        found += [("shared", problem) for problem in _check_shared(kernel, limits, index(given["shared"]))]
    return found


def check_resident(kernel: Requirements, launch: CheckedLaunch, resident: int) -> None:
    """Whether a cooperative launch fits.

    Args:
        kernel: what is launched.
        launch: how.
        resident: CTAs of this launch that the whole device holds at once.

    Raises:
        PtxkitError: P516, it does not.
    """
    if launch.cooperative and launch.ctas > resident:
        message = (
            f"a cooperative launch of `{kernel.name}` needs all its CTAs resident: "
            f"expected at most {resident}, found {launch.ctas}"
        )
        help = f"launch at most {counted(resident, 'CTA')} and let each do several pieces of work"
        raise PtxkitError(Diagnostic("P516", message, help=help))


def _check_block(kernel: Requirements, limits: Limits, block: Dim3) -> list[Diagnostic]:
    found = []
    threads = prod(block)
    over = [axis for axis, size, most in zip("xyz", block, MAX_BLOCK, strict=True) if size > most]
    if over:
        most = MAX_BLOCK["xyz".index(over[0])]
        message = f"a block has at most {counted(most, 'thread')} along {over[0]}, found {show(block)}"
        found.append(Diagnostic("P511", message))
    elif threads > limits.threads_per_cta:
        message = f"a block has at most {limits.threads_per_cta} threads, found {show(block)} = {threads}"
        found.append(Diagnostic("P511", message, help="launch smaller CTAs and more of them"))
    elif kernel.required_block and block != kernel.required_block:
        message = f"`{kernel.name}` needs blocks of {show(kernel.required_block)}, found {show(block)}"
        help = f"launch with `block={show(kernel.required_block)}`, or change `.reqntid`"
        found.append(_at(kernel, "reqntid", Diagnostic("P515", message, help=help)))
    elif kernel.max_threads is not None and threads > kernel.max_threads:
        allowed = counted(kernel.max_threads, "thread")
        message = f"`.maxntid` allows `{kernel.name}` {allowed} in a block, found {threads}"
        found.append(_at(kernel, "maxntid", Diagnostic("P511", message)))
    elif kernel.resource_threads is not None and threads > kernel.resource_threads:
        most = kernel.resource_threads
        allowed = counted(most, "thread")
        message = f"the registers of `{kernel.name}` suffice for blocks of {allowed}, found {threads}"
        help = (
            f"launch smaller CTAs, or declare `.maxntid {threads}` so that the compiler uses fewer registers"
        )
        found.append(Diagnostic("P511", message, help=help))
    return found


def _check_grid(kernel: Requirements, grid: Dim3) -> list[Diagnostic]:
    for axis, size, most in zip("xyz", grid, MAX_GRID, strict=True):
        if size > most:
            message = f"a grid has at most {most} CTAs along {axis}, found {show(grid)}"
            help = "put the longest dimension on x" if axis != "x" else None
            return [Diagnostic("P512", message, help=help)]
    return []


def _check_cluster(
    kernel: Requirements, limits: Limits, grid: Dim3 | None, asked: Dim3 | None
) -> list[tuple[str, Diagnostic]]:
    required = kernel.required_cluster
    cluster = asked or required or (1, 1, 1)
    size = prod(cluster)
    if required and cluster != required:
        message = f"`{kernel.name}` needs clusters of {show(required)}, found {show(cluster)}"
        help = f"leave `cluster` out, or give {show(required)}"
        return [("cluster", _at(kernel, "reqnctapercluster", Diagnostic("P513", message, help=help)))]
    if kernel.explicit_cluster and asked is None and not required:
        message = f"`.explicitcluster` asks for a cluster with every launch of `{kernel.name}`, found none"
        help = "give `cluster=..`, or declare `.reqnctapercluster`"
        return [("cluster", _at(kernel, "explicitcluster", Diagnostic("P513", message, help=help)))]
    if kernel.max_cluster is not None and size > kernel.max_cluster:
        allowed = counted(kernel.max_cluster, "CTA")
        message = f"`.maxclusterrank` allows clusters of {allowed}, found {show(cluster)}"
        return [("cluster", _at(kernel, "maxclusterrank", Diagnostic("P513", message)))]
    if size > limits.cluster:
        if limits.cluster == 1:
            major, minor = limits.capability
            message = f"compute capability {major}.{minor} has no clusters, found {show(cluster)}"
            help = "clusters need `sm_90` or higher"
        else:
            message = f"a cluster has at most {limits.cluster} CTAs, found {size}"
            help = f"{PORTABLE_CLUSTER} CTAs work on every part that has clusters"
        return [("cluster", Diagnostic("P513", message, help=help))]
    for axis, ctas, per in zip("xyz", grid or cluster, cluster, strict=True):
        if ctas % per:
            message = f"expected a grid of whole clusters, a multiple of {per} along {axis}, found {ctas}"
            help = f"round the grid up to {-(-ctas // per) * per} along {axis} and let the extra CTAs return"
            return [("grid", Diagnostic("P513", message, help=help))]
    return []


def _check_shared(kernel: Requirements, limits: Limits, dynamic: int) -> list[Diagnostic]:
    most = limits.shared_per_cta - kernel.static_shared
    if dynamic <= most:
        return []
    message = f"a CTA has at most {limits.shared_per_cta} bytes of shared memory, found {dynamic}"
    notes: tuple[str, ...] = ()
    if kernel.static_shared:
        message += f" dynamic and {kernel.static_shared} static"
    if most >= 0:
        notes = (f"`shared` can be at most {most} for `{kernel.name}`",)
    return [Diagnostic("P514", message, notes=notes, help="use smaller tiles or fewer stages")]


def show(dimensions: Dim3) -> str:
    """Dimensions as one writes them: `128`, `(16, 8)`, `(16, 8, 2)`."""
    if dimensions[1:] == (1, 1):
        return str(dimensions[0])
    return str(dimensions[:2] if dimensions[2] == 1 else dimensions)


def dim3(given: int | Sequence[int]) -> Dim3:
    """Dimensions, filled up to three."""
    x, y, z = (*(given if isinstance(given, Sequence) else (given,)), 1, 1)[:3]
    return index(x), index(y), index(z)


def _no_value(part: str, given: Any) -> Diagnostic | None:
    """P510, where what is given are not dimensions, or not bytes."""
    try:
        values = [index(value) for value in (given if isinstance(given, Sequence) else (given,))]
    except TypeError:
        values = []
    if part == "shared":
        if len(values) == 1 and values[0] >= 0 and not isinstance(given, Sequence):
            return None
        return Diagnostic("P510", f"`shared` takes a number of bytes from 0 up, found {given!r}")
    if 1 <= len(values) <= 3 and all(value >= 1 for value in values):
        return None
    message = f"`{part}` takes one to three integers from 1 up, found {given!r}"
    help = "a size of 0 launches nothing: leave the launch out" if 0 in values else None
    return Diagnostic("P510", message, help=help)


def _extents(directive: Directive) -> Dim3:
    values = [argument.value for argument in directive.arguments if isinstance(argument, Integer)]
    x, y, z = (*values, 1, 1, 1)[:3]
    return x, y, z


def _at(kernel: Requirements, directive: str, diagnostic: Diagnostic) -> Diagnostic:
    return diagnostic.at(kernel.spans.get(directive), kernel.source)
