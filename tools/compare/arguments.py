"""What the command lines of the tools have in common."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

EMULATED = (9, 0)
"""The newest version of PTX of which the emulator executes everything but depth and multi-sampled textures:
what is compared where there is no GPU."""


def common(description: str | None, seed: int, output: str, only: str) -> argparse.ArgumentParser:
    """A parser of what every comparison takes.

    Args:
        description: the tool's docstring.
        seed: by default.
        output: what is said of `--output`.
        only: what is said of `--only emu`.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--processes", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--only", choices=["emu"], help=only)
    parser.add_argument("--output", type=Path, help=output)
    return parser


def modules(parser: argparse.ArgumentParser, patience: float, kept: str) -> None:
    """What those take that make modules for a GPU's target, and hand them to processes (`compare.pool`).

    Args:
        parser: added to.
        patience: by default, in seconds.
        kept: what `--save-inputs` keeps.
    """
    parser.add_argument("--assemble", action="store_true", help="hand each module to nvJitLink, too")
    parser.add_argument("--target", help="in place of the GPU's own: sm_80; without a GPU by default sm_90a")
    parser.add_argument("--ordinal", type=int, default=0, help="which GPU")
    parser.add_argument(
        "--patience", type=float, default=patience, help="seconds before a job's process is killed"
    )
    parser.add_argument("--save-inputs", type=Path, metavar="DIR", help=f"keep {kept} that differ")
