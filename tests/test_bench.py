"""The bench as far as it goes without a GPU: statistics, axes, order of measurements, verdicts, the verb."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest
from command import codes, here, refused
from hypothesis import given
from hypothesis import strategies as st
from small_kernels import DOUBLE

from ptxkit.asm import parse
from ptxkit.bench import (
    BenchState,
    Figure,
    Roof,
    Schedule,
    Settings,
    StoppingRule,
    Trial,
    axes,
    compare,
    document,
    plot,
)
from ptxkit.bench.measurement import ArithmeticRoof, problem_key
from ptxkit.bench.schedule import roofs_of
from ptxkit.bench.statistics import ENOUGH, LATE, STEADY, median_interval, noise, resolution
from ptxkit.card import read
from ptxkit.cli.bench import command
from ptxkit.cli.launching.bench import states_of
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.driver.timing import FLUSHES
from ptxkit.plan import LaunchPlan, Program, Request, make
from ptxkit.running.report import Report
from ptxkit.running.session import RunOptions, Session
from ptxkit.workloads import Cost

SAMPLES = st.lists(st.floats(1e-7, 1.0), min_size=1, max_size=60)


def refuse(code: str, use) -> str:
    with pytest.raises(PtxkitError) as caught:
        use()
    assert [d.code for d in caught.value.diagnostics] == [code]
    return str(caught.value)


# ---- statistics


def test_the_options_of_the_command_are_those_of_the_stopwatch() -> None:
    (flush,) = (option for option in command.params if option.name == "flush")
    assert isinstance(flush.type, click.Choice)
    assert tuple(flush.type.choices) == FLUSHES


@given(SAMPLES)
def test_the_interval_holds_the_median(samples: list[float]) -> None:
    low, high = median_interval(samples)
    assert min(samples) <= low <= statistics.median(samples) <= high <= max(samples)


@pytest.mark.parametrize("draw", ["normal", "exponential", "two modes"])
def test_the_interval_holds_the_true_median_as_often_as_it_says(draw: str) -> None:
    """1000 series of 50; 95 % is 950, and fewer than 925 would come once in a thousand times at most."""
    random = np.random.default_rng(7)
    series = {
        "normal": (random.normal(10, 1, (1000, 50)), 10.0),
        "exponential": (random.exponential(1, (1000, 50)), math.log(2)),
        "two modes": (
            np.where(random.random((1000, 50)) < 0.7, 1, 5) + random.normal(0, 0.1, (1000, 50)),
            None,
        ),
    }
    drawn, median = series[draw]
    if median is None:
        median = float(np.median(np.where(random.random(10**6) < 0.7, 1, 5) + random.normal(0, 0.1, 10**6)))
    held = sum(low <= median <= high for low, high in (median_interval(list(row)) for row in drawn))
    assert held >= 925


def test_more_samples_narrow_the_interval() -> None:
    random = np.random.default_rng(3)
    widths = []
    for count in (20, 200, 2000):
        low, high = median_interval(list(random.normal(1, 0.1, count)))
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]


def test_noise_and_resolution() -> None:
    assert noise([2.0]) == 0
    assert noise([1.0, 3.0]) == pytest.approx(math.sqrt(2) / 2)
    assert resolution([5.0, 5.0]) == 0
    assert resolution([1.0, 1.5, 1.0, 1.75]) == 0.25


def test_a_trial_stops_for_its_reason() -> None:
    rule = StoppingRule(min_samples=10, min_time=0.01, max_noise=0.01, max_samples=100, max_time=2.0)
    steady = [1e-3 + 1e-7 * (i % 3) for i in range(10)]
    assert rule.reached([], 99) is None
    assert rule.reached(steady[:9], 0.1) is None
    assert rule.reached(steady, 0.1) == STEADY
    assert rule.reached([s / 10 for s in steady], 0.1) is None  # they add up to a millisecond
    noisy = list(np.random.default_rng(5).uniform(1e-3, 2e-3, 60))
    assert rule.reached(noisy, 0.1) is None
    assert rule.reached(noisy, 2.0) == LATE
    assert rule.reached(noisy * 2, 0.1) == ENOUGH


@given(SAMPLES, st.lists(st.floats(1e-7, 1.0), min_size=1, max_size=30))
def test_a_rule_that_has_stopped_by_number_or_time_stays_stopped(first, more) -> None:
    rule = StoppingRule(max_samples=20, max_time=1.0)
    for elapsed in (0.5, 1.5):
        if rule.reached(first, elapsed) in (ENOUGH, LATE):
            assert rule.reached(first + more, elapsed) is not None


def trial(*samples: float, **more) -> Trial:
    return Trial.of(samples, STEADY, **more)


def test_a_figure_is_the_median_of_the_trials_and_their_range() -> None:
    figure = Figure.of([trial(1.0, 1.1, 1.2), trial(1.3, 1.4, 1.5), trial(1.0, 1.2, 1.4)])
    assert figure.seconds == 1.2
    assert figure.spread == pytest.approx(0.3 + 0.2)  # the medians' range, and the clock's resolution
    assert (figure.minimum, figure.samples) == (1.0, 9)
    assert figure.sm_clocks is None
    clocked = Figure.of([trial(1.0, sm_clock=2e9), trial(1.0, sm_clock=1.5e9)])
    assert clocked.sm_clocks == (1.5e9, 2e9)


def test_equal_trials_have_the_spread_of_the_clock() -> None:
    figure = Figure.of([trial(1.0, 1.0, 1.25), trial(1.0, 1.0, 1.25)])
    assert figure.spread == 0.25


def test_what_is_taken_off_is_taken_off_every_sample() -> None:
    one = Trial.of([2e-6, 3e-6, 4e-6], STEADY)
    less = one.above(1e-6)
    assert (less.minimum, less.maximum) == (pytest.approx(1e-6), pytest.approx(3e-6))
    assert less.median == pytest.approx(2e-6)
    assert less.high - less.low == pytest.approx(one.high - one.low)
    assert less.samples == 3


def test_two_runs_agree_within_their_spreads() -> None:
    """Trials a per cent apart: of 300 pairs of runs fewer than 1 in 100 are called different."""
    random = np.random.default_rng(11)
    apart = 0
    for _ in range(300):
        runs = []
        for _ in range(2):
            shifts = random.normal(1, 0.01, 5)
            runs.append(Figure.of([trial(*(s * random.normal(1, 0.02, 50))) for s in shifts]))
        apart += abs(runs[0].seconds - runs[1].seconds) > runs[0].spread + runs[1].spread
    assert apart <= 3


# ---- axes


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("M=1024", "M", (1024,)),
        ("M=1,2,3", "M", (1, 2, 3)),
        ("M=[4, 2]", "M", (4, 2)),
        ("K=256:1024:256", "K", (256, 512, 768, 1024)),
        ("K=1:10:4", "K", (1, 5, 9)),
        ("K=3:5", "K", (3, 4, 5)),
        ("K[pow2]=8:10", "K", (256, 512, 1024)),
        ("K[pow2]=[0,4]", "K", (1, 16)),
        ("n=1,1,2:3,2", "n", (1, 2, 3)),
        ("n=-2:0", "n", (-2, -1, 0)),
        ("n=1_000", "n", (1000,)),
    ],
)
def test_axes(text: str, name: str, values: tuple[int, ...]) -> None:
    assert axes.parse(text) == axes.Axis(name, values)


@pytest.mark.parametrize(
    "text",
    ["", "M", "M=", "=1", "M=x", "M=1..4", "M=4:1", "M=1:4:0", "M[pow3]=1", "M[pow2]=70", "M=1,,2", "M=1.5",
     "M=0:99999999999"],
)  # fmt: skip
def test_what_is_no_axis(text: str) -> None:
    refuse("P522", lambda: axes.parse(text))


def test_axes_are_combined() -> None:
    m, k = axes.parse("M=1,2"), axes.parse("K=7,8")
    assert axes.states([m, k]) == [{"M": 1, "K": 7}, {"M": 1, "K": 8}, {"M": 2, "K": 7}, {"M": 2, "K": 8}]
    assert axes.states([]) == [{}]
    refuse("P522", lambda: axes.states([m, m]))
    wide = [axes.Axis(name, tuple(range(100))) for name in "abc"]
    refuse("P522", lambda: axes.states(wide))


@given(st.integers(-1000, 1000), st.integers(0, 500), st.integers(1, 50))
def test_ranges_are_pythons_with_their_end(first: int, length: int, step: int) -> None:
    values = axes.parse(f"n={first}:{first + length}:{step}").values
    assert values == tuple(range(first, first + length + 1, step))


# ---- the order of measurements


def plan_of(tmp_path: Path, name: str = "double.ptx", **request) -> LaunchPlan:
    path = tmp_path / name
    path.write_text(DOUBLE)
    module = parse(path)
    return make(Program(name, str(path)), module, read(module.source), Request(**request))


def report_of(plan: LaunchPlan, kind: str = "cuda", cost: Cost | None = None) -> Report:
    """The emulator's own report, as if a GPU had made it."""
    module = plan.program.module()
    with Session(module, RunOptions(device="emu")) as session:
        made = session.run(plan)
    return replace(made, kind=kind, device="a GPU" if kind == "cuda" else "emu", cost=cost or made.cost)


