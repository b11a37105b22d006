"""Write the measured figures of the documentation from the records in bench/results.

    python tools/make_figures.py

Between `<!-- figures: NAME -->` and `<!-- end -->` stands what this makes. A record that is not there gives
no row.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "docs" / "evidence.md",
    ROOT / "docs" / "tutorial" / "index.md",
    ROOT / "docs" / "emulator" / "recorded.md",
    ROOT / "docs" / "emulator" / "engine.md",
)
RESULTS = ROOT / "bench" / "results"
REGION = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

Record = dict[str, Any]


def record(name: str) -> Record | None:
    """A record of bench/results, by its file name without `.json`."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def count(number: float) -> str:
    """A number with a word for its size: `5.4 million`."""
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:.3g} {word}"
    return f"{number:,.0f}"


def _agreement(found: Record) -> str:
    totals = [part["total"] for part in found["parts"].values()]
    judged, differ = (sum(total.get(key, 0) for total in totals) for key in ("judged", "differ"))
    return f"{count(judged)} statements, right and wrong ones: {differ} judged differently than by ptxas"


def _compilers(found: Record) -> str:
    files = [file for made in found["made"] for file in made["files"]]
    clean = sum(not file["errors"] for file in files)
    makers = list(dict.fromkeys(made["compiler"] for made in found["made"]))
    return f"{clean} of {len(files)} files by {', '.join(makers[:-1])} and {makers[-1]} without an error"


def _inline(found: Record) -> str:
    total, libraries = found["total"], len(found["libraries"])
    both, theirs = total["accepted by both"], total["refused by ptxkit alone"]
    ours = total["accepted by ptxkit alone"]
    return (
        f"{count(total['texts'])} texts of {libraries} libraries: {count(both)} accepted by both, "
        f"{theirs} by ptxas alone, {ours} by ptxkit alone"
    )


def _fuzz(found: Record) -> str:
    return f"{count(found['cases'])} broken and random texts: {len(found['failures'])} crashes or hangs"


def _check_speed(found: Record) -> str:
    own, other = (found["seconds"][who]["wall"] for who in ("first", "ptxas"))
    return f"{found['lines']:,} lines in {own:.2f} s, where ptxas takes {other:.2f} s"


def _instructions(found: Record) -> str:
    total = found["totals"]
    return (
        f"{count(total['instances'])} executions of {total['forms']} forms on an {_gpu(found)}: "
        f"{total['mismatches']} results differ"
    )


def _products(found: Record) -> str:
    tiles = found["tiles"]
    return (
        f"{count(tiles['compared'])} random tiles of {tiles['variants']} variants on an {_gpu(found)}: "
        f"{tiles['different']} with a bit that differs"
    )


def _sums(found: Record) -> str:
    return (
        f"{count(found['sums'])} sums about zeros, halves and the ends of the range, {len(found['forms'])} "
        f"spellings, on an {_gpu(found)}: {found['different']} with a bit that differs"
    )


def _kernels(found: Record) -> str | None:
    kernels = found.get("kernels")
    if not kernels:
        return None
    launches = f"{count(kernels['compared'])} launches of {len(kernels['kernels'])} kernels"
    return f"{launches} on an {_gpu(found)}, in every order on the emulator: {kernels['different']} differ"


def _copies(found: Record) -> str:
    copies = found["copies"]
    return f"{count(copies['compared'])} random copies on an {_gpu(found)}: {copies['different']} differ"


def _maps(found: Record) -> str:
    modes = [found["tile"], found["im2col"]]
    asked = sum(sum(mode[kind].values()) for mode in modes for kind in ("legal", "illegal"))
    differ = sum(len(mode["disagreements"]) for mode in modes)
    return f"{count(asked)} random maps, legal and illegal, beside the driver's own: {differ} differ"


def _emulator_speed(found: Record) -> str:
    rate = found["emulator"]["per_wall_second"]
    jit = f", {count(found['jit']['per_wall_second'])} with the `jit` extra" if "jit" in found else ""
    return f"{count(rate)} thread-instructions a second of a matrix-vector product{jit}, sanitizer on"


