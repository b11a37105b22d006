"""`ptxkit desc encode`, `decode` and `batch`."""

from __future__ import annotations

import sys

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import print_json
from ptxkit.encodings.kinds import KINDS
from ptxkit.encodings.requests import answer_line, decode, encode, parse_fields

_KINDS = f"Kinds: {', '.join(KINDS)}. `ptxkit explain KIND` lists a kind's fields."

_ARCH = click.option("--arch", metavar="TARGET", help="Refuse what this target lacks, e.g. sm_100a.")


@click.group(
    epilog="Example: ptxkit desc encode idesc.f16 m=128 n=256 a=bf16 b=bf16 d=f32\n\n"
    "`ptxkit explain KIND` lists a kind's fields, `ptxkit explain KIND 0x..` what the bits of a value say.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def command() -> None:
    """Pack and read descriptors: shared-memory, instruction, zero-column mask, tensor map."""


@command.command(
    "encode",
    cls=Verb,
    short_help="pack fields into the value",
    help=f"Print the value of a descriptor of KIND made of FIELDS, each `name=value`.\n\n{_KINDS}",
    examples=(
        ("ptxkit desc encode idesc.f16 m=128 n=256 a=bf16 b=bf16 d=f32", "0x08400490"),
        ("ptxkit desc encode idesc.mxf4nvf4 m=128 n=64 scale=ue4m3", "0x08100480"),
        ("ptxkit desc encode idesc.ti16 m=128 n=64 --arch sm_107f", "0x08100da0"),
    ),
)
@click.argument("kind")
@click.argument("fields", nargs=-1)
@_ARCH
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def encode_command(kind: str, fields: tuple[str, ...], arch: str | None, as_json: bool) -> int:
    """Print the value of a descriptor."""
    value = encode(kind, parse_fields(fields), arch)
    if as_json:
        print_json({"schema": 1, "kind": kind, "value": value})
    else:
        print(value)
    return 0


@command.command(
    "decode",
    cls=Verb,
    short_help="read the fields of a value",
    help=f"Print the fields of the descriptor of KIND that VALUE is, as `encode` takes them.\n\n{_KINDS}",
    examples=(("ptxkit desc decode idesc.f16 0x08200490", "m=128, n=128, a=bf16, ..."),),
)
@click.argument("kind")
@click.argument("value")
@_ARCH
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def decode_command(kind: str, value: str, arch: str | None, as_json: bool) -> int:
    """Print the fields of a descriptor."""
    fields = decode(kind, value, arch)
    if as_json:
        print_json({"schema": 1, "kind": kind, "fields": fields})
        return 0
    for name, item in fields.items():
        print(f"{name}={','.join(map(str, item)) if isinstance(item, list) else str(item)}")
    return 0


@command.command(
    "batch",
    cls=Verb,
    short_help="answer requests from stdin, a JSON object a line",
    help='Answer requests from stdin, JSON objects a line: {"op": "encode", "kind": K, ...fields} gives '
    '{"value": "0x.."}, {"op": "decode", "kind": K, "value": "0x.."} gives {"fields": {..}}; what is wrong '
    f'gives {{"error": {{"code", "message"}}}} in its place, and the exit code stays 0.\n\n{_KINDS}',
    examples=(("ptxkit desc batch < requests.jsonl > answers.jsonl", "a line out for every line in"),),
)
def batch_command() -> int:
    """Answer requests from stdin."""
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(answer_line(line) + "\n")
    return 0
