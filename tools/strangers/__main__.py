"""`python -m tools.strangers`: make the PTX of a list of launches, check them on the emulator."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tools.strangers.cuda import compiled, only_entries
from tools.strangers.repositories import checkout

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LISTS = tuple(
    ROOT / "bench" / f"{name}.toml"
    for name in ("strangers", "strangers2", "strangers3", "strangers4", "strangers5", "strangers6")
)
"""The lists of launches of kernels that nobody here wrote, by age."""
MOST_SECONDS = 600
"""What a launch of `check` may take."""


def launches(path: Path) -> list[dict[str, Any]]:
    """The launches of a list."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["launch"]


def entries_of(path: Path, file: str) -> set[str]:
    """The entries of a file that a list launches."""
    given = [one["arguments"] for one in launches(path) if one["file"] == file]
    return {words[words.index("--entry") + 1] for words in given}


def make(given: argparse.Namespace) -> int:
    """Compile what a list launches; returns how many files could not be made."""
    told = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
    wanted = {one["file"] for one in launches(given.list)}
    failed = 0
    for file in told["cuda"]:
        name = file["made"]
        if name not in wanted or given.only not in name:
            continue
        source = told["source"][file["source"]]
        folder = checkout(source, given.sources / file["source"])
        folders = [folder / part for part in (*source.get("include", ()), *file.get("include", ()))]
        for name_of_other, parts in file.get("needs", {}).items():
            other = checkout(told["source"][name_of_other], given.sources / name_of_other)
            folders += [other / part for part in parts]
        flags = [*source["flags"], *file.get("flags", ())]
        try:
            around = (file.get("before", ""), file.get("after", ""))
            text = compiled(folder / file["path"], flags, [*folders, *given.include], around)
            text = only_entries(text, entries_of(given.list, name))
        except ValueError as problem:
            print(f"{name}: {problem}", flush=True)
            failed += 1
            continue
        write(given.folder / name, card(file.get("card", "")) + text)
    if given.triton:
        failed += make_triton(given, [one for one in told["triton"] if one["made"] in wanted], told["source"])
    return failed


def make_triton(given: argparse.Namespace, kernels: list[dict[str, Any]], sources: dict[str, Any]) -> int:
    """Have functions of Triton compiled by a Python that has it; returns how many could not be."""
    some = [one for one in kernels if given.only in one["made"]]
    for one in some:
        one["path"] = str(checkout(sources[one["source"]], given.sources / one["source"]) / one["path"])
    done = subprocess.run(
        [given.triton, str(HERE / "triton_kernels.py"), str(given.folder)], input=json.dumps(some), text=True
    )
    return done.returncode


def card(text: str) -> str:
    """A launch card as comments."""
    lines = ["/// ptxkit", *text.strip().splitlines(), "///"] if text else []
    return "".join(f"// {line}".rstrip() + "\n" for line in lines)


def write(path: Path, text: str) -> None:
    """A made file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: made", flush=True)


def check(given: argparse.Namespace) -> int:
    """Run each launch at its small size; returns how many had a finding."""
    wrong = 0
    for number, one in enumerate(launches(given.list)):
        words = one.get("small", one["arguments"])
        if given.only not in f"{one['file']} {' '.join(words)}":
            continue
        command = [
            sys.executable,
            "-m",
            "ptxkit",
            "run",
            str(given.folder / one["file"]),
            "--device",
            "emu",
            *words,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS)
        wrong += bool(done.returncode)
        said = (done.stdout + done.stderr).strip() if done.returncode else "ok"
        print(f"{number} {one['file']} {' '.join(words)[:160]}: {said}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.strangers", description=__doc__)
    verbs = parser.add_subparsers(required=True)
    making = verbs.add_parser("make", help="the PTX files")
    making.add_argument(
        "--sources", type=Path, default=Path("sources"), help="where the checkouts are, or go to"
    )
    making.add_argument("--include", type=Path, action="append", default=[], help="with headers of cuBLAS")
    making.add_argument("--triton", help="a Python that has Triton; without it, its kernels are left out")
    making.set_defaults(what=make)
    checking = verbs.add_parser("check", help="the launches, on the emulator")
    checking.set_defaults(what=check)
    for each in (making, checking):
        each.add_argument("folder", type=Path, help="of the PTX files")
        each.add_argument("--list", type=Path, default=LISTS[0], help="of launches")
        each.add_argument("--only", default="", help="those whose name contains this")
    given = parser.parse_args()
    return min(given.what(given), 1)


if __name__ == "__main__":
    sys.exit(main())
