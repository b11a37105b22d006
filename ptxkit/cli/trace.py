"""`ptxkit trace FILE -o t.json`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb, files
from ptxkit.cli.launches import (
    emulated,
    emulator_options,
    launch_options,
    planned,
    sanitize_option,
)
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.report import print_report
from ptxkit.diagnostics import PtxkitError, error, exit_code
from ptxkit.emulator import Emulator
from ptxkit.emulator.trace import Recorder
from ptxkit.runner import Session


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit trace gemm_wgmma.ptx -o t.json", "a shipped kernel; open t.json in https://ui.perfetto.dev"),
        ("ptxkit trace gemm_tcgen05.ptx -o t.json --ctas 2 --order eager", "two CTAs, copies done at once"),
        ("ptxkit trace gemm_wgmma.ptx -o t.svg --ctas 1", "a picture of one CTA"),
    ),
)
@click.argument("file")
@click.argument("entry", required=False)
@launch_options
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="T.json|T.svg",
    help="Where to write the trace: events for Perfetto, or a picture.",
)
@click.option(
    "--ctas", type=click.IntRange(min=1), default=8, show_default=True, help="CTAs of each grid to show."
)
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card, by default its first.")
@emulator_options
@sanitize_option
@MAX_SIZE
def command(**given: Any) -> int:
    """Run FILE on the emulator and write what its warps, copies, matrix units and mbarriers did.

    The axis counts steps of the emulator, not time. A run that ends in a fault leaves its trace too.
    """
    if given["out"].suffix not in (".json", ".svg"):
        help = "`-o T.json` writes events for Perfetto, `-o T.svg` a picture"
        raise error(
            "P560", f"expected a file that ends in `.json` or `.svg`, found `{given['out']}`", help=help
        )
    options = emulated(given, "trace")
    found, plan = planned(given)
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
                files.write_whole(given["out"], _content(given["out"], recorder.to_json()))
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
