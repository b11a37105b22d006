"""The launch card: its frame, its TOML, its expressions, and the card against its entry."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import here
from hypothesis import assume, given
from hypothesis import strategies as st

import ptxkit
from ptxkit import card
from ptxkit.asm.check.card import check_card
from ptxkit.card import expression, initial
from ptxkit.card.positions import Positions
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, code_info

GOOD = """\
// a kernel
// /// ptxkit
// workload = "nvfp4_gemv"
//
// [launch]
// grid = ["ceildiv(M, 8)", "L", 1]   # CTAs
// block = 256
// shared = "K // 2 + K // 16"
// params = ["a", "sfa", "b", "sfb", "c", "M", "K"]
// when = "K % 32 == 0 and M > 0"
// [presets]
// smoke = { M = 128, K = 256, L = 1 }
// narrow = { M = 128, K = 256, L = 1, inputs = "contest" }
// ///
"""


def read(text: str) -> card.Card:
    found = card.read(Source("k.ptx", text))
    assert found is not None
    return found


def complaints(text: str) -> list[Diagnostic]:
    with pytest.raises(PtxkitError) as caught:
        read(text)
    for diagnostic in caught.value.diagnostics:
        assert code_info(diagnostic.code), diagnostic.code
        assert diagnostic.span is not None
    return list(caught.value.diagnostics)


def marked(text: str, diagnostic: Diagnostic) -> str:
    """The source text under the caret."""
    span = diagnostic.span
    assert span is not None
    assert span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


# ---- what a good card says


def test_everything_is_read() -> None:
    found = read(GOOD)
    (launch,) = found.launches
    sizes = {"M": 100, "K": 256, "L": 3}
    assert found.workload == "nvfp4_gemv"
    assert [extent.evaluate(sizes) for extent in launch.grid] == [13, 3, 1]
    assert [extent.evaluate(sizes) for extent in launch.block] == [256]
    assert launch.shared is not None
    assert launch.shared.evaluate(sizes) == 144
    assert [param.name for param in launch.params] == ["a", "sfa", "b", "sfb", "c", "M", "K"]
    assert launch.when is not None
    assert [launch.when.evaluate({**sizes, "K": k}) for k in (256, 272)] == [1, 0]
    assert [(p.name, dict(p.sizes), p.inputs) for p in found.presets] == [
        ("smoke", {"M": 128, "K": 256, "L": 1}, None),
        ("narrow", {"M": 128, "K": 256, "L": 1}, "contest"),
    ]


def test_windows_line_ends_and_a_missing_card() -> None:
    assert read(GOOD.replace("\n", "\r\n")) == read(GOOD)
    assert card.read(Source("k.ptx", "// ptxkit\n.version 9.0\n")) is None


def test_several_launches_groups_tensors_and_maps() -> None:
    found = read(
        textwrap.dedent("""\
        // /// ptxkit
        // [[launch]]
        // entry = "fast"
        // group = "main"
        // when = "n % 4 == 0"
        // grid = "n // 4"
        // block = [32, 2]
        // params = ["x", "x_map", "n * 4", 1.5]
        // cooperative = true
        // [[launch]]
        // entry = "slow"
        // group = "main"
        // grid = "n"
        // block = 32
        // cluster = 2
        // params = ["x"]
        // [presets]
        // one = { n = 8 }
        // [tensors.x]
        // dtype = "bf16"
        // shape = ["n", 64]
        // init = "uniform(-1, 1)"
        // expect = "x + 1"
        // rtol = 1e-2
        // [tensor_maps.x_map]
        // tensor = "x"
        // box = [8, 64]
        // swizzle = "128B"
        // ///
        """)
    )
    first, second = found.launches
    assert (first.entry, first.group, first.cooperative, first.cluster) == ("fast", "main", True, None)
    assert first.params[2].name is None
    assert first.params[3].value == 1.5
    assert second.cluster is not None
    (tensor,) = found.tensors
    assert (tensor.dtype, str(tensor.initial), tensor.expect, tensor.rtol) == (
        "bf16",
        "uniform(-1, 1)",
        "x + 1",
        0.01,
    )
    (tensor_map,) = found.tensor_maps
    assert (tensor_map.tensor, dict(tensor_map.options)) == ("x", {"swizzle": "128B"})


# ---- what a bad card is told


@pytest.mark.parametrize(
    ("old", "new", "code", "under"),
    [
        ("block = 256", "block =", "P530", ""),
        ("// [launch]", "// [launch", "P530", ""),
        ("// ///\n", "", "P531", "// /// ptxkit"),
        ("// /// ptxkit", "// ///ptxkit", "P531", "// ///ptxkit"),
        ("// /// ptxkit", "/// ptxkit", "P531", "/// ptxkit"),
        ("// block", "//block", "P531", "//block = 256"),
        ("block = 256", "blok = 256\n// block = 1", "P532", "blok"),
        ("block = 256", "threads = 256", "P532", "threads"),
        ("block = 256", "block = true", "P532", "true"),
        ("block = 256", "block = [1, 2, 3, 4]", "P532", "[1, 2, 3, 4]"),
        ("block = 256", "block = 256\n// cooperative = 1", "P532", "1"),
        ("L = 1 }", "L = -1 }", "P532", "-1"),
        ("L = 1, inputs", "inputs", "P532", '{ M = 128, K = 256, inputs = "contest" }'),
        ("L = 1 }", "2L = 1 }", "P532", "2L"),
        ('"L"', '"L ** 2"', "P533", "L ** 2"),
        ('"L"', '"L / 2"', "P533", "L / 2"),
        ('"L"', '"L."', "P533", "L."),
        ('"L"', "\"__import__('os')\"", "P533", "__import__('os')"),
        ('"L"', '"L.real"', "P533", "L.real"),
        ('"L"', '"min(L)"', "P533", "min(L)"),
        ("ceildiv(M, 8)", "ceildiv(M, N)", "P534", "N"),
        ("K // 2", "N // 2", "P534", "N"),
    ],
)
def test_a_bad_card(old: str, new: str, code: str, under: str) -> None:
    text = GOOD.replace(old, new, 1)
    first = complaints(text)[0]
    assert first.code == code
    assert marked(text, first).strip() == under


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("// [launch]", "// [launch]\n// [launch]", "cannot declare `launch` twice"),
        ("// [presets]", "// [a.b]\n// [a.b]", "cannot declare `a.b` twice"),
        ("block = 256", "block = 256\n// block = 1", "a key that is there already"),
        ("block = 256", 'block = "256', "a string that does not end on its line"),
        ("block = 256", "block = " + "[" * 5000, "too deeply nested"),
    ],
)
def test_what_is_no_toml(old: str, new: str, said: str) -> None:
    (complaint,) = complaints(GOOD.replace(old, new, 1))
    assert (complaint.code, complaint.message) == ("P530", f"expected TOML in the card: {said}")


def test_a_wrong_size_has_one_complaint() -> None:
    """What uses the size needs none of its own."""
    (complaint,) = complaints(GOOD.replace("L = 1 }", 'L = "1" }'))
    assert "a size of 0 or more" in complaint.message


def test_blanks_behind_the_opening() -> None:
    assert read(GOOD.replace("// /// ptxkit", "// /// ptxkit \t", 1)) == read(GOOD)
    (complaint,) = complaints(GOOD.replace("// /// ptxkit", "  // /// ptxkit", 1))
    assert complaint.message == "expected `// /// ptxkit`, found `  // /// ptxkit`"


@pytest.mark.parametrize("tolerance", ["rtol = -1", "atol = nan", "rtol = inf", "atol = -0.5"])
def test_a_tolerance_that_is_none(tolerance: str) -> None:
    tensor = f'// [tensors.d]\n// dtype = "f32"\n// shape = 1\n// {tolerance}\n'
    (complaint,) = complaints(GOOD.replace("// ///\n", f"{tensor}// ///\n"))
    assert "expected a number of 0 or more" in complaint.message


def test_one_run_reports_every_error() -> None:
    text = GOOD.replace("block = 256", "blok = 256").replace('"L"', '"Z"').replace("K // 16", "K ** 16")
    assert sorted(d.code for d in complaints(text)) == ["P532", "P532", "P533", "P534"]


def test_tensors_of_a_card_are_checked() -> None:
    text = textwrap.dedent("""\
    // /// ptxkit
    // [launch]
    // grid = 1
    // block = 32
    // params = ["x", "y", "z"]
    // [tensors.x]
    // dtype = "f31"
    // shape = [4]
    // [tensors.y]
    // dtype = "f32"
    // shape = [4]
    // init = "rand"
    // ///
    """)
    found = complaints(text)
    assert [(d.code, marked(text, d)) for d in found] == [
        ("P537", '"f31"'),
        ("P536", '"rand"'),
        ("P534", "z"),
    ]


# ---- expressions


SIZES = {"M": 7, "K": 64, "n_1": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-M // 2", -4),
        ("ceildiv(M, 2)", 4),
        ("ceildiv(0, 2)", 0),
        ("max(M, K, 3) - min(M, K)", 57),
        ("K % 32 == 0 and not M > 8", 1),
        ("n_1 or M", 1),
        ("1 < M <= 7", 1),
        ("0x10 + 1", 17),
    ],
)
def test_expressions(text: str, value: int) -> None:
    assert expression.parse(text).evaluate(SIZES) == value


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_ceildiv_is_the_least_cover(a: int, b: int) -> None:
    value = expression.parse("ceildiv(a, b)").evaluate({"a": a, "b": b})
    assert (value - 1) * b < a <= value * b or (a == 0 and value == 0)


def outcome(text: str) -> int | str:
    """The value of an expression, or the code of what is wrong with it."""
    try:
        return expression.parse(text).evaluate(SIZES)
    except PtxkitError as problem:
        return problem.diagnostics[0].code


@given(st.text(alphabet="MK019 +-*/%()<>=!,.andortminceilv_'\"[]{}:@\\", max_size=40))
def test_an_expression_is_a_number_or_a_diagnostic(text: str) -> None:
    assert type(outcome(text)) is int or outcome(text) in ("P533", "P535", "P560")


@pytest.mark.parametrize("text", ["(" * 250 + "1" + ")" * 250, "-" * 299 + "1", "1+" * 149 + "1", "9" * 299])
def test_deep_and_long_expressions_neither_crash_nor_hang(text: str) -> None:
    assert type(outcome(text)) is int or outcome(text) == "P533"


def test_division_by_zero_names_the_sizes() -> None:
    with pytest.raises(PtxkitError) as caught:
        expression.parse("M // n_1").evaluate(SIZES)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P535"
    assert "n_1 = 0" in diagnostic.message


EXACT = [
    "full(1.23456789)",
    "full(0.1)",
    "full(inf)",
    "randint(0, 123456789)",
    "randint(-2147483648, 2147483647)",
]


@pytest.mark.parametrize(
    "text", ["randn", "uniform(-1, 2.5)", "full(3)", "@dir/x.npy", "randint(0, 10)", "full(1e300)", *EXACT]
)
def test_contents_print_as_they_are_read(text: str) -> None:
    assert initial.parse(str(initial.parse(text))) == initial.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "uniform(1, 0)",
        "uniform(nan, 1)",
        "uniform(0, inf)",
        "uniform(-1e308, 1e308)",
        "randint(5, 5)",
        "randint(0.5, 2)",
        "randint(0, 1e30)",
        "randint(nan, 1)",
    ],
)
def test_a_range_that_is_none(text: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        initial.parse(text)
    assert caught.value.diagnostics[0].code == "P536"


# ---- positions


def test_positions_of_every_kind_of_value() -> None:
    text = textwrap.dedent("""\
    a = 1 # comment
    "b c".d = 'x # y'
    [t]
    list = [ 1, # one
      "two", [3, 4], { k = 5 } ]
    [[r]]
    x = true
    [[r]]
    x = 1979-05-27 07:32:00
    [r.sub]
    y = '''
    long'''
    """)
    values = {path: text[slice(*extent)] for path, extent in Positions.of(text).values.items()}
    assert values["a",] == "1"
    assert values["b c", "d"] == "'x # y'"
    assert values["t", "list", 0] == "1"
    assert values["t", "list", 1] == '"two"'
    assert values["t", "list", 2, 1] == "4"
    assert values["t", "list", 3, "k"] == "5"
    assert values["r", 0, "x"] == "true"
    assert values["r", 1, "x"] == "1979-05-27 07:32:00"
    assert values["r", 1, "sub", "y"] == "'''\nlong'''"


BLANKS = st.sampled_from(["", " ", "\t", "\n", " # ]} '\n"])
SCALARS = st.sampled_from(
    ["1", "-2.5", "0x1F", "inf", "true", "1979-05-27 07:32:00", '"x # ]"', r'"\" }"', "'a\\'"]
    + ['"""\n" ""q""""', "'''\n]'''", "'''x''''"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(st.tuples(BLANKS, inner, BLANKS), max_size=3).map(
            lambda items: "[" + ",".join("".join(item) for item in items) + "]"
        ),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{i}.'d.{i}' = {item}" for i, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=6,
)
HEADERS = st.sampled_from(["", "[[r]]\n", "[[r]] # [x]\n", "[[r]]\n[r.sub]\n"])


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


@given(st.lists(st.tuples(HEADERS, VALUES), min_size=1, max_size=4))
def test_every_leaf_of_any_toml_is_found_where_it_stands(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"{header}v{i} = {value}\n" for i, (header, value) in enumerate(parts))
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    positions = Positions.of(text)
    for path, value in leaves(document):
        start, end = positions.values[path]
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == value


# ---- the card against the entry


ENTRY = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry gemv(
    .param .u64 .ptr .global a, .param .u64 sfa, .param .u64 b, .param .u64 sfb, .param .u64 c,
    .param .u32 M, .param .u32 K
)
{
    ret;
}
"""


