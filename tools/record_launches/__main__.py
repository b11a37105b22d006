"""Record the launches of a program on a virtual GPU, and run recorded ones again in every order.

    python -m tools.record_launches record FOLDER [--arch sm_100a] [--kernels REGEX] [--first N]
        [--says TEXT] -- PROGRAM ARGS
    python -m tools.record_launches replay FOLDER.. [--orders lazy,random] [--seeds 3] [--output FILE [--add]]
    python -m tools.record_launches program NAME.. --records FOLDER [--list FILE] [--place NAME=FOLDER] [..]

`record` runs the program by `ptxkit exec` and writes a folder for each launch: module, shape, arguments, the
memory that these reach before and after. The program must judge its own numbers: it ends with 0 and prints
TEXT, else there is no record. `replay` runs each launch on an emulator of its own, compares every bit, and
prints a table; `--output` keeps its figures. `program` makes, records and replays programs of a list by their
names. Exits with 1 where one is wrong or has an error.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ptxkit.machine.provenance import provenance
from tools.record_launches.launch import DESCRIPTION, RecordedLaunch
from tools.record_launches.programs import programs
from tools.record_launches.recorder import VARIABLE, Settings
from tools.record_launches.replay import Replay, replay

START = Path(__file__).parent / "start"
LIST = Path(__file__).parent / "programs.toml"
PROGRAM = "program.json"
NO_RANDOM_ADDRESSES = 0x0040000
"""ADDR_NO_RANDOMIZE of personality(2): device memory then lies at the same addresses in every process."""


def record(given: argparse.Namespace) -> int:
    """Record a program."""
    folder: Path = given.folder[0].resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = Settings(str(folder), given.kernels, given.first)
    path = os.pathsep.join(filter(None, (str(START), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, VARIABLE: settings.to_environment(), "PYTHONPATH": path}
    ctypes.CDLL(None).personality(NO_RANDOM_ADDRESSES)
    command = [sys.executable, "-m", "ptxkit", "exec", "--arch", given.arch, "--", *given.program]
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE)
    sys.stdout.write(done.stdout)
    launches = sorted(folder.glob(f"*/{DESCRIPTION}"))
    verdict = {"exit_code": done.returncode, "says": given.says, "said": given.says in done.stdout}
    told = {"command": given.program, "kernels": given.kernels, "first": given.first, **verdict}
    (folder / PROGRAM).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    if done.returncode or not verdict["said"]:
        print(f"no record: exit code {done.returncode}, `{given.says}` printed: {verdict['said']}")
        for each in launches:
            shutil.rmtree(each.parent)
        return 1
    print(f"{len(launches)} launches in {folder}")
    return 0


def replay_all(given: argparse.Namespace) -> int:
    """Run recorded launches again."""
    wrong = 0
    runs = [(order, 0) for order in given.orders.split(",") if order != "random"]
    runs += [("random", seed) for seed in range(given.seeds)] if "random" in given.orders else []
    for folder in given.folder:
        told = json.loads((folder / PROGRAM).read_text("utf-8"))
        launches = []
        for path in sorted(folder.glob(f"*/{DESCRIPTION}")):
            launch = RecordedLaunch.read(path.parent)
            done = []
            for order, seed in runs:
                done.append(replay(launch, order, seed, strict=given.strict))
                print(row(folder.name, launch, done[-1]), flush=True)
            wrong += sum(not one.right for one in done)
            launches.append({**figures(launch), "runs": [one.to_json() for one in done]})
        if given.output:
            command = shown(told.pop("command"))
            found = {"program": folder.name, "command": command, **told, "launches": launches}
            keep(given.output, found, beside=given.add)
            given.add = True
    return int(wrong > 0)


def keep(output: Path, found: dict[str, Any], beside: bool) -> None:
    """Write the figures of a program, alone or beside those of others that are there by now."""
    there = json.loads(output.read_text("utf-8"))["programs"] if beside and output.exists() else []
    where = provenance()
    programs = {program["program"]: program for program in there}
    programs[found["program"]] = {**found, "date": where["date"], "commit": where["commit"]}
    listed = [programs[name] for name in sorted(programs)]
    document = {"schema": 1, "kind": "recorded launches", "programs": listed, **where}
    output.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def run_programs(given: argparse.Namespace) -> int:
    """Make, record and replay programs of a list; one that fails does not keep the others."""
    known = programs(given.list, dict(place.split("=", 1) for place in given.place))
    names = [str(name) for name in given.folder]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{given.list} has no {', '.join(unknown)}, but {', '.join(known)}")
    wrong = 0
    for name in names:
        program = known[name]
        given.folder = [given.records / name]
        given.program, given.arch, given.says = list(program.command), program.arch, program.says
        given.kernels, given.first = program.kernels, program.first
        wrong += bool(program.build() or record(given) or replay_all(given))
    return int(wrong > 0)


def shown(command: list[str]) -> str:
    """A command as others can read it: from its last file on, without that one's folder."""
    at = max((i for i, word in enumerate(command) if Path(word).is_file()), default=0)
    return " ".join([Path(command[at]).name, *command[at + 1 :]])


