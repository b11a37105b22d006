"""Collect every diagnostic that the tests provoke, and judge them.

As a plugin of pytest it writes what a run provoked, one message for each wording of each code; as a command
it names the codes that a run did not provoke, and the messages that break the style of messages:

    pytest -n 2 -p tools.collect_messages --messages messages.json
    python -m tools.collect_messages messages.json

A wording is a message without what stands between backticks, without its numbers and without what was found.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pytest

from ptxkit.diagnostics import Diagnostic, code_table

ON_A_GPU = frozenset({"P508", "P509", "P711"})
"""Codes that only tests on a GPU can provoke."""
FOREIGN = frozenset({"P706", "P707", "P708", "P709", "P734"})
"""Codes whose messages other tools word."""

BEGINS = re.compile(r"[a-z`.#0-9\[\"(]|[A-Z][A-Z0-9-]*(:| |$)|PTX|SM |TOML|Tensor |A |B |D |K |N ")
"""How messages begin: lower case, code, a number, or a name in capitals: a rule's, a matrix's."""
ONE_OF_MANY = re.compile(
    r"(?<![\w.,:*/+-])(?<!x )1 (?:more )?(?:byte|CTA|warp|group|element|value|thread|column)s\b"
)
_VARIABLE = re.compile(r"`[^`]*`|(?<![\w.])-?[\w.:%-]*\d[\w.:%+-]*|\b(?:nan|inf)\b")
_FOUND = re.compile(r"(\bfound |unterminated #|\bnot load: |\bfails: |macro )[^;]*$")
_MADE_HERE = ("ptxkit", "dataclasses")


def wording(message: str) -> str:
    """What all messages have in common that one line of the program prints."""
    return re.sub(r"(…(?:, | or | and |x)?)+", "…", _FOUND.sub(r"\1…", _VARIABLE.sub("…", message)))


@dataclass(frozen=True)
class Message:
    """What a diagnostic says, notes and help in further lines, and the test that provokes it."""

    test: str
    code: str
    text: str

    def faults(self) -> Iterator[str]:
        """What is not in the style: lower case, backticks in pairs, no full stop, numbers that agree."""
        first = self.text.partition("\n")[0]
        if self.code in FOREIGN:
            return
        if not BEGINS.match(first):
            yield "it begins with a capital"
        if re.search(r"(?<![.. ])\.$", first):
            yield "it ends with a full stop"
        if first.count("`") % 2 and len(first) <= 150:
            yield "a backtick has no partner"
        for phrase in (" a a", "or higher or", "Errno"):
            if phrase in self.text:
                yield f"it says `{phrase}`"
        if ONE_OF_MANY.search(self.text):
            yield "a plural of one"


class Collector:
    """Sees every diagnostic that ptxkit makes, in this process or in those of pytest-xdist."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.test = ""
        self.found: dict[tuple[str, str], Message] = {}

    def watch(self) -> None:
        """From now on, record."""
        made = Diagnostic.__init__

        def record(diagnostic: Diagnostic, *arguments: Any, **rest: Any) -> None:
            made(diagnostic, *arguments, **rest)
            if sys._getframe(1).f_globals["__name__"].startswith(_MADE_HERE):
                lines = [diagnostic.message, *diagnostic.notes, *filter(None, [diagnostic.help])]
                text = "\n".join(lines).encode("utf-8", "backslashreplace").decode()  # half a pair is no text
                self.keep(Message(self.test, diagnostic.code, text))

        Diagnostic.__init__ = record  # type: ignore[method-assign]

    def keep(self, message: Message) -> None:
        """Keep it, if it is the first of its wording."""
        self.found.setdefault((message.code, wording(message.text)), message)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid.partition("[")[0]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        for row in getattr(node, "workeroutput", {}).get("messages", []):
            self.keep(Message(*row))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        rows = [astuple(message) for message in self.found.values()]
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["messages"] = rows
        else:
            self.out.write_text(json.dumps(sorted(rows), indent=1) + "\n")


def problems(messages: Iterable[Message]) -> list[str]:
    """Codes that nothing provoked, and messages that are not in the style."""
    messages = list(messages)
    missing = code_table().keys() - ON_A_GPU - {message.code for message in messages}
    found = [f"{code} {code_table()[code].name}: no test provoked it" for code in sorted(missing)]
    for message in messages:
        found += [f"{message.code} in {message.test}: {fault}: {message.text}" for fault in message.faults()]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    found = problems(Message(*row) for row in json.loads(parser.parse_args(arguments).file.read_text()))
    print("\n".join(found) or "every code is provoked, and every message is in the style")
    return int(bool(found))


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
