from __future__ import annotations

from turns import in_turn

NAMES = [f"tests/test_{letter}.py::test_{number}" for letter in "abcdefgh" for number in range(8)]
TURNS = [f"{number:07x}" for number in range(40)]


def test_a_turn_is_one_order_of_all() -> None:
    assert sorted(in_turn(NAMES, "0a24b4d")) == sorted(NAMES)
    assert in_turn(NAMES, "0a24b4d") == in_turn(reversed(NAMES), "0a24b4d")


def test_each_test_has_its_turn() -> None:
    first = [set(in_turn(NAMES, turn)[: len(NAMES) // 4]) for turn in TURNS]
    assert set().union(*first) == set(NAMES)


def test_an_order_does_not_hang_on_which_other_tests_there_are() -> None:
    fewer = NAMES[::3]
    assert in_turn(fewer, "0a24b4d") == [name for name in in_turn(NAMES, "0a24b4d") if name in fewer]
