"""`ptxkit desc` and `ptxkit explain KIND VALUE`, as processes."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.descriptors import KINDS
from ptxkit.diagnostics import code_table
from ptxkit.encodings.requests import answer, answer_line, parse_fields

BASE_MAP = (
    "tensor-map dtype=bf16 address=0x100000 shape=64,64 strides=128 box=64,64 element_strides=1,1 "
    "interleave=none swizzle=128B l2_promotion=none oob_fill=zero target=sm_90a"
)
BASE_MAP_BYTES = (
    "0000100000000000106500000800000000000000000000000000000000000000"
    "3f0000003f0000000000000000000000000000000000003f3f00000000000000"
    "0020000000000000000400000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
)
LINES = {
    "smem.tcgen05 address=0 leading_byte_offset=16 stride_byte_offset=512 swizzle=64B": "0x8000402000010000",
    "smem.wgmma address=0 leading_byte_offset=16 stride_byte_offset=1024 swizzle=128B": "0x4000004000010000",
    "idesc.f16 m=128 n=128 a=bf16 b=bf16 d=f32": "0x08200490",
    "idesc.tf32 m=128 n=128 a=tf32 b=tf32 d=f32": "0x08200910",
    "idesc.i8 m=128 n=128 a=s8 b=s8 d=s32": "0x082004a0",
    "idesc.f8f6f4 m=128 n=128 a=e4m3 b=e5m2 d=f32": "0x08200410",
    "idesc.mxf8f6f4 m=128 n=128 a=e4m3 b=e4m3 sfa_id=1 sfb_id=1": "0x28a00010",
    "idesc.mxf4 m=128 n=128 a=e2m1 b=e2m1 scale=ue8m0 k=64": "0x08a00480",
    "idesc.mxf4nvf4 m=128 n=8 a=e2m1 b=e2m1 d=f32 scale=ue4m3": "0x08020480",
    "zero-column-mask start_count=0,0,0,0 non_zero_mask=true skip_span=2 use_span=3": "0x0003028000000000",
    BASE_MAP: BASE_MAP_BYTES,
}
ENCODES = [
    ({"kind": line.split()[0], **parse_fields(line.split()[1:])}, value) for line, value in LINES.items()
]


def ptxkit(*arguments, stdin=""):
    return subprocess.run(
        [sys.executable, "-m", "ptxkit", *arguments], input=stdin, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(("request_", "value"), ENCODES, ids=[r["kind"] for r, _ in ENCODES])
def test_a_request_is_answered_and_its_answer_decodes(request_, value):
    assert answer({"op": "encode", **request_}) == {"value": value}
    decoded = answer({"op": "decode", "kind": request_["kind"], "value": value})
    fields = decoded["fields"]
    for name, asked in request_.items():
        if name in fields:
            assert fields[name] == asked, name
    assert answer({"op": "encode", "kind": request_["kind"], **fields}) == {"value": value}


@pytest.mark.parametrize("address", ["0x7f0000000400", "0x7F00_0000_0400", 0x7F0000000400])
def test_an_integer_may_be_hexadecimal_text(address):
    tile = {"dtype": "f32", "shape": [64, 64], "strides": ["0x100"], "box": [8, "0x8"]}
    request = {"op": "encode", "kind": "tensor-map", "address": address, **tile}
    fields = answer({"op": "decode", "kind": "tensor-map", **answer(request)})["fields"]
    assert (fields["address"], fields["strides"], fields["box"]) == (0x7F0000000400, [256], [8, 8])


@pytest.mark.parametrize("address", ["7f0000000400", "0x", "0x_", "0xg", "x", " 0x10"])
def test_other_text_is_no_integer(address):
    request = {"op": "encode", "kind": "smem.wgmma", "address": address}
    assert "must be an integer" in answer(request)["error"]["message"]


def test_batch_answers_every_line():
    lines = [json.dumps({"op": "encode", **request}) for request, _ in ENCODES]
    lines += ["not json", "[]", '{"op": "encode", "kind": "idesc.f64"}', '{"op": "run", "kind": "idesc.f16"}']
    lines += ['{"op": "decode", "kind": "smem.tcgen05", "value": "0x0"}']
    done = ptxkit("desc", "batch", stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    assert [a["value"] for a in answers[: len(ENCODES)]] == [value for _, value in ENCODES]
    codes = [a["error"]["code"] for a in answers[len(ENCODES) :]]
    assert codes == ["P407", "P407", "P407", "P407", "P403"]
    assert all(set(a["error"]) == {"code", "message"} for a in answers[len(ENCODES) :])


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (
            '{"op":"encode","kind":"idesc.f16","m":256,"n":24,"a":"bf16","b":"bf16","d":"f32"}',
            "P420",
            "table 39",
        ),
        ('{"op":"encode","kind":"smem.wgmma","address":8}', "P401", "multiple of 16"),
        ('{"op":"decode","kind":"idesc.f16","value":"0xzz"}', "P408", "hexadecimal digits"),
        ('{"op":"decode","kind":"idesc.f16","value":"0x108200490"}', "P408", "at most 8"),
        ('{"op":"decode","kind":"idesc.f16","value":""}', "P408", "hexadecimal digits"),
        ('{"op":"decode","kind":"tensor-map","value":"0x00"}', "P408", "exactly 256"),
        ('{"op":"decode","kind":"idesc.f16"}', "P407", "only `op`"),
        (
            '{"op":"encode","kind":"tensor-map","dtype":"bf16","address":0,"shape":[8],"box":[4]}',
            "P453",
            "16 bytes",
        ),
        ('{"op":"encode","kind":["x"]}', "P407", "`kind` must be one of"),
        ('{"op":"encode","kind":"idesc.f16","m":[1],"n":{},"a":1,"b":null,"d":"f32"}', "P404", "`a`"),
    ],
)
def test_errors_name_code_and_rule(line, code, words):
    error = json.loads(answer_line(line))["error"]
    assert code in error["code"] or code in error["message"] or words in error["message"]
    assert words in error["message"]
    assert error["code"] in code_table()


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["none", "128B", "bf16", ""]),
)
JSON = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=6), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2)
)
NAMES = sorted(
    {name for cls in KINDS.values() for name in cls.FIELDS} | {"shape", "strides", "box", "k", "target"}
)


@pytest.mark.long
@given(
    st.sampled_from(["encode", "decode", "run", None]),
    st.one_of(st.sampled_from(list(KINDS)), JSON),
    st.dictionaries(st.sampled_from([*NAMES, "value", "start_count", "element_strides"]), JSON, max_size=12),
)
def test_any_request_gets_an_answer(operation, kind, fields):
    line = json.dumps({"op": operation, "kind": kind, **fields})
    answered = json.loads(answer_line(line))
    assert set(answered) in ({"value"}, {"fields"}, {"error"})


@pytest.mark.parametrize("module", ["ptxkit.bits", "ptxkit.descriptors", "ptxkit.encodings.requests"])
def test_descriptors_import_no_numpy(module):
    code = f"import sys, {module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_encode_and_decode_as_verbs():
    done = ptxkit(
        "desc", "encode", "idesc.f16", "m=128", "n=0x80", "a=bf16", "b=bf16", "d=f32", "transpose_b=true"
    )
    assert (done.returncode, done.stdout) == (0, "0x08210490\n")
    done = ptxkit("desc", "decode", "idesc.f16", "0x08210490", "--json")
    assert json.loads(done.stdout)["fields"]["transpose_b"] is True
    text = ptxkit("desc", "decode", "idesc.f16", "0x08210490").stdout.split()
    assert ptxkit("desc", "encode", "idesc.f16", *text).stdout == "0x08210490\n"
    text = ptxkit("desc", "decode", "tensor-map", BASE_MAP_BYTES).stdout.split()
    assert ptxkit("desc", "encode", "tensor-map", *text).stdout == BASE_MAP_BYTES + "\n"


def test_a_wrong_field_ends_in_a_diagnostic_and_exit_1():
    done = ptxkit("desc", "encode", "idesc.f16", "m=256", "n=24", "a=bf16", "b=bf16", "d=f32")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "error[P420]" in done.stderr
    assert "Traceback" not in done.stderr
    assert ptxkit("desc", "encode", "idesc.f16", "m").returncode == 1
    assert ptxkit("desc", "encode", "idesc.f99").returncode == 1


def test_explain_prints_the_table_and_what_is_wrong():
    done = ptxkit("explain", "smem.tcgen05", "0x4000404000010000")
    assert done.returncode == 0
    for words in ("63:61", "swizzle", "128B", "0x400 (1024)", "table 40"):
        assert words in done.stdout
    wrong = ptxkit("explain", "smem.tcgen05", "0x7600404000010000")
    assert wrong.returncode == 1
    assert "error[P403]" in wrong.stdout
    assert "error[P404]" in wrong.stdout
    asjson = json.loads(ptxkit("explain", "idesc.f16", "0x10408490", "--json").stdout)
    assert asjson["notes"][0] == "M x N x K = 256 x 256 x 16"
    assert {row["field"]: row["value"] for row in asjson["rows"]}["transpose_a"] == "yes"


def test_explain_without_a_value_prints_the_layout():
    done = ptxkit("explain", "smem.tcgen05")
    assert done.returncode == 0
    for words in ("63:61", "128B-32B-atom: 1", "0 .. 0x3fff0 in steps of 16", "always 1"):
        assert words in done.stdout
    fields = json.loads(ptxkit("explain", "idesc.mxf4", "--json").stdout)["fields"]
    assert {"field": "k_bits", "values": "0 .. 2"}.items() <= fields[-1].items()


@pytest.mark.parametrize("kind", KINDS)
def test_explain_takes_any_word_of_every_kind(kind):
    from ptxkit.encodings.explain import explain

    for word in ("0" * 256, "f" * 256) if kind == "tensor-map" else ("0x0", "0x12345678"):
        found = explain(kind, word)
        assert found.rows
        assert json.dumps(found.to_json())
