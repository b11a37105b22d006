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
    "event_before_the_work": "`next`, launch 2",
    "other_way_round": "`next`, launch 2",
    "default_stream": "is in the legacy default stream",
    "branches_of_a_graph": "is in a graph",
}


@pytest.mark.parametrize("case", ORDERED)
def test_what_is_ordered_or_apart_does_not_race(case: str) -> None:
    for order in ORDERS:
        done = execute("stream_races.py", case, options=("--order", order))
        assert done.returncode == 0, done.stderr
        assert " 0 errors, 0 warnings" in done.stderr


@pytest.mark.parametrize("case", RACES)
def test_what_nothing_orders_is_told_in_every_order(case: str) -> None:
    for order in ORDERS:
        done = execute("stream_races.py", case, options=("--order", order))
        assert done.returncode == 1, done.stderr
        assert done.stderr.count("error[P") == 1, done.stderr
        assert "error[P6155]: STREAM-RACE: " in done.stderr
        assert RACES[case] in done.stderr
        assert "stream_races.py:" in done.stderr


def test_without_the_sanitizer_nobody_looks() -> None:
    done = execute("stream_races.py", "two_fills", options=("--no-sanitize",))
    assert done.returncode == 0, done.stderr
