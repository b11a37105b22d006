"""Probes: whole modules of one or a few statements, each with what several releases of ptxas said of it.

A file of probes has one JSON object a line: `module` its text, `version` and `target` what it is for,
`verdict` a mapping of releases to `accept` or `reject`, `group` and `stmt` to show it by. Releases older than
the version of a probe refuse it for that alone and don't count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit import targets

from . import assemblers, record
from .oracle import Verdict


def verdicts(path: Path, releases: Sequence[str] = ()) -> Iterator[Verdict]:
    """Both verdicts on every probe of a file, for each release that knows the probe's version.

    Args:
        path: the file.
        releases: `13.5`, ..; none for the newest that each probe was put to.
    """
    probes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    given = [
        (probe, release)
        for probe in probes
        for release in releases or [max(probe["verdict"], key=assemblers.number)]
    ]
    with ProcessPoolExecutor() as pool:
        yield from pool.map(_judge, [one for one in given if _knows(*one)], chunksize=16)


def by_release(path: Path) -> dict[str, Any]:
    """The part of the record: every release's verdicts, a line a release."""
    found = [
        replace(verdict, change=f"ptxas {release}")
        for release in assemblers.RELEASES
        for verdict in verdicts(path, [release])
    ]
    what = (
        "Modules written by hand around what came after PTX ISA 9.0: claimed forms, near misses of version, "
        "target, type and operand. Each release of ptxas was asked where it knows the module's version."
    )
    return record.part(found, {"what": what})


def _knows(probe: Mapping[str, Any], release: str) -> bool:
    return release in probe["verdict"] and assemblers.number(
        probe["version"]
    ) <= targets.newest_version_for_cuda(assemblers.number(release))


def _judge(given: tuple[Mapping[str, Any], str]) -> Verdict:
    probe, release = given
    errors = [finding for finding in ptxkit.check(ptxkit.parse(probe["module"])) if finding.is_error]
    ours = f"{errors[0].code} {errors[0].message}" if errors else None
    theirs = None if probe["verdict"][release] == "accept" else f"ptxas {release} refuses it"
    text = " ".join(probe["stmt"].split()) or f"probe {probe['id']}"
    place = f"{probe['version']} {probe['target']}"
    return Verdict(text, probe["group"], probe["kind"], place, theirs, ours)
