"""The checker and ptxas agree, on a sample of what `tools/agreement` judges in full."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest
from asm_corpus import ROOT

from tools.agreement import assemblers, corpus, declarations, each, inline, kept, record, rows, spellings
from tools.agreement.__main__ import main
from tools.agreement.mutations import mutate, split_operands
from tools.agreement.oracle import Verdict, by_code, by_ptxas, judge, report
from tools.agreement.reasons import reason_of, reasons


@pytest.fixture(scope="module")
def _assembler():
    if shutil.which("ptxas") is None:
        nvjitlink = pytest.importorskip(
            "cuda.bindings.nvjitlink", reason="neither ptxas nor nvJitLink is here"
        )
        try:
            nvjitlink.version()
        except RuntimeError as missing:
            pytest.skip(f"neither ptxas nor nvJitLink is here: {missing}")


@pytest.fixture(autouse=True)
def _nothing_is_known(tmp_path, monkeypatch):
    """What ptxas said before is kept elsewhere, so that it is asked."""
    monkeypatch.setenv("PTXKIT_VERDICTS", str(tmp_path / "verdicts.sqlite"))


def _keep(file: str, number: int) -> bool:
    os.environ["PTXKIT_VERDICTS"] = file
    names = [f"{number}.{i}" for i in range(10)]
    for name in names:
        kept.write({name: None})
    return kept.read(names).keys() == set(names)


@pytest.mark.long
def test_several_processes_keep_verdicts_in_one_new_file(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        for i in range(5):
            asked = [(str(tmp_path / f"{i}.sqlite"), number) for number in range(8)]
            assert all(pool.starmap(_keep, asked, chunksize=1))


def agreement(verdicts):
    verdicts = list(verdicts)
    wrong = [verdict for verdict in verdicts if not verdict.agrees]
    shown = "\n".join(f"{v.text[:200]} [{v.place}] ptxas: {v.theirs} ptxkit: {v.ours}" for v in wrong[:20])
    return len(verdicts), 1 - len(wrong) / len(verdicts), shown


@pytest.mark.slow
@pytest.mark.usefixtures("_assembler")
def test_statements_of_every_row():
    # Some changed statements crash ptxas, which takes long to find out where nvJitLink stands in for it.
    mutations = 1 if shutil.which("ptxas") else 0
    todo = rows.cases(rows.select([], []), limit=2, elsewhere=1, mutations=mutations, seed=11)
    verdicts = list(rows.verdicts(todo))
    # What this release of ptxas says otherwise for a known reason is counted apart.
    explained = [verdict for verdict in verdicts if not verdict.agrees and reason_of(verdict)]
    count, share, shown = agreement(verdict for verdict in verdicts if verdict not in explained)
    assert count > 1500
    assert share >= 0.999, shown
    assert len(explained) <= 0.02 * count, agreement(explained)[2]


@pytest.mark.slow
@pytest.mark.usefixtures("_assembler")
def test_changed_statements_of_real_files():
    count, share, shown = agreement(corpus.verdicts(ROOT, limit=300, elsewhere=0, seed=11))
    assert count >= 300
    assert share >= 0.99, shown


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("%r1, %r2, 5", ["%r1", "%r2", "5"]),
        ("{%f1, %f2}, [%rd1, {%r1, %r2}], (%a, %b)", ["{%f1, %f2}", "[%rd1, {%r1, %r2}]", "(%a, %b)"]),
        ("", []),
    ],
)
def test_operands_are_split_outside_brackets(text, operands):
    assert split_operands(text) == operands


def test_a_mutation_keeps_guard_and_comment():
    import random

    statement = "\t@!%p1 add.s32 %r1, %r2, 5; // here"
    made = [mutate(statement, random.Random(seed), ["u32"], ["%r9"]) for seed in range(200)]
    changed = {text for found in made if found for text, _ in [found]}
    assert len(changed) > 10
    assert all(text.startswith("\t@!%p1 add") and text.endswith("; // here") for text in changed)
    assert {change for found in made if found for _, change in [found]} >= {
        "drop",
        "type",
        "operand",
        "immediate",
    }


@pytest.mark.usefixtures("_assembler")
@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("ld.volatile.global.b32 %b32_1, [%b64_1].unified;", "P222"),
        ("ld.global.b32 %b32_1, [%clock64];", "P222"),
        ("st.bulk [%b64_1], %s32_1, 0;", "P311"),
        ("st.async.sys.u32 [%b64_1], %u32_1;", "P311"),
        ("add.pred.s32 %s32_1, %s32_2, %s32_3;", "P222"),
        ("atom.global.exch.b32 %b32_1, [%b64_1], %b32_2, %b32_3;", "P222"),
        ("bar.sync 0, 8192;", "P218"),
        ("barrier.aligned.sync 0;", "P222"),
        (
            "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
            "[%b64_1], [%b64_2, {%s32_1}], %b64_3;",
            "P222",
        ),
    ],
)
def test_what_ptxas_is_lenient_about_is_a_warning(statement, code):
    """ptxas accepts each of these, and the checker warns of it."""
    import ptxkit

    page = rows.sheet([statement], ((8, 6), "sm_100"))
    assert judge(page) == ({}, {})
    warned = [d.code for d in ptxkit.check(ptxkit.parse(page.text(page.trials))) if d.span.line == 4]
    assert code in warned


@pytest.mark.usefixtures("_assembler")
@pytest.mark.parametrize(
    "statement",
    [
        "bar.sync 0, 33;",
        "mbarrier.arrive.shared::cta.b64 %b64_1, [%b64_1], 0;",
        "setp.lt.u32 _|_, %u32_1, 4;",
        "ld.shared.b32 %b32_1, [%b64_1].unified;",
        "ld.global.b32 %b32_1, [v_global].unified;",
        "mbarrier.arrive.shared::cta.b64 %b64_1, [%clock64];",
        "shl.pred.b32 %b32_1, %b32_2, 1;",
        "wmma.mma.popc.xor.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
        "{%u32_3, %u32_4}, {%b32_5}, {%u32_6}, {%s32_7, %s32_8};",
        "cvt.rna.tf32.f32 %b32_1, 1.5;",
    ],
)
def test_what_both_refuse(statement):
    theirs, ours = judge(rows.sheet([statement], ((9, 0), "sm_90")))
    assert len(theirs) == len(ours) == 1, (theirs, ours)


def test_an_mbarrier_of_no_arrivals_is_refused():
    """ptxas 13.0 takes a count of 0, 13.1 and later do not; 9.7.13.15.9 begins at 1."""
    import ptxkit

    page = rows.sheet(["mbarrier.init.shared::cta.b64 [%b64_1], 0;"], ((8, 6), "sm_100"))
    found = [d for d in ptxkit.check(ptxkit.parse(page.text(page.trials))) if d.span.line == 4]
    assert [d.code for d in found if d.is_error] == ["P218"]


@pytest.mark.slow
@pytest.mark.usefixtures("_assembler")
def test_declarations_and_calls():
    count, share, shown = agreement(declarations.verdicts(400, 3))
    assert count == 400
    assert share >= 0.995, shown


@pytest.mark.usefixtures("_assembler")
@pytest.mark.parametrize("topic", sorted(declarations.TOPICS))
def test_a_module_of_every_topic_right_and_wrong(topic):
    seeds = [seed for seed in range(600) if declarations.module(seed)[0] == topic]
    verdicts = [declarations.judge(seed) for seed in seeds[:12]]
    assert all(verdict.agrees for verdict in verdicts)
    assert len({verdict.theirs is None for verdict in verdicts}) == 2


@pytest.mark.usefixtures("_assembler")
def test_a_refused_statement_does_not_spoil_the_next():
    texts = [
        f"shl.pred.b32 %b32_{i}, %b32_1, 1;\tadd.u32 %u32_1, 1, 1;".split("\t")[i % 2] for i in range(40)
    ]
    theirs, ours = judge(rows.sheet(texts, ((9, 0), "sm_90")))
    assert sorted(theirs) == sorted(ours) == [3 + i for i in range(0, 40, 2)]


def test_a_disagreement_gets_its_reason_or_is_a_problem():
    known = Verdict(
        "cvt.rmi.ftz.u64.f32 %u64_1, %b128_1;",
        "a row",
        "",
        "9.0 sm_90",
        "Arguments mismatch for instruction 'mov'",
        None,
    )
    other = Verdict("membar.cta;", "a row", "", "9.0 sm_90", "no such thing", None)
    assert reason_of(known) in {reason.name for reason in reasons()}
    assert reason_of(other) is None
    part = record.part(
        [known, other, Verdict("ret;", "a row", "", "9.0 sm_90", None, None)], {"what": "Three."}
    )
    assert part["total"] == {"judged": 3, "accepted": 1, "differ": 2, "refused by ptxkit alone": 0}
    document = {"files": {"with errors": []}, "parts": {"Some": part}}
    assert [text.partition(" [")[0] for text in record.problems(document)] == ["no reason: membar.cta;"]


def test_a_report_fails_for_what_has_no_reason_and_for_nothing(capsys):
    known = Verdict("a;", "a row", "", "9.0 sm_90", "refused", None)
    other = Verdict("b;", "a row", "", "9.0 sm_90", "refused", None)
    why = {"a;": "crashes"}
    assert report([known], 5, lambda verdict: why.get(verdict.text)) == 0
    assert "1 of them differ for a reason in tools/agreement/reasons.toml: crashes" in capsys.readouterr().out
    assert report([known, other], 5, lambda verdict: why.get(verdict.text)) == 1
    shown = capsys.readouterr().out
    assert "b;   [9.0 sm_90 ]" in shown
    assert "a;   [" not in shown
    assert report([], 5, reason_of) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("rows --opcode cp.async.bulk.prefech", "no row of `cp.async.bulk.prefech`; did you mean"),
        ("spellings --opcode nosuch", "no row of `nosuch`"),
        ("rows --chapter nosuch", "no chapter `nosuch`"),
        ("rows --opcode clmad", "ptxas 13.0 is older than these rows: add --assembler 13.5"),
    ],
)
def test_asking_about_no_row_is_an_error(asked, message, monkeypatch, capsys):
    monkeypatch.setattr(assemblers, "release", lambda: "13.0")
    monkeypatch.setattr("sys.argv", ["agreement", *asked.split()])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_rows_newer_than_the_assembler_are_told_apart(monkeypatch):
    monkeypatch.setattr(assemblers, "release", lambda: "13.0")
    older, newer = rows.told_apart(rows.select(["cp.async", "clmad.lo"], []))
    assert {form.name for form in newer} >= {"clmad.lo"}
    assert "cp.async" in {form.name for form in older}
    assert not any(form.since.version > (9, 0) for form in older)


def test_each_release_has_its_share_of_the_record(monkeypatch):
    """The newest is asked the most; of what was changed a line of its own; the forms are the newest's."""
    asked = []
    monkeypatch.setattr(assemblers, "use", asked.append)
    monkeypatch.setattr(assemblers, "newest_version", lambda: (9, 0))
    monkeypatch.setattr(rows, "select", lambda *_: [])
    monkeypatch.setattr(rows, "cases", lambda _, limit, *rest: [("", limit), ("drop", limit)])
    monkeypatch.setattr(each.boundaries, "cases", lambda _, limit, seed: [("where it is", limit)] * 3)
    monkeypatch.setattr(each.declarations, "verdicts", lambda count, _: rows.verdicts([("call", count)]))
    monkeypatch.setattr(each.releases, "part", lambda limit, seed: record.part([], {"what": f"{limit}"}))

    def verdicts(cases):
        yield from (
            Verdict(f"{limit}", "9.7.1 x", change, "9.0 sm_90", None, None) for change, limit in cases
        )

    monkeypatch.setattr(rows, "verdicts", verdicts)
    parts, forms = each.parts(4, 24, 2000, None, 1)
    assert asked == list(assemblers.RELEASES) * 3
    assert list(parts) == [each.FORMS, each.BOUNDARIES, each.DECLARATIONS, each.RELEASES]
    assert len(parts[each.FORMS]["changes"]) == 2 * len(assemblers.RELEASES)
    assert {f"ptxas 13.5, {each.CHANGED}", f"ptxas 13.0, {each.AS_IT_IS}"} < set(parts[each.FORMS]["changes"])
    judged = {name: count["judged"] for name, count in parts[each.BOUNDARIES]["changes"].items()}
    assert judged == {
        f"ptxas {release}, where it is": 3 if release == "13.5" else 1 for release in assemblers.RELEASES
    }
    assert [entry["statements"] for entry in forms] == [2]


