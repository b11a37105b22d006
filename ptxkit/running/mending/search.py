"""Trying changes of a kernel on the emulator until its result is right."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ptxkit.asm.mends.anchors import anchors, narrowed
from ptxkit.asm.mends.edit import Edit
from ptxkit.asm.mends.edits import LATER, Edits
from ptxkit.asm.mends.numbers import beyond
from ptxkit.asm.mends.statements import KernelText
from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Emulator
from ptxkit.running.loaded_plan import Case
from ptxkit.running.mending.cards import CardEdit, card_edits
from ptxkit.running.mending.trial import Load, Trials
from ptxkit.running.mending.values import weighed

SECONDS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("P8", "P45", "P60", "P650", "P651", "P661", "P662", "P663"), (16.0, 30.0)),
    **dict.fromkeys(("P617", "P623", "P624", "P628", "P639", "P643", "P645"), (16.0, 30.0)),
    **dict.fromkeys(("P6108", "P6109", "P6110", "P6120", "P6125", "P6126", "P6128"), (16.0, 30.0)),
    **dict.fromkeys(("P652", "P653", "P654", "P677", "P678", "P629", "P6131"), (4.0, 8.0)),
    **dict.fromkeys(("P655", "P656", "P657", "P658"), (4.0, 8.0)),
    **dict.fromkeys(("P676", "P681", "P682", "P687"), (4.0, 8.0)),
}
"""How many seconds of its processor time each process tries changes, unless somebody says otherwise, by how
the error's code begins; and at most, where trials take long. Asynchronous operations that meet may come of a
wrong address, but most often a wait is missing, which the finding says; what has no entry comes of no
number."""
KNOWN = 16.0, 30.0
"""The same where a cause is known: it is no wait that is missing."""
REFUSED = "P45"
"""How the codes begin of tensor maps that cannot be so: nothing of the text is to blame."""
SLOW = 120
"""Trials that are worth it of kernels that take long."""
PATIENCE = 4.0
"""How many times as long as the launch with the fault a trial may take."""
OTHERS = 2.0
"""Seconds behind the first change that makes the result right, for others that do."""
MOST_OTHERS = 2
MOST_OPPOSITE = 4
"""Changes into the opposite that are tried, of other places than the first that makes the result right."""
PROCESSES = 4
"""That try changes side by side, at most."""


@dataclass(frozen=True, slots=True)
class Mended:
    """Changes with which a result is right.

    Attributes:
        edits: the nearest first.
        tried: how many were tried.
        either: one that changes in another place what the first makes of it into what that was; None where
            that does not help.
    """

    edits: tuple[Edit | CardEdit, ...]
    tried: int
    either: Edit | None = None


def worth(code: str) -> tuple[float, float]:
    """`SECONDS` of an error; none where no change is worth trying."""
    return next((seconds for begin, seconds in SECONDS.items() if code.startswith(begin)), (0.0, 0.0))


class MendSearch:
    """A search for the change that makes the result of a case right.

    Args:
        case: the problem.
        device: the emulator that the fault was found on: trials are like it.
        load: loads a module on an emulator, with what is linked to it.
    """

    def __init__(self, case: Case, device: Emulator, load: Load) -> None:
        self.trials = Trials(case, device, load)
        self.entries = {launch.entry for launch in case.plan.launches if launch.entry is not None}
        self.processes = min(PROCESSES, device.options.threads)

    def told(
        self, cause: str | None, finding: Diagnostic, seconds: float | None = None
    ) -> tuple[str | None, tuple[str, ...]]:
        """`found` in words: the nearest change, and notes of others; None where there is none."""
        found = self.found(cause, finding, seconds)
        if found is None:
            return None, ()
        wrong = finding.code.startswith("P8")
        what = "the result is right" if wrong else "there is no error and the result is right"
        first, *rest = found.edits
        others = tuple(f"{what} with {one.said}, too" for one in rest)
        if found.either is None:
            return f"{what} with {first.said}", others
        return (
            f"two places do not fit each other: {what} with {first.said}, or with {found.either.said}",
            others,
        )

    def found(self, cause: str | None, finding: Diagnostic, seconds: float | None = None) -> Mended | None:
        """The changes with which the launches have the right result and no error; None without any.

        Args:
            cause: what is known of the cause, in words.
            finding: the error.
            seconds: how long to try, of processor time; None: what is worth it.
        """
        least, most = worth(finding.code) if seconds is None else (seconds, seconds)
        if seconds is None and least and cause is not None:
            least, most = KNOWN
        if not least or not self.trials.begin():
            return None
        kernel = KernelText.of(self.trials.text, self.entries, self.trials.lines())
        begin = anchors(kernel, cause, finding)
        distances = kernel.distances(begin, narrowed(kernel, cause, begin))
        plan = self.trials.plan
        told = cause or ""
        if not finding.code.startswith("P8"):  # That says how many elements are wrong, and what they are.
            told += f" {finding.message}"
        told += "".join(f" {note}" for note in finding.notes if LATER.search(note))
        past = beyond("\n".join((finding.message, *finding.notes)))
        edits: list[Edit | CardEdit] = [*card_edits(plan, self.trials.text, cause, finding)]
        if not finding.code.startswith(REFUSED):
            edits = sorted(
                [*edits, *Edits(kernel, distances, told, past).ordered()],
                key=lambda each: each.cost,
            )
        seconds = min(max(least, SLOW * self.trials.took), most)
        if finding.code.startswith("P8"):
            edits = weighed(self.trials, kernel, edits)
        with contextlib.closing(self._tried(edits, seconds)) as answers:
            good, tried = nearest(answers)
        if not good:
            return None
        either = self._either(edits[good[0]], [edits[number] for number in good[1:]], edits)
        made = tuple(edits[number] for number in good if edits[number] is not either)
        return Mended(made, tried, either)

    def _either(
        self, first: Edit | CardEdit, good: Sequence[Edit | CardEdit], edits: Sequence[Edit | CardEdit]
    ) -> Edit | None:
        """The change that mends the other side of what the first mends on one; those that are known to be
        `good` come first."""
        if not isinstance(first, Edit) or first.also:
            return None
        text = self.trials.text
        was, now = text[first.start : first.end], first.new
        opposite = [
            one
            for one in (*good, *edits)
            if isinstance(one, Edit) and one.new == was and text[one.start : one.end] == now and not one.also
        ]
        patience = PATIENCE * self.trials.took + 1
        known = [one for one in opposite if one in good]
        return next(iter(known), None) or next(
            (one for one in opposite[:MOST_OPPOSITE] if self._right(one, patience)), None
        )

    def _tried(self, edits: Sequence[Edit | CardEdit], seconds: float) -> Generator[tuple[int, bool]]:
        """The numbers of edits that were tried, and whether each makes the result right.

        Each process stops after so many `seconds` of its own: a busy machine tries as much as another.
        """
        patience = PATIENCE * self.trials.took + 1
        end = time.process_time() + seconds
        if self.processes == 1 or not hasattr(os, "fork"):
            for number, edit in enumerate(edits):
                if time.process_time() > end:
                    return
                yield number, self._right(edit, patience)
            return
        children, ways = list[int](), selectors.DefaultSelector()
        try:
            for first in range(self.processes):
                out, into = os.pipe()
                child = os.fork()
                if child == 0:
                    self._child(edits, range(first, len(edits), self.processes), into, seconds, patience)
                os.close(into)
                children.append(child)
                ways.register(out, selectors.EVENT_READ)
            rest: dict[int, bytes] = {}
            while ways.get_map():
                for key, _ in ways.select():
                    said = os.read(key.fd, 4096)
                    if not said:
                        ways.unregister(key.fd)
                        os.close(key.fd)
                        continue
                    *lines, rest[key.fd] = (rest.get(key.fd, b"") + said).split(b"\n")
                    for line in lines:
                        tried, right = line.split()
                        yield int(tried), right == b"1"
        finally:
            for key in list(ways.get_map().values()):
                os.close(key.fd)
            ways.close()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def _right(self, edit: Edit | CardEdit, patience: float) -> bool:
        return self.trials.right(edit.of, patience, edit.plan if isinstance(edit, CardEdit) else None)

    def _child(
        self,
        edits: Sequence[Edit | CardEdit],
        numbers: Sequence[int],
        into: int,
        seconds: float,
        patience: float,
    ) -> None:
        """Try some edits in a process of its own, which ends here."""
        end = time.process_time() + seconds
        try:
            for number in numbers:
                if time.process_time() > end:
                    break
                os.write(into, b"%d %d\n" % (number, self._right(edits[number], patience)))
        finally:
            os._exit(0)


def nearest(answers: Iterable[tuple[int, bool]]) -> tuple[list[int], int]:
    """The first changes that make the result right, in their order, whichever process is quicker; and how
    many were tried.

    Args:
        answers: numbers of changes, as they come, and whether each makes the result right.
    """
    end, good, tried = float("inf"), list[int](), set[int]()
    for number, right in answers:
        tried.add(number)
        now = time.perf_counter()
        if right:
            good.append(number)
            end = min(end, now + OTHERS)
        known = not good or tried.issuperset(range(min(good)))
        if known and (len(good) > MOST_OTHERS or now > end):
            break
    return sorted(good), len(tried)
