"""`ptxkit profile`: what it says of each line is what the counters, the kernel and its source say."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from asynchronous_kernels import KERNELS, AsyncKernel
from command import here, ptxkit, refused

from ptxkit.emulator import Emulator
from ptxkit.emulator.profile import Profiler
from ptxkit.profiles import make

DATA = Path(__file__).parent / "data"
PARTED = """// /// ptxkit
// [launch]
// grid = 2
// block = 64
// params = ["y"]
// [presets]
// one = { n = 128 }
// [tensors.y]
// dtype = "u32"
// shape = "n"
// expect = "arange(n)"
// ///
.version 8.0
.target sm_90
.address_size 64
.visible .entry iota(.param .u64 y) {
    .reg .pred %few;
    .reg .b32 %r<4>;
    .reg .b64 %y<2>;
    .shared .align 4 .b32 tile[2048];
    ld.param.u64 %y0, [y];
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %few, %r0, 8;
    @%few bra LOW;
    mul.lo.u32 %r3, %r0, 3;     // not the first 8 <of a CTA>
LOW:
    mul.lo.u32 %r2, %r0, 128;   // 32 words apart
    mov.u32 %r1, tile;
    add.u32 %r2, %r2, %r1;
    st.shared.u32 [%r2], %r0;
    @!%few add.u32 %r3, %r3, 1;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r1, %r1, 64, %r0;
    mad.wide.u32 %y1, %r1, 4, %y0;
    st.global.u32 [%y1], %r1;
    bar.sync 0;
    ret;
}
"""


@pytest.fixture
def parted(tmp_path: Path) -> Path:
    path = tmp_path / "parted.ptx"
    path.write_text(PARTED)
    return path


def profiled(*arguments: object) -> dict[str, Any]:
    done = here("profile", *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def line_of(text: str, part: str) -> int:
    (found,) = (number for number, line in enumerate(text.split("\n"), 1) if part in line)
    return found


@pytest.mark.parametrize(
    "order",
    [pytest.param("lazy", marks=pytest.mark.slow), pytest.param("eager", marks=pytest.mark.slow), "random"],
)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_lines_add_up_to_the_counters(kernel: AsyncKernel, order: str) -> None:
    profiler, plain = Profiler(), Emulator(order=order, seed=5, traffic=True)
    device = Emulator(order=order, seed=5, traffic=True)
    device.prepare = profiler.begin
    kernel.run(device)
    kernel.run(plain)
    assert replace(device.counts, traffic=None) == replace(plain.counts, traffic=None)
    made = make(profiler)
    assert sum((line.did.loaded for line in made.lines), Counter()) == device.counts.loaded
    assert sum((line.did.stored for line in made.lines), Counter()) == device.counts.stored
    assert device.counts.traffic is not None
    assert sum((line.did.traffic for line in made.lines), Counter()) == device.counts.traffic.counts
    assert sum(line.did.issued for line in made.lines) == sum(device.counts.asynchronous.values())
    assert 0 < sum(line.did.threads for line in made.lines) <= device.counts.instructions


@pytest.mark.parametrize(
    ("kernel", "sizes", "product"),
    [
        ("gemm_wgmma.ptx", {"M": 256, "N": 256, "K": 128}, 256 * 256 * 128),
        ("gemm_tcgen05.ptx", {"M": 256, "N": 256, "K": 128}, 256 * 256 * 128),
    ],
)
def test_products_are_counted(kernel: str, sizes: dict[str, int], product: int) -> None:
    found = profiled(kernel, *(part for name, size in sizes.items() for part in ("-p", f"{name}={size}")))
    assert found["total"]["tensor_multiply_adds"] == product
    assert {line["text"].split(".")[0] for line in found["lines"] if line["tensor_multiply_adds"]} <= {
        "wgmma",
        "tcgen05",
        "@%first tcgen05",
        "@%leader tcgen05",
        "@%elected tcgen05",
    }


def test_lanes_conflicts_and_sectors_of_a_line(parted: Path) -> None:
    found = {line["line"]: line for line in profiled(parted)["lines"]}
    parts = ("%r3, %r0, 3", "@!%few", "st.shared", "st.global", "ret")
    at = {part: found[line_of(PARTED, part)] for part in parts}
    # Warps 0 have 24 lanes beyond the branch, warps 1 all 32; so where a guard switches 8 off.
    for part in parts[:2]:
        assert (at[part]["warps"], at[part]["threads"], at[part]["lanes"]) == (4, 2 * (24 + 32), 28)
    assert at["ret"]["warps"] == 4
    # 32 lanes store to words 32 apart: 32 wavefronts where one would do.
    stored = {"shared_bank_conflicts_stored": 4 * 31, "shared_wavefronts_stored": 4 * 32}
    assert at["st.shared"]["traffic"] == stored
    assert at["st.global"]["traffic"] == {"global_requests_stored": 4, "global_sectors_stored": 16}
    assert at["st.global"]["sectors_per_request"] == 4
    assert at["st.global"]["bytes_stored"] == {"global": 512}


def test_waits_name_the_mbarrier() -> None:
    found = profiled("gemm_wgmma.ptx")
    waits = [line for line in found["lines"] if line["wait_steps"]]
    assert sum(line["wait_steps"] for line in waits) == found["total"]["wait_steps"]
    named = [wait["for"] for line in waits if "mbarrier.try_wait" in line["text"] for wait in line["waits"]]
    assert named
    assert all("`memory` + " in name for name in named)


def test_lines_of_cuda_come_with_their_text(tmp_path: Path) -> None:
    for name in ("inlined.cu", "inlined.ptx"):
        shutil.copy(DATA / name, tmp_path)
    given = ("--grid", 1, "--block", 64, "--arg", "q=f32[64]", "--arg", "p=f32[64]", "--arg", "n=0")
    found = ptxkit("profile", "inlined.ptx", *given, "--no-sanitize", "--json", cwd=tmp_path)
    document = json.loads(found.stdout)
    text = (DATA / "inlined.cu").read_text().split("\n")
    assert document["sources"]
    for line in document["sources"]:
        assert line["file"].endswith("inlined.cu")
        assert line["text"] == text[line["line"] - 1].strip()
    executed = sum(line["warps"] for line in document["lines"] if line["compiled_from"])
    assert sum(line["warps"] for line in document["sources"]) == executed
    printed = ptxkit("profile", "inlined.ptx", *given, "--no-sanitize", cwd=tmp_path).stdout
    assert "what it was compiled from" in printed
    assert "inlined.cu:14" in printed
    assert "q[i] = s[i ^ 33];" in printed


class _Page(HTMLParser):
    """The elements of a page, all of them closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_needs_nothing_else(parted: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.html"
    assert here("profile", parted, "-o", out).returncode == 0
    text = out.read_text("utf-8")
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert not page.links
    assert not page.seen["script"]
    assert text.count('<tr class="ran"') == len(profiled(parted)["lines"])
    assert "http" not in text
    assert "mul.lo.u32 %r3, %r0, 3;     // not the first 8 &lt;of a CTA&gt;" in text


def test_flame_graphs(tmp_path: Path) -> None:
    out = tmp_path / "p.speedscope.json"
    assert here("profile", "gemm_wgmma.ptx", "-o", out).returncode == 0
    document, total = json.loads(out.read_text()), profiled("gemm_wgmma.ptx")["total"]
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    weights = {}
    for each in document["profiles"]:
        assert each["type"] == "sampled"
        assert len(each["samples"]) == len(each["weights"])
        assert each["startValue"] == 0
        assert each["endValue"] == sum(each["weights"])
        assert all(0 <= number < len(frames) for stack in each["samples"] for number in stack)
        weights[each["name"]] = each["endValue"]
    assert weights["instructions of warps"] == total["warps"]
    assert weights["steps that warps waited"] == total["wait_steps"]
    assert weights["multiply-adds of tensor cores"] == total["tensor_multiply_adds"]


def test_the_whole_text_with_figures(parted: Path) -> None:
    done = here("profile", parted, "--annotate")
    assert done.returncode == 0
    lines = done.stdout.split("\n")
    for number, text in enumerate(PARTED.rstrip("\n").split("\n"), 1):
        assert any(line.endswith(f" {number:>2} | {text}".rstrip()) for line in lines), text


def test_a_fault_shows_what_was_done_until_then(parted: Path) -> None:
    parted.write_text(PARTED.replace("[%y1], %r1", "[%y1 + 65536], %r1"))
    done = here("profile", parted)
    assert done.returncode == 1
    assert "what was done until this" in done.stderr
    assert "st.shared.u32" in done.stderr
    assert "error[P602]" in done.stderr


def test_files_that_it_does_not_write(parted: Path, tmp_path: Path) -> None:
    assert "`.html` or `.json`" in refused(here("profile", parted, "-o", tmp_path / "p.txt"), 2, "P560")
    refused(here("profile", parted, "-o", tmp_path / "no" / "p.html"), 2, "P567")
    refused(here("profile", parted, "--device", "gpu"), 2, "P520")
