"""One changed text of a kernel, launched on an emulator of its own: whether its result is right."""

from __future__ import annotations

import gc
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path

import numpy as np

from ptxkit.asm import Module, parse
from ptxkit.asm.preprocess import Expanded
from ptxkit.asm.tree import Function
from ptxkit.device.protocol import LoadedModule
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source
from ptxkit.emulator import Emulator
from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.device import EmulatorModule
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.workloads import Arrays, content

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]*)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)")
_CARD = re.compile(r"(?<=//)[ \t]*///[ \t]*ptxkit\b")
_WORD = re.compile(r"[\w$%]+")
FEWEST = 16
"""Fewer wrong elements of some CTAs don't stand for all."""
MOST_ERRORS = 1 << 20
"""That a run goes past which only looks at what values would be."""
SPARED = 0.7
"""The part of the time that these CTAs may take, at most."""

Load = Callable[[Emulator, Module], LoadedModule]
Wrong = dict[str, np.ndarray]
"""The numbers of the wrong elements of each output."""


class TooLongError(Exception):
    """A trial takes longer than it may."""


class ExpandedText:
    """What the preprocessor makes of a text, and of changes that no macro holds: it need not read those.

    Args:
        text: the text.
        expanded: what was made of it.
    """

    def __init__(self, text: str, expanded: Expanded) -> None:
        self._written = text.split("\n")
        self._made = expanded.text.split("\n")
        self._places: dict[int, list[int]] = {}
        others: set[int] = set()
        own: dict[Source, bool] = {}
        for at, (source, number) in enumerate(expanded.origins[: len(self._made)]):
            if self._made[at].strip() and own.setdefault(source, source.text == text):
                self._places.setdefault(number - 1, []).append(at)
                if self._made[at].strip() != self._written[number - 1].strip():
                    others.add(number - 1)
        for number in others:
            del self._places[number]

    def of(self, changed: str) -> str:
        """What is made of a changed text; itself where that is not known."""
        written = changed.split("\n")
        if len(written) != len(self._written):
            return changed
        made = list(self._made)
        for number, line in enumerate(written):
            if line != self._written[number]:
                if number not in self._places:
                    return changed
                for at in self._places[number]:
                    made[at] = line
        return "\n".join(made)


