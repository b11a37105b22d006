"""The list of others' kernels, and how a file is cut down to the entries that it launches."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from ptxkit import parse
from tools.strangers.__main__ import HERE, card, entries_of, launches
from tools.strangers.cuda import only_entries

MODULE = """\
.version 9.0
.target sm_90a
.address_size 64

\t// .globl\tfirst
.global .u32 shared_by_all;

.visible .entry first(
\t.param .u64 first_param_0
)
{
\t// begin inline asm
\t{
membar.cta;
}

\t// end inline asm
\tret;

}
\t// .globl\tsecond
.visible .entry second()
.maxntid 32, 1, 1
{
\t{ // a block
\tret;
\t}
}
"""


def test_only_the_entries_that_are_launched_are_kept() -> None:
    cut = only_entries(MODULE, {"second"})
    assert "first" not in cut
    assert [entry.name for entry in parse(cut).entries] == ["second"]
    assert "shared_by_all" in cut
    assert cut.count("ret;") == 1
    assert only_entries(MODULE, {"first", "second"}) == MODULE
    with pytest.raises(ValueError, match="no entry third"):
        only_entries(MODULE, {"third"})


def test_a_card_is_comments() -> None:
    assert card("") == ""
    assert card("\n[presets]\n\nx = 1\n") == "// /// ptxkit\n// [presets]\n//\n// x = 1\n// ///\n"


def test_every_file_of_the_list_is_made() -> None:
    told = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
    made = Counter(one["made"] for kind in ("cuda", "triton") for one in told[kind])
    assert max(made.values()) == 1
    assert {one["file"] for one in launches()} <= made.keys()
    assert {one["source"] for kind in ("cuda", "triton") for one in told[kind]} == told["source"].keys()
    assert all(re.fullmatch("[0-9a-f]{40}", source["commit"]) for source in told["source"].values())
    assert all(entries_of(file) for file in made.keys() & {one["file"] for one in launches()})


def shape(words: list[str]) -> list[str]:
    """A launch's options in order, without sizes."""
    words = words[: words.index("--allow")] if "--allow" in words else words
    return [re.sub(r"\d+", "#", word.split("=bytes:")[0]) for word in words[2:]]


def test_a_small_launch_differs_in_sizes_alone() -> None:
    for one in launches():
        assert one["small"][:2] == one["arguments"][:2]
        assert shape(one["small"]) == shape(one["arguments"]), one["file"]


def test_a_group_has_variants() -> None:
    groups = Counter(one["group"] for one in launches() if "group" in one)
    assert len(groups) >= 12
    assert min(groups.values()) >= 2
    times = Counter((one["file"], *one["arguments"]) for one in launches())
    assert max(times.values()) == 1
    assert not any(Path(one["file"]).is_absolute() for one in launches())
