"""Several virtual GPUs: kernels that need one another, peer access, mappings, multicast objects.

What calls return is the driver API's manual, under each function's "Returns".
"""

from __future__ import annotations

import pytest
from virtual import execute, needs_linux

pytestmark = [needs_linux, pytest.mark.long]

QUICK = [("lazy", 0), ("random", 0)]
SLOW = [("eager", 0), ("random", 1), ("random", 2)]
orders = pytest.mark.parametrize(
    ("order", "seed"),
    [*QUICK, *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW)],
    ids=[f"{order}-{seed}" for order, seed in [*QUICK, *SLOW]],
)


def two(order: str, seed: int, *command: str) -> tuple[int, str, str]:
    """The exit code and the output of a client on two devices."""
    done = execute(*command, options=("--devices", "2", "--order", order, "--seed", str(seed)))
    return done.returncode, done.stdout, done.stderr


@orders
@pytest.mark.parametrize("how", ["flags", "late"])
def test_kernels_of_two_devices_wait_for_each_other(how: str, order: str, seed: int) -> None:
    code, out, errors = two(order, seed, "peers.py", how)
    assert (code, out) == (0, "6\n"), errors


@orders
@pytest.mark.parametrize(
    ("how", "scope", "found", "error"),
    [
        ("flags", "gpu", "P6150", "CUDA_ERROR_LAUNCH_FAILED"),
        ("vain", "sys", "P608", "CUDA_ERROR_LAUNCH_FAILED"),
        ("barred", "sys", "P6152", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ],
)
def test_what_is_wrong_between_two_devices(
    how: str, scope: str, found: str, error: str, order: str, seed: int
) -> None:
    code, out, errors = two(order, seed, "peers.py", how, scope)
    assert (code, out) == (1, f"{error}\n"), errors
    codes = {line[6:].partition("]")[0] for line in errors.splitlines() if line.startswith("error[")}
    assert codes == {found}


@orders
@pytest.mark.parametrize("how", ["memory", "address", "late"])
def test_multicast_objects(how: str, order: str, seed: int) -> None:
    code, out, errors = two(order, seed, "multicast.py", how)
    assert (code, out) == (0, 4 * f"{32 + 64}\n"), errors


@orders
def test_a_mapping_gives_access_to_its_devices_alone(order: str, seed: int) -> None:
    code, out, errors = two(order, seed, "multicast.py", "barred")
    assert (code, out) == (1, "CUDA_ERROR_ILLEGAL_ADDRESS\n"), errors
    assert "error[P6152]" in errors


@orders
def test_logical_endpoints(order: str, seed: int) -> None:
    options = ("--devices", "2", "--arch", "sm_100a", "--order", order, "--seed", str(seed))
    done = execute("endpoints.py", options=options)
    lines = ["0 0 7", "7 0 7", "CUDA_ERROR_ILLEGAL_ADDRESS"]
    assert (done.returncode, done.stdout.splitlines()) == (1, lines), done.stderr
    assert "error[P6153]" in done.stderr
