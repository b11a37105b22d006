"""Run a launch plan on a device and verify what comes out: generate, load, launch, compare, report.

The same on the emulator and on a GPU. Outputs are poisoned before the launch, so that what the kernel leaves
out is seen; on a GPU the verified launches are then timed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ptxkit.asm import Module, parse
from ptxkit.asm.reading import as_text
from ptxkit.device.protocol import Device, LoadedModule
from ptxkit.diagnostics import Diagnostic, PtxkitError, error, listing
from ptxkit.emulator import Emulator
from ptxkit.plan import LaunchPlan
from ptxkit.rules import Rules
from ptxkit.running.devices import open_device
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.report import Report, Timing, judge, not_verified
from ptxkit.running.supposing import supposed_beyond, supposed_of, told
from ptxkit.support.atomic_file import check_folder
from ptxkit.workloads import Arrays, content

if TYPE_CHECKING:
    from ptxkit.driver import CudaDevice, Stopwatch

WARMUP, SAMPLES = 3, 20
"""Launches before a run's timing, and launches timed."""

AGAIN = 60.0
"""Seconds that wrong launches may have taken on the emulator to be run again for their cause."""

SHOW_LAYOUTS = ("P60", "P65", "P66", "P6108", "P6126", "P8")
"""The findings, by how their codes begin, that may come of a matrix which lies otherwise than it is read: of
bounds, undefined bits, races, copies and results; not of barriers, allocations and threads that wait."""

Watch = Callable[[bool], None]
"""Is told True before launches that are waited for, and False after them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run, beside what: plain data, so that a worker process can be told.

    Attributes:
        device: `auto`, `emu`, `cuda`, `cuda:1`.
        order, seed: in which order the emulator completes asynchronous work, and the seed for `random`.
        sanitize: whether to look for races and undefined data; None: on the emulator yes, on a GPU no.
        arch: the target that the emulator plays, by default the file's.
        jit: whether the emulator compiles what runs often; None: where the `jit` extra is installed.
        threads: how many cores a launch of the emulator may use; None: those that the process may.
        strict: whether the emulator warns of what the manual asks for and kernels in practice leave out, too.
        traffic: whether the emulator counts bank conflicts and sectors.
        keep_going: how many distinct errors each launch of the emulator goes past; 0: none.
        rules: how much a breach of each of the emulator's rules weighs, where somebody says so.
        save: where to keep tensors after the run, by name.
        line_info: whether profilers can show the PTX lines of what runs on a GPU.
        link: further PTX that is linked to the program, by its name and text.
        mend: seconds for which changes of the kernel are tried on the emulator that make a wrong result
            right; None: as long as is worth it, 0: not at all.
    """

    device: str = "auto"
    order: str = "lazy"
    seed: int = 0
    sanitize: bool | None = None
    arch: str | None = None
    jit: bool | None = None
    threads: int | None = None
    strict: bool = False
    traffic: bool = False
    keep_going: int = 0
    rules: Rules = field(default_factory=dict)
    save: Mapping[str, str] = field(default_factory=dict)
    line_info: bool = False
    link: tuple[tuple[str, str], ...] = ()
    mend: float | None = 0.0


