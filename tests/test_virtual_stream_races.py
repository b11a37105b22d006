"""Work of streams that touches the same bytes: told where nothing orders it, whatever order it happens in."""

from __future__ import annotations

import pytest
from virtual import execute, needs_linux

pytestmark = [needs_linux, pytest.mark.long]

ORDERS = ("lazy", "eager", "random")
ORDERED = (
    "halves", "two_readers", "waited_for", "asked_for", "atomics", "joined_by_a_capture", "many_streams",
)  # fmt: skip
RACES = {
    "overlapping_halves": "4 bytes at ",
    "two_fills": "a fill of",
    "event_before_the_work": "`next`, launch ",
    "other_way_round": "`next`, launch ",
    "default_stream": "is in the legacy default stream",
    "branches_of_a_graph": "is in a graph",
}


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_ordered_or_apart_does_not_race(order: str) -> None:
    done = execute("stream_races.py", *ORDERED, options=("--order", order))
    assert done.returncode == 0, done.stderr
    assert " 0 errors, 0 warnings" in done.stderr


@pytest.mark.parametrize("order", ORDERS)
def test_what_nothing_orders_is_told_in_every_order(order: str) -> None:
    done = execute("stream_races.py", *RACES, options=("--order", order))
    assert done.returncode == 1, done.stderr
    for case, told in RACES.items():
        said = done.stderr.partition(f"{case}:\n")[2]
        for other in RACES:
            said = said.partition(f"{other}:\n")[0]
        assert said.count("error[P") == 1, done.stderr
        assert "error[P6155]: STREAM-RACE: " in said, done.stderr
        assert told in said, done.stderr
        assert "stream_races.py:" in said, done.stderr


def test_without_the_sanitizer_nobody_looks() -> None:
    done = execute("stream_races.py", "two_fills", options=("--no-sanitize",))
    assert done.returncode == 0, done.stderr


def test_a_race_of_streams_weighs_what_is_wanted() -> None:
    done = execute("stream_races.py", "two_fills", options=("--warn", "P6155"))
    assert (done.returncode, "0 errors, 1 warning " in done.stderr) == (0, True), done.stderr
    done = execute("stream_races.py", "two_fills", options=("--allow", "STREAM-RACE"))
    assert (done.returncode, "0 errors, 0 warnings" in done.stderr) == (0, True), done.stderr