class Trials:
    """Launches of changed texts.

    Args:
        case: the problem.
        device: the emulator that the fault was found on: trials are like it.
        load: loads a module on an emulator, with what is linked to it.

    Attributes:
        text: the kernel's.
        trimmed: the same without what does not lead to the entries that are launched.
        fast: whether the fault shows without the sanitizer, and without an order of what is asynchronous.
        took: seconds that the fault took to show.
    """

    def __init__(self, case: Case, device: Emulator, load: Load) -> None:
        self.case = case
        self.plan = case.plan
        self.device = device
        self.load = load
        self.text = self.plan.program.read()
        self.trimmed = trimmed(self.text, {launch.entry for launch in self.plan.launches})
        self.fast = True
        self.took = 0.0
        self._changed = self.plan
        self._expanded: ExpandedText | None = None
        self._piece: tuple[int, int] | None = None
        self._held: Wrong = {}
        self._faulty: Wrong = {}
        self._end = float("inf")

    def begin(self) -> bool:
        """Find out how the fault shows. Returns whether it does."""
        start = time.process_time()
        faulty = self._outputs(self.trimmed, fast=True)
        self.took = time.process_time() - start
        if not self._good(faulty):
            if faulty is not None:
                self._faulty = self._wrong(faulty)
                self._choose(faulty, self._faulty)
            return True
        self.fast = False  # Only the sanitizer, or the order of what is asynchronous, shows it.
        start = time.process_time()
        outputs = self._outputs(self.trimmed, fast=False)
        self.took = time.process_time() - start
        return outputs is None

    def right(self, change: Callable[[str], str], patience: float, plan: LaunchPlan | None = None) -> bool:
        """Whether the result is right with a change, and there is no error.

        Args:
            change: gives the changed text.
            patience: seconds that a launch may take.
            plan: the changed plan, of the same tensors; None: it stays.
        """
        self._changed = plan or self.plan
        collecting = gc.isenabled()
        gc.disable()  # Who pauses the collector asks it how much is frozen, which it counts: milliseconds.
        try:
            return self._right(change, patience)
        finally:
            self._changed = self.plan
            gc.collect(0)
            if collecting:
                gc.enable()

    def _right(self, change: Callable[[str], str], patience: float) -> bool:
        changed = change(self.trimmed)
        if self._expanded is not None:
            changed = self._expanded.of(changed)
        if self._piece is not None:
            outputs = self._outputs(changed, True, patience, self._piece)
            wrong = None if outputs is None else self._wrong(outputs)
            if wrong is None or any(
                len(np.intersect1d(wrong[name], held)) for name, held in self._held.items()
            ):
                return False
        if self.fast and not self._good(self._outputs(changed, True, patience)):
            return False
        # The sanitizer makes launches longer, and the whole text takes longer to read.
        return self._good(self._outputs(change(self.text), False, 8 * patience + 8))

    def _good(self, outputs: Arrays | None) -> bool:
        return outputs is not None and all(one.ok for one in self.case.compare(outputs, patterned=False))

    def _wrong(self, outputs: Arrays) -> Wrong:
        compared = self.case.compare(outputs, patterned=False)
        return {one.tensor: one.which for one in compared if one.which is not None}

    def _choose(self, faulty: Arrays, wrong: Wrong) -> None:
        """Choose CTAs that stand for all, if there are: they write wrong elements by themselves."""
        if len(self.plan.launches) != 1:
            return
        (launch,) = self.plan.launches
        cluster = prod(launch.cluster or (1, 1, 1))
        ctas = prod(launch.grid)
        tensors = {tensor.name: tensor for tensor in self.plan.tensors}
        for first in dict.fromkeys((0, ctas - cluster)) if ctas > cluster else ():
            start = time.process_time()
            outputs = self._outputs(self.trimmed, True, 2 * self.took + 1, (first, first + cluster))
            took = time.process_time() - start
            if outputs is None or took > SPARED * self.took:
                return
            held = {}
            for name, which in wrong.items():
                layout = tensors[name].tensor
                now, all_of_it = (
                    content.decode(layout, each[name]).reshape(-1)[which] for each in (outputs, faulty)
                )
                before = self.case.inputs.get(name)
                before = content.poison(layout) if before is None else before
                began = content.decode(layout, before).reshape(-1)[which]
                alone = (now == all_of_it) & (now != began) & ~(np.isnan(now) & np.isnan(began))
                held[name] = which[alone]
            if sum(map(len, held.values())) >= FEWEST:
                self._piece, self._held, self.took = (first, first + cluster), held, took
                return

    def variable(self, text: str, name: str, patience: float) -> np.ndarray | list[Diagnostic]:
        """The bytes that a text, run without the sanitizer, leaves in a variable of its own; where errors end
        it those, none where it takes too long."""
        found: list[np.ndarray] = []
        problems: list[Diagnostic] = []

        def look(module: LoadedModule, trial: Emulator) -> None:
            assert isinstance(module, EmulatorModule)
            address, size = module.variable(name) or (0, 0)
            found.append(trial.memory.data[address - BASE : address - BASE + size].copy())

        self._outputs(text, True, patience, look=look, problems=problems)
        return found[0] if found else problems

    def writes_wrong(self, first: int, count: int) -> bool | None:
        """Whether some CTAs, in the order of their start, write wrong elements of the outputs; None where
        they write nothing, or an error ends them where no others run."""
        outputs = self._outputs(self.trimmed, True, 2 * self.took + 1, (first, first + count))
        if outputs is None:
            return None
        written, wrong = False, False
        tensors = {tensor.name: tensor.tensor for tensor in self.plan.tensors}
        for name, stored in outputs.items():
            began = self.case.inputs.get(name)
            began = content.poison(tensors[name]) if began is None else began
            now, before = (content.decode(tensors[name], each).reshape(-1) for each in (stored, began))
            changed = (now != before) & ~(np.isnan(now) & np.isnan(before))
            written |= bool(changed.any())
            if name in self._faulty:
                wrong |= bool(changed[self._faulty[name]].any())
        return wrong if written else None

    def _outputs(
        self,
        text: str,
        fast: bool,
        patience: float = float("inf"),
        piece: tuple[int, int] | None = None,
        look: Callable[[LoadedModule, Emulator], None] | None = None,
        problems: list[Diagnostic] | None = None,
    ) -> Arrays | None:
        """What a text leaves in the outputs; None where an error ends it.

        Args:
            text: the kernel's.
            fast: without the sanitizer, and what is asynchronous at once.
            patience: seconds of processor time that the launches may take; reading the text does not count.
            piece: the CTAs that run, in the order of their start; None: all.
            look: what looks at the module and the device behind the launches.
            problems: takes the errors.
        """
        most = 0 if look is None else MOST_ERRORS
        options = self.device.options._replace(keep_going=most, threads=1, traffic=False)
        if fast:
            options = options._replace(order="eager", sanitize=False)
        trial = Emulator(arch=self.device.arch, tensor_cores=self.device.tensor_cores, jit=options.jit)
        trial.options = options
        trial.output = _silent
        end = float("inf")

        def prepared(execution: Execution) -> None:
            inner, grid = execution.execute, execution.launch.grid
            if piece is not None:
                grid.started, grid.stop = piece

            def run(block: CodeBlock, lane_set: LaneSet) -> None:
                if time.process_time() > end:
                    raise TooLongError
                inner(block, lane_set)

            execution.execute = run

        trial.prepare = prepared
        try:
            module = self._module(text)
            # Only what is launched is read and checked where it is only the numbers that count.
            if not fast and any(found.is_error for found in module.diagnostics):
                return None
            loaded = self.load(trial, module)
            with LoadedPlan(trial, loaded, self._changed) as on_device:
                on_device.compile()
                on_device.fill(self.case.inputs)
                end = time.process_time() + patience
                on_device.launch()
                if look is not None:
                    look(loaded, trial)
                if fast:
                    return on_device.outputs()
                outputs = on_device.outputs()
                on_device.check_arguments()
                return outputs
        except TooLongError:
            return None
        except PtxkitError as problem:
            if problems is not None:
                problems += problem.diagnostics
            return None
        finally:
            trial.close()

    def lines(self) -> frozenset[int] | None:
        """The lines of the text that are left of the entries that are launched, and of functions, 1-based;
        None where nobody knows."""
        module = self._module(self.trimmed)
        if module.source is None or module.has_errors:
            return None
        launched = {launch.entry for launch in self.plan.launches}
        expanded = module.source if isinstance(module.source, Expanded) else None
        if expanded is not None:
            self._expanded = ExpandedText(self.trimmed, expanded)
        own: dict[Source, bool] = {}
        found = set[int]()
        for body in (one.body for one in module.functions if _runs(one, launched)):
            for span in (one.span for one in body.statements) if body is not None else ():
                for line in range(span.line, span.end_line + 1) if span is not None else ():
                    source, number = expanded.origins[line - 1] if expanded else (module.source, line)
                    if own.setdefault(source, source.text == self.trimmed):
                        found.add(number)
        return frozenset(found)

    def _module(self, text: str) -> Module:
        """A text, parsed. A file that includes itself includes what the text is."""
        program = self.plan.program
        beside = [] if program.path is None else [str(Path(program.path).parent)]
        include: list[str] = [*beside, *program.include]
        named: Mapping[str, str] = dict(program.define)
        if _INCLUDE.search(text) is None:
            return parse(text, name=program.name, max_size=sys.maxsize, include=include, define=named)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / Path(program.path or program.name).name
            file.write_text(text)
            return parse(file, name=program.name, max_size=sys.maxsize, include=include, define=named)


