"""Both verdicts on statements in a file: which lines ptxas refuses, and which the checker does.

ptxas is asked twice where a sheet says how: without making code, which names all lines in one go, and what it
accepts then once more, making code. The second verdict counts.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import ptxkit

from . import kept

BREAK = "membar.cta;"
"""What follows a trial on its line: a refused statement leaves modifiers behind that the next one gets."""
TIMEOUT = 20.0
"""Seconds that nvJitLink may take for one sheet."""
PTXAS_TIMEOUT = 6.0
PTXAS_MEMORY = 1 << 30
"""Seconds, and a twentieth more a trial, and bytes that ptxas may take; some statements take all there is."""
AT_ONCE = 100
"""Trials of which ptxas makes code in one go."""
_LINE = re.compile(r", line (\d+); (?:fatal|error)\s*: (.*)")
_CODE_LINE = re.compile(
    r"Line No: (?P<line>\d+): (?P<message>.*)|(?P<narrow>Program uses 32-bit address) on line '(?P<at>\d+)'"
)
"""How ptxas names lines when it makes code."""
_BEYOND = re.compile(
    "Undefined reference to|In ABI compilation, passing predicate|32-Bit ABI .* is not supported"
    "|Internal compiler error"
)
"""What nvJitLink says where it makes or links code, which `ptxas -arch=compute_90` does not do."""
_NEWER = re.compile(
    r".*, line \d+; (?:error|fatal)\s*: (?:\.aligned modifier required for instruction 'tcgen05"
    r"|Illegal state space for address operand '::func'"
    r"|Illegal modifier '\.\w+' for instruction 'red\.async' with '\.mmio'"
    r"|Argument 1 of instruction 'tensormap\.replace': .*\.swizzle_mode"
    r"|\(C\d+\) Internal compiler error).*\n"
)
"""What nvJitLink 13.5 refuses and ptxas 13.0, by which the rows are judged, takes."""


@dataclass(frozen=True)
class Verdict:
    """What both say of one statement.

    Attributes:
        text: the statement.
        where: the file or row it came from.
        change: what was changed in it; empty where nothing was.
        place: `9.0 sm_90a`, what it was judged for.
        theirs: the first message of ptxas; None where it accepts.
        ours: the same of the checker.
    """

    text: str
    where: str
    change: str
    place: str
    theirs: str | None
    ours: str | None

    @property
    def agrees(self) -> bool:
        """Whether both accept it, or both refuse it."""
        return (self.theirs is None) == (self.ours is None)


@dataclass(frozen=True)
class Sheet:
    """A file in which statements are tried, each in a line of its own.

    Attributes:
        lines: the file as it is accepted.
        trials: what to write instead of a line, by its number from 0.
        architecture: `compute_90a`, for which ptxas checks and makes no code.
        entries: each trial as a kernel of its own, by its line, for making code; empty where none is made.
        head: what stands before the entries; as many lines as `lines` has before its first trial.
    """

    lines: Sequence[str]
    trials: Mapping[int, str]
    architecture: str
    entries: Mapping[int, str] = field(default_factory=dict)
    head: Sequence[str] = ()

    def text(self, trials: Iterable[int]) -> str:
        """The file with some of the trials in it."""
        chosen = set(trials)
        changed = (f"{self.trials[i]} {BREAK}" if i in chosen else line for i, line in enumerate(self.lines))
        return "\n".join(changed) + "\n"

    def program(self, trials: Iterable[int]) -> str:
        """The file for making code, with some of the trials in it, in the same lines."""
        chosen = set(trials)
        count = max(self.trials) + 1 - len(self.head) if self.trials else 0
        rest = (len(self.head) + i for i in range(count))
        return "\n".join([*self.head, *(self.entries[i] if i in chosen else "" for i in rest)]) + "\n"


def by_ptxas(sheet: Sheet, trials: Sequence[int] | None = None) -> dict[int, str]:
    """The trials that ptxas refuses, by line, each with its first message."""
    refused: dict[int, str] = {}
    alive = list(sheet.trials if trials is None else trials)
    while alive:
        bad, code = _run(sheet, alive)
        if not bad:
            if code:  # It crashed, or what it says belongs to no trial.
                refused.update(_halves(sheet, alive, code))
            break
        # Instructions that become calls inside ptxas are held against the first such call of the file.
        for i in [i for i, message in bad.items() if "formal parameter" in message and len(alive) > 1]:
            del bad[i]
            alive.remove(i)
            refused.update(by_ptxas(sheet, [i]))
        # An unknown name leaves its modifiers behind, and ptxas counts them with the next statement.
        spoilt = {i for before, i in pairwise(alive) if "Not a name" in bad.get(before, "")}
        refused.update({i: message for i, message in bad.items() if i not in spoilt})
        alive = [i for i in alive if i not in refused]
    return refused


def judge(sheet: Sheet) -> tuple[dict[int, str], dict[int, str]]:
    """What ptxas refuses and what the checker refuses, by line.

    Where they differ the trial is put to ptxas once more, alone: of a statement that it turns into a call, it
    may refuse the next one for a reason of the one before. And what it alone accepts must make code alone:
    among others it has been seen to pass over a 32-bit address.
    """
    theirs, ours = by_ptxas(sheet), by_checker(sheet)
    for line in theirs.keys() ^ ours.keys():
        theirs.pop(line, None)
        theirs.update(by_ptxas(sheet, [line]))
    theirs.update(by_code(sheet, [line for line in sheet.trials if line not in theirs]))
    if sheet.entries and kept.assembler() is not None:
        for line in ours.keys() - theirs.keys():
            theirs.update(_by_code(sheet, [line]))
    return theirs, ours


def by_code(sheet: Sheet, trials: Sequence[int]) -> dict[int, str]:
    """The trials that ptxas refuses when it makes code, by line; nothing where it is not asked."""
    if not sheet.entries or kept.assembler() is None:
        return {}
    digests = {i: kept.digest(sheet.architecture, *sheet.head, sheet.entries[i]) for i in trials}
    known = kept.read(list(digests.values()))
    found = {i: known[digest] for i, digest in digests.items() if digest in known}
    asked = [i for i in trials if i not in found]
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        refused = _by_code(sheet, part)
        kept.write({digests[i]: refused.get(i) for i in part})
        found.update(refused)
    return {i: message for i, message in found.items() if message is not None}


def _by_code(sheet: Sheet, trials: Sequence[int]) -> dict[int, str]:
    """The same, asked afresh. A message without a line is of one trial among them, which halving finds."""
    refused: dict[int, str] = {}
    alive = list(trials)
    while alive:
        log, code = _assemble(sheet, alive)
        if code == 0:
            break
        bad = {i: message for i, message in _located(log).items() if i in alive}
        if not bad:
            if len(alive) == 1:
                refused[alive[0]] = _first_message(log) or f"(exit code {code})"
                break
            half = len(alive) // 2
            refused.update(_by_code(sheet, alive[:half]))
            refused.update(_by_code(sheet, alive[half:]))
            break
        refused.update(bad)
        alive = [i for i in alive if i not in bad]
    return refused


def _located(log: str) -> dict[int, str]:
    """The lines, from 0, that a log of making code names, each with its first message."""
    bad: dict[int, str] = {}
    for line, message in _LINE.findall(log):
        bad.setdefault(int(line) - 1, message)
    for match in _CODE_LINE.finditer(log):
        line = int(match["line"] or match["at"]) - 1
        bad.setdefault(line, match["message"] or match["narrow"])
    return bad


def _first_message(log: str) -> str | None:
    found = re.search(r"(?:error|fatal)\s*: *(.*)", log)
    return found[1] if found else None


def _assemble(sheet: Sheet, trials: Sequence[int]) -> tuple[str, int]:
    """Log and exit code of ptxas where it makes code."""
    return _ask(sheet.program(trials), sheet.architecture.replace("compute_", "sm_"), len(trials))


def by_ptxas_alone(sheet: Sheet) -> str | None:
    """What ptxas says against the file without any trial; None where it accepts it."""
    log, code = _ptxas(sheet, []) if shutil.which("ptxas") else _nvjitlink(sheet, [])
    return None if code == 0 else (log.strip().split("\n")[0] or f"(exit code {code})")


def has_place(sheet: Sheet) -> bool:
    """Whether the assembler takes the version for the target; for `sm_88` 13.5 takes 9.0 and later alone."""
    return "does not support .target" not in (by_ptxas_alone(sheet) or "")


def frame_stands(sheet: Sheet) -> bool:
    """Whether ptxas accepts the file without any trial.

    Raises:
        RuntimeError: the checker does not say the same.
    """
    theirs = _run(sheet, [])[1] == 0
    errors = [d for d in ptxkit.check(ptxkit.parse(sheet.text([]))) if d.is_error]
    if theirs != (not errors):
        what = "\n".join(map(str, errors)) or "nothing is wrong to the checker"
        raise RuntimeError(f"ptxas {'accepts' if theirs else 'refuses'} {sheet.lines[0]}, but\n{what}")
    return theirs


def _run(sheet: Sheet, trials: Sequence[int]) -> tuple[dict[int, str], int]:
    log, code = _ptxas(sheet, trials) if shutil.which("ptxas") else _nvjitlink(sheet, trials)
    bad: dict[int, str] = {}
    for line, message in _LINE.findall(log):
        if int(line) - 1 in sheet.trials and int(line) - 1 in trials:
            bad.setdefault(int(line) - 1, message)
    return bad, code


def _ptxas(sheet: Sheet, trials: Sequence[int]) -> tuple[str, int]:
    return _ask(sheet.text(trials), sheet.architecture, len(trials))


def _ask(text: str, architecture: str, trials: int) -> tuple[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ptx"
        path.write_text(text)
        try:
            run = subprocess.run(
                ["ptxas", f"-arch={architecture}", str(path), "-o", str(Path(folder) / "x.cubin")],
                capture_output=True,
                text=True,
                check=False,
                timeout=PTXAS_TIMEOUT + trials / 20,
                preexec_fn=_limit_memory,
            )
        except subprocess.TimeoutExpired:
            return "", -1
    return run.stderr + run.stdout, run.returncode


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (PTXAS_MEMORY, PTXAS_MEMORY))


def _nvjitlink(sheet: Sheet, trials: Sequence[int]) -> tuple[str, int]:
    """The same by nvJitLink, which makes machine code and links it, too, and so takes longer."""
    architecture = sheet.architecture.replace("compute_", "sm_")
    try:
        run = subprocess.run(
            [sys.executable, "-m", "ptxkit.toolchain.nvjitlink", f"-arch={architecture}"],
            input=sheet.text(trials).encode(),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", -1  # What makes ptxas crash makes nvJitLink hang.
    if run.returncode:
        return "", run.returncode
    head, _, code = run.stdout.partition(b"\n")
    log, newer = _NEWER.subn("", json.loads(head)["log"])
    accepted = code or ((newer or _BEYOND.search(log)) and not _LINE.search(log))
    return log, 0 if accepted else 1


def _halves(sheet: Sheet, trials: Sequence[int], code: int) -> dict[int, str]:
    if len(trials) == 1:
        return {trials[0]: f"(exit code {code})"}
    half = len(trials) // 2
    return {**by_ptxas(sheet, trials[:half]), **by_ptxas(sheet, trials[half:])}


def by_checker(sheet: Sheet) -> dict[int, str]:
    """The trials that the checker refuses, by line, each with its first message.

    Raises:
        RuntimeError: it has an error outside the trials.
    """
    refused: dict[int, str] = {}
    for diagnostic in ptxkit.check(ptxkit.parse(sheet.text(sheet.trials))):
        if diagnostic.is_error and diagnostic.span:
            line = diagnostic.span.line - 1
            if line not in sheet.trials:
                raise RuntimeError(f"an error outside the trials: {diagnostic}")
            refused.setdefault(line, f"{diagnostic.code} {diagnostic.message}")
    return refused


def report(verdicts: Iterable[Verdict], show: int, reason: Callable[[Verdict], str | None]) -> int:
    """Print how far the two agree.

    Args:
        verdicts: what was judged.
        show: how many disagreements of one file or row to print, of those without a reason.
        reason: why the two disagree; None where nothing is known of that.

    Returns:
        1 where they differ without a reason, 2 where there is nothing to compare.
    """
    by_where: dict[str, list[Verdict]] = defaultdict(list)
    by_change: dict[str, Counter[bool]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_where[verdict.where].append(verdict)
        by_change[verdict.change or "as written"][verdict.agrees] += 1
        total["judged"] += 1
        total["accepted"] += verdict.theirs is None
        total["differ"] += not verdict.agrees
        total["ours alone"] += verdict.theirs is None and verdict.ours is not None
        if not verdict.agrees:
            name = reason(verdict)
            if name is None:
                wrong[verdict.where].append(verdict)
            else:
                reasons[name] += 1
    for where, found in sorted(wrong.items()) if show else ():
        print(f"{len(by_where[where]) - len(found)}/{len(by_where[where])}  {where}")
        for verdict in found[:show]:
            print(f"    {verdict.text[:400]}   [{verdict.place} {verdict.change}]")
            print(
                f"        ptxas: {verdict.theirs or 'accepts'}\n        ptxkit: {verdict.ours or 'accepts'}"
            )
    if not total["judged"]:
        print("no statement could be judged", file=sys.stderr)
        return 2
    for change, counts in sorted(by_change.items()):
        print(f"{change}: {counts[True]}/{counts.total()}")
    print(
        f"{total['judged']} statements, {total['accepted']} accepted by ptxas; agreement "
        f"{1 - total['differ'] / total['judged']:.4%}, {total['differ']} differ, "
        f"{total['ours alone']} of them refused by ptxkit alone"
    )
    for name, count in reasons.most_common():
        print(f"{count} of them differ for a reason in tools/agreement/reasons.toml: {name}")
    return 1 if wrong else 0