class Session:
    """A module loaded on a device, for one run or several.

    Args:
        module: the parsed program of the plans to come.
        options: device and emulator options.
        watch: told True before launches that are waited for, False after them.
        device: an open device to share; by default one is opened, and closed with the session.
        timed: whether runs on a GPU are timed; on a shared device they are not.

    Attributes:
        stage: what a run does beside its launches, to be put behind its name; empty while they run.

    Raises:
        PtxkitError: no such device, or the module does not load there.
    """

    def __init__(
        self,
        module: Module,
        options: RunOptions,
        watch: Watch | None = None,
        device: Device | None = None,
        timed: bool = True,
    ) -> None:
        self.options = options
        self.device = device or open_for(module, options)
        self.arch = options.arch or module.target
        self._shared = device is not None
        self._watch = watch or _unwatched
        self._fraction: float | None = None
        self.stage = ""
        self._emulating = False
        self._stopwatch: Stopwatch | None = None
        if isinstance(self.device, Emulator):
            self.device.progress = self._progressed
        try:
            self.loaded = load(self.device, module, options)
            if self.device.kind == "cuda" and timed and not self._shared:
                from ptxkit.driver import Stopwatch

                # Now rather than later: its memory must not be what a verified run fails for.
                self._stopwatch = Stopwatch(as_gpu(self.device), watch=self._watch)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the session's own device."""
        if not self._shared:
            self.device.close()

    def progress(self) -> float | None:
        """The part of the running launch that is done, 0 to 1; None if unknown. For any thread."""
        return self._fraction

    def retired(self) -> int | None:
        """Instructions that the running emulation has retired; None while none runs. For any thread."""
        device = self.device
        return device.counts.instructions if self._emulating and isinstance(device, Emulator) else None

    def _progressed(self, done: int, total: int) -> None:
        self._fraction = done / total if total else None

    def run(self, plan: LaunchPlan, case: Case | None = None) -> Report:
        """Run and verify one plan of the session's module.

        Args:
            plan: what to run.
            case: the plan's problem, where it has been made already.

        Raises:
            PtxkitError: what the plan, the arguments or the device has against it; P564, too little host
                memory.
        """
        self._emulating = False
        known_findings = len(self.device.findings)
        if isinstance(self.device, Emulator):  # it may be shared with sessions of other rules
            self.device.options = self.device.options._replace(rules=self.options.rules)
        case = case or Case(plan)
        with LoadedPlan(self.device, self.loaded, plan) as on_device:
            on_device.fill(case.inputs)
            counters: Counter[str] = Counter()
            on_device.compile()
            self._emulating = isinstance(self.device, Emulator)
            self._watch(True)
            start = time.perf_counter()
            try:
                on_device.launch(counters)
                self.device.synchronize()
                outputs = on_device.outputs()
                on_device.check_arguments()
            except PtxkitError as ended:
                self._emulating = False  # a search for the cause retires nothing for long
                passed = self.device.findings[known_findings:]
                found = self._explained(on_device, case, [*passed, *ended.diagnostics], known_findings, start)
                raise PtxkitError(found) from None
            wall = time.perf_counter() - start
            self._watch(False)
            self._emulating = False
            compared = verdicts = case.compare(outputs)
            self._save(on_device, outputs)
            if not all(one.ok for one in compared):
                on_device.launch_on_one_core(case.inputs)
            judged = [
                found
                for one in compared
                for found in judge(one, on_device.writer_of(one), on_device.wrong_ctas(one), plan.tensor_maps)
            ]
            compared = tuple(replace(one, which=None) for one in compared)
            if not compared:
                judged = [not_verified(plan, self.options.save)]
            if not compared or not all(one.ok for one in compared):
                judged += on_device.untouched()
            know = partial(supposed_of, case, outputs, verdicts, wall)
            judged = self._explained(on_device, case, judged, len(self.device.findings), start, know)
            return Report(
                plan=plan,
                device=self.device.name,
                kind=self.device.kind,
                arch=self.arch if self.device.kind == "emu" else None,
                outputs=compared,
                diagnostics=(*self.device.findings[known_findings:], *judged),
                cost=case.cost,
                wall_seconds=wall,
                timing=self._time(on_device),
                counters=dict(counters),
                kernels=on_device.facts(),
                gpu=None if self.device.kind == "emu" else as_gpu(self.device).describe(),
            )

    def _explained(
        self,
        on_device: LoadedPlan,
        case: Case,
        found: list[Diagnostic],
        known: int,
        start: float,
        suppose: Callable[[], str | None] | None = None,
    ) -> list[Diagnostic]:
        """Findings, the first error opened by its cause: how a product reads a matrix that lies otherwise.

        The launches are run again to find that out, on the emulator, where the first time took less than
        `AGAIN` seconds. `known`: findings of the device from there on are not of them. `suppose`: says
        which change of an input gives wrong results; None where an error ended the launches.
        """
        wrong = next((at for at, one in enumerate(found) if one.is_error), None)
        took = time.perf_counter() - start
        late = took > AGAIN
        if wrong is None or late or not isinstance(self.device, Emulator):
            return found
        cause = None
        if found[wrong].code.startswith(SHOW_LAYOUTS):
            cause = on_device.cause(case.inputs) or told(found[wrong].notes)
            if cause is None:
                supposed = (suppose or partial(supposed_beyond, on_device, case, took))()
                cause = ": ".join(text for text in (on_device.suspicion, supposed) if text) or None
        mended, others = None, tuple[str, ...]()
        if cause is None or cause != on_device.mistyped:  # a type is all that there is to mend
            mended, others = self._mended(case, cause, found[wrong])
        cause = ": ".join(text for text in (mended, cause) if text) or None
        if cause is None:
            return found
        name, colon, rest = found[wrong].message.partition(": ")
        ruled = bool(colon) and name.isupper()
        message = f"{name}: {cause}: {rest}" if ruled else f"{cause}: {found[wrong].message}"
        notes = (*found[wrong].notes, *others)
        return [*found[:wrong], replace(found[wrong], message=message, notes=notes), *found[wrong + 1 :]]

    def _mended(
        self, case: Case, cause: str | None, finding: Diagnostic
    ) -> tuple[str | None, tuple[str, ...]]:
        """The change of the kernel with which there is no error, in words, and notes of others; None where
        none was found or nobody wants to know."""
        if self.options.mend == 0:
            return None, ()
        from ptxkit.running.mending.search import MendSearch

        assert isinstance(self.device, Emulator)
        search = MendSearch(case, self.device, partial(load, options=self.options))
        self._fraction, self.stage = None, ", trying changes that make it right"
        try:
            return search.told(cause, finding, self.options.mend)
        finally:
            self.stage = ""

    def _time(self, on_device: LoadedPlan) -> Timing | None:
        """On a GPU the time of all launches with a cold L2 cache; the emulator has no time."""
        stopwatch = self._stopwatch
        if stopwatch is None:
            return None
        device, launch, launches = as_gpu(self.device), on_device.prepare(stopwatch), len(on_device.kernels)
        stopwatch.prime(launch)
        stopwatch.times(launch, WARMUP, launches)
        stopwatch.start_clock()
        times = stopwatch.times(launch, SAMPLES, launches)
        sm_clock, clocks = stopwatch.sm_clock(), device.clocks()
        import statistics

        low, median, high = statistics.quantiles(times, n=4)
        return Timing(
            median,
            (high - low) / 2,
            len(times),
            device.peak_bandwidth,
            stopwatch.flush,
            sm_clock,
            clocks.to_json() if clocks else None,
        )

    def _save(self, on_device: LoadedPlan, outputs: Arrays) -> None:
        for name, file in self.options.save.items():
            array = outputs[name] if name in outputs else on_device.read(name)
            content.save(on_device.tensors[name].tensor, array, Path(file))


