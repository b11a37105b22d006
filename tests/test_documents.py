"""Every fenced block of README.md and docs/ does what the page says: see tools/documents.py."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import documents
import make_figures
from documents import Block, Session, Wrong, blocks, faults, matches, needs
from pages import verbs

from ptxkit.card import initial
from ptxkit.encodings.tensor_maps import codes
from ptxkit.shipped import kernels
from ptxkit.workloads import expect

PAGES = documents.pages()
BLOCKS = [block for page in PAGES for block in blocks(page)]
EXECUTED = frozenset("sh console python ptx toml json yaml".split())


def of(page: Path) -> str:
    return page.relative_to(documents.ROOT).as_posix()


RUNNABLE = [page for page in PAGES if any(block.language in EXECUTED for block in blocks(page))]
SLOW = [page for page in RUNNABLE if any("slow" in block.words for block in blocks(page))]
WANTING = [
    pytest.param(block, id=block.name, marks=[pytest.mark.gpu] if needs(block) == "gpu" else [])
    for block in BLOCKS
    if needs(block)
]


def test_no_block_is_left_out() -> None:
    """Every block has a language that something is done with, and no drawing hides a command."""
    problems = [f"{block.name}: {problem}" for block in BLOCKS if (problem := faults(block))]
    assert not problems, "\n".join(problems)


def test_ci_runs_the_commands_of_the_readme() -> None:
    script = (documents.ROOT / ".ci" / "run").read_text()
    assert len(documents.readme_commands()) == 2
    assert "readme_command 1" in script
    assert "readme_command 2" in script
    assert all("\n" not in block.text.rstrip("\n") for block in documents.readme_commands())


def test_links_lead_somewhere() -> None:
    """To files of the repository, as its pages are read where they lie; anchors are the site's to check."""
    broken = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", text):
            if ":" not in link and not (page.parent / link).exists():
                broken.append(f"{of(page)}: {link}")
    assert not broken, "\n".join(broken)


def test_the_figures_of_pages_are_those_of_the_records() -> None:
    for path in make_figures.PAGES:
        text = path.read_text("utf-8")
        assert make_figures.REGION.findall(text)
        assert make_figures.page(text) == text, "`python tools/make_figures.py` writes them"


def test_a_figure_that_nothing_measured_has_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_figures, "RESULTS", tmp_path)
    assert make_figures.measured().count("\n") == 2
    assert make_figures.bench() == ""


@pytest.mark.parametrize("page", RUNNABLE, ids=of)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    documents.execute(page, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=of)
def test_a_page_does_what_it_says_in_full(page: Path, tmp_path: Path) -> None:
    documents.execute(page, tmp_path, slow=True)


@pytest.mark.parametrize("block", WANTING)
def test_a_block_that_needs_more(block: Block, tmp_path: Path) -> None:
    """Skipped with the reason; with a GPU those that need one run."""
    wanted = needs(block)
    assert wanted is not None
    if wanted != "gpu":
        pytest.skip(documents.NEEDS[wanted])
    session = Session(block.page, tmp_path)
    for other in blocks(block.page):
        if other == block or other.given("file"):
            session.run(other)


# ---- the executor itself


def made(tmp_path: Path, text: str) -> tuple[Session, list[Block]]:
    page = tmp_path / "page" / "page.md"
    page.parent.mkdir()
    page.write_text(text)
    return Session(page, tmp_path), blocks(page)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```console\n$ ptxkit --version\nptxkit 0\n```\n", "printed\nptxkit 0.1.0"),
        ("```console\n$ ptxkit explain P9999\n...\n```\n", "exit code 2"),
        ("```sh\nfalse\n```\n", "exit code 1"),
        ("```python raises\n1\n```\n", "raises nothing"),
        ("```python\nprint(1)\n```\n\n```text output\n2\n```\n", "printed\n1"),
        ("```ptx\n.version 8.0\n.target sm_80\n.entry e() { nonsense; }\n```\n", "nonsense"),
        ("```ptx statements\nadd.u32 %r1 %r2;\n```\n", "P1"),
        ("```ptx\n// nothing\n```\n", "neither a module nor a launch card"),
        ("```ptx wrong\n.version 8.0\n.target sm_80\n```\n", "no error"),
        ("```text usage\nptxkit nothing FILE\n```\n", "nothing"),
    ],
)  # fmt: skip
def test_what_a_page_says_wrongly_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    session, (*before, last) = made(tmp_path, text)
    for block in before:
        session.run(block)
    with pytest.raises(Wrong) as problem:
        session.run(last)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```rust\n```\n", "`rust`"),
        ("```sh quickly\ntrue\n```\n", "`quickly`"),
        ("```sh needs=patience\ntrue\n```\n", "`needs=patience`"),
        ("```\n  ptxkit run gemv.ptx\n```\n", "a command that nothing executes"),
        ("```text\n$ ls\n```\n", "a command that nothing executes"),
        ("```console\nls\n```\n", "begins with a command"),
    ],
)
def test_a_block_nobody_would_run_is_found(tmp_path: Path, text: str, said: str) -> None:
    _, (block,) = made(tmp_path, text)
    assert said in str(faults(block))