class Recorder:
    """Answers a schedule's calls with fixed figures and keeps their order."""

    def __init__(self, reports: dict[str, Report | str], kernel_seconds: float = 1e-4) -> None:
        self.reports = reports
        self.seconds = kernel_seconds
        self.calls: list[tuple] = []

    def __call__(self, method: str, *args, plan: LaunchPlan | None = None):
        self.calls.append((method, plan.program.name if plan else args))
        if method == "verify":
            found = self.reports[args[0].program.name]
            if isinstance(found, str):
                raise error(found, "it failed")
            return found
        if method == "trial":
            return trial(self.seconds, self.seconds * 1.01)
        if method == "floor":
            return trial(3e-6, 3.1e-6)
        return 8, trial(5e-5, 5.1e-5)


def test_kernels_of_one_problem_take_turns(tmp_path: Path) -> None:
    one = plan_of(tmp_path, preset="smoke")
    other = plan_of(tmp_path, preset="even")
    report = report_of(one)
    calls = Recorder({"double.ptx": report})
    schedule = Schedule([one, other, one], Settings(trials=3), calls)
    states = dict(schedule.run())
    assert sorted(states) == [0, 1, 2]
    assert schedule.progress() == 1.0
    assert [method for method, _ in calls.calls] == (
        ["verify", "verify"]
        + ["trial", "trial", "floor", "roof", "roof"] * 3
        + ["verify"]
        + ["trial", "floor", "roof", "roof"] * 3
    )
    assert all(state.ok for state in states.values())
    assert len(states[0].figure.trials) == 3
    assert [roof.name for roof in states[0].roofs] == ["problem", "read"]


