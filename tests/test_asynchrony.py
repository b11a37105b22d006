"""The asynchronous machine: kernels of tests/asynchrony in every order and on a GPU, and what breaks them."""

from __future__ import annotations

import pytest
from asynchronous_kernels import KERNELS, AsyncKernel, codes_found, device_for, findings

from ptxkit.asm import parse
from ptxkit.driver import driver_version
from ptxkit.driver.load import version_findings
from ptxkit.emulator import Emulator
from ptxkit.running.devices import open_device
from ptxkit.targets import parse as parse_target

ORDERS = [("lazy", 0), ("eager", 0), *(("random", seed) for seed in range(4))]
FAULTS = [
    pytest.param(kernel, fault, id=f"{kernel.name}-{number}-{fault[0].replace(' ', '-')}")
    for kernel in KERNELS
    for number, fault in enumerate(kernel.header["faults"])
]


def named(kernel: AsyncKernel) -> str:
    return kernel.name


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
@pytest.mark.parametrize(("order", "seed"), ORDERS, ids=[f"{order}-{seed}" for order, seed in ORDERS])
def test_correct_kernels_are_clean_in_every_order(kernel: AsyncKernel, order: str, seed: int) -> None:
    device = Emulator(order=order, seed=seed)
    kernel.run(device)
    assert device.findings == []


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_correct_kernels_are_clean_in_a_hundred_random_orders(kernel: AsyncKernel) -> None:
    for seed in range(100):
        device = Emulator(order="random", seed=seed)
        kernel.run(device)
        assert device.findings == []


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_the_same_on_a_gpu(kernel: AsyncKernel) -> None:
    with open_device("cuda") as device:
        module = parse(kernel.text)
        target = parse_target(module.target or "")
        if target is None or not target.runs_on(device.capability):
            pytest.skip(f"{target} does not run on {device.name}")
        if version_findings(module, driver_version()):
            pytest.skip(f"the driver does not know `.version` of {kernel.name}")
        kernel.run(device)


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("bulk_round_trip", "make the size a multiple of 16"),
        ("copy_groups", "let src-size be at most cp-size"),
    ],
)
def test_the_help_about_a_size_is_of_the_instruction(name: str, help: str) -> None:
    (kernel,) = (kernel for kernel in KERNELS if kernel.name == name)
    ((_, old, new),) = (fault for fault in kernel.header["faults"] if fault[0] == "P662")
    assert [found.help for found in findings(kernel, old, new, Emulator())] == [help]


@pytest.mark.parametrize(("kernel", "fault"), FAULTS)
def test_a_broken_line_is_found_by_name(kernel: AsyncKernel, fault: list[str]) -> None:
    codes, old, new, *order = fault
    found = codes_found(kernel, old, new, device_for(order))
    assert set(codes.split()) & set(found), f"found {found}"


@pytest.mark.parametrize("order", ["eager", "random"])
@pytest.mark.parametrize(("kernel", "fault"), [p for p in FAULTS if p.values[1][0] == "P694"])
def test_what_may_reach_a_cta_that_is_gone_is_found_in_every_order(
    kernel: AsyncKernel, fault: list[str], order: str
) -> None:
    codes, old, new = fault
    assert codes_found(kernel, old, new, Emulator(order)) == [codes]
