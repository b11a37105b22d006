"""Collect every diagnostic that the tests provoke, as it prints: docs/messages.md.

As a plugin of pytest it writes what a run provoked, one example for each wording of each code; as a command
it puts the examples of such files on the page, in the place of those of the same wording, or names the codes
that a run did not provoke:

    pytest -n 2 -p tools.collect_messages --messages messages.json
    python -m tools.collect_messages page messages.json
    python -m tools.collect_messages page --anew messages.json gpu.json
    python -m tools.collect_messages missing messages.json

A wording is a message without what stands between backticks, without its numbers and without what was found.
Of its messages the one with a code frame is kept, else the shortest. Examples of the driver's errors come
from a run of the tests that are marked `gpu`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ptxkit.diagnostics import FAMILIES, Diagnostic, code_table, render_text

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "messages.md"
ON_A_GPU = frozenset({"P508", "P509", "P711"})
"""Codes that only tests on a GPU can provoke."""

_VARIABLE = re.compile(r"`[^`]*`|(?<![\w.])-?[\w.:%-]*\d[\w.:%+-]*|\b(?:nan|inf)\b")
_FOUND = re.compile(r"(\bfound |unterminated #|\bnot load: |\bfails: |macro )[^;]*$")
_FOLDER = re.compile(r"(?<![\w/.:])/(?:[\w.+-]+/)+")
_SAID = re.compile(r"(?:error|warning|note)\[(?P<code>P\d+)\]: (?P<message>.*)")
_EXAMPLE = re.compile(r"^\*(?P<test>\S+)\*\n\n```text\n(?P<text>.*?)\n```$", re.MULTILINE | re.DOTALL)
_MADE_HERE = ("ptxkit", "dataclasses")
_LINES, _COLUMNS = 16, 180
"""What is shown of an example; a deadlock lists every warp."""

_HEAD = """\
# Messages

What every diagnostic looks like: for each wording of each code one that a test provokes, as it prints.
`ptxkit explain CODE` says more of a code. tools/collect_messages.py makes the page in a run of the tests.
"""


def wording(message: str) -> str:
    """What all messages have in common that one line of the program prints."""
    return re.sub(r"(…(?:, | or | and |x)?)+", "…", _FOUND.sub(r"\1…", _VARIABLE.sub("…", message)))


@dataclass(frozen=True)
class Example:
    """A diagnostic as it prints, and the test that provokes it."""

    test: str
    text: str

    @property
    def code(self) -> str:
        return self._said["code"]

    @property
    def key(self) -> tuple[str, int, str]:
        """Its place on the page: code and wording."""
        return self.code[:2], int(self.code[1:]), wording(self._said["message"])

    @property
    def rank(self) -> tuple[bool, int, str]:
        """Of one wording the smallest is shown."""
        return not re.search(r"^ *-->", self.text, re.MULTILINE), len(self.text), self.text

    @property
    def _said(self) -> re.Match[str]:
        found = _SAID.match(self.text)
        assert found, self.text
        return found


class Collector:
    """Sees every diagnostic that ptxkit makes, in this process or in those of pytest-xdist."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.test = ""
        self.found: dict[tuple[str, str], tuple[tuple[bool, bool, int, str], str, Diagnostic]] = {}
        self.gathered: list[Example] = []

    def watch(self) -> None:
        """From now on, record."""
        made = Diagnostic.__init__

        def record(diagnostic: Diagnostic, *arguments: Any, **rest: Any) -> None:
            made(diagnostic, *arguments, **rest)
            if sys._getframe(1).f_globals["__name__"].startswith(_MADE_HERE):
                self.keep(diagnostic)

        Diagnostic.__init__ = record  # type: ignore[method-assign]

    def keep(self, diagnostic: Diagnostic) -> None:
        """Keep it, if it is its wording's best."""
        framed = diagnostic.span is not None and diagnostic.source is not None
        rank = (not framed, diagnostic.help is None, len(diagnostic.message), diagnostic.message)
        key = diagnostic.code, wording(diagnostic.message)
        if key not in self.found or rank < self.found[key][0]:
            self.found[key] = rank, self.test, diagnostic

    def examples(self) -> list[Example]:
        """What was found here and gathered from others."""
        here = [Example(test, printed(diagnostic)) for _, test, diagnostic in self.found.values()]
        return best(here + self.gathered)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid.partition("[")[0]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.gathered += [Example(*row) for row in getattr(node, "workeroutput", {}).get("messages", [])]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        rows = [[example.test, example.text] for example in self.examples()]
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["messages"] = rows
        else:
            self.out.write_text(json.dumps(rows, indent=1) + "\n")


def printed(diagnostic: Diagnostic) -> str:
    """The text that people read, without the folders of the machine."""
    lines = _FOLDER.sub("", render_text([diagnostic]).replace("\0", "?")).replace("```", "``").splitlines()
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], "..."]
    return "\n".join(line if len(line) <= _COLUMNS else f"{line[: _COLUMNS - 3]}..." for line in lines)


def best(examples: Iterable[Example]) -> list[Example]:
    """One example a wording, in the order of codes and wordings."""
    kept: dict[tuple[str, int, str], Example] = {}
    for example in examples:
        if example.key not in kept or example.rank < kept[example.key].rank:
            kept[example.key] = example
    return [kept[key] for key in sorted(kept)]


def read(path: Path) -> list[Example]:
    """What a run of the tests left."""
    return [Example(*row) for row in json.loads(path.read_text())]


def read_page() -> list[Example]:
    """The examples of the page as it is."""
    return [Example(**found.groupdict()) for found in _EXAMPLE.finditer(PAGE.read_text())]


def page(examples: Iterable[Example]) -> str:
    """The text of the page."""
    table = code_table()
    parts, family, code = [_HEAD], "", ""
    for example in best(examples):
        if example.code[:2] != family:
            family = example.code[:2]
            parts.append(f"## {family}: {FAMILIES[family]}\n")
        if example.code != code:
            code = example.code
            parts.append(f"### {code} {table[code].name}\n")
        parts.append(f"*{example.test}*\n\n```text\n{example.text}\n```\n")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    put = verbs.add_parser("page", help="put the examples on the page")
    put.add_argument("--anew", action="store_true", help="leave out what is there already")
    put.add_argument("files", nargs="+", type=Path)
    verbs.add_parser("missing", help="name the codes that no test provoked").add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    if given.verb == "page":
        new = best(example for file in given.files for example in read(file))
        known = {example.key for example in new}
        old = [] if given.anew else [example for example in read_page() if example.key not in known]
        PAGE.write_text(page([*old, *new]))
        print(f"{PAGE.relative_to(ROOT)}: {len(old) + len(new)} wordings")
        return 0
    missing = code_table().keys() - ON_A_GPU - {example.code for example in read(given.file)}
    for code in sorted(missing):
        print(f"{code} {code_table()[code].name}: no test provoked it")
    return int(bool(missing))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--messages", type=Path, metavar="FILE", help="Write the diagnostics that tests provoke."
    )


def pytest_configure(config: pytest.Config) -> None:
    out = config.getoption("--messages")
    if out is not None:
        collector = Collector(out)
        collector.watch()
        config.pluginmanager.register(collector)


if __name__ == "__main__":
    sys.exit(main())
