"""Chains: they are sound, cover what they should, and the comparison notices what differs."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembler import log_of

import ptxkit
from ptxkit import targets
from ptxkit.driver import capabilities, driver_version
from ptxkit.emulator.numerics import double
from ptxkit.emulator.operations import extended_precision

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from compare.atomics import atomics
from compare.cases import cases
from compare.chains import execute, forms, judge, text
from compare.chains.bench import compare_chains
from compare.chains.make import FEWEST, MOST, Maker
from compare.chains.model import THREADS, Chain, Step
from compare.chains.record import Tally
from compare.chains.reduce import reduced
from compare.chains.writer import Writer
from compare.execute import Bench, Setting
from compare.pool import Job

pytestmark = pytest.mark.long
TOOL = Path(__file__).resolve().parents[1] / "tools" / "compare_chains.py"
TARGET, VERSION = targets.TARGETS["sm_90a"], (8, 7)


@pytest.fixture(scope="module")
def maker() -> Maker:
    return Maker(cases(TARGET, VERSION), atomics(TARGET, VERSION), seed=7)


def emulated(chain: Chain, written: str | None = None, **options: Any) -> np.ndarray:
    """What a chain leaves."""
    device = ptxkit.open_device("emu", arch=str(TARGET), **options)
    parsed = ptxkit.parse(written or text.module([chain], TARGET, VERSION))
    (found,) = execute.run(device, parsed, [chain])
    # Chains divide by zero: what an H200 gives then, they compare.
    assert {finding.code for finding in device.findings} <= {"P615"}
    return found


def test_chains_have_everything(maker: Maker) -> None:
    chains = [maker.chain(number) for number in range(80)]
    steps = [step for chain in chains for step in chain.steps]
    assert {step.family for step in steps} == {
        "forms", "memory", "carry", "warp", "vectors", "atomics", "calls", "control",
    }  # fmt: skip
    lengths = [len(chain.steps) for chain in chains]
    assert FEWEST <= min(lengths) < max(lengths) <= MOST + 12
    assert sum(lengths) / len(lengths) > 90
    assert {chain.ctas for chain in chains} == {1, 2}
    assert any(len(step.regions) > 1 for step in steps)
    assert any(step.guard for step in steps)
    whole = "\n".join(text.module([chain], TARGET, VERSION) for chain in chains)
    for statement in (
        "addc.cc", "subc", "madc.hi", "mov.v4.b32", "brx.idx", ".callprototype", "mapa.u64", "isspacep.const",
        "cvta.to.shared.u64", "st.v4.", "ld.const", "[mine+", "ld.param", "redux.sync", "match.all",
        "elect.sync",
        "activemask", "shfl.sync", "vote.sync", ".rn.f64", "bfind", "lop3", "prmt", "dp4a", "vadd4",
        "mma.sync",
        "atom.", "red.", "barrier.cluster", "barrier.sync", "ld.b128",
    ):  # fmt: skip
        assert statement in whole, statement
    assert ".approx" not in whole
    assert not re.search(r"(?<![.\w])(add|sub|mul)\.(ftz\.|sat\.)*(f32|f64|f16|bf16)", whole)


def test_no_division_of_64_bits_stands_between_carries(maker: Maker) -> None:
    between = 0
    for number in range(300):
        here: list[str] | None = None
        for step in maker.chain(number).steps:
            if step.family == "carry":
                if here and step.label.startswith(("addc", "subc", "madc")):
                    between += len(here)
                    assert not [name for name in here if re.match(r"(div|rem)\.[us]64", name)]
                here = []
            elif here is not None:
                here.append(step.label)
    assert between > 300


def test_the_checker_refuses_no_chain(maker: Maker) -> None:
    """One that is refused counts as not executed, which nobody may notice for long."""
    for first in range(0, 200, 20):
        written = text.module([maker.chain(number) for number in range(first, first + 20)], TARGET, VERSION)
        problems = [found for found in ptxkit.check(ptxkit.parse(written)) if found.severity == "error"]
        assert not problems, problems[0]


def test_a_number_gives_the_same_chain(maker: Maker) -> None:
    again = Maker(cases(TARGET, VERSION), atomics(TARGET, VERSION), seed=7)
    assert text.module([again.chain(5)], TARGET, VERSION) == text.module([maker.chain(5)], TARGET, VERSION)
    assert text.module([again.chain(6)], TARGET, VERSION) != text.module([maker.chain(5)], TARGET, VERSION)


def test_chains_assemble_and_are_free_of_findings(maker: Maker) -> None:
    """With the sanitizer, in lazy and in random order, to the same bits."""
    for chain in [chain for chain in map(maker.chain, range(60)) if len(chain.steps) < 60][:4]:
        errors, _ = log_of(text.module([chain], TARGET, VERSION))
        assert errors == "", errors
        first = emulated(chain)
        assert first.any()
        verdict = judge.compare(chain, first, emulated(chain, order="random", seed=1))
        assert not verdict.wrong, verdict.example
        assert verdict.statements == len(chain.steps)


@pytest.fixture
def writer() -> Writer:
    return Writer(Chain("c", 0), random.Random(5))


@pytest.mark.parametrize(
    ("wrote", "reads", "bits"),
    [
        ("abs.s16", "shr.s16", 16),
        ("neg.s16", "set.ge.xor.f32.s16", 16),
        ("cnot.b32", "shl.b16", 32),
        ("vmad.s32.u32.u32.po.sat", "cvt.sat.f32.f32", 32),
        ("abs.s64", "sub.cc.s64", 64),
        ("elect.sync", "vote.sync.all.pred", 1),
        ("match.all.sync.b32", "guard", 1),
    ],
)
def test_what_ptxas_misreads_is_kept_apart(writer: Writer, wrote: str, reads: str, bits: int) -> None:
    """Of a copy, too; what ptxas knows nothing of is read as it is."""
    first, second = writer.targets(bits, 2)
    lines: list[str] = []
    assert writer.read(reads, first, bits, lines) == first
    writer.step("forms", wrote, [], [(first, bits)])
    writer.step("vectors", "mov", [], [(second, bits)], copies={second: first})
    writer.step("forms", "mov", [], [(first, bits)])
    assert writer.read(reads, first, bits, lines) == first
    assert not lines
    assert writer.read(reads, second, bits, lines) != second
    assert any("%zero" in line for line in lines)
    if bits > 1:
        writer.step("forms", wrote, [], [(second, bits)], [forms.as_bits(second, bits)])
        assert writer.read(reads, second, bits, lines) == second


def test_extremes_of_a_value_and_its_copy(writer: Writer) -> None:
    """Their NaN would be handed on as it is."""
    (case,) = cases(TARGET, VERSION, r"^min\.f16$")
    for register in (f"%h{number}" for number in range(16)):
        writer.same[register] = "one"
    forms.statement(writer, case)
    (step,) = writer.chain.steps
    assert step.lines[0].startswith("xor.b16 %s_1, ")
    assert "%s_1" in step.lines[1]


def test_every_part_of_a_chain_is_one(maker: Maker) -> None:
    chain = maker.chain(3)
    dropped = [
        (chain.name, step.number) for step in chain.steps if step.number % 3 and step.family != "carry"
    ]
    written = text.module([chain], TARGET, VERSION, dropped)
    errors, _ = log_of(written)
    assert errors == "", errors
    assert emulated(chain, written).any()


def off(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose result is changed."""
    return lambda *arguments, **named: change(function(*arguments, **named))


