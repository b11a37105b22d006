"""The limits of a launch that both devices share."""

from __future__ import annotations

import pytest

from ptxkit.asm.launch import CheckedLaunch, Requirements, check_launch, check_resident
from ptxkit.asm.tree import Directive, Function, Integer
from ptxkit.diagnostics import PtxkitError, Source, Span, code_info
from ptxkit.targets import limits

SM90, SM80, SM120 = limits("sm_90"), limits("sm_80"), limits("sm_120")
PLAIN = Requirements("k")


def entry(*directives: tuple[str, *tuple[int, ...]], **rest) -> Requirements:
    nodes = tuple(
        Directive(name, tuple(Integer(value) for value in values), span=Span(i + 2, 1, i + 2, 9))
        for i, (name, *values) in enumerate(directives)
    )
    return Requirements.of(Function("entry", "k", directives=nodes), **rest)


def refuse(code: str, kernel: Requirements = PLAIN, limits=SM90, **launch) -> str:
    with pytest.raises(PtxkitError) as caught:
        check_launch(kernel, limits, **{"grid": 1, "block": 32, **launch})
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert code_info(code) is not None
    return str(caught.value)


def test_dimensions_are_filled_up() -> None:
    launch = check_launch(PLAIN, SM90, grid=7, block=(16, 8), shared=5)
    assert launch == CheckedLaunch((7, 1, 1), (16, 8, 1), (1, 1, 1), False, 5, False)
    assert (launch.ctas, launch.threads) == (7, 128)


@pytest.mark.parametrize("bad", [0, -1, (), (1, 2, 3, 4), (1, 0), 1.5, "1", None, (1, 2.0), [None]])
@pytest.mark.parametrize("which", ["grid", "block", "cluster"])
def test_what_is_no_dimension(which: str, bad: object) -> None:
    if not (which == "cluster" and bad is None):
        assert f"`{which}`" in refuse("P510", **{which: bad})


@pytest.mark.parametrize("bad", [-1, 1.5, None, "48k"])
def test_what_is_no_size(bad: object) -> None:
    assert "`shared`" in refuse("P510", shared=bad)


def test_every_bad_dimension_at_once() -> None:
    with pytest.raises(PtxkitError) as caught:
        check_launch(PLAIN, SM90, grid=0, block=0, shared=-1)
    assert [d.code for d in caught.value.diagnostics] == ["P510"] * 3
    with pytest.raises(PtxkitError) as caught:
        check_launch(PLAIN, SM90, grid=(1, 65536), block=2048, cluster=32, shared=1 << 20)
    assert [d.code for d in caught.value.diagnostics] == ["P511", "P512", "P513", "P514"]


def test_blocks() -> None:
    for good in (1024, (1, 1024), (16, 1, 64), (32, 32)):
        check_launch(PLAIN, SM90, grid=1, block=good)
    for bad in (1025, (1, 1025), (1, 1, 65), (32, 33), (1024, 1024, 64)):
        refuse("P511", block=bad)


def test_directives_about_blocks() -> None:
    required = entry(("reqntid", 128))
    check_launch(required, SM90, grid=1, block=128)
    assert "needs blocks of 128, found 64" in refuse("P515", required, block=64)
    refuse("P515", required, block=(64, 2))
    at_most = entry(("maxntid", 16, 8))
    check_launch(at_most, SM90, grid=1, block=(128, 1))
    check_launch(at_most, SM90, grid=1, block=1)
    refuse("P511", at_most, block=129)
    refuse("P511", Requirements("k", resource_threads=256), block=512)


def test_grids() -> None:
    check_launch(PLAIN, SM90, grid=(2**31 - 1, 65535, 65535), block=1)
    for bad in (2**31, (1, 65536), (1, 1, 65536)):
        refuse("P512", grid=bad)


def test_clusters() -> None:
    launch = check_launch(PLAIN, SM90, grid=(8, 2), block=32, cluster=(4, 2))
    assert (launch.cluster, launch.clustered) == ((4, 2, 1), True)
    assert check_launch(PLAIN, SM90, grid=16, block=32, cluster=16).cluster == (16, 1, 1)
    refuse("P513", grid=32, cluster=32)
    refuse("P513", limits=SM120, grid=16, cluster=16)
    assert "no clusters" in refuse("P513", limits=SM80, grid=2, cluster=2)
    assert "multiple of 2 along x, found 3" in refuse("P513", grid=3, cluster=2)
    refuse("P513", grid=(4, 3), cluster=(2, 2))
    assert not check_launch(PLAIN, SM80, grid=3, block=32).clustered
    assert check_launch(PLAIN, SM80, grid=3, block=32, cluster=1).clustered


def test_directives_about_clusters() -> None:
    required = entry(("reqnctapercluster", 2, 2))
    launch = check_launch(required, SM90, grid=(4, 4), block=32)
    assert (launch.cluster, launch.clustered) == ((2, 2, 1), True)
    refuse("P513", required, grid=(4, 4), cluster=2)
    refuse("P513", required, grid=(4, 3))
    explicit = entry(("explicitcluster",))
    refuse("P513", explicit)
    check_launch(explicit, SM90, grid=1, block=32, cluster=1)
    check_launch(entry(("explicitcluster",), ("reqnctapercluster", 2)), SM90, grid=2, block=32)
    bounded = entry(("maxclusterrank", 4))
    check_launch(bounded, SM90, grid=4, block=32, cluster=4)
    refuse("P513", bounded, grid=8, cluster=8)


def test_shared_memory() -> None:
    most = 227 * 1024
    check_launch(PLAIN, SM90, grid=1, block=32, shared=most)
    refuse("P514", shared=most + 1)
    static = entry(static_shared=1024)
    check_launch(static, SM90, grid=1, block=32, shared=most - 1024)
    text = refuse("P514", static, shared=most)
    assert f"at most {most - 1024} for `k`" in text
    refuse("P514", Requirements("k", static_shared=most + 1))


def test_the_frame_shows_the_directive() -> None:
    source = Source("k.ptx", ".entry k()\n.maxntid 64\n.reqnctapercluster 2\n{ ret; }\n")
    kernel = entry(("maxntid", 64), ("reqnctapercluster", 2), source=source)
    assert "k.ptx:2:1" in refuse("P511", kernel, block=128, grid=2)
    assert "k.ptx:3:1" in refuse("P513", kernel, block=64, grid=4, cluster=4)


def test_cooperative_launches_must_be_resident() -> None:
    launch = check_launch(PLAIN, SM90, grid=133, block=1024, cooperative=True)
    check_resident(PLAIN, launch, 133)
    with pytest.raises(PtxkitError, match="at most 132, found 133") as caught:
        check_resident(PLAIN, launch, 132)
    assert caught.value.diagnostics[0].code == "P516"
    check_resident(PLAIN, check_launch(PLAIN, SM90, grid=133, block=1024), 0)
