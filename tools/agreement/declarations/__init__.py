"""Modules of declarations and calls, right and wrong ones in about equal parts, judged whole.

ptxas makes code of each; what it takes with `-c` alone, to be linked with what is `.extern`, is taken, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import ptxkit

from .. import kept
from ..oracle import Sheet, Verdict, by_ptxas_alone
from .calls import call
from .dice import Dice
from .functions import again, alias, entry, function, tuned
from .scopes import scopes, targets
from .variables import initialized, register, variable

TOPICS: dict[str, Callable[[Dice], str]] = {
    "variable": variable,
    "initial value": initialized,
    "register": register,
    "entry": entry,
    "function": function,
    "declared again": again,
    "alias": alias,
    "directives": tuned,
    "call": call,
    "scopes": scopes,
    "targets": targets,
}
SHARES = ("variable", "variable", "call", "call", "function", *TOPICS)
PLACES = (
    "9.0 sm_90",
    "9.0 sm_100a",
    "8.8 sm_120",
    "8.5 sm_90a",
    "8.0 sm_80",
    "7.5 sm_86",
    "6.4 sm_75",
    "9.0 sm_75",
)
ELSEWHERE = 0.3
"""Share of the modules that are for another version and target than the first of `PLACES`."""
TIMEOUT = 60.0
_TO_BE_LINKED = re.compile("Unresolved extern function|--compile-only")
_MESSAGE = re.compile(r"(?:error|fatal)\s*: (.*)")


def module(seed: int) -> tuple[str, str, str]:
    """The module that a seed makes: its topic, its version and target, and its text."""
    dice = Dice(seed)
    topic = dice.choice(SHARES)
    place = dice.choice(PLACES) if dice.maybe(ELSEWHERE) else PLACES[0]
    version, target = place.split()
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return topic, place, head + TOPICS[topic](dice)


def makes_code(text: str, target: str) -> str | None:
    """What ptxas says against a module of which it is to make code; None where it makes it."""
    if shutil.which("ptxas") is None:
        return by_ptxas_alone(Sheet(text.split("\n"), {}, target.replace("sm_", "compute_")))
    digest = kept.digest("whole", target, text)
    known = kept.read([digest])
    if digest in known:
        return known[digest]
    message = _assemble(text, target)
    if message is not None:
        linked = _assemble(text, target, "-c")
        if linked is None or _TO_BE_LINKED.search(message):
            message = linked
    kept.write({digest: message})
    return message


def _assemble(text: str, target: str, *options: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ptx"
        path.write_text(text)
        command = ["ptxas", f"-arch={target}", *options, str(path), "-o", os.devnull]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if run.returncode == 0:
        return None
    found = _MESSAGE.search(run.stderr + run.stdout)
    return found[1] if found else f"(exit code {run.returncode})"


def judge(seed: int) -> Verdict:
    """Both verdicts on the module that a seed makes."""
    topic, place, text = module(seed)
    errors = [d for d in ptxkit.check(ptxkit.parse(text)) if d.is_error]
    theirs = makes_code(text, place.split()[1])
    shown = " ".join(text.split("\n")[3:]).strip()
    ours = f"{errors[0].code} {errors[0].message}" if errors else None
    return Verdict(shown, "declarations", topic, place, theirs, ours)


def verdicts(limit: int, seed: int) -> Iterator[Verdict]:
    """Both verdicts on `limit` modules."""
    with ProcessPoolExecutor() as pool:
        yield from pool.map(judge, range(seed * limit, (seed + 1) * limit), chunksize=20)
