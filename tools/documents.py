"""The code blocks of the documentation, executed as a stranger would type them.

    python tools/documents.py docs/trace.md README.md    # write what the commands print into the pages
    python tools/documents.py --check README.md          # end with 1 where a page shows something else

What a block is follows from the first word behind its fence:

| language | what is done with it |
|---|---|
| `sh` | commands; each must end with exit code 0 |
| `console` | commands behind `$ `, and what they print: compared |
| `python` | executed; blocks of a page share their names |
| `ptx` | parsed and checked: a module, a launch card, or statements |
| `toml`, `json`, `yaml`, `lua` | parsed (of `lua` nothing is known here) |
| `text`, none | a drawing, or with `output` what the `python` block before it printed |

Further words, which no rendered page shows, say what else there is to know: `exit=1`, the exit code of a
`console` or `sh` block's last command; `raises`, a `python` block ends with a `PtxkitError`, which is
printed; `output`; `file=NAME`, the block is a file that later blocks use; `slow`; `sketch`, Python that
is compiled and not executed; `statements`, PTX that stands in a kernel's body; `wrong`, PTX in which the
checker finds errors; `usage`, lines with placeholders; `needs=gpu` and the like, see `NEEDS`. A comment
`<!-- with PATH as NAME -->` puts a file of the repository into the folder.

A page's blocks run one after another in a copy of its folder. In what is shown, `...` stands for anything, on
a line of its own for any lines; durations are not compared. A GPU of the machine is hidden from all blocks
but those that need one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import linecache
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit.__main__ import main as ptxkit_main
from ptxkit.card import read as read_card
from ptxkit.diagnostics import Source
from ptxkit.driver import device_count

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})[ ]*(?P<info>[^`]*)$")
WITH = re.compile(r"<!-- with (?P<path>\S+) as (?P<name>\S+) -->")
LANGUAGES = frozenset("sh console python ptx toml json yaml lua text".split()) | {""}
WORDS = frozenset("raises output slow sketch statements usage wrong".split())
COMMAND = re.compile(r"^\s*(\$ |(\.venv/bin/)?ptxkit [a-z]|python3? [\w/.-]+)")
NEEDS = {
    "gpu": "needs an NVIDIA GPU",
    "ci": "`.ci/run` runs this command, which installs ptxkit and runs these very tests",
    "editor": "needs an editor, and npm's registry",
    "nvcc": "needs CUDA's compiler",
    "cluster": "needs a cluster that runs dask",
    "suites": "needs a checkout of another project, and an environment for its tests",
    "checkout": "works on the repository itself",
}
"""What a block may want that a test cannot give; such blocks are skipped by name, with this reason."""

DURATION = re.compile(r"\b\d[\d.,]* ?(?:ns|us|ms|s)\b")
PROGRESS = re.compile(r"^.*: (?:running|\d+% done), \d+ s\n", re.MULTILINE)
"""What a run of more than two seconds prints of itself on stderr: no page shows it."""
SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#]")
SETTLED = {"PTXKIT_MEND": "0"}
"""How far a search for a change gets in its seconds depends on the machine: pages show none."""
PROMPT = "(debug) "
WIDTH = 120
"""Columns of the terminal in which commands run."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: its file.
        line: of its fence, 1-based.
        language, words: behind the fence.
        text: its lines, without indentation.
    """

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """The page and the line."""
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    def given(self, key: str) -> str | None:
        """The value of `key=value` among the words."""
        return next((word.partition("=")[2] for word in self.words if word.startswith(f"{key}=")), None)


class Wrong(Exception):
    """A block does not do what the page says."""

    def __init__(self, block: Block, message: str) -> None:
        super().__init__(f"{block.name}: {message}")


def pages() -> list[Path]:
    """Every page whose blocks are executed."""
    return [README, *sorted({*ROOT.glob("*.md")} - {README}), *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path, text: str | None = None) -> list[Block]:
    """The fenced blocks of a page."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    start, lines = 0, []
    for number, line in enumerate((text or page.read_text("utf-8")).split("\n"), 1):
        if opened is None:
            opened, start, lines = FENCE.match(line), number, []
        elif line.strip() == opened["marks"]:
            language, *words = opened["info"].split() or [""]
            found.append(Block(page, start, language, tuple(words), "".join(f"{one}\n" for one in lines)))
            opened = None
        else:
            lines.append(line.removeprefix(opened["indent"]))
    if opened is not None:
        raise Wrong(Block(page, start, "", (), ""), "the block does not end")
    return found


