"""The documentation site: the pages of this repository as they are, made by Sphinx. `make docs` builds it into site/.

The README is the first page. The index of the documentation, docs/README.md, gives the chapters of the sidebar.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LINK = re.compile(r"\]\(([^)#\s]+)\.md(?:#[^)\s]*)?\)")

project = "ferrule"
author = "the authors of ferrule"
project_copyright = author
release = PROJECT["bumpversion"]["current_version"]
html_title = f"ferrule {release}"
html_baseurl = PROJECT["ferrule"]["release"]["documentation"]

extensions = ["myst_parser", "sphinxcontrib.mermaid"]
root_doc = "README"
include_patterns = [
    "*.md",
    "changelog.d/README.md",
    "docs/*.md",
    "docs/*/*.md",
    "host/README.md",
    "plugins/*/README.md",
]
exclude_patterns = [".*", "**/.*", "site", "dist", "website", "tests", "bench", "**/tests", "**/src"]
source_suffix = {".md": "markdown"}

suppress_warnings = ["misc.highlighting_failure"]  # blocks that show faulty HTML on purpose
myst_heading_anchors = 6  # as on GitHub: the links of the pages were written for it
myst_fence_as_directive = ["mermaid"]

html_theme = "furo"
html_static_path = [os.environ["FERRULE_SITE_MERMAID"]]
html_extra_path = ["extra"]
html_copy_source = False
html_show_sourcelink = False
# A page loads nothing from another host: the scripts of the diagrams are files of the site.
mermaid_use_local = "mermaid.esm.min.mjs"
mermaid_fullscreen_button = "↗"


def chapters() -> Iterator[tuple[str, list[str]]]:
    """The title of each chapter of the sidebar, with the names of its pages, as Sphinx writes them."""
    seen: set[str] = set()
    index = (ROOT / "docs" / "README.md").read_text()
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        names = [name for name in map(_document, LINK.findall(section)) if name not in seen and not seen.add(name)]
        yield section.partition("\n")[0], names
    packages = [str(path.relative_to(ROOT).with_suffix("")) for path in sorted(ROOT.glob("plugins/*/README.md"))]
    yield "Distributions", ["host/README", *(name for name in packages if name not in seen)]
    yield "Project", ["docs/README", "changelog.d/README", "CHANGELOG"]


def _document(target: str) -> str:
    return os.path.relpath(ROOT / "docs" / target, ROOT)


def add_tables_of_contents(_: Sphinx, name: str, source: list[str]) -> None:
    """Give Sphinx the order of the pages, which it wants in the pages themselves."""
    if name == root_doc:
        tables = [f":caption: {title}\n\n" + "\n".join(f"/{page}" for page in pages) for title, pages in chapters()]
    elif name == "docs/decisions/README":
        tables = [":glob:\n\n/docs/decisions/0*"]
    else:
        return
    source[0] += "".join(f"\n```{{toctree}}\n:hidden:\n{table}\n```\n" for table in tables)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_tables_of_contents)
