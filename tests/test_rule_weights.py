"""How much a breach of a rule weighs: by options, the card, the project, and a comment at the line."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from command import codes, here

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.rules import Level, from_table, rules

RACE = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry race(.param .u64 out)
{
    .reg .u32 %r<8>;
    .reg .u64 %d<4>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    xor.b32 %r2, %r2, 128;
    add.u32 %r4, %r3, %r2;
    ld.shared.u32 %r5, [%r4];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r5;
    ret;
}
"""
LOAD = "    ld.shared.u32 %r5, [%r4];\n"
CARD = """\
// /// ptxkit
// [launch]
// grid = 1
// block = 64
// params = ["out"]
// [sanitizer]
// allow = ["P650"]
// [presets]
// only = { n = 64 }
// [tensors.out]
// dtype = "u32"
// shape = "n"
// expect = "arange(n) ^ 32"
// ///
"""
LAUNCH = ("--device", "emu", "--grid", "1", "--block", "64", "--arg", "out=u32[64]")


def emulate(text: str = RACE, **options: object) -> tuple[Emulator, np.ndarray]:
    device = Emulator(**options)
    out = device.array(np.zeros(64, np.uint32))
    device.load(text).kernel().launch(1, 64, [out])
    return device, out.numpy()


@pytest.mark.parametrize("name", ["P650", "p650", "SMEM-RACE", "smem-race"])
def test_a_rule_goes_by_its_code_or_name(name: str) -> None:
    assert rules({name: "allow"}) == {"P650": Level.ALLOW}


def test_what_is_allowed_is_not_told() -> None:
    device, out = emulate(rules={"P650": "allow"})
    assert device.findings == []
    assert out.tolist() == [lane ^ 32 for lane in range(64)]


def test_what_is_warned_of_changes_nothing() -> None:
    device, out = emulate(rules={"SMEM-RACE": "warn"})
    assert [(found.code, found.severity) for found in device.findings] == [("P650", "warning")]
    assert out.tolist() == [lane ^ 32 for lane in range(64)]


def test_a_warning_can_be_an_error() -> None:
    text = RACE.replace(LOAD, f"{LOAD}    mov.u32 %r6, 0;\n    div.u32 %r7, %r5, %r6;\n").replace(
        "    xor.b32", "    bar.sync 0;\n    xor.b32"
    )
    device, _ = emulate(text)
    assert [(found.code, found.severity) for found in device.findings] == [("P615", "warning")]
    with pytest.raises(EmulatorFault) as ended:
        emulate(text, rules={"P615": "deny"})
    assert [(found.code, found.severity) for found in ended.value.diagnostics] == [("P615", "error")]


def test_the_lanes_of_an_allowed_error_are_left_out() -> None:
    text = RACE.replace("    st.global.u32 [%d1]", "    st.global.u32 [%d1+128]")
    device, out = emulate(text, rules={"P650": "allow", "P602": "warn"})
    assert [(found.code, found.severity) for found in device.findings] == [("P602", "warning")]
    assert out[32:].tolist() == [lane ^ 32 for lane in range(32)]


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("// ptxkit: allow P650, the order does not matter here", True),
        ("// ptxkit: allow smem-race - the order does not matter here", True),
        ("// see below; ptxkit: allow P650 the order does not matter here", True),
        ("// ptxkit: allow P602, P650: two rules, one reason", True),
        ("// ptxkit: allow SMEM-RACE trap or not", True),
        ("// ptxkit: allow P650", False),
        ("// ptxkit: allow P650, P602", False),
        ("// ptxkit: allow P651, another rule", False),
    ],
)
def test_a_comment_silences_its_line_with_a_reason(comment: str, silent: bool) -> None:
    text = RACE.replace(LOAD, LOAD.replace("\n", f" {comment}\n"))
    if silent:
        assert emulate(text)[0].findings == []
        return
    with pytest.raises(EmulatorFault) as ended:
        emulate(text)
    named = comment.partition("allow ")[2]
    note = f"`ptxkit: allow {named}` does not count here, as it gives no reason behind the code"
    assert (note in ended.value.diagnostics[0].notes) == ("P650" in comment)


def test_a_comment_that_stands_alone_silences_the_next_line() -> None:
    comment = "    // ptxkit: allow P650, the order does not matter here\n"
    assert emulate(RACE.replace(LOAD, comment + LOAD))[0].findings == []
    for elsewhere in (
        comment + "\n" + LOAD,
        LOAD + comment,
        f"    bar.warp.sync -1; {comment.lstrip()}{LOAD}",
    ):
        with pytest.raises(EmulatorFault):
            emulate(RACE.replace(LOAD, elsewhere))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"P699999": "allow"},
            "expected the code or the name of a rule, a family such as `P6`, or `warnings`, found `P699999`",
        ),
        (
            {"P204": "allow"},
            "expected the code or the name of a rule, a family such as `P6`, or `warnings`, found `P204`",
        ),
        ({"P610": "allow"}, "`P610`, trap, ends a launch whatever is wanted"),
        ({"P650": "ignore"}, "expected `allow`, `warn`, `deny` for `P650`, found `ignore`"),
    ],
)
def test_what_is_no_rule_or_level_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(PtxkitError) as refused:
        Emulator(rules=given)
    assert [(found.code, found.message) for found in refused.value.diagnostics] == [("P518", said)]


