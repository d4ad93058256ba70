"""A page whose elements stand in each other thousands of times is cleaned, in time that grows with its length."""

from collections.abc import Callable

import pytest

from ferrule_fetch.markdown import convert

Write = Callable[[str], str]
DEPTH = 3_000


@pytest.mark.parametrize(
    "tags", ['<div style="visibility:hidden">', "<a href=/x><div>", "<b><a href=/x title=y>", "<sup>", "<dl><dt>a<dd>"]
)
def test_depth_costs_no_text(tags: str) -> None:
    assert "word" in convert(f"{tags * DEPTH}word", "https://site.example/").markdown


def test_what_is_hidden_stays_hidden_on_a_deep_page(write: Write) -> None:
    assert "Ignore" not in write('<p>Seen<p style="opacity:0">Ignore</p>' + "<div>" * DEPTH + "x")
