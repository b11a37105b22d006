"""What a run found, as data and as JSON, and the verdict on its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ptxkit.diagnostics import Diagnostic, Severity, counted
from ptxkit.encodings.tensor_maps.codes import DEFAULT_SWIZZLE
from ptxkit.plan import LaunchPlan
from ptxkit.plan.data import PlanTensorMap
from ptxkit.workloads import Cost
from ptxkit.workloads.comparison import OutputComparison

SCHEMA = 1
"""Version of the report's JSON."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Time of all launches of the plan on a GPU.

    Attributes:
        seconds: the median.
        spread: half the distance between the first and the third quartile, in seconds.
        trials: how many measurements.
        bandwidth: the device's peak memory bandwidth in bytes a second, None where it doesn't say.
        flush: how the L2 cache was flushed before each.
        sm_clock: in Hz over the trials, as the SMs counted it; None where they couldn't.
        clocks: what the management library says right after them (`ptxkit.driver.Clocks`); None without it.
    """

    seconds: float
    spread: float
    trials: int
    bandwidth: float | None = None
    flush: str | None = None
    sm_clock: float | None = None
    clocks: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found.

    Attributes:
        device: its name, `emu` or the GPU's; `kind` is `emu` or `cuda`.
        arch: the target that the emulator played, None on a GPU.
        outputs: each output against its reference; empty where there was nothing to compare with.
        diagnostics: warnings of the device, then P801 to P803.
        wall_seconds: from the first launch to the last result on this machine's clock.
        counters: what the device counted, by name.
        kernels: of each launch the entry's name and what the device knows of it.
        gpu: the GPU's own facts (`CudaDevice.describe`), None on the emulator.
    """

    plan: LaunchPlan
    device: str
    kind: str
    arch: str | None
    outputs: tuple[OutputComparison, ...]
    diagnostics: tuple[Diagnostic, ...]
    cost: Cost | None
    wall_seconds: float
    timing: Timing | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    kernels: tuple[Mapping[str, Any], ...] = ()
    gpu: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; a run without anything to compare is not wrong."""
        return not any(diagnostic.is_error for diagnostic in self.diagnostics)

    @property
    def roof_share(self) -> float | None:
        """Time that moving the bytes at peak bandwidth takes, over the time taken."""
        if self.timing is None or self.timing.bandwidth is None or self.cost is None:
            return None
        return self.cost.bytes / self.timing.bandwidth / self.timing.seconds

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict, schema `SCHEMA`."""
        timing = self.timing and {**asdict(self.timing), "roof_share": self.roof_share}
        if timing:
            timing["peak_bandwidth"] = timing.pop("bandwidth")
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "verified": bool(self.outputs),
            **describe(self.plan),
            "device": self.device,
            "kind": self.kind,
            "arch": self.arch,
            "outputs": [output.to_json() for output in self.outputs],
            "cost": self.cost and asdict(self.cost),
            "timing": timing,
            "wall_seconds": self.wall_seconds,
            "kernels": [dict(kernel) for kernel in self.kernels],
            "counters": dict(self.counters),
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
        }


def describe(plan: LaunchPlan) -> dict[str, Any]:
    """What a plan runs, for JSON: file, problem, launches."""
    return {
        "file": plan.program.name,
        "workload": plan.workload,
        "preset": plan.preset,
        "sizes": plan.sizes,
        "inputs": plan.inputs,
        "seed": plan.seed,
        "launches": [
            {key: value for key, value in asdict(launch).items() if key != "arguments"}
            for launch in plan.launches
        ],
    }


def judge(
    comparison: OutputComparison,
    writer: str | None = None,
    ctas: str | None = None,
    maps: Sequence[PlanTensorMap] = (),
) -> list[Diagnostic]:
    """P801 or P802 for an output that is wrong, nothing for one that is right.

    Args:
        comparison: of the output.
        writer: who wrote its first wrong element, if that is known.
        ctas: which CTAs wrote the wrong elements, and nothing else, if that is so.
        maps: the plan's tensor maps.
    """
    first = comparison.first
    if comparison.ok or first is None:
        return []
    name, index = comparison.tensor, ", ".join(str(i) for i in first.index)
    if comparison.unwritten == comparison.wrong:
        missing = f"found {comparison.wrong} that were not"
        message = (
            f"expected all {counted(comparison.elements, 'element')} of `{name}` to be written, {missing}"
        )
        where = f"the first is `{name}[{index}]`, which should be {first.expected:.9g}"
        help = "check the grid against the shape, and the bounds that the kernel tests"
        return [Diagnostic("P802", message, notes=(where, *comparison.patterns), help=help)]
    tolerance = comparison.tolerance
    verb = "is" if comparison.wrong == 1 else "are"
    message = (
        f"expected {first.expected:.9g} at `{name}[{index}]`, found {first.found:.9g}; "
        f"{comparison.wrong} of {counted(comparison.elements, 'element')} {verb} wrong"
    )
    parts = {"{:g} of the value": tolerance.rtol, "{:g}": tolerance.atol, "{:g} ulp": tolerance.ulp}
    allowed = " + ".join(shown.format(part) for shown, part in parts.items() if part) or "none"
    in_ulp = f"{comparison.max_ulp:.3g} ulp, " if comparison.in_ulp else ""
    notes = [_sided(pattern, name, maps) for pattern in comparison.patterns]
    notes += [ctas] if ctas else []
    notes += [f"largest error {in_ulp}{comparison.max_abs:.3g} absolute; allowed: {allowed}"]
    if comparison.unwritten:
        notes.append(f"{comparison.unwritten} of them were never written")
    if writer is not None:
        notes.append(f"the first was written by {writer}")
    help = f"`--save {name}={name}.npy` keeps the output"
    return [Diagnostic("P801", message, notes=tuple(notes), help=help)]


def not_verified(plan: LaunchPlan, saved: Mapping[str, str] | None = None) -> Diagnostic:
    """P803: the run had nothing to compare its outputs with.

    Args:
        plan: that was run.
        saved: the tensors that are kept, with their files.
    """
    saved = saved or {}
    left = [tensor for tensor in plan.tensors if tensor.name not in saved]
    unfilled = [tensor.name for tensor in left if tensor.initial is None]
    notes = tuple(f"`{name}` is in `{file}`" for name, file in saved.items())
    help: str | None
    if saved:
        help = "a launch card says with `expect` what a tensor must hold: `ptxkit explain P803`"
    else:
        last = next(reversed(unfilled or [tensor.name for tensor in left]), None)
        help = f"`--save {last}={last}.npy` keeps a tensor" if last else None
    message = "nothing to compare the outputs with"
    return Diagnostic("P803", message, severity=Severity.NOTE, notes=notes, help=help)


def _sided(pattern: str, tensor: str, maps: Sequence[PlanTensorMap]) -> str:
    """What wrong elements have in common; of a swizzle that only one side applies, what the tensor map of the
    output says of it."""
    from ptxkit.workloads.rearranged import ONE_SIDED

    over = {
        (each.name, each.options.get("swizzle", DEFAULT_SWIZZLE)) for each in maps if each.tensor == tensor
    }
    if not pattern.endswith(ONE_SIDED) or len(over) != 1:
        return pattern
    ((name, swizzle),) = over
    how = (
        "without one"
        if swizzle == "none"
        else f"with a {swizzle.partition('-')[0].removesuffix('B')}-byte one"
    )
    return f"{pattern}: the tensor map `{name}` copies tiles that lie {how}, and they must be stored so"
