"""tools/measure_emulation.py: the fixed set of programs, and where the emulator's time goes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from ptxkit.asm import parse
from ptxkit.card import read
from ptxkit.diagnostics import Source

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from emulation import seams
from emulation.cases import CASES
from emulation.generated import generated
from measure_emulation import KINDS, PARTS, median, ratios, shares

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "measure_emulation.py"


@pytest.mark.long
def test_two_small_cases(tmp_path: Path) -> None:
    output = tmp_path / "emulation.json"
    options = [
        "--smoke",
        "--only",
        "^(reduce|tiny_kernels)$",
        "--threads",
        "1",
        "--output",
        str(output),
        "--json",
    ]
    done = subprocess.run([sys.executable, str(TOOL), *options], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text())
    assert json.loads(done.stdout) == document
    assert "tiny_kernels" in done.stderr
    assert document["schema"] == 1
    assert document["kind"] == "emulation"
    assert {"date", "commit", "machine", "numpy", "load_average"} <= set(document)
    assert document["threads"] == 1
    reduce, tiny = document["cases"]
    assert (reduce["name"], reduce["launches"], reduce["sizes"]) == ("reduce", 1, {"blocks": 4})
    assert (tiny["name"], tiny["launches"]) == ("tiny_kernels", 3)
    assert tiny["thread_instructions"] == 3 * 32 * 8
    for case in (reduce, tiny):
        assert case["missing_seams"] == []
        assert case["per_cpu_second"] > 0
        for kind in KINDS:
            figures = case[kind]
            assert tuple(figures["part_seconds"]) == PARTS
            assert sum(figures["part_seconds"].values()) == pytest.approx(figures["cpu_seconds"], abs=1e-3)
            assert 0 < figures["launch_cpu_seconds"] < figures["cpu_seconds"]
            assert figures["part_seconds"]["build"] > 0
        assert sum(case["cold_shares"].values()) == pytest.approx(1, abs=0.01)


def test_a_name_that_no_case_has_is_refused() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--only", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no case has `nothing` in its name: saxpy, " in done.stderr


@pytest.mark.parametrize("case", [case for case in CASES if case.file], ids=lambda case: case.name)
def test_sizes_are_those_of_the_card(case) -> None:
    card = read(Source(case.file, (ROOT / case.file).read_text()))
    assert card is not None
    assert set(card.size_names) == set(case.sizes)


def test_generated_programs() -> None:
    tiny = generated({"kernels": 2, "launches": 3})
    # 1 * 3 + 0, times 5 plus 1, times 3 plus 2
    assert tiny.expected[1] == 50
    assert [module for module, _ in tiny.launches] == [0, 1, 0]
    (text, entry), *_ = generated({"statements": 300}).modules
    assert len(parse(text).entries) == 3
    assert parse(text).entries[0].name == entry


def spin(seconds: float) -> None:
    """Use this thread's processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_a_part_does_not_have_what_a_seam_inside_of_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("mine")

    def compiled() -> None:
        spin(0.02)

    def planned() -> None:
        spin(0.01)
        module.compiled()

    module.compiled, module.planned = compiled, planned
    wrapped = (("compile", "compiled"), ("build", "planned"), ("build", "Nobody.home"))
    monkeypatch.setitem(seams.SEAMS, "mine", wrapped)
    clock = seams.PartClock()
    clock.wrap(module)
    with clock.part("execute"):
        spin(0.005)
        module.planned()
    parts = clock.by_part()
    assert clock.missing == ["mine.Nobody.home"]
    assert parts["build"] == pytest.approx(0.01, abs=0.005)
    assert parts["compile"] == pytest.approx(0.02, abs=0.005)
    assert clock.whole["execute"] == pytest.approx(sum(parts.values()))
    assert parts["execute"] >= 0.005 - 1e-3


def test_figures() -> None:
    runs = [{"cpu_seconds": seconds, "part_seconds": {"execute": 2 * seconds}} for seconds in (3.0, 1.0, 2.0)]
    assert median(runs) == {"cpu_seconds": 2.0, "part_seconds": {"execute": 4.0}}
    on = {"cpu_seconds": 10.0, "part_seconds": {"start": 1.0, "build": 3.0, "execute": 6.0}}
    off = {"part_seconds": {"execute": 2.0}}
    assert shares(on, off) == {"start": 0.1, "build": 0.3, "execute": 0.2, "sanitize": 0.4}
    clocks = ("wall", "cpu", "launch_wall", "launch_cpu")
    own = {kind: {f"{clock}_seconds": 2.0 for clock in clocks} for kind in KINDS}
    other = {kind: {f"{clock}_seconds": 5.0 for clock in clocks} for kind in KINDS}
    assert set(ratios(other, own).values()) == {2.5}