def figures(launch: RecordedLaunch) -> dict[str, Any]:
    """What may be kept of a launch: its shape and sizes."""
    shape = {key: getattr(launch, key) for key in ("number", "arch", "grid", "block", "cluster", "shared")}
    return {**shape, "ptx_lines": launch.text.count("\n"), "bytes": sum(len(r.before) for r in launch.ranges)}


def row(program: str, launch: RecordedLaunch, done: Replay) -> str:
    """A line of the table."""
    how = done.order + (f" {done.seed}" if done.order == "random" else "")
    found = ", ".join(f"{count} {name}" for name, count in sorted(done.findings.items())) or "nothing found"
    differing = ", ".join(f"{count} bytes of {name}" for name, count in done.different.items())
    numbers = f"DIFFERS: {differing}" if differing else f"{done.compared} bytes right"
    rings = f", mbarriers of up to {done.phases} phases of copies" if done.phases else ""
    line = f"{program:20} {launch.number:4} {how:9} {done.seconds:7.1f} s  {numbers}; {found}{rings}"
    return "\n    ".join([line, *done.errors])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=("record", "replay", "program"))
    parser.add_argument(
        "folder", type=Path, nargs="+", help="the record of a program, or its name in the list"
    )
    parser.add_argument("--arch", default="sm_90a", help="the target that the virtual GPU plays")
    parser.add_argument("--kernels", default="", help="record kernels whose name holds this expression")
    parser.add_argument("--first", type=int, default=1, help="launches of each kernel to record")
    parser.add_argument("--says", default="", help="what the program prints where its numbers are right")
    parser.add_argument("--orders", default="lazy,random", help="among lazy, eager and random")
    parser.add_argument("--seeds", type=int, default=3, help="how many of the random order")
    parser.add_argument("--strict", action="store_true", help="what shipping kernels do is an error, too")
    parser.add_argument("--output", type=Path, help="keep the figures here")
    parser.add_argument("--add", action="store_true", help="beside those of other programs that are there")
    parser.add_argument("--list", type=Path, default=LIST, help="the programs that there are, as TOML")
    parser.add_argument("--records", type=Path, help="takes a folder for each program")
    parser.add_argument(
        "--place", action="append", default=[], help="what {NAME} is in the list: NAME=FOLDER"
    )
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:at])
    given.program = words[at + 1 :]
    if given.verb == "replay":
        return replay_all(given)
    if given.verb == "program":
        if given.records is None:
            parser.error("program takes --records FOLDER")
        try:
            return run_programs(given)
        except ValueError as problem:
            parser.error(str(problem))
    if not given.program or len(given.folder) != 1:
        parser.error("record takes one folder, and a program behind `--`")
    return record(given)


if __name__ == "__main__":
    sys.exit(main())
