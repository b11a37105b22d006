"""Options that several verbs share."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from ptxkit import targets

DEFAULT_MAX_SIZE = 32 << 20
_LARGEST = 1 << 62
_LONGEST = 1e6
"""Seconds, eleven days."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class ByteSize(click.ParamType):
    """`33554432`, `32M`, `32 MB`: powers of 1024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+)\s*([KMG]?)(?:i?B)?\s*", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"expected a size such as `32M`, found `{value}`", param, ctx)
        return min(int(match[1]) * _UNITS[match[2].upper()], _LARGEST)


class Seconds(click.FloatRange):
    """A number of seconds, or another one that a wait may depend on: not NaN, and not forever."""

    def __init__(self, min: float = 0.0, min_open: bool = False) -> None:
        super().__init__(min, _LONGEST, min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"expected a number, found `{value}`", param, ctx)
        return number


class TargetName(click.ParamType):
    """`sm_90a`, or `compute_90a`: the name of a target."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        target = targets.parse(value)
        if target is None:
            self.fail(
                f"expected a target, one of {', '.join(targets.SUPPORTED)}, found `{value}`", param, ctx
            )
        return target.name


class Macro(click.ParamType):
    """`NAME` or `NAME=VALUE`, as C compilers have it: `NAME` alone is 1."""

    name = "macro"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w, .]*\))?", name, re.ASCII):
            self.fail(f"expected a name such as `TILE=64`, found `{value}`", param, ctx)
        return name, text if equals else "1"


def preprocessor_options(command: Any) -> Any:
    """`-I` and `-D`, for the lines that begin with `#`."""
    include = click.option(
        "-I",
        "include",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        metavar="FOLDER",
        help="A folder that `#include` looks in.",
    )
    define = click.option(
        "-D", "define", multiple=True, type=Macro(), metavar="NAME[=VALUE]", help="Define a macro."
    )
    return include(define(command))


def rule_options(command: Any) -> Any:
    """`--allow`, `--warn` and `--deny`: how much findings weigh."""
    for names, does in (
        (("--deny",), "These findings are errors."),
        (("--warn",), "These findings are warnings."),
        (("--allow", "--ignore", "allow"), "These findings are not told."),
    ):
        command = click.option(
            *names,
            multiple=True,
            metavar="RULE",
            help=f"{does} A code, its name, a family (P2) or `warnings`; several between commas.",
        )(command)
    return command


MAX_SIZE = click.option(
    "--max-size",
    type=ByteSize(),
    default=DEFAULT_MAX_SIZE,
    metavar="SIZE",
    help="Largest file that is read, 32M by default.",
)