MUTATIONS: dict[str, tuple[Any, str, Callable[[Any], Any], str]] = {
    # What is wrong in one operation of the emulator, and which statements have it.
    "a NaN of f64 loses its payload": (
        double,
        "hand_on",
        lambda result: np.where(np.isnan(result), double.NAN, result),
        r"f64",
    ),
    "the carry flag is a borrow": (
        extended_precision,
        "add",
        lambda found: (found[0], ~found[1]),
        r"(add|sub|mad)c?[.a-z]*\.cc",
    ),
    "a conversion by way of f64 is one off": (
        double,
        "narrowed",
        lambda words: words + words.dtype.type(1),
        r"cvt\.r[nzmp]\.[a-z.]*b?f(16|32)\.[fsu]",
    ),
}


@pytest.mark.parametrize(
    "mutation", [pytest.param(name, marks=[pytest.mark.slow][:at]) for at, name in enumerate(MUTATIONS)]
)
def test_a_changed_operation_is_noticed(maker: Maker, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that have its statements differ, at those first."""
    home, name, change, pattern = MUTATIONS[mutation]
    chosen = [
        chain
        for chain in map(maker.chain, range(600))
        if len(chain.steps) < 90
        and any(re.search(pattern, step.label) for step in chain.steps if not step.regions)
    ][:4]
    right = [emulated(chain) for chain in chosen]
    monkeypatch.setattr(home, name, off(getattr(home, name), change))
    verdicts = [
        judge.compare(chain, emulated(chain), before) for chain, before in zip(chosen, right, strict=True)
    ]
    assert any(verdict.wrong for verdict in verdicts)
    for chain, verdict in zip(chosen, verdicts, strict=True):
        if verdict.differ:
            first = next(step for step in chain.steps if step.number == min(verdict.differ))
            there = re.search(pattern, first.label) or first.family in ("calls", "carry")
            assert there, first.label


def test_what_differs_is_made_small(maker: Maker) -> None:
    """A statement that goes wrong and those that it needs are left."""
    chain = maker.chain(8)
    target = next(step for step in chain.steps if step.number > 20 and step.results and not step.guard)

    def differs(without: frozenset[int]) -> bool:
        return target.number not in without and min(without, default=9) != target.number

    verdict = judge.Verdict(differ={target.number: 1})
    without = reduced(chain, verdict, differs, 400)
    assert {step.number for step in chain.steps} - without == {target.number}


def test_differences_are_told_by_their_first_statement(maker: Maker) -> None:
    chain = maker.chain(2)
    left = emulated(chain)
    plain = [step for step in chain.steps if step.results and step.open < 0 and not step.together]
    early, late = plain[4], plain[-1]
    right = left.copy()
    for step in (late, early):
        right[step.row * THREADS + 9] ^= np.uint64(1)
    verdict = judge.compare(chain, left, right)
    assert list(verdict.differ) == [early.number]
    assert verdict.example["thread"] == 9
    last = left.copy()
    last[-1] ^= np.uint64(1 << 40)
    assert judge.compare(chain, left, last).left == 1


def test_results_that_are_open_are_counted(maker: Maker) -> None:
    def open_(chain: Chain) -> list[Step]:
        return [step for step in chain.steps if step.open >= 0]

    chain = next(chain for chain in map(maker.chain, range(60)) if open_(chain))
    (step, *_) = open_(chain)
    left = emulated(chain)
    right = left.copy()
    left[step.open * THREADS] = right[step.open * THREADS] = 1
    right[step.row * THREADS] ^= np.uint64(5)
    verdict = judge.compare(chain, left, right)
    assert not verdict.wrong
    assert verdict.open[step.why] >= 1
    left[step.open * THREADS] = 0
    assert judge.compare(chain, left, right).wrong


def dry_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), "--only", "emu", "--processes", "1", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_dry_run_is_recorded_and_added_to(tmp_path: Path) -> None:
    output = tmp_path / "chains.json"
    done = dry_run("--chains", "2", "--output", str(output))
    assert done.returncode == 0, done.stderr
    first = json.loads(output.read_text())
    assert first["compared"] == "0-1"
    done = dry_run("--chains", "3", "--add", str(output))
    assert done.returncode == 0, done.stderr
    found = json.loads(output.read_text())
    assert found["totals"]["chains"] == 3
    assert found["totals"]["chains_not_executed"] == found["totals"]["chains_that_differ"] == 0
    assert sum(found["families"].values()) == found["totals"]["statements"] > first["totals"]["statements"]
    assert [part["chains"] for part in found["parts"]] == [2, 1]
    assert found["parts"][0] == first["parts"][0]
    done = dry_run("--chains", "3", "--add", str(output), "--seed", "1")
    assert (done.returncode, done.stderr) == (2, f"{output} is of another seed\n")


def test_the_record_says_which_chains_it_lacks(maker: Maker) -> None:
    """Until they are executed."""
    chains = [maker.chain(number) for number in (3, 4, 5, 9)]
    tally = Tally()
    for chain in chains:
        tally.add(chain, judge.Verdict(failed="SIGSEGV"))
    found = tally.document({})
    assert (found["compared"], found["not_executed"]) == ("", {"SIGSEGV": "3-5 9"})
    assert not tally.good
    tally = Tally(found)
    tally.add(chains[0], judge.Verdict(unoptimized="SIGSEGV"))
    tally.add(chains[1], judge.Verdict(differ={0: 1}, optimized=True))
    tally.add(chains[2], judge.Verdict(differ={0: 1}))
    found = tally.document({})
    assert (found["compared"], found["not_executed"]) == ("3-5", {"SIGSEGV": "9"})
    assert (found["differ"], found["differ_optimized"]) == ("5", "4")
    assert found["unoptimized"] == {"SIGSEGV": "3"}


class Misled:
    """An emulator in the place of a GPU whose driver's compiler goes wrong where it optimises."""

    kind = "cuda"

    def __init__(self, wrong_anyway: bool) -> None:
        self.emulator = ptxkit.open_device("emu", arch=str(TARGET))
        self.array = self.emulator.array
        self.wrong_anyway = wrong_anyway

    def load(self, module: Any, optimization: int = 4) -> Any:
        written = ptxkit.write(module)
        if optimization or self.wrong_anyway:
            written = written.replace("%zero32, %zero64;", "%zero32, %zero64; not.b32 %zero32, %zero32;")
        return self.emulator.load(written)


@pytest.mark.parametrize("wrong_anyway", [False, True])
def test_what_optimising_alone_changes_is_told(
    maker: Maker, wrong_anyway: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = next(chain for chain in map(maker.chain, range(60)) if len(chain.steps) < 60)
    bench = Bench(Setting(TARGET, VERSION, gpu=False))
    monkeypatch.setattr(bench, "gpu", Misled(wrong_anyway))
    monkeypatch.setattr(bench, "reduced", 1)
    (verdict,) = compare_chains(bench, [chain])
    assert verdict.wrong
    assert verdict.optimized is not wrong_anyway
    (verdict,) = compare_chains(bench, [chain], "SIGSEGV")
    assert verdict.wrong is wrong_anyway
    assert verdict.unoptimized == "SIGSEGV"


def test_a_chain_that_crashes_the_compiler_is_done_unoptimised(maker: Maker) -> None:
    again = Job([maker.chain(1)]).otherwise("SIGSEGV")
    assert again is not None
    assert again.unoptimized == "SIGSEGV"
    assert again.otherwise("SIGSEGV") is None


@pytest.mark.gpu
def test_a_gpu_gives_the_same_bits() -> None:
    """Of a few; `tools/compare_chains.py` does 10,000."""
    capability = capabilities()[0]
    target = targets.for_capability(capability, "a") or targets.for_capability(capability)
    assert target is not None
    version = min(targets.newest_version_for_cuda(driver_version()), targets.NEWEST_VERSION)
    made = Maker(cases(target, version), atomics(target, version), seed=0)
    chosen = [made.chain(number) for number in range(12)]
    for verdict in compare_chains(Bench(Setting(target, version, gpu=True)), chosen):
        assert not verdict.failed
        assert not verdict.wrong, verdict.example
