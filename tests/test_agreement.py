"""The checker and ptxas agree, on a sample of what `tools/agreement` judges in full."""

import os
import shutil
from pathlib import Path

import pytest

from tools.agreement import corpus, rows
from tools.agreement.mutations import mutate, split_operands

CORPUS = Path(os.environ.get("PTXKIT_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))


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
    count, share, shown = agreement(rows.verdicts(todo))
    assert count > 1500
    assert share >= 0.99, shown


@pytest.mark.slow
@pytest.mark.usefixtures("_assembler")
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}")
def test_changed_statements_of_real_files():
    count, share, shown = agreement(corpus.verdicts(CORPUS, limit=300, elsewhere=0, seed=11))
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