def readme_commands() -> list[Block]:
    """The commands of the README that `.ci/run` takes out of it: its first two `sh` blocks."""
    return [block for block in blocks(README) if block.language == "sh"][:2]


def needs(block: Block) -> str | None:
    """What a block wants that a test cannot give, a word of `NEEDS`."""
    if block.page == README and block in readme_commands():
        return "ci"
    if block.page.parent == ROOT and block.page != README and block.language == "sh":
        return block.given("needs") or "checkout"
    return block.given("needs")


def faults(block: Block) -> str | None:
    """What is wrong with a block before anything runs: a word nobody knows, a command nobody executes."""
    if block.language not in LANGUAGES:
        return f"nobody knows what to do with a block of `{block.language}`"
    for word in block.words:
        key, _, value = word.partition("=")
        known = value in NEEDS if key == "needs" else key in ("exit", "file") and value
        if word not in WORDS and not known:
            return f"nobody knows the word `{word}`"
    if block.language in ("", "text") and not {"output", "usage"} & set(block.words):
        lines = [line for line in block.text.split("\n") if COMMAND.match(line)]
        if lines:
            return (
                f"`{lines[0].strip()}` is a command that nothing executes: make it a `console` or `sh` block"
            )
    if block.language == "console" and not block.text.startswith("$ "):
        return "a `console` block begins with a command"
    return None


def matches(shown: str, printed: str) -> bool:
    """Whether a page shows what a command printed."""
    parts = []
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            quoted = ".*".join(re.escape(part) for part in DURATION.sub("N s", line.rstrip()).split("..."))
            parts.append(quoted + r"\n")
    lines = PROGRESS.sub("", f"{printed}\n").rstrip("\n").split("\n")
    found = "".join(f"{DURATION.sub('N s', line.rstrip())}\n" for line in lines)
    return re.fullmatch("".join(parts), found) is not None


@cache
def gpus() -> int:
    """GPUs of this machine; pages show what is printed where there is none."""
    try:
        return device_count()
    except ptxkit.PtxkitError:
        return 0


@dataclass
class Command:
    """A command of a `console` block, and what the page says that it prints."""

    line: str
    shown: str


def commands(block: Block) -> list[Command]:
    """The commands of a block; a line that ends with a backslash goes on."""
    found: list[Command] = []
    lines = iter(block.text.splitlines(keepends=True))
    for line in lines:
        if line.startswith("$ "):
            typed = line[2:]
            while typed.endswith("\\\n"):
                typed += next(lines, "")
            found.append(Command(typed.rstrip("\n"), ""))
        else:
            found[-1].shown += line
    return found


