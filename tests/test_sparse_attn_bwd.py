"""sparse_attn_bwd.ptx on lists that the workload's generators do not make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command import codes, here


def run(*arguments: object, **sizes: int) -> None:
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    done = here("run", "sparse_attn_bwd", "--device", "emu", *given, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert codes(done.stderr + done.stdout) == []


def test_one_key_takes_the_adds_of_a_whole_block() -> None:
    run("--inputs", "valid", s_q=1, s_kv=1, topk=64, heads=128, d_qk=576)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [512, 576])
def test_lists_end_at_and_beside_the_end_of_a_block(tmp_path: Path, depth: int) -> None:
    """Lengths past the list's own and negative ones too; o and lse stay those of the full list."""
    lengths = np.array([1, 63, 64, 65, 200, -5], np.int32)
    np.save(tmp_path / "lengths.npy", lengths)
    given = ("--inputs", "valid", "--arg", f"topk_length=@{tmp_path}/lengths.npy")
    run(*given, "--order", "random", s_q=len(lengths), s_kv=50, topk=128, heads=128, d_qk=depth)
