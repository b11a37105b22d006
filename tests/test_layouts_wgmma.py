"""Layouts, descriptors and fragments by wgmma: on an H200 every combination must multiply correctly."""

import numpy as np
import pytest
import wgmma_kernels
from assembler import log_of

import ptxkit

CASES = list(wgmma_kernels.cases())


def test_there_are_enough_combinations():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 100


@pytest.mark.parametrize("case", CASES[:: len(CASES) // 12], ids=lambda case: case.name)
def test_ptxas_takes_the_kernels(case):
    errors, _ = log_of(wgmma_kernels.source(case), arch="sm_90a")
    assert errors == "", errors


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_gpu_multiplies_correctly(case):
    made, expected = wgmma_kernels.run(ptxkit.open_device("cuda"), case)
    assert np.array_equal(made, expected)
