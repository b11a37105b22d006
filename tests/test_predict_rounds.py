"""Loops whose rounds are alike: what `predict` leaves out of them, and what it must not."""

from __future__ import annotations

import pytest

from ptxkit.asm import parse
from ptxkit.emulator import Emulator
from ptxkit.emulator.timing import rounds
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.loops import HOLDS, LoopEnd, OuterLoops
from ptxkit.emulator.timing.predict import Prediction, Predictor

KERNEL = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 tiles)
{{
  .reg .b64 %x, %a; .reg .b32 %tile, %tiles, %n, %k, %v, %s, %q; .reg .pred %p;
  ld.param.u64 %x, [x];
  ld.param.u32 %tiles, [tiles];
  mov.u32 %tile, %ctaid.x;
  mov.u32 %n, %nctaid.x;
  mov.u32 %s, 0;
TILE:
  {head}
  mul.wide.u32 %a, %tile, 128;
  add.u64 %a, %x, %a;
  mov.u32 %k, 0;
STEP:
  ld.global.u32 %v, [%a];
  add.u32 %s, %s, %v;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p, %k, {steps};
  @%p bra STEP;
  {inside}
  add.u32 %tile, %tile, %n;
  {tail}
LEAVE:
  {behind}
  ret;
}}
"""
AT_HEAD = {"head": "setp.ge.u32 %p, %tile, %tiles;\n  @%p bra LEAVE;", "tail": "bra TILE;"}
AT_TAIL = {"head": "", "tail": "setp.lt.u32 %p, %tile, %tiles;\n  @%p bra TILE;"}
SLOWLY = "  shr.u32 %q, %tile, 1;\n  add.u32 %q, %q, 40;"
STORE = "st.global.u32 [%a], %s;"


def kernel(**parts: str) -> str:
    return KERNEL.format(**{"steps": "16", "inside": STORE, "behind": "", **parts})


def predicted(text: str, tiles: int, grid: int = 2) -> Prediction:
    where = gpu("h200")
    device, predictor = Predictor.emulator(where), Predictor(where, by_rule=True)
    entry = device.load(parse(text)).kernel("k")
    device.prepare = predictor.begin
    entry.launch(grid=grid, block=32, args=[device.zeros((1 << 16,), "uint32"), tiles])
    (found,) = predictor.predictions()
    device.close()
    return found


@pytest.mark.parametrize("where", [AT_HEAD, AT_TAIL], ids=["head", "tail"])
def test_what_is_left_out_takes_as_long_as_what_was_seen(
    where: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "LEAST", 50)
    some = predicted(kernel(**where), 400)
    monkeypatch.setattr(rounds, "LEAST", 1 << 40)
    whole = predicted(kernel(**where), 400)
    some_waits, all_waits = (
        sorted(what for (what, _), cycles in one.simulated.waits.items() if cycles > 1e-6)
        for one in (some, whole)
    )
    assert some_waits == all_waits
    assert some.simulated.lived < whole.simulated.lived / 10
    assert some.cycles == pytest.approx(whole.cycles, rel=0.02)
    assert some.memory == pytest.approx(whole.memory, rel=0.3)
    for name, share in whole.busy.items():
        assert some.busy[name] == pytest.approx(share, rel=0.1, abs=0.005)


@pytest.mark.parametrize(
    "changed",
    [
        {"inside": "", "behind": STORE},  # a product's sums are stored behind its loop
        {"steps": "%tile"},  # rounds grow
        {"head": AT_HEAD["head"] + SLOWLY, "steps": "%q"},  # by a fortieth each
        {"tail": "ld.global.u32 %v, [%x];\n  setp.ne.u32 %p, %v, 0;\n  @%p bra LEAVE;\n  bra TILE;"},
    ],
    ids=["stores behind", "rounds that differ", "rounds that slowly grow", "an end that memory decides"],
)
def test_everything_runs_where_the_rest_is_not_known(
    changed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "LEAST", 50)
    some = predicted(kernel(**{**AT_HEAD, **changed}), 60)
    monkeypatch.setattr(rounds, "LEAST", 1 << 40)
    assert some.simulated.lived == predicted(kernel(**{**AT_HEAD, **changed}), 60).simulated.lived


@pytest.mark.parametrize("comparison", sorted(HOLDS))
@pytest.mark.parametrize("step", [-7, -1, 1, 3])
def test_how_many_comparisons_are_left(comparison: str, step: int) -> None:
    end = LoopEnd(0, comparison)
    for apart in range(-22, 23):
        holds = HOLDS[comparison]
        real = next((n for n in range(1, 100) if holds(apart + n * step) != holds(apart)), None)
        assert end.left(apart, step) == real, apart


def test_which_loops_lie_in_no_other() -> None:
    device = Emulator()
    program = device.load(parse(kernel(**AT_HEAD)))
    flow = program.image.flow(program.image.functions["k"])
    loops = OuterLoops(flow)
    numbers = {str(one.match.form.name): loops.loop_of(one) for one in flow.instructions if one.match}
    assert numbers["ld"] == numbers["st"] >= 0
    assert numbers["ret"] == -1
    assert loops.known == {numbers["st"]}
    device.close()
