"""What is kept between processes: whole or not at all, the user's alone, within its limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import here

from ptxkit.support.disk_cache import VARIABLE, CacheSize, DiskCache, cache_folder, disk_cache, key_of

A, B = key_of("a"), key_of("b")


@pytest.fixture
def kept(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "deep" / "kept")


def only_file(kept: DiskCache) -> Path:
    (path,) = kept.folder.iterdir()
    return path


def test_keys_tell_parts_apart() -> None:
    assert len({A, B, key_of("a", "b"), key_of("ab"), key_of("b", "a"), key_of("", "ab")}) == 6


def test_what_is_kept_is_found(kept: DiskCache) -> None:
    assert kept.get(A) is None
    kept.put(A, b"code")
    kept.put(B, b"")
    assert (kept.get(A), kept.get(B)) == (b"code", b"")
    kept.put(A, b"other")
    assert DiskCache(kept.folder).get(A) == b"other"
    assert kept.size().files == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs modes of files")
def test_it_is_the_users_alone(kept: DiskCache) -> None:
    before = os.umask(0)
    try:
        kept.put(A, b"code")
    finally:
        os.umask(before)
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    assert only_file(kept).stat().st_mode & 0o777 == 0o600
    only_file(kept).chmod(0o622)
    assert kept.get(A) is None
    only_file(kept).chmod(0o600)
    assert kept.get(A) == b"code"
    kept.folder.chmod(0o777)
    assert kept.why_not() == "other users may write it"
    assert kept.get(A) is None
    kept.put(B, b"more")
    assert only_file(kept).stem == A


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners of files")
def test_another_users_folder_is_not_used(kept: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.put(A, b"code")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept.why_not() == "another user owns it"
    assert kept.get(A) is None
    assert kept.size() == CacheSize(0, 0)


def test_a_link_is_not_followed(kept: DiskCache, tmp_path: Path) -> None:
    kept.put(A, b"code")
    elsewhere = only_file(kept).rename(tmp_path / "elsewhere")
    (kept.folder / f"{A}.kept").symlink_to(elsewhere)
    assert kept.get(A) is None
    link = tmp_path / "link"
    link.symlink_to(kept.folder)
    assert DiskCache(link).why_not() == "it is no folder"


@pytest.mark.parametrize("broken", [b"", b"ptxkit1\n", b"cut", b"changed", b"longer"])
def test_a_broken_file_is_ignored_and_replaced(broken: bytes, kept: DiskCache) -> None:
    kept.put(A, b"some code")
    path = only_file(kept)
    whole = path.read_bytes()
    content = {b"cut": whole[:-1], b"changed": whole[:-1] + b"?", b"longer": whole + b"!"}.get(broken, broken)
    path.write_bytes(content)
    assert kept.get(A) is None
    kept.put(A, b"some code")
    assert kept.get(A) == b"some code"


def test_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    for number in range(10):
        DiskCache(tmp_path / "kept").put(key_of(str(number)), bytes(1000))
        os.utime(tmp_path / "kept" / f"{key_of(str(number))}.kept", (number, number))
    small = DiskCache(tmp_path / "kept", limit=8000)
    assert small.get(key_of("0")) is not None  # and so it was used last
    small.put(A, bytes(1000))
    assert small.size().bytes <= 6000
    assert small.get(key_of("0")) is not None
    assert small.get(key_of("1")) is None
    assert small.get(key_of("9")) is not None
    small.put(B, bytes(8000))
    assert small.get(B) is None


def test_what_was_left_behind_goes(kept: DiskCache) -> None:
    kept.put(A, b"code")
    old, new = kept.folder / "1.part", kept.folder / "2.part"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    DiskCache(kept.folder).put(B, b"code")
    assert (old.exists(), new.exists()) == (False, True)


def test_nothing_happens_where_it_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, file / "below"):
        DiskCache(folder).put(A, b"code")
        assert DiskCache(folder).get(A) is None
        assert DiskCache(folder).size() == CacheSize(0, 0)


WRITES = """
import sys
from pathlib import Path
from ptxkit.support.disk_cache import DiskCache, key_of
kept = DiskCache(Path(sys.argv[1]), limit=200_000)
for turn in range(40):
    for number in range(5):
        data = bytes([number]) * (1000 * number + 1)
        found = kept.get(key_of(str(number)))
        assert found in (None, data)
        kept.put(key_of(str(number)), data)
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITES, str(tmp_path / "kept")]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait(60) for each in both] == [0, 0]
    assert DiskCache(tmp_path / "kept").size().files == 5


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv(VARIABLE, "off")
    assert cache_folder() is None
    assert disk_cache() is None
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ptxkit"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/a/home")
    assert cache_folder() == Path("/a/home/.cache/ptxkit")


def test_doctor_tells_and_clears_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fact() -> dict[str, object]:
        facts = json.loads(here("doctor", "--json").stdout)["facts"]
        return next(fact for fact in facts if fact["name"] == "cache")

    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    DiskCache(tmp_path / "kept").put(A, bytes(100))
    assert fact()["state"] == "good"
    details = fact()["details"]
    assert details == {"folder": str(tmp_path / "kept"), "limit": 256 << 20, "files": 1, "bytes": 140}
    assert here("doctor", "--clear-cache").stdout == "removed 1 file, 0.0 MB\n"
    assert json.loads(here("doctor", "--clear-cache", "--json").stdout)["removed"] == {"files": 0, "bytes": 0}
    (tmp_path / "kept").chmod(0o777)
    assert (fact()["state"], fact()["mend"] is not None) == ("optional", True)
    monkeypatch.setenv(VARIABLE, "off")
    assert fact()["found"] == "off, by PTXKIT_CACHE; compiled code is made anew"


def test_compiled_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second compiler takes the first one's code from the disk, and makes it anew where it is broken."""
    pytest.importorskip("llvmlite")
    import ctypes

    from ptxkit.emulator.native import Compiler

    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    compiled: list[str] = []
    compile_ = Compiler._compile

    def noted(self: Compiler, name: str, text: str, optimise: bool) -> bytes:
        compiled.append(name)
        return compile_(self, name, text, optimise)

    monkeypatch.setattr(Compiler, "_compile", noted)
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

    def run(add: int, optimise: bool = False) -> int:
        text = f"define i64 @run(i64 %x) {{\n  %y = add i64 %x, {add}\n  ret i64 %y\n}}\n"
        compiler = Compiler()
        return int(compiler.function(text, kind, optimise)(40))

    assert [run(2), run(2)] == [42, 42]
    assert len(compiled) == 1
    (path,) = (tmp_path / "kept").iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    assert [run(2), run(2)] == [42, 42]
    assert len(compiled) == 2
    assert [run(3), run(2, optimise=True)] == [43, 42]
    assert len(compiled) == 4


def test_what_is_no_file_of_the_key_is_not_read(kept: DiskCache) -> None:
    kept.put(A, b"code")
    path = only_file(kept)
    path.rename(path.with_stem(B))
    assert kept.get(B) is None  # Code under another name would be run.
    path.mkdir()
    assert kept.get(A) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_not_waited_for(kept: DiskCache) -> None:
    kept.put(A, b"code")
    path = only_file(kept)
    path.unlink()
    os.mkfifo(path, 0o600)
    assert kept.get(A) is None


def test_the_home_of_a_user_who_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "~nobody-has-this-name/kept")
    assert cache_folder() is None
