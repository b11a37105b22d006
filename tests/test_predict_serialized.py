"""What `predict` makes of products that ptxas has a warp wait for one by one."""

from __future__ import annotations

import pytest
from test_predict import HEAD, code_of_lines, recorded

from ptxkit.asm import parse
from ptxkit.emulator.timing.assembled import AssembledModule, MachineFunction
from ptxkit.emulator.timing.assembling import assembled
from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.requests import Resources
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import Simulation

SUMS = "{%d0, %d1, %d2, %d3}"
PRODUCT = f"  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {SUMS}, %a, %a, 1, 1, 1, 0, 0;"
WAIT = "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;"


def text(*between: str) -> str:
    """Eight products of a warpgroup, and what stands between them."""
    products = "\n".join([line for _ in range(8) for line in (PRODUCT, *between)])
    return f"""\
.visible .entry k(.param .u64 x)
{{
  .reg .b64 %x, %a; .reg .f32 %d<4>;
  .shared .align 1024 .b8 operands[4096];
  ld.param.u64 %x, [x];
  mov.u64 %a, operands;
  shr.u64 %a, %a, 4;
  mov.f32 %d0, 0f00000000;
  mov.f32 %d1, 0f00000000;
  mov.f32 %d2, 0f00000000;
  mov.f32 %d3, 0f00000000;
  wgmma.fence.sync.aligned;
{products}
{WAIT}
  st.global.f32 [%x], %d0;
  ret;
}}
"""


TOGETHER = text()
PRODUCTS = [n for n, line in enumerate((HEAD + TOGETHER).split("\n"), 1) if "mma_async" in line]
(WAITED,) = (n for n, line in enumerate((HEAD + TOGETHER).split("\n"), 1) if "wait_group" in line)
AWAITED = "WARPGROUP.DEPBAR.LE gsb0, 0x0"


def code(serialized: bool) -> MachineFunction:
    lines = []
    for line in PRODUCTS:
        last = serialized or line == PRODUCTS[-1]
        lines.append((f"HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24{', gsb0' if last else ''}", line, None))
        if last:
            lines.append((AWAITED, line if line != PRODUCTS[-1] else WAITED, None))
    return code_of_lines(*lines)


def test_products_that_are_waited_for_one_by_one_do_not_overlap() -> None:
    streams, where = recorded(TOGETHER, block=128), gpu("h200")

    def run(made: MachineFunction) -> tuple[float, set[int]]:
        """The cycles, and the lines at which warps wait for products."""
        ask = Resources(where, Scaled(0.0, {}, {}, 0.0, 0.0, 132, 0.0), where["clock"], None)
        simulation = Simulation(streams, 1, ask, Plans(where, {"k": made}))
        cycles = simulation.run(1).cycles
        waits = {site for what, site in simulation.waits if what == "wgmma group"}
        return cycles, {site.span.line for site in waits if site is not None and site.span is not None}

    one_by_one, together = run(code(serialized=True)), run(code(serialized=False))
    assert one_by_one[0] - together[0] == pytest.approx(7 * where["product_tail"], rel=0.1)
    assert one_by_one[1] == set(PRODUCTS)
    assert together[1] == {WAITED}


def test_machine_code_tells_which_products_are_waited_for_one_by_one() -> None:
    """A text whose accumulators are changed while products are under way."""
    functions = {
        change: assembled(parse(HEAD + text(*lines)), "sm_90a").functions
        for change, lines in (("none", ()), ("sums", ("  add.f32 %d0, %d0, %d1;",)))
    }
    if not functions["none"]:
        pytest.skip("there is no ptxas, or no nvdisasm")
    assert not functions["none"]["k"].serialized
    assert functions["sums"]["k"].serialized


@pytest.mark.parametrize(
    ("serialized", "more"), [(True, ", which has warps wait for each wgmma before the next"), (False, "")]
)
def test_who_asks_is_told_of_products_that_do_not_overlap(serialized: bool, more: str) -> None:
    assert AssembledModule("by ptxas 13.0", {"k": code(serialized)}).described("k") == f"by ptxas 13.0{more}"
