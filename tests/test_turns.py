from __future__ import annotations

from turns import in_turn, one_each

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


def test_one_case_of_each() -> None:
    cases = [f"{name}[{case}]" for name in NAMES for case in "xyz"] + ["tests/test_i.py::test_alone"]
    chosen = one_each(cases, "0a24b4d")
    assert sorted(name.partition("[")[0] for name in chosen) == [*NAMES, "tests/test_i.py::test_alone"]
    assert chosen == one_each(reversed(cases), "0a24b4d")
    assert set().union(*(one_each(cases, turn) for turn in TURNS)) == set(cases)