def test_what_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    good, bad = plan_of(tmp_path, "good.ptx"), plan_of(tmp_path, "bad.ptx")
    calls = Recorder({"good.ptx": report_of(good), "bad.ptx": "P720"})
    states = dict(Schedule([bad, good], Settings(trials=3), calls).run())
    assert [d.code for d in states[0].diagnostics] == ["P720"]
    assert states[0].figure is None
    assert not states[0].ok
    assert states[1].ok
    assert states[1].figure.seconds == pytest.approx(1.005e-4)


def test_a_roof_without_memory_is_a_caution(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)

    class Roofless(Recorder):
        def __call__(self, method: str, *args, plan: LaunchPlan | None = None):
            if method == "roof":
                raise error("P705", "out of memory")
            return super().__call__(method, *args, plan=plan)

    states = dict(Schedule([plan], Settings(trials=3), Roofless({"double.ptx": report_of(plan)})).run())
    assert [d.code for d in states[0].diagnostics] == ["P807"]
    assert states[0].ok
    assert states[0].roof_share is None
    assert states[0].net is not None


def test_the_arithmetic_roof_is_measured_where_the_problem_has_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    report = report_of(plan, cost=Cost(100, 20, 6_000_000, "bf16"))

    class Recording(Recorder):
        def __call__(self, method: str, *args, plan: LaunchPlan | None = None):
            found = super().__call__(method, *args, plan=plan)
            if method != "arithmetic_roof":
                return found
            return ArithmeticRoof("roofs/wgmma_bf16.ptx", args[0], 1 << 30, 1, Figure.of([found[1]]))

    calls = Recording({"double.ptx": report})
    ((_, state),) = Schedule([plan], Settings(trials=3), calls).run()
    assert [args for method, args in calls.calls if method == "arithmetic_roof"] == [("bf16", 6_000_000)] * 3
    assert len(state.arithmetic.figure.trials) == 3
    roof = (1 << 30) / (state.arithmetic.figure.seconds - state.floor.seconds)
    assert state.arithmetic_share == pytest.approx(state.rate / roof)
    assert state.to_json()["timing"]["arithmetic_roof"]["kernel"] == "roofs/wgmma_bf16.ptx"