def against(text: str) -> list[Diagnostic]:
    found = check_card(ptxkit.parse(text))
    for diagnostic in found:
        assert code_info(diagnostic.code), diagnostic.code
    return found


def test_a_card_that_fits() -> None:
    assert against(GOOD + ENTRY) == []
    assert against(ENTRY) == []


def test_a_pointer_that_is_not_used_is_0(tmp_path: Path) -> None:
    """Triton appends two of them."""
    kernel = tmp_path / "k.ptx"
    kernel.write_text("""\
// /// ptxkit
// [launch]
// grid = 1
// block = 32
// params = ["x", 0]
// [presets]
// only = { n = 32 }
// [tensors.x]
// dtype = "u32"
// shape = "n"
// expect = "arange(n)"
// ///
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 1 scratch)
{
    .reg .b32 %r;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    mov.u32 %r, %tid.x;
    mad.wide.u32 %x, %r, 4, %x;
    st.global.u32 [%x], %r;
    ret;
}
""")
    assert here("run", kernel, "--device", "emu").returncode == 0
    kernel.write_text(kernel.read_text().replace('"x", 0]', '"x", 8]'))
    assert (
        "expected a tensor, or `0` for none, for parameter `scratch`, found integer `8`"
        in here("check", kernel).stdout
    )


