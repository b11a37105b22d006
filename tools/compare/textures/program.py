"""The kernel of a kind: each thread reads its inputs, executes a statement, and stores what came out."""

from __future__ import annotations

from compare.textures.model import Kind, Trial

BLOCK = 128


def text(kind: Kind, trial: Trial, target: str, version: str) -> str:
    """The PTX of a trial. Bits outside the statement are copied as they are."""
    threads = trial.threads
    lines = [
        f".version {version}",
        f".target {target}{kind.mode}",
        ".address_size 64",
        *kind.variables.splitlines(),
        ".visible .entry fetch(.param .u64 handle, .param .u64 values, .param .u64 results)",
        "{",
        f"    .reg .b32 %i<{max(kind.inputs, 1)}>, %o<{max(kind.outputs, 1)}>, %t<4>;",
        "    .reg .b64 %rd<8>;",
        "    .reg .b16 %h<8>;",
        "    .reg .pred %p<4>;",
        "    ld.param.u64 %rd0, [handle];",
        "    ld.param.u64 %rd1, [values];",
        "    ld.param.u64 %rd2, [results];",
        "    mov.u32 %t0, %tid.x;",
        "    mov.u32 %t1, %ctaid.x;",
        f"    mad.lo.u32 %t0, %t1, {BLOCK}, %t0;",
        "    mad.wide.u32 %rd1, %t0, 4, %rd1;",
        "    mad.wide.u32 %rd2, %t0, 4, %rd2;",
    ]
    lines += [f"    ld.global.b32 %i{n}, [%rd1+{4 * threads * n}];" for n in range(kind.inputs)]
    lines += [f"    {line.strip()};" for line in kind.statements[trial.statement].split(";") if line.strip()]
    lines += [f"    st.global.b32 [%rd2+{4 * threads * n}], %o{n};" for n in range(kind.outputs)]
    return "\n".join([*lines, "    ret;", "}", ""])
