"""Tell what each line of a kernel did: what `ptxkit profile` does."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ptxkit.cli.launching.plans import emulated, options_of, planned, ruled
from ptxkit.cli.launching.report import place, print_report
from ptxkit.cli.output import print_json, strong
from ptxkit.diagnostics import PtxkitError, error, exit_code
from ptxkit.emulator import Emulator
from ptxkit.emulator.profile import Profiler
from ptxkit.profiles import Profile, listing, make
from ptxkit.running.report import Report
from ptxkit.running.session import Session
from ptxkit.support.atomic_file import check_folder, write_atomically

SPEEDSCOPE = ".speedscope.json"
LEAST_WIDTH = 40
UNLIMITED = 1 << 20
"""Columns of what is no terminal."""


def profile(given: dict[str, Any]) -> int:
    """Run, print the lines that did most, write the file; the exit code of what was found."""
    out = given["out"]
    if out is not None:
        if out.suffix not in (".html", ".json"):
            help = "`-o P.html` writes a page, `-o P.json` every figure, `-o P.speedscope.json` flame graphs"
            raise error("P560", f"expected a file that ends in `.html` or `.json`, found `{out}`", help=help)
        check_folder(out)
    made, report, name = _emulated(given) if given["device"] in ("auto", "emu") else _measured(given)
    if given["as_json"]:
        print_json(_document(made, report))
    else:
        print_report(report, verbose=False)
        print()
        _show(made, given, sys.stdout)
    if out is not None:
        title = f"{name} on {place(report)}"
        write_atomically(out, _content(out, made, report, title))
        print(f"{out}: {len(made.lines):,} lines", file=sys.stderr)
    return exit_code(report.diagnostics)


def _emulated(given: dict[str, Any]) -> tuple[Profile, Report, str]:
    """The profile of a run on the emulator, the run, and the file's name."""
    options = emulated(given, "profile", traffic=True)
    found, plan = planned(given)
    options = ruled(options, given["file"], found)
    profiler = Profiler()
    with Session(found.module, options) as session:
        assert isinstance(session.device, Emulator)
        session.device.prepare = profiler.begin
        try:
            report = session.run(plan)
        except PtxkitError:
            if profiler.sites and not given["as_json"]:
                print("what was done until this:", file=sys.stderr)
                _show(make(profiler), given, sys.stderr)
            raise
    return make(profiler), report, plan.program.name


def _measured(given: dict[str, Any]) -> tuple[Profile, Report, str]:
    """The same of a run on a GPU, under its profiler."""
    from ptxkit.profiles.measured import measured
    from ptxkit.running.devices import open_device
    from ptxkit.running.measured import measure

    options = options_of(given)
    found, plan = planned(given)
    open_device(options.device, target=found.module.target).close()  # that there is none is said first
    came = measure(plan, options, given["timeout"])
    return measured(came.kernels, came.lines, found.module.source), came.report, plan.program.name


def _show(made: Profile, given: dict[str, Any], stream: Any) -> None:
    """The table, cut to the terminal's width where there is one."""
    width = max(shutil.get_terminal_size().columns, LEAST_WIDTH) if stream.isatty() else UNLIMITED
    if given["annotate"]:
        for line in listing.annotated(made, width):
            print(line, file=stream)
    else:
        if made.sources:
            print(strong("what it was compiled from"), file=stream)
            for line in listing.table(made, made.sources[: given["top"]], width):
                print(line, file=stream)
            print(f"\n{strong('PTX')}", file=stream)
        for line in listing.table(made, made.hottest(given["top"]), width):
            print(line, file=stream)
    print(f"\n{listing.meaning(made)}", file=stream)


def _document(made: Profile, report: Report) -> dict[str, Any]:
    """As `docs/schemas/profile.json` has it."""
    found = [diagnostic.to_json() for diagnostic in report.diagnostics]
    return {**made.to_json(), "ok": report.ok, "diagnostics": found}


def _content(out: Path, made: Profile, report: Report, title: str) -> bytes:
    """What is written into a file, by its name."""
    if out.name.endswith(SPEEDSCOPE):
        from ptxkit.profiles.speedscope import document

        return json.dumps(document(made, title), allow_nan=False).encode()
    if out.suffix == ".html":
        from ptxkit.profiles.page import page

        return page(made, title).encode()
    return (json.dumps(_document(made, report), indent=1, allow_nan=False) + "\n").encode()