@pytest.mark.parametrize(
    ("old", "new", "code", "under"),
    [
        ("// block = 256", '// entry = "gemm"\n// block = 256', "P538", '"gemm"'),
        ('"c", "M", "K"]', '"c", "M"]', "P539", '["a", "sfa", "b", "sfb", "c", "M"]'),
        ('["a", "sfa", "b", "sfb", "c", "M", "K"]', "[]", "P539", "[]"),
        ('"c", "M", "K"]', '"c", "K", "M"]', "P539", '"K"'),
        ('["a", "sfa"', '["sfa", "a"', "P539", '"sfa"'),
        ('"c", "M", "K"]', '"M", "c", "K"]', "P539", '"M"'),
        ('["a", "sfa"', '["M", "sfa"', "P539", '"M"'),
        ('"c", "M", "K"]', '"c", "M", 1.5]', "P539", "1.5"),
        ("block = 256", "block = 2048", "P540", "2048"),
        ("block = 256", 'block = ["M", "M"]', "P540", '["M", "M"]'),
        (")\n{", ")\n.reqntid 128\n{", "P540", "256"),
        (")\n{", ")\n.maxntid 64, 2, 1\n{", "P540", "256"),
        ('"ceildiv(M, 8)"', '"M - 128"', "P540", '["M - 128", "L", 1]'),
        ("block = 256", "block = 256\n// cluster = 3", "P541", '["ceildiv(M, 8)", "L", 1]'),
        (")\n{", ")\n.reqnctapercluster 3\n{", "P541", '["ceildiv(M, 8)", "L", 1]'),
        ("block = 256", "block = 256\n// cluster = 32", "P541", "32"),
        ("K // 2 + K // 16", "K * 1024", "P542", '"K * 1024"'),
        ("K // 2 + K // 16", "K - 1000", "P542", '"K - 1000"'),
        ('"ceildiv(M, 8)"', '"M // (K - 256)"', "P535", "M // (K - 256)"),
    ],
)
def test_a_card_that_contradicts_its_entry(old: str, new: str, code: str, under: str) -> None:
    text = (GOOD + ENTRY).replace(old, new, 1)
    found = against(text)
    assert [d.code for d in found][:1] == [code]
    assert marked(text, found[0]).strip() == under