def test_a_gpu_without_an_arithmetic_roof_keeps_the_memorys(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)

    class Lacking(Recorder):
        def __call__(self, method: str, *args, plan: LaunchPlan | None = None):
            if method == "arithmetic_roof":
                raise error("P808", "there is no kernel")
            return super().__call__(method, *args, plan=plan)

    calls = Lacking({"double.ptx": report_of(plan, cost=Cost(100, 20, 6_000_000, "e2m1"))})
    ((_, state),) = Schedule([plan], Settings(trials=3), calls).run()
    assert [d.code for d in state.diagnostics] == ["P807"]
    assert (state.ok, state.arithmetic, len(state.roofs)) == (True, None, 3)
    assert all(len(roof.figure.trials) == 3 for roof in state.roofs)


def test_the_emulator_has_no_time(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    calls = Recorder({"double.ptx": report_of(plan, "emu")})
    ((_, state),) = Schedule([plan], Settings(), calls).run()
    assert [method for method, _ in calls.calls] == ["verify"]
    assert (state.figure, state.ok) == (None, True)
    assert [d.code for d in state.diagnostics] == ["P804"]


def test_problems_are_told_apart(tmp_path: Path) -> None:
    one = plan_of(tmp_path)
    assert problem_key(one) == problem_key(plan_of(tmp_path))
    assert problem_key(one) != problem_key(plan_of(tmp_path, preset="even"))
    assert problem_key(one) != problem_key(plan_of(tmp_path, "other.ptx"))
    assert problem_key(one) != problem_key(plan_of(tmp_path, seed=5))


def test_roofs_of_a_problem() -> None:
    assert roofs_of(100, 20) == [("problem", 100, 20), ("read", 120, 0), ("copy", 60, 60)]
    assert roofs_of(64, 0) == [("problem", 64, 0), ("copy", 32, 32)]
    assert roofs_of(32, 32) == [("problem", 32, 32), ("read", 64, 0)]


# ---- figures of a state


def state_of(
    tmp_path: Path, seconds: float = 1e-4, floor: float = 3e-6, roof: float = 5e-5, **more
) -> BenchState:
    plan = plan_of(tmp_path)
    cost = Cost(150_000_000, 50_000_000, 1_000_000_000)
    fields = {"sm_clock": 1.8e9, **more}
    trials = [trial(seconds * f, seconds * f * 1.02, **fields) for f in (0.999, 1.0, 1.001)]
    return BenchState(
        plan,
        report_of(plan, cost=cost),
        Figure.of(trials),
        Figure.of([trial(floor)]),
        (Roof("problem", cost.bytes_read, cost.bytes_written, 8, Figure.of([trial(roof)])),),
    )


def test_shares_and_rates_are_above_the_floor(tmp_path: Path) -> None:
    state = state_of(tmp_path, seconds=1e-4, floor=1e-5, roof=4e-5)
    net = state.figure.seconds - 1e-5
    assert state.net == pytest.approx(net)
    assert state.bandwidth == pytest.approx(200e6 / net)
    assert state.rate == pytest.approx(1e9 / net)
    assert state.roof_share == pytest.approx(3e-5 / net)


def test_a_time_that_the_floor_swallows_has_no_rate(tmp_path: Path) -> None:
    state = state_of(tmp_path, seconds=3e-6, floor=3e-6)
    assert (state.net, state.bandwidth, state.roof_share) == (None, None, None)


def test_cautions(tmp_path: Path) -> None:
    def found(**more) -> list[str]:
        return [d.code for d in state_of(tmp_path, **more).diagnostics]

    assert found() == []
    assert found(reasons=("idle", "application clocks")) == []
    assert found(reasons=("power cap",)) == ["P805"]
    slow = state_of(tmp_path)
    slowed = [replace(slow.figure.trials[0], sm_clock=1.2e9, stopped=LATE), *slow.figure.trials[1:]]
    assert [d.code for d in replace(slow, figure=Figure.of(slowed)).diagnostics] == ["P805", "P806"]
    assert replace(slow, figure=Figure.of(slowed)).ok


# ---- verdicts


def recorded(states: list[BenchState], tmp_path: Path, **changes) -> Path:
    made = {"date": "2026-01-01", "commit": None, "machine": {}}
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps({**document(states, {}, Settings(), made), **changes}, allow_nan=False))
    return path


