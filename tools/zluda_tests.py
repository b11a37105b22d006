"""Run ZLUDA's tests of PTX, which have exact answers, on the emulator.

    git clone https://github.com/vosen/ZLUDA
    python tools/zluda_tests.py ZLUDA              # ten seconds
    python tools/zluda_tests.py ZLUDA --only '^shf'

Each is a small kernel beside ptx/src/test/spirv_run/mod.rs, which says what goes in and what must come
out. It is launched as ZLUDA launches it on a GPU: a CTA of one thread or of 64, 1024 bytes of dynamic
shared memory, an output of zeros. Tests with addresses of 32 bits, which no 64-bit host can launch, are
left out. ptxas, where there is one, is asked about all that is not right. Writes
bench/results/zluda.json. Exit 1 where a test is wrong, or refused though ptxas takes it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance
from tools.agreement.record import assembler

RESULT = Path(__file__).resolve().parents[1] / "bench" / "results" / "zluda.json"
TESTS = "ptx/src/test/spirv_run"
DYNAMIC = 1024
"""Bytes of dynamic shared memory of every launch."""
THREADS = {"test_ptx": 1, "test_ptx_with_32": 1, "test_ptx_warp": 64}
"""Threads of the CTA, by the macro that declares the test."""
OLDEST = 75
"""The oldest target that ptxas 13.0 makes code for; a file for an older one is assembled for this one."""


@dataclass(frozen=True)
class Case:
    """A test.

    Attributes:
        name: its name, which is its kernel's.
        path: its file.
        threads: of the one CTA.
        given: what goes in; None where nothing does.
        wanted: what must come out.
    """

    name: str
    path: Path
    threads: int
    given: np.ndarray | None
    wanted: np.ndarray


# ---- the tests' declarations


def cases(checkout: Path) -> Iterator[Case]:
    """Every test of 64-bit addresses that has an answer."""
    folder = checkout / TESTS
    text = re.sub(r"//[^\n]*", "", (folder / "mod.rs").read_text(encoding="utf-8"))
    for match in re.finditer(r"^(test_ptx\w*)!\(\s*(\w+)\s*,(.*?)\);$", text, re.M | re.S):
        macro, name, rest = match.groups()
        *given, wanted = [array(inner) for inner in re.findall(r"\[(.*?)\]", rest, re.S)]
        yield Case(name, folder / f"{name}.ptx", THREADS[macro], given[0] if given else None, wanted)


SUFFIX = re.compile(r"(?<=[0-9._a-fA-F])(u8|u16|u32|u64|i8|i16|i32|i64|f32|f64)\b")


def array(text: str) -> np.ndarray:
    """The elements of a Rust array: of the type that one of them names, else `i32` or `f64`."""
    elements = [element.strip() for element in text.split(",") if element.strip()]
    kinds = {kind for kind in map(kind_of, elements) if kind is not None}
    assert len(kinds) <= 1, f"elements of several types: {text}"
    kind = kinds.pop() if kinds else "f64" if any("." in element for element in elements) else "i32"
    dtype = np.dtype(kind[0] + str(int(kind[1:]) // 8))
    return np.array([bits_of(element, dtype) for element in elements], f"u{dtype.itemsize}").view(dtype)


def kind_of(element: str) -> str | None:
    """The type that an element names."""
    if element.endswith(".to_bits()"):
        return "u16"
    if "half::f16" in element:
        return "f16"
    named = re.match(r"(?:std::)?([uif]\d+)::", element)
    if named:
        return named[1]
    suffix = re.search(r"(?:0b[01_]+?|0x[0-9a-fA-F_]+?|[0-9._]+?)([ui](?:8|16|32|64)|f32|f64)$", element)
    return suffix[1] if suffix else None


NAMED = {
    "NAN": float("nan"),
    "INFINITY": float("inf"),
    "NEG_INFINITY": float("-inf"),
}


def bits_of(element: str, dtype: np.dtype) -> int:
    """An element's bits as a type has them."""
    size = 8 * dtype.itemsize
    if element.endswith(".to_bits()"):
        return bits_of(element.removesuffix(".to_bits()"), np.dtype("f2"))
    made = re.fullmatch(r"(?:half::)?f\d+::from_(\w+)\((.*)\)", element)
    if made:
        return integer(made[2]) if made[1] == "bits" else float_bits(float(bare(made[2])), dtype)
    limit = re.fullmatch(r"[ui]\d+::(MAX|MIN|max_value\(\))", element)
    if limit:
        whole = np.iinfo(dtype).min if limit[1] == "MIN" else np.iinfo(dtype).max
        return int(whole) & (1 << size) - 1
    named = re.fullmatch(r"(?:half::)?f\d+::(\w+)", element)
    if named:
        return float_bits(NAMED[named[1]], dtype)
    fraction = re.fullmatch(r"std::f32::consts::PI(?: / (\w+))?", element)
    if fraction:
        pi = np.float32(np.pi)
        return float_bits(float(pi / np.float32(bare(fraction[1] or "1"))), dtype)
    if dtype.kind == "f":
        return float_bits(float(bare(element)), dtype)
    return integer(element) & (1 << size) - 1