def test_a_contradiction_is_said_once_for_all_presets() -> None:
    assert len(against((GOOD + ENTRY).replace("block = 256", "block = 2048"))) == 1


def test_a_launch_that_does_not_run_for_a_preset_is_not_judged_by_it() -> None:
    text = (
        (GOOD + ENTRY)
        .replace('"K % 32 == 0 and M > 0"', '"K % 512 == 0"')
        .replace("block = 256", "block = 2048")
    )
    assert against(text) == []


def test_several_entries_need_a_name() -> None:
    second = ENTRY[ENTRY.index(".visible") :].replace("gemv", "other")
    (diagnostic,) = against(GOOD + ENTRY + second)
    assert diagnostic.code == "P538"
    assert "`gemv`, `other`" in (diagnostic.help or "")


def test_parameters_with_a_common_prefix_are_known_by_the_rest() -> None:
    names = ("a", "sfa", "b", "sfb", "c", "M", "K")
    entry = ENTRY
    for name in names:
        entry = entry.replace(f" {name},", f" gemv_param_{name},").replace(
            f" {name}\n", f" gemv_param_{name}\n"
        )
    assert against(GOOD + entry) == []
    swapped = (GOOD + entry).replace('["a", "sfa"', '["sfa", "a"')
    assert [d.code for d in against(swapped)] == ["P539", "P539"]