def test_the_page_shows_every_disagreement_of_the_records():
    results = Path(__file__).parents[1] / "bench" / "results"
    names = ("agreement", "compilers", "inline")
    kept, compilers, libraries = (json.loads((results / f"{name}.json").read_text()) for name in names)
    assert record.problems(kept) == inline.problems(libraries) == []
    shown = record.tables(kept, compilers, inline.page(libraries), inline.differing(libraries))
    listed = [entry for part in kept["parts"].values() for entry in part["differ"]]
    assert shown.count("\n- `") == len(listed) + len(inline.differing(libraries)) > 0
    for part in kept["parts"].values():  # What differs has a reason, or it would be a problem.
        assert part["agreement"] >= 0.99
        assert part["total"].get("refused by ptxkit alone", 0) <= part["total"]["judged"] / 1000
    assert libraries["total"]["refused by ptxkit alone"] == 0
    changes = libraries["modules"]["changes"].values()
    assert sum(c["differ"] for c in changes) <= 0.005 * sum(c["modules"] for c in changes)


def test_spellings_come_in_every_kind_and_by_their_seed():
    forms = rows.select(["add", "ld", "mma"], [])
    made = spellings.cases(forms, 300, 1)
    assert len({case.text for case in made}) > 280
    assert {case.change for case in made} == set(spellings.KINDS)
    assert made == spellings.cases(forms, 300, 1) != spellings.cases(forms, 300, 2)