def _counts(found: Record) -> str:
    launches = f"{count(found['compared'])} launches"
    return (
        f"wavefronts, bank conflicts, sectors of {launches} beside the profiler's on an {_gpu(found)}: "
        f"{found['differ']} of them otherwise"
    )


def _everyday(found: Record) -> str:
    taken, large = found["seconds"], found["check"]
    check = f"{large['file_bytes'] / 1e6:.0f} MB {large['seconds']:.1f} s in {large['bytes'] / 1e6:.0f} MB"
    return (
        f"`--help` {taken['help']['wall']:.2f} s, `run gemv.ptx` {taken['run']['wall']:.1f} s, "
        f"`check` of {check} of memory"
    )


def _emulated_gemm(found: Record) -> str:
    cubes = found["sizes"]["M"]
    runs = [f"{one['kernel']} {one['wall_seconds']:.1f} s" for one in found["results"]]
    return f"products of {cubes} x {cubes} x {cubes}, every rule watched: {', '.join(runs)}"


def _launch(found: Record) -> str:
    figures = {name: figure["median"] for name, figure in found["launch"]["figures"].items()}
    return (
        f"prepared {figures['prepared']:.2f} us, with arguments {figures['launch']:.2f} us; "
        f"the bare driver call {figures['cuLaunchKernel, prepacked']:.2f} us, "
        f"cuda.core {figures['cuda.core launch']:.2f} us"
    )


def _rounds(found: Record) -> str:
    rounds = found["rounds"]
    lost = sum(each["device_free"][0] - each["device_free"][1] for each in rounds.values())
    return (
        f"{count(rounds['cubin']['rounds'])} rounds of load, launch and drop with a cubin and "
        f"{count(rounds['ptx']['rounds'])} with PTX on an {found['device']}: {count(lost)} bytes lost"
    )


def _gpus(found: Record) -> str:
    sweep = found["sweep"]
    busy = " and ".join(f"{gpu['busy']:.2f} s" for gpu in sweep["gpus"].values())
    rate = min(copy["rate"] for copy in found["copies"]) / 1e9
    return (
        f"a sweep on {found['gpus']} {found['device']}s, at work for {busy}, {sweep['together']:.2f} s at "
        f"once; copies between them {rate:.0f} GB/s"
    )


def _profiler(found: Record) -> str:
    rows = [
        row.get("rested", row["under_load"]) for row in found["profiler"].values() if row["met"] is not None
    ]
    short = max(abs(row["net_apart"]) for row in rows if row["seconds"] < 1e-4)
    long = max(abs(row["ratio"] - 1) for row in rows if row["seconds"] >= 1e-4)
    return f"short kernels within {short * 1e6:.2f} us above the floor, long ones within {long:.1%}"


def _against(found: Record) -> str | None:
    """Kernels of ours and of others, by turns in one process."""
    figures = found.get("figures")
    if not figures:
        return None
    parts = [f"{name} {figure['tflops']:.0f}" for name, figure in figures.items()]
    return f"TFLOP/s by turns on an {found['device']}: {', '.join(parts)}"


def _attention(found: Record) -> str:
    """attn_dist.ptx beside the faster of Triton's kernels, for each number of heads."""
    rates = {name: figure["tflops"] for name, figure in found["figures"].items()}
    parts = []
    for name, rate in rates.items():
        if name.startswith("attn_dist.ptx, "):
            heads = name.removeprefix("attn_dist.ptx, ")
            peers = [
                value for peer, value in rates.items() if peer.startswith("Triton") and peer.endswith(heads)
            ]
            beside = f", Triton {max(peers):.0f}" if peers else ""
            parts.append(f"{heads} {rate:.0f}{beside}")
    return (
        f"TFLOP/s by turns on an {found['device']}: {'; '.join(parts)}; cuBLAS, dense, {rates['cuBLAS']:.0f}"
    )


def _flash(found: Record) -> str:
    """flash_attn.ptx over the better peer, for each number of elements of a head."""
    parts = [
        f"{elements.removeprefix('d ')} elements {mean['geometric_mean']:.2f}, at least {mean['least']:.2f}"
        for elements, mean in found["means"].items()
    ]
    return f"over the better peer by turns on an {found['device']}: {'; '.join(parts)}"


