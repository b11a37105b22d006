"""The driver API of a virtual GPU: right calls work in every order."""

from __future__ import annotations

import ctypes
import mmap
import platform

import pytest
from virtual import execute, needs_linux

from ptxkit.emulator.addresses import WINDOW, WINDOWS

pytestmark = [needs_linux, pytest.mark.long]

FIXED = 0x100000
"""MAP_FIXED_NOREPLACE: there, or not at all."""
ORDERS = ("eager", "lazy", "random")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", ["event", "default"])
def test_streams_wait_for_what_they_are_told_to(how: str, order: str) -> None:
    done = execute("streams.py", how, options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


@pytest.mark.parametrize(("order", "result"), [("eager", 2), ("lazy", 1)])
def test_a_missing_event_changes_the_result(order: str, result: int) -> None:
    """In lazy order the second stream runs ahead of the first, which nobody waited for."""
    done = execute("streams.py", "nothing", options=("--order", order))
    assert (done.returncode, done.stdout) == (1, f"{result}\n"), done.stderr
    assert done.stderr.count("error[P6155]: STREAM-RACE: `next`, launch 2 ") == 1, done.stderr


def test_a_missing_event_changes_the_result_of_some_seed() -> None:
    results = {
        execute("streams.py", "nothing", options=("--order", "random", "--seed", str(seed))).stdout
        for seed in range(4)
    }
    assert results == {"1\n", "2\n"}


def test_events_tell_no_less_time_than_a_kernel_saw_pass() -> None:
    done = execute("clocks.py")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 20


@pytest.mark.parametrize("order", ORDERS)
def test_textures(order: str) -> None:
    """Objects, views, references by name, and what the driver refuses."""
    done = execute("textures.py", options=("--order", order))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "object True",
        "described 1 8",
        "view True",
        "references True True",
        "a surface of an array not made for it: 1",
        "a copy beyond an array: 1",
        "a texture that is destroyed: 0",
        "a second time: 0",
        "a linear filter of integers: 1",
        "an array a second time: 709",
        "three channels: 1",
    ]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_graphs_with_memory_and_conditions(order: str) -> None:
    done = execute("graph_memory.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("order", ORDERS)
def test_graphs(order: str) -> None:
    done = execute("graphs.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr


@pytest.mark.parametrize("order", ORDERS)
def test_pools_of_every_place_and_what_was_said_of_managed_memory(order: str) -> None:
    done = execute("places.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("space", WINDOWS)
@pytest.mark.parametrize("offset", [0, WINDOW - mmap.PAGESIZE])
def test_no_memory_of_a_process_can_lie_in_a_window(space: str, offset: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.argtypes = [*[ctypes.c_void_p, ctypes.c_size_t], *[ctypes.c_int] * 3, ctypes.c_long]
    library.mmap.restype = ctypes.c_void_p
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED
    place = library.mmap(WINDOWS[space] + offset, mmap.PAGESIZE, mmap.PROT_READ, flags, -1, 0)
    assert ctypes.c_long(place).value == -1, hex(place)


def test_host_memory_wherever_the_system_puts_it() -> None:
    done = execute("low_mappings.py")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_memory_that_the_host_sees_has_one_address() -> None:
    done = execute("host_memory.py", "shared")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr


def test_plain_memory_of_the_host_is_a_devices_only_where_it_was_asked_for() -> None:
    done = execute("host_memory.py", "plain", options=("--host-memory",))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr
    done = execute("host_memory.py", "plain")
    assert done.returncode == 1
    assert "error[P602]: out of bounds" in done.stderr


def test_what_is_mapped_twice_is_one_memory() -> None:
    done = execute("mappings.py")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr


def test_an_undefined_result_is_found_where_the_host_reads_it() -> None:
    done = execute("undefined.py")
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "warning[P606]: undefined result: byte 2048 of memory (allocation 2)" in done.stderr
    assert done.stderr.count("P606") == 1


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the client has machine code of x86-64")
def test_an_exception_on_its_way_goes_on() -> None:
    done = execute("exception.py")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("order", ["lazy", "random"])
def test_threads_and_processes(order: str) -> None:
    done = execute("threads.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr
    assert "in 33 launches" in done.stderr, "those of the spawned process are counted, too"


@pytest.mark.parametrize("order", ORDERS)
def test_a_grid_synchronises_by_the_device_runtime(order: str) -> None:
    done = execute("grid_sync.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "2 3 4 5 6 1\n"), done.stdout + done.stderr