def test_a_page_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that does what it says, and one that does not."""
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    for name, code in (("right", 0), ("wrong", 1)):
        page = tmp_path / name / "page.md"
        page.parent.mkdir()
        page.write_text(f"```sh\nexit {code}\n```\n")
        monkeypatch.setattr(sys, "argv", ["documents.py", "--check", str(page)])
        assert documents.main() == code
    assert capsys.readouterr().out == "right/page.md: as it says\nwrong/page.md:1: exit code 1\n\n"


def test_a_block_without_an_end_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    with pytest.raises(Wrong, match="does not end"):
        made(tmp_path, "```sh\ntrue\n")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a ... c\n", "a b c\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("a\n...\n", "a\n", True),
        ("time  1.5 ms\n", "time  250 us\n", True),
        ("time  1.5 ms\n", "time  1.5 GB\n", False),
        ("a.c\n", "abc\n", False),
        ("a\n", "k.ptx smoke: running, 2 s\nk.ptx smoke: 60% done, 12 s\na\n", True),
        ("a\n", "k.ptx: something else, 2 s\na\n", False),
    ],
)
def test_ellipses(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


# ---- the examples that `--help` shows

DATA = Path(__file__).parent / "data" / "examples"
SLOW_EXAMPLES = (
    "ptxkit run gemv.ptx --preset all",
    "ptxkit sweep gemv.ptx --preset all",
    "ptxkit bench gemv.ptx",
)
WANTED = {"cuda": "gpu", "calibrate": "gpu", "roofline": "gpu", "tcp://": "cluster"}
"""What an example with such a word needs."""


def example_needs(line: str) -> str | None:
    return next((wanted for word, wanted in WANTED.items() if word in line), None)


def examples() -> Iterator[Any]:
    """Of each verb the quick ones together, in their order, and the others one by one."""
    for path, made in verbs.commands().items():
        quick = []
        for line, _ in getattr(made, "examples", ()):
            wanted = example_needs(line)
            if wanted == "cluster":
                yield pytest.param([line], id=line, marks=pytest.mark.skip(reason=documents.NEEDS[wanted]))
            elif wanted:
                yield pytest.param([line], id=line, marks=pytest.mark.gpu)
            elif line.startswith(SLOW_EXAMPLES):
                yield pytest.param([line], id=line, marks=pytest.mark.slow)
            else:
                quick.append(line)
        if quick:
            yield pytest.param(quick, id=path)


def test_every_verb_has_an_example() -> None:
    bare = [path for path, made in verbs.commands().items() if not getattr(made, "examples", ())]
    assert bare == ["ptxkit desc"], "a group, whose parts have examples, is the only one without"


@pytest.mark.parametrize("lines", list(examples()))
def test_the_examples_of_a_verb_run(lines: list[str], tmp_path: Path) -> None:
    session = Session(documents.README, tmp_path)
    session.gpu = example_needs(lines[0]) == "gpu"
    here = session.cwd
    for name in ("a.ptx", "b.ptx", "my.ptx"):
        shutil.copy(DATA / "scale.ptx", here / name)
    for folder in (here, here / "include"):
        folder.mkdir(exist_ok=True)
        shutil.copy(DATA / "places.inc", folder)
    shutil.copy(DATA / "gemm.ptx", here)
    for folder in (here, here / "kernels"):
        folder.mkdir(exist_ok=True)
        shutil.copy(kernels.shipped()["gemv.ptx"], folder)
    (here / "requests.jsonl").write_text('{"op": "decode", "kind": "idesc.f16", "value": "0x08200490"}\n')
    for client, name in (("saxpy.py", "tutorial.py"), ("bindings.py", "bindings.py")):
        shutil.copy(documents.ROOT / "tests" / "virtual_clients" / client, here / name)
    (here / "program").write_text("#!/bin/sh\nexec python tutorial.py\n")
    (here / "program").chmod(0o755)
    (here / "commands").write_text("run\nquit\n")
    if any("gemv.cubin --json" in line for line in lines):
        assert session.command("ptxkit asm gemv.ptx -o gemv.cubin")[0] == 0
    if any("--baseline" in line for line in lines):
        assert session.command("ptxkit bench gemv.ptx --json > now.json")[0] == 0
    for line in lines:
        code, printed = session.command(line)
        assert code == 0, f"{line}\n{printed}"
        assert "Traceback" not in printed


# ---- the page of the launch card


def test_the_page_of_the_launch_card_has_all_that_a_card_may_say() -> None:
    said = set(re.findall(r"`\"?(\w[\w.-]*)", (documents.DOCS / "card.md").read_text("utf-8")))
    read = importlib.import_module("ptxkit.card.read")
    keys = {*read._TOP, *read._LAUNCH, *read._TENSOR, *read._MAP, *read._COST}
    options = {
        *codes.SWIZZLE_CODES,
        *codes.INTERLEAVE_CODES,
        *codes.L2_PROMOTION_CODES,
        *codes.OOB_FILL_CODES,
    }
    wanted = {*keys, *initial.KINDS, *expect.FUNCTIONS, *expect.CONSTANTS, *options}
    assert sorted(wanted - {"launch", "presets", "tensors", "tensor_maps", "cost", "sanitizer"} - said) == []


def test_the_page_of_the_launch_card_names_no_function_that_is_not_there() -> None:
    page = (documents.DOCS / "card.md").read_text("utf-8")
    listed = page[page.index("<!-- functions -->") : page.index("<!-- end -->")]
    assert set(re.findall(r"`(\w+)", listed)) == {*expect.FUNCTIONS, *expect.CONSTANTS}
