"""What the tool for a new PTX ISA version says of ptxas 13.5 beside 13.4, from texts and from rows."""

from __future__ import annotations

import sys

import pytest

from ptxkit import targets
from tools.agreement import assemblers
from tools.next_version import trials
from tools.next_version.__main__ import main
from tools.next_version.asking import Assembler
from tools.next_version.compare import compare, needs_of

OLD, NEW = "13.4", "13.5"
asked = pytest.mark.skipif(
    not all(map(assemblers.is_here, (OLD, NEW))), reason=f"ptxas {OLD} and {NEW} have not been fetched"
)
PTX = """.version 9.5
.target sm_107a
.address_size 64
.entry k() {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
L: add.u32 %r1, %r2, %r3;
  mov.u32 %r1, %locality_domain_supplemental_sm;
  mov.u32 %r1, %tid.x;
  fabric.wait.sync_restrict::read 3;
  fabric.wait.sync_restrict::reads;
  tensormap.query.alloc_class_large.b1024 %p, [%rd1];
  trace.mark.cond.b64 5, !%p, %rd2;
  @%p bra L;
}
"""
HEADER = """
__device__ void submit() { asm volatile("fabric.submit.commit_group;" : : : "memory"); }
__device__ void mark(int x) { asm volatile("trace.mark.b32 %0, %1;" : : "n"(7), "r"(x) : "memory"); }
__device__ int add(int x) { asm("add.u32 %0, %0, 1;" : "+r"(x)); return x; }
"""
MARKDOWN = """# trace.mark

    trace.mark.b64 7, payload;   // what no ptxas before knows
    add.u32 d, a, b;
"""
SINCE = {
    "mov.u32 %r1, %locality_domain_supplemental_sm;": "9.5 sm_100",
    "fabric.wait.sync_restrict::read 3;": "9.5 sm_100",
    "tensormap.query.alloc_class_large.b1024 %p, [%rd1];": "9.5 sm_100f sm_120f sm_110f sm_90a",
    "trace.mark.cond.b64 5, !%p, %rd2;": "9.5 sm_107f",
    "fabric.submit.commit_group;": "9.5 sm_100",
    "trace.mark.b32 7, %o1;": "9.5 sm_107f",
    "trace.mark.b64 7, payload;": "9.5 sm_107f",
}


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "new.ptx").write_text(PTX)
    (tmp_path / "new.h").write_text(HEADER)
    (tmp_path / "new.md").write_text(MARKDOWN)
    return tmp_path


def found(texts, known):
    return compare(
        trials.of_paths([texts]), Assembler.of(OLD), Assembler.of(NEW), known, frozenset(("mark", "b32"))
    )


@asked
def test_what_rows_of_the_version_before_lack(texts):
    said = found(texts, (9, 4))
    assert {f.trial.statement: set(f.since.split()) for f in said.lacking} == {
        statement: set(since.split()) for statement, since in SINCE.items()
    }
    assert all("9.5" in feature.message for feature in said.lacking)
    assert len(said.deprecated) == 1
    assert "sync_restrict::reads" in next(iter(said.deprecated))
    assert not said.unbound
    words = {f.trial.statement: f.words for f in said.lacking}
    assert words["trace.mark.b32 7, %o1;"] == []
    assert words["fabric.submit.commit_group;"] == ["submit", "commit_group"]


@asked
def test_the_rows_of_now_lack_nothing(texts):
    said = found(texts, targets.NEWEST_VERSION)
    assert said.lacking == []
    assert len(said.had) == len(SINCE)


@asked
def test_what_is_taken_at_any_version_is_no_feature():
    """ptxas 13.5 passes over a scope in tensor copies, in every version."""
    text = PTX.split("L:")[0] + (
        "cp.async.bulk.tensor.1d.gpu.global.shared::cta.tile.bulk_group [%rd1, {%r1}], [%r2];\n}\n"
    )
    said = compare(trials.of_ptx(text, "x"), Assembler.of(OLD), Assembler.of(NEW), (9, 4), frozenset())
    assert (len(said.lacking), len(said.unbound)) == (0, 1)


@asked
def test_rows_with_a_modifier_more():
    """A known modifier makes a new statement of an old one."""
    made = list(trials.of_rows(300, ["commit_group"], 1, (9, 4)))
    assert len({trial.statement for trial in made}) > 200
    assert all(trial.statement.endswith(";") for trial in made)
    said = compare(made, Assembler.of(OLD), Assembler.of(NEW), (9, 4), frozenset())
    assert all(feature.version == (9, 5) for feature in said.lacking)


@pytest.mark.parametrize(
    ("names", "needs"),
    [
        (targets.SUPPORTED, ""),
        ([n for n in targets.SUPPORTED if targets.TARGETS[n].number >= 100], "sm_100"),
        (["sm_107f", "sm_107a"], "sm_107f"),
        (["sm_100a", "sm_103a"], "sm_100a sm_103a"),
        (["sm_107a"], "sm_107a"),
    ],
)
def test_targets_as_a_row_says_them(names, needs):
    assert needs_of(list(names)) == needs


@asked
def test_the_command(texts, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["next_version", str(texts), "--known", "9.4"])
    assert main() == 1
    said = capsys.readouterr().out
    assert "7 new since ptxas 13.4 and lacking in the rows:" in said
    assert 'since="9.5 sm_107f", from new.ptx:12' in said
    assert "use .sync_restrict::read" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.ptx"], "nowhere.ptx is not there"),
        (["--known", "9.9"], "expected a PTX ISA version up to"),
        (["--new", "/nowhere/ptxas"], "expected the path of a ptxas, or a release: 13.0"),
    ],
)
def test_what_it_is_given_wrongly(arguments, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["next_version", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert said in capsys.readouterr().err
