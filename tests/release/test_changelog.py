"""The fragments of the changelog: their names are legal, their texts name a distribution, a release can be built."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAGMENTS = [path for path in sorted((ROOT / "changelog.d").iterdir()) if path.name != "README.md"]
NAME = re.compile(r"\+[a-z0-9]+(?:-[a-z0-9]+)*\.(?:added|changed|fixed|removed)\.md")


def test_fragments_have_legal_names_and_name_their_distributions() -> None:
    assert [one.name for one in FRAGMENTS if not NAME.fullmatch(one.name)] == []
    begins = re.compile(r"\*\*ferrule[a-z-]*\*\*(?:, \*\*ferrule[a-z-]*\*\*)*: \S")
    assert [one.name for one in FRAGMENTS if not begins.match(one.read_text())] == []


@pytest.mark.process
def test_the_draft_of_a_release_has_every_fragment() -> None:
    command = [Path(sys.executable).with_name("towncrier"), "build", "--draft"]
    draft = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    words = " ".join(draft.split())
    assert [one.name for one in FRAGMENTS if " ".join(one.read_text().split()) not in words] == []


def test_the_page_has_one_place_for_releases() -> None:
    page = (ROOT / "CHANGELOG.md").read_text()
    assert page.count("<!-- towncrier release notes start -->\n") == 1
