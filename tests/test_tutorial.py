"""The steps of docs/tutorial: the right file is right in every order; the planted bug is a line and is found.

What the pages show, commands and findings, tests/test_documents.py executes.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from assembler import linker
from command import codes, here

import ptxkit
from ptxkit.toolchain.assembler import assemble

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import documents

TUTORIAL = documents.DOCS / "tutorial"
STEPS = {
    "01-saxpy/saxpy": "P602",
    "02-reduction/reduction": "P650",
    "03-transpose/transpose": "P602",
    "04-cp-async-ring/ring": "P657",
    "05-tma-mbarrier/tma": "P665",
    "06-wgmma/wgmma": "P629",
    "07-cluster/cluster": "P650",
    "08-tcgen05/tcgen05": "P6100",
    "09-block-scaled/block_scaled": "P801",
    "10-two-ctas/pair": "P676",
}
"""The file of each step, and the finding of its planted bug."""
FAST, SLOW = "11-how-fast/row_sums", "11-how-fast/row_sums_slow"
"""The files of the step that has no planted bug, but a slow file."""
SVG = "{http://www.w3.org/2000/svg}"


def file(step: str) -> Path:
    return TUTORIAL / f"{step}.ptx"


def test_every_file_belongs_to_a_step() -> None:
    there = {path.relative_to(TUTORIAL).with_suffix("").as_posix() for path in TUTORIAL.rglob("*.ptx")}
    assert there == {*STEPS, *(f"{step}_broken" for step in STEPS), FAST, SLOW}


def test_what_is_slow_is_predicted_to_be_and_why() -> None:
    done = here("predict", file(SLOW), file(FAST), "--preset", "bench", "--json")
    slow, fast = (one["launches"][0] for one in json.loads(done.stdout)["predictions"])
    assert slow["bound"] == "waits for global load"
    assert fast["busy"]["DRAM"] > 2 * slow["busy"]["DRAM"]
    assert slow["cycles"] > 2 * fast["cycles"]


@pytest.mark.parametrize("step", [*STEPS, FAST, SLOW])
def test_the_right_version_is_right_in_every_order(step: str) -> None:
    checked = here("check", file(step))
    assert checked.stdout == "1 file checked: no findings\n", checked.stdout
    for order, seed in (("lazy", 0), ("eager", 0), ("random", 1), ("random", 2)):
        done = here("run", file(step), "--device", "emu", "--order", order, "--seed", seed)
        assert done.returncode == 0, done.stdout + done.stderr
        assert codes(done.stdout + done.stderr) == []


@pytest.mark.parametrize("step", STEPS)
def test_the_assembler_takes_it(step: str) -> None:
    linker()
    made = assemble(ptxkit.parse(file(step)))
    assert made.cubin is not None
    assert not made.diagnostics


@pytest.mark.parametrize(("step", "code"), STEPS.items())
def test_the_bug_is_one_line_that_the_checker_cannot_see(step: str, code: str) -> None:
    broken = file(f"{step}_broken")
    lines = [path.read_text().splitlines() for path in (file(step), broken)]
    changed = [line[0] for line in difflib.ndiff(*lines) if line[0] in "+-"]
    assert Counter(changed) == {"-": 1, "+": 1}
    assert here("check", broken).returncode == 0
    for order in ("lazy", "eager", "random"):
        done = here("run", broken, "--device", "emu", "--order", order)
        assert codes(done.stdout + done.stderr)[:1] == [code], done.stdout + done.stderr


@pytest.mark.parametrize("step", STEPS)
def test_what_the_page_quotes_stands_in_the_file(step: str) -> None:
    quoted = [block for block in documents.blocks(file(step).parent / "index.md") if block.language == "ptx"]
    text = file(step).read_text()
    assert quoted
    assert [block.name for block in quoted if block.text not in text] == []


@pytest.mark.parametrize("step", STEPS)
def test_the_picture_is_current(step: str, tmp_path: Path) -> None:
    """Rows and words of each picture are those that the page's command draws; where bars begin may change."""
    page = (file(step).parent / "index.md").read_text()
    lines = re.findall(r"^ptxkit (trace .*)$", page, re.MULTILINE)
    assert lines
    for line in lines:
        _, name, _, picture, *options = shlex.split(line)
        drawn = tmp_path / picture
        done = here("trace", file(step).parent / name, "-o", drawn, *options)
        assert done.returncode == (1 if "broken" in name else 0), done.stdout + done.stderr
        assert said(file(step).parent / picture) == said(drawn), f"in {file(step).parent.name}: ptxkit {line}"


def said(picture: Path) -> list[str]:
    """The rows and legends of a picture, and the first line of each tooltip."""
    root = ElementTree.parse(picture).getroot()
    titles = [(title.text or "").partition("\n")[0] for title in root.iter(f"{SVG}title")]
    labels = [text.text or "" for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "end"]
    return sorted(titles) + labels
