"""The lists of others' kernels, and how a file is cut down to the entries that it launches."""

from __future__ import annotations

import re
import tomllib
from argparse import Namespace
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from ptxkit import parse
from tools.strangers.__main__ import HERE, LISTS, card, entries_of, launches, make
from tools.strangers.cuda import compiled, only_entries

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


def test_code_stands_around_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = tmp_path / "nvcc"
    lines = (
        "#!/bin/sh",
        "for source; do :; done",
        'while [ "$1" != -o ]; do shift; done',
        'cat "$source" > "$2"',
    )
    nvcc.write_text("\n".join(lines) + "\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "its.cu").write_text("its code\n")
    assert compiled(tmp_path / "its.cu", [], []) == "its code\n"
    whole = compiled(tmp_path / "its.cu", [], [], ("#define A", "template B;"))
    assert whole == f'#define A\n#include "{tmp_path / "its.cu"}"\ntemplate B;\n'


def test_a_file_finds_headers_of_another_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.toml").write_text("""\
triton = []

[source.its]
commit = "1"
flags = ["-its"]
include = ["part"]

[source.other]
commit = "2"

[[cuda]]
made = "made.ptx"
source = "its"
path = "its.cu"
needs = { other = ["include"] }
""")
    for name in ("its", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "module.ptx").write_text(MODULE)
    (tmp_path / "list.toml").write_text('[[launch]]\nfile = "made.ptx"\narguments = ["--entry", "second"]\n')
    nvcc = tmp_path / "nvcc"
    lines = (
        "#!/bin/sh",
        f'echo "$@" > {tmp_path}/words',
        'while [ "$1" != -o ]; do shift; done',
        f'cp {tmp_path}/module.ptx "$2"',
    )
    nvcc.write_text("\n".join(lines) + "\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("tools.strangers.__main__.HERE", tmp_path)
    given = Namespace(
        list=tmp_path / "list.toml", only="", sources=tmp_path, include=[], folder=tmp_path, triton=None
    )
    assert make(given) == 0
    words = (tmp_path / "words").read_text().split()
    folders = [word for word in words if word.startswith("-I")]
    assert folders == [f"-I{tmp_path}/its/part", f"-I{tmp_path}/other/include"]
    assert [entry.name for entry in parse((tmp_path / "made.ptx").read_text()).entries] == ["second"]


def test_every_file_of_a_list_is_made() -> None:
    told = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
    made = Counter(one["made"] for kind in ("cuda", "triton") for one in told[kind])
    assert max(made.values()) == 1
    files = {(path, one["file"]) for path in LISTS for one in launches(path)}
    assert {file for _, file in files} == made.keys()
    assert {one["source"] for kind in ("cuda", "triton") for one in told[kind]} == told["source"].keys()
    assert {name for one in told["cuda"] for name in one.get("needs", ())} <= told["source"].keys()
    assert all(re.fullmatch("[0-9a-f]{40}", source["commit"]) for source in told["source"].values())
    assert all(entries_of(path, file) for path, file in files)


def test_the_lists_have_no_kernel_in_common() -> None:
    entries = [{one["arguments"][1] for one in launches(path)} for path in LISTS]
    both = set().union(*(one & other for one, other in combinations(entries, 2)))
    assert not {entry for entry in both if entry.startswith("_Z")}


def shape(words: list[str]) -> list[str]:
    """A launch's options in order, without sizes."""
    words = words[: words.index("--allow")] if "--allow" in words else words
    return [re.sub(r"\d+", "#", word.split("=bytes:")[0]) for word in words[2:]]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_small_launch_differs_in_sizes_alone(path: Path) -> None:
    for one in launches(path):
        assert one["small"][:2] == one["arguments"][:2]
        assert shape(one["small"]) == shape(one["arguments"]), one["file"]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_group_has_variants(path: Path) -> None:
    groups = Counter(one["group"] for one in launches(path) if "group" in one)
    assert len(groups) >= 12
    assert min(groups.values()) >= 2
    times = Counter((one["file"], *one["arguments"]) for one in launches(path))
    assert max(times.values()) == 1
    assert not any(Path(one["file"]).is_absolute() for one in launches(path))