@pytest.mark.parametrize(
    ("before", "word"), [(1e-4, "same"), (1.0005e-4, "same"), (1.2e-4, "faster"), (0.9e-4, "slower")]
)
def test_verdicts(tmp_path: Path, before: float, word: str) -> None:
    earlier = compare.read(recorded([state_of(tmp_path, before)], tmp_path), Settings())
    now = state_of(tmp_path)
    (verdict,) = compare.compare([now], earlier)
    assert verdict.word == word
    assert verdict.ratio == pytest.approx(1e-4 / before, rel=0.05)
    assert not verdict.clock_differs


def test_verdicts_where_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    now = state_of(tmp_path)
    earlier = compare.read(recorded([now], tmp_path), Settings())
    elsewhere = {**earlier, "device": "another GPU"}
    assert compare.compare([now], elsewhere)[0].word == "other device"
    resized = replace(now, plan=plan_of(tmp_path, preset="even"))
    assert compare.compare([resized], earlier)[0].word == "new"
    slow_clock = replace(now, figure=Figure.of([trial(1e-4, sm_clock=1.2e9)]))
    assert compare.compare([slow_clock], earlier)[0].clock_differs


def test_an_earlier_bench_that_is_none(tmp_path: Path) -> None:
    path = recorded([state_of(tmp_path)], tmp_path, kind="run")
    refuse("P523", lambda: compare.read(path, Settings()))
    path = recorded([state_of(tmp_path)], tmp_path)
    refuse("P523", lambda: compare.read(path, Settings(pause=0.2)))
    refuse("P523", lambda: compare.read(path, Settings(flush="none")))
    refuse("P523", lambda: compare.read(tmp_path / "absent.json", Settings()))
    path.write_text("{")
    refuse("P523", lambda: compare.read(path, Settings()))


# ---- the verb


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


EMU = ("--device", "emu")


