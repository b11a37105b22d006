"""Operands as people and compilers write them, and forms newer than PTX ISA 9.0: what is taken, warned of and
refused (data/spellings.txt, data/later.txt)."""

import os
import shutil
from itertools import groupby
from pathlib import Path

import pytest

import ptxkit
from ptxkit.isa.sample import MODULE, PREAMBLE
from tools.agreement import assemblers, kept, rows
from tools.agreement.oracle import judge

FILE = Path(__file__).parent / "data" / "spellings.txt"
LATER = Path(__file__).parent / "data" / "later.txt"
NEWEST = list(assemblers.RELEASES)[-1]
"""The release of ptxas that judges what is later; its test is skipped where nobody has fetched it."""
USE = ("P203", "P204", "P231")
"""What the checker says of registers and mbarriers without a use, whatever the statement."""


def cases(file=FILE):
    """(place, verdict, statement) of each line of the file."""
    place = ""
    for line in file.read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            place = line.strip("[]")
        elif line and not line.startswith("#"):
            verdict, statement = line.split(maxsplit=1)
            yield place, verdict, statement


def module(place, statement):
    """A file with the statement alone."""
    version, target = place.split()
    return (
        f".version {version}\n.target {target}\n.address_size 64\n{MODULE}"
        f".entry k(.param .b64 v_kernel) {{ {PREAMBLE}\n{statement}\nret; }}\n"
    )


@pytest.mark.parametrize(("place", "verdict", "statement"), [*cases(), *cases(LATER)])
def test_the_checkers_verdict(place, verdict, statement):
    found = [d for d in ptxkit.check(ptxkit.parse(module(place, statement))) if d.code not in USE]
    said = [f"{d.code}{'' if d.is_error else 'w'}" for d in found]
    expected = {"takes": [], "warns": ["P222w"]}.get(verdict, verdict.split("+"))
    assert said == expected, "\n".join(map(str, found))


@pytest.mark.long
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not here")
@pytest.mark.parametrize("place", [place for place, _ in groupby(cases(), lambda case: case[0])])
def test_the_verdict_of_ptxas(place, tmp_path, monkeypatch):
    monkeypatch.setenv("PTXKIT_VERDICTS", str(tmp_path / "verdicts.sqlite"))
    judged(place, FILE)


@pytest.mark.long
@pytest.mark.skipif(not assemblers.is_here(NEWEST), reason=f"ptxas {NEWEST} has not been fetched")
@pytest.mark.parametrize("place", [place for place, _ in groupby(cases(LATER), lambda case: case[0])])
def test_the_verdict_of_the_newest_ptxas(place, tmp_path, monkeypatch):
    monkeypatch.setenv("PTXKIT_VERDICTS", str(tmp_path / "verdicts.sqlite"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    assemblers.use(NEWEST)
    judged(place, LATER)
    kept.assembler.cache_clear()


def judged(place, file):
    """Hold the lines of one place against ptxas."""
    mine = [(verdict, statement) for where, verdict, statement in cases(file) if where == place]
    version, target = place.split()
    major, minor = version.split(".")
    page = rows.sheet([statement for _, statement in mine], ((int(major), int(minor)), target))
    theirs, _ = judge(page)
    for line, (verdict, statement) in zip(page.trials, mine, strict=True):
        accepts = verdict in ("takes", "warns") or all(code.endswith("w") for code in verdict.split("+"))
        assert accepts == (line not in theirs), f"{statement} ptxas: {theirs.get(line)}"
