"""What `ptxkit exec` does and prints."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ptxkit import __version__
from ptxkit.cli.formats import to_sarif
from ptxkit.diagnostics import Severity, counted
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.predict import told
from ptxkit.rules import from_options, project_rules
from ptxkit.support.atomic_file import check_folder, write_atomically
from ptxkit.virtual.blas.status import failed, status_name
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.run import Outcome, find_program, run
from ptxkit.virtual.symbols import results

SHOWN = 12
"""Most lines of a list in the summary."""


def execute(given: dict[str, Any]) -> int:
    """Run the program, print the summary; the exit code."""
    names = ("arch", "devices", "order", "seed", "sanitize", "strict", "host_memory")
    if given["predict"]:
        given = {**given, "arch": gpu(given["predict"], "--predict").target}
    if given["report"]:
        check_folder(Path(given["report"]))
    wanted = from_options(given["allow"], given["warn"], given["deny"])
    options = VirtualOptions(
        **{name: given[name] for name in names},
        keep_going=given["error_limit"] if given["keep_going"] else False,
        rules={**project_rules(Path.cwd()), **wanted},
        predict=given["predict"] or "",
        quiet=given["quiet"] and bool(given["predict"]),
    )
    outcome = run(find_program(given["program"]), options)
    if given["report"]:
        log = json.dumps(to_sarif(outcome.findings, __version__), indent=1) + "\n"
        write_atomically(Path(given["report"]), log.encode())
    if not given["quiet"]:
        print(summary(outcome, options), file=sys.stderr)
    return outcome.exit_code or int(outcome.errors > 0)


def summary(outcome: Outcome, options: VirtualOptions) -> str:
    """What was found, what was not supported, what was refused."""
    warnings = sum(each.severity is Severity.WARNING for each in outcome.findings)
    found = f"{counted(outcome.errors, 'error')}, {counted(warnings, 'warning')}"
    where = f"{counted(options.devices, 'virtual GPU')} ({options.arch}, order {options.order})"
    lines = [f"ptxkit exec: {found} in {_launches(outcome.launches)} on {where}"]
    if outcome.exit_code:
        lines[0] += f"; the program's exit code is {outcome.exit_code}"
    longest = sorted(outcome.predicted.items(), key=lambda one: -one[1][1])
    lines += [f"  predicted for {options.predict}:"] if longest else []
    lines += [
        f"    {name}: {told(seconds)}" + (f" in {count} launches" if count > 1 else "")
        for name, (count, seconds) in longest[:SHOWN]
    ]
    lines += _listed("functions that do nothing, and said so", outcome.unsupported)
    refused = Counter(
        {f"{name} -> {_named(name, number)}": n for (name, number), n in outcome.refused.items()}
    )
    lines += _listed("calls that returned an error", refused)
    lines += _listed("why", Counter({note.split("\n")[0]: n for note, n in outcome.notes.items()}))
    return "\n".join(lines)


def _launches(count: int) -> str:
    return "1 launch" if count == 1 else f"{count} launches"


def _named(function: str, number: int) -> str:
    """What a function returned for an error code of the driver."""
    if function.startswith("cublas"):
        return status_name(failed(number))
    driver, runtime, _ = results().get(number, (None, None, ""))
    return driver or runtime or str(number)


def _listed(title: str, items: Counter[str]) -> list[str]:
    if not items:
        return []
    lines = [f"  {title}:"]
    lines += [
        f"    {name}" + (f" ({count} times)" if count > 1 else "") for name, count in items.most_common(SHOWN)
    ]
    if len(items) > SHOWN:
        lines.append(f"    and {len(items) - SHOWN} more")
    return lines
