"""`ptxkit trace`: a trace is valid, its slices nest, and it says what the counters and the kernel say."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from asynchronous_kernels import KERNELS, AsyncKernel
from command import here, refused

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.emulator.picture import svg
from ptxkit.emulator.trace import Recorder

ALL = 1 << 20
DATA = Path(__file__).parent / "data"
SVG = "{http://www.w3.org/2000/svg}"
Event = dict[str, Any]


def traced(
    kernel: AsyncKernel, order: str = "lazy", text: str | None = None, ctas: int = ALL
) -> tuple[list[Event], Emulator]:
    """The events of a kernel of tests/asynchrony, through JSON and back."""
    device = Emulator(order=order, seed=5)
    recorder = Recorder(ctas)
    device.prepare = recorder.begin
    try:
        kernel.run(device, text)
    except EmulatorFault:
        assert text is not None
    return json.loads(json.dumps(recorder.to_json(), allow_nan=False))["traceEvents"], device


def named(name: str) -> AsyncKernel:
    (found,) = (kernel for kernel in KERNELS if kernel.name == name)
    return found


def of(events: list[Event], category: str) -> list[Event]:
    return [event for event in events if event.get("cat") == category]


def check_form(events: list[Event]) -> None:
    """Every event has what its kind needs; the slices of a track do not overlap; every track has a name."""
    names = {(e["pid"], e.get("tid")) for e in events if e["ph"] == "M" and e["name"].endswith("_name")}
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in events:
        assert event["ph"] in ("M", "X", "i")
        if event["ph"] == "M":
            continue
        where = event["pid"], event["tid"]
        assert where in names
        assert (event["pid"], None) in names
        assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] > 0
            tracks.setdefault(where, []).append((event["ts"], event["ts"] + event["dur"]))
    for slices in tracks.values():
        slices.sort()
        for (_, end), (begin, _) in pairwise(slices):
            assert end <= begin


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_trace_says_what_the_counters_say(kernel: AsyncKernel, order: str) -> None:
    events, device = traced(kernel, order)
    check_form(events)
    operations: Counter[str] = Counter()
    for event in of(events, "operation"):
        operations[event["name"]] += event["args"]["items"]
        assert "in_flight_at_end" not in event["args"]
    assert operations == device.counts.asynchronous
    complete = [event for event in of(events, "mbarrier") if event["args"]["complete"]]
    # A phase that begins and completes within one step has no length, and is left out.
    assert len(complete) <= device.counts.phases
    assert bool(complete) == bool(device.counts.phases)


def test_recording_changes_nothing() -> None:
    kernel = named("ring")
    plain = Emulator(order="random", seed=5)
    kernel.run(plain)
    assert traced(kernel, "random")[1].counts == plain.counts


def test_a_ring_has_its_copies_phases_and_waits() -> None:
    events, device = traced(named("ring"))
    copies = of(events, "operation")
    # 4 CTAs, 16 tiles of 512 bytes each, by one thread of each CTA.
    assert Counter(copy["name"] for copy in copies) == {"cp.async.bulk": 64}
    assert {copy["args"]["bytes_written"] for copy in copies} == {512}
    assert all(
        copy["args"]["signal"].startswith("complete-tx of 512 bytes on mbarrier 0x") for copy in copies
    )
    assert len({copy["pid"] for copy in copies}) == 4
    # In each of 4 CTAs 4 stages have a full and an empty mbarrier, each with 4 phases.
    complete = [phase for phase in of(events, "mbarrier") if phase["args"]["complete"]]
    assert len(complete) == device.counts.phases == 4 * 4 * 2 * 4
    waits = [event for event in of(events, "warp") if event["name"].startswith("wait: mbarrier.")]
    assert waits
    for wait in waits:
        assert all(one.startswith("phase ") and "mbarrier 0x" in one for one in wait["args"]["for"])
        assert wait["args"]["for"]


def test_only_the_ctas_that_are_asked_for_are_shown() -> None:
    events, _ = traced(named("ring"), ctas=1)
    assert len({event["pid"] for event in events}) == 1
    assert len(of(events, "operation")) == 16


def test_a_deadlock_leaves_its_trace() -> None:
    kernel = named("ring")
    broken = kernel.broken("mbarrier.arrive.shared::cta.b64 _, [%r15]; // release", "")
    events, _ = traced(kernel, text=broken)
    check_form(events)
    end = max(event["ts"] + event["dur"] for event in events if event["ph"] == "X")
    last = [event for event in of(events, "warp") if event["ts"] + event["dur"] == end]
    assert any(event["name"].startswith("wait: mbarrier.") for event in last)
    assert any(not phase["args"]["complete"] for phase in of(events, "mbarrier"))


def test_the_command_writes_what_it_counts(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    done = here("trace", "gemm_wgmma.ptx", "-o", out)
    assert done.returncode == 0, done.stdout + done.stderr
    trace = json.loads(out.read_text())
    check_form(trace["traceEvents"])
    assert trace["metadata"]["launches"] == ["gemm_wgmma"]
    assert "time is not modelled" in trace["metadata"]["axis"]
    products = [e for e in of(trace["traceEvents"], "operation") if e["name"] == "wgmma.mma_async"]
    # 256 x 256 x 128 in products of 64 x 256 x 16.
    assert sum(event["args"]["items"] for event in products) == 32
    assert " 32 wgmma.mma_async" in done.stdout
    instants = {event["name"] for event in of(trace["traceEvents"], "instruction")}
    assert {"wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned"} <= instants


def pictured(events: list[Event]) -> ElementTree.Element:
    document = {
        "traceEvents": events,
        "metadata": {"steps": max(e.get("ts", 0) + e.get("dur", 0) for e in events)},
    }
    return ElementTree.fromstring(svg(document))


def test_a_picture_has_a_bar_for_every_slice_and_lines_to_what_is_signalled() -> None:
    events, _ = traced(named("ring"), ctas=1)
    picture = pictured(events)
    titles = [element.text or "" for element in picture.iter(f"{SVG}title")]
    labels = [element.text for element in picture.iter(f"{SVG}text")]
    copies, phases = of(events, "operation"), of(events, "mbarrier")
    assert sum(title.startswith("cp.async.bulk\n") for title in titles) == len(copies) == 16
    assert sum(title.startswith("phase ") for title in titles) == len(phases)
    assert [label for label in labels if label and label.startswith("mbarrier 0x")]
    # A line from the issuing warp to each copy, one from its end to its mbarrier, one in the legend.
    assert sum(path.get("class") == "link" for path in picture.iter(f"{SVG}path")) == 2 * len(copies) + 1


def test_bars_say_their_lines_and_no_text_leaves_its_bar() -> None:
    """A text in a bar is an inner picture, which ends where it does, within the bar."""
    events, _ = traced(named("ring"), ctas=1)
    picture = pictured(events)
    lines = {f":{event['args']['line']}" for event in of(events, "operation")}
    said = []
    for group in picture.iter(f"{SVG}g"):
        bar, text = group.find(f"{SVG}rect"), group.find(f"{SVG}svg")
        if text is not None:
            assert bar is not None
            left, width = (float(text.get(name, "")) for name in ("x", "width"))
            assert float(bar.get("x", "")) < left
            assert left + width <= float(bar.get("x", "")) + float(bar.get("width", "")) + 0.2
            said.append("".join(text.itertext()))
            assert bar.find(f"{SVG}text") is None
    assert any(words.endswith(tuple(lines)) for words in said)
    legend = {element.text for element in picture.iter(f"{SVG}text")}
    assert {"issues it, or signals when it ends", "the line of the file", "a copy in flight"} <= legend


COPIES = """\
#include <cuda_pipeline.h>
__device__ __forceinline__ void bring(float *to, const float *from) {
  __pipeline_memcpy_async(to, from, 16);
}
extern "C" __global__ void tile(float *q, const float *p) {
  __shared__ float s[128];
  bring(s + 4 * threadIdx.x, p + 4 * threadIdx.x);
}
"""
COMPILED = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry tile(.param .u64 q, .param .u64 p)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .shared .align 16 .b8 s[512];
    .loc 1 7 3
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r2, s;
    mad.lo.u32 %r2, %r1, 16, %r2;
    .loc 1 3 3, function_name $info, inlined_at 1 7 3
    cp.async.cg.shared.global [%r2], [%rd1], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ret;
}
.file 1 "copies.cu"
"""