def test_a_tensor_map_needs_its_128_bytes() -> None:
    text = textwrap.dedent("""\
    // /// ptxkit
    // [launch]
    // grid = 1
    // block = 32
    // params = ["m"]
    // [tensors.x]
    // dtype = "f32"
    // shape = [32, 32]
    // [tensor_maps.m]
    // tensor = "x"
    // box = [32, 32]
    // ///
    .version 8.0
    .target sm_90
    .address_size 64
    .entry f(.param .align 64 .b8 m[128]) { ret; }
    """)
    assert against(text) == []
    assert [d.code for d in against(text.replace("[128]", "[64]"))] == ["P539"]
    assert [d.code for d in against(text.replace(".align 64 .b8 m[128]", ".u64 m"))] == ["P539"]


def test_a_file_with_syntax_errors_has_its_card_read_but_not_compared() -> None:
    broken = ENTRY.replace("ret;", "ret ret ,;")
    assert against(GOOD.replace("block = 256", "block = 2048") + broken) == []
    assert [d.code for d in against(GOOD.replace("block = 256", "blok = 2") + broken)] == ["P532", "P532"]


# ---- cost


def cost_of(text: str, **sizes: int) -> tuple[int, str | None]:
    found = read(text)
    return (found.operations.evaluate(sizes) if found.operations else 0), found.arithmetic


COST = """\
// /// ptxkit
// [launch]
// grid = 1
// block = 32
// [presets]
// smoke = {{ M = 8, N = 4 }}
// [cost]
// {0}
// ///
"""


def test_a_card_says_what_its_problem_costs() -> None:
    text = COST.format('operations = "2 * M * N"\n// arithmetic = "bf16"')
    assert cost_of(text, M=8, N=4) == (64, "bf16")
    assert cost_of(COST.format("operations = 7")) == (7, None)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('operation = "M"', "P532"),
        ('operations = "Q"', "P534"),
        ('arithmetic = "bf17"', "P532"),
        ("arithmetic = 3", "P532"),
    ],
)
def test_costs_that_are_none(line: str, code: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        read(COST.format(line))
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_workload_knows_its_cost_itself() -> None:
    text = COST.format('operations = "M"').replace(
        "// [launch]", '// workload = "nvfp4_gemv"\n// [launch]', 1
    )
    with pytest.raises(PtxkitError) as caught:
        read(text)
    assert [d.code for d in caught.value.diagnostics] == ["P532"]
