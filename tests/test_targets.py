"""Targets, versions and limits: PTX ISA 11.1.2 and chapter 13."""

import pytest

from ptxkit import targets
from ptxkit.targets import LIMITS, RELEASES, SUPPORTED, TARGETS, limits, nearest, parse


@pytest.mark.parametrize(
    ("name", "need", "met"),
    [
        ("sm_90", "sm_80", True),
        ("sm_90a", "sm_90", True),
        ("sm_80", "sm_90", False),
        ("sm_90", "sm_90a", False),
        ("sm_90a", "sm_90a", True),
        ("sm_100a", "sm_90a", False),
        ("sm_100a", "sm_90", True),
        ("sm_100", "sm_100f", False),
        ("sm_100f", "sm_100f", True),
        ("sm_100a", "sm_100f", True),
        ("sm_103f", "sm_100f", True),
        ("sm_103a", "sm_100f", True),
        ("sm_103a", "sm_100a", False),
        ("sm_100a", "sm_103f", False),
        ("sm_110a", "sm_100f", False),
        ("sm_101a", "sm_110a", True),
        ("sm_101a", "sm_110f", True),
        ("sm_110a", "sm_101a", True),
        ("sm_120a", "sm_90a sm_100f sm_120f", True),
        ("sm_120", "sm_90a sm_100f sm_120f", False),
        ("sm_107f", "sm_100f", True),
        ("sm_107a", "sm_103f", True),
        ("sm_107a", "sm_100a sm_103a", False),
        ("sm_107", "sm_100f", False),
        ("sm_110f", "sm_107f", False),
        ("sm_110", "sm_107", True),
    ],
)
def test_a_target_meets_a_need_as_the_manual_says(name, need, met):
    assert parse(name).satisfies(need) is met


def test_compute_is_a_synonym():
    assert parse("compute_90a") is parse("sm_90a")
    assert parse("sm_91") is None
    assert parse("90a") is None


def test_a_plain_target_meets_no_suffixed_need_and_every_older_plain_one():
    for name in SUPPORTED:
        target = parse(name)
        for other in SUPPORTED:
            need = parse(other)
            if need.suffix and not target.suffix:
                assert not target.satisfies(other)
            if not need.suffix:
                assert target.satisfies(other) is (target.number >= need.number)
        assert target.satisfies(name)


@pytest.mark.parametrize(
    ("name", "device", "runs"),
    [
        ("sm_80", (9, 0), True),
        ("sm_90", (8, 9), False),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_103f", (10, 0), False),
        ("sm_100f", (11, 0), False),
        ("sm_101", (11, 0), True),
        ("sm_103f", (10, 7), True),
        ("sm_107f", (10, 3), False),
    ],
)
def test_where_ptx_for_a_target_can_be_loaded(name, device, runs):
    assert parse(name).runs_on(device) is runs


def test_a_target_that_meets_its_need_runs_where_the_need_runs():
    """What may use a feature can't be loaded on a part without it."""
    for name in SUPPORTED:
        for need in SUPPORTED:
            if parse(name).satisfies(need):
                assert all(parse(need).runs_on(c) for c in LIMITS if parse(name).runs_on(c))


def test_the_nearest_target_that_helps():
    assert nearest("sm_90", "sm_90a") == "sm_90a"
    assert nearest("sm_100", "sm_100f sm_120f") == "sm_100f"
    assert nearest("sm_80", "sm_90") == "sm_90"
    assert nearest("sm_120a", "sm_100f sm_110f") == "sm_110f"
    assert nearest("sm_103a", "sm_100a") == "sm_100a"


def test_a_need_in_words():
    assert targets.describe("sm_90") == "`sm_90` or higher"
    assert targets.describe("sm_90a sm_100f") == "`sm_90a`, or `sm_100f` or newer of its family"
    families = "`sm_90a`, or `sm_100f`, `sm_120f` or newer of their families"
    assert targets.describe("sm_90a sm_100f sm_120f") == families
    assert targets.describe("sm_89 sm_90") == "`sm_89` or higher"


def test_the_release_table_only_rises():
    rows = list(RELEASES.values())
    assert [r.version for r in rows] == sorted(r.version for r in rows)
    assert [r.cuda for r in rows] == sorted(r.cuda for r in rows)
    drivers = [r.driver for r in rows if (6, 0) <= r.version < (9, 5)]
    assert drivers == sorted(drivers)
    assert all(target.since in RELEASES for target in TARGETS.values())


def test_the_newest_ptx_that_a_driver_takes():
    assert targets.newest_version_for_cuda((12, 6)) == (8, 5)
    assert targets.newest_version_for_cuda((13, 0)) == (9, 0)
    assert targets.newest_version_for_cuda((12, 8)) == (8, 7)
    assert targets.newest_version_for_cuda((13, 4)) == (9, 4)


def test_every_supported_target_has_its_own_limits():
    for name in SUPPORTED:
        target = parse(name)
        found = limits(name)
        assert found.capability == target.capability
        assert found.shared_per_cta <= found.shared_per_sm
        assert found.threads_per_cta <= found.threads_per_sm
    assert limits("sm_90a").threads_per_sm == 2048
    assert limits("sm_72").capability == (7, 5)
    with pytest.raises(KeyError, match="sm_91"):
        limits("sm_91")