def _fp8(found: Record) -> str:
    """gemm_fp8.ptx over the better peer, by rows."""
    parts = [
        f"{rows} {mean['geometric_mean']:.3f}, at least {mean['least']:.2f}"
        for rows, mean in found["means"].items()
    ]
    return f"over the better peer by turns on an {found['device']}: {'; '.join(parts)}"


def _sparse(found: Record) -> str:
    """sparse_attn_bwd_sm90a.ptx over Triton, cuBLAS's rate and its additions alone, by heads."""
    parts = [
        f"{heads} {ratio['of_cublas']:.2f} of cuBLAS's rate, {ratio['of_triton']:.1f} times Triton"
        for heads, ratio in found["ratios"].items()
    ]
    return f"by turns on an {found['device']}: {'; '.join(parts)}"


def _gpu(found: Record) -> str:
    return str(found["gpu"])


ROWS: tuple[tuple[str, str, Callable[[Record], str | None]], ...] = (
    ("`check` and ptxas", "agreement", _agreement),
    ("`check` and what compilers write", "compilers", _compilers),
    ("`check` and inline assembly", "inline", _inline),
    ("`check` and broken text", "fuzz", _fuzz),
    ("`check`, speed", "check_speed", _check_speed),
    ("emulator, instructions", "devices.h200", _instructions),
    ("emulator, `wgmma`", "asynchronous.h200", _products),
    ("emulator, `mma` and `wgmma`", "sums.h200", _sums),
    ("emulator, tensor copies", "asynchronous.h200", _copies),
    ("emulator, asynchrony", "asynchronous.h200", _kernels),
    ("emulator, counters", "counts.h200", _counts),
    ("tensor maps", "tensor_maps.h200", _maps),
    ("emulator, speed", "emulator_speed", _emulator_speed),
    ("emulator, tensor cores", "emulated_gemm", _emulated_gemm),
    ("every day", "everyday", _everyday),
    ("driver, a launch", "driver.h200", _launch),
    ("driver, loading", "rounds.h200", _rounds),
    ("driver, several GPUs", "gpus.h200", _gpus),
    ("`bench` and ncu", "driver.h200", _profiler),
    ("gemm_wgmma.ptx and cuBLAS", "gemm_wgmma.peers.h200", _against),
    ("flash_attn.ptx and cuDNN, FlashAttention-2", "flash_attn.peers.h200", _flash),
    ("gemm_fp8.ptx and DeepGEMM, cuBLAS", "gemm_fp8.peers.h200", _fp8),
    ("sparse_attn_bwd_sm90a.ptx and Triton", "sparse_attn_bwd_sm90a.peers.h200", _sparse),
    ("attn_dist.ptx and Triton", "attn_dist.peers.h200", _attention),
)
"""What is told, the record it comes from, and how. Of rows with one title the first with a record stands."""


def measured() -> str:
    """The table of what was measured."""
    return "| what | measured | record |\n|---|---|---|\n" + "".join(_rows())


def _rows() -> Iterator[str]:
    told: set[str] = set()
    for what, name, tell in ROWS:
        found = record(name)
        text = tell(found) if found and what not in told else None
        if found and text:
            told.add(what)
            date = found.get("date") or found["runs"][-1]["date"]
            yield f"| {what} | {text} | [{date[:10]}](../bench/results/{name}.json) |\n"