def check_save(plan: LaunchPlan, options: RunOptions) -> None:
    """Every tensor to save exists, and every folder to save into: said before the work rather than after it.

    Raises:
        PtxkitError: P562 (no such tensor, or two for one file), P567 (no such folder).
    """
    known = {tensor.name for tensor in plan.tensors}
    taken: dict[Path, str] = {}
    for name, file in options.save.items():
        if name not in known:
            listed = listing(sorted(known))
            raise error(
                "P562", f"expected a tensor after `--save`, found `{name}`", help=f"the launch has {listed}"
            )
        check_folder(Path(file))
        other = taken.setdefault(Path(file).absolute(), name)
        if other != name:
            message = f"expected a file for each tensor, found `{file}` for `{other}` and for `{name}`"
            raise error("P562", message)


def _unwatched(began: bool) -> None:
    """Nobody watches over the launches of a session in this process."""


def open_for(module: Module, options: RunOptions) -> Device:
    """The device that the options name, for a module's target."""
    return open_device(
        options.device,
        order=options.order,
        seed=options.seed,
        sanitize=options.sanitize is not False,
        arch=options.arch,
        jit=options.jit,
        threads=options.threads,
        strict=options.strict,
        traffic=options.traffic,
        keep_going=options.keep_going,
        rules=options.rules,
        target=module.target,
    )


def load(device: Device, module: Module, options: RunOptions) -> LoadedModule:
    """Load a module as the options say.

    Raises:
        PtxkitError: P526, files that can't be linked; what the device has against the module.
    """
    others = [parse(as_text(text), name=name) for name, text in options.link]
    if device.kind == "cuda":
        return as_gpu(device).load([module, *others], line_info=options.line_info)
    if not others:
        return device.load(module)
    from ptxkit.asm.link import link

    return device.load(link([module, *others]))


def as_gpu(device: Device) -> CudaDevice:
    """A device of kind `cuda` as what it is."""
    from ptxkit.driver import CudaDevice

    assert isinstance(device, CudaDevice)
    return device
