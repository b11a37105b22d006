"""Kernels of tcgen05 on the emulator: every form that the planner makes, moves, copies, allocation."""

from __future__ import annotations

import numpy as np
import pytest
import tensor_memory_kernels as kernels
import tensor_memory_products as products
from test_tcgen05_emit import products as planned

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.layouts import SharedTile
from ptxkit.tcgen05 import Product, TensorTile

ORDERS = ("lazy", "eager", "random")
FORMS = list(planned())


def describe(product: Product) -> str:
    where = "tmem" if isinstance(product.a, TensorTile) else "smem"
    flags = "".join(f".{name}" for name in ("ws", "sparse") if getattr(product, name))
    vector = f"-{product.vector}-{product.scale}" if product.scale else ""
    return f"{product.kind}{flags}-{product.a.dtype}-cta{product.cta_group}-{where}{vector}"


def check(product: Product, order: str, seed: int = 0, copied: bool = False) -> None:
    """The product of small integers is exact, that of anything else within the model's error."""
    exact = product.scale is None
    placed = products.put(product, seed, small=exact)
    factors = (1.0, 1.0) if exact else products.put_scales(product, placed, seed)
    a, b = placed.a * factors[0], placed.b * factors[1]
    expected, size = np.einsum("mk,nk->mn", a, b), np.einsum("mk,nk->mn", abs(a), abs(b))
    if copied:
        kernels.move_to_shared(product, placed)
    text = kernels.product_kernel(product, copied=copied)
    device = Emulator(order=order, seed=seed)
    made = kernels.result(product, placed, kernels.launch(product, placed, text, device))
    unit = 0.0 if exact else 2.0**-18
    assert (abs(made - expected) <= product.k // product.step_k * size * unit).all()


@pytest.mark.parametrize("at", range(0, len(FORMS), 3), ids=[describe(form) for form in FORMS[::3]])
def test_forms_of_a_product(at: int) -> None:
    check(FORMS[at], ORDERS[at // 3 % 3], seed=at)


COPIES = [
    next(form for form in FORMS if (form.scale, form.sparse, form.cta_group) == wanted)
    for wanted in (("ue8m0", False, 1), ("ue4m3", False, 2), (None, True, 2), (None, True, 1))
]


@pytest.mark.parametrize("at", range(len(COPIES)), ids=[describe(form) for form in COPIES])
def test_scales_and_metadata_that_copies_bring(at: int) -> None:
    """Products follow the copies of their thread without a wait."""
    check(COPIES[at], ORDERS[at % 3], copied=True)


K96 = [
    Product(a, SharedTile(32, 768, "e2m1"), "f32", cta, scale=scale, k96=True)
    for a, scale, cta in (
        (SharedTile(128, 768, "e2m1"), "ue8m0", 2),
        (SharedTile(128, 768, "e2m1"), "ue4m3", 2),
        (TensorTile(128, 768, "e2m1"), "ue8m0", 2),
        (SharedTile(128, 768, "e2m1"), "ue4m3", 1),
    )
]


@pytest.mark.parametrize("at", range(len(K96)), ids=[describe(form) for form in K96])
def test_products_with_k_of_96(at: int) -> None:
    """Steps of 48 bytes that go on in the next atom of the buffer, wherever it lies."""
    check(K96[at], ORDERS[at % 3], seed=at)


def test_k_of_96_is_for_sm_103a() -> None:
    placed = products.put(K96[0], 0)
    products.put_scales(K96[0], placed, 0)
    text = kernels.product_kernel(K96[0]).replace(".target sm_103a", ".target sm_100a")
    with pytest.raises(EmulatorFault, match="TCGEN-IDESC") as caught:
        kernels.launch(K96[0], placed, text, Emulator())
    assert "`k` of 96 needs sm_103a or sm_107a, found sm_100" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("product", FORMS, ids=describe)
def test_every_form_in_every_order(product: Product, order: str) -> None:
    check(product, order, seed=5)
