"""The command line around the verbs: help, version, usage, JSON, pipes, internal errors."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from command import here, ptxkit, refused

from ptxkit import __main__, __version__, cli
from ptxkit.diagnostics import code_table
from ptxkit.isa.registry import named_forms, opcodes
from ptxkit.isa.special_registers import SPECIAL_REGISTERS


def test_version_and_help() -> None:
    assert ptxkit("--version").stdout == f"ptxkit {__version__}\n"
    done = ptxkit("--help")
    assert done.returncode == 0
    for verb in cli.VERBS:
        assert f"\n  {verb} " in done.stdout


def test_without_a_verb_the_help_is_shown() -> None:
    done = ptxkit()
    assert done.returncode == 2
    assert "Verbs:" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_and_version_load_neither_verbs_nor_numpy() -> None:
    script = (
        "import sys; from ptxkit.__main__ import main; main(['--help']); main(['--version']); "
        "heavy = {'numpy', 'rich', 'lark', 'cuda', 'ml_dtypes', 'ptxkit.asm', 'ptxkit.cli.run'}; "
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", cli.VERBS)
def test_the_help_of_a_verb_loads_neither_numpy_nor_cuda(verb: str) -> None:
    script = (
        f"import sys; from ptxkit.__main__ import main; code = main(['{verb}', '--help']); "
        "heavy = {'numpy', 'rich', 'cuda', 'ml_dtypes'} & set(sys.modules); "
        "sys.exit(repr(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_loads_neither_numpy_nor_cuda() -> None:
    script = (
        "import sys; from ptxkit.__main__ import main; code = main(['check', 'gemv.ptx']); "
        "heavy = {'numpy', 'rich', 'lark', 'cuda', 'ml_dtypes'} & set(sys.modules); "
        "sys.exit(repr(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    command = cli.main.get_command(click.Context(cli.main), verb)
    assert command is not None
    result = CliRunner().invoke(command, ["--help"])
    assert result.exit_code == 0
    assert f"ptxkit {verb}" in result.output


@pytest.mark.parametrize(
    "arguments",
    [["--nope"], ["nope"], ["run"], ["check"], ["explain", "--nope"], ["run", "gemv.ptx", "--order", "best"]],
)
def test_usage_errors(arguments: list[str]) -> None:
    printed = refused(ptxkit(*arguments), 2, "P560")
    assert "--help" in printed


def test_explain() -> None:
    done = ptxkit("explain", "p561")
    assert done.returncode == 0
    assert "sizes-refused" in done.stdout
    refused(ptxkit("explain", "P000"), 2, "P560")
    document = json.loads(ptxkit("explain", "--json").stdout)
    assert [entry["code"] for entry in document["codes"]] == list(code_table())


@pytest.mark.parametrize(
    ("environment", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_colors_where_they_are_wanted(environment: dict[str, str], colored: bool) -> None:
    for arguments in (["check", "no-such-file"], ["explain", "P203"], ["explain", "smem.tcgen05"]):
        done = ptxkit(*arguments, **{"NO_COLOR": "", "TERM": "xterm", **environment})
        assert ("\x1b[" in done.stdout) == colored
    assert "\x1b[" not in ptxkit("explain", "P203", "--json", **environment).stdout


@pytest.mark.parametrize("verb", ["", *cli.VERBS])
def test_a_narrow_terminal(verb: str) -> None:
    lines = ptxkit(*filter(None, [verb]), "--help", COLUMNS="40").stdout.splitlines()
    assert len(lines) > 10
    assert lines[0].startswith("Usage: ptxkit")


def test_a_path_is_no_document() -> None:
    assert refused(here("kernels", "--path", "gemv.ptx"), 0).endswith("gemv.ptx\n")
    done = ptxkit("kernels", "--path", "gemv.ptx", "--json")
    assert (done.returncode, json.loads(done.stdout)["diagnostics"][0]["code"]) == (2, "P560")


def test_failures_are_json_where_json_is_asked_for() -> None:
    done = ptxkit("run", "missing.ptx", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert document["schema"] == 1
    assert document["ok"] is False
    assert [d["code"] for d in document["diagnostics"]] == ["P559"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{sys.executable} -m ptxkit explain --json | head -c 10"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_an_unforeseen_exception_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IndexError("list index\nout of range")

    monkeypatch.setattr(cli.main, "main", fail)
    monkeypatch.delenv("PTXKIT_DEBUG", raising=False)
    assert __main__.main(["--version"]) == 5
    printed = capsys.readouterr().err
    assert "error[P599]: internal error: IndexError: list index out of range" in printed
    assert "PTXKIT_DEBUG" in printed
    monkeypatch.setenv("PTXKIT_DEBUG", "1")
    with pytest.raises(IndexError):
        __main__.main(["--version"])


def test_every_opcode_and_code_is_explained() -> None:
    for opcode in opcodes():
        for name in (opcode, *named_forms(opcode)):
            done = here("explain", name)
            assert (done.returncode, done.stderr) == (0, "")
            assert "PTX ISA 9.7" in done.stdout
    for code in code_table():
        assert here("explain", code).stdout.startswith(code)


def test_codes_are_explained_by_name_and_by_family() -> None:
    assert here("explain", "smem-race").stdout == here("explain", "P650").stdout
    listed = here("explain", "P4xx").stdout
    assert listed.startswith("P4  ")
    assert listed == here("explain", "p4").stdout
    assert set(re.findall(r"^  (P\d+) ", listed, re.MULTILINE)) == {c for c in code_table() if c[1] == "4"}
    assert json.loads(here("explain", "P4", "--json").stdout)["codes"][0]["code"] == "P401"
    assert here("explain", "trap").stdout.startswith("PTX ISA")
    several = [code for code, info in code_table().items() if info.name == "misaligned-address"]
    assert re.findall(r"^P\d+", here("explain", "misaligned-address").stdout, re.MULTILINE) == several
    document = json.loads(here("explain", "misaligned-address", "--json").stdout)
    assert [info["code"] for info in document["codes"]] == several
    assert len(several) > 1


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("idesc", "`idesc.mxf4nvf4`"),
        ("kind::mxf4nvf4", "`idesc.mxf4nvf4`"),
        ("bench", "`ptxkit bench --help`"),
    ],
)
def test_what_cannot_be_explained_leads_on(word: str, said: str) -> None:
    done = here("explain", word)
    refused(done, 2, "P560")
    assert said in done.stderr


def test_special_registers_are_explained() -> None:
    for name, register in SPECIAL_REGISTERS.items():
        assert here("explain", name).stdout.startswith(f"{register.declaration}\nspecial register, ")
    document = json.loads(here("explain", "%clusterid", "--json").stdout)
    assert (document["type"], document["vector"]) == ("u32", True)
    assert document["since"].startswith("PTX 7.8, sm_90")
