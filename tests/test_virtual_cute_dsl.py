"""CuTe DSL on a virtual GPU: the runtime library that its host code calls, and programs of it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from virtual import execute, needs_linux

from ptxkit.virtual.companions import cute_dsl

pytestmark = [needs_linux, pytest.mark.long]
needs_cute_dsl = pytest.mark.skipif(
    find_spec("nvidia_cutlass_dsl") is None, reason="nvidia-cutlass-dsl is not installed"
)


def test_its_functions_are_the_runtimes() -> None:
    done = execute("cute_dsl_runtime.py")
    assert (done.returncode, done.stdout) == (0, "cudaErrorInvalidDevice\n"), done.stderr
    assert "0 errors, 0 warnings in 1 launch" in done.stderr


def test_each_function_is_there_or_told() -> None:
    exported = {symbol.name: symbol for symbol in cute_dsl.symbols()}
    assert set(cute_dsl.load().by_name) <= set(exported)
    declared = {name for name, symbol in exported.items() if symbol.declared}
    assert set(cute_dsl.NOTHING_YET.split()) == set(exported) - declared


@needs_cute_dsl
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_its_kernels_run(arch: str) -> None:
    done = execute("cute_dsl.py", options=("--arch", arch))
    assert done.returncode == 0, done.stderr
    right = ["memory right", "occupancy right", *(["tensors right"] if find_spec("torch") else [])]
    assert done.stdout.splitlines() == right
    assert "0 errors, 0 warnings" in done.stderr


@needs_cute_dsl
def test_a_fault_is_named_with_the_line_of_its_source() -> None:
    done = execute("cute_dsl.py", "8")
    assert done.returncode != 0
    assert "error[P602]" in done.stderr
    assert "elements[at] = elements[at] + cutlass.Float32(1)" in done.stderr