class Session:
    """A folder in which the blocks of a page run, one after another."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = self.cwd = folder / "here"
        if page == README:
            shutil.copytree(DOCS / "tutorial", self.folder / "docs" / "tutorial")
        elif page.parent in (ROOT, DOCS):
            self.folder.mkdir()
        else:
            shutil.copytree(page.parent, self.folder)
        for wanted in WITH.finditer(page.read_text("utf-8")):
            shutil.copy(ROOT / wanted["path"], self.folder / wanted["name"])
        self.gpu = False
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name, arguments in (("ptxkit", "-m ptxkit "), ("python", ""), ("python3", "")):
            script = self.bin / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
            script.chmod(0o755)
        self.environment = {
            **SETTLED,
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "NO_COLOR": "1",
            "COLUMNS": str(WIDTH),
        }

    # ---- commands

    def command(self, line: str, given: str = "") -> tuple[int, str]:
        """Run one command; gives its exit code and what it printed. Plain `ptxkit` runs in this process."""
        words = shlex.split(line, comments=True)
        if words[:1] == ["cd"]:
            self.cwd = (self.cwd / words[1]).resolve()
            return 0, ""
        apart = words[1:2] in (["dap"], ["debug"], ["exec"], ["lsp"])  # they read, or start others
        plain = (
            words[:1] == ["ptxkit"]
            and not apart
            and not SHELL.search(re.sub(r"'[^']*'", "", line))
            and not given
        )
        # A process that has seen the GPU cannot forget it.
        here = plain and (self.gpu or not gpus())
        return self._here(words[1:]) if here else self._shell(line, given)

    def _here(self, arguments: list[str]) -> tuple[int, str]:
        out = io.StringIO()
        kept = dict(os.environ)
        os.environ.update({**SETTLED, **kept, "NO_COLOR": "1", "COLUMNS": str(WIDTH)})
        try:
            with contextlib.chdir(self.cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                code = ptxkit_main(arguments)
        finally:
            os.environ.clear()
            os.environ.update(kept)
        return code, out.getvalue()

    def _shell(self, text: str, given: str = "") -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-e", "-c", text],
            cwd=self.cwd,
            env=self.environment if self.gpu else {**self.environment, "CUDA_VISIBLE_DEVICES": ""},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
        )
        return done.returncode, done.stdout

    # ---- blocks

    def run(self, block: Block) -> None:
        """Execute a block.

        Raises:
            Wrong: it does something else than the page says.
        """
        self.gpu = needs(block) == "gpu"
        name = block.given("file")
        if name is not None:
            (self.cwd / name).write_text(block.text)
        match block.language:
            case "sh":
                self._sh(block)
            case "console":
                self._console(block)
            case "python":
                self._python(block)
            case "ptx":
                self._ptx(block)
            case "toml":
                tomllib.loads(block.text)
            case "json":
                json.loads(block.text)
            case "yaml":
                import yaml

                yaml.safe_load(block.text)
        if "output" in block.words and block.language != "console":
            if self.printed is None or not matches(block.text, self.printed):
                raise Wrong(block, f"the block before it printed\n{self.printed}")
        elif "usage" in block.words:
            from ptxkit.cli import VERBS

            named = re.findall(r"^\s*ptxkit (\w+)", block.text, re.MULTILINE)
            unknown = sorted(set(named) - set(VERBS))
            if unknown or not named:
                raise Wrong(block, f"names no verb, or unknown ones: {unknown}")

    def _sh(self, block: Block) -> None:
        expected = int(block.given("exit") or 0)
        lines = block.text.replace("\\\n", " ").splitlines()
        simple = all(line.startswith(("ptxkit ", "cd ", "#")) or not line.strip() for line in lines)
        if not simple:
            code, printed = self._shell(block.text)
            if code != expected:
                raise Wrong(block, f"exit code {code}\n{printed}")
            return
        typed = [line for line in lines if line.strip() and not line.startswith("#")]
        for number, line in enumerate(typed, 1):
            code, printed = self.command(line)
            if code != (expected if number == len(typed) else 0):
                raise Wrong(block, f"`{line}`: exit code {code}\n{printed}")

    def _console(self, block: Block) -> None:
        expected = int(block.given("exit") or 0)
        given = commands(block)
        for number, command in enumerate(given, 1):
            code, printed = self.command(command.line, typed(command))
            if code != (expected if number == len(given) else 0):
                raise Wrong(block, f"`{command.line}`: exit code {code}\n{printed}")
            if not matches(command.shown, printed):
                raise Wrong(block, f"`{command.line}` printed\n{printed}")

    def _python(self, block: Block) -> None:
        name = self.page.name
        code = compile(block.text, name, "exec")
        if "sketch" in block.words:
            return
        linecache.cache[name] = (len(block.text), None, block.text.splitlines(True), name)
        output = io.StringIO()
        with contextlib.chdir(self.cwd), contextlib.redirect_stdout(output):
            try:
                exec(code, self.names)
            except ptxkit.PtxkitError as problem:
                if "raises" not in block.words:
                    raise Wrong(block, str(problem)) from None
                print(problem)
            else:
                if "raises" in block.words:
                    raise Wrong(block, "raises nothing")
        self.printed = output.getvalue()

    def _ptx(self, block: Block) -> None:
        problem = ptx_problem(block.text, "statements" in block.words)
        if "wrong" in block.words and not problem:
            raise Wrong(block, "the checker finds no error")
        if problem and "wrong" not in block.words:
            raise Wrong(block, problem)


def ptx_problem(text: str, statements: bool = False) -> str | None:
    """What the checker says of a module; of a launch card alone, what the card's reader does; of statements,
    which stand in a kernel's body and declare nothing, what the parser does."""
    if statements:
        text = (
            ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry shown()\n{\n" + text + "\n}\n"
        )
        found = ptxkit.parse(text).diagnostics
    elif re.search(r"^\s*\.version", text, re.MULTILINE):
        found = [one for one in ptxkit.check(ptxkit.parse(text)) if one.is_error]
    else:
        try:
            return None if read_card(Source("card", text)) else "neither a module nor a launch card"
        except ptxkit.PtxkitError as problem:
            found = list(problem.diagnostics)
    return "\n".join(str(one) for one in found) or None


