"""What MkDocs does with the pages beyond writing them out: see mkdocs.yml.

The start page is the README, and links to it lead there. The pages of the diagnostic codes, of the
descriptors, of the instructions and of the verbs are made from the program itself, and so is what stands in
place of `<!-- made: NAME -->` on a page. A link to a file of the repository that is no page leads to a copy
of that file. The words behind a fence that say how `tools/documents.py` executes a
block are not shown.
"""

from __future__ import annotations

import posixpath
import re
import sys
from functools import partial
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import (
    agreement,
    codes,
    coverage,
    descriptors,
    instructions,
    predictions,
    suites,
    verbs,
    virtual_gpu,
)

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^([ ]*`{3,})(\w+)[ ][^`\n]*$", re.MULTILINE)
PTX = re.compile(r"^([ ]*`{3,})ptx$", re.MULTILINE)
WITH = re.compile(r"^<!-- with .*-->\n", re.MULTILINE)
MADE = re.compile(r"^<!-- made: (\w+) -->\n", re.MULTILINE)
MAKERS = {
    "agreement": agreement.tables,
    "codes": codes.index,
    "coverage": coverage.tables,
    "instructions": instructions.index,
    "predictions": predictions.tables,
    "predictions_b200": partial(predictions.public, "b200"),
    **{
        f"predictions_{name}": partial(predictions.strangers, name)
        for name in ("strangers", *(f"strangers{number}" for number in range(2, 7)))
    },
    "predictions_h100": partial(predictions.public, "h100"),
    "numbers": suites.numbers,
    "suites": suites.tables,
    "virtual_gpu": virtual_gpu.tables,
}
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
START = "index.md"
"""The README's page."""
GUIDES = (
    "bench",
    "card",
    "check",
    "debug",
    "desc",
    "driver",
    "exec",
    "plan",
    "profile",
    "run",
    "sweep",
    "trace",
    "workload",
)
"""Pages that the search shows, as it does the reference, before those of instructions and messages."""
COPIES = "repository"
"""The folder of the site with copies of files of the repository."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and copies of the files that pages link to."""
    made = {
        START: (ROOT / "README.md").read_text("utf-8"),
        **codes.pages(),
        **descriptors.pages(),
        **instructions.pages(),
        **verbs.pages(),
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    for file in list(files.documentation_pages()):
        for linked in _outside(file.src_uri, file.content_string):
            copy = f"{COPIES}/{linked}"
            if files.get_file_from_path(copy) is None:
                files.append(File.generated(config, copy, content=(ROOT / linked).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page's text as the site has it."""
    here = page.file.src_uri
    if here.removesuffix(".md") in GUIDES or here.startswith("reference/"):
        page.meta["search"] = {"boost": 4}
    markdown = MADE.sub(lambda found: MAKERS[found[1]](), markdown)
    markdown = LINK.sub(lambda found: f"{found[1]}{_lead(here, found[2])}{found[3]}", markdown)
    markdown = PTX.sub(r"\1ptxkit", FENCE.sub(r"\1\2", markdown))
    return WITH.sub("", markdown)


def _target(page: str, link: str) -> str:
    """Where a link of a page leads, from the repository's root."""
    lies = "README.md" if page == START else f"docs/{page}"
    if page.startswith(f"{COPIES}/"):
        lies = page.removeprefix(f"{COPIES}/")
    folder = posixpath.dirname(lies)
    return posixpath.normpath(posixpath.join(folder, link))


def _outside(page: str, text: str) -> list[str]:
    """The files outside docs/ that a page links to."""
    found = [_target(page, link[2]) for link in LINK.finditer(text)]
    inside = ("docs/", "..", "README.md")
    return [path for path in found if not path.startswith(inside) and (ROOT / path).is_file()]


def _lead(page: str, link: str) -> str:
    """A link of a page as the site has it."""
    target = _target(page, link)
    if target == "README.md":
        return posixpath.relpath(START, posixpath.dirname(page) or ".")
    if target.startswith("docs/"):
        return posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(page) or ".")
    if (ROOT / target).is_file() and not target.startswith(".."):
        return posixpath.relpath(f"{COPIES}/{target}", posixpath.dirname(page) or ".")
    return link
