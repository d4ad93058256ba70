"""The pictures of the documentation: the terminal's text is what the commands print, and all are small."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
MAX_BYTES = 200_000


def text(picture: Path) -> list[str]:
    """The text of an SVG, a string for each element."""
    return [html.unescape(one) for one in re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text())]


@pytest.mark.slow
@pytest.mark.process
def test_the_terminal_shows_what_the_commands_print(tmp_path: Path) -> None:
    drawn = tmp_path / "terminal.svg"
    subprocess.run([sys.executable, ROOT / "scripts" / "draw-terminal", drawn], check=True)
    picture = PICTURES / drawn.name
    if os.environ.get("UPDATE_DOCS") and drawn.read_bytes() != picture.read_bytes():
        picture.write_bytes(drawn.read_bytes())
        pytest.skip(f"wrote {picture.relative_to(ROOT)}; look at it and commit it")  # a reason that pytest prints
    assert text(drawn) == text(picture), "run: UPDATE_DOCS=1 pytest tests/docs/test_pictures.py"


def test_pictures_are_small() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {"page.png", "terminal.svg"}
    assert all(path.stat().st_size < MAX_BYTES for path in PICTURES.iterdir())
    assert (PICTURES / "page.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_picture_loads_nothing() -> None:
    picture = (PICTURES / "terminal.svg").read_text()
    assert not re.search(r"""@font-face|@import|(?:href|src)=["'](?!#)|url\((?!#)""", picture)