def typed(command: Command) -> str:
    """What a person types at the prompt of an interactive command."""
    lines = [one for one in command.shown.splitlines(keepends=True) if one.startswith(PROMPT)]
    return "".join(line.removeprefix(PROMPT) for line in lines)


@contextlib.contextmanager
def session(page: Path) -> Iterator[Session]:
    """A session in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Session(page, Path(folder))


def execute(page: Path, folder: Path, slow: bool = False) -> None:
    """Execute the blocks of a page that need nothing more, those marked `slow` where `slow`.

    Raises:
        Wrong: one does something else than the page says.
    """
    made = Session(page, folder)
    for block in blocks(page):
        if not needs(block) and (slow or "slow" not in block.words):
            made.run(block)


def check(page: Path) -> bool:
    """Execute a page in a folder that is gone afterwards, and tell what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            execute(page, Path(folder))
        except Wrong as problem:
            print(problem)
            return False
    print(f"{page.relative_to(ROOT).as_posix()}: as it says")
    return True


def rewrite(page: Path) -> None:
    """Write into a page what its commands and its Python print, where that is not what stands there."""
    text = page.read_text("utf-8")
    with session(page) as made:
        for block in blocks(page):
            if needs(block):
                continue
            if block.language == "console":
                for command in commands(block):
                    code, printed = made.command(command.line, typed(command))
                    print(f"{block.name}: `{command.line}`: exit code {code}")
                    if not matches(command.shown, printed):
                        before = f"$ {command.line}\n{command.shown}"
                        after = f"$ {command.line}\n{printed.rstrip()}".rstrip() + "\n"
                        text = text.replace(before, after, 1)
            elif "output" in block.words:
                shown = f"```{block.language} output\n"
                before, after = f"{shown}{block.text}```", f"{shown}{(made.printed or '').rstrip()}\n```"
                text = text.replace(before, after, 1)
            else:
                made.run(block)
    page.write_text(text, "utf-8")


def main() -> int:
    """Check the pages, or write what their commands print into them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a page is wrong")
    arguments = parser.parse_args()
    found = [page.resolve() for page in arguments.pages]
    if arguments.check:
        return 0 if all([check(page) for page in found]) else 1
    for page in found:
        rewrite(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
