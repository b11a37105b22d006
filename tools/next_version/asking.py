"""What releases of ptxas say of kernels."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ptxkit import targets
from tools.agreement import assemblers

from .trials import Trial

BATCH = 100
TIMEOUT = 60.0
_LINE = re.compile(r", line (\d+); (?:fatal|error)\s*: (.*)")
_WARNING = re.compile(r", line (\d+); warning\s*: (.*)")


@dataclass(frozen=True)
class Assembler:
    """One ptxas.

    Attributes:
        release: `13.5`.
        path: the program.
        version: the newest PTX ISA version that it takes.
    """

    release: str
    path: Path
    version: targets.Version

    @classmethod
    def of(cls, given: str) -> Assembler:
        """A release that pip has (`13.5`), or the path of a ptxas.

        Raises:
            RuntimeError: it is neither here nor to be had, or says no release.
        """
        path = assemblers.fetch(given) / "ptxas" if given in assemblers.RELEASES else Path(given)
        if not path.is_file():
            known = ", ".join(assemblers.RELEASES)
            raise RuntimeError(f"{given}: expected the path of a ptxas, or a release: {known}")
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        found = re.search(r"release (\d+\.\d+)", said)
        if found is None:
            raise RuntimeError(f"{path} says no release: {said.strip()}")
        return cls(found[1], path, _newest(path))

    def targets(self) -> list[str]:
        """The targets that it takes, as its help lists them."""
        said = subprocess.run([self.path, "--help"], capture_output=True, text=True, check=True).stdout
        found = set(re.findall(r"'(sm_\d+[af]?)'", said))
        return sorted(found, key=lambda name: (int(re.findall(r"\d+", name)[0]), name))


def _newest(path: Path) -> targets.Version:
    """The newest version that it takes, by trying: it says which it does not."""
    newest = (9, 0)
    for minor in range(1, 10):
        if _run(path, f".version 9.{minor}\n.target sm_90\n.address_size 64\n", "sm_90")[1]:
            break
        newest = (9, minor)
    return newest


def _run(path: Path, text: str, target: str) -> tuple[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.ptx"
        file.write_text(text, encoding="utf-8")
        try:
            run = subprocess.run(
                [path, f"-arch={target}", file, "-o", os.devnull],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return "", -1
    return run.stderr + run.stdout, run.returncode


def refused(
    assembler: Assembler, version: targets.Version, target: str, trials: Mapping[int, Trial]
) -> tuple[dict[int, str], set[str]]:
    """The trials that a ptxas refuses, by number with their first messages; and what it warns of."""
    found: dict[int, str] = {}
    warned: set[str] = set()
    numbers = list(trials)
    for start in range(0, len(numbers), BATCH):
        part = {number: trials[number] for number in numbers[start : start + BATCH]}
        for number, message, warning in _asked(assembler, version, target, part):
            if message is not None:
                found[number] = message
            warned |= warning
    return found, warned


def _asked(
    assembler: Assembler, version: targets.Version, target: str, trials: Mapping[int, Trial]
) -> Iterator[tuple[int, str | None, set[str]]]:
    alive = dict(trials)
    while alive:
        lines = [f".version {targets.show(version)}", f".target {target}", ".address_size 64"]
        owners = [-1, -1, -1]
        for number, trial in alive.items():
            kernel = trial.kernel.replace("NAME", f"k{number}").split("\n")
            lines += kernel
            owners += [number] * len(kernel)
        log, code = _run(assembler.path, "\n".join(lines) + "\n", target)
        if code == 0:
            warned = {message for _, message in _WARNING.findall(log)}
            yield from ((number, None, warned) for number in alive)
            return
        bad: dict[int, str] = {}
        for line, message in _LINE.findall(log):
            bad.setdefault(owners[min(int(line), len(owners)) - 1], message)
        bad.pop(-1, None)
        if not bad and len(alive) == 1:
            first = log.strip().split("\n")[0]
            bad = dict.fromkeys(alive, first or f"(exit code {code})")
        elif not bad:
            half = len(alive) // 2
            halves = list(alive.items())
            for part in (halves[:half], halves[half:]):
                yield from _asked(assembler, version, target, dict(part))
            return
        yield from ((number, message, set()) for number, message in bad.items())
        alive = {number: trial for number, trial in alive.items() if number not in bad}
