"""docs/reference/markdown.md shows what the converter does."""

import re
from pathlib import Path

import pytest

from ferrule_fetch.embedded_data import find_text
from ferrule_fetch.markdown import convert
from ferrule_fetch.tree import parsers

URL = "https://example.com/guide/"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "markdown.md"
_PAIR = re.compile(r"^```html\n(.*?)^```\n\n(`{3,})markdown\n(.*?)^\2\n", re.MULTILINE | re.DOTALL)
EXAMPLES = [(html, markdown) for html, _, markdown in _PAIR.findall(PAGE.read_text("utf-8"))]


def test_the_page_has_its_examples() -> None:
    assert len(EXAMPLES) == PAGE.read_text("utf-8").count("```html\n") == 17


@pytest.mark.parametrize("parser", parsers.PARSERS)
@pytest.mark.parametrize(("html", "markdown"), EXAMPLES)
def test_an_example_comes_out_as_the_page_says(html: str, markdown: str, parser: str) -> None:
    converted = convert(html, URL, parser).markdown or find_text(html, URL, "")[1]
    assert converted == markdown.rstrip("\n")