def bench() -> str:
    """The bench of gemv.ptx, as it was recorded."""
    found = record("gemv.bench.h200")
    if found is None:
        return ""
    lines = [
        "| M, K, L | time | spread | net of the launch | rate | roof | share of the roof |\n",
        "|---|---|---|---|---|---|---|\n",
    ]
    for state in found["states"]:
        timing, roof = state["timing"], state["timing"]["roofs"][0]
        lines.append(
            f"| {', '.join(str(size) for size in state['sizes'].values())} | {_us(timing['seconds'])} "
            f"| {_us(timing['spread'])} | {_us(timing['net'])} | {timing['bandwidth'] / 1e12:.2f} TB/s "
            f"| {_us(roof['figure']['seconds'])} | {timing['roof_share']:.0%} |\n"
        )
    driver = found["machine"]["driver"]["driver"]
    return (
        f"{''.join(lines)}\n{found['device']}, driver {driver}, {found['date'][:10]}, clocks as they were.\n"
    )


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def tutorial() -> str:
    """What a GPU made of the broken files of the tutorial."""
    found = record("tutorial.h200")
    if found is None:
        return ""
    lines = []
    for step in found["steps"]:
        said = step["broken"]
        what = {0: "right all the same", 4: f"wrong: {said['wrong']} of {said['elements']} elements"}
        stopped = f"stopped with {said['code']}"
        lines.append(f"| {step['step']} | {what.get(said['exit'], stopped)} |\n")
    right = sum(step["right"]["exit"] == 0 for step in found["steps"])
    head = (
        f"On an {found['device']} ({found['date'][:10]}) the right files of {right} of the first "
        f"{len(found['steps'])} steps gave right results. The broken ones, each run once, show what looking "
        "at results is worth:\n\n| broken file | result on the GPU |\n|---|---|\n"
    )
    return head + "".join(lines)


def launches() -> str:
    """What came of each program's recorded launches."""
    found = record("launches")
    lines = [
        "| program | its arguments | target | launches | phases | orders | right | found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for program in found["programs"] if found else ():
        kernels = program["launches"]
        runs = [run for kernel in kernels for run in kernel["runs"]]
        orders = Counter(run["order"] for run in kernels[0]["runs"])
        counted = [order if order != "random" else f"{count} random" for order, count in orders.items()]
        right = sum(not run["errors"] and not run["different"] for run in runs)
        codes = sorted({name for run in runs for name in run["findings"]})
        phases = max(run.get("phases", 0) for run in runs) or ""
        name, arguments = program["program"].replace("_", " "), program["command"].partition(" ")[2]
        lines.append(
            f"| {name} | {f'`{arguments}`' if arguments else ''} | {kernels[0]['arch']} | {len(kernels)} "
            f"| {phases} | {', '.join(counted)} | {right} of {len(runs)} | {', '.join(codes) or 'nothing'} |"
        )
    return "\n".join(lines) + "\n"


def emulation() -> str:
    """What the emulator takes for each case of the fixed set, and where that goes."""
    found = record("emulation")
    if found is None:
        return ""
    parts = ("start", "build", "compile", "tensors", "execute", "sanitize")
    lines = [
        f"| case | | cold | warm | rate | {' | '.join(parts)} | memory |\n|{'---|' * (len(parts) + 6)}\n"
    ]
    for case in found["cases"]:
        held, rate = case["cold"]["bytes_beyond_tensors"], case["per_cpu_second"] / 1e6
        shares = " | ".join(f"{case['cold_shares'][part]:.0%}" for part in parts)
        lines.append(
            f"| {case['name']} | {case['about']} | {case['cold']['cpu_seconds']:.1f} s "
            f"| {case['warm']['cpu_seconds']:.1f} s | {f'{rate:,.1f} M/s' if rate >= 0.05 else ''} "
            f"| {shares} | {'?' if held is None else f'{held / 1e6:,.0f} MB'} |\n"
        )
    loads = " and ".join(f"{load[0]:.0f}" for load in found["load_average"])
    cores = f"{found['threads'] or 'all'} of {found['machine']['cores']} cores"
    return (
        f"{''.join(lines)}\n{found['date'][:10]}, {cores}, llvmlite {found['llvmlite']}; "
        f"the machine's load was {loads} before and after.\n"
    )


REGIONS = {
    "measured": measured,
    "bench": bench,
    "tutorial": tutorial,
    "launches": launches,
    "emulation": emulation,
}


def page(text: str) -> str:
    """A page with its figures made anew."""
    return REGION.sub(lambda found: f"{found[1]}{REGIONS[found[2]]()}{found[3]}", text)


def main() -> int:
    """Write the pages."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for path in PAGES:
        path.write_text(page(path.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
