"""Write down what the emulated machine did: what `ptxkit trace` does."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ptxkit.cli.launching.plans import emulated, planned, ruled
from ptxkit.cli.launching.report import print_report
from ptxkit.diagnostics import PtxkitError, error, exit_code
from ptxkit.emulator import Emulator
from ptxkit.emulator.trace import Recorder
from ptxkit.running.session import Session
from ptxkit.support.atomic_file import check_folder, write_atomically


def trace(given: dict[str, Any]) -> int:
    """Run, write the file, print the report; the exit code of what was found."""
    if given["out"].suffix not in (".json", ".svg"):
        help = "`-o T.json` writes events for Perfetto, `-o T.svg` a picture"
        raise error(
            "P560", f"expected a file that ends in `.json` or `.svg`, found `{given['out']}`", help=help
        )
    check_folder(given["out"])
    options = emulated(given, "trace")
    found, plan = planned(given)
    options = ruled(options, given["file"], found)
    recorder = Recorder(given["ctas"])
    with Session(found.module, options) as session:
        assert isinstance(session.device, Emulator)
        session.device.prepare = recorder.begin
        try:
            report = session.run(plan)
        except PtxkitError:
            if recorder.launches:
                print(f"{given['out']}: what happened until this", file=sys.stderr)
            raise
        finally:
            if recorder.launches:
                write_atomically(given["out"], _content(given["out"], recorder.to_json()))
    print_report(report, verbose=False)
    shown: Counter[str] = Counter()
    for event in recorder.events:
        if event.get("cat") == "operation":
            shown[event["name"]] += event["args"]["items"]
    parts = [f"{recorder.now:,} steps", *(f"{count:,} {name}" for name, count in sorted(shown.items()))]
    print(f"{given['out']}: {', '.join(parts)}")
    return exit_code(report.diagnostics)


def _content(out: Path, trace: dict[str, Any]) -> bytes:
    """What is written into a file: by its suffix a picture, else the events."""
    if out.suffix == ".svg":
        from ptxkit.emulator.picture import svg

        return svg(trace).encode()
    return json.dumps(trace, allow_nan=False).encode()
