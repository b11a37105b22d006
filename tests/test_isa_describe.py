"""`ptxkit explain` of instructions."""

import json

import pytest

from ptxkit.isa import describe, registry
from tests.command import here


def test_every_form_can_be_shown():
    for opcode in registry.opcodes():
        for form in registry.forms(opcode):
            text = describe.to_text(form)
            assert text.startswith(form.syntax)
            assert json.loads(json.dumps(describe.to_json(form)))["syntax"] == form.syntax


@pytest.mark.parametrize(
    ("spelling", "names"),
    [
        ("shfl", {"shfl"}),
        ("cp.async.bulk.commit_group", {"cp.async.bulk.commit_group"}),
        ("wgmma", {"wgmma.mma_async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"}),
        ("tcgen05.mma", {"tcgen05.mma", "tcgen05.mma.ws"}),
        ("ld.global.nc", {"ld"}),
        ("nothing", set()),
        ("ld.nothing", set()),
    ],
)
def test_what_a_spelling_finds(spelling, names):
    assert {form.name for form in describe.find(spelling)} == names


@pytest.mark.parametrize(
    ("spelling", "lines"),
    [
        ("shfl.sync", ["    .mode       .up .down .bfly .idx", "    p           a predicate, or _"]),
        ("setmaxnreg", ["24 to 256, in steps of 8", "PTX 8.0, sm_90a"]),
        ("cp.async", ["one of 4, 8, 16"]),
        ("ld", ["PTX 8.8, sm_100 or higher for (.v8"]),
        ("wgmma.mma_async", ["a vector of N / 2 .f32 registers"]),
        ("vote", ["before PTX 6.4, sm_70 or higher"]),
    ],
)
def test_the_command_line(spelling, lines):
    done = here("explain", spelling)
    assert done.returncode == 0
    for line in lines:
        assert line in done.stdout


def test_json():
    done = here("explain", "elect", "--json")
    (form,) = json.loads(done.stdout)["forms"]
    assert form["section"] == "9.7.13.14"
    assert form["operands"]["p"] == "a predicate"


@pytest.mark.parametrize(("word", "near"), [("mbarrier.innit", "mbarrier.init"), ("setmaxreg", "setmaxnreg")])
def test_a_misspelt_instruction(word, near):
    done = here("explain", word)
    assert done.returncode == 2
    assert f"did you mean `{near}`" in done.stderr