def test_a_spelling_stands_in_every_place():
    import random

    statement = "mma.x {%b32_1, %b32_2}, [%b64_1+4, {%s32_1}], %b32_3|%pred_1;"
    made = {spellings.respell(statement, lambda *_: "HERE", random.Random(seed)) for seed in range(400)}
    assert made == {
        "mma.x HERE, [%b64_1+4, {%s32_1}], %b32_3|%pred_1;",
        "mma.x {HERE, %b32_2}, [%b64_1+4, {%s32_1}], %b32_3|%pred_1;",
        "mma.x {%b32_1, HERE}, [%b64_1+4, {%s32_1}], %b32_3|%pred_1;",
        "mma.x {%b32_1, %b32_2}, HERE, %b32_3|%pred_1;",
        "mma.x {%b32_1, %b32_2}, [HERE, {%s32_1}], %b32_3|%pred_1;",
        "mma.x {%b32_1, %b32_2}, [%b64_1+4, HERE], %b32_3|%pred_1;",
        "mma.x {%b32_1, %b32_2}, [%b64_1+4, {HERE}], %b32_3|%pred_1;",
        "mma.x {%b32_1, %b32_2}, [%b64_1+4, {%s32_1}], HERE;",
        "mma.x {%b32_1, %b32_2}, [%b64_1+4, {%s32_1}], HERE|%pred_1;",
        "mma.x {%b32_1, %b32_2}, [%b64_1+4, {%s32_1}], %b32_3|HERE;",
    }


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not here")
def test_what_is_refused_making_code_is_refused():
    """Without making code ptxas takes all of these; the second verdict names the lines, and is kept."""
    texts = [
        "ld.u32 %u32_1, [%u32_2];",
        "add.u32 %u32_1, %u32_2, 5;",
        "st.shared.u32 [%envreg1], %u32_1;",
        "mov.u32 %u32_1, v_global;",
        "ld.shared.u32 %u32_1, [%u32_2];",
    ]
    page = rows.sheet(texts, ((9, 0), "sm_90"))
    assert by_ptxas(page) == {}
    refused = by_code(page, list(page.trials))
    assert sorted(refused) == [3, 5, 6]
    assert "32-bit address" in refused[3]
    assert by_code(page, list(page.trials)) == refused
    assert by_code(page, [4, 7]) == {}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not here")
def test_operands_spelled_otherwise():
    found = []
    cases = spellings.cases(rows.select([], ["integer", "movement", "matrix", "synchronization"]), 60, 7)
    places = {case.place for case in cases}
    for place in sorted(places):
        found += rows.judge((place, [case for case in cases if case.place == place]))
    assert len(found) == 60
    plain = [v for v in found if not v.agrees and spellings.reason(v) is None]
    assert len(plain) <= 1, plain


def test_the_record_of_spellings():
    """Of 10,000 statements 999 in a thousand agree, beside those that have a reason."""
    kept = json.loads((Path(__file__).parents[1] / "bench" / "results" / "spellings.json").read_text())
    assert kept["total"]["judged"] >= 10_000
    assert kept["without a reason"]["agreement"] >= 0.999
    names = {reason.name for reason in reasons() if reason.spelled}
    assert set(kept["reasons"]) <= names | {"none"}
    assert sum(kept["reasons"].values()) == kept["total"]["differ"] == len(kept["differ"])
