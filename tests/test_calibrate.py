"""Microbenchmarks: what ptxas leaves of them, that they run, and what figures are made of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import isfinite
from pathlib import Path

import pytest
from assembler import cubin_of
from command import here, ptxkit, refused

from ptxkit import targets
from ptxkit.calibration.measure import ProbeRunner, emulated_subject
from ptxkit.calibration.probe import GIVEN, Probe, figures, names_of
from ptxkit.emulator import Emulator
from ptxkit.emulator.timing.gpu import gpu, nearest
from ptxkit.running.devices import fitting_gpu
from ptxkit.toolchain.sass import disassemble, find

TABLE = figures()
MORE = {"fma_latency", "alu_latency", "imad_latency", "issue_alone"}
"""Figures that are measured though the model has no use for them."""


def emptied(probe: Probe, target: str) -> str | None:
    """What is missing of the loop between the two readings of the clock; None where all of it is there."""
    function = next(one for one in disassemble(cubin_of(probe.text(), target)) if one.name == "probe")
    texts = [re.sub(r"^@!?U?P\w+ ", "", one.text) for one in function.instructions]
    clocks = [number for number, text in enumerate(texts) if "SR_CLOCK" in text]
    if len(clocks) != 2:
        return f"{len(clocks)} readings of the clock"
    loop = [text.split()[0].partition(".")[0] for text in texts[clocks[0] : clocks[1]]]
    if "BAR" not in loop or "LDL" in loop:
        return "no barrier before the clock" if "BAR" not in loop else "registers in local memory"
    for pattern, count in probe.sass.items():
        there = sum(re.fullmatch(pattern, name) is not None for name in loop)
        if there < count * probe.unroll:
            return f"{there} {pattern}, expected {count * probe.unroll}"
    return None


@pytest.mark.long
@pytest.mark.skipif(find() is None, reason="nvdisasm is not installed")
@pytest.mark.parametrize(
    "target", ["sm_90a", *(pytest.param(other, marks=pytest.mark.slow) for other in ("sm_80", "sm_100a"))]
)
def test_the_assembler_leaves_what_a_probe_measures(target: str) -> None:
    number = targets.parse(target)
    assert number is not None
    runs = {
        name: wanted.runs_on(divmod(number.number, 10))
        for name in ("sm_80", "sm_90", "sm_90a")
        if (wanted := targets.parse(name)) is not None
    }
    probes = [probe for probe in TABLE.probes.values() if probe.sass and runs[probe.target]]
    found = {probe.name: missing for probe in probes if (missing := emptied(probe, target))}
    assert not found
    assert len(probes) >= 30


@pytest.mark.skipif(find() is None, reason="nvdisasm is not installed")
@pytest.mark.parametrize("name", ["fma_warps", "l2_read"])
def test_without_a_sum_nothing_is_left(name: str) -> None:
    """The guard above can fail."""
    probe = TABLE.probes[name]
    unread = replace(probe, frame=probe.frame.replace("{sums}", ""))
    assert emptied(probe, "sm_90a") is None
    assert emptied(unread, "sm_90a") is not None


def test_every_probe_says_what_it_becomes_and_is_of_use() -> None:
    used = {probe.name for probe in TABLE.needed(TABLE.chosen(()))}
    for probe in TABLE.probes.values():
        assert bool(probe.sass) == bool(probe.body), probe.name
        assert probe.name in used


def test_figures_are_those_of_the_table() -> None:
    known = gpu("h200").figures
    assert set(TABLE.formulas) - set(known) == MORE
    starts = {f"{name}_start" for name, probe in TABLE.probes.items() if probe.unit == "seconds"}
    for formula in TABLE.formulas.values():
        assert set(names_of(formula)) <= {*TABLE.formulas, *TABLE.probes, *starts, *GIVEN}


@pytest.mark.long
def test_every_probe_runs_without_a_finding() -> None:
    device = Emulator(arch="sm_90a")
    bench = ProbeRunner(emulated_subject(device))
    for probe in TABLE.probes.values():
        assert all(isfinite(value) for value in bench.measured(probe).values()), probe.name
        assert not device.findings, probe.name


def test_figures_of_values() -> None:
    """Values that an H200 gave."""
    given = {"sm_count": 132.0, "clock": 1.98e9, "floor": 1.4e-6}
    values = {
        "wgmma_8": 1089.0,
        "wgmma_16": 2113.0,
        "barrier_32": 14.0,
        "barrier_1024": 76.0,
        "one_cta_start": 2e-6,
    }
    values |= {
        "l2_chain": 266.0,
        "dram_chain": 650.0,
        "dram_read": 132 * 16384 / 4.68e12,
        "dram_read_start": 4e-6,
    }
    names = ["product_flops", "product_tail", "barrier", "barrier_warp", "launch", "grid_start"]
    names += ["l2_latency", "dram_latency", "dram_rate", "dram_start"]
    found = TABLE.values(names, given | values)
    assert found == pytest.approx(
        {
            "product_flops": 8192,
            "product_tail": 65,
            "barrier": 12,
            "barrier_warp": 2,
            "launch": 1.4e-6,
            "grid_start": 0.6e-6,
            "l2_latency": 266,
            "dram_latency": 384,
            "dram_rate": 4.68e12,
            "dram_start": 2e-6 - 650 / 1.98e9,
        }
    )
    del values["l2_chain"]
    left = set(names) - {"l2_latency", "dram_latency", "dram_start"}
    assert set(TABLE.values(names, given | values)) == left


def test_a_figure_brings_those_that_it_is_made_of() -> None:
    chosen = TABLE.chosen(["dram_start"])
    assert set(chosen) == {"dram_start", "launch", "grid_start", "l2_latency", "dram_latency", "clock"}
    probes = {probe.name for probe in TABLE.needed(chosen)}
    assert probes == {"dram_read", "one_cta", "l2_chain", "dram_chain"}


def test_the_nearest_gpu() -> None:
    assert nearest("NVIDIA H100 PCIe", "sm_90a").target == "sm_90a"
    assert nearest("NVIDIA B200", "sm_100a").key == "b200"
    assert nearest("NVIDIA A100", "sm_80").key == "h200"


@pytest.mark.long
def test_the_command_on_the_emulator(tmp_path: Path) -> None:
    """From probes to a prediction by their figures, which here mean nothing."""
    out = tmp_path / "mine.toml"
    done = ptxkit(
        "calibrate", "--device", "emu", "--only", "pipe_fma", "--only", "cluster_barrier", "-o", out, "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [one["name"] for one in document["figures"]] == ["pipe_fma", "cluster_barrier"]
    assert {"fma_warps", "cluster_round"} <= document["probes"].keys()
    assert "dram_rate" in document["left"]
    made = gpu(str(out))
    assert made.sources["pipe_fma"].startswith("meaningless: ptxkit calibrate, 20")
    assert made.sources["dram_rate"] == "assumed: as on an NVIDIA H200"
    assert made["dram_rate"] == gpu("h200")["dram_rate"]
    assert made["pipe_fma"] == next(one["value"] for one in document["figures"])
    done = ptxkit("predict", "gemv.ptx", "--by-rule", "--on", out)
    assert done.returncode == 0, done.stderr
    assert "predicted for emulator at 1,980 MHz" in done.stdout
    assert "no emulator has confirmed it" in done.stdout


def test_figures_beside_those_of_the_nearest_gpu() -> None:
    done = here("calibrate", "--device", "emu", "--only", "sm_count", "--only", "pipe_fma")
    assert done.returncode == 0
    assert "these figures mean nothing" in done.stdout
    assert re.search(r"^sm_count +2 +132 +0\.02$", done.stdout, re.MULTILINE)
    assert "not measured, those of h200 hold: clock, " in done.stdout


def test_a_gpu_of_the_same_name_keeps_its_sources(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "NVIDIA H200"\ntarget = "sm_90a"\nconfirmed = false\nlike = "h200"\n[figures]\n')
    assert gpu(str(file)).sources == gpu("h200").sources


@pytest.mark.skipif(fitting_gpu(None) is not None, reason="there is a GPU")
def test_without_a_gpu() -> None:
    assert "--device emu" in refused(here("calibrate"), 3, "P701")


def test_what_it_refuses(tmp_path: Path) -> None:
    assert "`pipe_fma`" in refused(here("calibrate", "--only", "pipe_fm"), 2, "P560")
    refused(here("calibrate", "-o", tmp_path / "a.json"), 2, "P560")
    refused(here("calibrate", "-o", tmp_path / "no" / "a.toml"), 2, "P567")
    refused(here("calibrate", "--device", "auto"), 2, "P520")
    refused(here("predict", "gemv.ptx", "--on", tmp_path / "a.toml"), 2, "P110")


HEAD = 'name = "x"\ntarget = "sm_90a"\nconfirmed = false\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "invalid value"),
        (HEAD, "no `figures`"),
        (HEAD + "[figures.clock]\nvalue = 1\n", "no `source`"),
        (HEAD + '[figures.clock]\nvalue = -1\nsource = ""\n', "`clock = -1`"),
        (HEAD + '[figures.clock]\nvalue = 1\nsource = ""\n', "none of `sm_count`, "),
        ('like = "h201"\n' + HEAD + "[figures]\n", "h201"),
    ],
)
def test_files_that_hold_no_figures(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert said in refused(here("predict", "gemv.ptx", "--on", file), 2, "P520")
