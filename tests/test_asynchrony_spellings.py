"""Kernels of tests/asynchrony as PTX ISA 9.1 to 9.5 can spell them: the results and findings stay."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from asynchronous_kernels import KERNELS, AsyncKernel

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Emulator, EmulatorFault

COPY = re.compile(r"(?<!\.)\bcp\.async\.bulk\.(?=shared|global)(\S*)")
REDUCTION = re.compile(r"\bcp\.reduce\.async\.bulk\.(?=shared|global)")
STORE = re.compile(r"\bcp\.(reduce\.)?async\.bulk\.global")
LOAD = re.compile(r"(\.global\.mbarrier::complete_tx::bytes(?:\.multicast::cluster)?)")
WAIT = re.compile(r"\bmbarrier\.(test|try)_wait(\.parity)?")
MASK = re.compile(r"(cp\.async\.bulk\.\S*multicast::cluster) (.*), (%h\d+);")


def relaxed(text: str) -> str:
    """Copies and reductions with an order and a scope."""

    def order(match: re.Match[str]) -> str:
        scope = "gpu" if "global" in match[1] else "cluster"
        return f"cp.async.bulk.relaxed.{scope}.{match[1]}.b128"

    near = re.sub(r"(cp\.reduce\.async\.bulk\.)(?=shared)", r"\1relaxed.cluster.", COPY.sub(order, text))
    return REDUCTION.sub("cp.reduce.async.bulk.relaxed.sys.", near)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "weak": lambda text: COPY.sub(r"cp.async.bulk.weak.\1", text),
    "relaxed": relaxed,
    "multimem": lambda text: STORE.sub(r"multimem.cp.\1async.bulk.global", text),
    "disabled reports": lambda text: LOAD.sub(r"\1.mbarrier::report::disabled", text),
    "primary phases": lambda text: WAIT.sub(r"mbarrier.\1_wait\2.phase_type::primary", text).replace(
        "mbarrier.init.shared", "mbarrier.init.layout::v1.shared"
    ),
    "conditional phases": lambda text: WAIT.sub(
        lambda match: match[0] + (".phase_type::conditional" if match[2] else ""), text
    ),
    "16-bit masks": lambda text: MASK.sub(r"\1::16b \2, \3;", text),
    "32-bit masks": lambda text: MASK.sub(r"{ .reg .b32 %m; cvt.u32.u16 %m, \3; \1::32b \2, %m; }", text),
    "f32 without flushing": lambda text: text.replace("add.f32", "add.noftz.f32"),
}
NAMES = (
    "bulk_round_trip byte_mask cluster_of_one cluster_ring global_hand_over multicast reduce_global "
    "reduce_types remote_arrivals ring states stores_and_reductions"
).split()
STRONG = {"P651", "P652", "P653", "P654"}
"""What may be found where two copies meet; two relaxed ones may."""


def respelled(text: str, spelling: str) -> str:
    """A kernel's body in another spelling."""
    before, mark, body = text.partition("// ///\n")
    head = re.sub(r"\.version \S+\n\.target \S+", ".version 9.5\n.target sm_107f", before)
    return head + mark + SPELLINGS[spelling](body)


CASES = [
    pytest.param(kernel, spelling, id=f"{kernel.name}-{spelling.replace(' ', '-')}")
    for kernel in KERNELS
    if kernel.name in NAMES
    for spelling in SPELLINGS
    if respelled(kernel.text, spelling).partition("// ///\n")[2] != kernel.text.partition("// ///\n")[2]
]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize(("kernel", "spelling"), CASES)
def test_correct_kernels_stay_correct(kernel: AsyncKernel, spelling: str, order: str) -> None:
    device = Emulator(order, seed=5)
    kernel.run(device, respelled(kernel.text, spelling))
    assert device.findings == []


@pytest.mark.parametrize(("kernel", "spelling"), CASES)
def test_broken_lines_are_found_all_the_same(kernel: AsyncKernel, spelling: str) -> None:
    """In lazy order, but for what only another order or a strict emulator finds."""
    found_at_all = False
    for codes, old, new, *others in kernel.header["faults"]:
        wanted = set(codes.split())
        if others or (spelling == "relaxed" and wanted & STRONG):
            continue
        device = Emulator()
        found: list[Diagnostic] = []
        try:
            kernel.run(device, respelled(kernel.broken(old, new), spelling))
        except EmulatorFault as fault:
            found = fault.diagnostics
        except AssertionError:
            pass
        assert wanted & {each.code for each in (*found, *device.findings)}, (old, new)
        found_at_all = True
    assert found_at_all or not kernel.header["faults"] or spelling == "relaxed"
