"""`ptxkit explain CODE`, `ptxkit explain OPCODE` and `ptxkit explain KIND VALUE`."""

from __future__ import annotations

import re
import sys

import click

from ptxkit.cli import Verb
from ptxkit.cli.output import fitted, print_diagnostics, print_json, strong, table
from ptxkit.diagnostics import (
    FAMILIES,
    CodeInfo,
    PtxkitError,
    code_info,
    code_table,
    error,
    exit_code,
    shortened,
)


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit explain P561", "what P561 means, why it matters, and how to fix it"),
        ("ptxkit explain SMEM-RACE", "the same by the name that opens a finding"),
        ("ptxkit explain P4", "every code of a family, a line each"),
        (
            "ptxkit explain cp.async.bulk",
            "the forms of an instruction, and since when and on which targets it exists",
        ),
        ("ptxkit explain %clusterid", "a special register"),
        ("ptxkit explain", "every code, a line each"),
        (
            "ptxkit explain smem.tcgen05 0x4000404000010000",
            "the fields of a descriptor, and what is wrong with it",
        ),
    ),
)
@click.argument("code", required=False)
@click.argument("value", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(code: str | None, value: str | None, as_json: bool) -> int:
    """Say what a diagnostic CODE means, why it matters, and how to fix it; of a family, P4, list its codes.

    CODE may be an instruction (ld, cp.async.bulk): its forms are shown, with what each modifier and operand
    may be. It may be a special register, such as %tid.

    CODE may be a kind of descriptor (smem.wgmma, smem.tcgen05, idesc.KIND, zero-column-mask, tensor-map): its
    layout is shown, or, with a VALUE, what the bits of the value say.
    """
    if code is None:
        _list(as_json)
        return 0
    if value is not None:
        return _descriptor(code, value, as_json)
    family = re.fullmatch(r"[Pp]([1-8])[xX]*", code)
    if family:
        _list(as_json, f"P{family[1]}")
        return 0
    info = code_info(code)
    if info is None and any(show(code, as_json) for show in (_layout, _register, _instruction)):
        return 0
    infos = [info] if info else _named(code)
    if not infos:
        raise _nothing(code)
    if not as_json:
        print("\n\n".join(_page(info) for info in infos))
    elif len(infos) == 1:
        print_json({"schema": 1, **_as_json(infos[0])})
    else:
        print_json({"schema": 1, "codes": [_as_json(info) for info in infos]})
    return 0


def _named(name: str) -> list[CodeInfo]:
    """The codes of a name."""
    return [info for info in code_table().values() if info.name.lower() == name.lower()]


def _instruction(name: str, as_json: bool) -> bool:
    """The forms of an instruction, if it is one."""
    from ptxkit.isa import describe

    forms = describe.find(name.removeprefix("."))
    if not forms:
        return False
    if as_json:
        print_json({"schema": 1, "name": name, "forms": [describe.to_json(form) for form in forms]})
        return True
    section = ""
    for form in forms:
        if form.section != section:
            section = form.section
            print(f"{strong(f'PTX ISA {section}')}\n")
        print(describe.to_text(form), end="\n\n")
    return True


def _register(name: str, as_json: bool) -> bool:
    """A special register, if it is one."""
    from ptxkit.isa import describe
    from ptxkit.isa.special_registers import SPECIAL_REGISTERS

    register = SPECIAL_REGISTERS.get(name)
    if register is None:
        return False
    if as_json:
        print_json(
            {
                "schema": 1,
                "name": name,
                "type": register.type,
                "vector": register.vector,
                "since": describe.availability(register.availability),
            }
        )
    else:
        print(f"{strong(register.declaration)}\n{describe.special_register(register)}")
    return True


def _nothing(word: str) -> PtxkitError:
    from ptxkit.cli import VERBS
    from ptxkit.encodings.kinds import KINDS
    from ptxkit.isa import describe

    kinds = [kind for kind in KINDS if word.lower().replace(" ", "-").rpartition("::")[2] in kind]
    near = describe.nearest(word)
    if kinds:
        help = f"the descriptors are {', '.join(f'`{kind}`' for kind in kinds)}"
    elif word in VERBS:
        help = f"`ptxkit {word} --help` tells of the verb"
    elif near:
        help = f"did you mean `{near}`?"
    else:
        help = "`ptxkit explain` lists every code"
    return error(
        "P560",
        f"expected a diagnostic code, an instruction or a descriptor, found `{shortened(word)}`",
        help=help,
    )


def _layout(kind: str, as_json: bool) -> bool:
    """The layout of a kind of descriptor, if it is one."""
    from ptxkit.encodings.kinds import KINDS

    cls = KINDS.get(kind)
    if cls is None:
        return False
    header = ("bits", "field", "meaning", "values")
    if as_json:
        fields = [dict(zip(header, row, strict=True)) for row in cls.layout()]
        print_json({"schema": 1, "kind": kind, "section": cls.SECTION, "fields": fields})
    else:
        print(f"{strong(kind)}  {cls.SECTION}")
        print(table([*cls.layout()], header))
    return True


def _descriptor(kind: str, value: str, as_json: bool) -> int:
    from ptxkit.encodings.explain import explain

    found = explain(kind, value)
    if as_json:
        print_json({"schema": 1, **found.to_json()})
        return exit_code(found.problems)
    rows: list[tuple[str, ...]] = [
        (row.bits, row.field, str(row.raw), row.value, row.problem or row.meaning) for row in found.rows
    ]
    print(f"{strong(found.kind)}  {found.section}")
    print(table(rows, ("bits", "field", "raw", "value", "meaning")))
    for note in found.notes:
        print(fitted(note))
    if found.problems:
        print()
        print_diagnostics(found.problems, sys.stdout)
    return exit_code(found.problems)


def _list(as_json: bool, family: str = "P") -> None:
    """Every code, or those of one family."""
    table = {code: info for code, info in code_table().items() if code.startswith(family)}
    if as_json:
        print_json({"schema": 1, "codes": [_as_json(info) for info in table.values()]})
        return
    for family, meaning in FAMILIES.items():
        infos = [info for info in table.values() if info.code.startswith(family)]
        if infos:
            print(strong(f"{family}  {meaning}"))
            for info in infos:
                print(fitted(f"  {info.code}  {info.name:<24}  {info.what.split('. ')[0].rstrip('.')}", 34))


def _page(info: CodeInfo) -> str:
    parts = [
        strong(f"{info.code}  {info.name}") + f"  ({info.severity})",
        info.what,
        f"{strong('Why')}\n{info.why}",
        f"{strong('Example')}\n" + "\n".join(f"    {line}" for line in info.example.strip("\n").splitlines()),
        f"{strong('Fix')}\n{info.fix}",
    ]
    return "\n\n".join(parts)


def _as_json(info: CodeInfo) -> dict[str, object]:
    shown = ("code", "name", "severity", "exit", "what", "why", "example", "fix")
    return {name: getattr(info, name) for name in shown}