def test_the_verb_on_the_emulator_counts(kernel: Path) -> None:
    done = here("bench", kernel, *EMU, "-a", "n=100,200", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert codes(done.stdout) == ["P804"]
    assert "does not model time" in done.stdout
    assert "Thread Instructions" in done.stdout
    assert "GPU Time" not in done.stdout
    found = json.loads(here("bench", kernel, *EMU, "-a", "n=100,200", "--json").stdout)
    assert (found["kind"], found["ok"], found["device"]) == ("bench", True, "emu")
    assert [state["sizes"] for state in found["states"]] == [{"n": 100}, {"n": 200}]
    assert [state["timing"] for state in found["states"]] == [None, None]
    assert [state["counters"]["bytes_stored_global"] for state in found["states"]] == [400, 800]
    assert found["files"][0]["file"] == str(kernel)


def test_the_presets_that_are_measured(kernel: Path) -> None:
    def presets(*options: object) -> list:
        done = here("bench", kernel, *EMU, "--json", *options)
        assert done.returncode == 0, done.stdout
        return [(state["preset"], state["sizes"]["n"]) for state in json.loads(done.stdout)["states"]]

    assert presets() == [("smoke", 300)]
    assert presets("--preset", "even") == [("even", 256)]
    assert presets("--preset", "all") == [("smoke", 300), ("even", 256)]
    assert presets("--preset", "even", "--preset", "smoke") == [("even", 256), ("smoke", 300)]
    kernel.write_text(DOUBLE.replace("even =", "bench_even ="))
    assert presets() == [("bench_even", 256)]


def test_csv_and_markdown(kernel: Path) -> None:
    done = here("bench", kernel, kernel, *EMU, "--preset", "all", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["Preset"] for row in rows] == ["smoke", "even"] * 2
    assert {row["Result"] for row in rows} == {"ok"}
    assert all(row["GPU Time (sec)"] == "" for row in rows)
    lines = here("bench", kernel, *EMU, "--markdown").stdout.splitlines()
    assert lines[0].startswith("| Kernel | Preset | Sizes | Result |")
    assert lines[0].count("|") == lines[1].count("|") == lines[2].count("|")


def test_problems_are_spread_over_several_workers(tmp_path: Path) -> None:
    """Kernels of one problem go to the same one; states come back in the order of the plans."""
    plans = [plan_of(tmp_path, sizes={"n": n}) for n in (300, 100, 300, 200, 100)]
    report = report_of(plans[0])
    workers = [Recorder({"double.ptx": report}, seconds) for seconds in (1e-4, 2e-4)]
    states = states_of(plans, Settings(trials=3, roofs=False), workers)
    assert [state.plan.sizes["n"] for state in states] == [300, 100, 300, 200, 100]
    assert states[0].figure.seconds == states[2].figure.seconds
    assert states[1].figure.seconds == states[4].figure.seconds
    assert sum(method == "trial" for worker in workers for method, _ in worker.calls) == 15


def test_a_wrong_kernel_is_not_timed(kernel: Path) -> None:
    kernel.write_text(DOUBLE.replace("add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f1"))
    done = here("bench", kernel, *EMU)
    assert done.returncode == 4
    assert codes(done.stdout) == ["P801", "P804"]


def test_bad_options(kernel: Path, tmp_path: Path) -> None:
    refused(here("bench", kernel, *EMU, "-a", "n=1..4"), 2, "P522")
    refused(here("bench", kernel, *EMU, "-a", "m=1"), 2, "P551")
    refused(here("bench", kernel, *EMU, "--csv", "--markdown"), 2, "P560")
    refused(here("bench", kernel, *EMU, "--trials", "1"), 2, "P560")
    refused(here("bench", kernel, *EMU, "--flush", "clear"), 2, "P560")
    refused(here("bench", kernel, *EMU, "--preset", "huge"), 2, "P544")
    refused(here("bench", kernel, *EMU, "--baseline", tmp_path / "absent.json"), 2, "P523")
    refused(here("bench", tmp_path / "absent.ptx"), 2, "P559")


def test_a_time_limit_goes_to_the_worker(kernel: Path) -> None:
    done = here("bench", kernel, *EMU, "--timeout", "60", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["states"][0]["counters"]["ctas"] == 3


# ---- the picture


def test_a_roofline(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "roofline.svg"
    plot.check(path)
    assert plot.roofline([state_of(tmp_path)], path)
    drawn = path.read_text()
    assert "operations a byte" in drawn
    assert "double.ptx" in drawn
    assert not plot.roofline([state_of(tmp_path, seconds=3e-6)], tmp_path / "none.svg")
    refuse("P524", lambda: plot.check(tmp_path / "roofline.xyz"))
    refuse("P567", lambda: plot.check(tmp_path / "no" / "roofline.png"))