def test_lines_of_the_source_are_beside_those_of_the_ptx(tmp_path: Path) -> None:
    (tmp_path / "copies.cu").write_text(COPIES)
    (tmp_path / "k.ptx").write_text(COMPILED)
    out = tmp_path / "t.json"
    given = (tmp_path / "k.ptx", "--grid", 1, "--block", 32, "--arg", "q=f32[1]", "--arg", "p=f32[128]:randn")
    assert here("trace", *given, "-o", out).returncode == 0
    events = json.loads(out.read_text())["traceEvents"]
    (copy,) = of(events, "operation")
    written = ["copies.cu:3:3: __pipeline_memcpy_async(to, from, 16);", "copies.cu:7:3"]
    assert (copy["args"]["line"], copy["args"]["compiled_from"]) == (17, written)
    assert here("trace", *given, "-o", out.with_suffix(".svg")).returncode == 0
    picture = ElementTree.parse(out.with_suffix(".svg")).getroot()
    titles = [title.text or "" for title in picture.iter(f"{SVG}title")]
    (title,) = [title for title in titles if title.startswith("cp.async\n")]
    assert (
        "\ncompiled from: copies.cu:3:3: __pipeline_memcpy_async(to, from, 16);; inlined at copies.cu:7:3"
        in title
    )
    assert "32 x cp.async :17  copies.cu:3" in {
        "".join(each.itertext()) for each in picture.iter(f"{SVG}svg")
    }