@pytest.mark.parametrize(
    "table",
    [
        {"silence": ["P650"]},
        {"allow": "P650"},
        {"allow": [650]},
        {"allow": ["P650"], "deny": ["SMEM-RACE"]},
        ["P650"],
    ],
)
def test_a_table_is_held_to_its_form(table: dict) -> None:
    with pytest.raises(PtxkitError) as refused:
        from_table(table)
    assert [found.code for found in refused.value.diagnostics] == ["P518"]


def test_options_go_before_the_card_and_the_card_before_the_project(tmp_path: Path) -> None:
    file = tmp_path / "race.ptx"
    file.write_text(RACE)
    run = here("run", file, *LAUNCH)
    assert (run.returncode, codes(run.stderr + run.stdout)) == (1, ["P650"])
    (tmp_path / "pyproject.toml").write_text('[tool.ptxkit.sanitizer]\nwarn = ["P650"]\n')
    run = here("run", file, *LAUNCH)
    assert (run.returncode, codes(run.stderr + run.stdout)) == (0, ["P650", "P803"])
    file.write_text(CARD + RACE)
    run = here("run", file, "--device", "emu")
    assert (run.returncode, codes(run.stderr + run.stdout)) == (0, [])
    run = here("run", file, "--device", "emu", "--deny", "P650")
    assert (run.returncode, codes(run.stderr + run.stdout)) == (1, ["P650"])


VERBS: list[tuple[str, ...]] = [
    ("run",),
    ("bench",),
    ("sweep",),
    ("trace", "-o", "t.json"),
    ("profile",),
    ("debug",),
]


@pytest.mark.parametrize("verb", VERBS, ids=[name for name, *_ in VERBS])
def test_every_verb_that_launches_takes_the_card_and_then_options(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "race.ptx"
    file.write_text(CARD + RACE)
    monkeypatch.chdir(tmp_path)

    def launch(*options: str) -> tuple[int, set[str]]:
        monkeypatch.setattr("sys.stdin", io.StringIO("run\n"))
        done = here(verb[0], file, "--device", "emu", *verb[1:], *options)
        told = r'(\w+)\[P650\]|"code": "P650", "severity": "(\w+)"'
        return done.returncode, {a or b for a, b in re.findall(told, done.stdout + done.stderr)}

    assert launch() == (0, set())
    assert launch("--warn", "SMEM-RACE") == (0, {"warning"})
    assert launch("--deny", "P650") == (1, {"error"})
    assert launch("--warn", "P650", "--strict") == (0, {"warning"})


def test_kernels_of_one_bench_have_their_own_rules(tmp_path: Path) -> None:
    lenient, severe = tmp_path / "lenient.ptx", tmp_path / "severe.ptx"
    lenient.write_text(CARD + RACE)
    severe.write_text(CARD.replace("allow = ", "deny = ") + RACE)
    report = json.loads(here("bench", lenient, severe, "--device", "emu", "--json").stdout)
    found = [[each["code"] for each in state["diagnostics"]] for state in report["states"]]
    assert [("P650" in each) for each in found] == [False, True]


def test_what_was_warned_of_is_told_before_what_ended_the_launch(tmp_path: Path) -> None:
    file = tmp_path / "race.ptx"
    file.write_text(RACE.replace("    ret;", "    trap;"))
    run = here("run", file, *LAUNCH, "--warn", "P650")
    assert (run.returncode, codes(run.stderr + run.stdout)) == (1, ["P650", "P610"])


def test_a_card_and_settings_that_are_wrong_are_told(tmp_path: Path) -> None:
    file = tmp_path / "race.ptx"
    file.write_text(CARD.replace("P650", "P6500") + RACE)
    run = here("run", file, "--device", "emu")
    assert (run.returncode, codes(run.stderr)) == (2, ["P518"])
    assert "race.ptx:6:" in run.stderr
    assert codes(here("check", file).stdout) == ["P518"]
    file.write_text(RACE)
    (tmp_path / "ptxkit.toml").write_text("[sanitizer]\nallow = [\n")
    run = here("run", file, *LAUNCH)
    assert (run.returncode, codes(run.stderr)) == (2, ["P519"])
    (tmp_path / "ptxkit.toml").write_text("[sanitizers]\n")
    run = here("run", file, *LAUNCH)
    assert (run.returncode, codes(run.stderr)) == (2, ["P519"])
