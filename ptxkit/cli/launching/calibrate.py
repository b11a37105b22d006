"""Measure the figures of a GPU: what `ptxkit calibrate` does."""

from __future__ import annotations

from typing import Any

from ptxkit.calibration.calibrate import DIGITS, Calibration
from ptxkit.calibration.calibrate import calibrate as calibrated
from ptxkit.calibration.measure import emulated_subject, gpu_subject
from ptxkit.calibration.probe import figures
from ptxkit.cli.launching.progress import Progress
from ptxkit.cli.output import print_json, strong, table
from ptxkit.diagnostics import error
from ptxkit.emulator.timing.gpu import SUFFIX
from ptxkit.machine.provenance import provenance
from ptxkit.running.devices import open_device
from ptxkit.running.session import as_gpu
from ptxkit.support.atomic_file import check_folder, write_atomically
from ptxkit.workers.exclusive import ALL, alone_on

SCHEMA = 1


def calibrate(given: dict[str, Any]) -> int:
    """Measure, print, write the file; the exit code."""
    out, device = given["out"], given["device"]
    if out is not None:
        if out.suffix != SUFFIX:
            raise error("P560", f"expected a file that ends in `{SUFFIX}`, found `{out}`")
        check_folder(out)
    if device in ("auto", ALL):
        help = "the GPU is to be named: `cuda`, `cuda:1`"
        raise error("P520", f"expected `cuda`, `cuda:N` or `emu`, found `{device}`", help=help)
    figures().chosen(given["only"])
    found = _measured(device, given["only"])
    if given["as_json"]:
        print_json({"schema": SCHEMA, "ok": True, **found.to_json(), **provenance(), "diagnostics": []})
    else:
        _show(found)
    if out is not None:
        write_atomically(out, found.toml().encode())
    return 0


def _measured(device: str, only: tuple[str, ...]) -> Calibration:
    """Run the probes, nobody else's measurements beside them."""
    running, part = "", 0.0

    def told(name: str, done: float) -> None:
        nonlocal running, part
        running, part = name, done

    with (
        alone_on(device) as name,
        open_device(name, arch="sm_90a" if name == "emu" else None) as opened,
        Progress(lambda: f"calibrate {running}", lambda: part),
    ):
        if opened.kind == "emu":
            subject = emulated_subject(opened)
        else:
            subject = gpu_subject(as_gpu(opened), str(provenance()["machine"]["driver"]["driver"]))
        return calibrated(subject, only, told)


def _show(found: Calibration) -> None:
    """Each figure, beside that of the nearest known GPU."""
    subject = found.subject
    told = f"{strong(subject.name)}  {subject.target}, driver {subject.driver}, beside {found.like.name}"
    print("the emulator has no time: these figures mean nothing" if subject.device.kind == "emu" else told)
    print()
    rows = [
        (
            one.name,
            f"{one.value:.{DIGITS}g}",
            "" if one.known is None else f"{one.known:.{DIGITS}g}",
            "" if one.ratio is None else f"{one.ratio:.2f}",
        )
        for one in found.figures
    ]
    print(table(rows, ("figure", "measured", found.like.key, "ratio")))
    print()
    if found.refused:
        each = ", ".join(f"{name} {value:.3g}" for name, value in found.refused.items())
        print(f"no sound figure: {each}")
    print(f"not measured, those of {found.like.key} hold: {', '.join(found.left)}")
