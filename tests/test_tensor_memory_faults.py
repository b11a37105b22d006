"""What is found where a line of the correct kernels of tensor memory is changed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from tensor_memory_faults import (
    AFTER,
    ALLOC,
    ARRIVE,
    BARE,
    BEFORE,
    FAULTS,
    HAND,
    MEET,
    ORDERS,
    PAIR,
    READ,
    RELAXED,
    SINGLE,
    SMALL,
    SMS,
    TOGETHER,
    WAIT,
    findings,
)

import ptxkit
from ptxkit.diagnostics import code_table
from ptxkit.emulator import Emulator


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_name(name: str) -> None:
    fault = FAULTS[name]
    for order in fault.orders:
        found = findings(fault.text, fault.grid, order)
        assert found, order
        first = found[0]
        assert first.code == fault.code, f"{order}: {first}"
        assert first.message.startswith(f"{code_table()[fault.code].name}: ") or fault.code == "P602"
        assert fault.says in str(first), str(first)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "grid"), [(SINGLE, 1), (PAIR, 2)], ids=["single", "pair"])
def test_a_hundred_seeds_find_nothing(text: str, grid: int) -> None:
    for seed in range(100):
        assert findings(text, grid, "random", seed) == []


@pytest.mark.parametrize("order", [*ORDERS, "random"])
@pytest.mark.parametrize(("text", "grid"), [(SINGLE, 3), (PAIR, 4)], ids=["single", "pair"])
def test_the_correct_kernels_are_clean(text: str, grid: int, order: str) -> None:
    for seed in range(8 if order == "random" else 1):
        assert findings(text, grid, order, seed) == []


@pytest.mark.parametrize("order", [*ORDERS, "random"])
def test_without_the_sanitizer_the_results_are_the_same(order: str) -> None:
    for text, result in ((SINGLE, 48), (PAIR, 16)):
        device = Emulator(order=order, sanitize=False)
        out = device.empty(256, np.float32)
        device.load(text).kernel().launch((2,), (128,), [out])
        assert (out.numpy() == result).all()


def test_relaxed_operations_with_their_fences_are_clean() -> None:
    text = SINGLE.replace(WAIT, RELAXED).replace(ARRIVE, BARE)
    text = text.replace(HAND, HAND.replace(".parity.", ".parity.relaxed.cluster."))
    assert text.count("relaxed") == 3
    for order in (*ORDERS, "random"):
        assert findings(text, 1, order) == []


@pytest.mark.parametrize("order", [*ORDERS, "random"])
@pytest.mark.parametrize("meet", [MEET, MEET.replace("arrive", "arrive.relaxed")], ids=["release", "relaxed"])
def test_a_pair_that_meets_between_allocation_and_free_is_clean(meet: str, order: str) -> None:
    """Before the permit is relinquished, too, and after the columns are freed."""
    for text in (
        TOGETHER.replace(ALLOC.replace("::1", "::2"), ALLOC.replace("::1", "::2") + meet),
        TOGETHER.replace(READ, meet + READ).replace("    ret;", meet + "    ret;"),
    ):
        assert text.count(meet) > 0
        for seed in range(8 if order == "random" else 1):
            assert findings(text, 4, order, seed) == []


@pytest.mark.parametrize("order", [*ORDERS, "random"])
def test_a_pair_that_meets_by_its_mbarriers_is_clean(order: str) -> None:
    """Each warp arrives at the other CTA's mbarrier after its allocation, and waits for its own."""
    begin = "    mov.b32 %r16, 128;\n"
    init = (
        "    mov.u32 %r1, %laneid;\n    setp.eq.u32 %p0, %r1, 0;\n    mov.u32 %r2, barrier;\n"
        "    mov.u32 %r3, %cluster_ctarank;\n    xor.b32 %r3, %r3, 1;\n"
        "    mapa.shared::cluster.u32 %r4, %r2, %r3;\n"
        "    @%p0 mbarrier.init.shared.b64 [%r2], 1;\n    fence.mbarrier_init.release.cluster;\n"
    )
    tell = "    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n"
    wait = (
        "told:\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0;\n"
        "    @!%p1 bra told;\n"
    )
    text = TOGETHER.replace(".shared .align 4", ".shared .align 8 .b64 barrier;\n.shared .align 4")
    text = (
        text.replace("%p1 tcgen05", "%p2 tcgen05")
        .replace("%p<2>", "%p<3>")
        .replace("setp.eq.b32 %p1", "setp.eq.b32 %p2")
    )
    text = text.replace(begin, init + MEET + begin)
    assert findings(text.replace(READ, tell + wait + READ), 2, order) == []
    early = text.replace(begin, tell + begin).replace(READ, wait + READ)
    assert [found.code for found in findings(early, 2, order)] == ["P6132"]


@pytest.mark.parametrize("order", [*ORDERS, "random"])
def test_a_kernel_without_fences_is_held_to_none(order: str) -> None:
    """As CUTLASS and Triton write them; a strict emulator asks for the fences all the same."""
    text = SINGLE.replace(AFTER, "").replace(BEFORE, "")
    assert findings(text, 2, order) == []
    strict = Emulator(order, strict=True)
    strict.load(text).kernel().launch((1,), (128,), [strict.empty(128, np.float32)])
    assert {finding.code for finding in strict.findings} == {"P6103"}


def test_ctas_of_an_sm_share_its_columns() -> None:
    """Each takes all 512: the second waits until the first has freed them."""
    text = SMALL.replace("mov.b32 %r16, 128;", "mov.b32 %r16, 512;")
    assert findings(text, 2 * SMS + 2, "lazy") == []


def test_every_rule_has_a_fault() -> None:
    """Every code of codes/P6-tensor-memory.toml has a kernel here that breaks it, but for a strict one."""
    text = (Path(ptxkit.__file__).parent / "codes" / "P6-tensor-memory.toml").read_text("utf-8")
    known = set(tomllib.loads(text)) - {"P6131"}
    assert known == {fault.code for fault in FAULTS.values() if len(fault.code) == 5}