def test_warps_that_did_the_same_share_a_row() -> None:
    events, _ = traced(named("bulk_round_trip"))
    warps = {(e["pid"], e["tid"]) for e in of(events, "warp")}
    labels = [element.text or "" for element in pictured(events).iter(f"{SVG}text")]
    rows = [label for label in labels if label.startswith("warp")]
    assert len(rows) < len(warps)
    assert any(label.startswith("warps ") for label in rows)


def test_the_command_writes_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "t.svg"
    done = here("trace", "gemm_wgmma.ptx", "-o", out, "--ctas", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    words = {element.text for element in ElementTree.parse(out).getroot().iter(f"{SVG}text")}
    assert {"a copy in flight", "a product in flight", "steps, not time"} <= words


def test_another_kind_of_picture_is_refused_before_anything_runs(tmp_path: Path) -> None:
    out = tmp_path / "t.png"
    assert "`-o T.svg` a picture" in refused(here("trace", "gemm_wgmma.ptx", "-o", out), 2, "P560")
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "code"), [(("--device", "cuda:0"), "P520"), (("--timeout", "5"), "P560")]
)
def test_what_a_trace_cannot_have_is_refused(tmp_path: Path, options: tuple[str, str], code: str) -> None:
    out = tmp_path / "t.json"
    done = here("trace", "gemm_wgmma.ptx", "-o", out, *options)
    refused(done, done.returncode, code)
    assert done.returncode in (2, 3)
    assert not out.exists()


def test_columns_of_tensor_memory_have_tracks(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    done = here(
        "trace",
        DATA / "tensor_memory.ptx",
        "--grid",
        "1",
        "--block",
        "128",
        "--arg",
        "out=f32[128]",
        "-o",
        out,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trace = json.loads(out.read_text())
    (columns,) = of(trace["traceEvents"], "tensor memory")
    assert columns["name"] == "columns 0 to 127"
    assert columns["args"]["columns"] == 128
    assert columns["args"]["freed"]
    assert ">tensor memory<" in svg(trace)


DOCS = Path(__file__).parents[1] / "docs"
PICTURES = [
    (page, command)
    for page in sorted([DOCS / "trace.md", *DOCS.glob("tutorial/*/index.md")])
    for command in re.findall(r"^ptxkit trace (.*\.svg.*)$", page.read_text("utf-8"), re.M)
]


@pytest.mark.parametrize(("page", "command"), PICTURES, ids=[command for _, command in PICTURES])
def test_a_picture_of_the_pages_is_what_its_command_draws(
    page: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(page.parent)
    words = command.split()
    at = words.index("-o") + 1
    kept = page.parent / ("trace.svg" if page.name == "trace.md" else words[at])
    words[at] = str(tmp_path / "new.svg")
    here("trace", *words)
    assert (tmp_path / "new.svg").read_text() == kept.read_text(), f"draw {kept} anew"
    assert "the line of the file" in kept.read_text()
