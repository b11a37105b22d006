"""The site that mkdocs.yml makes of docs/: complete, strict, and read without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.cli import VERBS
from ptxkit.descriptors import KINDS
from ptxkit.diagnostics import code_table

pytest.importorskip("material", reason="needs mkdocs-material: `pip install 'ptxkit[docs]'`")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. It is strict: a link that leads nowhere, anchors too, is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//[^"]*"', text), page
        assert not re.findall(r'<link[^>]*href="(?:https?:)?//[^"]*"[^>]*>', text), page


def test_no_word_for_the_executor_is_shown(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert "```" not in text, page
        assert "&lt;!-- with" not in text, page


def test_what_pages_embed_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        for picture in re.findall(r'<img[^>]*src="([^"]+)"', page.read_text("utf-8")):
            assert (page.parent / picture).exists(), (page, picture)


def test_every_code_kind_and_verb_has_its_place(site: Path) -> None:
    for code, info in code_table().items():
        text = (site / "reference" / "codes" / f"{code[:2]}.html").read_text("utf-8")
        assert f'id="{code.lower()}"' in text
        assert info.name in text
    descriptors = (site / "reference" / "descriptors.html").read_text("utf-8")
    assert all(f'id="{kind.replace(".", "-")}"' in descriptors for kind in KINDS)
    verbs = (site / "reference" / "cli.html").read_text("utf-8")
    assert all(f'id="{verb}"' in verbs for verb in VERBS)


def test_search_knows_the_codes_without_a_server(site: Path) -> None:
    script = (site / "search" / "search_index.js").read_text("utf-8")
    index = json.loads(script.removeprefix("var __index = "))
    assert any("P6100" in entry["title"] for entry in index["docs"])
    assert (site / "assets" / "iframe-worker.js").exists()


def test_search_finds_names_by_their_parts_and_guides_first(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    parts = re.split(index["config"]["separator"], "`tcgen05.mma.cta_group::1.kind::mxf4nvf4`")
    assert [part for part in parts if part] == ["tcgen05", "mma", "cta_group", "1", "kind", "mxf4nvf4"]
    assert "9.7.16.4" in re.split(index["config"]["separator"], "PTX ISA 9.7.16.4")
    boosts = {entry["location"]: entry.get("boost", 1) for entry in index["docs"]}
    assert boosts["card.html"] > boosts["instructions/mapa.html"]


def test_ptx_is_coloured_by_our_lexer(site: Path) -> None:
    text = (site / "tutorial" / "08-tcgen05" / "index.html").read_text("utf-8")
    assert re.search(r'<span class="na">[^<]*\.cta_group::1', text)
    assert 'class="err"' not in text