def bare(number: str) -> str:
    """A number without the name of its type."""
    return SUFFIX.sub("", number).replace("_", "")


def integer(text: str) -> int:
    """A Rust integer. The `u8` of `0xffu8` is its type, the `b` of `0x1b` is not."""
    return int(re.sub(r"[ui](8|16|32|64)$", "", text).replace("_", ""), 0)


def float_bits(value: float, dtype: np.dtype) -> int:
    """A number's bits, rounded to a type."""
    return int.from_bytes(np.array(value, dtype).tobytes(), "little")


# ---- running


def examine(case: Case) -> dict[str, Any]:
    """What became of a test: `right`, `wrong`, `refused` by the checker, or the code of a finding that ended
    it; beside what is not right what ptxas says of the file."""
    outcome, why = run(case)
    found = {"test": case.name, "outcome": outcome}
    return found if outcome == "right" else {**found, "why": why, "ptxas": by_ptxas(case.path)}


def run(case: Case) -> tuple[str, list[str]]:
    """The outcome of a test, and why it is not right."""
    module = ptxkit.parse(case.path)
    errors = [diagnostic for diagnostic in ptxkit.check(module) if diagnostic.is_error]
    if errors:
        return "refused", [f"{error.code} {error.message}" for error in errors]
    device = ptxkit.open_device("emu")
    try:
        out = device.array(np.zeros_like(case.wanted))
        given = out if case.given is None else device.array(case.given)
        entry = next(function for function in module.functions if function.name == case.name)
        arguments = [given, out][-len(entry.parameters) :]
        device.load(module).kernel(case.name).launch(1, case.threads, arguments, shared=DYNAMIC)
        got = out.numpy()
    except PtxkitError as error:
        return error.diagnostics[0].code, [error.diagnostics[0].message]
    finally:
        device.close()
    if np.array_equal(got, case.wanted):
        return "right", []
    return "wrong", [f"expected {case.wanted[:8].tolist()}, found {got[:8].tolist()}"]


def by_ptxas(path: Path) -> str:
    """What ptxas says of a file when it makes code of it."""
    if shutil.which("ptxas") is None:
        return "not asked"
    found = re.search(r"\.target\s+sm_(\d+)(\w*)", path.read_text(encoding="utf-8"))
    number, suffix = (int(found[1]), found[2]) if found else (OLDEST, "")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as made:
        command = ["ptxas", f"-arch=sm_{max(number, OLDEST)}{suffix}", str(path), "-o", made.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return "accepts"
    return re.sub(r"^ptxas.*?(?=error|fatal)", "", (done.stderr or "a crash").splitlines()[0])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="ZLUDA's repository")
    parser.add_argument("--only", default="", metavar="REGEX", help="these tests; nothing is written")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    began = time.perf_counter()
    found = [examine(case) for case in cases(options.checkout) if re.search(options.only, case.name)]
    for each in found:
        if each["outcome"] != "right":
            print(f"{each['test']}: {each['outcome']}; {'; '.join(each['why'])} (ptxas: {each['ptxas']})")
    counts = Counter(each["outcome"] for each in found)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()), f"of {len(found)}")
    if not options.only:
        record = {
            "schema": 1,
            "kind": "zluda_tests",
            **provenance(),
            "assembler": assembler(),
            "zluda": commit_of(options.checkout),
            "seconds": round(time.perf_counter() - began, 1),
            "counts": dict(counts.most_common()),
            "not_right": [each for each in found if each["outcome"] != "right"],
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    outcomes = {(each["outcome"], each.get("ptxas")) for each in found}
    return int(any(outcome == "wrong" for outcome, _ in outcomes) or ("refused", "accepts") in outcomes)


def commit_of(checkout: Path) -> str:
    """The commit that the checkout is at; empty where it is no repository."""
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