def _runs(one: Function, launched: set[str | None]) -> bool:
    """Whether launches of some entries may execute it."""
    return one.kind != "entry" or launched == {None} or one.name in launched


def trimmed(text: str, entries: set[str | None]) -> str:
    """A text without its card, and without the `#include`s for other entries: a file may include itself once
    for each, behind definitions of which one is the entry's name. All else stays where it is.

    The plan says what is launched; a card that names entries that are not there would be refused.
    """
    text = _CARD.sub(lambda found: " " * len(found[0]), text)
    ahead, at = list[tuple[dict[str, set[str]], re.Match[str]]](), 0
    for one in _INCLUDE.finditer(text):
        defined = _DEFINE.findall(text, at, one.start())
        ahead.append(({name: set(_WORD.findall(value)) for name, value in defined}, one))
        at = one.end()
    named = set[str | None](_ENTRY.findall(text))
    named = named.union(*(words for defines, _ in ahead for words in defines.values()))
    by = {name for defines, _ in ahead for name, words in defines.items() if words & entries}
    if not entries <= named:
        return text
    for defines, one in ahead:
        chosen = [words for name, words in defines.items() if name in by]
        if chosen and not any(words & entries for words in chosen):
            text = text[: one.start()] + " " * len(one[0]) + text[one.end() :]
    return text


def _silent(text: str) -> None:
    """What a trial prints is nobody's business."""
