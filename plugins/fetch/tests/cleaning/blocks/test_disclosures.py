"""What a script shows at some time is content: answers, slides, tabs, conditions in attributes."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]

PROSE = "The bridge was built in two years, and opened to the public on a cold day in March. " * 3


@pytest.mark.parametrize(
    "html",
    [
        "<h3>Delivery</h3><div style='display:none'><p>Inside.</p></div><h3>Returns</h3><p hidden>Other.</p>",
        "<div><h3>Delivery</h3><p hidden>Inside.</p></div><div><h3>Returns</h3><p hidden>Other.</p></div>",
        "<div><h3>Is it free?</h3></div><div style='display:none'>Inside.</div>",
        "<div class=q>Is it free?</div><div class=a style='display:none'>Inside.</div>",
        "<dl><dt>Is it free?<dd style='height:0;overflow:hidden'>Inside.</dl>",
        "<ul><li><a href=#a>One</a><li><a href=#b>Two</a></ul><div id=a>First.</div><div id=b hidden>Inside.</div>",
        "<div x-data><b @click='open=!open'>More</b><div x-show='open' style='display:none'>Inside.</div></div>",
        "<div v-show='expanded' style='display:none'><p>Inside.</p></div>",
        "<div class=carousel><div>First.</div><div style='display:none'>Inside.</div></div>",
        "<div class='hero swiper'><ul><li>First.<li style='visibility:hidden'>Inside.</ul></div>",
    ],
)
def test_what_a_script_shows_is_content(write: Write, html: str) -> None:
    assert "Inside." in write(f"<p>{PROSE}</p>{html}")


@pytest.mark.parametrize(
    "html",
    [
        "<h3>Delivery</h3><div hidden>Inside.</div><p>We bring it.</p>",
        "<h2>Delivery</h2><div hidden>Inside.</div>",
        "<p>By <a href=#b>one</a>.</p><div>First.</div><div id=b hidden>Inside.</div>",
        "<div x-show='loading' style='display:none'>Inside.</div>",
        "<div x-show='open' role=menu style='display:none'>Inside.</div>",
        "<div class=carousel><div style='display:none'>Inside.</div></div>",
        "<div class=cards><div>First.</div><div style='display:none'>Inside.</div></div>",
    ],
)
def test_what_is_hidden_for_good_is_none(write: Write, html: str) -> None:
    assert "Inside." not in write(f"<p>{PROSE}</p>{html}")
